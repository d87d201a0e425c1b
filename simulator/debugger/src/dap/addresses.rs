//! Names by which the editor knows instructions and memory.
//!
//! The PTX text itself is not kept, and not on disk: a function's text is made of its instructions,
//! one a line, after a line with its name. As a disassembly each instruction takes one byte, and
//! each function 4 GiB.

use ptx::ir::Space;
use ptx_sim::debug::Position;
use serde_json::{Value, json};

use crate::debugger::Debugger;

/// How the names of functions' texts end.
pub const SUFFIX: &str = ".ptx";
/// The line of a function's text with its first instruction.
const FIRST_LINE: u32 = 2;

/// An address as the editor has it.
pub fn address(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The address of an instruction in a disassembly.
pub fn address_of(position: Position) -> u64 {
    (position.function as u64 + 1) << 32 | u64::from(position.instruction)
}

/// The instruction at an address of a disassembly.
pub fn position(debugger: &Debugger<'_, '_, '_>, address: u64) -> Option<Position> {
    let position = Position {
        function: (address >> 32).checked_sub(1)? as usize,
        instruction: address as u32,
    };
    debugger.program().spot(position).map(|_| position)
}

/// The line of an instruction in its function's text.
pub fn line_of(position: Position) -> u32 {
    position.instruction + FIRST_LINE
}

/// The instruction of a line of a function's text.
pub fn listed(debugger: &Debugger<'_, '_, '_>, function: &str, line: u32) -> Option<Position> {
    let program = debugger.program();
    let mut all = 0..program.n_functions();
    let position = Position {
        function: all.find(|&index| program.function(index).name == function)?,
        instruction: line.checked_sub(FIRST_LINE)?,
    };
    program.spot(position).map(|_| position)
}

/// A function's text as a source of the protocol, whose reference is the function's number from 1.
pub fn source_of(debugger: &Debugger<'_, '_, '_>, function: usize) -> Value {
    let name = &debugger.program().function(function).name;
    json!({
        "name": format!("{name}{SUFFIX}"),
        "sourceReference": function + 1,
        "origin": "PTX",
    })
}

/// An address of memory as a reference of the protocol.
pub fn memory_reference(space: Space, block: u64, address: u64) -> String {
    match space {
        Space::Shared => format!("shared:{block}:{address:#x}"),
        _ => format!("{address:#x}"),
    }
}

/// The space, the block if it is shared, and the address of such a reference.
pub fn memory(reference: &str) -> Option<(Space, u64, u64)> {
    match reference.strip_prefix("shared:") {
        Some(rest) => {
            let (block, at) = rest.split_once(':')?;
            Some((Space::Shared, block.parse().ok()?, address(at)?))
        }
        None => Some((Space::Global, 0, address(reference)?)),
    }
}
