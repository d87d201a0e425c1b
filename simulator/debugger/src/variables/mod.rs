//! The source's variables: which are in scope at an instruction, and where their values are.
//!
//! Compilers describe variables in DWARF, which PTX holds as data with labels. There are no
//! addresses in PTX, so the line of the text stands for the address: labels, scopes and lists of
//! locations all become lines. In reading order:
//!
//! - [`Type`], [`Location`], [`Variable`]: what is found;
//! - `sections`: from the text to the bytes of the sections;
//! - `entries`: from the bytes to a tree of entries, with `gimli`;
//! - `expression`: what a location's operations name;
//! - `lists`: location lists and ranges;
//! - `types`: from entries to types;
//! - `scopes`: from entries to functions, inlined calls and their variables;
//! - `flow`: whether a register still holds the value that DWARF says it holds;
//! - `place`: a variable's place at an instruction;
//! - `value`: printing a value through a reader of registers and memory.
//!
//! A wrong value is worse than none. A location that is not understood is [`Location::Lost`], and
//! so is a register that may have been overwritten since, whatever DWARF says.
//!
//! Left out: variables outside of functions, values computed from registers, DWARF from version 4 on,
//! and the memory that a pointer points to. Memory is believed: a store that the optimiser has dropped
//! is not noticed.

mod entries;
mod expression;
mod flow;
mod lists;
mod location;
mod place;
mod scopes;
mod sections;
mod types;
mod value;

pub use location::{Frame, Location, Piece, Place, Reason, Variable};
pub use types::{Field, Type, Variant};

use ptx::ir::Module;
use scopes::Function;
use std::collections::HashMap;

/// The variables of a module.
#[derive(Debug, Default)]
pub struct Variables {
    functions: HashMap<String, Function>,
    /// Why there are none.
    missing: Option<String>,
}

impl Variables {
    /// Reads the variables that the text of a module describes. If they cannot be read, there are
    /// none ([`Variables::missing`]).
    pub fn of(text: &str, module: &Module) -> Self {
        match read(text, module) {
            Ok(functions) => Self {
                functions,
                missing: None,
            },
            Err(reason) => Self {
                functions: HashMap::new(),
                missing: Some(reason),
            },
        }
    }

    /// Why the module has no variables, if it has none.
    pub fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// The variables in scope before the instruction at `index` of a function's body, those of the
    /// outermost frame first.
    pub fn at(&self, function: &str, index: usize) -> Vec<Variable> {
        let function = self.functions.get(function);
        function.map_or_else(Vec::new, |function| function.at(index))
    }
}

fn read(text: &str, module: &Module) -> Result<HashMap<String, Function>, String> {
    let sections = sections::assemble(text)?;
    let entries = entries::read(&sections)?;
    let functions = scopes::functions(&entries, sections, module);
    if functions.is_empty() {
        return Err("the debug information describes no function of this module".into());
    }
    Ok(functions)
}
