//! All forms of instructions that `SUPPORTED.md` lists, known and unknown.

use std::sync::LazyLock;

use crate::random::Random;

#[path = "../../tests/supported/lists.rs"]
#[allow(dead_code, reason = "titles are for `SUPPORTED.md`")]
mod lists;

static PATTERNS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let kinds = lists::KINDS.iter();
    kinds
        .flat_map(|kind| kind.known.iter().chain(kind.unknown))
        .copied()
        .collect()
});

/// One instruction, without its semicolon.
pub fn any(random: &mut Random) -> String {
    let mut text = String::from(*random.of(&PATTERNS).expect("there are forms"));
    while let Some((start, end)) = innermost(&text) {
        let choices: Vec<&str> = text[start + 1..end].split('|').collect();
        let choice = choices[random.below(choices.len())].to_owned();
        text.replace_range(start..=end, &choice);
    }
    text
}

/// The first choice; a vector of registers has no bar in it.
fn innermost(text: &str) -> Option<(usize, usize)> {
    let mut open = None;
    for (i, c) in text.char_indices() {
        match c {
            '{' => open = Some(i),
            '}' => {
                if let Some(start) = open.take()
                    && text[start..i].contains('|')
                    && !text[start..i].contains(',')
                {
                    return Some((start, i));
                }
            }
            _ => {}
        }
    }
    None
}
