//! `lockstep neighbors FILE`: the neighbour list of the user's own atoms.

use super::ending::Outputs;
use super::exit::{Exit, Stop};
use super::progress::say;
use crate::choose::{EngineChoice, SimOptions, choose};
use crate::neighbors::{file, svg};
use host::lessons::neighbor::atoms::{CUTOFF, Lists};
use host::lessons::neighbor::device::{self, NeighborError};
use indicatif::{HumanBytes, HumanCount};
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

    /// Draw also more than 100,000 atoms, which few viewers open.
    #[arg(long, requires = "svg")]
    force: bool,

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
    let room = |n_atoms: u32| {
        let mut footprint = device::footprint(n_atoms);
        if args.svg.is_some() {
            // The text grows by doubling.
            footprint.host_bytes += 2 * u128::from(svg::about_bytes(n_atoms));
        }
        footprint::check(footprint, EngineKind::Sim, false).map_err(|what| what.to_string())
    };
    let atoms = file::read(&args.atoms, room).map_err(Stop::usage)?;
    if args.svg.is_some() && !args.force && atoms.len() > svg::MOST_ATOMS {
        return Err(Stop::usage(format!(
            "--svg: a picture of {} atoms has about {}, and few viewers open it; --force draws it all the same",
            HumanCount(atoms.len().into()),
            HumanBytes(svg::about_bytes(atoms.len()))
        )));
    }
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
        Ok(svg::draw(&atoms, &lists, args.cutoff).into_bytes())
    });
    ending.print(|out| write(out, &lists));
    Ok(ending.exit())
}

fn stopped(error: NeighborError) -> Stop {
    let exit = match &error {
        NeighborError::Engine(error) if error.is_not_run() => Exit::NothingRan,
        _ => Exit::Failed,
    };
    Stop::Because(exit, error.to_string())
}

/// A line per atom: its index, its number of neighbours, and who they are.
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
