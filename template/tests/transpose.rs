//! Tests of the kernels' results and cost. They need no GPU.

use lockstep::{Device, LaunchConfig, Report, Simulator};
use my_kernels::{TILE, transpose, transpose_safe};

/// A matrix transposed by each kernel, on a simulator that also looks for races and
/// unwritten reads.
fn transposed(n_rows: u32, n_columns: u32) -> [(Vec<f32>, Report); 2] {
    let device = Device::simulator_with(Simulator {
        check: true,
        ..Simulator::default()
    });
    let kernels = device.load(lockstep::kernels!()).unwrap();
    let matrix: Vec<f32> = (0..n_rows * n_columns).map(|i| i as f32).collect();
    let input = device.upload("input", &matrix).unwrap();
    let mut output = device.alloc::<f32>("output", matrix.len()).unwrap();
    let grid = [n_rows.div_ceil(TILE), n_columns.div_ceil(TILE), 1];
    let config = LaunchConfig::new(grid, [TILE, TILE, 1]);

    let args = (input.as_ptr(), output.as_mut_ptr(), n_rows, n_columns);
    // SAFETY: both hold the matrix, and each of its tiles has a block.
    let report = unsafe { kernels.launch(transpose, config, args) }.unwrap();
    let plain = (output.read().unwrap(), report);

    output.poison().unwrap();
    let args = (input.input(), output.output(), n_rows, n_columns);
    let report = kernels.run(transpose_safe, config, args).unwrap();
    [plain, (output.read().unwrap(), report)]
}

#[test]
fn every_element_is_where_it_belongs() {
    for (n_rows, n_columns) in [(1, 1), (32, 32), (33, 31), (100, 7)] {
        for (output, _) in transposed(n_rows, n_columns) {
            for row in 0..n_rows {
                for column in 0..n_columns {
                    let element = output[(column * n_rows + row) as usize];
                    assert_eq!(element, (row * n_columns + column) as f32);
                }
            }
        }
    }
}

#[test]
fn it_costs_what_it_must() {
    for (_, report) in transposed(128, 64) {
        report.expect_bank_conflicts(0);
        report.expect_sectors_per_load(4.0);
        report.expect_sectors_per_store(4.0);
        report.expect_no_race();
    }
}
