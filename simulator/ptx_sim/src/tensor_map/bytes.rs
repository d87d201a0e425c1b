//! A tensor map as the 128 bytes that a kernel is given.
//!
//! From byte 0: the magic number (8), version, element, rank, interleave, swizzle, L2
//! promotion, fill (1 each), 0; from 16 the address (8); from 24 five dimensions less one
//! (4 each); from 48 four strides (8 each); from 80 five box dimensions (2 each); from 90
//! five element strides (1 each); from 120 a checksum of all before it. Little-endian;
//! what is unused is zero.

use super::TensorMap;
use super::kinds::{Element, Fill, Interleave, L2Promotion, Swizzle};
use super::spec::{MAX_RANK, TensorSpec};

/// Bytes of a map.
pub const TENSOR_MAP_BYTES: usize = 128;

const MAGIC: [u8; 8] = *b"ptx_sim\xA7";
const VERSION: u8 = 1;
const CHECKSUM: usize = 120;

/// Why bytes are not a tensor map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotATensorMap {
    /// They do not start like a map.
    #[error(
        "the 128 bytes are not a tensor map that was made for the simulator: make it by \
         cuTensorMapEncodeTiled of the simulated driver, or by ptx_sim::tensor_map::TensorMap, \
         and pass it by value, or copy all 128 bytes of it"
    )]
    Foreign,
    /// Of another version of this crate.
    #[error("the tensor map has version {version} of its layout, and this simulator reads 1")]
    Version {
        /// The version.
        version: u8,
    },
    /// They have changed since.
    #[error("the 128 bytes of the tensor map were changed after it was made")]
    Changed,
}

impl TensorMap {
    /// The map in the form that a kernel takes.
    pub fn to_bytes(&self) -> [u8; TENSOR_MAP_BYTES] {
        let mut bytes = [0; TENSOR_MAP_BYTES];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &MAGIC);
        let kinds = [
            VERSION,
            self.element as u8,
            self.rank,
            self.interleave as u8,
            self.swizzle as u8,
            self.l2_promotion as u8,
            self.fill as u8,
        ];
        put(8, &kinds);
        put(16, &self.address.to_le_bytes());
        for d in 0..MAX_RANK {
            put(24 + 4 * d, &((self.dims[d] - 1) as u32).to_le_bytes());
            put(80 + 2 * d, &(self.box_dims[d] as u16).to_le_bytes());
            put(90 + d, &[self.element_strides[d] as u8]);
        }
        for d in 1..MAX_RANK {
            put(40 + 8 * d, &self.strides[d].to_le_bytes());
        }
        let checksum = checksum(&bytes);
        bytes[CHECKSUM..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// The map that these bytes are.
    ///
    /// # Errors
    /// They are not a map, or no longer one.
    pub fn from_bytes(bytes: &[u8; TENSOR_MAP_BYTES]) -> Result<Self, NotATensorMap> {
        if bytes[..8] != MAGIC {
            return Err(NotATensorMap::Foreign);
        }
        if bytes[8] != VERSION {
            return Err(NotATensorMap::Version { version: bytes[8] });
        }
        if checksum(bytes).to_le_bytes() != bytes[CHECKSUM..] {
            return Err(NotATensorMap::Changed);
        }
        // The checksum may have been computed for bytes that break the rules.
        read(bytes).ok_or(NotATensorMap::Changed)
    }
}

fn read(bytes: &[u8; TENSOR_MAP_BYTES]) -> Option<TensorMap> {
    let word = |at: usize, n: usize| {
        let all = bytes[at..at + n].iter().rev();
        all.fold(0, |word, &byte| word << 8 | u64::from(byte))
    };
    let each =
        |at: usize, n: usize| std::array::from_fn::<u64, MAX_RANK, _>(|d| word(at + n * d, n));
    let rank = usize::from(bytes[10]);
    if rank > MAX_RANK {
        return None;
    }
    let dims = each(24, 4).map(|less_one| less_one + 1);
    // The first is not stored.
    let strides = each(40, 8);
    let box_dims = each(80, 2).map(|dim| dim as u32);
    let element_strides = each(90, 1).map(|step| step as u32);
    let spec = TensorSpec {
        element: Element::try_from(u32::from(bytes[9])).ok()?,
        address: word(16, 8),
        dims: &dims[..rank],
        strides: strides.get(1..rank)?,
        box_dims: &box_dims[..rank],
        element_strides: &element_strides[..rank],
        interleave: Interleave::try_from(u32::from(bytes[11])).ok()?,
        swizzle: Swizzle::try_from(u32::from(bytes[12])).ok()?,
        l2_promotion: L2Promotion::try_from(u32::from(bytes[13])).ok()?,
        fill: Fill::try_from(u32::from(bytes[14])).ok()?,
    };
    TensorMap::new(&spec).ok()
}

/// FNV-1a of all but the checksum, eight bytes at a time.
fn checksum(bytes: &[u8; TENSOR_MAP_BYTES]) -> u64 {
    let words = bytes[..CHECKSUM].chunks_exact(8);
    words.fold(0xCBF2_9CE4_8422_2325, |sum, word| {
        let word = word.iter().rev().fold(0, |w, &b| w << 8 | u64::from(b));
        (sum ^ word).wrapping_mul(0x0000_0100_0000_01B3)
    })
}
