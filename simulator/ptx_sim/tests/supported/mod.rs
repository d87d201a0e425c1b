//! The parts of PTX that the simulator knows: `SUPPORTED.md` is made from the lists here, and each
//! form in them is decoded to check that it is known or unknown.
//!
//! `UPDATE_SUPPORTED=1 cargo test -p ptx_sim-tests --test plain supported` rewrites the file.

pub mod forms;
pub mod lists;

use std::fmt::Write as _;

use forms::{expand, opcode, reason};
use lists::KINDS;

#[test]
fn the_lists_are_true() {
    let mut wrong = String::new();
    for kind in &*KINDS {
        for pattern in &kind.known {
            for form in expand(pattern) {
                if let Some(reason) = reason(&form) {
                    writeln!(wrong, "not known: {form} ({reason})").unwrap();
                }
            }
        }
        for pattern in &kind.unknown {
            for form in expand(pattern) {
                if reason(&form).is_none() {
                    writeln!(wrong, "known after all: {form}").unwrap();
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn document() -> String {
    let mut text = "# PTX instructions that the simulator supports\n\n\
        Made by `tests/supported/`, which decodes each form below and checks that it is known or\n\
        unknown. `{a|b}` stands for one of these, `{|.x}` for an optional part. State\n\
        spaces, cache hints and scopes that change nothing are not listed; where a form takes\n\
        several types, some of them represent all.\n\n\
        A module with an unknown instruction can be loaded and its other code run;\n\
        `Module::unsupported` lists such instructions. Besides the forms below, `call` (direct,\n\
        and through a pointer with its `.callprototype`) and `brx.idx` with `.branchtargets` are\n\
        known, and of functions without a body `vprintf`, `__assertfail`, `malloc` and `free`.\n"
        .to_owned();
    for kind in &*KINDS {
        write!(text, "\n## {}\n", kind.title).unwrap();
        for (title, patterns) in [("Known", &kind.known), ("Not known", &kind.unknown)] {
            if !patterns.is_empty() {
                write!(text, "\n{title}:\n\n").unwrap();
            }
            let mut opcodes: Vec<&str> = patterns.iter().map(|p| opcode(p)).collect();
            opcodes.dedup();
            for opcode in opcodes {
                writeln!(text, "- `{opcode}`").unwrap();
            }
        }
    }
    text
}

#[test]
fn the_document_is_current() {
    let path = "../SUPPORTED.md";
    let text = document();
    if std::env::var_os("UPDATE_SUPPORTED").is_some() {
        std::fs::write(path, text).unwrap();
        return;
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == text,
        "SUPPORTED.md is not current: UPDATE_SUPPORTED=1 cargo test -p ptx_sim-tests --test plain supported"
    );
}
