//! `lockstep readme`: writes the generated part of the README, or says that it
//! is out of date.

use super::{Exit, Stop};
use crate::registry::LESSONS;
use crate::report::markdown;
use std::fs;
use std::path::PathBuf;

const BEGIN: &str = "<!-- lessons: written by `cargo xtask readme` -->\n";
const END: &str = "<!-- end of lessons -->";

/// Options of `readme`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file with the markers.
    #[arg(long, default_value = "README.md")]
    readme: PathBuf,

    /// What `run-all --json` wrote on a GPU.
    #[arg(long, default_value = "results/h200/run-all.json")]
    results: PathBuf,

    /// Write nothing; fail if the README is out of date.
    #[arg(long)]
    check: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    let because = |text: String| Stop::Because(Exit::Usage, text);
    let old = fs::read_to_string(&args.readme)
        .map_err(|error| because(format!("cannot read {}: {error}", args.readme.display())))?;
    let results = match fs::read_to_string(&args.results) {
        Ok(text) => Some(serde_json::from_str(&text).map_err(|error| {
            because(format!(
                "{} is no results file: {error}",
                args.results.display()
            ))
        })?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => {
            return Err(because(format!(
                "cannot read {}: {error}",
                args.results.display()
            )));
        }
    };
    let generated = markdown::lessons(LESSONS, results.as_ref());
    let new = replace(&old, &generated).ok_or_else(|| {
        because(format!(
            "{} has no place for the table: it lacks the lines `{}` and `{END}`",
            args.readme.display(),
            BEGIN.trim_end()
        ))
    })?;
    if new == old {
        return Ok(Exit::Passed);
    }
    if args.check {
        return Err(Stop::Because(
            Exit::Failed,
            format!(
                "{} is out of date; `cargo xtask readme` renews it",
                args.readme.display()
            ),
        ));
    }
    fs::write(&args.readme, new)
        .map_err(|error| because(format!("cannot write {}: {error}", args.readme.display())))?;
    Ok(Exit::Passed)
}

/// `text` with `generated` between the markers.
fn replace(text: &str, generated: &str) -> Option<String> {
    let begin = text.find(BEGIN)? + BEGIN.len();
    let end = begin + text[begin..].find(END)?;
    Some(format!("{}\n{}{}", &text[..begin], generated, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, END, replace};

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let text = format!("before\n{BEGIN}old\n{END}\nafter\n");
        let once = replace(&text, "new\n").expect("it has markers");
        assert_eq!(once, format!("before\n{BEGIN}\nnew\n{END}\nafter\n"));
        assert_eq!(replace(&once, "new\n").as_deref(), Some(once.as_str()));
        assert_eq!(replace("no markers", "new"), None);
    }
}
