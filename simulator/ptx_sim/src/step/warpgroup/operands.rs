//! A matrix in shared memory, as described by a descriptor of `wgmma`.
//!
//! | bits | |
//! |---|---|
//! | 0–13 | address, in units of 16 bytes |
//! | 16–29 | leading byte offset, likewise |
//! | 32–45 | stride byte offset, likewise |
//! | 49–51 | base offset |
//! | 62–63 | swizzle: 0 none, 1 of 128 bytes, 2 of 64, 3 of 32 |
//!
//! Matrices are made of cores of eight lines of 16 bytes. In what follows a line is a row
//! of A or a column of B; each has 32 bytes, two chunks of 16. Where lines are the slower
//! index (K-major), core `(g, c)` has chunk `c` of lines `8 g` to `8 g + 7`:
//!
//! | swizzle | core (g, c) begins at | its lines are apart by |
//! |---|---|---|
//! | none | g · stride + c · leading | 16 |
//! | S bytes | g · stride + 16 c | S |
//!
//! Where lines are the faster index (transposed, 16-bit factors only), a core has eight
//! lines of eight factors each, core `(g, c)` the factors `8 c` to `8 c + 7` of each of
//! lines `8 g` to `8 g + 7`; a row of it is one factor of each line:
//!
//! | swizzle | core (g, c) begins at | its rows are apart by |
//! |---|---|---|
//! | none | g · stride + c · leading | 16 |
//! | S bytes | (g mod S/16) · 16 + (g div S/16) · leading + c · stride | S |
//!
//! A swizzle of 128 bytes XORs address bits 4–6 with bits 7–9, one of 64 bytes bits 4–5
//! with 7–8, one of 32 bytes bit 4 with bit 7.

use super::super::transpose::transposed;
#[cfg(target_arch = "x86_64")]
use crate::lanes::has_wide_vectors;
use crate::memory::shared::SharedMemory;
use crate::numeric::tile::Register;

/// Addresses of shared memory that a descriptor can name.
const ADDRESS_MASK: u32 = 0x3_FFFF;
/// Bits that are zero.
const RESERVED: u64 = 0x3FF1_C000_C000_C000;
/// Bytes of a core's line.
const CHUNK: u32 = 16;

/// A descriptor taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    start: u32,
    leading: u32,
    stride: u32,
    base: u32,
    /// Bytes of the swizzle's span; 16 for none.
    span: u32,
    /// Whether lines are the faster index.
    transposed: bool,
}

impl Descriptor {
    /// From its bits; an error says what is wrong with them.
    pub fn new(bits: u64, transposed: bool) -> Result<Self, String> {
        if bits & RESERVED != 0 {
            return Err(format!(
                "the descriptor {bits:#018x} has bits {:#x} set, which are reserved",
                bits & RESERVED
            ));
        }
        let field = |from: u32| (bits >> from & 0x3FFF) as u32 * CHUNK;
        Ok(Self {
            start: field(0),
            leading: field(16),
            stride: field(32),
            base: (bits >> 49 & 7) as u32,
            span: match bits >> 62 {
                0 => CHUNK,
                1 => 128,
                2 => 64,
                _ => 32,
            },
            transposed,
        })
    }

    /// Where core `(group, chunk)` begins, before the swizzle.
    #[inline(always)]
    fn core(&self, group: u32, chunk: u32) -> u32 {
        let is_swizzled = self.span != CHUNK;
        let offset = match (is_swizzled, self.transposed) {
            (false, _) => group * self.stride + chunk * self.leading,
            (true, false) => group * self.stride + chunk * CHUNK,
            (true, true) => {
                let cores = self.span / CHUNK;
                group % cores * CHUNK + group / cores * self.leading + chunk * self.stride
            }
        };
        self.start.wrapping_add(offset)
    }

    /// The addresses of a core's lines.
    #[inline(always)]
    pub fn lines(&self, group: u32, chunk: u32) -> [u32; 8] {
        let first = self.core(group, chunk);
        let mask = self.span / CHUNK - 1;
        std::array::from_fn(|line| {
            let address = first.wrapping_add(line as u32 * self.span);
            let by = (address >> 7).wrapping_sub(self.base) & mask;
            (address ^ by << 4) & ADDRESS_MASK
        })
    }

    /// What it says, for messages.
    pub fn describe(&self) -> String {
        let swizzle = match self.span {
            CHUNK => "no swizzle".to_owned(),
            span => format!("a swizzle of {span} bytes"),
        };
        let order = if self.transposed {
            "transposed (MN-major)"
        } else {
            "K-major"
        };
        format!(
            "address {:#x}, leading byte offset {}, stride byte offset {}, {swizzle}, {order}",
            self.start, self.leading, self.stride
        )
    }
}

/// Reads some of a matrix's cores, each in the layout of a register of `mma.sync`.
pub(super) struct Reader<'a> {
    pub shared: &'a SharedMemory,
    pub descriptor: Descriptor,
    /// The addresses that it reads, if requested.
    pub addresses: Option<&'a mut Vec<u32>>,
}

impl Reader<'_> {
    /// Both cores of each of the first groups; an error is an address outside the block's memory.
    pub fn groups(&mut self, groups: &mut [[Register; 2]]) -> Result<(), u32> {
        #[cfg(target_arch = "x86_64")]
        if has_wide_vectors() {
            // SAFETY: This machine has the vectors.
            return unsafe { self.groups_wide(groups) };
        }
        self.groups_plain(groups)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn groups_wide(&mut self, groups: &mut [[Register; 2]]) -> Result<(), u32> {
        self.groups_plain(groups)
    }

    #[inline(always)]
    fn groups_plain(&mut self, groups: &mut [[Register; 2]]) -> Result<(), u32> {
        for (group, cores) in (0..).zip(groups) {
            for (chunk, core) in (0..).zip(cores) {
                self.core(group, chunk, core)?;
            }
        }
        Ok(())
    }

    /// Core `(group, chunk)`; an error is an address outside the block's memory.
    #[inline(always)]
    pub fn core(&mut self, group: u32, chunk: u32, core: &mut Register) -> Result<(), u32> {
        let lines = self.descriptor.lines(group, chunk);
        let size = self.shared.size_bytes();
        let last = lines.into_iter().fold(0, u32::max);
        if last + CHUNK > size {
            let mut lines = lines.into_iter();
            return Err(lines.find(|line| line + CHUNK > size).unwrap_or(last));
        }
        if let Some(addresses) = &mut self.addresses {
            addresses.extend(lines);
        }
        for (to, line) in core.as_chunks_mut::<4>().0.iter_mut().zip(lines) {
            // SAFETY: The line's 16 bytes lie in the block's memory, which only this host
            // thread works on now.
            unsafe {
                let from = self.shared.host().add(line as usize);
                std::ptr::copy_nonoverlapping(from, to.as_mut_ptr().cast(), CHUNK as usize);
            }
        }
        if self.descriptor.transposed {
            *core = transposed(core);
        }
        Ok(())
    }
}
