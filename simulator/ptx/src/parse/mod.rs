//! PTX text to [`ir::Module`](crate::ir::Module).
//!
//! One pass over the text with one token of look-ahead; names are resolved as
//! they are met, labels and function addresses once their scope or the file
//! has ended. In reading order:
//!
//! - `pending`: what waits for the end of the file;
//! - `cursor`: the parser's state and its smallest steps;
//! - `names`: scopes, registers and labels;
//! - `special`: predefined registers;
//! - `constants`: constant expressions;
//! - `directives`: the top level of a file: `.version`, `.file`, linkage;
//! - `variables`, `initialisers`: storage and its first contents;
//! - `functions`: headers of entries and device functions;
//! - `body`: statements;
//! - `registers`: parameters in registers, and sums as operands;
//! - `operands`: what follows an opcode;
//! - `unknown`: names that nothing declares.
//!
//! Left out, each with an error that names it: 32-bit addresses, texture and
//! surface variables, and arrays indexed by a register. Debug sections are skipped.
//!
//! A file cut short is refused wherever the cut can be seen: inside any
//! declaration or body, before a function that is called but only declared,
//! and before the `.file` directives of the lines it refers to, which rustc
//! writes last. A file without line tables, cut exactly between two
//! functions or before the first, is a shorter valid file.

mod body;
mod constants;
mod cursor;
mod directives;
mod functions;
mod initialisers;
mod names;
mod operands;
mod pending;
mod registers;
mod special;
mod unknown;
mod variables;

#[cfg(test)]
mod tests;

use crate::ir::Module;
pub use crate::ir::ParseError;
pub use special::{OTHER_SPECIALS, special_name};

/// Reads one PTX file.
///
/// # Errors
///
/// The first place that is not PTX as [described above](self), with what was
/// found there and what was expected.
pub fn parse(source: &str) -> Result<Module, ParseError> {
    let mut parser = cursor::Parser::new(source)?;
    parser.file()?;
    Ok(parser.module)
}
