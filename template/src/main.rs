//! Transposes a matrix on the GPU, or on the simulator if there is none.

use lockstep::{Device, Error, LaunchConfig};
use my_kernels::{TILE, transpose_safe};

fn main() -> Result<(), Error> {
    let device = Device::open()?;
    println!("{}", device.why());

    let (n_rows, n_columns) = (300_u32, 200_u32);
    let matrix: Vec<f32> = (0..n_rows * n_columns).map(|i| i as f32).collect();
    let input = device.upload("input", &matrix)?;
    let mut output = device.alloc::<f32>("output", matrix.len())?;

    let kernels = device.load(lockstep::kernels!())?;
    let grid = [n_rows.div_ceil(TILE), n_columns.div_ceil(TILE), 1];
    let config = LaunchConfig::new(grid, [TILE, TILE, 1]);
    let args = (input.input(), output.output(), n_rows, n_columns);
    let report = kernels.run(transpose_safe, config, args)?;

    println!("output[7][0] is {}", output.read()?[7 * n_rows as usize]);
    if let Some(ms) = report.time_ms() {
        println!("{ms:.4} ms");
    }
    for line in report.lines() {
        println!("{line}");
        println!(
            "    {} bank conflicts, {} sectors loaded, {} stored",
            line.conflicts, line.load_sectors, line.store_sectors
        );
    }
    Ok(())
}
