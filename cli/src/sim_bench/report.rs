//! Figures of the simulator's speed as a file, and as a table made from it.

use super::{LOOPS, Measured, Mode, SMALL};
use crate::report::grid::{Cell, Column, Grid};
use lesson::measure::geometric_mean;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The unit of the figures.
pub const UNIT: &str = "10⁹ thread-instructions per second, the best of the runs";

/// The file, schema 1.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Raised when a field changes its meaning.
    pub schema: u32,
    /// The commit it was built from.
    pub commit: String,
    /// The processor.
    pub machine: Machine,
    /// Small loops.
    pub micro: Vec<Row>,
    /// The catalogue's kernels.
    pub catalogue: Vec<Row>,
}

/// The processor, under its own name.
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
    /// This machine.
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
    /// The shape it ran on.
    pub shape: String,
    /// Instructions, counted for each lane that executes them.
    pub thread_instructions: u64,
    /// Its rates.
    pub modes: BTreeMap<Mode, Rate>,
}

/// 10⁹ thread-instructions per second.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Rate {
    /// Of the fastest run.
    pub best: f64,
    /// Of the median run.
    pub median: f64,
}

impl Row {
    /// A row from a measurement.
    pub fn new(name: &str, shape: String, measured: &Measured) -> Self {
        // To four digits, which is more than can be reproduced.
        let rate = |seconds: f64| {
            (measured.thread_instructions as f64 / (seconds * 1e9) * 1e4).round() / 1e4
        };
        let modes = measured.seconds.iter().map(|(&mode, seconds)| {
            let [best, median] = seconds.map(rate);
            (mode, Rate { best, median })
        });
        Self {
            name: name.to_owned(),
            shape,
            thread_instructions: measured.thread_instructions,
            modes: modes.collect(),
        }
    }

    fn best(&self, mode: Mode) -> Option<f64> {
        self.modes.get(&mode).map(|rate| rate.best)
    }
}

impl Report {
    /// A report of these rows, some of them small loops.
    pub fn new(rows: Vec<Row>) -> Self {
        let is_loop = |row: &Row| LOOPS.iter().any(|(entry, ..)| *entry == row.name);
        let (micro, catalogue) = rows.into_iter().partition(is_loop);
        Self {
            schema: 1,
            commit: host::home::commit(),
            machine: Machine::here(),
            micro,
            catalogue,
        }
    }

    /// How long a launch of one small block takes, as a sentence, if it was measured.
    pub fn small_launch(&self) -> Option<String> {
        let row = self.micro.iter().find(|row| row.name == SMALL)?;
        let micros = |mode: Mode| Some(row.thread_instructions as f64 / row.best(mode)? / 1e3);
        let each = Mode::ALL.into_iter().filter_map(|mode| {
            let micros = micros(mode)?;
            Some(format!("{micros:.1} µs ({})", mode.heading()))
        });
        let each: Vec<_> = each.collect();
        Some(format!(
            "A launch of one block of 128 threads takes {}.",
            each.join(", ")
        ))
    }

    /// The report as a table; if there is an older one, with its rates, with counters
    /// on one core, and the ratio of the new ones to them. The catalogue's means are over the
    /// kernels that have the figure.
    pub fn table(&self, before: Option<&Self>) -> Grid {
        let mut columns = vec![
            Column::words("kernel"),
            Column::words("shape"),
            Column::numbers("before"),
        ];
        columns.extend(Mode::ALL.map(|mode| Column::numbers(mode.heading())));
        columns.push(Column::numbers("× before"));
        let mut grid = Grid::new(&columns).with_indent(0);
        let figures = |row: &Row| {
            let old = before
                .into_iter()
                .flat_map(|old| old.micro.iter().chain(&old.catalogue));
            let old = old.filter(|old| old.name == row.name);
            let old = old.filter_map(|old| old.best(Mode::Counted)).next();
            let now = Mode::ALL.map(|mode| row.best(mode));
            let ratio = now[0].zip(old).map(|(now, old)| now / old);
            [old, now[0], now[1], now[2], now[3], ratio]
        };
        let mut add = |name: &str, shape: &str, figures: [Option<f64>; 6]| {
            let text = |figure: Option<f64>| figure.map(|figure| format!("{figure:.2}"));
            let mut cells: Vec<Cell> = vec![name.into(), shape.into()];
            cells.extend(figures.map(|figure| Cell::from(text(figure).unwrap_or_default())));
            grid.row(cells);
        };
        for row in self.micro.iter().chain(&self.catalogue) {
            add(&row.name, &row.shape, figures(row));
        }
        if !self.catalogue.is_empty() {
            let all: Vec<_> = self.catalogue.iter().map(figures).collect();
            let means = std::array::from_fn(|column| {
                geometric_mean(all.iter().filter_map(|figures| figures[column]))
            });
            let n_kernels = format!("{} kernels", all.len());
            add("geometric mean of the catalogue", &n_kernels, means);
        }
        grid
    }
}

#[cfg(test)]
mod tests {
    use super::{Machine, Rate, Report, Row};
    use crate::sim_bench::Mode;

    #[test]
    fn a_small_launch_is_told_in_microseconds() {
        let rate = |best| Rate { best, median: best };
        let row = Row {
            name: super::SMALL.to_owned(),
            shape: "loop".to_owned(),
            thread_instructions: 1536,
            modes: [(Mode::Counted, rate(0.384)), (Mode::Checked, rate(0.128))].into(),
        };
        assert_eq!(
            Report::new(vec![row]).small_launch().as_deref(),
            Some("A launch of one block of 128 threads takes 4.0 µs (counters), 12.0 µs (checks).")
        );
    }

    #[test]
    fn two_builds_are_compared_by_the_kernels_that_both_have() {
        let report = |kernels: &[(&str, f64)]| {
            let row = |&(name, best): &(&str, f64)| Row {
                name: name.to_owned(),
                shape: "8".to_owned(),
                thread_instructions: 1,
                modes: [(Mode::Counted, Rate { best, median: best })].into(),
            };
            Report {
                schema: 1,
                commit: String::new(),
                machine: Machine::here(),
                micro: Vec::new(),
                catalogue: kernels.iter().map(row).collect(),
            }
        };
        let before = report(&[("a", 1.0), ("gone", 100.0)]);
        let now = report(&[("a", 1.5), ("new", 6.0)]);
        assert_eq!(
            now.table(Some(&before)).markdown(),
            "| kernel | shape | before | counters | × before |\n\
             | --- | --- | ---: | ---: | ---: |\n\
             | a | 8 | 1.00 | 1.50 | 1.50 |\n\
             | new | 8 |  | 6.00 |  |\n\
             | geometric mean of the catalogue | 2 kernels | 1.00 | 3.00 | 1.50 |\n"
        );
    }
}
