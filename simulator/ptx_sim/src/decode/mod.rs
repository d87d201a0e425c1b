//! From the parsed module to what the interpreter runs.
//!
//! In reading order: `opcode` takes mnemonics apart, `frame` lays out registers,
//! `liveness` says which of them may share a place, `decoder` holds what has been
//! decoded, `operand` and `modifiers` read what instructions have in common; one file for
//! each kind of instruction gives it its meaning, and `instruction` picks the file.
//! `fragments` knows the registers that `wgmma` works on meanwhile. `function` builds
//! blocks, `cfg` finds where they meet. `layout` places shared variables, `apart` says
//! whether a kernel's blocks have to do with each other, and `freedom` what lets its result
//! depend on the order of its threads.
//!
//! What is wrong: `signature` finds what is not PTX, `isa` knows what else PTX has,
//! `refusal` says why an instruction cannot be decoded, and `verify` checks every operand
//! of the result.

pub(crate) mod order_dependence;
pub(crate) mod cfg;
pub(crate) mod decoder;
pub(crate) mod frame;
pub(crate) mod freedom;
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
mod bulk;
mod cluster;
mod collective;
mod convert;
mod float;
mod fp8;
mod fragments;
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
mod warpgroup;
mod wmma;

use crate::program::Program;
use ptx::excerpt::ParseError;
use ptx::ir::{FuncId, Module};

/// What is not PTX, in one of the texts that a module is made of.
pub(crate) struct DecodeError {
    pub input: u32,
    pub error: ParseError,
}

/// Decodes a module of these texts. An unknown instruction becomes one that says so when it
/// is executed.
///
/// # Errors
/// What is not PTX.
pub(crate) fn decode(module: &Module, sources: &[&str]) -> Result<Program, DecodeError> {
    let mut errors = Vec::new();
    let mut wrong_input = 0;
    let mut program = Program {
        functions: Vec::new(),
    };
    for (index, ir_function) in module.functions.iter().enumerate() {
        let Some(body) = &ir_function.body else {
            program.functions.push(None);
            continue;
        };
        let source = sources.get(ir_function.input as usize);
        if errors.is_empty() {
            wrong_input = ir_function.input;
        } else if ir_function.input != wrong_input {
            break;
        }
        let function = function::decode(
            (module, source.copied().unwrap_or_default()),
            FuncId(index as u32),
            ir_function,
            body,
            &mut errors,
        );
        program.functions.push(Some(function));
    }
    match ParseError::together(errors) {
        None => Ok(program),
        Some(error) => Err(DecodeError {
            input: wrong_input,
            error,
        }),
    }
}
