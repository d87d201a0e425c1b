//! Execution of cases: on the simulator, or on a GPU under Nsight Compute.

use super::instructions::{self, Class, GLOBAL_BYTES, Instruction};
use super::{Case, Counted};
use crate::report::ncu::Launches;
use cuda_std::launch::ParamValue;
use lockstep::counts::Counts;
use lockstep::engine::{Buffer, Engine, EngineError, LaunchConfig, Observe, Prepared};
use std::collections::{BTreeMap, BTreeSet};

/// The counters of an instruction, by [`FIGURES`](super::FIGURES): a metric of Nsight Compute and
/// a count of the simulator.
fn counters(class: Class) -> [Option<(String, String)>; 4] {
    // Metric suffixes and count prefixes: for shared memory, and for global or local memory.
    let (shared, global) = match class {
        Class::SharedLoad => (Some(("ld", "shared_load")), None),
        Class::SharedStore => (Some(("st", "shared_store")), None),
        Class::SharedAtomic => (Some(("atom", "shared_atomic")), None),
        Class::MatrixLoad => (Some(("ld", "ldmatrix")), None),
        Class::MatrixStore => (Some(("st", "stmatrix")), None),
        Class::AsyncCopy => (
            Some(("ldgsts", "async_copy")),
            Some(("global_op_ld", "global_load")),
        ),
        Class::AsyncCopyBypass | Class::GlobalLoad => (None, Some(("global_op_ld", "global_load"))),
        Class::GlobalStore => (None, Some(("global_op_st", "global_store"))),
        Class::GlobalAtomic => (None, Some(("global_op_atom", "global_atomic"))),
        Class::GlobalReduction => (None, Some(("global_op_red", "global_red"))),
        Class::LocalLoad => (None, Some(("local_op_ld", "local_load"))),
        Class::LocalStore => (None, Some(("local_op_st", "local_store"))),
    };
    let in_shared = |what: &str, count: &str| {
        let (op, family) = shared?;
        let unit = if op == "ldgsts" {
            "sm__sass_l1tex"
        } else {
            "l1tex_"
        };
        let metric = format!("{unit}_data_{what}_mem_shared_op_{op}.sum");
        Some((metric, format!("{family}_{count}")))
    };
    let elsewhere = |what: &str| {
        let (op, family) = global?;
        let metric = format!("l1tex__t_{what}_pipe_lsu_mem_{op}.sum");
        Some((metric, format!("{family}_{what}")))
    };
    [
        in_shared("pipe_lsu_wavefronts", "wavefronts"),
        in_shared("bank_conflicts_pipe_lsu", "conflicts"),
        elsewhere("requests"),
        elsewhere("sectors"),
    ]
}

/// All metrics that the cases need.
pub fn all_metrics() -> Vec<String> {
    let classes = instructions::INSTRUCTIONS.iter().map(|one| one.class);
    let metrics = classes.flat_map(counters).flatten();
    let metrics: BTreeSet<String> = metrics.map(|(metric, _)| metric).collect();
    metrics.into_iter().collect()
}

/// Executes every case once, in order. An engine that counts returns its
/// counts.
///
/// # Errors
///
/// A launch fails, or an instruction is not one of [`instructions::INSTRUCTIONS`].
pub fn launch_all(
    engine: &dyn Engine,
    cases: &[Case],
) -> Result<Vec<Option<Counted>>, EngineError> {
    // The cost of atomics depends on address bits: offsets must be the address's low bits.
    let memory = Buffer::<u8>::of(engine, "memory", &vec![0; 2 * GLOBAL_BYTES as usize])?;
    let base = memory.address().next_multiple_of(GLOBAL_BYTES.into());
    cases
        .iter()
        .map(|case| {
            let Some(instruction) = instructions::named(&case.instruction) else {
                return Err(EngineError::NoSuchKernel {
                    kernel: case.instruction.clone(),
                    modules: "the PTX of single accesses".to_owned(),
                });
            };
            let mut params: Vec<ParamValue> = case
                .offsets
                .iter()
                .chain([&case.mask])
                .map(|value| ParamValue::new(value.to_le_bytes()))
                .collect();
            params.push(ParamValue::new(base.to_le_bytes()));
            let config = LaunchConfig::new([1; 3], [super::LANES as u32, 1, 1]);
            // SAFETY: the parameters are those that `instructions::ptx` gives the
            // entry, and `memory` has the bytes that offsets may reach.
            let launch = unsafe { Prepared::by_name(instruction.entry, config, params) }?;
            let report = engine.launch(&launch, Observe::Counts)?;
            Ok(report.map(|report| of_simulator(instruction, &report.counts)))
        })
        .collect()
}

/// The simulator's counts of one launch, as a case has them.
fn of_simulator(instruction: &Instruction, counts: &Counts) -> Counted {
    let counts: BTreeMap<_, _> = counts.entries().into_iter().collect();
    let counters = counters(instruction.class);
    Counted(counters.map(|counter| counts.get(&*counter?.1).copied()))
}

/// The hardware's counts of the cases, which were launched in this
/// order.
///
/// # Errors
///
/// A launch or a metric is missing.
pub fn of_hardware(cases: &[Case], launches: &Launches) -> Result<Vec<Counted>, String> {
    let mut n_taken: BTreeMap<&str, usize> = BTreeMap::new();
    cases
        .iter()
        .map(|case| {
            let instruction = instructions::named(&case.instruction)
                .ok_or_else(|| format!("no PTX for `{}`", case.instruction))?;
            let taken = n_taken.entry(instruction.entry).or_default();
            let launch = launches
                .get(instruction.entry)
                .and_then(|launches| launches.get(*taken))
                .ok_or_else(|| {
                    format!(
                        "launch {} of `{}` was not measured",
                        *taken + 1,
                        instruction.entry
                    )
                })?;
            *taken += 1;
            let mut figures = [None; 4];
            for (figure, counter) in figures.iter_mut().zip(counters(instruction.class)) {
                let Some((metric, _)) = counter else { continue };
                let missing = || format!("`{}` has no {metric}", instruction.entry);
                *figure = Some(*launch.get(&metric).ok_or_else(missing)?);
            }
            Ok(Counted(figures))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{all_metrics, counters};
    use crate::accesses::instructions::INSTRUCTIONS;
    use lockstep::counts::Counts;

    #[test]
    fn the_simulator_has_every_count_and_reports_know_the_metrics() {
        let counts = Counts::default().entries();
        for (_, count) in INSTRUCTIONS
            .iter()
            .flat_map(|one| counters(one.class))
            .flatten()
        {
            assert!(counts.iter().any(|(name, _)| *name == count), "{count}");
        }
        let all = all_metrics();
        let known = crate::report::metrics::ALL;
        let n_known = all
            .iter()
            .filter(|one| known.iter().any(|m| m.ncu == **one));
        // Requests of atomics, reductions and local memory do not appear in reports.
        assert_eq!((all.len(), n_known.count()), (20, 16));
    }
}
