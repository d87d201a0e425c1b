//! The same target as `load_ptx`, with every kernel of the module launched, with and
//! without counters, checks and another schedule: it ends in a report or an error, and plainly
//! in the same one.

#![no_main]

use libfuzzer_sys::{fuzz_crossover, fuzz_mutator, fuzz_target};
use ptx_sim_fuzz::{launch, load, mutate};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    if let Some((device, loaded)) = load(&text) {
        let module = loaded.module().clone();
        drop(loaded);
        launch::both_ways(&text, &module, &device);
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::mutate(data, size, max_size, seed)
});

fuzz_crossover!(|one: &[u8], other: &[u8], out: &mut [u8], seed: u32| {
    mutate::cross(one, other, out, seed)
});
