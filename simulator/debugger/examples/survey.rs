//! The share of the source's variables that can be seen: `survey FILE.ptx …`.
//!
//! One line per file: variables that have a value at some instruction, of all that are in scope at
//! one; then, over the instructions and the variables in scope there, how many values are there, and
//! how many are lost for which reason. Of long functions only some instructions are looked at.

use debugger::variables::{Location, Reason, Variables};
use std::collections::{BTreeMap, BTreeSet};

/// Instructions of a function that are looked at, at equal distances.
const MAX_INSTRUCTIONS: usize = 100;

fn main() {
    for path in std::env::args().skip(1) {
        match survey(&path) {
            Ok(line) => println!("{path}: {line}"),
            Err(error) => println!("{path}: {error}"),
        }
    }
}

fn survey(path: &str) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let module = ptx::parse::parse(&text).map_err(|error| error.to_string())?;
    let variables = Variables::of(&text, &module);
    if let Some(reason) = variables.missing() {
        return Err(reason.to_owned());
    }
    let (mut all, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for function in &module.functions {
        let n_instructions = function.body.as_ref().map_or(0, Vec::len);
        let step = n_instructions.div_ceil(MAX_INSTRUCTIONS).max(1);
        for index in (0..n_instructions).step_by(step) {
            for variable in variables.at(&function.name, index) {
                let frame = (&variable.frame.function, variable.frame.called_at);
                let key = format!("{} {frame:?} {}", function.name, variable.name);
                let kind = match &variable.location {
                    Location::Pieces(_) => {
                        seen.insert(key.clone());
                        "there"
                    }
                    Location::Lost(Reason::NotKept) => "not kept",
                    Location::Lost(Reason::NotYet(_)) => "not yet",
                    Location::Lost(Reason::Overwritten(_)) => "overwritten",
                    Location::Lost(Reason::NotUnderstood(_)) => "not understood",
                };
                all.insert(key);
                *counts.entry(kind).or_default() += 1;
            }
        }
    }
    Ok(format!(
        "{} of {} variables; {counts:?}",
        seen.len(),
        all.len()
    ))
}
