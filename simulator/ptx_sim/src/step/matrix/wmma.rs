//! `wmma.load`, `wmma.store` and `wmma.mma`: matrices as fragments of unspecified layout.
//!
//! PTX leaves open which element of a matrix is where in a fragment, so a kernel can only
//! treat all elements alike. Here element `e` of lane `l` is number `(l n + e) mod size` of
//! the matrix, where `n` is the number of elements of a lane, counted along the rows of A,
//! C and D and down the columns of B. Fragments of 16-bit floats have more room than some
//! matrices have elements; these hold them several times over, as on hardware.
//!
//! Integers of less than 8 bits are moved, and counted here, in words. Loads and stores are
//! counted for this layout, 16 bytes at a time where a lane's elements lie side by side; the
//! hardware's layout is not documented.

use super::super::access::{Addresses, Request, lane_addresses, locate};
use super::super::access::{read8, read16, read32, read64, write8, write16, write32, write64};
use super::super::context::{PathView, Step};
use super::multiply::MODEL;
use crate::checks::access::AccessClass;
use crate::checks::observer::Observer;
use crate::diagnostics::AccessKind;
use crate::lanes::{FULL_MASK, WARP_SIZE, lanes};
use crate::numeric::Rounding;
use crate::numeric::half::F16;
use crate::numeric::mma::{Accumulator, Factor, Model, Unpacked, dot, unpack_word};
use crate::numeric::tensor::dot_f64;
use crate::program::{Fragment, WmmaKind, WmmaMove, WmmaMultiply, WmmaShape};
use crate::stop::Stop;
use ptx::ir::Space;

/// Longest access of one lane.
const MAX_BYTES: usize = 16;

/// The matrix from the lanes' registers, in the order of fragments.
fn gather(fragment: &Fragment, view: &PathView<'_>, shape: WmmaShape) -> Vec<u32> {
    let (size, _) = shape.size(fragment.matrix);
    let n = fragment.n_elements();
    let mut all = vec![0; size];
    for (r, &slot) in fragment.registers.iter().enumerate() {
        // SAFETY: The decoder made the slot for 32-bit lanes: there is no `f64` here.
        let register = unsafe { view.regs.lanes::<u32>(slot) };
        for (lane, &bits) in register.iter().enumerate() {
            for part in 0..fragment.packed() {
                let at = lane * n + r * fragment.packed() + part;
                all[at % size] = fragment.part(bits, part);
            }
        }
    }
    all
}

/// The opposite of [`gather`].
fn scatter(fragment: &Fragment, view: &PathView<'_>, all: &[u32]) {
    let n = fragment.n_elements();
    for (r, &slot) in fragment.registers.iter().enumerate() {
        // SAFETY: The decoder made the slot for 32-bit lanes.
        let register = unsafe { view.regs.lanes_mut::<u32>(slot) };
        for (lane, bits) in register.iter_mut().enumerate() {
            *bits = (0..fragment.packed()).fold(0, |bits, part| {
                let at = lane * n + r * fragment.packed() + part;
                bits | all[at % all.len()] << (8 * fragment.element_bytes * part)
            });
        }
    }
}

/// [`gather`] for `f64`, one to a register.
fn gather_wide(fragment: &Fragment, view: &PathView<'_>, shape: WmmaShape) -> Vec<u64> {
    let (size, _) = shape.size(fragment.matrix);
    let n = fragment.n_elements();
    let mut all = vec![0; size];
    for (r, &slot) in fragment.registers.iter().enumerate() {
        // SAFETY: The decoder made the slot for 64-bit lanes.
        let register = unsafe { view.regs.lanes::<u64>(slot) };
        for (lane, &bits) in register.iter().enumerate() {
            all[(lane * n + r) % size] = bits;
        }
    }
    all
}

/// The opposite of [`gather_wide`].
fn scatter_wide(fragment: &Fragment, view: &PathView<'_>, all: &[u64]) {
    let n = fragment.n_elements();
    for (r, &slot) in fragment.registers.iter().enumerate() {
        // SAFETY: The decoder made the slot for 64-bit lanes.
        let register = unsafe { view.regs.lanes_mut::<u64>(slot) };
        for (lane, bits) in register.iter_mut().enumerate() {
            *bits = all[(lane * n + r) % all.len()];
        }
    }
}

/// `wmma.load`
pub(super) fn load<O: Observer>(step: &mut Step<'_, '_, O>, op: &WmmaMove) -> Result<(), Stop> {
    let place = Place::new(&step.view, op);
    if place.bytes == 8 {
        let mut all = vec![0; place.size];
        let kinds = (AccessClass::Load, AccessKind::Load);
        place.each_chunk(step, FULL_MASK, kinds, |at, host, _| {
            // SAFETY: `each_chunk` gives bytes that are there, aligned.
            all[at] = unsafe { read64(host) };
        })?;
        scatter_wide(&op.fragment, &step.view, &all);
        return Ok(());
    }
    let mut all = vec![0; place.size];
    let kinds = (AccessClass::Load, AccessKind::Load);
    place.each_chunk(step, FULL_MASK, kinds, |at, host, bytes| {
        // SAFETY: `each_chunk` gives bytes that are there, aligned.
        all[at] = unsafe { read(host, bytes) };
    })?;
    scatter(&op.fragment, &step.view, &all);
    Ok(())
}

/// `wmma.store`
pub(super) fn store<O: Observer>(step: &mut Step<'_, '_, O>, op: &WmmaMove) -> Result<(), Stop> {
    let place = Place::new(&step.view, op);
    // Lanes that hold duplicates have nothing to store.
    let holders = (place.size / place.n).min(WARP_SIZE);
    let mask = FULL_MASK >> (WARP_SIZE - holders);
    let kinds = (AccessClass::Store, AccessKind::Store);
    if place.bytes == 8 {
        let all = gather_wide(&op.fragment, &step.view, op.shape);
        return place.each_chunk(step, mask, kinds, |at, host, _| {
            // SAFETY: As in `load`.
            unsafe { write64(host, all[at]) };
        });
    }
    let all = gather(&op.fragment, &step.view, op.shape);
    place.each_chunk(step, mask, kinds, |at, host, bytes| {
        // SAFETY: As in `load`.
        unsafe { write(host, bytes, all[at]) };
    })
}

/// Where a matrix is in memory.
struct Place<'a> {
    op: &'a WmmaMove,
    /// The first element's address, by lane.
    base: [u64; WARP_SIZE],
    /// From one line in memory to the next, in elements, by lane.
    strides: [u64; WARP_SIZE],
    /// Elements of the matrix, of one of its lines, and of a lane.
    size: usize,
    line: usize,
    n: usize,
    /// Bytes of an element.
    bytes: usize,
}

impl<'a> Place<'a> {
    fn new(view: &PathView<'_>, op: &'a WmmaMove) -> Self {
        let (size, line) = op.shape.size(op.fragment.matrix);
        let default = if op.along { line } else { size / line };
        let strides = match op.stride {
            Some(slot) => {
                // SAFETY: The decoder made the slot for 32-bit lanes.
                let strides = unsafe { view.regs.lanes::<u32>(slot) };
                strides.map(|stride| u64::from(stride >> op.stride_shift))
            }
            None => [default as u64; WARP_SIZE],
        };
        Self {
            op,
            base: lane_addresses(view, &op.address, FULL_MASK).lanes,
            strides,
            size,
            line,
            n: op.fragment.n_elements(),
            bytes: op.fragment.element_bytes,
        }
    }

    /// The number in the matrix of a lane's element.
    fn number(&self, lane: usize, element: usize) -> usize {
        (lane * self.n + element) % self.size
    }

    /// The address of a lane's element.
    fn address(&self, lane: usize, element: usize) -> u64 {
        let at = self.number(lane, element);
        let stride = self.strides[lane];
        let (outer, inner) = ((at / self.line) as u64, (at % self.line) as u64);
        let offset = if self.op.along {
            outer.wrapping_mul(stride).wrapping_add(inner)
        } else {
            inner.wrapping_mul(stride).wrapping_add(outer)
        };
        self.base[lane].wrapping_add(offset.wrapping_mul(self.bytes as u64))
    }

    /// How many elements a lane accesses at once: as many as lie side by side and are
    /// aligned.
    fn chunk(&self) -> usize {
        let fits = |chunk: usize| {
            let bytes = chunk * self.bytes;
            let is_aligned = |lane, element| {
                let address: u64 = self.address(lane, element);
                address.is_multiple_of(bytes as u64)
            };
            self.op.along
                && bytes <= MAX_BYTES
                && self.n.is_multiple_of(chunk)
                && self.line.is_multiple_of(chunk)
                && (0..WARP_SIZE)
                    .all(|lane| (0..self.n).step_by(chunk).all(|e| is_aligned(lane, e)))
        };
        let mut chunk = 1;
        while fits(2 * chunk) {
            chunk *= 2;
        }
        chunk
    }

    /// Accesses the matrix chunk by chunk, and calls `element` with the number, the
    /// place and the bytes of each element.
    fn each_chunk<O: Observer>(
        &self,
        step: &mut Step<'_, '_, O>,
        mask: u32,
        (class, kind): (AccessClass, AccessKind),
        mut element: impl FnMut(usize, *mut u8, usize),
    ) -> Result<(), Stop> {
        let chunk = self.chunk();
        for first in (0..self.n).step_by(chunk) {
            let addresses = std::array::from_fn(|lane| self.address(lane, first));
            let mut addresses = Addresses::of(addresses);
            let mut left = mask;
            while left != 0 {
                let (space, part) = addresses.resolve(self.op.space, left);
                if space == Space::Local {
                    let reason = "a matrix lies in global or shared memory";
                    return Err(Stop::unsupported("wmma", reason));
                }
                let addresses = &addresses.lanes;
                let request = Request {
                    space,
                    bytes: (chunk * self.bytes) as u32,
                    mask: part,
                    kind,
                    addresses,
                    stride: None,
                };
                let located = locate(step, request)?;
                if O::ON {
                    let access = request.observed(step, class);
                    step.env.observer.access(step.number, &access);
                }
                for lane in lanes(part) {
                    let host = located.host(addresses, lane);
                    for e in 0..chunk {
                        let at = self.number(lane, first + e);
                        element(at, host.wrapping_add(e * self.bytes), self.bytes);
                    }
                }
                left &= !part;
            }
        }
        Ok(())
    }
}

/// # Safety
/// `bytes` bytes are there, aligned.
unsafe fn read(host: *mut u8, bytes: usize) -> u32 {
    // SAFETY: The caller's promise.
    unsafe {
        match bytes {
            1 => u32::from(read8(host)),
            2 => u32::from(read16(host)),
            _ => read32(host),
        }
    }
}

/// # Safety
/// `bytes` bytes are there, aligned.
unsafe fn write(host: *mut u8, bytes: usize, value: u32) {
    // SAFETY: The caller's promise.
    unsafe {
        match bytes {
            1 => write8(host, value as u8),
            2 => write16(host, value as u16),
            _ => write32(host, value),
        }
    }
}

/// `wmma.mma`
pub(super) fn multiply(view: &PathView<'_>, op: &WmmaMultiply) {
    let WmmaShape { n, k, .. } = op.shape;
    if let WmmaKind::Double(rounding) = op.kind {
        multiply_double(view, op, rounding);
        return;
    }
    let [a, b, c] = [&op.a, &op.b, &op.c].map(|f| gather(f, view, op.shape));
    let rows_and_columns = a
        .chunks(k)
        .flat_map(|row| b.chunks(k).map(move |col| (row, col)));
    let sums: Vec<u32> = match op.kind {
        WmmaKind::Float {
            factor,
            c: c_type,
            d: d_type,
        } => {
            let wide = |x: &[u32]| -> Vec<Unpacked> {
                x.iter().map(|&bits| unpack_word(factor, bits)).collect()
            };
            let (a, b) = (wide(&a), wide(&b));
            let model = match factor {
                // ptxas splits it into two products of half the length.
                Factor::Tf32 => Model { group: 4, ..MODEL },
                _ => MODEL,
            };
            // Where C or D is of 32 bits, so is the sum.
            let sum_type = match (c_type, d_type) {
                (Accumulator::F16, Accumulator::F16) => Accumulator::F16,
                _ => Accumulator::F32,
            };
            (0..c.len())
                .map(|at| {
                    let (row, column) = (&a[at / n * k..][..k], &b[at % n * k..][..k]);
                    let start = convert(c[at], c_type, sum_type);
                    let sum = dot(model, factor, sum_type, row, column, start);
                    convert(sum, sum_type, d_type)
                })
                .collect()
        }
        WmmaKind::Nibbles(integers) => rows_and_columns
            .zip(&c)
            .map(|((row, column), &c)| integers.dot(row, column, c))
            .collect(),
        WmmaKind::Bits(bits) => rows_and_columns
            .zip(&c)
            .map(|((row, column), &c)| bits.dot(row, column, c))
            .collect(),
        WmmaKind::Double(_) => c,
        WmmaKind::Bytes {
            a_signed,
            b_signed,
            saturates,
        } => {
            let byte = |bits: u32, signed: bool| {
                if signed {
                    i64::from(bits as u8 as i8)
                } else {
                    i64::from(bits as u8)
                }
            };
            rows_and_columns
                .zip(&c)
                .map(|((row, column), &c)| {
                    let products = row.iter().zip(column);
                    let dot: i64 = products
                        .map(|(&a, &b)| byte(a, a_signed) * byte(b, b_signed))
                        .sum();
                    let sum = dot + i64::from(c as i32);
                    if saturates {
                        sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32
                    } else {
                        sum as u32
                    }
                })
                .collect()
        }
    };
    scatter(&op.d, view, &sums);
}

/// `wmma.mma` of `f64`.
fn multiply_double(view: &PathView<'_>, op: &WmmaMultiply, rounding: Rounding) {
    let WmmaShape { n, k, .. } = op.shape;
    let [a, b, c] = [&op.a, &op.b, &op.c].map(|fragment| {
        let words = gather_wide(fragment, view, op.shape);
        words.into_iter().map(f64::from_bits).collect::<Vec<f64>>()
    });
    let sum = |(at, &c): (usize, &f64)| {
        let (row, column) = (&a[at / n * k..][..k], &b[at % n * k..][..k]);
        dot_f64(row, column, c, rounding).to_bits()
    };
    let sums: Vec<u64> = c.iter().enumerate().map(sum).collect();
    scatter_wide(&op.d, view, &sums);
}

/// An accumulator in the other type.
fn convert(bits: u32, from: Accumulator, to: Accumulator) -> u32 {
    match (from, to) {
        (Accumulator::F16, Accumulator::F32) => F16(bits as u16).to_f32().to_bits(),
        (Accumulator::F32, Accumulator::F16) => u32::from(F16::from_f32(f32::from_bits(bits)).0),
        _ => bits,
    }
}
