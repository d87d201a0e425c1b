//! The radix sort.

use crate::{checked, expect_clean, noise};
use lockstep::{LaunchConfig, Report};
use outside_kernels::sort::{
    DIGIT_BITS, DIGITS, KEYS, THREADS, count_digits, find_starts, scatter_keys,
};

/// The keys in order, and the reports of each pass's three launches.
fn sorted(keys: &[u32]) -> (Vec<u32>, Vec<[Report; 3]>) {
    let (device, kernels) = checked();
    let n = keys.len() as u32;
    let n_blocks = n.div_ceil(KEYS);
    let n_starts = DIGITS * n_blocks;
    let mut from = device.upload("keys", keys).unwrap();
    let mut to = device.alloc::<u32>("sorted", keys.len()).unwrap();
    let mut counts = device.alloc::<u32>("counts", n_starts as usize).unwrap();
    let mut starts = device.alloc::<u32>("starts", n_starts as usize).unwrap();
    let blocks = LaunchConfig::new([n_blocks, 1, 1], [THREADS, 1, 1]);
    let one_block = LaunchConfig::new([1, 1, 1], [THREADS, 1, 1]);

    let mut reports = Vec::new();
    for shift in (0..u32::BITS).step_by(DIGIT_BITS as usize) {
        let views = (from.input(), counts.output(), n, n_blocks, shift);
        let count = kernels.run(count_digits, blocks, views).unwrap();
        let views = (counts.input(), starts.output(), n_blocks, n_starts);
        let start = kernels.run(find_starts, one_block, views).unwrap();
        let views = (
            from.input(),
            starts.input(),
            to.output(),
            n,
            n_blocks,
            shift,
        );
        let scatter = kernels.run(scatter_keys, blocks, views).unwrap();
        reports.push([count, start, scatter]);
        // What was never written is found when it is read.
        to.read().unwrap();
        core::mem::swap(&mut from, &mut to);
        to.poison().unwrap();
    }
    (from.read().unwrap(), reports)
}

#[test]
fn keys_get_into_order() {
    for n in [1, 255, 2048, 2049, 9001] {
        let keys = noise(n);
        let (found, reports) = sorted(&keys);
        let mut expected = keys;
        expected.sort_unstable();
        assert!(found == expected, "{n} keys");
        reports.as_flattened().iter().for_each(expect_clean);
    }
}

#[test]
fn few_different_keys_and_extreme_ones() {
    for pattern in [
        &[7][..],
        &[u32::MAX, 0],
        &[1 << 31, u32::MAX, 1, 0, 1 << 28],
    ] {
        let keys: Vec<u32> = pattern.iter().copied().cycle().take(3000).collect();
        let (found, _) = sorted(&keys);
        let mut expected = keys;
        expected.sort_unstable();
        assert!(found == expected, "{pattern:?}");
    }
}

#[test]
fn an_output_that_is_too_short_is_refused() {
    let (device, kernels) = checked();
    let keys = device.upload("keys", &noise(100)).unwrap();
    let starts = device.zeroed::<u32>("starts", DIGITS as usize).unwrap();
    let mut sorted = device.alloc::<u32>("sorted", 99).unwrap();
    let config = LaunchConfig::new([1, 1, 1], [THREADS, 1, 1]);
    let views = (keys.input(), starts.input(), sorted.output(), 100, 1, 0);
    let refused = kernels.run(scatter_keys, config, views).map(|_| ());
    let error = refused.unwrap_err().to_string();
    let reason = "`sorted` has 99 elements, but the kernel's other arguments say 100";
    assert!(error.contains(reason), "{error}");
}
