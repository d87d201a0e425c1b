//! The tables of instructions, one row per mnemonic.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::evidence::{Evidence, Key, key};
use super::modelled::Rule;
use super::single::Single;
use crate::supported::forms::{expand, opcode, reason};
use crate::supported::lists::Kind;

/// A number with its thousands separated.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 form`, `2 forms`.
pub fn counted(number: usize, what: &str) -> String {
    format!(
        "{} {what}{}",
        grouped(number),
        if number == 1 { "" } else { "s" }
    )
}

/// What the rows are made of.
pub struct Sources<'a> {
    pub evidence: &'a BTreeMap<Key, Evidence>,
    pub singles: &'a [Single],
    pub rules: &'a [Rule],
    /// Mnemonics that a lesson compared bit for bit on the H200.
    pub probed: &'a [String],
}

/// A kind's table, and what of the kind is not simulated.
pub fn section(kind: &Kind, sources: &Sources<'_>) -> String {
    let mut text = format!(
        "\n### {}\n\n| instruction | certainty | compared with an H200 | remarks \
         |\n|---|---|---|---|\n",
        kind.title
    );
    for key in mnemonics(kind) {
        row(&mut text, &key, sources);
    }
    if !kind.unknown.is_empty() {
        text += "\nUnsupported, in the words of the error:\n\n";
    }
    // Forms that are refused for one reason stand together.
    let mut by_reason: Vec<(String, Vec<String>)> = Vec::new();
    for pattern in &kind.unknown {
        for form in expand(pattern) {
            let reason = reason(&form).unwrap_or_else(|| panic!("known after all: {form}"));
            let name = format!("`{}`", opcode(&form));
            match by_reason.iter_mut().find(|(other, _)| *other == reason) {
                Some((_, forms)) if forms.contains(&name) => {}
                Some((_, forms)) => forms.push(name),
                None => by_reason.push((reason, vec![name])),
            }
        }
    }
    for (reason, forms) in by_reason {
        writeln!(text, "- {}: {reason}", forms.join(", ")).unwrap();
    }
    text
}

/// The mnemonics of a kind, in its order.
fn mnemonics(kind: &Kind) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for form in kind.known.iter().flat_map(|pattern| expand(pattern)) {
        let form = form.trim_start_matches("@%p0 ");
        let key = key(opcode(form));
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

fn row(text: &mut String, wanted: &Key, sources: &Sources<'_>) {
    let none = Evidence::default();
    let evidence = sources.evidence.get(wanted).unwrap_or(&none);
    let is_probed = sources.probed.contains(&wanted.0);
    let rules: Vec<&Rule> = sources
        .rules
        .iter()
        .filter(|rule| applies(rule, wanted))
        .collect();
    let is_approximate =
        approximations(sources.singles).any(|single| key(&single.opcode) == *wanted);
    // Programs do not count for what is modelled in everything that it does.
    let is_modelled = rules.iter().any(|rule| rule.is_all);
    let how_sure = if is_modelled {
        "modelled"
    } else if !evidence.is_none() || is_probed {
        "exact"
    } else if is_approximate {
        "modelled"
    } else {
        "by the manual"
    };
    let mut held = Vec::new();
    if evidence.n_forms > 0 {
        held.push(format!(
            "{} of {}",
            counted(evidence.n_operands, "result"),
            counted(evidence.n_forms, "form")
        ));
    }
    if evidence.n_programs > 0 && !is_modelled {
        held.push(counted(evidence.n_programs as usize, "program"));
    }
    if is_probed {
        held.push("a lesson".to_owned());
    }
    let mut remarks: Vec<String> = rules.iter().map(|rule| rule.text.clone()).collect();
    if evidence.n_unlike > 0 {
        remarks.push(format!(
            "In {} more ptxas deviates from the manual, which the simulator follows.",
            counted(evidence.n_unlike, "form")
        ));
    }
    if is_approximate {
        remarks
            .push("[Approximate forms](#approximate-functions) are listed separately.".to_owned());
    }
    let (held, remarks) = (held.join("; "), remarks.join(" "));
    writeln!(text, "| `{}` | {how_sure} | {held} | {remarks} |", wanted.0).unwrap();
}

/// Whether a rule is about these instructions.
fn applies(rule: &Rule, wanted: &Key) -> bool {
    rule.opcodes.iter().any(|opcode| key(opcode) == *wanted)
}

/// The forms whose results are only near the hardware's.
pub fn approximations(singles: &[Single]) -> impl Iterator<Item = &Single> {
    singles.iter().filter(|single| !single.must_be_same)
}

/// The table of approximate functions.
pub fn table_of_approximations(singles: &[Single]) -> String {
    let mut text = "\n### Approximate functions\n\n\
        PTX bounds the error of `.approx`, and the hardware has tables of its own. Here the true\n\
        value is rounded once; for `sin` and `cos` the argument is reduced as the hardware does,\n\
        and their error is bounded absolutely, as PTX has it. Differences from the H200's results,\n\
        of the same operands, where both are normal numbers:\n\n\
        | form | same bits | largest difference | which is |\n|---|---|---|---|\n"
        .to_owned();
    for single in approximations(singles) {
        let size = match single.most_absolute {
            Some(absolute) => format!("{absolute:.1e} absolute"),
            None => format!("{:.1e} relative", single.most_relative),
        };
        let (same, n) = (single.n_same, single.n_operands);
        let (form, ulp) = (&single.opcode, grouped(single.most_ulp as usize));
        writeln!(text, "| `{form}` | {same} of {n} | {ulp} ulp | {size} |").unwrap();
    }
    text
}
