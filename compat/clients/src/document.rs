//! The tables of docs/clients.md.

use crate::known::{Known, Reason};
use crate::outcome::{Outcome, Results};
use crate::run::repository;
use anyhow::Context;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;

/// The file with the tables, relative to the repository.
const DOCUMENT: &str = "docs/clients.md";
const BEGIN: &str = "<!-- figures: written by `cargo xtask clients --document` -->\n";
const END: &str = "<!-- end of figures -->";

/// The most names of tests or kernels shown for one reason.
const MOST_SHOWN: usize = 8;

/// Updates the tables from the results in the repository.
///
/// # Errors
/// The results or the document are missing.
pub fn renew() -> anyhow::Result<ExitCode> {
    let path = repository().join(DOCUMENT);
    let text =
        std::fs::read_to_string(&path).with_context(|| format!("{DOCUMENT} cannot be read"))?;
    let missing = || {
        format!(
            "{DOCUMENT} lacks the lines `{}` and `{END}`",
            BEGIN.trim_end()
        )
    };
    let new = renewed(&text, &Results::read()?, &Known::read()?).with_context(missing)?;
    std::fs::write(&path, new).with_context(|| format!("{DOCUMENT} cannot be written"))?;
    Ok(ExitCode::SUCCESS)
}

/// `text` with the tables between the markers.
fn renewed(text: &str, results: &Results, known: &Known) -> Option<String> {
    let begin = text.find(BEGIN)? + BEGIN.len();
    let end = begin + text[begin..].find(END)?;
    let tables = tables(results, known);
    Some(format!("{}\n{tables}\n{}", &text[..begin], &text[end..]))
}

// Writing to a string does not fail, here and below.
fn tables(results: &Results, known: &Known) -> String {
    let mut text = String::new();
    text.push_str(
        "| client | what is run | passed | failed | skipped | seconds | kernels | launches | simulated, s |\n\
         |---|---|--:|---|--:|--:|--:|--:|--:|\n",
    );
    for outcome in &results.clients {
        text.push_str(&row(outcome, known));
    }
    incomplete(&results.clients, &mut text);
    for outcome in &results.clients {
        let failures = outcome.failures(known);
        let named = failures.map(|(failure, reason)| (failure.test.as_str(), reason));
        reasons(&outcome.name, "fails", named, &mut text);
    }
    if !results.checked.is_empty() {
        text.push_str(
            "\nWith the simulator's checks (`--check`):\n\n\
             | client | passed | failed | seconds | launches | kernels with findings |\n\
             |---|--:|--:|--:|--:|--:|\n",
        );
        for outcome in &results.checked {
            text.push_str(&checked_row(outcome));
        }
        incomplete(&results.checked, &mut text);
    }
    for outcome in &results.checked {
        let findings = outcome.findings(known);
        let named = findings.map(|(finding, reason)| (finding.kernel.as_str(), reason));
        reasons(&outcome.name, "is found", named, &mut text);
    }
    text
}

/// Below a table, of which clients not all tests were run.
fn incomplete(outcomes: &[Outcome], text: &mut String) {
    for outcome in outcomes {
        if let Some(reason) = &outcome.lacking {
            let _ = writeln!(text, "\nNot all tests of {}: {reason}.", outcome.name);
        }
    }
}

fn row(outcome: &Outcome, known: &Known) -> String {
    let title = format!(
        "| {} {} | {} |",
        outcome.name, outcome.version, outcome.about
    );
    if let Some(reason) = &outcome.not_run {
        return format!("{title} not run: {reason} | | | | | | |\n");
    }
    let failed = outcome.failed(known);
    format!(
        "{title} {} | {failed} | {} | {:.0} | {} | {} | {:.1} |\n",
        outcome.n_passed,
        outcome.n_skipped,
        outcome.seconds,
        outcome.n_kernels,
        outcome.n_launches,
        outcome.kernel_seconds
    )
}

fn checked_row(outcome: &Outcome) -> String {
    let title = format!("| {} {} |", outcome.name, outcome.version);
    if let Some(reason) = &outcome.not_run {
        return format!("{title} not run: {reason} | | | | |\n");
    }
    let mut kernels: Vec<_> = outcome.findings.iter().map(|found| &found.kernel).collect();
    kernels.sort();
    kernels.dedup();
    format!(
        "{title} {} | {} | {:.0} | {} | {} |\n",
        outcome.n_passed,
        outcome.failures.len(),
        outcome.seconds,
        outcome.n_launches,
        kernels.len()
    )
}

/// Failures or findings, by reason.
fn reasons<'o>(
    client: &str,
    what: &str,
    named: impl Iterator<Item = (&'o str, Option<&'o Reason>)>,
    text: &mut String,
) {
    let mut by_reason: BTreeMap<Option<&Reason>, Vec<&str>> = BTreeMap::new();
    for (name, reason) in named {
        by_reason.entry(reason).or_default().push(name);
    }
    if by_reason.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nWhat {what} of {client}, and why:\n");
    for (reason, mut names) in by_reason {
        names.dedup();
        let (class, because) = match reason {
            Some(reason) => (reason.class.to_string(), reason.because.as_str()),
            None => ("unexplained".to_owned(), "Not known yet."),
        };
        let shown: Vec<_> = names
            .iter()
            .take(MOST_SHOWN)
            .map(|name| code(name))
            .collect();
        let more = match names.len().saturating_sub(MOST_SHOWN) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let _ = writeln!(text, "- {class}: {because} ({}{more})", shown.join(", "));
    }
}

/// A test's name as code, without its folders.
fn code(name: &str) -> String {
    let short = match name.split_once("::") {
        Some((file, rest)) if file.contains('/') => {
            let (_, file) = file.rsplit_once('/').unwrap_or(("", file));
            format!("{file}::{rest}")
        }
        _ => name.to_owned(),
    };
    format!("`{short}`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Class;

    /// All classes; a new one does not compile before it is here.
    fn classes() -> Vec<Class> {
        let next = |class: &Class| match class {
            Class::Client => Some(Class::Time),
            Class::Time => Some(Class::Missing),
            Class::Missing => Some(Class::MachineCode),
            Class::MachineCode => Some(Class::Unsupported),
            Class::Unsupported => Some(Class::Gap),
            Class::Gap => None,
        };
        std::iter::successors(Some(Class::Client), next).collect()
    }

    fn document() -> String {
        std::fs::read_to_string(repository().join(DOCUMENT)).expect("it is there")
    }

    #[test]
    fn the_documented_figures_are_the_committed_ones() {
        let text = document();
        let (results, known) = (Results::read().unwrap(), Known::read().unwrap());
        let renewed = renewed(&text, &results, &known);
        assert_eq!(renewed.as_deref(), Some(text.as_str()));
    }

    #[test]
    fn every_class_is_explained() {
        let text = document();
        for class in classes() {
            assert!(text.contains(&format!("- **{class}**: ")), "{class}");
        }
    }
}
