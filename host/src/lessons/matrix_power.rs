//! Aⁿ by squaring: products chained in registers and through one tile.
//!
//! Three kinds of matrix alternate: a signed permutation, whose powers are exact
//! in f16; an orthogonal one, whose powers stay in range; one that contains an infinity, a
//! NaN and zeros.

use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::tensor::power::{matrix_power_plain, matrix_power_swizzled, plain_conflicts};
use gpu_kernels::tensor::{BLOCK, grid};
use half::f16;
use lesson::half_matrices::{MATRIX, SIDE, f32_sum_error};
use lesson::inputs::uniform;
use lesson::verify::Verified;
use lesson::{CaseError, Effort, Footprint, Lesson, Shape, Trial, Work, exactly};
use lockstep::counts::Metric::LdmatrixConflicts;
use lockstep::engine::{Buffer, EngineKind, LaunchConfig, Prepared};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "matrix_power",
    title: "Matrix power",
    idea: "a product's registers are the next product's left operand; only the right one goes through shared memory",
    source: "gpu-kernels/src/10_tensor/04_power.rs",
    kernels: KERNELS,
    shapes,
    work,
    memory: |shape| Footprint::of(shape.n().into(), 1024, 1236),
    expects_at: |shape| shape.dims() == [N_KINDS as u32, CLAIMED_EXPONENT],
    targets: &[],
};

/// Number of kinds of matrix.
const N_KINDS: usize = 3;
/// The exponent that the plain kernel's count is claimed for.
const CLAIMED_EXPONENT: u32 = 31;
const CLAIMED_CONFLICTS: u32 = N_KINDS as u32 * plain_conflicts(CLAIMED_EXPONENT);

lesson::kernels! {
    matrix_power_plain: "plain tile: 4 conflicts per load",
        run(),
        expecting(&[exactly(LdmatrixConflicts, CLAIMED_CONFLICTS as f64)]);
    matrix_power_swizzled: "Swizzle<1, 3, 3>: none",
        run(), expecting(&[exactly(LdmatrixConflicts, 0.0)]);
}

fn shapes(engine: EngineKind, effort: Effort) -> Vec<Shape> {
    if effort == Effort::Sample {
        return vec![Shape::of(&[64 * N_KINDS as u32, 31])];
    }
    let mut shapes: Vec<_> = [0, 1, 2, 7, 31]
        .iter()
        .map(|&exponent| Shape::of(&[N_KINDS as u32, exponent]))
        .collect();
    if engine == EngineKind::Gpu && effort != Effort::Quick {
        shapes.push(Shape::of(&[3 * 16384, 31]));
    }
    shapes
}

fn work(shape: &Shape) -> Work {
    let n = u64::from(shape.n()) * MATRIX as u64;
    let n_steps = u64::from(u32::BITS - shape.dims()[1].leading_zeros());
    Work::new(n * 2 * 2, n * n_steps * 2 * 2 * SIDE as u64)
}

type Matrix = [f64; MATRIX];

fn identity() -> Matrix {
    std::array::from_fn(|i| f64::from(u8::from(i / SIDE == i % SIDE)))
}

fn multiply(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| {
        let (row, column) = (i / SIDE, i % SIDE);
        (0..SIDE)
            .map(|k| a[row * SIDE + k] * b[k * SIDE + column])
            .sum()
    })
}

/// A power by squaring, in the kernel's order of products; nothing for exponent 0.
fn by_squaring<T: Copy>(base: T, exponent: u32, multiply: impl Fn(T, T) -> T) -> Option<T> {
    let (mut base, mut digits) = (base, exponent);
    let mut result = None;
    while digits != 0 {
        if digits % 2 == 1 {
            result = Some(result.map_or(base, |result| multiply(result, base)));
        }
        digits /= 2;
        base = multiply(base, base);
    }
    result
}

/// In f64; the order of products determines where infinities and NaN spread.
fn power(matrix: &Matrix, exponent: u32) -> Matrix {
    by_squaring(*matrix, exponent, |a, b| multiply(&a, &b)).unwrap_or_else(identity)
}

/// A matrix whose powers are signed permutations too: row r has ±1 in column
/// 5 r + 3 mod 16.
fn signed_permutation() -> Vec<f16> {
    let mut matrix = vec![f16::ZERO; MATRIX];
    for row in 0..SIDE {
        let sign = if row % 3 == 0 { f16::NEG_ONE } else { f16::ONE };
        matrix[row * SIDE + (5 * row + 3) % SIDE] = sign;
    }
    matrix
}

/// An orthogonal matrix, rounded to f16: random rows, each made orthogonal to
/// those before.
fn orthogonal(seed: u64) -> Vec<f16> {
    let mut rows: Vec<Vec<f64>> = uniform(seed, MATRIX)
        .chunks(SIDE)
        .map(|row| row.iter().map(|&x| f64::from(x)).collect())
        .collect();
    for i in 0..SIDE {
        let (done, rest) = rows.split_at_mut(i);
        let row = &mut rest[0];
        for before in done {
            let along: f64 = row.iter().zip(&*before).map(|(x, y)| x * y).sum();
            row.iter_mut()
                .zip(&*before)
                .for_each(|(x, y)| *x -= along * y);
        }
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.iter_mut().for_each(|x| *x /= length);
    }
    rows.into_iter().flatten().map(f16::from_f64).collect()
}

/// Sixteenths, with an infinity, a NaN and two zeros that meet the infinity.
fn special() -> Vec<f16> {
    let mut matrix = vec![f16::from_f64(1.0 / 16.0); MATRIX];
    matrix[2 * SIDE + 5] = f16::INFINITY;
    matrix[9 * SIDE + 3] = f16::NAN;
    matrix[4 * SIDE + 2] = f16::ZERO;
    matrix[5 * SIDE + 11] = f16::ZERO;
    matrix
}

/// Bound on the error of an element of the orthogonal matrix's power.
///
/// In the spectral norm ‖·‖: A is orthogonal except for its rounding to f16, an error
/// of at most 2⁻¹² per element, 2⁻⁸ in norm. A product of P and Q, computed with
/// errors p and q in norm, has an error of at most p·(‖Q‖ + q) + ‖P‖·q from
/// its factors, and of its own at most 16 times that of an element: the f32 sum's
/// and the rounding to f16, 2⁻¹¹ of an element, which is at most ‖PQ‖. An element's
/// error is no larger than the norm's. (By the Frobenius norm, ‖PQ‖ · 4, instead of
/// 16 elements at their largest.)
fn orthogonal_error(exponent: u32) -> f64 {
    let growth = 1.0 + (-8f64).exp2();
    let norm = |n: u32| growth.powi(n as i32);
    let product = |(m, p): (u32, f64), (n, q): (u32, f64)| {
        let size = norm(m) * norm(n) + p + q;
        let own = 4.0 * (-11f64).exp2() * size + 16.0 * f32_sum_error(16);
        (m + n, p * (norm(n) + q) + norm(m) * q + own)
    };
    by_squaring((1, 0.0), exponent, product).map_or(0.0, |(_, error)| error)
}

/// Whether `got` is `expected`, within `bound` where that is finite.
fn is_right(got: f64, expected: f64, bound: f64) -> bool {
    if expected.is_nan() {
        return got.is_nan();
    }
    if expected.is_infinite() {
        return got == expected;
    }
    (got - expected).abs() <= bound
}

fn run<K: Kernel<Args = (DevicePtr<f16>, DevicePtrMut<f16>, u32)>>(
    trial: &mut Trial<'_>,
    _kernel: K,
) -> Result<(), CaseError> {
    let (n_problems, exponent) = trial.shape().matrix();
    let n_problems = n_problems as usize;
    let kinds = [signed_permutation(), orthogonal(5), special()];
    let input: Vec<f16> = (0..n_problems)
        .flat_map(|problem| kinds[problem % N_KINDS].iter().copied())
        .collect();
    let input_buffer = Buffer::of(trial.engine(), "input", &input)?;
    let output = Buffer::<f16>::poisoned(trial.engine(), "output", input.len())?;
    let config = LaunchConfig::new(grid(n_problems as u32), BLOCK);
    let args = (input_buffer.as_ptr(), output.as_mut_ptr(), exponent);
    // SAFETY: a matrix per problem in both, aligned to 256 bytes; a block per problem.
    let launch = unsafe { Prepared::of::<K>(config, args) }?;
    trial.launch(&launch)?;

    let references: Vec<Matrix> = kinds
        .iter()
        .map(|matrix| power(&std::array::from_fn(|i| matrix[i].to_f64()), exponent))
        .collect();
    // A¹ is A, and the special matrix's finite elements are checked as loosely as
    // their many roundings require: 2⁻⁸ of them.
    let bounds = [0.0, orthogonal_error(exponent), f64::NAN];
    let mut verified = Verified {
        n_checked: 0,
        max_abs_error: 0.0,
    };
    for (problem, got) in output.read()?.chunks(MATRIX).enumerate() {
        let kind = problem % N_KINDS;
        for (index, got) in got.iter().enumerate() {
            let (got, expected) = (got.to_f64(), references[kind][index]);
            let bound = if bounds[kind].is_nan() {
                expected.abs() * (-8f64).exp2() * f64::from(exponent.min(32))
            } else {
                bounds[kind]
            };
            if !is_right(got, expected, bound) {
                return Err(CaseError::wrong(format!(
                    "matrix {problem}, row {}, column {}: expected {expected} ±{bound:e}, got {got}",
                    index / SIDE,
                    index % SIDE
                ))
                .of_element(problem * MATRIX + index));
            }
            if expected.is_finite() {
                verified.max_abs_error = verified.max_abs_error.max((got - expected).abs());
            }
            verified.n_checked += 1;
        }
    }
    trial.verdict(Ok(verified))?;
    trial.finish(&launch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_the_permutation_differ() {
        let matrix: Matrix = std::array::from_fn(|i| signed_permutation()[i].to_f64());
        let powers: Vec<_> = [0, 1, 2, 7, 31].map(|n| power(&matrix, n)).to_vec();
        for (i, one) in powers.iter().enumerate() {
            assert!(powers[..i].iter().all(|other| other != one), "power {i}");
        }
        assert_eq!(powers[0], identity());
        assert_eq!(powers[1], matrix);
    }

    #[test]
    fn powers_of_the_orthogonal_one_stay_in_range() {
        let matrix: Matrix = std::array::from_fn(|i| orthogonal(5)[i].to_f64());
        let largest = power(&matrix, 31)
            .into_iter()
            .fold(0.0, |largest: f64, x| largest.max(x.abs()));
        assert!((0.3..1.1).contains(&largest), "{largest}");
        // And the bound is well below that.
        assert!(
            orthogonal_error(31) < largest / 2.0,
            "{}",
            orthogonal_error(31)
        );
        assert_eq!(orthogonal_error(1), 0.0);
    }

    #[test]
    fn special_values_spread_but_not_everywhere() {
        let matrix: Matrix = std::array::from_fn(|i| special()[i].to_f64());
        let squared = power(&matrix, 2);
        assert!(squared.iter().any(|x| x.is_nan()));
        assert!(squared.iter().any(|x| x.is_infinite()));
        assert!(squared.iter().any(|x| x.is_finite()));
    }

    #[test]
    fn nan_is_right_only_where_it_is_expected() {
        assert!(is_right(f64::NAN, f64::NAN, 0.0));
        assert!(!is_right(f64::NAN, 1.0, 1e9));
        assert!(!is_right(1.0, f64::NAN, 1e9));
        assert!(!is_right(1.0, f64::INFINITY, 1e9));
        assert!(!is_right(f64::NEG_INFINITY, f64::INFINITY, 1e9));
    }
}
