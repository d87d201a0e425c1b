//! `cvt` between pairs of 8-bit floats (and of 6 and 4 bits) and other floats.

use crate::lanes::{binary_with, unary_with};
use crate::numeric::float::relu;
use crate::numeric::fp8::Small;
use crate::numeric::half::{F16, pack, unpack};
use crate::program::Slot;
use ptx::ir::{Operand, Type};

use super::decoder::{Decoded, Decoder};
use super::opcode::Opcode;

/// Whether a `cvt` is one of these.
pub(super) fn is_small(op: &Opcode<'_>) -> bool {
    ["e4m3x2", "e5m2x2", "e3m2x2", "e2m3x2", "e2m1x2"]
        .iter()
        .any(|name| op.has(name))
}

/// A pair's format, as a number that a lane-wise operation can carry.
fn small(part: &str) -> Option<Small> {
    Small::from_name(part.strip_suffix("x2")?)
}

/// Bits of a lane-wise operation's constant: the format, and whether it is `.relu`.
const RELU: u32 = 8;

const fn encoded(format: Small, relu: bool) -> u32 {
    let number = match format {
        Small::E4m3 => 0,
        Small::E5m2 => 1,
        Small::E3m2 => 2,
        Small::E2m3 => 3,
        Small::E2m1 => 4,
    };
    number | if relu { RELU } else { 0 }
}

const fn format_of(code: u32) -> Small {
    match code % RELU {
        0 => Small::E4m3,
        1 => Small::E5m2,
        2 => Small::E3m2,
        3 => Small::E2m3,
        _ => Small::E2m1,
    }
}

/// The pair in one register: `high` above `low`.
fn narrowed(high: f32, low: f32, code: u32) -> u16 {
    let (format, relu) = (format_of(code), code & RELU != 0);
    let width = format.n_bits().next_power_of_two();
    let of = |value| u16::from(format.from_f32(value, relu));
    of(high) << width | of(low)
}

fn widened(pair: u16, code: u32) -> u32 {
    let format = format_of(code);
    let width = format.n_bits().next_power_of_two();
    let keep = ((1 << format.n_bits()) - 1) as u8;
    let of = |bits: u16| F16(format.to_f16(bits as u8 & keep));
    let limited = |value| {
        if code & RELU != 0 { relu(value) } else { value }
    };
    pack(limited(of(pair)), limited(of(pair >> width)))
}

impl Decoder<'_> {
    /// `cvt` to or from a pair of small floats.
    pub(super) fn cvt_small(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        if !op.take("rn") {
            return Err("a conversion of these types needs .rn".to_owned());
        }
        let finite = op.take("satfinite");
        let relu = op.take("relu");
        let of_halves = op.take("f16x2");
        let from_singles = !of_halves && op.take("f32");
        let format = op.take_if(small).ok_or("no type given")?;
        let code = encoded(format, relu);
        // A pair of 4-bit floats is a byte.
        let bytes = if format == Small::E2m1 {
            Type::B8
        } else {
            Type::B16
        };
        match operands {
            [d, a, b] if from_singles && finite => {
                let (a, b) = (self.source(a, Type::F32)?, self.source(b, Type::F32)?);
                let d = self.destination(d, bytes)?;
                self.lanes_with(binary_with(narrowed), d, &[a, b], code);
            }
            [d, a] if of_halves && finite => {
                let a = self.source(a, Type::F16x2)?;
                let d = self.destination(d, bytes)?;
                self.narrow_halves(d, a, code);
            }
            [d, a] if of_halves => {
                let a = self.source(a, bytes)?;
                let d = self.destination(d, Type::F16x2)?;
                self.lanes_with(unary_with(widened), d, &[a], code);
            }
            _ if !finite => return Err("a conversion to these types needs .satfinite".to_owned()),
            _ => return Err("these operands are not supported".to_owned()),
        }
        Ok(())
    }

    fn narrow_halves(&mut self, d: Slot, a: Slot, code: u32) {
        let run = unary_with(|halves: u32, code| {
            let [low, high] = unpack::<F16>(halves);
            narrowed(high.to_f32(), low.to_f32(), code)
        });
        self.lanes_with(run, d, &[a], code);
    }
}
