//! Results and cost of the sums, without a GPU.

use lockstep::{Device, Simulator};
use outside_app::{Way, sums};
use outside_kernels::{LANES, pairwise};

fn checked() -> Device {
    Device::simulator_with(Simulator {
        check: true,
        ..Simulator::default()
    })
}

fn matrix(n_rows: u32, n_columns: u32) -> Vec<f32> {
    (0..n_rows * n_columns)
        .map(|i| (i % 13) as f32 / 8.0)
        .collect()
}

/// A row's sum, by the function that a kernel uses too.
fn expected(row: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES as usize];
    for (i, value) in row.iter().enumerate() {
        lanes[i % LANES as usize] += value;
    }
    pairwise(lanes)
}

#[test]
fn both_ways_give_the_same_bits_as_the_host() {
    for (n_rows, n_columns) in [(1, 1), (8, 32), (9, 33), (100, 77)] {
        let matrix = matrix(n_rows, n_columns);
        let expected: Vec<f32> = matrix.chunks(n_columns as usize).map(expected).collect();
        for way in [Way::Shuffles, Way::Shared] {
            let (sums, _) = sums(&checked(), way, &matrix, n_columns).unwrap();
            assert_eq!(sums, expected, "{way:?} of {n_rows} × {n_columns}");
        }
    }
}

#[test]
fn loads_are_coalesced_and_banks_do_not_conflict() {
    for way in [Way::Shuffles, Way::Shared] {
        let (_, report) = sums(&checked(), way, &matrix(64, 256), 256).unwrap();
        report.expect_sectors_per_load(4.0);
        report.expect_bank_conflicts(0);
        report.expect_no_race();
    }
}
