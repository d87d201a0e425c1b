//! `wmma.load`, `wmma.store` and `wmma.mma`: matrices as fragments whose layout
//! is nobody's business.
//!
//! PTX leaves open which element of a matrix is where in a fragment, so that a
//! kernel can only treat all elements alike. Here element `e` of lane `l` is number
//! `(l n + e) mod size` of the matrix, where `n` is the number of elements of a
//! lane, counted along the rows of A, C and D and down the columns of B. Fragments
//! of 16-bit floats have more room than some matrices have elements; these hold
//! them several times over, as on the hardware.
//!
//! Left out: `.f64`, `.tf32`, and integers of less than 8 bits. What a load or store
//! counts is that of this layout, 16 bytes at a time where a lane's elements lie
//! side by side; that of the hardware is not documented.

use super::super::access::{self, Addresses, Request, in_each_space, read8, read16, read32};
use super::super::access::{write8, write16, write32};
use super::super::{Env, PathView, Stop};
use super::multiply::MODEL;
use crate::checks::access::{AccessClass, WarpAccess};
use crate::checks::observer::Observer;
use crate::diagnostics::AccessKind;
use crate::ir::Space;
use crate::lanes::{FULL_MASK, WARP_SIZE};
use crate::numeric::mma::{Accumulator, Unpacked, dot, unpack};
use crate::program::{Fragment, Order, Scope, WmmaKind, WmmaMove, WmmaMultiply, WmmaShape};
use crate::warp::Warp;

/// Longest access of one lane.
const MAX_BYTES: usize = 16;

/// The lanes' registers taken apart: the matrix, in the order that fragments
/// have.
fn gather(fragment: &Fragment, view: &PathView<'_>, shape: WmmaShape) -> Vec<u32> {
    let (size, _) = shape.size(fragment.matrix);
    let n = fragment.n_elements();
    let mut all = vec![0; size];
    for (r, &slot) in fragment.registers.iter().enumerate() {
        // SAFETY: The decoder made the slot for 32-bit lanes.
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

/// `wmma.load` and `wmma.store`.
pub(super) fn transfer<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &WmmaMove,
    is_load: bool,
) -> Result<(), Stop> {
    let (size, line) = op.shape.size(op.fragment.matrix);
    let base = access::lane_addresses(view, &op.address, FULL_MASK).lanes;
    // SAFETY: The decoder made the slot for 32-bit lanes.
    let strides = op
        .stride
        .map(|slot| unsafe { *view.regs.lanes::<u32>(slot) });
    let n = op.fragment.n_elements();
    let bytes = op.fragment.element_bytes;
    let address = |lane: usize, element: usize| {
        let at = (lane * n + element) % size;
        let default = if op.along { line } else { size / line };
        let stride = strides.map_or(default as u64, |s| u64::from(s[lane]));
        let (outer, inner) = ((at / line) as u64, (at % line) as u64);
        let offset = if op.along {
            outer.wrapping_mul(stride).wrapping_add(inner)
        } else {
            inner.wrapping_mul(stride).wrapping_add(outer)
        };
        base[lane].wrapping_add(offset.wrapping_mul(bytes as u64))
    };
    // As many elements at once as lie side by side and are aligned for it.
    let mut chunk = 1;
    while op.along
        && chunk * 2 * bytes <= MAX_BYTES
        && n.is_multiple_of(chunk * 2)
        && line.is_multiple_of(chunk * 2)
        && (0..WARP_SIZE).all(|lane| address(lane, 0).is_multiple_of((chunk * 2 * bytes) as u64))
        && (0..WARP_SIZE).all(|lane| {
            (0..n)
                .step_by(chunk * 2)
                .all(|e| address(lane, e).is_multiple_of((chunk * 2 * bytes) as u64))
        })
    {
        chunk *= 2;
    }
    let mut all = if is_load {
        vec![0; size]
    } else {
        gather(&op.fragment, view, op.shape)
    };
    let (class, kind) = if is_load {
        (AccessClass::Load, AccessKind::Load)
    } else {
        (AccessClass::Store, AccessKind::Store)
    };
    // Lanes that hold elements again have nothing to store.
    let holders = (size / n).min(WARP_SIZE);
    let mask = if is_load || holders == WARP_SIZE {
        FULL_MASK
    } else {
        (1 << holders) - 1
    };
    for first in (0..n).step_by(chunk) {
        let lanes = std::array::from_fn(|lane| address(lane, first));
        let mut addresses = Addresses::of(lanes);
        let mut part = |space, addresses: &Addresses, mask| {
            let addresses = &addresses.lanes;
            let request = Request {
                space,
                bytes: (chunk * bytes) as u32,
                mask,
                kind,
                stride: None,
            };
            let located = access::locate(env, warp, view, addresses, request)?;
            if O::ON {
                env.observer.access(
                    view.first_instruction + ptx,
                    &WarpAccess {
                        block: env.block,
                        warp: warp.index,
                        order: Order::Weak,
                        scope: Scope::Device,
                        overwrites: false,
                        lane_bytes: None,
                        class,
                        space,
                        bytes: request.bytes,
                        mask,
                        addresses,
                        stride: None,
                    },
                );
            }
            for lane in crate::lanes::lanes(mask) {
                for e in 0..chunk {
                    let at = (lane * n + first + e) % size;
                    let host = located.host(addresses, lane).wrapping_add(e * bytes);
                    // SAFETY: `locate` found the chunk's bytes, aligned to them.
                    unsafe {
                        if is_load {
                            all[at] = load(host, bytes);
                        } else {
                            store(host, bytes, all[at]);
                        }
                    }
                }
            }
            Ok(())
        };
        if op.space == Space::Generic {
            in_each_space(&mut addresses, mask, |space, addresses, mask| {
                part(space, addresses, mask)
            })?;
        } else {
            part(op.space, &addresses, mask)?;
        }
    }
    if is_load {
        scatter(&op.fragment, view, &all);
    }
    Ok(())
}

/// # Safety
/// `bytes` bytes are there, aligned.
unsafe fn load(host: *mut u8, bytes: usize) -> u32 {
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
unsafe fn store(host: *mut u8, bytes: usize, value: u32) {
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
                x.iter().map(|&bits| unpack(factor, bits as u16)).collect()
            };
            let (a, b) = (wide(&a), wide(&b));
            (0..c.len())
                .map(|at| {
                    let (row, column) = (&a[at / n * k..][..k], &b[at % n * k..][..k]);
                    // The sum is taken in the type of D.
                    let start = convert(c[at], c_type, d_type);
                    dot(MODEL, factor, d_type, row, column, start)
                })
                .collect()
        }
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

/// An accumulator in the other type.
fn convert(bits: u32, from: Accumulator, to: Accumulator) -> u32 {
    use half::f16;
    match (from, to) {
        (Accumulator::F16, Accumulator::F32) => f16::from_bits(bits as u16).to_f32().to_bits(),
        (Accumulator::F32, Accumulator::F16) => {
            u32::from(f16::from_f32(f32::from_bits(bits)).to_bits())
        }
        _ => bits,
    }
}
