//! The products on which kernels are timed with the device to themselves.

/// The cubes.
pub const CUBES: [u32; 6] = [2048, 3072, 4096, 6144, 8192, LARGEST];
/// The cube on which every step of the ladder runs.
pub const LADDER: u32 = 4096;
/// The cube on which the fewest kernels contend.
pub const LARGEST: u32 = 16384;

/// Products that no kernel was tuned for, and that no number in [`super::choice`] comes from.
pub const UNTUNED: [[u32; 3]; 12] = [
    [777, 3333, 1111],
    [2047, 2049, 2051],
    [4096, 22016, 4096],
    [2048, 4096, 11008],
    [512, 18944, 3584],
    [8, 151_936, 3584],
    [1024, 5120, 5120],
    [6144, 6144, 512],
    [100, 100, 100_000],
    [5000, 5000, 5000],
    [384, 1152, 6912],
    [16384, 3072, 768],
];
