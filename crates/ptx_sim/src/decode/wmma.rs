//! `wmma.load`, `wmma.store`, `wmma.mma`.

use crate::ir::{Operand, Space, Type};
use crate::numeric::mma::{Accumulator, Factor};
use crate::program::{Fragment, MatrixOp, WmmaKind, WmmaMatrix, WmmaMove, WmmaMultiply, WmmaShape};

use super::decoder::{Decoded, Decoder};
use super::matrix::take_sync_aligned;
use super::modifiers::take_space;
use super::opcode::Opcode;

fn take_shape(op: &mut Opcode<'_>) -> Decoded<WmmaShape> {
    op.take_if(|part| {
        let (m, n) = match part {
            "m16n16k16" => (16, 16),
            "m32n8k16" => (32, 8),
            "m8n32k16" => (8, 32),
            _ => return None,
        };
        Some(WmmaShape { m, n, k: 16 })
    })
    .ok_or_else(|| "of the shapes, those with k = 16 are supported".to_owned())
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
        shape: WmmaShape,
        matrix: WmmaMatrix,
        ty: Type,
        is_destination: bool,
    ) -> Decoded<Fragment> {
        let (size, _) = shape.size(matrix);
        let n = match (ty, matrix) {
            (Type::F16, WmmaMatrix::A | WmmaMatrix::B) => 8,
            (Type::Bf16 | Type::S8 | Type::U8, WmmaMatrix::A | WmmaMatrix::B)
            | (Type::F16 | Type::F32 | Type::S32, WmmaMatrix::Sum) => {
                size * ty.size_bytes() as usize / 128
            }
            _ => return Err(format!("matrices of {ty} are not supported")),
        };
        Ok(Fragment {
            matrix,
            registers: if is_destination {
                self.fragment_destination(operand, n)?
            } else {
                self.fragment(operand, n)?
            },
            element_bytes: ty.size_bytes() as usize,
        })
    }

    fn wmma_move(
        &mut self,
        op: &mut Opcode<'_>,
        operands: &[Operand],
        is_load: bool,
    ) -> Decoded<()> {
        let matrix = op
            .take_if(|part| match part {
                "a" => Some(WmmaMatrix::A),
                "b" => Some(WmmaMatrix::B),
                "c" | "d" => Some(WmmaMatrix::Sum),
                _ => None,
            })
            .ok_or("no matrix named")?;
        take_sync_aligned(op)?;
        let by_column = if op.take("col") {
            true
        } else if op.take("row") {
            false
        } else {
            return Err("neither .row nor .col".to_owned());
        };
        let shape = take_shape(op)?;
        let space = take_space(op)?;
        if !matches!(space, Space::Generic | Space::Global | Space::Shared) {
            return Err("matrices lie in global or shared memory".to_owned());
        }
        let ty = op.ty()?;
        let (registers, address, stride) = match (operands, is_load) {
            ([registers, address, rest @ ..], true) | ([address, registers, rest @ ..], false) => {
                (registers, address, rest.first())
            }
            _ => return Err("it takes registers and an address".to_owned()),
        };
        let (address, space) = self.address(address, space)?;
        let op = WmmaMove {
            shape,
            fragment: self.wmma_fragment(registers, shape, matrix, ty, is_load)?,
            space,
            address,
            stride: stride.map(|s| self.source(s, Type::U32)).transpose()?,
            along: by_column == (matrix == WmmaMatrix::B),
        };
        self.matrix(if is_load {
            MatrixOp::WmmaLoad(op)
        } else {
            MatrixOp::WmmaStore(op)
        });
        Ok(())
    }

    fn wmma_multiply(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        take_sync_aligned(op)?;
        for _ in 0..2 {
            if !op.take("row") && !op.take("col") {
                return Err("the layouts of A and B are missing".to_owned());
            }
        }
        let shape = take_shape(op)?;
        let mut types = Vec::new();
        while let Some(ty) = op.take_type() {
            types.push(ty);
        }
        let saturates = op.take("satfinite");
        let float = |ty| match ty {
            Type::F16 => Some(Accumulator::F16),
            Type::F32 => Some(Accumulator::F32),
            _ => None,
        };
        let (d_type, factor, c_type) = match types[..] {
            [d, c] => (d, [Type::F16; 2], c),
            [d, a, b, c] => (d, [a, b], c),
            _ => return Err("two types or four are needed".to_owned()),
        };
        let is_byte = |ty| matches!(ty, Type::S8 | Type::U8);
        let kind = match (factor, float(c_type), float(d_type)) {
            ([Type::F16, Type::F16], Some(c), Some(d)) if !saturates => WmmaKind::Float {
                factor: Factor::F16,
                c,
                d,
            },
            ([Type::Bf16, Type::Bf16], Some(c @ Accumulator::F32), Some(d @ Accumulator::F32)) => {
                WmmaKind::Float {
                    factor: Factor::Bf16,
                    c,
                    d,
                }
            }
            ([a, b], None, None)
                if is_byte(a) && is_byte(b) && [c_type, d_type] == [Type::S32; 2] =>
            {
                WmmaKind::Bytes {
                    a_signed: a == Type::S8,
                    b_signed: b == Type::S8,
                    saturates,
                }
            }
            _ => return Err("these types are not supported".to_owned()),
        };
        let [d, a, b, c] = operands else {
            return Err("it takes four operands".to_owned());
        };
        let op = WmmaMultiply {
            shape,
            kind,
            a: self.wmma_fragment(a, shape, WmmaMatrix::A, factor[0], false)?,
            b: self.wmma_fragment(b, shape, WmmaMatrix::B, factor[1], false)?,
            c: self.wmma_fragment(c, shape, WmmaMatrix::Sum, c_type, false)?,
            d: self.wmma_fragment(d, shape, WmmaMatrix::Sum, d_type, true)?,
        };
        self.matrix(MatrixOp::WmmaMultiply(op));
        Ok(())
    }
}
