//! Predefined registers by name.

use crate::ir::Special;

/// Special registers that [`Special`] has no name of its own for; a
/// [`Special::Other`] holds an index into this list.
pub const OTHER_SPECIALS: &[&str] = &[
    "%aggr_smem_size",
    "%reserved_smem_offset_begin",
    "%reserved_smem_offset_end",
    "%reserved_smem_offset_cap",
    "%reserved_smem_offset_0",
    "%reserved_smem_offset_1",
    "%current_graph_exec",
    "%pm0",
    "%pm1",
    "%pm2",
    "%pm3",
    "%pm4",
    "%pm5",
    "%pm6",
    "%pm7",
    "%pm0_64",
    "%pm1_64",
    "%pm2_64",
    "%pm3_64",
    "%pm4_64",
    "%pm5_64",
    "%pm6_64",
    "%pm7_64",
    "%tid.w",
    "%ntid.w",
    "%ctaid.w",
    "%nctaid.w",
    "%clusterid.w",
    "%nclusterid.w",
    "%cluster_ctaid.w",
    "%cluster_nctaid.w",
];

/// A special register by its axis.
type OfAxis = fn(u8) -> Special;

/// Special registers of three components.
const VECTORS: [(&str, OfAxis); 8] = [
    ("%tid", Special::Tid),
    ("%ntid", Special::Ntid),
    ("%ctaid", Special::Ctaid),
    ("%nctaid", Special::Nctaid),
    ("%clusterid", Special::ClusterId),
    ("%nclusterid", Special::NclusterId),
    ("%cluster_ctaid", Special::ClusterCtaid),
    ("%cluster_nctaid", Special::ClusterNctaid),
];

/// Special registers of one.
const SCALARS: [(&str, Special); 23] = [
    ("%cluster_ctarank", Special::ClusterCtarank),
    ("%cluster_nctarank", Special::ClusterNctarank),
    ("%is_explicit_cluster", Special::IsExplicitCluster),
    ("%laneid", Special::LaneId),
    ("%warpid", Special::WarpId),
    ("%nwarpid", Special::NWarpId),
    ("%smid", Special::SmId),
    ("%nsmid", Special::NSmId),
    ("%gridid", Special::GridId),
    ("%lanemask_eq", Special::LaneMaskEq),
    ("%lanemask_le", Special::LaneMaskLe),
    ("%lanemask_lt", Special::LaneMaskLt),
    ("%lanemask_ge", Special::LaneMaskGe),
    ("%lanemask_gt", Special::LaneMaskGt),
    ("%clock", Special::Clock),
    ("%clock_hi", Special::ClockHi),
    ("%clock64", Special::Clock64),
    ("%globaltimer", Special::GlobalTimer),
    ("%globaltimer_lo", Special::GlobalTimerLo),
    ("%globaltimer_hi", Special::GlobalTimerHi),
    ("%dynamic_smem_size", Special::DynamicSmemSize),
    ("%total_smem_size", Special::TotalSmemSize),
    ("WARP_SZ", Special::WarpSize),
];

/// All names, without components; of `%envreg0` and so on, two.
pub(super) fn names<'a>() -> impl Iterator<Item = &'a str> {
    let vectors = VECTORS.iter().map(|(name, _)| *name);
    let scalars = SCALARS.iter().map(|(name, _)| *name);
    let others = OTHER_SPECIALS
        .iter()
        .filter_map(|name| name.split('.').next());
    vectors
        .chain(scalars)
        .chain(["%envreg1", "%envreg2"])
        .chain(others)
}

/// Names of special registers that are read by component.
pub(super) fn has_components(name: &str) -> bool {
    VECTORS.iter().any(|(vector, _)| *vector == name)
}

/// A special register's name, as the text has it.
pub fn special_name(special: Special) -> String {
    let axes = [(0, "x"), (1, "y"), (2, "z")];
    for (name, of_axis) in VECTORS {
        if let Some((_, axis)) = axes.iter().find(|(axis, _)| of_axis(*axis) == special) {
            return format!("{name}.{axis}");
        }
    }
    match special {
        Special::Environment(number) => format!("%envreg{number}"),
        Special::Other(index) => OTHER_SPECIALS[usize::from(index)].to_owned(),
        scalar => {
            let known = SCALARS.iter().find(|(_, known)| *known == scalar);
            known.map_or("%?", |(name, _)| name).to_owned()
        }
    }
}

/// The special register `name`, with `component` (`.x`) where it has one.
pub(super) fn lookup(name: &str, component: &str) -> Option<Special> {
    if !component.is_empty() {
        let axis = [".x", ".y", ".z"]
            .iter()
            .position(|axis| *axis == component);
        let vector = VECTORS.iter().find(|(vector, _)| *vector == name);
        return match (vector, axis) {
            (Some((_, of_axis)), Some(axis)) => Some(of_axis(axis as u8)),
            _ => other(&format!("{name}{component}")),
        };
    }
    let scalar = SCALARS.iter().find(|(scalar, _)| *scalar == name);
    scalar
        .map(|(_, special)| *special)
        .or_else(|| environment(name))
        .or_else(|| other(name))
}

/// `%envreg0` to `%envreg31`, which a driver sets.
fn environment(name: &str) -> Option<Special> {
    let number = name.strip_prefix("%envreg")?.parse::<u8>().ok()?;
    (number < 32).then_some(Special::Environment(number))
}

fn other(name: &str) -> Option<Special> {
    let index = OTHER_SPECIALS.iter().position(|&other| other == name)?;
    u16::try_from(index).ok().map(Special::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_find_their_registers() {
        assert_eq!(lookup("%tid", ".y"), Some(Special::Tid(1)));
        assert_eq!(lookup("%clock64", ""), Some(Special::Clock64));
        assert_eq!(lookup("%tid", ""), None);
        assert_eq!(lookup("%tid", ".q"), None);
        assert_eq!(lookup("%r1", ""), None);
        assert_eq!(lookup("%envreg31", ""), Some(Special::Environment(31)));
        assert_eq!(lookup("%envreg32", ""), None);
    }

    #[test]
    fn every_name_is_found() {
        for name in names() {
            let component = if has_components(name) { ".x" } else { "" };
            assert!(lookup(name, component).is_some(), "{name}");
        }
    }

    #[test]
    fn registers_have_the_names_that_find_them() {
        let axes = [".x", ".y", ".z"];
        for (vector, _) in VECTORS {
            for axis in axes {
                let special = lookup(vector, axis).expect("a component");
                assert_eq!(special_name(special), format!("{vector}{axis}"));
            }
        }
        let scalars = SCALARS.iter().map(|(name, _)| *name);
        for name in scalars.chain(["%envreg7", OTHER_SPECIALS[0]]) {
            let special = lookup(name, "").expect("a register");
            assert_eq!(special_name(special), name);
        }
    }

    #[test]
    fn every_other_special_is_found_under_its_own_index() {
        for (index, full) in OTHER_SPECIALS.iter().enumerate() {
            let (name, component) = match full.find('.') {
                Some(dot) => full.split_at(dot),
                None => (*full, ""),
            };
            assert_eq!(
                lookup(name, component),
                Some(Special::Other(index as u16)),
                "{full}"
            );
        }
    }
}
