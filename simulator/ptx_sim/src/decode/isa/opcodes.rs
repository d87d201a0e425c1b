//! Mnemonics that PTX does not have.

use super::is_newer;
use super::table::mnemonics;
use crate::decode::refusal::Refusal;
use ptx::part::Part;
use ptx::suggest::{distance, nearest, question};

/// The refusal of a mnemonic that PTX does not have; `None` if PTX has it.
pub(crate) fn unknown(opcode: &str, version: (u32, u32)) -> Option<Refusal> {
    let mnemonic = opcode.split('.').next().unwrap_or("");
    if mnemonics().any(|name| name == mnemonic) {
        return None;
    }
    let suggestion = nearest(mnemonic, mnemonics());
    let reason = format!(
        "`{mnemonic}` is not an instruction of PTX{}",
        question(suggestion)
    );
    // One letter from an instruction, and not one itself: certainly mistyped, unless the
    // text is newer than the list. `_name` are the assembler's own.
    let is_mistyped = suggestion.is_some_and(|name| distance(name, mnemonic) == 1)
        && !is_newer(version)
        && !mnemonic.starts_with('_');
    let refusal = if is_mistyped {
        Refusal::invalid(reason)
    } else {
        Refusal::unknown(reason)
    };
    Some(refusal.at_part(Part::Mnemonic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::refusal::Class;

    #[test]
    fn mistyped_instructions_are_invalid_and_foreign_ones_unknown() {
        let class = |opcode, version| unknown(opcode, version).map(|refusal| refusal.class);
        assert_eq!(class("add.u32", (8, 0)), None);
        assert_eq!(class("addd.u32", (8, 0)), Some(Class::Invalid));
        assert_eq!(class("addd.u32", (9, 9)), Some(Class::Unknown));
        assert_eq!(class("frobnicate", (8, 0)), Some(Class::Unknown));
        assert_eq!(class("_add.u32", (8, 0)), Some(Class::Unknown));
    }
}
