//! Video instructions: `vadd`, `vsub`, `vabsdiff`, `vmin`, `vmax`, `vshl`, `vshr`, `vmad`,
//! `vset`, and those on halves and bytes.
//!
//! Left out: negated sources of `vmad`, and halves and bytes in another than their natural
//! order (`vadd2 d, a.h32, b.h10`).

use crate::numeric::video::{Comparison, Operation, Part, Second, Video, WHOLE};
use crate::program::{Op, Slot, VideoOp};
use ptx::ir::{Operand, RegId, Type};

use super::decoder::{Decoded, Decoder};
use super::opcode::Opcode;

/// The operation of a video instruction, and on how many parts of a word.
fn operation(name: &str) -> Option<(Operation, u8)> {
    let (name, lanes) = match (name.strip_suffix('2'), name.strip_suffix('4')) {
        (Some(name), _) => (name, 2),
        (_, Some(name)) => (name, 4),
        _ => (name, 1),
    };
    let operation = match name {
        "vadd" => Operation::Add,
        "vsub" => Operation::Subtract,
        "vabsdiff" => Operation::AbsoluteDifference,
        "vmin" => Operation::Minimum,
        "vmax" => Operation::Maximum,
        "vset" => Operation::Compare,
        "vavrg" if lanes > 1 => Operation::Average,
        "vshl" if lanes == 1 => Operation::ShiftLeft,
        "vshr" if lanes == 1 => Operation::ShiftRight,
        "vmad" if lanes == 1 => Operation::MultiplyAdd,
        _ => return None,
    };
    Some((operation, lanes))
}

/// Whether this is the name of a video instruction.
pub(super) fn is_video(name: &str) -> bool {
    operation(name).is_some()
}

/// Takes `.u32` or `.s32`; gives whether it has a sign.
fn take_signed(op: &mut Opcode<'_>) -> Decoded<bool> {
    match op.ty()? {
        Type::S32 => Ok(true),
        Type::U32 => Ok(false),
        other => Err(format!("a video instruction does not work on {other}")),
    }
}

fn comparison(part: &str) -> Option<Comparison> {
    Some(match part {
        "eq" => Comparison::Equal,
        "ne" => Comparison::NotEqual,
        "lt" => Comparison::Less,
        "le" => Comparison::LessOrEqual,
        "gt" => Comparison::Greater,
        "ge" => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

impl Decoder<'_> {
    /// A video instruction.
    pub fn video(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let (operation, lanes) = operation(op.name).ok_or("the instruction is not known")?;
        let [d, sources @ ..] = operands else {
            return Err("operands are missing".to_owned());
        };
        let (d, to) = selected(d);
        let mut video = Video {
            operation,
            signed: [false; 3],
            saturates: op.take("sat"),
            parts: [to, WHOLE, WHOLE],
            second: Second::None,
            wraps: false,
            comparison: Comparison::Equal,
            scale: 0,
            plus_one: false,
            lanes,
        };
        if operation == Operation::Compare {
            let comparison = op.take_if(comparison).ok_or("no comparison given")?;
            video.comparison = comparison;
            video.signed = [false, take_signed(op)?, take_signed(op)?];
        } else {
            video.signed = [take_signed(op)?, take_signed(op)?, take_signed(op)?];
        }
        self.video_modifiers(op, &mut video)?;
        let (a, b, c) = match sources {
            [a, b] if lanes == 1 && to == WHOLE && video.second == Second::None => (a, b, None),
            [a, b, c] => (a, b, Some(c)),
            _ => return Err("the number of operands is wrong".to_owned()),
        };
        if operation == Operation::MultiplyAdd && (c.is_none() || to != WHOLE) {
            return Err("vmad takes four operands, and gives a word".to_owned());
        }
        let (a, a_part) = self.video_source(a)?;
        let (b, b_part) = self.video_source(b)?;
        video.parts = [to, a_part, b_part];
        if lanes > 1 && video.parts != [WHOLE; 3] {
            return Err("parts in another order are not supported".to_owned());
        }
        let c = match c {
            Some(c) => self.source(c, Type::B32)?,
            None => self.frame.constant(0, 4),
        };
        let d = match d {
            Some(register) => self.destination(&Operand::Reg(register), Type::B32)?,
            None => self.destination(&operands[0], Type::B32)?,
        };
        self.emit(Op::Video(Box::new(VideoOp { video, d, a, b, c })));
        Ok(())
    }

    /// What follows the types.
    fn video_modifiers(&self, op: &mut Opcode<'_>, video: &mut Video) -> Decoded<()> {
        match video.operation {
            Operation::ShiftLeft | Operation::ShiftRight => {
                video.wraps = op.take("wrap");
                if !video.wraps && !op.take("clamp") {
                    return Err("a shift needs .clamp or .wrap".to_owned());
                }
                if video.signed[2] {
                    return Err("a shift's distance has no sign".to_owned());
                }
            }
            Operation::MultiplyAdd => {
                video.plus_one = op.take("po");
                video.scale = match (op.take("shr7"), op.take("shr15")) {
                    (false, false) => 0,
                    (true, false) => 7,
                    _ => 15,
                };
                return Ok(());
            }
            _ => {}
        }
        let second = op.choose(&[
            ("add", Second::Add),
            ("min", Second::Minimum),
            ("max", Second::Maximum),
        ]);
        video.second = second.unwrap_or(Second::None);
        let is_allowed = match video.second {
            Second::None => true,
            Second::Add => video.lanes == 1 || !video.saturates,
            Second::Minimum | Second::Maximum => video.lanes == 1,
        };
        if !is_allowed || video.second != Second::None && video.parts[0] != WHOLE {
            return Err("this second operation is not possible here".to_owned());
        }
        Ok(())
    }

    /// A source word, and which part of it counts.
    fn video_source(&mut self, operand: &Operand) -> Decoded<(Slot, Part)> {
        match selected(operand) {
            (Some(register), part) => Ok((self.source(&Operand::Reg(register), Type::B32)?, part)),
            (None, part) => Ok((self.source(operand, Type::B32)?, part)),
        }
    }
}

/// The register of an operand that is a part of one, and the part.
fn selected(operand: &Operand) -> (Option<RegId>, Part) {
    match operand {
        Operand::Component(register, part) => (Some(*register), *part),
        _ => (None, WHOLE),
    }
}
