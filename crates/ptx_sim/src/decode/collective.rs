//! Shuffles, votes, matches, reductions.

use crate::ir::{Operand, Type};
use crate::program::{Collective, CollectiveKind, Op, Reduction, Shuffle, ShuffleMode};

use super::decoder::{Decoded, Decoder};
use super::opcode::Opcode;
use super::operand::one;

impl Decoder<'_> {
    /// `shfl.sync`, and `shfl` without a mask.
    pub fn shuffle(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let has_mask = op.take("sync");
        let mode = op
            .take_if(|part| {
                Some(match part {
                    "up" => ShuffleMode::Up,
                    "down" => ShuffleMode::Down,
                    "bfly" => ShuffleMode::Butterfly,
                    "idx" => ShuffleMode::Index,
                    _ => return None,
                })
            })
            .ok_or("no mode given")?;
        op.take_type();
        if !has_mask {
            return Err("shuffles without .sync are not supported".to_owned());
        }
        let [d, a, b, c, members] = operands else {
            return Err("shfl.sync takes five operands".to_owned());
        };
        let (d, in_range) = match d {
            Operand::Pair(d, p) => (&**d, Some(&**p)),
            d => (d, None),
        };
        let shuffle = Shuffle {
            mode,
            a: self.source(a, Type::B32)?,
            b: self.source(b, Type::B32)?,
            c: self.source(c, Type::B32)?,
            members: self.source(members, Type::B32)?,
            d: self.optional_destination(d, Type::B32)?,
            in_range: match in_range {
                Some(p) => self.optional_destination(p, Type::Pred)?,
                None => None,
            },
        };
        self.emit(Op::Shuffle(Box::new(shuffle)));
        Ok(())
    }

    /// `vote.sync`, `match.sync`, `redux.sync`, `activemask`, `elect.sync`
    pub fn collective(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        if op.name == "activemask" {
            op.take_type();
            let [d] = operands else {
                return Err("activemask takes one operand".to_owned());
            };
            let d = Some(self.destination(d, Type::B32)?);
            return self.collective_op(CollectiveKind::ActiveMask, d, None, None, 0, None);
        }
        if !op.take("sync") {
            return Err("without .sync this is not supported".to_owned());
        }
        let (d, rest) = operands.split_first().ok_or("operands are missing")?;
        let (d, p) = match d {
            Operand::Pair(d, p) => (&**d, Some(&**p)),
            d => (d, None),
        };
        match op.name {
            "vote" => self.vote(op, d, rest),
            "match" => self.match_values(op, d, p, rest),
            "redux" => self.reduce(op, d, rest),
            _ => self.elect(d, p, rest),
        }
    }

    /// `vote.sync`
    fn vote(&mut self, op: &mut Opcode<'_>, d: &Operand, rest: &[Operand]) -> Decoded<()> {
        let kind = op
            .take_if(|part| {
                Some(match part {
                    "all" => CollectiveKind::All,
                    "any" => CollectiveKind::Any,
                    "uni" => CollectiveKind::Uniform,
                    "ballot" => CollectiveKind::Ballot,
                    _ => return None,
                })
            })
            .ok_or("no mode given")?;
        let ty = op.ty()?;
        let [a, members] = rest else {
            return Err("vote takes three operands".to_owned());
        };
        let a = self.predicate(a)?;
        let members = self.source(members, Type::B32)?;
        let d = self.optional_destination(d, ty)?;
        self.collective_op(kind, d, None, Some(a.slot), a.flip, Some(members))
    }

    /// `match.sync`
    fn match_values(
        &mut self,
        op: &mut Opcode<'_>,
        d: &Operand,
        p: Option<&Operand>,
        rest: &[Operand],
    ) -> Decoded<()> {
        let is_all = op.take("all");
        op.take("any");
        let ty = op.ty()?;
        let [a, members] = rest else {
            return Err("match takes three operands".to_owned());
        };
        let a = self.source(a, ty)?;
        let members = self.source(members, Type::B32)?;
        let d = self.optional_destination(d, Type::B32)?;
        let p = match p {
            Some(p) => self.optional_destination(p, Type::Pred)?,
            None => None,
        };
        let bytes = ty.size_bytes();
        let kind = if is_all {
            CollectiveKind::MatchAll { bytes }
        } else {
            CollectiveKind::MatchAny { bytes }
        };
        self.collective_op(kind, d, p, Some(a), 0, Some(members))
    }

    /// `redux.sync`
    fn reduce(&mut self, op: &mut Opcode<'_>, d: &Operand, rest: &[Operand]) -> Decoded<()> {
        let signed = op.has("s32");
        let reduction = op
            .take_if(|part| {
                Some(match part {
                    "add" => Reduction::Add,
                    "min" if signed => Reduction::MinS,
                    "min" => Reduction::MinU,
                    "max" if signed => Reduction::MaxS,
                    "max" => Reduction::MaxU,
                    "and" => Reduction::And,
                    "or" => Reduction::Or,
                    "xor" => Reduction::Xor,
                    _ => return None,
                })
            })
            .ok_or("no operation given")?;
        let ty = op.ty()?;
        if !matches!(ty, Type::U32 | Type::S32 | Type::B32) {
            return Err(format!("redux on {ty} is not supported"));
        }
        let [a, members] = rest else {
            return Err("redux takes three operands".to_owned());
        };
        let a = self.source(a, ty)?;
        let members = self.source(members, Type::B32)?;
        let d = self.optional_destination(d, ty)?;
        let kind = CollectiveKind::Reduce(reduction);
        self.collective_op(kind, d, None, Some(a), 0, Some(members))
    }

    /// `elect.sync`
    fn elect(&mut self, d: &Operand, p: Option<&Operand>, rest: &[Operand]) -> Decoded<()> {
        let [members] = rest else {
            return Err("elect.sync takes two operands".to_owned());
        };
        let members = self.source(members, Type::B32)?;
        let d = self.optional_destination(d, Type::B32)?;
        let p = match p {
            Some(p) => self.optional_destination(p, Type::Pred)?,
            None => None,
        };
        self.collective_op(CollectiveKind::Elect, d, p, None, 0, Some(members))
    }

    /// `bar.warp.sync`
    pub fn converge(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        op.ignore(&["warp", "sync"]);
        let members = self.source(one(operands)?, Type::U32)?;
        self.collective_op(CollectiveKind::Converge, None, None, None, 0, Some(members))
    }

    fn collective_op(
        &mut self,
        kind: CollectiveKind,
        d: Option<u32>,
        p: Option<u32>,
        a: Option<u32>,
        flip: u32,
        members: Option<u32>,
    ) -> Decoded<()> {
        self.emit(Op::Collective(Box::new(Collective {
            kind,
            d,
            p,
            a,
            flip,
            members,
        })));
        Ok(())
    }
}
