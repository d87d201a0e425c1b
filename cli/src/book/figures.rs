//! Figures: the simulator's counts, and measurements, with the machine's name.

use super::directive::Arguments;
use super::facts::{Facts, kernel, kernels};
use crate::explain::default_shape;
use crate::profile::Profile;
use crate::report::bench::BenchReport;
use lesson::measure::Side;
use lesson::{Measurement, Registered};
use lockstep_page::numbers::grouped;
use std::fmt::Write;

/// A figure computed from a kernel's counts: its heading, and the totals it is made of.
struct Count {
    name: &'static str,
    heading: &'static str,
    parts: &'static [&'static str],
    per: &'static [&'static str],
}

macro_rules! counts {
    ($($name:literal $heading:literal = $($part:ident)+ $(/ $per:ident)?;)*) => {
        /// All columns that tables can have, in order.
        const COUNTS: &[Count] = &[$(Count {
            name: $name,
            heading: $heading,
            parts: &[$(stringify!($part)),+],
            per: &[$(stringify!($per))?],
        }),*];
    };
}

counts! {
    "load-conflicts" "per shared load" = shared_load_conflicts / shared_load_requests;
    "store-conflicts" "per shared store" = shared_store_conflicts / shared_store_requests;
    "ldmatrix-conflicts" "per `ldmatrix`" = ldmatrix_conflicts / ldmatrix_requests;
    "atomic-conflicts" "per shared atomic" = shared_atomic_conflicts / shared_atomic_requests;
    "load-sectors" "sectors per global load" = global_load_sectors / global_load_requests;
    "store-sectors" "per global store" = global_store_sectors / global_store_requests;
    "red-requests" "global atomics" = global_atomic_requests global_red_requests;
    "local-sectors" "local sectors" = local_load_sectors local_store_sectors;
    "instructions" "warp instructions" = warp_instructions;
}

impl Count {
    /// None where there is nothing to divide by, or no counts at all.
    fn of(&self, profile: &Profile) -> Option<f64> {
        let sum = |names: &[&str]| names.iter().map(|name| profile.total(name)).sum::<u64>();
        let (sum, per) = match self.per {
            [] => (sum(self.parts), 1.min(sum(self.parts))),
            per => (sum(self.parts), sum(per)),
        };
        (per > 0).then(|| sum as f64 / per as f64)
    }
}

/// Whether a directive names only kernels that exist; cheap.
pub fn check_kernels(_: &Facts, arguments: &Arguments) -> Result<(), String> {
    arguments.keys(&[])?;
    let all = kernels(&arguments.words)?;
    match all.iter().find(|one| default_shape(**one).is_none()) {
        Some(one) => Err(format!("{} has no single size", one.kernel.id)),
        None => Ok(()),
    }
}

/// `{{#counts NAME…}}`: a table of the costs of kernels, or of all kernels of a lesson.
pub fn counts(facts: &Facts, arguments: &Arguments) -> Result<String, String> {
    let all = kernels(&arguments.words)?;
    let mut rows: Vec<(Registered, String, Vec<Option<f64>>)> = Vec::new();
    for registered in all {
        let row = facts.with_profile(registered, |profile| {
            let figures = COUNTS.iter().map(|count| count.of(profile)).collect();
            (registered, profile.shape.clone(), figures)
        })?;
        rows.push(row);
    }
    let is_used = |column: usize| rows.iter().any(|(_, _, figures)| figures[column].is_some());
    let used: Vec<usize> = (0..COUNTS.len())
        .filter(|&column| is_used(column))
        .collect();
    let mut text = String::from("| kernel | size |");
    // The first of a group names what is counted.
    let mut has_conflicts = false;
    for &column in &used {
        let Count { name, heading, .. } = COUNTS[column];
        let is_conflict = name.ends_with("-conflicts");
        let counted = match is_conflict && !has_conflicts {
            true => "bank conflicts ",
            false => "",
        };
        has_conflicts |= is_conflict;
        let _ = write!(text, " {counted}{heading} |");
    }
    text.push_str("\n|---|---|");
    text.push_str(&"--:|".repeat(used.len()));
    for (registered, shape, figures) in &rows {
        let _ = write!(text, "\n| `{}` | {shape} |", registered.kernel.id);
        for &column in &used {
            let _ = write!(
                text,
                " {} |",
                figures[column].map_or("–".to_owned(), number)
            );
        }
    }
    text.push_str("\n\nCounted by the simulator.\n");
    Ok(text)
}

/// Whether `{{#count KERNEL FIGURE}}` names a kernel and a figure that exist.
pub fn check_count(_: &Facts, arguments: &Arguments) -> Result<(), String> {
    count_of(arguments).map(drop)
}

fn count_of(arguments: &Arguments) -> Result<(Registered, &'static Count), String> {
    let [id, figure] = arguments.words.as_slice() else {
        return Err("a kernel and a figure are expected".to_owned());
    };
    let names: Vec<&str> = COUNTS.iter().map(|count| count.name).collect();
    let count = COUNTS.iter().find(|count| count.name == figure);
    let count = count.ok_or_else(|| format!("`{figure}` is not one of {}", names.join(", ")))?;
    Ok((kernel(id)?, count))
}

/// `{{#count KERNEL FIGURE}}`: one figure, within a sentence.
pub fn count(facts: &Facts, arguments: &Arguments) -> Result<String, String> {
    let (registered, count) = count_of(arguments)?;
    let figure = facts.with_profile(registered, |profile| count.of(profile))?;
    figure
        .map(number)
        .ok_or_else(|| format!("{} makes no such accesses", registered.kernel.id))
}

/// `31`, `31.5`, `1,048,576`.
fn number(value: f64) -> String {
    if value.fract() != 0.0 {
        let text = format!("{value:.2}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    grouped(value as u64)
}

/// A measured case with its report.
type Measured<'f> = (&'static str, &'f BenchReport, &'f Measurement);

/// A kernel's measurement at its largest measured size, or at the given shape.
fn measured<'f>(facts: &'f Facts, id: &str, shape: Option<&str>) -> Option<Measured<'f>> {
    facts.benches().iter().find_map(|(file, report)| {
        let cases = report.cases.iter();
        let mut cases = cases.filter(|case| case.kernel == id && case.median_ms().is_some());
        let case = match shape {
            Some(shape) => cases.find(|case| case.shape == shape),
            None => cases.max_by_key(|case| case.bytes),
        };
        case.map(|case| (*file, report, case))
    })
}

/// Whether every kernel of a table has a measured time.
pub fn check_times(facts: &Facts, arguments: &Arguments) -> Result<(), String> {
    arguments.keys(&["size"])?;
    times(facts, arguments).map(drop)
}

/// `{{#times NAME… [size=8192x8192]}}`: a table of measured times. Kernels of a lesson that
/// were not timed are left out; a kernel that is named must have been timed.
pub fn times(facts: &Facts, arguments: &Arguments) -> Result<String, String> {
    let rows = timed(facts, arguments)?;
    let Some((file, report, _)) = rows.first().copied() else {
        return Err("none of them was timed".to_owned());
    };
    let sides = sides_of(&rows);
    let computes = rows
        .iter()
        .any(|(_, _, case)| case.flops > 0 && !is_moving(case));
    let mut text = String::from("| kernel | size | median | p10 to p90 |");
    text.push_str(if computes { " TFLOP/s |" } else { " GB/s |" });
    for (_, heading) in &sides {
        let _ = write!(text, " {heading} |");
    }
    text.push_str("\n|---|---|--:|--:|--:|");
    text.push_str(&"--:|".repeat(sides.len()));
    for (_, _, case) in &rows {
        text.push_str(&timed_row(case, computes, &sides)?);
    }
    let _ = writeln!(text, "\n\nMeasured on an {} (`{file}`).", machine(report));
    Ok(text)
}

/// The cases of a table of times.
fn timed<'f>(facts: &'f Facts, arguments: &Arguments) -> Result<Vec<Measured<'f>>, String> {
    let size = arguments.get("size");
    let mut rows = Vec::new();
    for word in &arguments.words {
        let all = kernels(std::slice::from_ref(word))?;
        let is_lesson = all.len() > 1;
        for registered in all {
            match measured(facts, registered.kernel.id, size) {
                Some(case) => rows.push(case),
                None if is_lesson => {}
                None => return Err(format!("no time of {} was measured", registered.kernel.id)),
            }
        }
    }
    Ok(rows)
}

/// What the cases were timed alongside, with the column's heading.
fn sides_of(rows: &[Measured<'_>]) -> Vec<(Side, &'static str)> {
    let has = |side| {
        rows.iter()
            .any(|(_, _, case)| case.speed_of(side).is_some())
    };
    // For kernels that compute more than they move, a copy's speed means nothing.
    let is_meant = |side: Side| side != Side::Copy || rows.iter().any(|(_, _, c)| is_moving(c));
    let sides = [
        (Side::Copy, "of a copy's speed"),
        (Side::Baseline, "× CUDA C++"),
        (Side::Cub, "× CUB"),
        (Side::Cublas, "× cuBLAS"),
        (Side::CublasLt, "× cuBLASLt"),
    ];
    sides
        .into_iter()
        .filter(|(side, _)| has(*side) && is_meant(*side))
        .collect()
}

fn timed_row(
    case: &Measurement,
    computes: bool,
    sides: &[(Side, &'static str)],
) -> Result<String, String> {
    let times = case.times.get(&Side::Kernel).ok_or("it has no time")?;
    let rate = match computes {
        true => case
            .teraflops(Side::Kernel)
            .map(|rate| format!("{rate:.1}")),
        false => Some(format!("{:.0}", case.bytes as f64 / times.median_ms / 1e6)),
    };
    let mut row = format!(
        "\n| `{}` | {} | {} | {} | {} |",
        case.kernel,
        case.shape.replace('x', "×"),
        duration(times.median_ms),
        range(times.p10_ms, times.p90_ms),
        rate.unwrap_or_default()
    );
    for &(side, _) in sides {
        let ratio = case.ratio_to(side).map(|ratio| ratio.median);
        let cell = match (ratio.or_else(|| case.speed_of(side)), side) {
            (None, _) => "–".to_owned(),
            (Some(speed), Side::Copy) => format!("{:.0}%", 100.0 * speed),
            (Some(speed), _) => format!("{speed:.2}"),
        };
        let _ = write!(row, " {cell} |");
    }
    Ok(row)
}

/// Whether a kernel moves more than it computes.
fn is_moving(case: &Measurement) -> bool {
    case.flops < 64 * case.bytes
}

fn machine(report: &BenchReport) -> String {
    let driver = report.machine.driver.as_ref();
    let driver = driver.map(|driver| format!(", driver for CUDA {driver}"));
    format!(
        "{}{}, medians of {} runs",
        report.device,
        driver.unwrap_or_default(),
        report.n_runs
    )
}

fn duration(time_ms: f64) -> String {
    match time_ms {
        ..0.1 => format!("{:.1} µs", time_ms * 1e3),
        ..10.0 => format!("{time_ms:.3} ms"),
        _ => format!("{time_ms:.1} ms"),
    }
}

/// `0.970 to 0.976 ms`, or `99.8 µs to 0.101 ms`.
fn range(from_ms: f64, to_ms: f64) -> String {
    let (from, to) = (duration(from_ms), duration(to_ms));
    match (from.split_once(' '), to.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number} to {to}"),
        _ => format!("{from} to {to}"),
    }
}

/// `{{#time KERNEL [size=…]}}`: a median, within a sentence.
pub fn time(facts: &Facts, arguments: &Arguments) -> Result<String, String> {
    arguments.keys(&["size"])?;
    let id = kernel(arguments.only()?)?.kernel.id;
    let (_, _, case) = measured(facts, id, arguments.get("size"))
        .ok_or_else(|| format!("no such time was measured for {id}"))?;
    case.median_ms()
        .map(duration)
        .ok_or_else(|| "it did not pass".to_owned())
}

/// `{{#gain SLOW FAST [size=…]}}`: how many times as fast the second kernel is, within a
/// sentence.
pub fn gain(facts: &Facts, arguments: &Arguments) -> Result<String, String> {
    arguments.keys(&["size"])?;
    let [slow, fast] = arguments.words.as_slice() else {
        return Err("two kernels are expected".to_owned());
    };
    let of = |word: &str| {
        let id = kernel(word)?.kernel.id;
        let found = measured(facts, id, arguments.get("size"));
        let (_, _, case) = found.ok_or_else(|| format!("no such time was measured for {id}"))?;
        Ok::<_, String>((
            case.median_ms().ok_or("it did not pass")?,
            case.shape.clone(),
        ))
    };
    let ((slow_ms, one), (fast_ms, other)) = (of(slow)?, of(fast)?);
    if one != other {
        return Err(format!(
            "they were measured at {one} and {other}: name a size"
        ));
    }
    let gain = slow_ms / fast_ms;
    // Small differences are not rounded to none.
    Ok(match gain {
        ..1.1 => format!("{gain:.2}"),
        _ => format!("{gain:.1}"),
    })
}

/// `{{#machine}}`: the machine on which the times were measured.
pub fn machine_of(facts: &Facts, _: &Arguments) -> Result<String, String> {
    let (_, report) = facts.benches().first().ok_or("there are no results")?;
    Ok(report.device.clone())
}

/// `{{#share KERNEL [size=…]}}`: percentage of a copy's speed, within a sentence.
pub fn share(facts: &Facts, arguments: &Arguments) -> Result<String, String> {
    let id = kernel(arguments.only()?)?.kernel.id;
    let found = measured(facts, id, arguments.get("size"));
    let (_, _, case) = found.ok_or_else(|| format!("no such time was measured for {id}"))?;
    let speed = case
        .speed_of(Side::Copy)
        .ok_or("no copy was timed alongside it")?;
    Ok(format!("{:.0}%", 100.0 * speed))
}

#[cfg(test)]
mod tests {
    use super::{number, range};

    #[test]
    fn a_range_names_its_unit_once() {
        assert_eq!(range(0.97, 0.976), "0.970 to 0.976 ms");
        assert_eq!(range(0.0998, 0.101), "99.8 µs to 0.101 ms");
    }

    #[test]
    fn numbers_are_told_without_noise() {
        assert_eq!(number(31.0), "31");
        assert_eq!(number(65_011_712.0), "65,011,712");
        assert_eq!(number(1.5), "1.5");
        assert_eq!(number(2.0 / 3.0), "0.67");
        assert_eq!(number(3.999), "4");
    }
}
