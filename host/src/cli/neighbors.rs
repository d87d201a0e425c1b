//! `lockstep neighbors FILE`: who is near whom among atoms of the user's own.

use super::ending::Outputs;
use super::progress::say;
use super::{Exit, Stop};
use crate::engine::{self, EngineChoice};
use crate::neighbors::{self, CUTOFF, device, file, svg};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Options of `neighbors`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A text file with a line `x y` for each atom, in Å.
    #[arg(value_name = "FILE")]
    atoms: PathBuf,

    /// Atoms nearer than this are neighbours, in Å.
    #[arg(long, value_name = "Å", default_value_t = CUTOFF, value_parser = cutoff, allow_negative_numbers = true)]
    cutoff: f32,

    /// Also draw the atoms and their bonds to this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// What to run the kernels on.
    #[arg(long, value_enum, default_value_t)]
    engine: EngineChoice,
}

fn cutoff(text: &str) -> Result<f32, String> {
    let value: f32 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number"))?;
    // Its square must be a number too.
    if value > 0.0 && (value * value).is_normal() {
        Ok(value)
    } else {
        Err("a cut-off is a length in Å, above 0".to_owned())
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    let outputs = Outputs::open(&[("--svg", args.svg.as_deref())], &[Some(&args.atoms)])?;
    let atoms = file::read(&args.atoms).map_err(Stop::usage)?;
    let (engine, why) =
        engine::choose(args.engine, super::modules()?, None, false).map_err(Stop::nothing_ran)?;
    say(&format!("engine: {why}"));

    let lists = device::lists(&*engine, &atoms, args.cutoff)
        .map_err(|error| Stop::Because(Exit::Failed, error.to_string()))?;
    let mut ending = outputs.end(Exit::Passed);
    ending.file("--svg", || Ok(svg::draw(&atoms, &lists).into_bytes()));
    ending.print(|out| write(out, &lists));
    Ok(ending.exit())
}

/// A line an atom: its index, its number of neighbours, and who they are.
fn write(out: &mut dyn Write, lists: &neighbors::Lists) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    for (atom, list) in lists.iter().enumerate() {
        write!(out, "{atom}: {}", list.len())?;
        for neighbor in list {
            write!(out, " {neighbor}")?;
        }
        writeln!(out)?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::cutoff;

    #[test]
    fn a_cutoff_is_a_length() {
        assert_eq!(cutoff("1.9"), Ok(1.9));
        for text in ["0", "-1", "NaN", "inf", "1e30", "1e-30", "two"] {
            assert!(cutoff(text).is_err(), "{text}");
        }
    }
}
