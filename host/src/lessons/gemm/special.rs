//! Two kernels that are not plain products of 16-bit factors: 8-bit factors, and an epilogue.

use super::elements::rounding;
use super::factors::{Factors, Scale};
use super::hopper::{GROUP, HOPPER, c_map, map, most_blocks, ping_pong_config};
use super::run::{Majors, Matrices, pitch};
use super::shapes;
use cuda_std::wgmma::AlongK;
use gpu_kernels::gemm::hopper::fp8::{self, gemm_e4m3};
use gpu_kernels::gemm::hopper::fused::gemm_bias_gelu;
use gpu_kernels::gemm::hopper::{ping_pong, warp_specialized};
use half::f16;
use lesson::{CaseError, KernelEntry, Trial};
use lockstep::engine::{Buffer, LaunchConfig, Prepared};

/// Factors of 8 bits.
pub const E4M3: KernelEntry = KernelEntry::of(
    gemm_e4m3,
    "factors of 8 bits (FP8): steps twice as deep in the same number of bytes",
    run_e4m3,
)
.timed_at(shapes::OF_FAMILY)
.since_sm(HOPPER);

/// A product with an epilogue.
pub const BIAS_GELU: KernelEntry = KernelEntry::of(
    gemm_bias_gelu,
    "bias and GELU, while the sums are in registers",
    run_bias_gelu,
)
.timed_at(shapes::OF_FAMILY)
.since_sm(HOPPER);

/// Every size of a sweep, or the only one.
fn each_size(
    trial: &mut Trial<'_>,
    check: impl Fn(&mut Trial<'_>, [u32; 3]) -> Result<(), CaseError>,
) -> Result<(), CaseError> {
    match trial.shape().is_sweep() {
        true => trial.each_product(check),
        false => check(trial, trial.shape().product()),
    }
}

/// The number as `e4m3`; it is −1, 0 or 1.
fn e4m3(value: f32) -> u8 {
    const ONE: u8 = 0x38;
    match value {
        0.0 => 0,
        1.0.. => ONE,
        _ => ONE | 0x80,
    }
}

fn run_e4m3(trial: &mut Trial<'_>) -> Result<(), CaseError> {
    each_size(trial, check_e4m3)
}

fn check_e4m3(trial: &mut Trial<'_>, [m, n, k]: [u32; 3]) -> Result<(), CaseError> {
    /// Rows begin at multiples of 16 bytes.
    const UNIT: u32 = 16;
    const NAN: u8 = 0x7F;
    let engine = trial.engine();
    let factors = Factors::sparse([m, n, k]);
    let row_bytes = k.next_multiple_of(UNIT);
    let stored = |rows: &[f32]| -> Vec<u8> {
        let rows = rows.chunks_exact(k as usize);
        rows.flat_map(|row| {
            let mut bytes = vec![NAN; row_bytes as usize];
            for (to, &value) in bytes.iter_mut().zip(row) {
                *to = e4m3(value);
            }
            bytes
        })
        .collect()
    };
    let a = Buffer::of(engine, "a", &stored(&factors.a))?;
    let b = Buffer::of(engine, "b", &stored(&factors.b))?;
    let c_pitch = pitch(n as usize);
    let c: Buffer<'_, f16> = Buffer::poisoned(engine, "c", m as usize * c_pitch)?;
    let [a_box, b_box] = fp8::boxes();
    let args = (
        map(&a, [k, m], row_bytes, a_box)?,
        map(&b, [k, n], row_bytes, b_box)?,
        map(&c, [n, m], c_pitch as u32, warp_specialized::C_BOX)?,
        m,
        n,
        k,
        GROUP,
    );
    let grid = warp_specialized::grid(m, n, 1, most_blocks(engine));
    let config = LaunchConfig::new(grid, warp_specialized::BLOCK)
        .with_shared(warp_specialized::TMA_EPILOGUE_BYTES);
    // SAFETY: the maps are of the matrices, which outlive the launches; the geometry is the
    // kernel's own.
    let launch = unsafe { Prepared::of::<gemm_e4m3>(config, args) }?;
    launch_one(trial, &launch)?;
    factors.check(trial, &c.read()?, c_pitch, Scale::PRODUCT)?;
    trial.finish(&launch)
}

/// Launches counted, unless it is one of many.
fn launch_one(trial: &mut Trial<'_>, launch: &Prepared) -> Result<(), CaseError> {
    if trial.shape().is_sweep() {
        return trial.launch_uncounted(launch);
    }
    trial.launch(launch)
}

fn run_bias_gelu(trial: &mut Trial<'_>) -> Result<(), CaseError> {
    each_size(trial, check_bias_gelu)
}

/// Quarters from −1 to 0.75.
fn bias(column: usize) -> f32 {
    (column % 8) as f32 / 4.0 - 1.0
}

/// The approximation that the kernel uses, in `f64`.
fn gelu(x: f64) -> f64 {
    let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
    0.5 * x * (1.0 + inner.tanh())
}

fn check_bias_gelu(trial: &mut Trial<'_>, [m, n, k]: [u32; 3]) -> Result<(), CaseError> {
    let engine = trial.engine();
    let factors = Factors::exact([m, n, k]);
    let matrices = Matrices::<f16, f16>::of(engine, &factors, Majors::K)?;
    let sizes = matrices.sizes;
    let biases: Vec<f32> = (0..n as usize).map(bias).collect();
    let biases = Buffer::of(engine, "bias", &biases)?;
    let [a_box, b_box] = ping_pong::boxes::<AlongK, AlongK>(1);
    let args = (
        map(&matrices.a, [k, m], sizes.a_pitch, a_box)?,
        map(&matrices.b, [k, n], sizes.b_pitch, b_box)?,
        c_map(&matrices, ping_pong::C_BOX)?,
        biases.as_ptr(),
        m,
        n,
        k,
        GROUP,
    );
    // SAFETY: as in `check_e4m3`; there is a bias for each column.
    let launch =
        unsafe { Prepared::of::<gemm_bias_gelu>(ping_pong_config(engine, m, n, 1), args) }?;
    launch_one(trial, &launch)?;
    let c = matrices.product(true)?;
    for row in factors.checked_rows() {
        let got = &c[row * sizes.c_pitch as usize..][..n as usize];
        for (column, (got, sum)) in got.iter().zip(factors.row(row, Scale::PRODUCT)).enumerate() {
            let x = sum.value + f64::from(bias(column));
            let expected = gelu(x);
            // The device's tanh is off by less than 2⁻¹⁰·⁹ of itself, and is at most 1.
            let bound = 0.5 * x.abs() * 2.0_f64.powf(-10.9);
            let bound = bound + rounding::<f16>(expected.abs() + bound);
            trial.verdict_within(f64::from(got.to_f32()), expected, bound)?;
        }
    }
    trial.finish(&launch)
}
