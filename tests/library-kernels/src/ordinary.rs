//! Ordinary Rust, and crates that know nothing about GPUs: functions that the host can call
//! as well, and that must give the same bits there.

use core::convert::Infallible;
use core::fmt::{self, Write};
use core::ops::{Add, Mul};

use cuda_std::float::GpuFloat;
use cuda_std::half::{bf16, f16};
use cuda_std::prelude::*;
use glam::{Mat4, Quat, Vec3};
use num_complex::Complex32;
use rand_core::{Rng, TryRng};

macro_rules! examples {
    ($($name:ident)*) => {
        /// Names of the examples.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];

        /// The results of all examples for thread `i`.
        pub fn all(i: u32) -> [u64; NAMES.len()] {
            [$($name(i)),*]
        }
    };
}
examples! {
    closures dyn_functions function_pointers enums_with_data results iterators slices sorting
    traits const_generics recursion wide_integers formatting parsing complex_numbers vectors
    halves random_numbers sorted steps_back
}

/// Each thread's results.
#[kernel(local_memory)]
pub unsafe fn ordinary_rust(out: *mut u64) {
    let i = thread::index_1d();
    for (k, result) in all(i).into_iter().enumerate() {
        *out.add(i as usize * NAMES.len() + k) = result;
    }
}

fn single(x: f32) -> u64 {
    u64::from(x.to_bits())
}

/// Closures that capture, are returned and are composed.
fn closures(i: u32) -> u64 {
    fn scaled(factor: f32) -> impl Fn(f32) -> f32 {
        move |x| factor * x
    }
    fn twice<T>(f: impl Fn(T) -> T) -> impl Fn(T) -> T {
        move |x| f(f(x))
    }
    let mut n_calls = 0;
    let mut count = |x: f32| {
        n_calls += 1;
        x + n_calls as f32
    };
    let first = count(i as f32);
    single(twice(scaled(1.1))(count(first)))
}

/// A table of closures of different types, called through their vtables.
fn dyn_functions(i: u32) -> u64 {
    let offset = i as f32 * 0.25;
    let table: [&dyn Fn(f32) -> f32; 3] = [&|x| x + offset, &|x| x * x, &f32::recip];
    single(table[i as usize % 3](offset + 0.5))
}

fn function_pointers(i: u32) -> u64 {
    static TABLE: [fn(u32) -> u32; 3] = [u32::count_ones, u32::leading_zeros, u32::reverse_bits];
    u64::from(TABLE[i as usize % 3](i.wrapping_mul(0x9E37_79B9)))
}

enum Shape {
    Circle { radius: f32 },
    Box(Vec3),
    Empty,
}

impl Shape {
    fn new(i: u32) -> Option<Self> {
        match i % 4 {
            0 => Some(Self::Circle { radius: i as f32 }),
            1 => Some(Self::Box(Vec3::new(1.0, 2.0, i as f32))),
            2 => Some(Self::Empty),
            _ => None,
        }
    }

    fn size(&self) -> f32 {
        match self {
            Self::Circle { radius } => core::f32::consts::PI * radius * radius,
            Self::Box(sides) => sides.element_product(),
            Self::Empty => 0.0,
        }
    }
}

fn enums_with_data(i: u32) -> u64 {
    single(Shape::new(i).as_ref().map_or(-1.0, Shape::size))
}

/// Errors propagated with `?`.
fn results(i: u32) -> u64 {
    #[derive(Debug, PartialEq)]
    enum Error {
        Odd(u32),
        Large,
    }
    fn half(x: u32) -> Result<u32, Error> {
        if x % 2 == 1 {
            Err(Error::Odd(x))
        } else {
            Ok(x / 2)
        }
    }
    fn quarter(x: u32) -> Result<u32, Error> {
        let quarter = half(half(x)?)?;
        if quarter > 20 {
            Err(Error::Large)
        } else {
            Ok(quarter)
        }
    }
    match quarter(i) {
        Ok(quarter) => u64::from(quarter),
        Err(Error::Odd(x)) => 1000 + u64::from(x),
        Err(Error::Large) => u64::MAX,
    }
}

fn iterators(i: u32) -> u64 {
    let thirds = (i..i + 100).step_by(3).zip((1..).map(|k| k * k));
    let sum = thirds
        .filter(|(a, b)| (a ^ b) & 2 == 0)
        .fold(7u64, |sum, (a, b)| sum.wrapping_mul(31) + u64::from(a * b));
    let names = ["a", "bc", "def"];
    let letters = names.iter().rev().flat_map(|name| name.bytes());
    letters
        .enumerate()
        .take_while(|(k, _)| *k < 5)
        .map(|(k, byte)| (k as u64 + 1) * u64::from(byte))
        .chain([sum, u64::from(i)])
        .fold(0, |all: u64, x| all.rotate_left(9) ^ x)
}

fn slices(i: u32) -> u64 {
    let mut values: [u32; 24] = core::array::from_fn(|k| (k as u32).wrapping_mul(i + 7) % 64);
    values.rotate_left(i as usize % 24);
    let (front, back) = values.split_at_mut(12);
    front.swap_with_slice(back);
    let pairs = values.windows(2).filter(|pair| pair[0] < pair[1]).count();
    let sums = values
        .chunks_exact(4)
        .map(|chunk| chunk.iter().sum::<u32>());
    sums.fold(pairs as u64, |all, sum| all * 101 + u64::from(sum))
}

fn sorting(i: u32) -> u64 {
    let mut values: [u32; 20] =
        core::array::from_fn(|k| (k as u32 ^ i).wrapping_mul(2_654_435_761) >> 16);
    values.sort_unstable_by(|a, b| b.cmp(a));
    let found = values
        .binary_search_by(|x| 30_000.cmp(x))
        .unwrap_or_else(|at| at);
    values.iter().fold(found as u64, |all, &x| {
        all.wrapping_mul(65_537) + u64::from(x)
    })
}

trait Integrand {
    const N_STEPS: u32 = 16;
    fn at(&self, x: f64) -> f64;

    fn integral(&self, from: f64, to: f64) -> f64 {
        let step = (to - from) / f64::from(Self::N_STEPS);
        let points = (0..Self::N_STEPS).map(|k| from + (f64::from(k) + 0.5) * step);
        points.map(|x| self.at(x)).sum::<f64>() * step
    }
}

struct Power(i32);
struct Sum<A, B>(A, B);

impl Integrand for Power {
    fn at(&self, x: f64) -> f64 {
        (0..self.0).fold(1.0, |power, _| power * x)
    }
}

impl<A: Integrand, B: Integrand> Integrand for Sum<A, B> {
    const N_STEPS: u32 = 10;
    fn at(&self, x: f64) -> f64 {
        self.0.at(x) + self.1.at(x)
    }
}

fn traits(i: u32) -> u64 {
    let sum = Sum(Power(3), Sum(Power(i as i32 % 5), Power(1)));
    sum.integral(0.0, 1.0 + f64::from(i)).to_bits()
}

#[derive(Clone, Copy)]
struct Matrix<T, const R: usize, const C: usize>([[T; C]; R]);

impl<T, const R: usize, const K: usize, const C: usize> Mul<Matrix<T, K, C>> for Matrix<T, R, K>
where
    T: Copy + Default + Add<Output = T> + Mul<Output = T>,
{
    type Output = Matrix<T, R, C>;
    fn mul(self, other: Matrix<T, K, C>) -> Matrix<T, R, C> {
        Matrix(core::array::from_fn(|r| {
            core::array::from_fn(|c| {
                (0..K).fold(T::default(), |sum, k| sum + self.0[r][k] * other.0[k][c])
            })
        }))
    }
}

fn const_generics(i: u32) -> u64 {
    let a = Matrix([[1.5, 2.0, 0.1], [i as f32, 0.3, -4.0]]);
    let b = Matrix([[0.5, 1.0], [-1.0, 0.7], [0.2, 9.0]]);
    let Matrix([[p, q], [r, s]]) = a * b;
    single(p * s - q * r)
}

fn recursion(i: u32) -> u64 {
    fn ackermann(m: u32, n: u32) -> u32 {
        match (m, n) {
            (0, n) => n + 1,
            (m, 0) => ackermann(m - 1, 1),
            (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
        }
    }
    u64::from(ackermann(2, i % 4))
}

fn wide_integers(i: u32) -> u64 {
    let wide = u128::from(i) * 0x1234_5678_9ABC_DEF0_1234_5678 + 1;
    let (quotient, rest) = (wide / 1_000_000_007, wide % 1_000_000_007);
    let checked = i.checked_sub(10).map_or(99, |x| x.saturating_mul(1 << 28));
    (quotient as u64) ^ (rest as u64).rotate_left(40) ^ u64::from(checked)
}

/// Text of up to `N` bytes.
struct Line<const N: usize> {
    bytes: [u8; N],
    n_used: usize,
}

impl<const N: usize> Write for Line<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.n_used..self.n_used + text.len());
        room.ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.n_used += text.len();
        Ok(())
    }
}

/// A number that depends on every byte.
fn hash(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

fn formatting(i: u32) -> u64 {
    #[derive(Debug)]
    #[allow(dead_code)] // Its `Debug` reads the fields.
    struct Atom {
        name: &'static str,
        place: [f32; 2],
    }
    let atom = Atom {
        name: "C",
        place: [0.1, i as f32 / 3.0],
    };
    let mut line = Line {
        bytes: [0; 128],
        n_used: 0,
    };
    let written = write!(line, "{i:>5} {:08.3} {:#x} {atom:?}", f64::from(i) / 7.0, i);
    hash(&line.bytes[..line.n_used]) ^ u64::from(written.is_err())
}

fn parsing(i: u32) -> u64 {
    let texts = ["17", "-3", "0.1", "6.02214076e23", "x1"];
    let text = texts[i as usize % texts.len()];
    match (text.parse::<i32>(), text.parse::<f64>()) {
        (Ok(whole), _) => i64::from(whole).cast_unsigned(),
        (_, Ok(float)) => float.to_bits(),
        _ => u64::MAX,
    }
}

/// Crate `num-complex`: steps until a point leaves Mandelbrot's set, and where to.
fn complex_numbers(i: u32) -> u64 {
    let c = Complex32::new(-0.75 + i as f32 * 0.01, 0.1);
    let orbit = core::iter::successors(Some(Complex32::ZERO), |z| Some(z * z + c));
    let steps = orbit.take(50).take_while(|z| z.norm_sqr() < 4.0).count();
    let turned = (c * Complex32::i()).powu(3) / (c + 2.0);
    (steps as u64) << 32 ^ single(turned.re) ^ single(turned.im).rotate_left(7)
}

/// Crate `glam`: a point that is turned, moved and scaled.
fn vectors(i: u32) -> u64 {
    let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), i as f32 * 0.1);
    let place = Mat4::from_rotation_translation(turn, Vec3::new(0.5, -1.0, 4.0));
    let view = Mat4::from_scale(Vec3::new(1.0, 2.0, 0.5)) * place.inverse();
    let seen = view.transform_point3(Vec3::splat(i as f32));
    single(seen.x) ^ single(seen.y) << 16 ^ single(seen.z) << 32
}

/// Crate `half`.
fn halves(i: u32) -> u64 {
    let a = f16::from_f32(i as f32 * 0.3) * f16::from_f32(1.7) + f16::PI;
    let b = bf16::from_f64(f64::from(i) / 9.0) - bf16::ONE;
    u64::from(a.to_bits()) << 16 | u64::from(b.to_bits())
}

/// A generator whose numbers depend on a key and a count alone, so that each thread has
/// its own without storing anything.
struct Counter {
    key: u64,
    count: u64,
}

impl TryRng for Counter {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|word| (word >> 32) as u32)
    }

    /// The mixing function of SplitMix64.
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.count += 1;
        let mut word = self.key ^ self.count.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        Ok(word ^ word >> 31)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.try_next_u64()?.to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

/// Crate `rand_core`: normally distributed numbers by Box and Muller.
fn random_numbers(i: u32) -> u64 {
    fn normal(rng: &mut impl Rng) -> f64 {
        let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let (a, b) = (1.0 - uniform(), uniform());
        // Not `a.ln()`, which is `std`'s where the host has that.
        let length = GpuFloat::sqrt(-2.0 * GpuFloat::ln(a));
        length * GpuFloat::cos(core::f64::consts::TAU * b)
    }
    let mut rng = Counter {
        key: u64::from(i),
        count: 0,
    };
    let mut bytes = [0; 11];
    rng.fill_bytes(&mut bytes);
    normal(&mut rng).to_bits() ^ hash(&bytes)
}

/// Sorts without branches: merges from both ends.
fn sorted(i: u32) -> u64 {
    let mut all: [u32; 24] =
        core::array::from_fn(|k| (i + k as u32).wrapping_mul(0x9E37_79B1) >> 7);
    all.sort_unstable();
    all.iter()
        .fold(0, |hash, &one| hash.rotate_left(5) ^ u64::from(one))
}

/// Pointers that go back by one or stay, as merges from the back have them.
fn steps_back(i: u32) -> u64 {
    let (a, b) = ([i, 5, 9, 40], [2, 7, i % 16, 60]);
    let mut left = a.as_ptr().wrapping_add(3);
    let mut right = b.as_ptr().wrapping_add(3);
    let mut hash = 0;
    for _ in 0..3 {
        // SAFETY: both are within their arrays: one of them goes back by one each time.
        let (l, r) = unsafe { (*left, *right) };
        let is_left = l >= r;
        hash = hash * 64 + u64::from(if is_left { l } else { r });
        left = left.wrapping_sub(is_left as usize);
        right = right.wrapping_sub(!is_left as usize);
    }
    hash
}
