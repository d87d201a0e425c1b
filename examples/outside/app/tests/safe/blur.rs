//! The blur.

use crate::{checked, expect_clean, floats};
use lockstep::{LaunchConfig, Report};
use outside_kernels::blur::{COLUMNS, RADIUS, ROWS, WEIGHTS, blur};

fn blurred(image: &[f32], n_rows: u32, n_columns: u32) -> (Vec<f32>, Report) {
    let (device, kernels) = checked();
    let image = device.upload("image", image).unwrap();
    let mut blurred = device.alloc::<f32>("blurred", image.len()).unwrap();
    let grid = [n_columns.div_ceil(COLUMNS), n_rows.div_ceil(ROWS), 1];
    let config = LaunchConfig::new(grid, [COLUMNS, ROWS, 1]);
    let views = (image.input(), blurred.output(), n_rows, n_columns);
    let report = kernels.run(blur, config, views).unwrap();
    (blurred.read().unwrap(), report)
}

/// The mean of all 25 pixels.
fn expected(image: &[f32], n_rows: u32, n_columns: u32, row: u32, column: u32) -> f64 {
    let near = |place: u32, step: usize, n: u32| {
        (i64::from(place) + step as i64 - i64::from(RADIUS)).clamp(0, i64::from(n) - 1) as usize
    };
    let mut mean = 0.0;
    for (i, along_column) in WEIGHTS.into_iter().enumerate() {
        for (j, along_row) in WEIGHTS.into_iter().enumerate() {
            let (row, column) = (near(row, i, n_rows), near(column, j, n_columns));
            let pixel = image[row * n_columns as usize + column];
            mean += f64::from(along_column) * f64::from(along_row) * f64::from(pixel);
        }
    }
    mean
}

#[test]
fn pixels_spread() {
    for (n_rows, n_columns) in [(1, 1), (2, 3), (8, 32), (9, 33), (41, 7), (30, 100)] {
        let image = floats(n_rows * n_columns);
        let (blurred, report) = blurred(&image, n_rows, n_columns);
        for row in 0..n_rows {
            for column in 0..n_columns {
                let expected = expected(&image, n_rows, n_columns, row, column);
                let found = f64::from(blurred[(row * n_columns + column) as usize]);
                assert!(
                    (found - expected).abs() <= 2e-6,
                    "({row}, {column}) of {n_rows} × {n_columns}: {found}, not {expected}"
                );
            }
        }
        expect_clean(&report);
    }
}

#[test]
fn stores_fill_their_sectors() {
    let (_, report) = blurred(&floats(64 * 96), 64, 96);
    report.expect_sectors_per_store(4.0);
}
