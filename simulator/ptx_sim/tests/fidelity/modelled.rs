//! Instructions for which the simulator follows a rule of its own: those of `modelled.txt`.

use super::probe::{special, unwritten};

/// A rule, and the instructions that it covers, each by one of its opcodes.
pub struct Rule {
    pub opcodes: Vec<String>,
    /// Whether everything that these instructions do is modelled, not only what the text
    /// says.
    pub is_all: bool,
    pub text: String,
}

/// All rules.
pub fn rules() -> Vec<Rule> {
    let spaces = ["global", "shared", "local"];
    let spaces = spaces.map(|name| (name, format!("{:#x}", unwritten(name))));
    let registers = ["smid", "nsmid", "nwarpid", "gridid", "envreg3"];
    let registers = registers.map(|name| (name, special(&format!("%{name}")).to_string()));
    let mut text = include_str!("modelled.txt").to_owned();
    for (name, value) in spaces.into_iter().chain(registers) {
        text = text.replace(&format!("{{{name}}}"), &value);
    }
    text.split("\n\n").skip(1).map(rule).collect()
}

fn rule(paragraph: &str) -> Rule {
    let (opcodes, text) = paragraph.split_once('\n').expect("opcodes and a text");
    let names = opcodes.trim_end_matches(" *");
    Rule {
        opcodes: names.split(' ').map(str::to_owned).collect(),
        is_all: names != opcodes,
        text: text.trim_end().replace('\n', " "),
    }
}
