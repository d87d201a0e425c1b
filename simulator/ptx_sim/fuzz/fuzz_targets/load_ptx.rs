//! The same target as `parse`, for PTX changed word by word; and the module is loaded.

#![no_main]

use libfuzzer_sys::{fuzz_crossover, fuzz_mutator, fuzz_target};
use ptx_sim_fuzz::{load, mutate};

fuzz_target!(|bytes: &[u8]| {
    load(&String::from_utf8_lossy(bytes));
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::mutate(data, size, max_size, seed)
});

fuzz_crossover!(|one: &[u8], other: &[u8], out: &mut [u8], seed: u32| {
    mutate::cross(one, other, out, seed)
});
