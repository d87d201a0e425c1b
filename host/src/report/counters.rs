//! The simulator's counts beside a GPU's hardware counters, launch by launch.
//!
//! The hardware's come from Nsight Compute as CSV, the simulator's from a results
//! file; both of the same cases in the same order. A kernel that one of them
//! launched more often than the other (a case of several launches) is left out,
//! and said to be.

use super::metrics::{self, Metric};
use super::ncu::Launches;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What is compared.
pub const METRICS: &[Metric] = &[
    metrics::SHARED_LOAD_CONFLICTS,
    metrics::SHARED_STORE_CONFLICTS,
    metrics::LDMATRIX_CONFLICTS,
    metrics::GLOBAL_LOAD_REQUESTS,
    metrics::GLOBAL_LOAD_SECTORS,
    metrics::GLOBAL_STORE_REQUESTS,
    metrics::GLOBAL_STORE_SECTORS,
    metrics::LOCAL_LOAD_SECTORS,
    metrics::LOCAL_STORE_SECTORS,
];

/// One figure of one launch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// Entry name.
    pub kernel: String,
    /// The shape's name.
    pub shape: String,
    /// The hardware counter.
    pub metric: &'static str,
    /// What the simulator counted.
    pub simulator: u64,
    /// What the hardware counted.
    pub hardware: u64,
}

/// All figures, and the kernels that could not be paired.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// Launch by launch.
    pub compared: Vec<Compared>,
    /// Kernels with different numbers of launches.
    pub left_out: Vec<String>,
}

/// Pairs the n-th launch of a kernel with its n-th result that has counts.
pub fn compare(hardware: &Launches, simulator: &Value) -> Comparison {
    let mut results: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    let mut order = Vec::new();
    for entry in simulator["results"].as_array().into_iter().flatten() {
        let Some(kernel) = entry["kernel"].as_str() else {
            continue;
        };
        if entry["counts"]["thread_instructions"].is_u64() {
            if !results.contains_key(kernel) {
                order.push(kernel);
            }
            results.entry(kernel).or_default().push(entry);
        }
    }
    let mut comparison = Comparison::default();
    for kernel in order {
        let ours = &results[kernel];
        let theirs = hardware.get(kernel).map(Vec::as_slice).unwrap_or_default();
        if theirs.len() != ours.len() {
            comparison.left_out.push(format!(
                "{kernel}: {} launches on the GPU, {} on the simulator",
                theirs.len(),
                ours.len()
            ));
            continue;
        }
        for (launch, entry) in theirs.iter().zip(ours) {
            for metric in METRICS {
                let sum = || {
                    let counts = &entry["counts"];
                    metric
                        .counts
                        .iter()
                        .map(|&count| counts[count].as_u64())
                        .sum::<Option<u64>>()
                };
                if let (Some(simulator), Some(&hardware)) = (sum(), launch.get(metric.ncu)) {
                    comparison.compared.push(Compared {
                        kernel: kernel.to_owned(),
                        shape: entry["shape"].as_str().unwrap_or_default().to_owned(),
                        metric: metric.ncu,
                        simulator,
                        hardware,
                    });
                }
            }
        }
    }
    comparison
}

#[cfg(test)]
mod tests {
    use super::compare;
    use crate::report::ncu::read;
    use serde_json::json;

    const CSV: &str = "\
\"ID\",\"Process ID\",\"Kernel Name\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\"
\"0\",\"7\",\"add(float *, long)\",\"1,024\"
\"1\",\"7\",\"twice\",\"5\"
\"2\",\"7\",\"twice\",\"6\"
";

    #[test]
    fn launches_are_paired_by_kernel_and_order() {
        let entry = |kernel: &str, sectors: u64| {
            json!({"kernel": kernel, "shape": "9", "counts":
                   {"thread_instructions": 1, "global_load_sectors": sectors}})
        };
        let simulator = json!({"results": [entry("add", 1024), entry("twice", 5)]});
        let comparison = compare(&read(CSV).expect("a table"), &simulator);
        assert_eq!(comparison.compared.len(), 1);
        assert_eq!(comparison.compared[0].hardware, 1024);
        assert_eq!(comparison.compared[0].simulator, 1024);
        assert_eq!(comparison.left_out.len(), 1);
        assert!(comparison.left_out[0].starts_with("twice: 2"));
    }
}
