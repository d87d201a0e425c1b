//! `ld`, `st`, `atom` and `red`.

use super::order::{Order, Scope};
use super::slot::{AddressOperand, Slot};
use crate::lanes::is_plain;
use ptx::ir::Space;

/// `ld` or `st`.
#[derive(Clone)]
pub(crate) struct Access {
    /// State space; [`Space::Param`] here means a call parameter, which lies
    /// in the frame's local memory.
    pub space: Space,
    /// The address.
    pub address: AddressOperand,
    /// Bytes of one element in memory: 1, 2, 4, 8 or 16.
    pub element_bytes: u32,
    /// Bytes of the registers: 2, 4, 8 or 16.
    pub register_bytes: u32,
    /// Whether a load sign-extends.
    pub signed: bool,
    /// Whether it relies on nothing writing there while the kernel runs (`.nc`).
    pub is_constant: bool,
    /// One slot per element; `None` for `_`.
    pub registers: Vec<Option<Slot>>,
    /// What it orders. Spinning on a load that is not weak is a sign of
    /// waiting for another thread.
    pub order: Order,
    /// For whom.
    pub scope: Scope,
    /// How it is carried out where all lanes access neighbouring elements.
    pub row: RowMove,
}

impl Access {
    /// Bytes that a lane accesses.
    #[inline(always)]
    pub fn bytes(&self) -> u64 {
        u64::from(self.element_bytes) * self.registers.len() as u64
    }
}

/// What a load or a store moves where the lanes' elements lie side by side, or are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowMove {
    /// A register of whole elements.
    Whole(Slot),
    /// A register of 16 or 32 bits, wider than its elements.
    Narrow(Slot),
    /// Two registers of words.
    Pairs([Slot; 2]),
    /// Four registers of words.
    Fours([Slot; 4]),
    /// Two registers of 64 bits.
    WidePairs([Slot; 2]),
    /// Something else, which can be loaded from one place for all lanes.
    OnlyUniform,
    /// Several elements of 16 bytes, or anything where the program runs plainly.
    Never,
}

impl RowMove {
    /// Of these registers, each of `register_bytes` with an element of `element_bytes`.
    pub fn of(registers: &[Option<Slot>], register_bytes: u32, element_bytes: u32) -> Self {
        match *registers {
            _ if is_plain() => Self::Never,
            [Some(slot)] if register_bytes == element_bytes => Self::Whole(slot),
            [Some(slot)] if register_bytes <= 4 => Self::Narrow(slot),
            [Some(a), Some(b)] if (register_bytes, element_bytes) == (4, 4) => Self::Pairs([a, b]),
            [Some(a), Some(b), Some(c), Some(d)] if (register_bytes, element_bytes) == (4, 4) => {
                Self::Fours([a, b, c, d])
            }
            [Some(a), Some(b)] if (register_bytes, element_bytes) == (8, 8) => {
                Self::WidePairs([a, b])
            }
            _ if register_bytes <= 8 => Self::OnlyUniform,
            _ => Self::Never,
        }
    }
}

/// A vector load of which only some bytes matter (`.pragma "used_bytes_mask"`): one request
/// like any other, whose other bytes may not exist.
pub(crate) struct PartialLoad {
    /// All of it.
    pub whole: Access,
    /// What matters: where it begins, in bytes from the address, and the load of it.
    pub parts: Vec<(u32, Access)>,
}

/// What an atomic does to the word in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AtomicKind {
    Add,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    Increment,
    Decrement,
    Min,
    Max,
}

/// The type that an atomic works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AtomicType {
    /// Bits or unsigned, of 2, 4, 8 or 16 bytes.
    Unsigned,
    /// Signed.
    Signed,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
}

/// `atom` or `red`.
pub(crate) struct Atomic {
    /// Generic, global or shared.
    pub space: Space,
    /// The address.
    pub address: AddressOperand,
    /// The operation.
    pub kind: AtomicKind,
    /// Its type.
    pub ty: AtomicType,
    /// Bytes of one element.
    pub bytes: u32,
    /// Where the old values go, one per element; empty for `red`.
    pub old: Vec<Option<Slot>>,
    /// Operands, one per element.
    pub value: Vec<Slot>,
    /// `cas`: the value to store (then `value` is what is compared).
    pub swap: Option<Slot>,
    /// `red`, and `atom` in global memory whose result is not used: the GPU's assembler
    /// turns it into a `red`.
    pub is_reduction: bool,
    /// 1 is added to a `u32`, and nothing reads the result.
    pub is_increment: bool,
    /// What it orders, besides being atomic.
    pub order: Order,
    /// For whom it is atomic, and orders.
    pub scope: Scope,
}
