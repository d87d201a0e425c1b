//! Programs of the second set that leave other bits than the hardware, for reasons that
//! are not the simulator's.

/// Numbers of programs, and why they differ.
pub const UNLIKE: &[(&[u64], &str)] = &[
    (
        &[4177],
        "`atom.global.add.f64` on a NaN: the hardware keeps its payload and does not quiet it",
    ),
    (
        // As with `f16`, see `wide/templates.rs`.
        &[4937, 5259],
        "8 bits stored from a register with the result of `cvt` to `tf32`: ptxas stores the \
         number converted to an integer",
    ),
];

/// Whether a program is one of them.
pub fn is_unlike(program: u64) -> bool {
    UNLIKE
        .iter()
        .any(|(programs, _)| programs.contains(&program))
}
