//! Sums of a matrix's rows, on a device.

use lockstep::{Device, Error, LaunchConfig, Report, Simulator};
use lockstep_page::{Kernel, Page};
use outside_kernels::{LANES, ROWS, row_sums, row_sums_shared};

/// The way to sum.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// By shuffles.
    Shuffles,
    /// Through shared memory.
    Shared,
}

/// The sums of the rows of `matrix`, each of `n_columns` elements, and what they cost.
pub fn sums(
    device: &Device,
    way: Way,
    matrix: &[f32],
    n_columns: u32,
) -> Result<(Vec<f32>, Report), Error> {
    let n_rows = matrix.len() as u32 / n_columns;
    let kernels = device.load(lockstep::kernels!())?;
    let input = device.upload("matrix", matrix)?;
    let output = device.alloc::<f32>("sums", n_rows as usize)?;
    let config = LaunchConfig::new([1, n_rows.div_ceil(ROWS), 1], [LANES, ROWS, 1]);
    let args = (input.as_ptr(), output.as_mut_ptr(), n_rows, n_columns);
    // SAFETY: `input` has `n_rows` rows, `output` a sum for each.
    let report = unsafe {
        match way {
            Way::Shuffles => kernels.launch(row_sums, config, args),
            Way::Shared => kernels.launch(row_sums_shared, config, args),
        }
    }?;
    Ok((output.read()?, report))
}

/// The cost of both ways, as a page for a browser. It is counted on the simulator, and traced, so
/// that the page has maps of what lanes touch.
pub fn page() -> Result<Page, Error> {
    let device = Device::simulator_with(Simulator {
        trace: true,
        ..Simulator::default()
    });
    let (n_rows, n_columns) = (64, 256);
    let matrix = vec![1.0; (n_rows * n_columns) as usize];
    let mut page = Page::new("Sums of rows");
    page.fact(device.why());
    let group = page.group("sums", "Sums of a matrix's rows", "A warp sums a row.");
    for (way, technique) in [
        (Way::Shuffles, "by shuffles"),
        (Way::Shared, "through shared memory"),
    ] {
        let (_, report) = sums(&device, way, &matrix, n_columns)?;
        group.add(Kernel::launched(&report).saying(technique));
    }
    Ok(page)
}
