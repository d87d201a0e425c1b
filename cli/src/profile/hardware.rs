//! The same figures on a GPU: Nsight Compute's names, and its measurements.

use super::{Figure, Profile};
use crate::report::metrics::{self, Metric};
use std::collections::BTreeMap;

/// The figures of a profile, with the measurements of its launches; those that
/// are zero throughout are left out, except for bank conflicts.
pub fn figures(profile: &Profile, launches: Option<&[BTreeMap<String, u64>]>) -> Vec<Figure> {
    metrics::ALL
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
