//! `wmma.load`, `wmma.store`, `wmma.mma`.

use crate::numeric::Rounding;
use crate::numeric::mma::{Accumulator, Factor};
use crate::numeric::tensor::{BitProduct, Integers};
use crate::program::{Fragment, MatrixOp, WmmaKind, WmmaMatrix, WmmaMove, WmmaMultiply, WmmaShape};
use ptx::ir::{Operand, Space, Type};

use super::decoder::{Decoded, Decoder};
use super::matrix::take_sync_aligned;
use super::modifiers::take_space;
use super::opcode::Opcode;
use super::operand::exactly;
use super::tensor::take_bit_product;

/// Takes a shape. Factors of fewer than 8 bits are counted in words of 32.
fn take_shape(op: &mut Opcode<'_>) -> Decoded<(WmmaShape, Kind)> {
    op.take_if(|part| {
        let (m, n, k, kind) = match part {
            "m16n16k16" => (16, 16, 16, Kind::Usual),
            "m32n8k16" => (32, 8, 16, Kind::Usual),
            "m8n32k16" => (8, 32, 16, Kind::Usual),
            "m16n16k8" => (16, 16, 8, Kind::Tf32),
            "m8n8k4" => (8, 8, 4, Kind::Double),
            "m8n8k32" => (8, 8, 4, Kind::Nibbles),
            "m8n8k128" => (8, 8, 4, Kind::Bits),
            _ => return None,
        };
        Some((WmmaShape { m, n, k }, kind))
    })
    .ok_or_else(|| "this shape is not supported".to_owned())
}

/// What a shape is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// 16-bit floats and bytes.
    Usual,
    Tf32,
    Double,
    Nibbles,
    Bits,
}

impl Kind {
    /// Whether a matrix of these may be of this type.
    fn allows(self, matrix: WmmaMatrix, ty: Element) -> bool {
        let is_sum = matrix == WmmaMatrix::Sum;
        match (self, ty) {
            (Self::Usual, Element::Type(Type::F16)) => true,
            (Self::Usual, Element::Type(Type::F32 | Type::S32)) => is_sum,
            (Self::Usual, Element::Type(Type::Bf16 | Type::S8 | Type::U8)) => !is_sum,
            (Self::Tf32, Element::Type(ty)) => ty == if is_sum { Type::F32 } else { Type::Tf32 },
            (Self::Double, Element::Type(ty)) => ty == Type::F64,
            (Self::Nibbles | Self::Bits, Element::Type(ty)) => is_sum && ty == Type::S32,
            (Self::Nibbles, Element::Nibble { .. }) | (Self::Bits, Element::Bit) => !is_sum,
            _ => false,
        }
    }
}

/// Type of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    Type(Type),
    Nibble { signed: bool },
    Bit,
}

impl Element {
    fn take(op: &mut Opcode<'_>) -> Option<Self> {
        op.take_if(|part| match part {
            "s4" => Some(Self::Nibble { signed: true }),
            "u4" => Some(Self::Nibble { signed: false }),
            "b1" => Some(Self::Bit),
            part => Type::from_name(part).map(Self::Type),
        })
    }

    /// Bytes of what is moved at a time: the element, or a word of them.
    fn bytes(self) -> usize {
        match self {
            Self::Type(ty) => ty.size_bytes() as usize,
            Self::Nibble { .. } | Self::Bit => 4,
        }
    }
}

impl Decoder<'_> {
    /// An instruction of the `wmma` family.
    pub fn wmma(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        if op.take("mma") {
            self.wmma_multiply(op, operands)
        } else if op.take("load") {
            self.wmma_move(op, operands, true)
        } else if op.take("store") {
            self.wmma_move(op, operands, false)
        } else {
            Err("the instruction is not known".to_owned())
        }
    }

    /// The registers of a matrix of this type.
    fn wmma_fragment(
        &mut self,
        operand: &Operand,
        (shape, kind): (WmmaShape, Kind),
        matrix: WmmaMatrix,
        element: Element,
        is_destination: bool,
    ) -> Decoded<Fragment> {
        if !kind.allows(matrix, element) {
            return Err("matrices of this type and shape are not supported".to_owned());
        }
        let (size, _) = shape.size(matrix);
        let element_bytes = element.bytes();
        let register = match element {
            Element::Type(Type::F64) => Type::F64,
            _ => Type::B32,
        };
        let n = match (element, matrix) {
            (Element::Type(Type::F16), WmmaMatrix::A | WmmaMatrix::B) => 8,
            _ => size * element_bytes / (32 * register.size_bytes() as usize),
        };
        Ok(Fragment {
            matrix,
            registers: if is_destination {
                self.destinations(operand, n, register)?
            } else {
                self.sources(operand, n, register)?
            },
            element_bytes,
        })
    }

    fn wmma_move(
        &mut self,
        op: &mut Opcode<'_>,
        operands: &[Operand],
        is_load: bool,
    ) -> Decoded<()> {
        let matrix = op
            .choose(&[
                ("a", WmmaMatrix::A),
                ("b", WmmaMatrix::B),
                ("c", WmmaMatrix::Sum),
                ("d", WmmaMatrix::Sum),
            ])
            .ok_or("no matrix named")?;
        self.take_wmma_sync(op)?;
        let by_column = if op.take("col") {
            true
        } else if op.take("row") {
            false
        } else {
            return Err("neither .row nor .col".to_owned());
        };
        let (shape, kind) = take_shape(op)?;
        let space = take_space(op)?;
        if !matches!(space, Space::Generic | Space::Global | Space::Shared) {
            return Err("matrices lie in global or shared memory".to_owned());
        }
        let element = Element::take(op).ok_or("no type given")?;
        let along = by_column == (matrix == WmmaMatrix::B);
        let stride_shift = match element {
            Element::Type(_) => 0,
            _ if !along => return Err("A must be row by row, B column by column".to_owned()),
            Element::Nibble { .. } => 3,
            Element::Bit => 5,
        };
        let (registers, address, stride) = match (operands, is_load) {
            ([registers, address, rest @ ..], true) | ([address, registers, rest @ ..], false) => {
                (registers, address, rest.first())
            }
            _ => return Err("it takes registers and an address".to_owned()),
        };
        let (address, space) = self.address(address, space)?;
        let op = WmmaMove {
            shape,
            fragment: self.wmma_fragment(registers, (shape, kind), matrix, element, is_load)?,
            space,
            address,
            stride: stride.map(|s| self.source(s, Type::U32)).transpose()?,
            stride_shift,
            along,
        };
        self.matrix(if is_load {
            MatrixOp::WmmaLoad(op)
        } else {
            MatrixOp::WmmaStore(op)
        });
        Ok(())
    }

    /// `.sync.aligned`; before PTX 6.3 `.aligned` is implied.
    fn take_wmma_sync(&self, op: &mut Opcode<'_>) -> Decoded<()> {
        if self.module.version < (6, 3) && !op.has("aligned") && op.take("sync") {
            return Ok(());
        }
        take_sync_aligned(op)
    }

    fn wmma_multiply(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let bits = take_bit_product(op);
        self.take_wmma_sync(op)?;
        for _ in 0..2 {
            if !op.take("row") && !op.take("col") {
                return Err("the layouts of A and B are missing".to_owned());
            }
        }
        let (shape, kind) = take_shape(op)?;
        let rounding = match kind {
            Kind::Double => op.take_if(Rounding::from_name).unwrap_or_default(),
            _ => Rounding::NearestEven,
        };
        let mut types = Vec::new();
        while let Some(ty) = Element::take(op) {
            types.push(ty);
        }
        let saturates = op.take("satfinite");
        let half = Element::Type(Type::F16);
        let types = match types[..] {
            [d, c] => [d, half, half, c],
            [d, a, b, c] => [d, a, b, c],
            _ => return Err("two types or four are needed".to_owned()),
        };
        let product = product(types, saturates, rounding, bits)?;
        let [d, a, b, c] = exactly(operands)?;
        let place = (shape, kind);
        let [d_type, a_type, b_type, c_type] = types;
        let op = WmmaMultiply {
            shape,
            kind: product,
            a: self.wmma_fragment(a, place, WmmaMatrix::A, a_type, false)?,
            b: self.wmma_fragment(b, place, WmmaMatrix::B, b_type, false)?,
            c: self.wmma_fragment(c, place, WmmaMatrix::Sum, c_type, false)?,
            d: self.wmma_fragment(d, place, WmmaMatrix::Sum, d_type, true)?,
        };
        self.matrix(MatrixOp::WmmaMultiply(op));
        Ok(())
    }
}

/// What is computed, by the types of D, A, B and C.
fn product(
    [d, a, b, c]: [Element; 4],
    saturates: bool,
    rounding: Rounding,
    bits: Option<BitProduct>,
) -> Decoded<WmmaKind> {
    let float = |element| match element {
        Element::Type(Type::F16) => Some(Accumulator::F16),
        Element::Type(Type::F32) => Some(Accumulator::F32),
        _ => None,
    };
    let are_words = [c, d] == [Element::Type(Type::S32); 2];
    let (wide, is_byte) = (Accumulator::F32, |ty| matches!(ty, Type::S8 | Type::U8));
    let kind = match (a, b, float(c), float(d)) {
        (Element::Type(a), Element::Type(b), Some(c), Some(d)) if a == b && !saturates => {
            let factor = match a {
                Type::F16 => Some(Factor::F16),
                Type::Bf16 if (c, d) == (wide, wide) => Some(Factor::Bf16),
                Type::Tf32 if (c, d) == (wide, wide) => Some(Factor::Tf32),
                _ => None,
            };
            factor.map(|factor| WmmaKind::Float { factor, c, d })
        }
        (Element::Type(a), Element::Type(b), ..) if is_byte(a) && is_byte(b) && are_words => {
            Some(WmmaKind::Bytes {
                a_signed: a == Type::S8,
                b_signed: b == Type::S8,
                saturates,
            })
        }
        (Element::Nibble { signed: a_signed }, Element::Nibble { signed: b_signed }, ..) => {
            Some(WmmaKind::Nibbles(Integers {
                n_bits: 4,
                a_signed,
                b_signed,
                saturates,
            }))
        }
        (Element::Bit, Element::Bit, ..) if !saturates => bits.map(WmmaKind::Bits),
        (Element::Type(Type::F64), Element::Type(Type::F64), ..) if !saturates => {
            Some(WmmaKind::Double(rounding))
        }
        _ => None,
    };
    let is_of_bits = matches!(kind, Some(WmmaKind::Bits(_)));
    kind.filter(|_| bits.is_some() == is_of_bits)
        .ok_or_else(|| "these types are not supported".to_owned())
}
