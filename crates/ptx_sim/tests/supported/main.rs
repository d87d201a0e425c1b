//! What the simulator knows of PTX: `SUPPORTED.md` is made from the lists here, and each
//! form in them is decoded to see that it is known, or is not.
//!
//! `UPDATE_SUPPORTED=1 cargo test -p ptx_sim --test supported` writes the file anew.

use std::fmt::Write as _;

use ptx_sim::Module;

/// Instructions of one kind: forms that are known, and forms that are not. `{a|b}` is one of
/// these. The registers are `%h` (16 bits), `%r` (32), `%d` (64), `%q` (128), `%p`
/// (predicates).
struct Kind {
    title: &'static str,
    known: &'static [&'static str],
    unknown: &'static [&'static str],
}

mod lists;
use lists::KINDS;

/// All that a pattern stands for.
fn expand(pattern: &str) -> Vec<String> {
    let Some(start) = innermost(pattern) else {
        return vec![pattern.to_owned()];
    };
    let end = start + pattern[start..].find('}').expect("a closing brace");
    pattern[start + 1..end]
        .split('|')
        .flat_map(|choice| {
            expand(&format!(
                "{}{choice}{}",
                &pattern[..start],
                &pattern[end + 1..]
            ))
        })
        .collect()
}

/// The first brace of a choice; that of a vector of registers has no bar in it.
fn innermost(pattern: &str) -> Option<usize> {
    let mut open = None;
    for (i, c) in pattern.char_indices() {
        match c {
            '{' => open = Some(i),
            '}' => {
                if let Some(start) = open
                    && pattern[start..i].contains('|')
                    && !pattern[start..i].contains(',')
                {
                    return Some(start);
                }
                open = None;
            }
            _ => {}
        }
    }
    None
}

/// Why an instruction is not known, if it is not.
fn reason(instruction: &str) -> Option<String> {
    let text = format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n.global .align 16 .b8 data[256];\n\
         .entry k(.param .u64 param)\n{{\n.reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<40>;\n\
         .reg .b64 %d<9>;\n.reg .b128 %q<3>;\n.shared .align 16 .b8 shared[64];\n\
         .local .align 16 .b8 local[64];\n{instruction};\nEND: ret;\n}}\n"
    );
    match Module::parse(&text) {
        Ok(module) => {
            let unknown = module.unsupported();
            unknown.first().map(|u| u.reason.to_owned())
        }
        Err(error) => Some(error.message),
    }
}

#[test]
fn the_lists_are_true() {
    let mut wrong = String::new();
    for kind in KINDS {
        for pattern in kind.known {
            for form in expand(pattern) {
                if let Some(reason) = reason(&form) {
                    writeln!(wrong, "not known: {form} ({reason})").unwrap();
                }
            }
        }
        for pattern in kind.unknown {
            for form in expand(pattern) {
                if reason(&form).is_none() {
                    writeln!(wrong, "known after all: {form}").unwrap();
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A pattern without its operands.
fn opcode(pattern: &str) -> &str {
    let mut depth = 0;
    for (i, c) in pattern.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ' ' if depth == 0 => return &pattern[..i],
            _ => {}
        }
    }
    pattern
}

fn document() -> String {
    let mut text = "# What the simulator knows of PTX\n\n\
        Made by `tests/supported/`, which decodes each form below and sees that it is known or is\n\
        not. `{a|b}` stands for one of these, `{|.x}` for something that may be left out. State\n\
        spaces, cache hints and scopes that change nothing are not listed; where a form takes\n\
        several types, some of them stand for all.\n\n\
        A module with an unknown instruction can be loaded and its other code run;\n\
        `Module::unsupported` lists what it has of these. Beside the forms below, `call` (direct,\n\
        and through a pointer with its `.callprototype`) and `brx.idx` with `.branchtargets` are\n\
        known; of functions without a body, `vprintf` and `__assertfail` are.\n"
        .to_owned();
    for kind in KINDS {
        write!(text, "\n## {}\n", kind.title).unwrap();
        for (title, patterns) in [("Known", kind.known), ("Not known", kind.unknown)] {
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
    let path = "SUPPORTED.md";
    let text = document();
    if std::env::var_os("UPDATE_SUPPORTED").is_some() {
        std::fs::write(path, text).unwrap();
        return;
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == text,
        "SUPPORTED.md is not current: UPDATE_SUPPORTED=1 cargo test -p ptx_sim --test supported"
    );
}
