//! One kernel on one shape: its matrices in device memory, its launches, cuBLASLt for comparison.

use super::elements::Number;
use super::factors::{Factors, SCALED, Scale, old};
use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::gemm::mma::matrices::{PITCH_UNIT, Sizes};
use lesson::{CaseError, Trial, guarded};
use lockstep::engine::{
    Buffer, Engine, EngineError, LaunchConfig, LibraryCall, Major, Matmul, Prepared, Stored,
};

/// Values after C that must not be written.
const GUARD: usize = 64;

/// The dimension along which the rows of A and B run in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Majors {
    /// A's: m rows of k, or k rows of m.
    pub a: Major,
    /// B's: n rows of k, or k rows of n.
    pub b: Major,
}

impl Majors {
    /// Both along k.
    pub const K: Self = Self {
        a: Major::K,
        b: Major::K,
    };
}

/// The inputs that a kernel accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contract {
    /// The order of the factors in memory.
    pub majors: Majors,
    /// Whether it supports alpha and beta; else only the product is requested.
    pub is_scaled: bool,
    /// Whether it may write zeros between the rows of C, up to the next multiple of 16 bytes:
    /// TMA stores no less.
    pub fills_chunks: bool,
}

impl Contract {
    /// Factors along k, alpha and beta.
    pub const SCALED: Self = Self {
        majors: Majors::K,
        is_scaled: true,
        fills_chunks: false,
    };
    /// Factors along k, only the product.
    pub const PRODUCT: Self = Self {
        is_scaled: false,
        ..Self::SCALED
    };
}

/// The matrices of one product, in device memory.
pub struct Matrices<'e, T, O> {
    /// A, as its major says.
    pub a: Buffer<'e, T>,
    /// B.
    pub b: Buffer<'e, T>,
    /// C, m rows of n.
    pub c: Buffer<'e, O>,
    /// Their sizes.
    pub sizes: Sizes,
    /// The order of A and B in memory.
    pub majors: Majors,
}

/// A kernel's way of multiplying them.
pub struct Plan<'e> {
    /// The launch.
    pub launch: Prepared,
    /// Its flags: zero before each launch, and after it.
    pub flags: Option<Buffer<'e, u32>>,
    /// Scratch memory for its sums.
    pub scratch: Option<Buffer<'e, f32>>,
}

/// Makes the launch of a kernel.
pub type Planner<'p, T, O> =
    &'p dyn for<'e> Fn(&'e dyn Engine, &Matrices<'e, T, O>, Scale) -> Result<Plan<'e>, EngineError>;

/// Elements from one row to the next of a matrix with such rows: whole chunks of 16 bytes.
pub fn pitch(columns: usize) -> usize {
    columns.next_multiple_of(PITCH_UNIT as usize)
}

/// A factor as stored in memory; between the rows are NaNs.
///
/// `rows` has rows of `k`, one for each row of A or column of B.
fn stored<T: Number>(rows: &[f32], k: usize, major: Major) -> Vec<T> {
    let edge = rows.len() / k.max(1);
    let (n_rows, n_columns) = match major {
        Major::K => (edge, k),
        Major::Mn => (k, edge),
    };
    let pitch = pitch(n_columns);
    let mut to = vec![T::nearest(f32::NAN); n_rows * pitch];
    for (row, to) in to.chunks_exact_mut(pitch).enumerate() {
        for (column, to) in to[..n_columns].iter_mut().enumerate() {
            *to = T::nearest(match major {
                Major::K => rows[row * k + column],
                Major::Mn => rows[column * k + row],
            });
        }
    }
    to
}

impl<'e, T: Number, O: Number> Matrices<'e, T, O> {
    /// The matrices from factors; C is poison.
    pub fn of(
        engine: &'e dyn Engine,
        factors: &Factors,
        majors: Majors,
    ) -> Result<Self, EngineError> {
        let &Factors { m, n, k, .. } = factors;
        let columns = |major: Major, edge: usize| match major {
            Major::K => k,
            Major::Mn => edge,
        };
        let sizes = Sizes {
            m: m as u32,
            n: n as u32,
            k: k as u32,
            a_pitch: pitch(columns(majors.a, m)) as u32,
            b_pitch: pitch(columns(majors.b, n)) as u32,
            c_pitch: pitch(n) as u32,
        };
        Ok(Self {
            a: Buffer::of(engine, "a", &stored(&factors.a, k, majors.a))?,
            b: Buffer::of(engine, "b", &stored(&factors.b, k, majors.b))?,
            c: Buffer::poisoned(engine, "c", m * pitch(n) + GUARD)?,
            sizes,
            majors,
        })
    }

    fn write_factors(&self, factors: &Factors) -> Result<(), EngineError> {
        self.a
            .write(&stored(&factors.a, factors.k, self.majors.a))?;
        self.b.write(&stored(&factors.b, factors.k, self.majors.b))
    }

    /// Prepares C for a launch: the old one where it is read, else poison.
    fn prepare_c(&self, scale: Scale) -> Result<(), EngineError> {
        self.c.poison()?;
        if scale.beta == 0.0 {
            return Ok(());
        }
        let (n, pitch) = (self.sizes.n as usize, self.sizes.c_pitch as usize);
        let mut before = self.c.read_with_gaps()?;
        for (row, elements) in before[..self.sizes.m as usize * pitch]
            .chunks_exact_mut(pitch)
            .enumerate()
        {
            for (column, element) in elements[..n].iter_mut().enumerate() {
                *element = O::nearest(old(row * n + column));
            }
        }
        self.c.write(&before)
    }

    /// C, if nothing beyond its rows was written, except for zeros after them if the kernel
    /// `fills_chunks`.
    pub fn product(&self, fills_chunks: bool) -> Result<Vec<O>, CaseError> {
        let mut c = self.c.read_with_gaps()?;
        let (n, pitch) = (self.sizes.n as usize, self.sizes.c_pitch as usize);
        guarded::check(&c.split_off(c.len() - GUARD), "after C")?;
        for (row, elements) in c.chunks_exact(pitch).enumerate() {
            let is_kept = |value: &O| value.is_poison() || fills_chunks && value.value() == 0.0;
            if let Some(after) = elements[n..].iter().position(|value| !is_kept(value)) {
                return Err(CaseError::wrong(format!(
                    "it wrote {:?} after row {row} of C, where there is no column ({} beyond the last)",
                    elements[n + after],
                    after + 1
                )));
            }
        }
        Ok(c)
    }

    /// The product as a call of cuBLASLt.
    fn call(&self, scale: Scale) -> LibraryCall {
        let stored = |address, pitch| Stored { address, pitch };
        let sizes = &self.sizes;
        LibraryCall::Matmul(Matmul {
            m: sizes.m,
            n: sizes.n,
            k: sizes.k,
            a: (stored(self.a.address(), sizes.a_pitch), self.majors.a),
            b: (stored(self.b.address(), sizes.b_pitch), self.majors.b),
            c: stored(self.c.address(), sizes.c_pitch),
            factors: T::TYPE,
            result: O::TYPE,
            alpha: scale.alpha,
            beta: scale.beta,
        })
    }
}

impl<'e> Plan<'e> {
    /// The plan of a kernel that needs only the matrices and the numbers.
    pub fn of<K, T: Number, O: Number>(
        matrices: &Matrices<'e, T, O>,
        scale: Scale,
        config: LaunchConfig,
    ) -> Result<Self, EngineError>
    where
        K: Kernel<Args = (DevicePtr<T>, DevicePtr<T>, DevicePtrMut<O>, Sizes, Scale)>,
    {
        let Matrices { a, b, c, sizes, .. } = matrices;
        let args = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr(), *sizes, scale);
        // SAFETY: the buffers hold the matrices of `sizes`, start at multiples of 256 bytes
        // and outlive the launches; the geometry is the kernel's own.
        let launch = unsafe { Prepared::of::<K>(config, args) }?;
        Ok(Self {
            launch,
            flags: None,
            scratch: None,
        })
    }

    /// Whether the next launch can follow.
    fn is_clean(&self) -> Result<(), CaseError> {
        let Some(flags) = &self.flags else {
            return Ok(());
        };
        match flags.read()?.iter().position(|&flag| flag != 0) {
            None => Ok(()),
            Some(index) => Err(CaseError::wrong(format!(
                "flag {index} is not 0 after the launch: the next launch would fail"
            ))),
        }
    }
}

/// Runs a kernel on the trial's shape, factors of `T` to a C of `O`.
pub fn run<T: Number, O: Number>(
    trial: &mut Trial<'_>,
    contract: Contract,
    planner: Planner<'_, T, O>,
) -> Result<(), CaseError> {
    if trial.shape().is_sweep() {
        trial.each_product(|trial, dims| check_exactly(trial, contract, planner, dims).map(drop))
    } else {
        run_one(trial, contract, planner)
    }
}

fn run_one<T: Number, O: Number>(
    trial: &mut Trial<'_>,
    contract: Contract,
    planner: Planner<'_, T, O>,
) -> Result<(), CaseError> {
    let dims = trial.shape().product();
    let matrices = check_exactly(trial, contract, planner, dims)?;

    let factors = Factors::normal::<T>(dims);
    matrices.write_factors(&factors)?;
    matrices.c.poison()?;
    let plan = planner(trial.engine(), &matrices, Scale::PRODUCT)?;
    trial.launch(&plan.launch)?;
    plan.is_clean()?;
    let pitch = matrices.sizes.c_pitch as usize;
    let c = matrices.product(contract.fills_chunks)?;
    factors.check(trial, &c, pitch, Scale::PRODUCT)?;
    trial.check_counts()?;

    if trial.beside_library(matrices.call(Scale::PRODUCT))? {
        let c = matrices.product(contract.fills_chunks)?;
        factors.check(trial, &c, pitch, Scale::PRODUCT)?;
    }
    trial.time(&plan.launch)
}

/// The product of exact factors, with alpha and beta if the kernel supports them, and without.
/// Returns the matrices.
fn check_exactly<'e, T: Number, O: Number>(
    trial: &mut Trial<'e>,
    contract: Contract,
    planner: Planner<'_, T, O>,
    dims: [u32; 3],
) -> Result<Matrices<'e, T, O>, CaseError> {
    let factors = Factors::exact(dims);
    let engine = trial.engine();
    let matrices = Matrices::of(engine, &factors, contract.majors)?;
    let scaled = contract.is_scaled.then_some(SCALED);
    for scale in scaled.into_iter().chain([Scale::PRODUCT]) {
        matrices.prepare_c(scale)?;
        let plan = planner(engine, &matrices, scale)?;
        trial.launch_uncounted(&plan.launch)?;
        plan.is_clean()?;
        let pitch = matrices.sizes.c_pitch as usize;
        let c = matrices.product(contract.fills_chunks)?;
        factors.check(trial, &c, pitch, scale)?;
    }
    Ok(matrices)
}

#[cfg(test)]
mod tests {
    use super::stored;
    use half::f16;
    use lockstep::engine::Major;

    #[test]
    fn factors_lie_as_their_major_says() {
        let rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let values = |major| -> Vec<f32> {
            let stored: Vec<f16> = stored(&rows, 3, major);
            stored.iter().map(|x| x.to_f32()).collect()
        };
        // Two rows of three, 8 apart.
        let along_k = values(Major::K);
        assert_eq!(along_k.len(), 16);
        assert_eq!((&along_k[..3], &along_k[8..11]), (&rows[..3], &rows[3..]));
        assert!(along_k[3..8].iter().all(|x| x.is_nan()));
        // Three rows of two.
        let across = values(Major::Mn);
        assert_eq!(across.len(), 24);
        assert_eq!(
            (&across[..2], &across[8..10], &across[16..18]),
            (&[1.0, 4.0][..], &[2.0, 5.0][..], &[3.0, 6.0][..])
        );
    }
}
