//! The README's table of lessons: what the registry claims, beside what a
//! results file measured. Nothing in it is typed by hand.

use crate::counts::{Expectation, Metric};
use crate::registry::{KernelEntry, Lesson};
use serde_json::Value;
use std::fmt::Write;

/// The lessons as Markdown. `results` is a file that `run-all --json` wrote on a
/// GPU, or none.
pub fn lessons(lessons: &[&Lesson], results: Option<&Value>) -> String {
    let mut text = String::new();
    if let Some(device) = results.and_then(device) {
        let _ = writeln!(text, "Times: {device}.\n");
    }
    for lesson in lessons {
        let _ = write!(
            text,
            "### {}\n\n{} ([`{}`]({}))\n\n",
            lesson.title,
            sentence(lesson.idea),
            lesson.source,
            lesson.source
        );
        text.push_str(
            "| kernel | technique | counts, exact by rule | measured |\n|---|---|---|---|\n",
        );
        for kernel in lesson.kernels {
            let counts: Vec<_> = kernel.expected.iter().map(short).collect();
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} |",
                kernel.id,
                kernel.technique.replace('|', "\\|"),
                counts.join(", "),
                measured(kernel, results).unwrap_or_default(),
            );
        }
        text.push('\n');
    }
    text
}

/// With a capital and a full stop.
fn sentence(idea: &str) -> String {
    let mut characters = idea.chars();
    let first = characters.next().map(|first| first.to_uppercase());
    let mut text: String = first.into_iter().flatten().chain(characters).collect();
    if !text.ends_with('.') {
        text.push('.');
    }
    text
}

fn short(expectation: &Expectation) -> String {
    let metric = match expectation.metric {
        Metric::SharedLoadConflictsPerRequest => "conflicts/shared load",
        Metric::SharedStoreConflictsPerRequest => "conflicts/shared store",
        Metric::SharedLoadConflicts => "shared load conflicts",
        Metric::SharedStoreConflicts => "shared store conflicts",
        Metric::LdmatrixConflicts => "ldmatrix conflicts",
        Metric::StmatrixConflicts => "stmatrix conflicts",
        Metric::GlobalLoadSectorsPerRequest => "sectors/load",
        Metric::GlobalStoreSectorsPerRequest => "sectors/store",
        Metric::GlobalLoadDegreePercent => "% of loaded bytes used",
        Metric::GlobalStoreDegreePercent => "% of stored bytes used",
        Metric::LocalSectors => "local sectors",
        Metric::LocalSectorsPerRequest => "sectors/local access",
    };
    whole(expectation.value, metric)
}

fn whole(value: Option<f64>, metric: &str) -> String {
    match value {
        Some(value) => format!("{value} {metric}"),
        None => format!("no {metric}"),
    }
}

fn device(results: &Value) -> Option<String> {
    let device = results["device"].as_str()?;
    let driver = results["machine"]["driver"].as_str();
    Some(match driver {
        Some(driver) => format!(
            "{device}, driver for CUDA {driver}, median of the runs, in one run of `run-all`"
        ),
        None => device.to_owned(),
    })
}

/// The largest timed shape of the kernel.
fn measured(kernel: &KernelEntry, results: Option<&Value>) -> Option<String> {
    let entry = results?["results"]
        .as_array()?
        .iter()
        .filter(|entry| entry["kernel"] == kernel.id && entry["status"] == "passed")
        .filter(|entry| entry["time_ms_median"].is_f64())
        .max_by_key(|entry| entry["bytes"].as_u64())?;
    let time_ms = entry["time_ms_median"].as_f64()?;
    let shape = entry["shape"].as_str()?.replace('x', "×");
    let mut text = format!("{} at {shape}", duration(time_ms));
    if let Some(copy_ms) = entry["copy_time_ms_median"].as_f64() {
        let _ = write!(
            text,
            ", {:.0}% of a copy's speed",
            100.0 * copy_ms / time_ms
        );
    }
    if let Some(peer_ms) = entry["peer_time_ms_median"].as_f64() {
        let _ = write!(text, ", {:.2} × CUDA C++", peer_ms / time_ms);
    }
    Some(text)
}

fn duration(time_ms: f64) -> String {
    if time_ms < 0.1 {
        format!("{:.1} µs", time_ms * 1e3)
    } else {
        format!("{time_ms:.3} ms")
    }
}

#[cfg(test)]
mod tests {
    use super::lessons;
    use crate::registry::LESSONS;
    use serde_json::json;

    #[test]
    fn every_kernel_has_a_row() {
        let text = lessons(LESSONS, None);
        for registered in crate::registry::kernels() {
            assert!(text.contains(&format!("| `{}` |", registered.kernel.id)));
        }
    }

    #[test]
    fn the_largest_shape_that_passed_is_shown() {
        let entry = |shape, bytes, ms, status| {
            json!({"kernel": "transpose_padded", "shape": shape, "bytes": bytes, "status": status,
                   "time_ms_median": ms, "copy_time_ms_median": ms / 2.0, "peer_time_ms_median": null})
        };
        let results = json!({"device": "A GPU", "machine": {"driver": "13.0"}, "results": [
            entry("64x64", 1, 0.01, "passed"),
            entry("512x512", 9, 0.5, "passed"),
            entry("1024x1024", 20, 0.6, "failed"),
        ]});
        let text = lessons(LESSONS, Some(&results));
        assert!(
            text.contains("| 0.500 ms at 512×512, 50% of a copy's speed |"),
            "{text}"
        );
        assert!(text.contains("A GPU"));
    }
}
