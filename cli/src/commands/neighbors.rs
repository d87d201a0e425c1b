//! `lockstep neighbors FILE`: the neighbour list of the user's own atoms.

use super::ending::Outputs;
use super::exit::{Exit, Stop};
use super::progress::say;
use crate::choose::{EngineChoice, SimOptions, choose};
use crate::input;
use crate::neighbors::{Colours, draw, parse};
use host::lessons::neighbor::atoms::{CUTOFF, Lists};
use host::lessons::neighbor::device::{self, NeighborError};
use lesson::footprint;
use lockstep::engine::EngineKind;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Options of `neighbors`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A text file with a line `x y` for each atom, in Å; - is standard input.
    #[arg(value_name = "FILE")]
    atoms: PathBuf,

    /// Atoms nearer than this are neighbours, in Å.
    #[arg(long, value_name = "Å", default_value_t = CUTOFF, value_parser = cutoff, allow_negative_numbers = true)]
    cutoff: f32,

    /// Also draw the atoms and their bonds to this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// The engine that runs the kernels.
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
    let name = input::name(&args.atoms);
    let text = input::text(&args.atoms).map_err(Stop::usage)?;
    let atoms = parse(&text).map_err(|what| Stop::usage(format!("{name}, {what}")))?;
    let n_atoms = atoms.len();
    footprint::check(device::footprint(n_atoms), EngineKind::Sim, false)
        .map_err(|what| Stop::usage(format!("{name} has too many atoms, {n_atoms}: {what}")))?;
    let (engine, why) = choose(
        args.engine,
        super::modules::modules()?,
        SimOptions::default(),
    )
    .map_err(Stop::nothing_ran)?;
    say(&format!("engine: {why}"));

    let lists = device::lists(engine.engine(), &atoms, args.cutoff).map_err(stopped)?;
    let mut ending = outputs.end(Exit::Passed);
    ending.file("--svg", || {
        Ok(draw(Colours::FILE, &atoms, &lists, args.cutoff).into_bytes())
    });
    ending.print(|out| write(out, &lists));
    Ok(ending.exit())
}

fn stopped(error: NeighborError) -> Stop {
    let is_not_run = matches!(&error, NeighborError::Engine(error) if error.is_not_run());
    Stop::failed(is_not_run, error)
}

/// A line per atom: its index, its number of neighbours, and their indices.
fn write(out: &mut dyn Write, lists: &Lists) -> io::Result<()> {
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
