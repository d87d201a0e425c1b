//! Cases carried out: on the simulator, or on a GPU under Nsight Compute.

use super::instructions::{self, Class, GLOBAL_BYTES, Instruction};
use super::{Case, Counted, Global, Shared};
use crate::report::ncu::Launches;
use cuda_std::launch::ParamValue;
use lockstep::counts::Counts;
use lockstep::engine::{Buffer, Engine, EngineError, LaunchConfig, Observe, Prepared};
use std::collections::BTreeMap;

/// Hardware counters of one side of an access: two metrics of Nsight Compute.
type Pair = [&'static str; 2];

/// The counters of an instruction in shared memory, and in global or local
/// memory.
const fn metrics(class: Class) -> (Option<Pair>, Option<Pair>) {
    const LOAD: Pair = [
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    ];
    const STORE: Pair = [
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    ];
    const ATOMIC: Pair = [
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum",
    ];
    const ASYNC: Pair = [
        "sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
        "sm__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum",
    ];
    const GLOBAL_LOAD: Pair = [
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    ];
    match class {
        Class::SharedLoad | Class::MatrixLoad => (Some(LOAD), None),
        Class::SharedStore | Class::MatrixStore => (Some(STORE), None),
        Class::SharedAtomic => (Some(ATOMIC), None),
        Class::AsyncCopy => (Some(ASYNC), Some(GLOBAL_LOAD)),
        Class::AsyncCopyBypass | Class::GlobalLoad => (None, Some(GLOBAL_LOAD)),
        Class::GlobalStore => (
            None,
            Some([
                "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
                "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
            ]),
        ),
        Class::GlobalAtomic => (
            None,
            Some([
                "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
                "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
            ]),
        ),
        Class::GlobalReduction => (
            None,
            Some([
                "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
                "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
            ]),
        ),
        Class::LocalLoad => (
            None,
            Some([
                "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
                "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
            ]),
        ),
        Class::LocalStore => (
            None,
            Some([
                "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
                "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
            ]),
        ),
    }
}

/// All metrics that the cases need.
pub fn all_metrics() -> Vec<&'static str> {
    let mut all: Vec<_> = instructions::INSTRUCTIONS
        .iter()
        .flat_map(|instruction| {
            let (shared, global) = metrics(instruction.class);
            shared.into_iter().chain(global).flatten()
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Carries out every case once, in order. An engine that counts says what it
/// counted.
///
/// # Errors
///
/// A launch fails, or an instruction is none of [`instructions::INSTRUCTIONS`].
pub fn launch_all(
    engine: &dyn Engine,
    cases: &[Case],
) -> Result<Vec<Option<Counted>>, EngineError> {
    // What atomics cost depends on bits of the address: offsets are to be its low ones.
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
fn of_simulator(instruction: &Instruction, c: &Counts) -> Counted {
    let shared = |wavefronts, conflicts| Counted {
        shared: Some(Shared {
            wavefronts,
            conflicts,
        }),
        global: None,
    };
    let global = |requests, sectors| Counted {
        shared: None,
        global: Some(Global { requests, sectors }),
    };
    match instruction.class {
        Class::SharedLoad => shared(c.shared_load_wavefronts, c.shared_load_conflicts),
        Class::SharedStore => shared(c.shared_store_wavefronts, c.shared_store_conflicts),
        Class::SharedAtomic => shared(c.shared_atomic_wavefronts, c.shared_atomic_conflicts),
        Class::MatrixLoad => shared(c.ldmatrix_wavefronts, c.ldmatrix_conflicts),
        Class::MatrixStore => shared(c.stmatrix_wavefronts, c.stmatrix_conflicts),
        Class::AsyncCopy => Counted {
            global: global(c.global_load_requests, c.global_load_sectors).global,
            ..shared(c.async_copy_wavefronts, c.async_copy_conflicts)
        },
        Class::AsyncCopyBypass | Class::GlobalLoad => {
            global(c.global_load_requests, c.global_load_sectors)
        }
        Class::GlobalStore => global(c.global_store_requests, c.global_store_sectors),
        Class::GlobalAtomic => global(c.global_atomic_requests, c.global_atomic_sectors),
        Class::GlobalReduction => global(c.global_red_requests, c.global_red_sectors),
        Class::LocalLoad => global(c.local_load_requests, c.local_load_sectors),
        Class::LocalStore => global(c.local_store_requests, c.local_store_sectors),
    }
}

/// What the hardware's counters said of the cases, which were launched in this
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
            let pair = |names: Option<Pair>| -> Result<Option<(u64, u64)>, String> {
                let Some([a, b]) = names else { return Ok(None) };
                let metric = |name: &str| {
                    launch
                        .get(name)
                        .copied()
                        .ok_or_else(|| format!("`{}` has no {name}", instruction.entry))
                };
                Ok(Some((metric(a)?, metric(b)?)))
            };
            let (shared, global) = metrics(instruction.class);
            Ok(Counted {
                shared: pair(shared)?.map(|(wavefronts, conflicts)| Shared {
                    wavefronts,
                    conflicts,
                }),
                global: pair(global)?.map(|(requests, sectors)| Global { requests, sectors }),
            })
        })
        .collect()
}
