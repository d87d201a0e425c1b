//! Rust-CUDA's features for compute capabilities: `cfg(target_feature = "compute_80")`.
//!
//! Left out: families. `compute_100f` holds for `sm_100f` only.

use crate::arch::Arch;

/// The capabilities that Rust-CUDA's `cfg(target_feature = "compute_80")` may name.
const CAPABILITIES: [u32; 21] = [
    50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121,
];

/// Arguments of rustc for `cfg(target_feature = "compute_80")`: it holds for that capability and
/// later ones, and `compute_90a` for `sm_90a` only.
pub(crate) fn target_features(arch: &Arch) -> Vec<String> {
    let own = arch.name().trim_start_matches("sm_");
    let capability = own
        .trim_end_matches(char::is_alphabetic)
        .parse()
        .unwrap_or(0);
    let base = CAPABILITIES.iter().filter(|known| **known <= capability);
    let mut holding: Vec<String> = base.map(u32::to_string).collect();
    if own.ends_with(char::is_alphabetic) {
        holding.push(own.to_owned());
    }
    let known = CAPABILITIES
        .iter()
        .flat_map(|known| ["", "f", "a"].map(|end| format!("{known}{end}")));
    let known: Vec<_> = known.map(|known| format!("\"compute_{known}\"")).collect();
    let mut arguments = vec![
        // rustc usually sets such features itself.
        "-Aexplicit_builtin_cfgs_in_flags".to_owned(),
        format!(
            "--check-cfg=cfg(target_feature, values({}))",
            known.join(", ")
        ),
    ];
    let set = |holds: String| format!("--cfg=target_feature=\"compute_{holds}\"");
    arguments.extend(holding.into_iter().map(set));
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_has_the_features_of_earlier_ones() {
        let has = |arch: &str, feature: &str| {
            let set = format!("--cfg=target_feature=\"compute_{feature}\"");
            target_features(&Arch::new(arch)).contains(&set)
        };
        for (arch, feature, expected) in [
            ("sm_70", "60", true),
            ("sm_70", "70", true),
            ("sm_70", "72", false),
            ("sm_90a", "90", true),
            ("sm_90a", "90a", true),
            ("sm_90", "90a", false),
            ("sm_120", "90", true),
            ("sm_120", "90a", false),
        ] {
            assert_eq!(has(arch, feature), expected, "{feature} on {arch}");
        }
    }
}
