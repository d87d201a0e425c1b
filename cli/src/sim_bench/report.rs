//! Figures of the simulator's speed as a file, and as tables made of it.

use super::{Measured, Mode};
use crate::report::grid::{Cell, Column, Grid};
use crate::report::style::FAINT;
use crate::report::width::Width;
use lesson::measure::geometric_mean;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;

/// The file, schema 1.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Raised when a field changes its meaning.
    pub schema: u32,
    /// What it was built from.
    pub commit: String,
    /// The processor.
    pub machine: Machine,
    /// Small loops.
    pub micro: Vec<Row>,
    /// The catalogue's kernels.
    pub catalogue: Vec<Row>,
    /// Geometric means over the catalogue, in 10⁹ thread-instructions per second,
    /// by mode.
    pub catalogue_geomean: BTreeMap<String, f64>,
}

/// The processor, as it names itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// Its model.
    pub processor: String,
    /// Cores that this program may use.
    pub n_cores: usize,
    /// Whether the loops over lanes run with AVX2.
    pub has_wide_vectors: bool,
}

impl Machine {
    /// This one.
    pub fn here() -> Self {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = info.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == "model name").then(|| value.trim().to_owned())
        });
        Self {
            processor: model.unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            n_cores: std::thread::available_parallelism().map_or(1, usize::from),
            has_wide_vectors: ptx_sim::has_wide_vectors(),
        }
    }
}

/// One kernel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// What it ran on.
    pub shape: String,
    /// Instructions, counted for each lane that carries them out.
    pub thread_instructions: u64,
    /// 10⁹ thread-instructions per second, by mode.
    pub modes: BTreeMap<String, Rate>,
}

/// 10⁹ thread-instructions per second.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Rate {
    /// Of the fastest run.
    pub best: f64,
    /// Of the median run.
    pub median: f64,
    /// A tenth of the runs were slower.
    pub p10: f64,
    /// How many runs.
    pub n_runs: usize,
}

impl Row {
    /// Of what was measured.
    pub fn new(name: &str, shape: String, measured: &Measured) -> Self {
        let rate = |ms: f64| rounded(measured.thread_instructions as f64 / (ms * 1e6));
        let modes = Mode::ALL.into_iter().zip(measured.times);
        let modes = modes.filter_map(|(mode, times)| {
            let times = times?;
            let rate = Rate {
                best: rate(times.min_ms),
                median: rate(times.median_ms),
                p10: rate(times.p90_ms),
                n_runs: times.n_runs,
            };
            Some((mode.name().to_owned(), rate))
        });
        Self {
            name: name.to_owned(),
            shape,
            thread_instructions: measured.thread_instructions,
            modes: modes.collect(),
        }
    }

    fn best(&self, mode: Mode) -> Option<f64> {
        self.modes.get(mode.name()).map(|rate| rate.best)
    }
}

/// To four digits, which is more than repeats.
fn rounded(rate: f64) -> f64 {
    (rate * 1e4).round() / 1e4
}

/// What else there is to say of a row, beside an older one if there is one.
fn remark(row: &Row, old: Option<&Row>) -> String {
    let counted = |row: &Row| row.best(Mode::Counted);
    if let (Some(new), Some(old)) = (counted(row), old.and_then(counted)) {
        return format!("{:.2} × the older {old:.2}", new / old);
    }
    match row.modes.get(Mode::Counted.name()) {
        Some(rate) if rate.n_runs > 0 => format!(
            "median {:.2}, a tenth below {:.2} ({} runs)",
            rate.median, rate.p10, rate.n_runs
        ),
        _ => String::new(),
    }
}

impl Report {
    /// Of these rows.
    pub fn new(micro: Vec<Row>, catalogue: Vec<Row>) -> Self {
        let mean = |mode: Mode| {
            let rates = catalogue.iter().filter_map(|row| row.best(mode));
            Some((mode.name().to_owned(), rounded(geometric_mean(rates)?)))
        };
        Self {
            schema: 1,
            commit: host::home::commit(),
            machine: Machine::here(),
            catalogue_geomean: Mode::ALL.into_iter().filter_map(mean).collect(),
            micro,
            catalogue,
        }
    }

    /// The rows with a heading for each part, the geometric mean last.
    fn lines(&self) -> Vec<Row> {
        let mean = self.catalogue_geomean.iter().map(|(mode, &best)| {
            let (median, p10) = (best, best);
            (
                mode.clone(),
                Rate {
                    best,
                    median,
                    p10,
                    n_runs: 0,
                },
            )
        });
        let mut rows = self.micro.clone();
        rows.extend(self.catalogue.iter().cloned());
        if !self.catalogue.is_empty() {
            rows.push(Row {
                name: "geometric mean of the catalogue".to_owned(),
                shape: format!("{} kernels", self.catalogue.len()),
                thread_instructions: 0,
                modes: mean.collect(),
            });
        }
        rows
    }

    /// As a table for people, beside an older one if there is one.
    pub fn write(
        &self,
        out: &mut dyn io::Write,
        older: Option<&Self>,
        width: Width,
    ) -> io::Result<()> {
        writeln!(
            out,
            "best of the runs, in 10⁹ thread-instructions per second"
        )?;
        let mut columns = vec![Column::words("kernel"), Column::numbers("shape")];
        columns.extend(Mode::ALL.map(|mode| Column::numbers(mode.heading())));
        columns.push(Column::words("with counters").below());
        let mut grid = Grid::new(&columns).with_indent(0);
        let old_rows = older.map(Self::lines).unwrap_or_default();
        for row in self.lines() {
            let mut cells: Vec<Cell> = vec![row.name.clone().into(), row.shape.clone().into()];
            let rate = |mode| row.best(mode).map(|rate| format!("{rate:.2}"));
            cells.extend(Mode::ALL.map(|mode| Cell::from(rate(mode).unwrap_or_default())));
            let old = old_rows.iter().find(|old| old.name == row.name);
            cells.push(Cell::new(remark(&row, old), FAINT));
            grid.row(cells);
        }
        grid.write(out, width)
    }

    /// As Markdown, beside an older one.
    pub fn markdown(&self, before: &Self) -> String {
        let Machine {
            processor, n_cores, ..
        } = &self.machine;
        let mut text = format!(
            "10⁹ thread-instructions per second, the best of the runs, on {n_cores} cores of an {processor}. \
             \"Before\" is with counters, on one core.\n\n| kernel | shape | before |"
        );
        for mode in Mode::ALL {
            let _ = write!(text, " {} |", mode.heading());
        }
        let _ = writeln!(text, "\n|---|---|--:|{}", "--:|".repeat(Mode::ALL.len()));
        let cell = |rate: Option<f64>| rate.map_or_else(String::new, |rate| format!(" {rate:.2}"));
        let old_rows = before.lines();
        for row in self.lines() {
            let old = old_rows.iter().find(|old| old.name == row.name);
            let old = old.and_then(|old| old.best(Mode::Counted));
            let _ = write!(text, "| {} | {} |{} |", row.name, row.shape, cell(old));
            for mode in Mode::ALL {
                let _ = write!(text, "{} |", cell(row.best(mode)));
            }
            text.push('\n');
        }
        text
    }
}
