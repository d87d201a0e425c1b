//! The command line: the kernel to debug, and who talks.

use anyhow::Context;
use clap::{Args, Parser};
use ptx_sim::Schedule;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

const AFTER_HELP: &str = "\
In the debugger `?` (in lines: `help`) lists what it can do. For example:
  debug transpose_shared                        from the first instruction
  debug transpose_shared --at 01_tiles.rs:151   from the first time that line is reached
  debug KERNEL --finding                        from what the checks find
  echo 'lw output[3]' | debug KERNEL --at-end   commands from a pipe

In an editor: docs/debugging.md";

/// Step through a kernel, forwards and backwards, on the simulator.
#[derive(Clone, Debug, Parser)]
#[command(bin_name = "cargo xtask debug", after_help = AFTER_HELP)]
pub struct Options {
    #[command(flatten)]
    pub asked: Asked,

    /// Begin where this place is first reached: file.rs:41, ptx:120, barrier, `write out[3]`
    #[arg(long, value_name = "PLACE", conflicts_with_all = ["finding", "at_end"])]
    at: Option<String>,

    /// Begin at what the checks find, or where the launch fails
    #[arg(long, conflicts_with = "at_end")]
    finding: bool,

    /// Begin at the last write of the first element that the lesson finds to be wrong
    #[arg(long, conflicts_with_all = ["at", "finding", "at_end"])]
    pub wrong: bool,

    /// Begin at the end of the launch
    #[arg(long)]
    at_end: bool,

    /// Talk in lines of text, not in a view that fills the terminal
    #[arg(long)]
    pub lines: bool,

    /// Take commands from a file, a line each
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
}

/// What is to be debugged.
#[derive(Args, Clone, Debug)]
pub struct Asked {
    /// A kernel's name, as `list` shows it
    #[arg(value_name = "KERNEL")]
    pub kernel: String,

    /// The problem's size, such as 256x256; by default a small one
    #[arg(long, value_name = "SIZE")]
    pub shape: Option<String>,

    /// The order of blocks, warps and lanes, such as 3/warps/12, if not the usual one
    #[arg(long, value_name = "S")]
    pub schedule: Option<Schedule>,

    /// Warp instructions that a launch may execute, as for `run-all`
    #[arg(long, value_name = "N", value_parser = cli::choose::fuel)]
    pub fuel: Option<u64>,

    /// Which of the kernel's launches
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub launch: u64,

    /// The architecture whose PTX is run
    #[arg(long, value_name = "ARCH", value_parser = ["sm_80", "sm_90a"])]
    pub arch: Option<String>,
}

/// A wrong element of a lesson's result.
pub struct Wrong {
    /// As an expression.
    pub element: String,
    /// The last of the kernel's launches before it was read.
    pub launch: u64,
}

impl Options {
    /// The commands with which to begin, a line each.
    pub fn first_commands(&self, wrong: Option<&Wrong>) -> String {
        if let Some(Wrong { element, .. }) = wrong {
            return format!("goto end\nlast-write {element}\n");
        }
        if let Some(place) = &self.at {
            // Once: whoever wants to halt there again says so.
            return format!("break {place}\ncontinue\ndelete 1\n");
        }
        let first = match (self.finding, self.at_end) {
            (true, _) => "finding\n",
            (_, true) => "goto end\n",
            _ => "",
        };
        first.to_owned()
    }

    /// Whether commands come from a file.
    pub fn is_scripted(&self) -> bool {
        self.script.is_some()
    }

    /// Where commands come from.
    pub fn input(&self) -> anyhow::Result<Box<dyn BufRead>> {
        let Some(script) = &self.script else {
            return Ok(Box::new(BufReader::new(io::stdin())));
        };
        let text = fs::read(script);
        let text = text.with_context(|| format!("--script {}", script.display()))?;
        Ok(Box::new(io::Cursor::new(text)))
    }
}
