//! Sums the rows of a matrix on the GPU, or on the simulator if there is none. Given the name of a
//! file, it also writes a page there that shows the cost.

use lockstep::Device;
use outside_app::{Way, page, sums};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::open()?;
    println!("{}", device.why());
    let (n_rows, n_columns) = (1000, 500);
    let matrix: Vec<f32> = (0..n_rows * n_columns).map(|i| (i % 7) as f32).collect();
    for way in [Way::Shuffles, Way::Shared] {
        let (sums, report) = sums(&device, way, &matrix, n_columns)?;
        println!("{way:?}: the last sum is {}", sums[n_rows as usize - 1]);
        if let Some(counts) = report.counts() {
            println!("  {} warp instructions", counts.warp_instructions);
        }
        if let Some(ms) = report.time_ms() {
            println!("  {ms:.4} ms");
        }
    }
    if let Some(file) = std::env::args_os().nth(1) {
        page()?.write(&file)?;
        println!("{} shows what it costs", file.display());
    }
    Ok(())
}
