//! Results of the lessons of several devices, as a table and as JSON.

use super::grid::{Cell, Column, Grid};
use super::style::{BAD, GOOD};
use super::width::{Width, indented};
use host::several::{Lesson, Outcome, Way};
use lockstep::{Device, Line};
use lockstep_page::numbers::grouped;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::Path;

/// The file, schema 1. A figure that was not measured is null.
#[derive(Debug, Serialize, Deserialize)]
pub struct Report {
    /// Raised when a field changes its meaning.
    pub schema: u32,
    /// `gpu` or `sim`.
    pub engine: String,
    /// The devices that ran the kernels.
    pub devices: Vec<String>,
    /// CUDA version of the driver.
    pub driver: Option<String>,
    /// NCCL's version, such as 22803, where it was used.
    pub nccl: Option<u32>,
    /// The commit it was built from.
    pub commit: String,
    /// One for each way, number of devices and size.
    pub results: Vec<Row>,
}

/// A way of a lesson on some devices.
#[derive(Debug, Serialize, Deserialize)]
pub struct Row {
    /// The lesson's id.
    pub lesson: String,
    /// The way's id.
    pub way: String,
    /// How many devices.
    pub n_devices: usize,
    /// The size; what it counts depends on the lesson.
    pub size: u32,
    /// Why it did not pass.
    pub failure: Option<String>,
    /// Bytes that kernels moved over links, all together.
    pub link_bytes: Option<u64>,
    /// The median time.
    pub time_ms: Option<f64>,
    /// The least and the greatest time over the median.
    pub spread: Option<(f64, f64)>,
    /// The time of what it is compared with.
    pub reference_ms: Option<f64>,
    /// Bytes that have to cross into the device that gets most.
    pub bytes: Option<u64>,
}

impl Report {
    /// Of these results.
    pub fn new(devices: &[Device], nccl: Option<u32>, results: Vec<Row>) -> Self {
        let first = devices.first();
        Self {
            schema: 1,
            engine: first
                .map_or("sim", |device| device.engine().kind().name())
                .to_owned(),
            devices: devices
                .iter()
                .map(|d| d.properties().name.clone())
                .collect(),
            driver: first.and_then(|device| device.properties().driver.clone()),
            nccl,
            commit: host::home::commit(),
            results,
        }
    }
}

impl Row {
    /// How a way ended.
    pub fn of(
        (lesson, way): (&'static Lesson, &'static Way),
        (n_devices, size): (usize, u32),
        ended: Result<Outcome, String>,
    ) -> Self {
        let (outcome, failure) = match ended {
            Ok(outcome) => (outcome, None),
            Err(failure) => (Outcome::default(), Some(failure)),
        };
        let measured = outcome.measured;
        Self {
            lesson: lesson.id.to_owned(),
            way: way.id.to_owned(),
            n_devices,
            size,
            failure,
            link_bytes: outcome.link_bytes,
            time_ms: measured.map(|measured| measured.time_ms),
            spread: measured.map(|measured| measured.spread),
            reference_ms: measured.and_then(|measured| measured.reference_ms),
            bytes: measured.map(|measured| measured.bytes),
        }
    }

    fn cells(&self) -> Vec<Cell> {
        let number = |value: Option<String>| value.unwrap_or_default().into();
        let result = match self.failure {
            None => Cell::new("passed", GOOD),
            Some(_) => Cell::new("failed", BAD),
        };
        vec![
            self.lesson.clone().into(),
            self.way.clone().into(),
            self.n_devices.to_string().into(),
            grouped(self.size.into()).into(),
            result,
            number(self.link_bytes.map(grouped)),
            number(self.time_ms.map(|ms| format!("{ms:.4} ms"))),
            number(self.rate()),
            number(self.ratio()),
        ]
    }

    /// GB/s into the device that gets most.
    fn rate(&self) -> Option<String> {
        let bytes = self.bytes.filter(|bytes| *bytes > 0)?;
        Some(format!("{:.1}", bytes as f64 / self.time_ms? / 1e6))
    }

    /// How many times as fast as what it is compared with.
    fn ratio(&self) -> Option<String> {
        Some(format!("{:.3}", self.reference_ms? / self.time_ms?))
    }
}

/// The measured rows of a results file as a table for a document; a remark if there is no file.
///
/// # Errors
///
/// The file is not such a one.
pub fn document(path: &Path) -> Result<String, String> {
    let Ok(text) = std::fs::read_to_string(path) else {
        return Ok("Not measured yet.\n".to_owned());
    };
    let read = serde_json::from_str::<Report>(&text);
    let report = read.map_err(|error| format!("{}: {error}", path.display()))?;
    let device = report.devices.first().map_or("", String::as_str);
    let nccl = report
        .nccl
        .map(|n| format!(", NCCL {}.{}.{}", n / 10000, n / 100 % 100, n % 100));
    let mut table = format!(
        "{} × {device}, driver for CUDA {}{}, commit {}.\n\n\
         | lesson | way | size | time, ms | GB/s | × reference |\n|---|---|--:|--:|--:|--:|\n",
        report.devices.len(),
        report.driver.as_deref().unwrap_or("unknown"),
        nccl.unwrap_or_default(),
        &report.commit[..report.commit.len().min(12)],
    );
    let measured = report
        .results
        .iter()
        .filter_map(|row| Some((row, row.time_ms?)));
    for (row, time_ms) in measured {
        let (size, cell) = (grouped(row.size.into()), Option::unwrap_or_default);
        let (rate, ratio): (String, String) = (cell(row.rate()), cell(row.ratio()));
        let Row { lesson, way, .. } = row;
        let line = format!("| {lesson} | {way} | {size} | {time_ms:.4} | {rate} | {ratio} |\n");
        table.push_str(&line);
    }
    Ok(table)
}

/// Prints the memory work of a way's lines.
///
/// # Errors
///
/// It cannot be written.
pub fn write_lines(
    out: &mut dyn Write,
    name: &str,
    lines: &[Line],
    width: Width,
) -> io::Result<()> {
    let mut grid = Grid::new(&[
        Column::words("line"),
        Column::numbers("bytes over links"),
        Column::numbers("sectors loaded"),
        Column::numbers("sectors stored"),
        Column::numbers("bank conflicts"),
        Column::words("source").below(),
    ]);
    for line in lines {
        let file = line.file.rsplit('/').next().unwrap_or(&line.file);
        grid.row(vec![
            format!("{file}:{}", line.line).into(),
            grouped(line.link_bytes).into(),
            grouped(line.load_sectors).into(),
            grouped(line.store_sectors).into(),
            grouped(line.conflicts).into(),
            line.text.clone().unwrap_or_default().into(),
        ]);
    }
    writeln!(out, "\n{name}, line by line")?;
    grid.write(out, width)
}

/// Prints the rows, and why some failed.
pub fn write(out: &mut dyn Write, rows: &[Row], width: Width) -> io::Result<()> {
    let mut grid = Grid::new(&[
        Column::words("lesson"),
        Column::words("way"),
        Column::numbers("devices"),
        Column::numbers("size"),
        Column::words("result"),
        Column::numbers("bytes over links"),
        Column::numbers("time"),
        Column::numbers("GB/s"),
        Column::numbers("× reference"),
    ]);
    for row in rows {
        grid.row(row.cells());
    }
    grid.write(out, width)?;
    for row in rows {
        if let Some(failure) = &row.failure {
            let text = indented(failure, 2, width.prose());
            let name = format!("{} {} on {} devices", row.lesson, row.way, row.n_devices);
            writeln!(out, "\n{BAD}failed{BAD:#}: {name}\n{text}")?;
        }
    }
    Ok(())
}
