//! Programs of the second set that leave other bits than the hardware, for reasons outside
//! the simulator.

/// Numbers of programs, and why they differ.
pub const UNLIKE: &[(&[u64], &str)] = &[];

/// Whether a program is one of them.
pub fn is_unlike(program: u64) -> bool {
    UNLIKE
        .iter()
        .any(|(programs, _)| programs.contains(&program))
}
