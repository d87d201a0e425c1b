//! SGEMM: nine kernels from one thread per element to most of the peak rate of the multiply-add
//! units.
//!
//! # The checks of a product
//!
//! Each product is checked twice, on different numbers.
//!
//! - *Exactly.* Elements that are multiples of 1/16 in [−1, 1): every product is a
//!   multiple of 1/256, every partial sum too, and below 2²⁴/256 up to k = 65,536.
//!   So nothing is ever rounded, in whatever order it is added, and every element
//!   must be bit-equal to the true one. For small products each is computed; for
//!   large ones every row of C is checked against A by a product with a vector x of
//!   random whole numbers, C·x = A·(B·x), which is exact in `f64` and nearly as good: a row
//!   with a wrong element passes by chance once in 2¹⁶.
//! - *Within rounding.* Elements that are any `f32` in [−1, 1), the ones that are
//!   timed, against sums in `f64`: all elements of small products, some rows of large
//!   ones. The bound is that of a sum of k products in any order, with fused
//!   multiply-adds: γₖ · Σ|a·b| with γₖ = k·u / (1 − k·u) (Higham, *Accuracy and
//!   Stability of Numerical Algorithms*, section 3.1). A product left out, or
//!   taken twice, exceeds it.

use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::reduction::error_bound;
use gpu_kernels::sgemm::fast::{self, sgemm_fast};
use gpu_kernels::sgemm::naive::{self, sgemm_naive};
use gpu_kernels::sgemm::pipelined::sgemm_pipelined;
use gpu_kernels::sgemm::registers::{self, sgemm_column, sgemm_square};
use gpu_kernels::sgemm::stream_k::{self, sgemm_stream_k};
use gpu_kernels::sgemm::tiled::{self, sgemm_tiled};
use gpu_kernels::sgemm::vectors::{self, sgemm_vectorized};
use gpu_kernels::sgemm::warp_specialized::{self, sgemm_warp_specialized};
use lesson::guarded;
use lesson::inputs::{self, Stream};
use lesson::references::{matrix_times_vector, row_times_matrix};
use lesson::target::most;
use lesson::{
    CaseError, Effort, Footprint, Found, KnownAlarm, Lesson, Measurement, Shape, Trial, Work,
    exactly,
};
use lockstep::counts::Expectation;
use lockstep::counts::Metric::{
    AsyncCopyConflictsPerRequest as CopyConflicts, GlobalLoadSectorsPerRequest as LoadSectors,
    GlobalStoreSectorsPerRequest as StoreSectors, LocalSectors,
    SharedLoadConflictsPerRequest as LoadConflicts,
    SharedStoreConflictsPerRequest as StoreConflicts,
};
use lockstep::engine::{
    Buffer, Engine, EngineError, EngineKind, LaunchConfig, LibraryCall, Prepared, SgemmMath,
};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "sgemm",
    title: "SGEMM",
    idea: "every value that was fetched is used many times: by a block, by a thread, and while the next one is being fetched",
    source: "gpu-kernels/src/11_sgemm/mod.rs",
    kernels: KERNELS,
    shapes,
    work,
    memory: |shape| {
        let [m, n, k] = shape.product().map(u128::from);
        Footprint::of(m * k + k * n + m * n, 4, 8)
    },
    expects_at,
    targets: &TARGETS,
};

static TARGETS: [lesson::Target; 1] = [lesson::Target::at_least(
    "SGEMM f32, 4096×4096×4096",
    "cuBLAS, TF32 off, the faster of its two math modes",
    1.0,
    beside_cublas,
)];

fn beside_cublas(measured: &[Measurement]) -> Option<Found> {
    let meant = measured.iter().filter(|one| one.dims() == [4096; 3]);
    most(meant.filter_map(|one| Some(Found::of(one, one.speed_of_cublas()?))))
}

lesson::kernels! {
    sgemm_naive: "one thread per element, from global memory",
        run(|m, n| LaunchConfig::new(naive::grid(m, n), naive::BLOCK)),
        // One sector of A for all lanes, four of B.
        expecting(&[exactly(LoadSectors, 2.5), exactly(StoreSectors, 4.0), NO_LOCAL]);
    sgemm_tiled: "32×32 tiles in shared memory",
        run(|m, n| LaunchConfig::new(tiled::grid(m, n), tiled::BLOCK)),
        expecting(&through_tiles(4.0));
    sgemm_column: "a column of 8 elements per thread, in registers",
        run(|m, n| LaunchConfig::new(registers::column_grid(m, n), registers::COLUMN_BLOCK)),
        expecting(&through_tiles(4.0));
    sgemm_square: "8×8 elements per thread",
        run(|m, n| LaunchConfig::new(registers::square_grid(m, n), registers::SQUARE_BLOCK)),
        expecting(&through_tiles(4.0));
    sgemm_vectorized: "16 bytes per access; A is transposed on its way into shared memory",
        run(by_squares), expecting(&through_tiles(16.0));
    sgemm_pipelined: "asynchronous copies, two tiles ahead", run(by_squares), expecting(&BY_COPIES);
    sgemm_fast: "8×16 elements per thread, 64×64 per warp, fragments one step ahead",
        run(|m, n| LaunchConfig::new(fast::grid(m, n), fast::BLOCK).with_shared(fast::SHARED_BYTES)),
        expecting(&BY_COPIES), timed_at(BEYOND_4096);
    sgemm_warp_specialized: "warp-specialized: four warps copy, eight multiply with the registers of all",
        run(|m, n| {
            LaunchConfig::new(warp_specialized::grid(m, n), warp_specialized::BLOCK)
                .with_shared(warp_specialized::SHARED_BYTES)
        }),
        expecting(&BY_COPIES), timed_at(BEYOND_4096), since_sm(90), alarming(&[RACECHECK_ON_ROLES]);
    sgemm_stream_k: "stream-K: one block per SM, the partial wave of tiles in equal shares",
        run_planned(&|engine, matrices| Plan::stream_k(engine, matrices)),
        expecting(&[exactly(LoadConflicts, 0.0), exactly(CopyConflicts, 0.0), NO_LOCAL]),
        timed_at(BEYOND_4096), since_sm(90), alarming(&[RACECHECK_ON_ROLES]);
}

/// Both have the same false positive.
const RACECHECK_ON_ROLES: KnownAlarm = KnownAlarm {
    tool: "racecheck",
    reason: "one lane arrives at a barrier in memory for its whole warp, after a warp barrier; where \
             a stage is filled again, racecheck takes the other lanes' reads for unordered (it \
             reports nothing when every lane arrives)",
};

/// Sizes at which the fast ones are timed: also a wave of tiles, and many waves, and rows that
/// do not start at multiples of 16 bytes.
const BEYOND_4096: &[&[u32]] = &[
    &[2048, 2048, 2048],
    &[4096, 4096, 4096],
    &[8192, 8192, 8192],
    &[4095, 4097, 4093],
];

const NO_LOCAL: Expectation = exactly(LocalSectors, 0.0);

/// Tiles that threads load and store, with `sectors` per access of a warp to global memory.
const fn through_tiles(sectors: f64) -> [Expectation; 5] {
    [
        exactly(LoadConflicts, 0.0),
        exactly(StoreConflicts, 0.0),
        exactly(LoadSectors, sectors),
        exactly(StoreSectors, sectors),
        NO_LOCAL,
    ]
}

/// Tiles that are copied asynchronously.
static BY_COPIES: [Expectation; 4] = [
    exactly(LoadConflicts, 0.0),
    exactly(CopyConflicts, 0.0),
    exactly(StoreSectors, 16.0),
    NO_LOCAL,
];

fn by_squares(m: u32, n: u32) -> LaunchConfig {
    LaunchConfig::new(vectors::grid(m, n), vectors::BLOCK)
}

fn shapes(engine: EngineKind, effort: Effort) -> Vec<Shape> {
    if effort == Effort::Sample {
        return vec![Shape::of(&[128, 256, 64])];
    }
    let shapes: &[[u32; 3]] = match (effort, engine) {
        (Effort::Quick | Effort::Sample, _) => &[[33, 31, 29], [128, 256, 32]],
        (Effort::Default, EngineKind::Sim) => &[
            [1, 1, 1],
            [33, 31, 40],
            [130, 260, 7],
            [127, 129, 65],
            [128, 256, 64],
        ],
        (Effort::Default, EngineKind::Gpu) | (Effort::Full, _) => &[
            [33, 31, 40],
            [127, 129, 65],
            [1000, 1000, 1000],
            [1023, 1025, 1021],
            [4096, 4096, 4096],
        ],
    };
    let sweep = match (effort, engine) {
        (Effort::Quick | Effort::Sample, _) => 2,
        (Effort::Default, EngineKind::Sim) => 4,
        (Effort::Default, EngineKind::Gpu) | (Effort::Full, _) => 12,
    };
    std::iter::once(Shape::every(&[sweep; 3]))
        .chain(shapes.iter().map(|dims| Shape::of(dims)))
        .collect()
}

fn work(shape: &Shape) -> Work {
    let [m, n, k] = shape.product().map(u64::from);
    Work::new(4 * (m * k + k * n + m * n), 2 * m * n * k)
}

/// The counts are whole-warp figures: no tile may extend past the edge.
fn expects_at(shape: &Shape) -> bool {
    let [m, n, k] = shape.product();
    !shape.is_sweep()
        && m.is_multiple_of(128)
        && n.is_multiple_of(warp_specialized::TILE_COLUMNS)
        && k.is_multiple_of(32)
}

/// Products up to this many multiply-adds are compared element by element.
const ALL_ELEMENTS: u64 = 1 << 26;
/// Number of rows of larger ones that are.
const SOME_ROWS: usize = 16;

/// A and B.
struct Factors {
    m: usize,
    n: usize,
    k: usize,
    a: Vec<f32>,
    b: Vec<f32>,
}

/// The expected value of an element of C, and the bound on its error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Target {
    value: f64,
    bound: f64,
}

impl Factors {
    /// Multiples of 1/16 in [−1, 1).
    fn exact([m, n, k]: [u32; 3], seed: u64) -> Self {
        let mut stream = Stream::new(seed);
        let [m, n, k] = [m, n, k].map(|side| side as usize);
        let (a, b) = (stream.sixteenths(m * k), stream.sixteenths(k * n));
        Self { m, n, k, a, b }
    }

    /// Any numbers in [−1, 1).
    fn uniform([m, n, k]: [u32; 3]) -> Self {
        let [m, n, k] = [m, n, k].map(|side| side as usize);
        Self {
            m,
            n,
            k,
            a: inputs::uniform(0xA, m * k),
            b: inputs::uniform(0xB, k * n),
        }
    }

    fn is_small(&self) -> bool {
        (self.m * self.n * self.k) as u64 <= ALL_ELEMENTS
    }

    /// A row of C, with the bounds of sums in `f32`.
    fn row(&self, row: usize) -> Vec<Target> {
        let a = &self.a[row * self.k..][..self.k];
        let sums = row_times_matrix(a, &self.b, self.n).into_iter();
        sums.map(|sum| Target {
            value: sum.value,
            bound: error_bound(self.k as u32, sum.magnitude),
        })
        .collect()
    }

    /// The rows that are compared element by element.
    fn checked_rows(&self) -> Vec<usize> {
        if self.is_small() {
            return (0..self.m).collect();
        }
        // Spread over all rows, including the first and the last.
        (0..SOME_ROWS)
            .map(|i| i * (self.m - 1) / (SOME_ROWS - 1))
            .collect()
    }

    /// Compares rows of C with sums in `f64`.
    fn check_rows(&self, trial: &mut Trial<'_>, c: &[f32], exact: bool) -> Result<(), CaseError> {
        for row in self.checked_rows() {
            let got = &c[row * self.n..][..self.n];
            for (column, (&got, target)) in got.iter().zip(self.row(row)).enumerate() {
                let bound = if exact { 0.0 } else { target.bound };
                let verdict = trial.verdict_within(got.into(), target.value, bound);
                verdict.map_err(|error| error.in_matrix([row, column], self.n))?;
            }
        }
        Ok(())
    }

    /// Checks every row of C, of exact numbers: C·x = A·(B·x).
    fn check_by_vector(&self, c: &[f32]) -> Result<(), CaseError> {
        /// Keeps sums of k·n products below 2⁵³ in units of 1/256.
        const LARGEST: i32 = 1 << 15;
        let x = Stream::new(0xC).whole_numbers(LARGEST, self.n);
        let expected = matrix_times_vector(&self.a, &matrix_times_vector(&self.b, &x));
        let got = matrix_times_vector(c, &x);
        for (row, (got, expected)) in got.into_iter().zip(expected).enumerate() {
            // Written so that a NaN is wrong.
            if got == expected {
                continue;
            }
            let targets = self.row(row).into_iter().map(|target| target.value);
            let mut elements = c[row * self.n..].iter().zip(targets).enumerate();
            let wrong = elements.find(|&(_, (&got, target))| f64::from(got) != target);
            return Err(match wrong {
                Some((column, (got, target))) => {
                    let error = CaseError::wrong(format!("expected {target}, got {got}"));
                    error.in_matrix([row, column], self.n)
                }
                None => CaseError::wrong(format!(
                    "row {row} is wrong: its product with a vector of whole numbers is {got} and should be {expected}"
                )),
            });
        }
        Ok(())
    }
}

/// The parameters of all kernels but one: A, B, C, m, n, k.
type Args = (
    DevicePtr<f32>,
    DevicePtr<f32>,
    DevicePtrMut<f32>,
    u32,
    u32,
    u32,
);
/// The geometry for m and n.
type Config = fn(u32, u32) -> LaunchConfig;

/// Values after C that must not be written.
const GUARD: usize = 64;

/// The matrices of one product, in device memory.
struct Matrices<'e> {
    a: Buffer<'e, f32>,
    b: Buffer<'e, f32>,
    c: Buffer<'e, f32>,
    dims: [u32; 3],
}

/// A kernel's way of multiplying them.
struct Plan<'e> {
    launch: Prepared,
    /// Scratch memory that the kernel needs.
    scratch: Option<Scratch<'e>>,
}

/// Sums that blocks leave for each other, and flags that announce them.
struct Scratch<'e> {
    _sums: Buffer<'e, f32>,
    flags: Buffer<'e, u32>,
}

/// Makes the launch of a kernel.
type Planner<'p> =
    &'p dyn for<'e> Fn(&'e dyn Engine, &Matrices<'e>) -> Result<Plan<'e>, EngineError>;

impl<'e> Plan<'e> {
    /// The plan of a kernel that needs only the matrices.
    fn of<K: Kernel<Args = Args>>(
        matrices: &Matrices<'e>,
        config: Config,
    ) -> Result<Self, EngineError> {
        let Matrices {
            a,
            b,
            c,
            dims: [m, n, k],
        } = matrices;
        // SAFETY: the buffers hold m·k, k·n and at least m·n elements, start at
        // multiples of 256 bytes and outlive the launches; the geometry is the
        // kernel's own.
        let launch = unsafe {
            Prepared::of::<K>(
                config(*m, *n),
                (a.as_ptr(), b.as_ptr(), c.as_mut_ptr(), *m, *n, *k),
            )
        }?;
        Ok(Self {
            launch,
            scratch: None,
        })
    }

    /// Of [`sgemm_stream_k`].
    fn stream_k(engine: &'e dyn Engine, matrices: &Matrices<'e>) -> Result<Self, EngineError> {
        let Matrices {
            a,
            b,
            c,
            dims: [m, n, k],
        } = matrices;
        let grid = stream_k::grid(*m, *n, *k, engine.device().n_multiprocessors);
        let config = LaunchConfig::new(grid, stream_k::BLOCK).with_shared(stream_k::SHARED_BYTES);
        let sums = Buffer::poisoned(engine, "sums left", stream_k::n_sums(grid))?;
        let flags = Buffer::of(engine, "flags", &vec![0; grid[0] as usize])?;
        let args = (
            a.as_ptr(),
            b.as_ptr(),
            c.as_mut_ptr(),
            *m,
            *n,
            *k,
            sums.as_mut_ptr(),
            flags.as_mut_ptr(),
        );
        // SAFETY: as in `of`; `sums` is as large as the grid asks for, and there is a
        // flag per block, all 0.
        let launch = unsafe { Prepared::of::<sgemm_stream_k>(config, args) }?;
        Ok(Self {
            launch,
            scratch: Some(Scratch { _sums: sums, flags }),
        })
    }
}

fn run<K: Kernel<Args = Args>>(
    trial: &mut Trial<'_>,
    kernel: K,
    config: Config,
) -> Result<(), CaseError> {
    run_planned(trial, kernel, &|_, matrices| {
        Plan::of::<K>(matrices, config)
    })
}

fn run_planned<K: Kernel>(
    trial: &mut Trial<'_>,
    _kernel: K,
    planner: Planner<'_>,
) -> Result<(), CaseError> {
    if trial.shape().is_sweep() {
        trial.each_product(|trial, dims| check_size(trial, planner, dims))
    } else {
        run_one(trial, planner)
    }
}

/// One product in device memory, ready to be launched.
struct OnDevice<'e> {
    matrices: Matrices<'e>,
    plan: Plan<'e>,
}

impl<'e> OnDevice<'e> {
    fn new(trial: &Trial<'e>, planner: Planner<'_>, factors: &Factors) -> Result<Self, CaseError> {
        let engine = trial.engine();
        let matrices = Matrices {
            a: Buffer::of(engine, "a", &factors.a)?,
            b: Buffer::of(engine, "b", &factors.b)?,
            c: Buffer::poisoned(engine, "c", factors.m * factors.n + GUARD)?,
            dims: [factors.m, factors.n, factors.k].map(|side| side as u32),
        };
        let plan = planner(engine, &matrices)?;
        Ok(Self { matrices, plan })
    }

    fn launch(&self) -> &Prepared {
        &self.plan.launch
    }

    /// C, if nothing beyond it was written and the next launch can follow.
    fn product(&self) -> Result<Vec<f32>, CaseError> {
        if let Some(scratch) = &self.plan.scratch
            && let Some(block) = scratch.flags.read()?.iter().position(|&flag| flag != 0)
        {
            return Err(CaseError::wrong(format!(
                "the flag of block {block} is not 0 after the launch: the next launch would fail"
            )));
        }
        let mut c = self.matrices.c.read_with_gaps()?;
        guarded::check(&c.split_off(c.len() - GUARD), "after C")?;
        Ok(c)
    }
}

fn run_one(trial: &mut Trial<'_>, planner: Planner<'_>) -> Result<(), CaseError> {
    let dims = trial.shape().product();
    let exact = Factors::exact(dims, 0xE);
    let on_device = OnDevice::new(trial, planner, &exact)?;
    trial.launch_uncounted(on_device.launch())?;
    let c = on_device.product()?;
    if exact.is_small() {
        exact.check_rows(trial, &c, true)?;
    } else {
        exact.check_by_vector(&c)?;
    }

    let factors = Factors::uniform(dims);
    on_device.matrices.a.write(&factors.a)?;
    on_device.matrices.b.write(&factors.b)?;
    on_device.matrices.c.poison()?;
    trial.launch(on_device.launch())?;
    factors.check_rows(trial, &on_device.product()?, false)?;
    trial.check_counts()?;

    let [m, n, k] = dims;
    let call = LibraryCall::Sgemm {
        a: on_device.matrices.a.address(),
        b: on_device.matrices.b.address(),
        c: on_device.matrices.c.address(),
        m,
        n,
        k,
        math: SgemmMath::Default,
    };
    if trial.beside_library(call)? {
        factors.check_rows(trial, &on_device.product()?, false)?;
    }
    trial.time(on_device.launch())
}

/// One size of a sweep, exact.
fn check_size(
    trial: &mut Trial<'_>,
    planner: Planner<'_>,
    dims: [u32; 3],
) -> Result<(), CaseError> {
    let factors = Factors::exact(dims, 0x5EED);
    let on_device = OnDevice::new(trial, planner, &factors)?;
    trial.launch_uncounted(on_device.launch())?;
    factors.check_rows(trial, &on_device.product()?, true)
}

#[cfg(test)]
mod tests {
    use super::{Factors, LESSON, Target};
    use lesson::{Effort, Shape};
    use lockstep::engine::EngineKind;

    fn product(factors: &Factors) -> Vec<f32> {
        (0..factors.m)
            .flat_map(|row| factors.row(row))
            .map(|target| target.value as f32)
            .collect()
    }

    #[test]
    fn rows_are_those_of_the_product() {
        // (1 2) · (5 6; 7 8) = (19 22)
        let factors = Factors {
            m: 1,
            n: 2,
            k: 2,
            a: vec![1.0, 2.0],
            b: vec![5.0, 6.0, 7.0, 8.0],
        };
        let values: Vec<f64> = factors.row(0).iter().map(|target| target.value).collect();
        assert_eq!(values, [19.0, 22.0]);
    }

    #[test]
    fn a_product_left_out_is_beyond_the_bound() {
        let factors = Factors::uniform([8, 8, 1000]);
        for row in 0..factors.m {
            for (column, Target { bound, .. }) in factors.row(row).into_iter().enumerate() {
                let largest = (0..factors.k)
                    .map(|i| factors.a[row * factors.k + i] * factors.b[i * factors.n + column])
                    .fold(0.0_f32, |largest, product| largest.max(product.abs()));
                assert!(
                    f64::from(largest) > 10.0 * bound,
                    "{largest} against {bound}"
                );
            }
        }
    }

    #[test]
    fn exact_factors_have_exact_products() {
        let factors = Factors::exact([4, 4, 4096], 1);
        for row in 0..4 {
            for target in factors.row(row) {
                assert_eq!(f64::from(target.value as f32), target.value);
                assert!(target.value.abs() < f64::from(1 << 16));
            }
        }
    }

    #[test]
    fn a_vector_finds_one_wrong_element() {
        let factors = Factors::exact([40, 30, 20], 2);
        let mut c = product(&factors);
        assert!(factors.check_by_vector(&c).is_ok());
        c[7 * 30 + 29] += 1.0 / 256.0;
        let error = factors.check_by_vector(&c).expect_err("wrong").to_string();
        assert!(error.starts_with("row 7, column 29: expected "), "{error}");
        c[7 * 30 + 29] = f32::NAN;
        assert!(factors.check_by_vector(&c).is_err());
    }

    #[test]
    fn every_run_sweeps_and_only_whole_tiles_have_claims() {
        for engine in [EngineKind::Gpu, EngineKind::Sim] {
            for effort in [Effort::Quick, Effort::Default, Effort::Full] {
                let shapes = (LESSON.shapes)(engine, effort);
                assert!(shapes.iter().any(Shape::is_sweep));
            }
            let shapes = (LESSON.shapes)(engine, Effort::Default);
            assert!(shapes.iter().any(|shape| (LESSON.expects_at)(shape)));
        }
        assert!(!(LESSON.expects_at)(&Shape::of(&[128, 256, 65])));
    }
}
