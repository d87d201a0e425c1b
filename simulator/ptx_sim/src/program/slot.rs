//! The slot in which an instruction finds a value.

/// Byte offset of a register, constant or special value in a frame.
pub(crate) type Slot = u32;

/// Index into [`Function::blocks`](super::Function::blocks).
pub(crate) type BlockId = u32;

/// A predicate to be tested.
#[derive(Clone, Copy)]
pub(crate) struct Guard {
    /// The predicate's slot.
    pub slot: Slot,
    /// `u32::MAX` for `@!p`, else 0: XORed onto the predicate.
    pub flip: u32,
}

/// An address operand: a slot and a distance.
#[derive(Clone, Copy)]
pub(crate) struct AddressOperand {
    /// Where the base is.
    pub slot: Slot,
    /// Whether the base has 64 bits (else 32).
    pub wide: bool,
    /// Added to it, in bytes.
    pub offset: i64,
}

impl AddressOperand {
    /// Bytes of a lane of the base.
    pub fn width(&self) -> u32 {
        if self.wide { 8 } else { 4 }
    }
}
