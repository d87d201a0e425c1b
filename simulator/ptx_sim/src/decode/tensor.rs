//! `mma` of other shapes and types than 16-bit floats in tiles of 16×8.

use crate::numeric::fp8::Small;
use crate::numeric::mma::Accumulator;
use crate::numeric::tensor::{BitProduct, Integers};
use crate::program::{MatrixOp, Slot, Tensor, TensorKind};
use ptx::ir::{Operand, Type};

use super::decoder::{Decoded, Decoder};
use super::matrix::take_sync_aligned;
use super::opcode::Opcode;
use super::operand::{elements, exactly};

/// Rows of A and D, and columns of A, which are rows of B; B has 8 columns.
type Shape = (usize, usize);

/// Factors of A and B, and the type of C and D.
struct Types {
    a: String,
    b: String,
    sums: (String, String),
}

impl Decoder<'_> {
    /// `mma`
    pub fn mma_of_any_kind(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        for (part, what) in [
            ("sp", "sparse matrices are"),
            ("sp::ordered_metadata", "sparse matrices are"),
            ("block_scale", "scaled matrices are"),
            ("kind::f8f6f4", "matrices of mixed small floats are"),
        ] {
            if op.has(part) {
                return Err(format!("{what} not supported"));
            }
        }
        let is_half = op.has("f16") || op.has("bf16");
        let is_usual = op.has("m16n8k8") || op.has("m16n8k16");
        let is_small = op.has("e4m3") || op.has("e5m2");
        if is_half && is_usual && !is_small {
            return self.mma(op, operands);
        }
        take_sync_aligned(op)?;
        let shape = op.take_if(shape).ok_or("this shape is not supported")?;
        let by_row = [take_layout(op)?, take_layout(op)?];
        let bits = take_bit_product(op);
        let saturates = op.take("satfinite");
        let types = take_types(op)?;
        let kind = kind(&types, saturates, by_row, shape, bits)?;
        if !matches!(kind, TensorKind::Quad { .. }) && by_row != [true, false] {
            return Err("A must be row by row, B column by column".to_owned());
        }
        self.tensor(kind, shape, operands)
    }

    fn tensor(&mut self, kind: TensorKind, (m, k): Shape, operands: &[Operand]) -> Decoded<()> {
        let [d, a, b, c] = exactly(operands)?;
        // Registers of a lane: for `p` factors in one, its share of A and B.
        let packed = match kind {
            TensorKind::Tf32 | TensorKind::Double => 1,
            TensorKind::Small { .. } => 4,
            TensorKind::Integers(integers) => 32 / integers.n_bits as usize,
            TensorKind::Bits(_) => 32,
            TensorKind::Quad { .. } => 2,
        };
        let (n_a, n_b) = match kind {
            TensorKind::Quad { .. } => (2, 2),
            _ => (m * k / (32 * packed), 8 * k / (32 * packed)),
        };
        let n_sums = |accumulator| match (kind, accumulator) {
            (TensorKind::Quad { .. }, Accumulator::F32) => 8,
            (TensorKind::Quad { .. }, Accumulator::F16) => 4,
            (_, Accumulator::F32) => m / 4,
            (_, Accumulator::F16) => m / 8,
        };
        let (n_c, n_d) = match kind {
            TensorKind::Quad { c, d, .. } => (n_sums(c), n_sums(d)),
            TensorKind::Small { accumulator, .. } => (n_sums(accumulator), n_sums(accumulator)),
            _ => (m / 4, m / 4),
        };
        let ty = match kind {
            TensorKind::Double => Type::F64,
            _ => Type::B32,
        };
        let op = Tensor {
            kind,
            m,
            a: self.sources(a, n_a, ty)?,
            b: self.sources(b, n_b, ty)?,
            c: self.sources(c, n_c, ty)?,
            d: self.destinations(d, n_d, ty)?,
        };
        self.matrix(MatrixOp::Tensor(op));
        Ok(())
    }

    /// `n` sources of a type.
    pub(super) fn sources(&mut self, operand: &Operand, n: usize, ty: Type) -> Decoded<Vec<Slot>> {
        let elements = elements(operand, n)?.iter();
        elements.map(|e| self.source(e, ty)).collect()
    }

    /// `n` destinations of a type.
    pub(super) fn destinations(
        &mut self,
        operand: &Operand,
        n: usize,
        ty: Type,
    ) -> Decoded<Vec<Slot>> {
        let elements = elements(operand, n)?.iter();
        elements.map(|e| self.destination(e, ty)).collect()
    }
}

fn shape(part: &str) -> Option<Shape> {
    let (m, k) = part.strip_prefix('m')?.split_once("n8k")?;
    Some((m.parse().ok()?, k.parse().ok()?))
}

/// Takes `.row` or `.col`; gives whether it was `.row`.
fn take_layout(op: &mut Opcode<'_>) -> Decoded<bool> {
    let layout = op.choose(&[("row", true), ("col", false)]);
    layout.ok_or_else(|| "the layouts of A and B are missing".to_owned())
}

/// Takes `.xor.popc` or `.and.popc`.
pub(super) fn take_bit_product(op: &mut Opcode<'_>) -> Option<BitProduct> {
    if !op.take("popc") {
        return None;
    }
    op.choose(&[("xor", BitProduct::Xor), ("and", BitProduct::And)])
}

/// Takes the types of D, A, B and C.
fn take_types(op: &mut Opcode<'_>) -> Decoded<Types> {
    const NAMES: [&str; 13] = [
        "f16", "bf16", "tf32", "f32", "f64", "s8", "u8", "s4", "u4", "b1", "s32", "e4m3", "e5m2",
    ];
    let mut next = || {
        let name = op.take_if(|part| NAMES.contains(&part).then(|| part.to_owned()));
        name.ok_or("four types are needed")
    };
    let d = next()?;
    let (a, b) = (next()?, next()?);
    let sums = (d, next()?);
    Ok(Types { a, b, sums })
}

fn accumulator(name: &str) -> Option<Accumulator> {
    match name {
        "f16" => Some(Accumulator::F16),
        "f32" => Some(Accumulator::F32),
        _ => None,
    }
}

/// An integer factor's bits, and whether it has a sign.
pub(super) fn integer_factor(name: &str) -> Option<(u32, bool)> {
    match name {
        "s8" => Some((8, true)),
        "u8" => Some((8, false)),
        "s4" => Some((4, true)),
        "u4" => Some((4, false)),
        _ => None,
    }
}

/// What the types and the shape stand for.
fn kind(
    types: &Types,
    saturates: bool,
    [a_by_row, b_by_row]: [bool; 2],
    shape: Shape,
    bits: Option<BitProduct>,
) -> Decoded<TensorKind> {
    let (a, b) = (&*types.a, &*types.b);
    let (d, c) = (&*types.sums.0, &*types.sums.1);
    let kind = match (integer_factor(a), integer_factor(b)) {
        (Some((n_bits, a_signed)), Some((b_bits, b_signed))) if n_bits == b_bits => {
            TensorKind::Integers(Integers {
                n_bits,
                a_signed,
                b_signed,
                saturates,
            })
        }
        _ => float_kind(types, [a_by_row, b_by_row], bits)?,
    };
    let fits = match kind {
        TensorKind::Tf32 => (d, c) == ("f32", "f32") && matches!(shape, (16, 4 | 8)),
        TensorKind::Double => {
            (d, c) == ("f64", "f64") && matches!(shape, (8, 4) | (16, 4 | 8 | 16))
        }
        TensorKind::Small { .. } => c == d && matches!(shape, (16, 16 | 32)),
        TensorKind::Quad { c, d, .. } => {
            shape == (8, 4) && (c, d) != (Accumulator::F32, Accumulator::F16)
        }
        TensorKind::Bits(_) => {
            (d, c) == ("s32", "s32") && matches!(shape, (8, 128) | (16, 128 | 256))
        }
        TensorKind::Integers(Integers { n_bits: 8, .. }) => {
            (d, c) == ("s32", "s32") && matches!(shape, (8, 16) | (16, 16 | 32))
        }
        TensorKind::Integers(_) => {
            (d, c) == ("s32", "s32") && matches!(shape, (8, 32) | (16, 32 | 64))
        }
    };
    let may_saturate = matches!(kind, TensorKind::Integers(_));
    if !fits || saturates && !may_saturate || bits.is_some() != matches!(kind, TensorKind::Bits(_))
    {
        return Err(format!(
            "the types .{d}.{a}.{b}.{c} are not supported in this shape"
        ));
    }
    Ok(kind)
}

/// What types other than those of integers stand for.
fn float_kind(
    types: &Types,
    [a_by_row, b_by_row]: [bool; 2],
    bits: Option<BitProduct>,
) -> Decoded<TensorKind> {
    let (a, b) = (&*types.a, &*types.b);
    let sums = (accumulator(&types.sums.1), accumulator(&types.sums.0));
    let small = |name: &str| Small::from_name(name);
    Ok(match (a, b, bits, sums) {
        ("tf32", "tf32", ..) => TensorKind::Tf32,
        ("f64", "f64", ..) => TensorKind::Double,
        ("b1", "b1", Some(bits), _) => TensorKind::Bits(bits),
        ("f16", "f16", _, (Some(c), Some(d))) => TensorKind::Quad {
            a_by_column: !a_by_row,
            b_by_row,
            c,
            d,
        },
        (_, _, _, (Some(accumulator), Some(_))) if small(a).is_some() && small(b).is_some() => {
            let (Some(a), Some(b)) = (small(a), small(b)) else {
                return Err("these types are not supported".to_owned());
            };
            TensorKind::Small { a, b, accumulator }
        }
        _ => {
            let (d, c) = &types.sums;
            return Err(format!("the types .{d}.{a}.{b}.{c} are not supported"));
        }
    })
}
