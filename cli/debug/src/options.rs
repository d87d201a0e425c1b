//! What is to be debugged, and where the debugger talks.

use anyhow::Context;
use clap::Parser;
use ptx_sim::Schedule;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

const AFTER_HELP: &str = "\
In the debugger, `help` lists the commands. For example:
  debug transpose_shared                        from the first instruction
  debug transpose_shared --at 01_tiles.rs:178   from the first time that line is reached
  debug broken_reduction --finding              from what the checks find
  echo 'finding
  last-write output[3]' | debug KERNEL          commands from a pipe";

/// Step through a kernel, forwards and backwards, on the simulator.
#[derive(Clone, Debug, Parser)]
#[command(bin_name = "cargo xtask debug", after_help = AFTER_HELP)]
pub struct Options {
    /// A kernel's name, as `list` shows it
    #[arg(value_name = "KERNEL")]
    pub kernel: String,

    /// The problem's size, such as 256x256; by default a small one
    #[arg(long, value_name = "SIZE")]
    pub shape: Option<String>,

    /// The order of blocks, warps and lanes, such as 3/warps/12, if not the usual one
    #[arg(long, value_name = "S")]
    pub schedule: Option<Schedule>,

    /// Begin where this place is first reached: file.rs:41, ptx:120, barrier, `write out[3]`
    #[arg(long, value_name = "PLACE")]
    pub at: Option<String>,

    /// Begin at what the checks find
    #[arg(long, conflicts_with = "at")]
    pub finding: bool,

    /// Which of the kernel's launches
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub launch: u64,

    /// The architecture whose PTX is run
    #[arg(long, value_name = "ARCH", value_parser = ["sm_80", "sm_90a"])]
    pub arch: Option<String>,

    /// Take commands from a file, a line each
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
}

/// Where the debugger talks.
pub enum Way {
    /// In a terminal or a pipe.
    Terminal,
    /// By a script.
    Script,
}

impl Options {
    /// Where to talk.
    pub fn way(&self) -> Way {
        match self.script {
            Some(_) => Way::Script,
            None => Way::Terminal,
        }
    }

    /// Where commands come from.
    pub fn input(&self) -> anyhow::Result<Box<dyn BufRead>> {
        let Some(script) = &self.script else {
            return Ok(Box::new(BufReader::new(io::stdin())));
        };
        let file = File::open(script);
        let file = file.with_context(|| format!("--script {}", script.display()))?;
        Ok(Box::new(BufReader::new(file)))
    }
}
