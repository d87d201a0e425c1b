//! A set of programs, and how one is run.

use common::numbers::{STEP, scramble};
use ptx_sim::debug::Session;
use ptx_sim::{Call, Device, LaunchError, LaunchOptions, Module};

use super::template::{THREADS, input, register_names};
use super::{generate, wide};

/// Different inputs; program `n` gets number `n % N_INPUTS`.
pub const N_INPUTS: u64 = 8;

/// Programs made up in one way.
pub struct Set {
    /// The beginning of a module.
    pub header: fn() -> String,
    pub program: fn(u64) -> String,
    /// 64-bit words that each thread writes, and their names.
    pub output_words: usize,
    pub names: fn() -> Vec<String>,
    /// Numbers from here on are beginnings of programs.
    pub whole: u64,
    /// A third argument, if there is one.
    structure: Option<fn(u64) -> [u64; 4]>,
    /// Hashes of an H200's results.
    hashes: &'static str,
}

pub static FIRST: Set = Set {
    header: generate::header,
    program: generate::program,
    output_words: generate::OUTPUT_WORDS,
    names: register_names,
    whole: generate::WHOLE,
    structure: None,
    hashes: include_str!("h200.txt"),
};

pub static WIDE: Set = Set {
    header: wide::header,
    program: wide::program_or_beginning,
    output_words: wide::OUTPUT_WORDS,
    names: wide::names,
    whole: wide::WHOLE,
    structure: Some(wide::blob),
    hashes: include_str!("h200_wide.txt"),
};

impl Set {
    /// What a program writes.
    pub fn simulate(&self, number: u64, options: LaunchOptions) -> Result<Vec<u64>, String> {
        self.run(number, options, |call| call.run().map(drop))
    }

    /// The same under a debugger.
    pub fn debugged(
        &self,
        number: u64,
        options: LaunchOptions,
        f: impl FnOnce(&mut Session<'_, '_>),
    ) -> Result<Vec<u64>, String> {
        self.run(number, options, |call| call.debug(f)?.1.map(drop))
    }

    fn run(
        &self,
        number: u64,
        options: LaunchOptions,
        f: impl FnOnce(Call<'_>) -> Result<(), LaunchError>,
    ) -> Result<Vec<u64>, String> {
        let text = (self.header)() + &(self.program)(number);
        let module = Module::parse(&text).map_err(|e| e.to_string())?;
        if let Some(unknown) = module.unsupported().first() {
            return Err(format!("{unknown:?}"));
        }
        let device = Device::new();
        let loaded = device.load(&module).map_err(|e| e.to_string())?;
        let seed = number % self.whole;
        let data = device.upload(&input(seed % N_INPUTS), "in");
        let data = data.map_err(|e| e.to_string())?;
        let out = device.zeros::<u64>(THREADS as usize * self.output_words, "out");
        let out = out.map_err(|e| e.to_string())?;
        let name = format!("program_{number}");
        let call = device.call(&loaded, &name).block(THREADS).options(options);
        let mut call = call.arg(data).arg(out);
        if let Some(structure) = self.structure {
            call = call.arg(structure(number));
        }
        f(call).map_err(|e| e.to_string())?;
        device.download(out).map_err(|e| e.to_string())
    }

    /// The words of a program's third argument.
    pub fn extra(&self, number: u64) -> Vec<u64> {
        let words = self.structure.map(|structure| structure(number));
        words.into_iter().flatten().collect()
    }

    /// What the hardware left, by program.
    pub fn measured(&self) -> Vec<u64> {
        let lines = self.hashes.lines().filter(|line| !line.starts_with('#'));
        lines
            .map(|line| u64::from_str_radix(line, 16).expect("hexadecimal"))
            .collect()
    }

    pub fn n_measured(&self) -> u64 {
        self.measured().len() as u64
    }
}

/// A hash that depends on every word and its position.
pub fn hash(words: &[u64]) -> u64 {
    let mix = |word: u64, place: u64| scramble(word ^ place.wrapping_mul(STEP));
    let mixed = words.iter().zip(1..).map(|(&word, place)| mix(word, place));
    mixed.fold(0, u64::wrapping_add)
}
