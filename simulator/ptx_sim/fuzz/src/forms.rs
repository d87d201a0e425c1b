//! All forms of instructions that `SUPPORTED.md` lists, known and unknown, and the modifiers of all.

use crate::random::Random;
use std::collections::BTreeSet;
use std::sync::LazyLock;

#[path = "../../tests/supported/lists.rs"]
#[allow(dead_code, reason = "titles are for `SUPPORTED.md`")]
mod lists;
#[path = "../../tests/supported/forms.rs"]
#[allow(dead_code)]
mod patterns;

use patterns::{expand, opcode};

/// The expansions of each pattern.
static FORMS: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    let kinds = lists::KINDS.iter();
    kinds
        .flat_map(|kind| kind.known.iter().chain(&kind.unknown))
        .map(|pattern| expand(pattern))
        .collect()
});

/// The modifiers of the opcodes: types, and others.
static PARTS: LazyLock<[Vec<&str>; 2]> = LazyLock::new(|| {
    let opcodes = FORMS.iter().flatten().map(|form| opcode(form));
    let parts: BTreeSet<&str> = opcodes.flat_map(|name| name.split('.').skip(1)).collect();
    let (types, others) = parts.into_iter().partition(|part| is_type(part));
    [types, others]
});

/// One instruction, without its semicolon.
pub fn any(random: &mut Random) -> String {
    let forms = random.of(&FORMS).expect("there are patterns");
    random.of(forms).expect("they stand for something").clone()
}

/// All types that forms have, or all their other modifiers, without their dots.
pub fn modifiers(are_types: bool) -> &'static [&'static str] {
    &PARTS[usize::from(!are_types)]
}

/// Whether a modifier is a type: `pred`, `u32`, `bf16x2`, `e4m3`.
pub fn is_type(part: &str) -> bool {
    let size = part.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let kind = &part[..part.len() - size.len()];
    let is_size = |c: char| c.is_ascii_digit() || matches!(c, 'x' | 'm' | 'f');
    part == "pred"
        || ["b", "u", "s", "f", "bf", "tf", "e", "ue"].contains(&kind)
            && !size.is_empty()
            && size.chars().all(is_size)
}
