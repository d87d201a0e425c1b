//! From the parsed module to what the interpreter runs.
//!
//! In reading order: `opcode` takes mnemonics apart, `frame` lays out registers,
//! `liveness` says which of them may share a place, `decoder` holds what has been
//! decoded, `operand` and `modifiers` read what instructions have in common; one file
//! for each kind of instruction gives it its meaning, and `instruction` picks the one.
//! `function` builds blocks, `cfg` finds where they meet. `layout` places shared
//! variables.
//!
//! What is wrong: `signature` finds what is not PTX, `isa` knows what else PTX has,
//! `refusal` says why an instruction cannot be decoded, and `verify` looks at every
//! operand of what came out.

pub(crate) mod cfg;
pub(crate) mod decoder;
pub(crate) mod frame;
pub(crate) mod function;
pub(crate) mod instruction;
pub(crate) mod isa;
pub(crate) mod kind;
pub(crate) mod layout;
pub(crate) mod liveness;
pub(crate) mod opcode;
pub(crate) mod operand;
pub(crate) mod refusal;

mod atomic;
mod bits;
mod collective;
mod convert;
mod float;
mod fp8;
mod integer;
mod matrix;
mod mbarrier;
mod memory;
mod modifiers;
mod moves;
mod select;
mod signature;
mod tensor;
mod verify;
mod video;
mod wmma;

use crate::excerpt::ParseError;
use crate::ir::{FuncId, Module};
use crate::program::Program;

/// Decodes a module of this text. What is not known becomes an instruction that says
/// so when it is executed.
///
/// # Errors
/// What is not PTX.
pub(crate) fn decode(module: &Module, source: &str) -> Result<Program, ParseError> {
    let mut errors = Vec::new();
    let mut program = Program {
        functions: Vec::new(),
    };
    for (index, ir_function) in module.functions.iter().enumerate() {
        let Some(body) = &ir_function.body else {
            program.functions.push(None);
            continue;
        };
        let function = function::decode(
            (module, source),
            FuncId(index as u32),
            ir_function,
            body,
            &mut errors,
        );
        program.functions.push(Some(function));
    }
    match ParseError::together(errors) {
        None => Ok(program),
        Some(error) => Err(error),
    }
}
