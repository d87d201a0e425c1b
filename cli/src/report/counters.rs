//! The simulator's counts compared with a GPU's hardware counters, launch by launch.
//!
//! The hardware's come from Nsight Compute as CSV, the simulator's from a results
//! file, which also lists the other launches; both are of the same cases in the
//! same order. A kernel that one of them launched more often than the other is left
//! out and reported as such.

use super::metrics::{self, Metric};
use super::ncu::Launches;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The compared metrics.
pub const METRICS: &[Metric] = &[
    metrics::SHARED_LOAD_CONFLICTS,
    metrics::SHARED_STORE_CONFLICTS,
    metrics::LDMATRIX_CONFLICTS,
    metrics::ASYNC_COPY_CONFLICTS,
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
    /// The simulator's count.
    pub simulator: u64,
    /// The hardware's count.
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

/// The simulator's counts of one launch, where it counted.
type Counted<'a> = Option<&'a Value>;

/// Pairs the n-th launch of a kernel in one with its n-th launch in the other,
/// and compares the launches that the simulator counted.
///
/// # Errors
///
/// The results file does not list its launches: another program's, or an old one.
pub fn compare(hardware: &Launches, simulator: &Value) -> Result<Comparison, String> {
    let mut launches: BTreeMap<&str, Vec<Counted>> = BTreeMap::new();
    let mut order = Vec::new();
    for result in simulator["results"].as_array().into_iter().flatten() {
        let missing = "its results do not list their launches: run `run-all` again";
        let runs = result["launches"].as_array().ok_or(missing)?;
        let counted = result["counted_launch"].as_u64();
        let mut number = 0;
        for run in runs {
            let entry = run["entry"].as_str().ok_or(missing)?;
            if !launches.contains_key(entry) {
                order.push(entry);
            }
            let launches = launches.entry(entry).or_default();
            for _ in 0..run["n"].as_u64().ok_or(missing)? {
                launches.push((counted == Some(number)).then_some(result));
                number += 1;
            }
        }
    }
    let mut comparison = Comparison::default();
    for kernel in order {
        let ours = &launches[kernel];
        let theirs = hardware.get(kernel).map(Vec::as_slice).unwrap_or_default();
        if theirs.len() != ours.len() {
            comparison.left_out.push(format!(
                "{kernel}: {} launches on the GPU, {} on the simulator",
                theirs.len(),
                ours.len()
            ));
            continue;
        }
        for (launch, result) in theirs.iter().zip(ours) {
            let Some(result) = result else { continue };
            for metric in METRICS {
                let counts = &result["counts"];
                let simulator = metric
                    .counts
                    .iter()
                    .map(|&count| counts[count].as_u64())
                    .sum::<Option<u64>>();
                if let (Some(simulator), Some(&hardware)) = (simulator, launch.get(metric.ncu)) {
                    comparison.compared.push(Compared {
                        kernel: kernel.to_owned(),
                        shape: result["shape"].as_str().unwrap_or_default().to_owned(),
                        metric: metric.ncu,
                        simulator,
                        hardware,
                    });
                }
            }
        }
    }
    Ok(comparison)
}

#[cfg(test)]
mod tests {
    use super::{Comparison, compare};
    use crate::report::ncu::read;
    use serde_json::{Value, json};

    const CSV: &str = "\
\"ID\",\"Process ID\",\"Kernel Name\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\"
\"0\",\"7\",\"add(float *, long)\",\"1,024\"
\"1\",\"7\",\"twice\",\"5\"
\"2\",\"7\",\"twice\",\"6\"
";

    /// A case of these launches, of which the last was counted.
    fn case(launches: &[&str], sectors: u64) -> Value {
        let runs: Vec<Value> = launches
            .iter()
            .map(|entry| json!({"entry": entry, "n": 1}))
            .collect();
        json!({"kernel": launches.last(), "shape": "9", "launches": runs,
               "counted_launch": launches.len() - 1,
               "counts": {"global_load_sectors": sectors}})
    }

    fn compared(cases: &[Value]) -> Comparison {
        let launches = read(CSV).expect("a table");
        compare(&launches, &json!({ "results": cases })).expect("a results file")
    }

    #[test]
    fn launches_are_paired_by_kernel_and_order() {
        // The case of `twice` launches `add` first, as a step before its own.
        let comparison = compared(&[case(&["twice", "add", "twice"], 6)]);
        assert_eq!(comparison.left_out, [""; 0]);
        assert_eq!(comparison.compared.len(), 1);
        assert_eq!(comparison.compared[0].kernel, "twice");
        assert_eq!(comparison.compared[0].hardware, 6);
        assert_eq!(comparison.compared[0].simulator, 6);
    }

    #[test]
    fn kernels_launched_more_often_by_one_are_left_out() {
        let comparison = compared(&[case(&["add"], 1024), case(&["twice"], 5)]);
        assert_eq!(comparison.compared.len(), 1);
        assert_eq!(comparison.compared[0].hardware, 1024);
        assert_eq!(comparison.left_out.len(), 1);
        assert!(comparison.left_out[0].starts_with("twice: 2"));
    }

    #[test]
    fn a_results_file_without_launches_is_refused() {
        let launches = read(CSV).expect("a table");
        let old = json!({"results": [{"kernel": "add", "shape": "9"}]});
        assert!(compare(&launches, &old).is_err());
    }
}
