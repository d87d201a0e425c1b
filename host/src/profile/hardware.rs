//! The same figures on a GPU: Nsight Compute's names, and what it measured.

use super::Profile;
use crate::report::counters::Metric;
use serde::Serialize;
use std::collections::BTreeMap;

const fn metric(ncu: &'static str, counts: &'static [&'static str]) -> Metric {
    Metric { ncu, counts }
}

/// The counters beside the counts that they are.
pub const METRICS: &[Metric] = &[
    metric(
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        &["shared_load_wavefronts", "ldmatrix_wavefronts"],
    ),
    metric(
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        &["shared_load_conflicts", "ldmatrix_conflicts"],
    ),
    metric(
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        &["shared_store_wavefronts", "stmatrix_wavefronts"],
    ),
    metric(
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
        &["shared_store_conflicts", "stmatrix_conflicts"],
    ),
    metric(
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
        &["shared_atomic_wavefronts"],
    ),
    metric(
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum",
        &["shared_atomic_conflicts"],
    ),
    metric(
        "sm__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldsm.sum",
        &["ldmatrix_conflicts"],
    ),
    metric(
        "sm__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_stsm.sum",
        &["stmatrix_conflicts"],
    ),
    metric(
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        &["global_load_requests"],
    ),
    metric(
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        &["global_load_sectors"],
    ),
    metric(
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
        &["global_store_requests"],
    ),
    metric(
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        &["global_store_sectors"],
    ),
    metric(
        "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
        &["global_atomic_sectors"],
    ),
    metric(
        "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
        &["global_red_sectors"],
    ),
    metric(
        "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
        &["local_load_sectors"],
    ),
    metric(
        "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
        &["local_store_sectors"],
    ),
];

/// One figure, predicted and perhaps measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// Nsight Compute's name.
    pub metric: &'static str,
    /// By the simulator.
    pub predicted: u64,
    /// By the hardware, if it was asked.
    pub measured: Option<u64>,
}

/// The figures of a profile, beside what was measured of its launches; those that
/// are zero throughout are left out, except for bank conflicts.
pub fn figures(profile: &Profile, launches: Option<&[BTreeMap<String, u64>]>) -> Vec<Figure> {
    METRICS
        .iter()
        .filter_map(|metric| {
            let predicted = metric.counts.iter().map(|count| profile.total(count)).sum();
            let measured = launches.and_then(|launches| {
                launches
                    .iter()
                    .map(|launch| launch.get(metric.ncu).copied())
                    .sum::<Option<u64>>()
            });
            let shown = predicted > 0
                || measured.is_some_and(|measured| measured > 0)
                || (metric.ncu.contains("lsu_mem_shared_op") && uses(profile, metric));
            shown.then_some(Figure {
                metric: metric.ncu,
                predicted,
                measured,
            })
        })
        .collect()
}

/// Whether the kernel has requests of the kind that the counter counts.
fn uses(profile: &Profile, metric: &Metric) -> bool {
    metric.counts.iter().any(|count| {
        let kind = count.rsplit_once('_').map_or(*count, |(kind, _)| kind);
        profile.total(&format!("{kind}_requests")) > 0
    })
}
