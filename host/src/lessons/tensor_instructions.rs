//! `ldmatrix`, `stmatrix` and `mma` alone: the lane that holds each element, and the rounding
//! of sums, element by element and bit by bit.
//!
//! The fragment maps are the device library's ([`cuda_std::mma::map`]). Matrices
//! go into registers by them, and results come back by them; so a wrong map
//! would show in `Family::OneHot`, where A has a single one.
//!
//! Sums are checked against [`ptx_sim::numeric::mma`], the model of the hardware that
//! the simulator computes with. On the simulator this shows that the whole round trip
//! is right; on a GPU it shows whether the model is.

use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use cuda_std::mma::map::{self, LANES, Position};
use gpu_kernels::tensor::probe::{
    LDMATRIX_REGISTERS, N_ELEMENTS, matrices_row, probe_ldmatrix, probe_mma_k8_bf16_f32,
    probe_mma_k8_f16_f16, probe_mma_k8_f16_f32, probe_mma_k16_bf16_f32, probe_mma_k16_f16_f16,
    probe_mma_k16_f16_f32, probe_stmatrix,
};
use gpu_kernels::tensor::{BLOCK, grid};
use half::{bf16, f16};
use lesson::verify::{Tolerance, Verified, compare};
use lesson::{CaseError, Effort, Footprint, Lesson, Shape, Trial, Work};
use lockstep::engine::{Buffer, EngineKind, LaunchConfig, Prepared};
use ptx_sim::numeric::mma::{Accumulator, Factor, Model, dot, unpack};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "tensor_instructions",
    title: "Tensor-core instructions, bare",
    idea: "which lane holds which element, and how the hardware rounds its sums",
    source: "gpu-kernels/src/10_tensor/parts/probe.rs",
    kernels: KERNELS,
    shapes,
    work: |_| Work::new(0, 0),
    memory: |shape| Footprint::of(shape.n_elements(), 13_000, 33_000),
    expects_at: |_| true,
    targets: &[],
};

lesson::kernels! {
    probe_ldmatrix: "ldmatrix x1, x2, x4, each with and without .trans", run_ldmatrix();
    probe_stmatrix: "stmatrix x1, x2, x4, each with and without .trans",
        run_stmatrix(), since_sm(90);
    probe_mma_k8_f16_f16: "m16n8k8, f16 summed in f16", run_mma(8, Factor::F16, Accumulator::F16);
    probe_mma_k8_f16_f32: "m16n8k8, f16 summed in f32", run_mma(8, Factor::F16, Accumulator::F32);
    probe_mma_k8_bf16_f32: "m16n8k8, bf16 summed in f32",
        run_mma(8, Factor::Bf16, Accumulator::F32);
    probe_mma_k16_f16_f16: "m16n8k16, f16 summed in f16",
        run_mma(16, Factor::F16, Accumulator::F16);
    probe_mma_k16_f16_f32: "m16n8k16, f16 summed in f32",
        run_mma(16, Factor::F16, Accumulator::F32);
    probe_mma_k16_bf16_f32: "m16n8k16, bf16 summed in f32",
        run_mma(16, Factor::Bf16, Accumulator::F32);
}

/// Random matrices per family.
fn shapes(engine: EngineKind, effort: Effort) -> Vec<Shape> {
    vec![Shape::of(&[match (engine, effort) {
        (EngineKind::Sim, Effort::Quick) => 8,
        (EngineKind::Sim, _) => 100,
        (EngineKind::Gpu, Effort::Quick) => 500,
        (EngineKind::Gpu, _) => 5000,
    }])]
}

// ---------------------------------------------------------------------------
// ldmatrix and stmatrix
// ---------------------------------------------------------------------------

/// Element numbers, so that each is different: the bits are those of an f16.
fn numbered() -> Vec<f16> {
    (0..N_ELEMENTS as u16).map(f16::from_bits).collect()
}

/// The number of the element that `lane` holds in `half` of the register of
/// matrix `matrix`.
fn held(matrix: u32, lane: u32, half: u32, transposed: bool) -> u32 {
    let Position { row, column } = if transposed {
        map::matrix_transposed(lane, half)
    } else {
        map::matrix(lane, half)
    };
    matrices_row(8 * matrix + row) * 8 + column
}

fn run_ldmatrix(trial: &mut Trial<'_>, _: probe_ldmatrix) -> Result<(), CaseError> {
    let lanes = LANES as usize;
    let input = Buffer::of(trial.engine(), "input", &numbered())?;
    let output = Buffer::<u32>::poisoned(trial.engine(), "output", LDMATRIX_REGISTERS * lanes)?;
    // SAFETY: as large as the kernel requires; one block.
    let launch = unsafe {
        Prepared::of::<probe_ldmatrix>(
            LaunchConfig::new(grid(1), BLOCK),
            (input.as_ptr(), output.as_mut_ptr()),
        )
    }?;
    trial.launch(&launch)?;
    // x1, x2, x4: registers 0, 1–2, 3–6; transposed: 7 more.
    const MATRIX_OF_REGISTER: [u32; LDMATRIX_REGISTERS / 2] = [0, 0, 1, 0, 1, 2, 3];
    let expected = |index: usize| {
        let (register, lane) = (index / lanes, (index % lanes) as u32);
        let half = LDMATRIX_REGISTERS / 2;
        let (matrix, transposed) = (MATRIX_OF_REGISTER[register % half], register >= half);
        held(matrix, lane, 0, transposed) | held(matrix, lane, 1, transposed) << 16
    };
    trial.verdict(compare(&output.read()?, expected, Tolerance::Exact))
}

fn run_stmatrix(trial: &mut Trial<'_>, _: probe_stmatrix) -> Result<(), CaseError> {
    // The registers that hold the numbered matrices, not transposed.
    let registers: Vec<u32> = (0..4 * LANES)
        .map(|index| {
            let (matrix, lane) = (index / LANES, index % LANES);
            held(matrix, lane, 0, false) | held(matrix, lane, 1, false) << 16
        })
        .collect();
    const WAYS: [(usize, bool); 6] = [
        (1, false),
        (2, false),
        (4, false),
        (1, true),
        (2, true),
        (4, true),
    ];
    let input = Buffer::of(trial.engine(), "input", &registers)?;
    let output = Buffer::<f16>::poisoned(trial.engine(), "output", WAYS.len() * N_ELEMENTS)?;
    // SAFETY: as large as the kernel requires; one block.
    let launch = unsafe {
        Prepared::of::<probe_stmatrix>(
            LaunchConfig::new(grid(1), BLOCK),
            (input.as_ptr(), output.as_mut_ptr()),
        )
    }?;
    trial.launch(&launch)?;
    let expected = |index: usize| {
        let (n_matrices, transposed) = WAYS[index / N_ELEMENTS];
        let element = index % N_ELEMENTS;
        let (matrix, row, column) = (element / 64, element / 8 % 8, element % 8);
        let number = if matrix >= n_matrices {
            0
        } else if transposed {
            matrix * 64 + column * 8 + row
        } else {
            element
        };
        f16::from_bits(number as u16)
    };
    trial.verdict(compare(&output.read()?, expected, Tolerance::Exact))
}

// ---------------------------------------------------------------------------
// mma
// ---------------------------------------------------------------------------

/// Kinds of random input, each of which stresses something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// A has a single one, in each place in turn; B is numbered; C is zero.
    OneHot,
    /// Uniform in [−1, 1].
    Uniform,
    /// Any finite bits: exponents over the whole range, so that much is cut off.
    AnyExponent,
    /// Exponents near each other and signs that cancel: cut-off bits matter.
    Cancelling,
    /// Half of all elements zero, of both signs; C too.
    Zeros,
    /// Subnormal numbers and small ones.
    Tiny,
    /// As small as can be: most sums are too small for the accumulator's type.
    Vanishing,
    /// Any bits at all: infinities and NaN among them.
    AnyBits,
}

const RANDOM_FAMILIES: [Family; 7] = [
    Family::Uniform,
    Family::AnyExponent,
    Family::Cancelling,
    Family::Zeros,
    Family::Tiny,
    Family::Vanishing,
    Family::AnyBits,
];

/// A floating-point format as bits: 16 for factors, up to 32 for sums.
#[derive(Clone, Copy)]
struct Format {
    fraction_bits: u32,
    exponent_bits: u32,
}

impl Format {
    const fn of_factor(factor: Factor) -> Self {
        match factor {
            Factor::F16 => Self {
                fraction_bits: 10,
                exponent_bits: 5,
            },
            Factor::Bf16 => Self {
                fraction_bits: 7,
                exponent_bits: 8,
            },
            Factor::Tf32 => Self {
                fraction_bits: 10,
                exponent_bits: 8,
            },
            Factor::E4m3 => Self {
                fraction_bits: 3,
                exponent_bits: 4,
            },
            Factor::E5m2 => Self {
                fraction_bits: 2,
                exponent_bits: 5,
            },
        }
    }

    const fn of_sum(accumulator: Accumulator) -> Self {
        match accumulator {
            Accumulator::F16 => Self::of_factor(Factor::F16),
            Accumulator::F32 => Self {
                fraction_bits: 23,
                exponent_bits: 8,
            },
        }
    }

    fn bits(self, value: f32) -> u32 {
        match (self.fraction_bits, self.exponent_bits) {
            (10, 5) => f16::from_f32(value).to_bits().into(),
            (10, _) => value.to_bits() >> 13,
            (7, _) => bf16::from_f32(value).to_bits().into(),
            _ => value.to_bits(),
        }
    }

    /// A random number of a family.
    fn draw(self, family: Family, random: &mut StdRng) -> u32 {
        let Self {
            fraction_bits,
            exponent_bits,
        } = self;
        let bias = (1 << (exponent_bits - 1)) - 1;
        let largest = (1 << exponent_bits) - 1;
        let fraction = random.random_range(0..1u32 << fraction_bits);
        let sign = u32::from(random.random::<bool>()) << (fraction_bits + exponent_bits);
        let field = match family {
            Family::OneHot | Family::Uniform => {
                return self.bits(random.random_range(-1.0f32..1.0));
            }
            Family::AnyExponent => random.random_range(0..largest),
            Family::Cancelling => random.random_range(bias - 3..=bias + 3),
            Family::Zeros if random.random::<bool>() => return sign,
            Family::Zeros => random.random_range(bias - 6..=bias + 6),
            Family::Tiny => {
                random.random_range(0..=if exponent_bits == 5 { 4 } else { bias / 2 + 4 })
            }
            // C is zero, or the smallest of all.
            Family::Vanishing if fraction_bits == 23 => return sign | (fraction % 2),
            Family::Vanishing => random.random_range(0..=if exponent_bits == 5 { 2 } else { 52 }),
            Family::AnyBits if random.random_range(0..40) == 0 => largest,
            Family::AnyBits => random.random_range(0..largest),
        };
        sign | field << fraction_bits | fraction
    }
}

/// One `mma`: A is 16×K, B is K×8, C is 16×8, as bits.
struct Case {
    family: Family,
    a: Vec<u32>,
    b: Vec<u32>,
    c: Vec<u32>,
}

const M: usize = 16;
const N: usize = 8;

/// The types and shape of an `mma`.
#[derive(Clone, Copy)]
struct Kind {
    k: usize,
    factor: Factor,
    accumulator: Accumulator,
}

impl Kind {
    const fn a_registers(self) -> usize {
        self.k / 4
    }

    const fn b_registers(self) -> usize {
        self.k / 8
    }

    const fn c_registers(self) -> usize {
        match self.accumulator {
            Accumulator::F16 => 2,
            Accumulator::F32 => 4,
        }
    }

    fn cases(self, n_random: usize) -> Vec<Case> {
        let format = Format::of_factor(self.factor);
        let sum_format = Format::of_sum(self.accumulator);
        let mut cases = Vec::new();
        for one in 0..M * self.k {
            let mut a = vec![0; M * self.k];
            a[one] = format.bits(1.0);
            let b = (0..self.k * N)
                .map(|i| format.bits(1.0 + i as f32))
                .collect();
            cases.push(Case {
                family: Family::OneHot,
                a,
                b,
                c: vec![0; M * N],
            });
        }
        for family in RANDOM_FAMILIES {
            let mut random = StdRng::seed_from_u64(family as u64 * 1000 + self.k as u64);
            for _ in 0..n_random {
                let mut draw = |format: Format, n| -> Vec<u32> {
                    (0..n).map(|_| format.draw(family, &mut random)).collect()
                };
                cases.push(Case {
                    family,
                    a: draw(format, M * self.k),
                    b: draw(format, self.k * N),
                    c: draw(sum_format, M * N),
                });
            }
        }
        cases
    }

    /// D according to a model, as bits.
    fn sums(self, case: &Case, model: Model) -> Vec<u32> {
        let parts = |bits: &mut dyn Iterator<Item = u32>| -> Vec<_> {
            bits.map(|bits| unpack(self.factor, bits as u16)).collect()
        };
        let rows: Vec<_> = case
            .a
            .chunks(self.k)
            .map(|row| parts(&mut row.iter().copied()))
            .collect();
        let columns: Vec<_> = (0..N)
            .map(|n| parts(&mut (0..self.k).map(|k| case.b[k * N + n])))
            .collect();
        (0..M * N)
            .map(|i| {
                let (row, column) = (&rows[i / N], &columns[i % N]);
                dot(model, self.factor, self.accumulator, row, column, case.c[i])
            })
            .collect()
    }

    /// Position of C's element in `half` of `register`; with f32 there is only
    /// half 0.
    fn c_position(self, lane: u32, register: u32, half: u32) -> Position {
        match self.accumulator {
            Accumulator::F16 => map::c16(lane, register, half),
            Accumulator::F32 => map::c32(lane, register),
        }
    }

    const fn c_halves(self) -> u32 {
        match self.accumulator {
            Accumulator::F16 => 2,
            Accumulator::F32 => 1,
        }
    }
}

/// Registers, `[register][lane]`, from a matrix of `n_columns`.
fn registers(
    matrix: &[u32],
    n_columns: usize,
    n_registers: usize,
    n_halves: u32,
    position: impl Fn(u32, u32, u32) -> Position,
) -> Vec<u32> {
    let at = |lane, register, half| {
        let Position { row, column } = position(lane, register, half);
        matrix[row as usize * n_columns + column as usize]
    };
    (0..n_registers as u32)
        .flat_map(|register| (0..LANES).map(move |lane| (register, lane)))
        .map(|(register, lane)| match n_halves {
            1 => at(lane, register, 0),
            _ => at(lane, register, 0) | at(lane, register, 1) << 16,
        })
        .collect()
}

/// The model that is claimed for an architecture, bit for bit.
const fn claimed_model(sm: u32) -> Option<Model> {
    match sm {
        80..=89 => Some(Model::AMPERE),
        90..=99 => Some(Model::HOPPER),
        _ => None,
    }
}

/// The agreement of results with the model, in one family.
#[derive(Default)]
struct Agreement {
    n: usize,
    n_equal: usize,
    /// Of sums that are finite in both.
    largest_difference: f64,
    /// Number of differences that are not finite numbers.
    n_not_finite: usize,
    examples: Vec<String>,
}

fn value(accumulator: Accumulator, bits: u32) -> f64 {
    match accumulator {
        Accumulator::F16 => f16::from_bits(bits as u16).to_f64(),
        Accumulator::F32 => f32::from_bits(bits).into(),
    }
}

fn run_mma<K>(
    trial: &mut Trial<'_>,
    _kernel: K,
    k: usize,
    factor: Factor,
    accumulator: Accumulator,
) -> Result<(), CaseError>
where
    K: Kernel<
        Args = (
            DevicePtr<u32>,
            DevicePtr<u32>,
            DevicePtr<u32>,
            DevicePtrMut<u32>,
        ),
    >,
{
    let kind = Kind {
        k,
        factor,
        accumulator,
    };
    let cases = kind.cases(trial.shape().n() as usize);
    let (mut a, mut b, mut c) = (Vec::new(), Vec::new(), Vec::new());
    for case in &cases {
        a.extend(registers(&case.a, k, kind.a_registers(), 2, map::a));
        b.extend(registers(&case.b, N, kind.b_registers(), 2, map::b));
        let c_position = |lane, register, half| kind.c_position(lane, register, half);
        c.extend(registers(
            &case.c,
            N,
            kind.c_registers(),
            kind.c_halves(),
            c_position,
        ));
    }
    let a = Buffer::of(trial.engine(), "a", &a)?;
    let b = Buffer::of(trial.engine(), "b", &b)?;
    let c = Buffer::of(trial.engine(), "c", &c)?;
    let d = Buffer::<u32>::poisoned(trial.engine(), "d", c.len())?;
    // SAFETY: registers of one case per block, as the kernel asks.
    let launch = unsafe {
        Prepared::of::<K>(
            LaunchConfig::new(grid(cases.len() as u32), BLOCK),
            (a.as_ptr(), b.as_ptr(), c.as_ptr(), d.as_mut_ptr()),
        )
    }?;
    trial.launch(&launch)?;

    let claimed = claimed_model(trial.engine().device().sm);
    let model = claimed.unwrap_or(Model::HOPPER);
    let families = agreements(kind, &cases, &d.read()?, model);
    conclude(trial, &families, claimed.is_some())
}

/// The agreement of the results with the model, family by family.
fn agreements(kind: Kind, cases: &[Case], d: &[u32], model: Model) -> Vec<(Family, Agreement)> {
    let per_case = kind.c_registers() * LANES as usize;
    let mut families: Vec<(Family, Agreement)> = Vec::new();
    for (case, d) in cases.iter().zip(d.chunks(per_case)) {
        let last = families.last();
        if last.is_none_or(|(family, _)| *family != case.family) {
            families.push((case.family, Agreement::default()));
        }
        let (_, agreement) = families.last_mut().expect("just pushed");
        let expected = kind.sums(case, model);
        for (index, &bits) in d.iter().enumerate() {
            let (register, lane) = (index as u32 / LANES, index as u32 % LANES);
            for half in 0..kind.c_halves() {
                let Position { row, column } = kind.c_position(lane, register, half);
                let place = row as usize * N + column as usize;
                let got = match kind.accumulator {
                    Accumulator::F16 => bits >> (16 * half) & 0xFFFF,
                    Accumulator::F32 => bits,
                };
                agreement.add(kind, case, place, got, expected[place]);
            }
        }
    }
    families
}

/// Notes where the results differ; they are wrong if the model is claimed to be the device's, or if
/// even the first family differs.
fn conclude(
    trial: &mut Trial<'_>,
    families: &[(Family, Agreement)],
    is_claimed: bool,
) -> Result<(), CaseError> {
    let mut verified = Verified::exact(0);
    let mut n_wrong = 0;
    for (family, agreement) in families {
        let (n, n_equal) = (agreement.n, agreement.n_equal);
        verified.n_checked += n;
        if n_equal == n {
            continue;
        }
        if *family != Family::Vanishing || !agreement.within(SMALLEST_SUBNORMAL) {
            n_wrong += n - n_equal;
        }
        let share = 100.0 * n_equal as f64 / n as f64;
        trial.note(format!(
            "{family:?}: {n_equal} of {n} sums equal the model's bit for bit ({share:.3}%), largest difference {:e}",
            agreement.largest_difference
        ));
        for example in &agreement.examples {
            trial.note(example.clone());
        }
        verified.max_abs_error = verified.max_abs_error.max(agreement.largest_difference);
    }
    let n_checked = verified.n_checked;
    let differs = |(_, agreement): &(Family, Agreement)| agreement.n_equal != agreement.n;
    if !families.iter().any(differs) {
        trial.note(format!(
            "{n_checked} sums, each equal to the model's bit for bit"
        ));
    } else if n_wrong != 0 && is_claimed || differs(&families[0]) {
        let what = format!("{n_wrong} of {n_checked} sums differ from the model's");
        return Err(CaseError::wrong(what));
    }
    trial.verdict(Ok(verified))
}

/// The smallest positive `f32`. Sums of bf16 products below it are the
/// only place where the model does not match the hardware bit for bit: on an H200, up to
/// 35 of 640,000 of them came out as the neighbouring number.
const SMALLEST_SUBNORMAL: f64 = 1.401_298_464_324_817e-45;

impl Agreement {
    /// Whether no sum is further from the model's than `bound`.
    fn within(&self, bound: f64) -> bool {
        self.n_not_finite == 0 && self.largest_difference <= bound
    }

    fn add(&mut self, kind: Kind, case: &Case, place: usize, got: u32, expected: u32) {
        const N_EXAMPLES: usize = 3;
        self.n += 1;
        if got == expected {
            self.n_equal += 1;
            return;
        }
        let difference = (value(kind.accumulator, got) - value(kind.accumulator, expected)).abs();
        if difference.is_finite() {
            self.largest_difference = self.largest_difference.max(difference);
        } else {
            self.n_not_finite += 1;
        }
        if self.examples.len() < N_EXAMPLES {
            let (row, column) = (place / N, place % N);
            let hex = |bits: &mut dyn Iterator<Item = u32>| -> String {
                bits.map(|bits| format!("{bits:04x} ")).collect()
            };
            self.examples.push(format!(
                "  a {}b {}c {:08x}: got {got:08x}, model {expected:08x}",
                hex(&mut case.a[row * kind.k..][..kind.k].iter().copied()),
                hex(&mut (0..kind.k).map(|k| case.b[k * N + column])),
                case.c[place]
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_what_they_say() {
        let mut random = StdRng::seed_from_u64(1);
        let format = Format::of_factor(Factor::F16);
        let mut draw = |family| -> Vec<f16> {
            (0..1000)
                .map(|_| f16::from_bits(format.draw(family, &mut random) as u16))
                .collect()
        };
        assert!(draw(Family::AnyExponent).iter().all(|x| x.is_finite()));
        assert!(draw(Family::AnyBits).iter().any(|x| !x.is_finite()));
        assert!(draw(Family::Zeros).iter().any(|x| x.to_bits() == 0x8000));
        assert!(draw(Family::Tiny).iter().any(|x| !x.is_normal()));
        assert!(
            draw(Family::Cancelling)
                .iter()
                .all(|x| (0.1..16.0).contains(&x.to_f32().abs()))
        );
    }
}
