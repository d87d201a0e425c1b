//! Products of tiles against the same sums computed one by one.

use crate::numeric::mma::{Accumulator, Factor, Model, dot, dot_of_two, unpack, unpack_word};
use crate::numeric::tile::{Blocks, Product, Register, add_blocks, multiply};

/// The element of the product at `row` and `column` by [`dot`].
fn expected(product: &Product<'_>, row: usize, column: usize) -> u32 {
    let half = |register: &Register, i: usize| (register[i / 2] >> (i % 2 * 16)) as u16;
    let k = 8 * product.b.len();
    let a: Vec<_> = (0..k)
        .map(|i| half(product.a[row / 8 + i / 8 * 2], row % 8 * 8 + i % 8))
        .collect();
    let b: Vec<_> = (0..k)
        .map(|i| half(product.b[i / 8], column * 8 + i % 8))
        .collect();
    let [a, b] =
        [a, b].map(|x| -> Vec<_> { x.into_iter().map(|x| unpack(product.factor, x)).collect() });
    let c: Vec<Register> = product.c.iter().map(|&&register| register).collect();
    let c = element(product.accumulator, &c, row, column);
    dot(
        product.model,
        product.factor,
        product.accumulator,
        &a,
        &b,
        c,
    )
}

/// An element of C or D.
fn element(accumulator: Accumulator, registers: &[Register], row: usize, column: usize) -> u32 {
    let lane = row % 8 * 4 + column / 2;
    match accumulator {
        Accumulator::F16 => registers[row / 8][lane] >> (column % 2 * 16) & 0xFFFF,
        Accumulator::F32 => registers[row / 8 * 2 + column % 2][lane],
    }
}

/// Random words: SplitMix64.
fn words() -> impl FnMut() -> u32 {
    let mut state = 7u64;
    move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = state;
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (x ^ x >> 31) as u32
    }
}

fn compare(factor: Factor, accumulator: Accumulator, kinds: &[Kind]) {
    let mut random = words();
    let n_sums = if accumulator == Accumulator::F32 {
        4
    } else {
        2
    };
    for &(name, factors, addends) in kinds {
        for (n_b, n_a) in [(1, 2), (2, 4)] {
            for _ in 0..150 {
                let mut registers = |n: usize, (keep, set): (u32, u32)| -> Vec<Register> {
                    (0..n)
                        .map(|_| std::array::from_fn(|_| random() & keep | set))
                        .collect()
                };
                let both = |(keep, set): (u16, u16)| {
                    (u32::from(keep) * 0x1_0001, u32::from(set) * 0x1_0001)
                };
                let a = registers(n_a, both(factors));
                let b = registers(n_b, both(factors));
                let c = registers(n_sums, addends);
                let [a, b, c] = [&a, &b, &c].map(|registers| registers.iter().collect::<Vec<_>>());
                let product = Product {
                    model: Model::HOPPER,
                    factor,
                    accumulator,
                    a: &a,
                    b: &b,
                    c: &c,
                };
                let mut d = vec![[0; 32]; n_sums];
                let is_known = multiply(&product, &mut d);
                assert_eq!(is_known, crate::has_wide_vectors());
                for (row, column) in (0..128).map(|i| (i / 8, i % 8)) {
                    let got = element(accumulator, &d, row, column);
                    let expected = expected(&product, row, column);
                    assert!(
                        !is_known || got == expected,
                        "{name}, row {row}, column {column}: {got:08x} for {expected:08x}"
                    );
                }
            }
        }
    }
}

/// A kind of number: its name, and which random bits of 16-bit factors and of 32-bit addends (of
/// which both halves may be a 16-bit one) are kept and set.
type Kind = (&'static str, (u16, u16), (u32, u32));

#[rustfmt::skip]
const F16_IN_F32: &[Kind] = &[
    ("any finite factors", (0xBBFF, 0), (0xBFFF_FFFF, 0x2000_0000)),
    ("large factors", (0xBFFF, 0x4000), (0xBFFF_FFFF, 0x2000_0000)),
    ("no addend", (0xFBFF & !0x4000, 0), (0, 0)),
    ("near one", (0x87FF, 0x3800), (0x80FF_FFFF, 0x3F00_0000)),
    ("subnormal and small", (0x87FF, 0), (0x80FF_FFFF, 0x3000_0000)),
    ("zeros", (0x8000, 0), (0x8000_0000, 0)),
    ("any bits", (0xFFFF, 0), (0xFFFF_FFFF, 0)),
    ("powers and infinity", (0xFC00, 0), (0xFF80_0000, 0)),
];

#[rustfmt::skip]
const F16_IN_F16: &[Kind] = &[
    ("any finite numbers", (0xBBFF, 0), (0xBBFF_BBFF, 0)),
    ("large factors", (0xBBFF, 0x4000), (0xBBFF_BBFF, 0x4000_4000)),
    ("near one", (0x87FF, 0x3800), (0x87FF_87FF, 0x3800_3800)),
    ("subnormal and small", (0x97FF, 0), (0x83FF_83FF, 0)),
    ("subnormal sums", (0x8FFF, 0), (0x83FF_83FF, 0)),
    ("zeros", (0x8000, 0), (0x8000_8000, 0)),
    ("any bits", (0xFFFF, 0), (0xFFFF_FFFF, 0)),
    ("powers and infinity", (0xFC00, 0), (0xFC00_FC00, 0)),
];

#[rustfmt::skip]
const BF16_IN_F32: &[Kind] = &[
    ("near one", (0x83FF, 0x3C00), (0x83FF_FFFF, 0x3C00_0000)),
    ("wide", (0x8FFF, 0x3000), (0x8FFF_FFFF, 0x3000_0000)),
    ("zeros", (0x8000, 0), (0x8000_0000, 0)),
    ("any finite numbers", (0xBFFF, 0), (0xBFFF_FFFF, 0)),
    ("large", (0xBF7F, 0x4000), (0xBF7F_FFFF, 0x4000_0000)),
    ("any bits", (0xFFFF, 0), (0xFFFF_FFFF, 0)),
    ("powers and infinity", (0x8780, 0x7800), (0xFF80_0000, 0)),
];

#[test]
fn products_of_16_bit_factors() {
    compare(Factor::F16, Accumulator::F32, F16_IN_F32);
    compare(Factor::F16, Accumulator::F16, F16_IN_F16);
    compare(Factor::Bf16, Accumulator::F32, BF16_IN_F32);
}

/// Random numbers of a type that are whole at some scale: few bits of a fraction, and
/// exponents that are few apart.
struct Few {
    fraction_bits: u32,
    exponent_bits: u32,
    /// The lowest exponent, as the type's bits have it, and how many there are.
    exponents: (u32, u32),
    /// The bits of the fraction that may be set.
    kept: u32,
    /// Whether nearly all are the largest of them.
    is_equal: bool,
}

impl Few {
    /// Exponents are mostly near that of one, where the limits of what is whole are; of small
    /// (0) and large (1) numbers, products and sums are near the least or the largest.
    fn new(
        random: &mut impl FnMut() -> u32,
        (exponent_bits, fraction_bits): (u32, u32),
        (size, is_sum): (u32, bool),
    ) -> Self {
        let bias = (1 << (exponent_bits - 1)) - 1;
        let n = random() % 9;
        let first = match (random() % 8, size) {
            (0, _) => random() % (2 * bias),
            (_, 0) if is_sum => 0,
            (_, 0) => random() % (bias / 2 + 8),
            (_, 1) if is_sum => 2 * bias - n,
            (_, 1) => bias + bias / 2 - random() % (bias / 4 + 1),
            _ => bias - n.min(bias),
        };
        let n_kept = random() % (fraction_bits + 1);
        Self {
            fraction_bits,
            exponent_bits,
            exponents: (first, n + 1),
            kept: ((1 << n_kept) - 1) << (fraction_bits - n_kept),
            is_equal: !is_sum && random().is_multiple_of(4),
        }
    }

    fn bits(&self, random: &mut impl FnMut() -> u32) -> u32 {
        let most = (1 << self.exponent_bits) - 1;
        let (first, n) = self.exponents;
        if self.is_equal && !random().is_multiple_of(64) {
            return (first + n - 1).min(most) << self.fraction_bits | self.kept;
        }
        let exponent = (first + random() % n).min(most);
        let sign = (random() % 2) << self.exponent_bits;
        let is_zero = random().is_multiple_of(8);
        let number = (sign | exponent) << self.fraction_bits | random() & self.kept;
        if is_zero {
            sign << self.fraction_bits
        } else {
            number
        }
    }

    /// A register of them, `n_bits` each.
    fn register(&self, random: &mut impl FnMut() -> u32, n_bits: u32) -> Register {
        let unused = 32_u32.min(n_bits) - 1 - self.exponent_bits - self.fraction_bits;
        let mut word = || {
            let numbers = (0..32).step_by(n_bits as usize);
            numbers.fold(0, |word, at| word | self.bits(random) << unused << at)
        };
        std::array::from_fn(|_| word())
    }
}

/// The types' widths of exponent and fraction.
const fn widths(factor: Factor) -> (u32, u32) {
    match factor {
        Factor::F16 => (5, 10),
        Factor::Bf16 => (8, 7),
        Factor::Tf32 => (8, 10),
        Factor::E4m3 => (4, 3),
        Factor::E5m2 => (5, 2),
    }
}

/// Whole numbers, with addends that are, or are nearly, and such that are too large.
fn compare_few(factors: (Factor, Factor), accumulator: Accumulator) {
    let random = &mut words();
    let n_bits = factors.0.n_bits();
    let model = if n_bits == 8 {
        Model::HOPPER_SMALL
    } else {
        Model::HOPPER
    };
    let (n_sums, sum, sum_bits) = match accumulator {
        Accumulator::F32 => (4, (8, 23), 32),
        Accumulator::F16 => (2, (5, 10), 16),
    };
    for _ in 0..1000 {
        let size = random() % 4;
        let few_a = Few::new(random, widths(factors.0), (size, false));
        let few_b = Few::new(random, widths(factors.1), (size, false));
        let mut few_c = Few::new(random, sum, (size, true));
        few_c.exponents.0 = (few_c.exponents.0 + random() % 60).saturating_sub(30);
        let a = [0; 4].map(|_| few_a.register(random, n_bits));
        let b = [0; 2].map(|_| few_b.register(random, n_bits));
        let mut c: Vec<Register> = (0..n_sums)
            .map(|_| few_c.register(random, sum_bits))
            .collect();
        if random().is_multiple_of(8) {
            c.fill([0; 32]);
        }
        let mut d = c.clone();
        let blocks = Blocks {
            model,
            factors,
            accumulator,
            a: &a,
            b: &[b],
        };
        let is_known = add_blocks(&blocks, &mut d);
        assert_eq!(is_known, crate::has_wide_vectors());
        if !is_known {
            continue;
        }
        let in_word = 32 / n_bits as usize;
        let at = |word: u32, i: usize| word >> (i % in_word * n_bits as usize);
        let line = |f, word: &dyn Fn((usize, usize)) -> u32| -> Vec<_> {
            (0..8 * in_word)
                .map(|i| (i, (i / in_word % 4, i / in_word / 4)))
                .map(|(i, place)| unpack_word(f, at(word(place), i)))
                .collect()
        };
        let rows: [Vec<_>; 16] = std::array::from_fn(|row| {
            line(factors.0, &|(lane, k)| {
                a[row / 8 + 2 * k][row % 8 * 4 + lane]
            })
        });
        let columns: [Vec<_>; 8] =
            std::array::from_fn(|column| line(factors.1, &|(lane, k)| b[k][column * 4 + lane]));
        for (row, column) in (0..128).map(|i| (i / 8, i % 8)) {
            let (a, b) = (&rows[row], &columns[column]);
            let [c, got] = [&c, &d].map(|sums| element(accumulator, sums, row, column));
            let expected = dot_of_two(model, factors, accumulator, a, b, c);
            assert_eq!(
                got, expected,
                "{factors:?} {accumulator:?} ({row}, {column}) + {c:#x}"
            );
        }
    }
}

#[test]
fn whole_numbers() {
    use Accumulator::{F16, F32};
    use Factor::{Bf16, E4m3, E5m2, Tf32};
    for (factors, accumulator) in [
        ((Factor::F16, Factor::F16), F32),
        ((Factor::F16, Factor::F16), F16),
        ((Bf16, Bf16), F32),
        ((Tf32, Tf32), F32),
        ((E4m3, E4m3), F32),
        ((E4m3, E5m2), F16),
        ((E5m2, E4m3), F32),
        ((E5m2, E5m2), F16),
    ] {
        compare_few(factors, accumulator);
    }
}

/// Products of 8-bit factors: the kind is given by the random bits kept of each byte and of
/// the addends.
fn compare_small(factors: (Factor, Factor), accumulator: Accumulator, kinds: &[(&str, u32, u32)]) {
    let n_sums = if accumulator == Accumulator::F32 {
        4
    } else {
        2
    };
    let mut random = words();
    for &(name, keep, keep_addend) in kinds {
        for round in 0..200 {
            // A mask of bytes each, so that some exponents are far apart.
            let keep = if round % 2 == 0 {
                keep
            } else {
                keep & 0xFFFF_9F9F
            };
            let mut register = |keep: u32| -> Register { std::array::from_fn(|_| random() & keep) };
            let a = [0; 4].map(|_| register(keep));
            let b = [0; 2].map(|_| [0; 2].map(|_| register(keep)));
            let c: Vec<Register> = (0..2 * n_sums).map(|_| register(keep_addend)).collect();
            let blocks = Blocks {
                model: Model::HOPPER_SMALL,
                factors,
                accumulator,
                a: &a,
                b: &b,
            };
            let mut d = c.clone();
            if !add_blocks(&blocks, &mut d) {
                assert!(!crate::has_wide_vectors());
                continue;
            }
            let byte = |register: &Register, i: usize| register[i / 4] >> (i % 4 * 8);
            let rows: [Vec<_>; 16] = std::array::from_fn(|row| {
                (0..32)
                    .map(|k| byte(&a[row / 8 + k / 16 * 2], row % 8 * 16 + k % 16))
                    .map(|bits| unpack_word(factors.0, bits))
                    .collect()
            });
            let columns: [Vec<_>; 16] = std::array::from_fn(|column| {
                (0..32)
                    .map(|k| byte(&b[column / 8][k / 16], column % 8 * 16 + k % 16))
                    .map(|bits| unpack_word(factors.1, bits))
                    .collect()
            });
            for (i, (row, column)) in (0..256).map(|i| (i, (i / 8 % 16, i % 8))) {
                let block = i / 128;
                let [c, d] = [&c, &d].map(|all| &all[block * n_sums..][..n_sums]);
                let [c, got] = [c, d].map(|sums| element(accumulator, sums, row, column));
                let (a, b) = (&rows[row], &columns[8 * block + column]);
                let expected = dot_of_two(Model::HOPPER_SMALL, factors, accumulator, a, b, c);
                assert_eq!(
                    got, expected,
                    "{factors:?} {name}, row {row}, column {column}: {got:08x} for {expected:08x}"
                );
            }
        }
    }
}

#[test]
fn small_factors() {
    use Factor::{E4m3, E5m2};
    for factors in [(E4m3, E4m3), (E4m3, E5m2), (E5m2, E4m3), (E5m2, E5m2)] {
        // Without this bit there is neither infinity nor NaN.
        let finite = 0xFBFB_FBFB;
        compare_small(
            factors,
            Accumulator::F32,
            &[
                ("any finite numbers", finite, 0xBFFF_FFFF),
                ("no addend", finite, 0),
                ("subnormal", 0x8787_8787, 0),
                ("zeros", 0x8080_8080, 0x8000_0000),
                ("any bits", !0, !0),
                ("powers and infinity", 0xFCFC_FCFC, 0xFF80_0000),
            ],
        );
        compare_small(
            factors,
            Accumulator::F16,
            &[
                ("any finite numbers", finite, 0xBBFF_BBFF),
                ("subnormal", 0x8787_8787, 0x83FF_83FF),
                ("zeros", 0x8080_8080, 0x8000_8000),
                ("any bits", !0, !0),
                ("powers and infinity", 0xFCFC_FCFC, 0xFF80_0000),
            ],
        );
    }
}
