//! The vocabulary of PTX, whether it is simulated or not: for messages about what is not simulated,
//! and about what is not PTX. `table` has the instructions, `modifiers` the modifiers, and
//! `opcodes` recognises what is not an instruction.

pub(crate) mod modifiers;
pub(crate) mod opcodes;
pub(crate) mod table;

/// The newest PTX version whose instructions are all listed here.
const NEWEST: (u32, u32) = (8, 8);

/// Whether a text of a PTX version can hold something that is not listed.
pub(crate) fn is_newer(version: (u32, u32)) -> bool {
    version > NEWEST
}
