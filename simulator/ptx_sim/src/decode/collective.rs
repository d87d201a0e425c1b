//! Shuffles, votes, matches, reductions.

use crate::program::{Collective, CollectiveKind, Op, Reduction, Shuffle, ShuffleMode, Slot};
use ptx::ir::{Operand, Type};

use super::decoder::{Decoded, Decoder};
use super::opcode::Opcode;
use super::operand::{exactly, one};

impl Decoder<'_> {
    /// `shfl.sync`, and `shfl` without a mask.
    pub fn shuffle(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let has_mask = op.take("sync");
        let mode = op
            .choose(&[
                ("up", ShuffleMode::Up),
                ("down", ShuffleMode::Down),
                ("bfly", ShuffleMode::Butterfly),
                ("idx", ShuffleMode::Index),
            ])
            .ok_or("no mode given")?;
        op.take_type();
        let ([d, a, b, c], members) = match operands {
            [d, a, b, c, members] if has_mask => ([d, a, b, c], Some(members)),
            [d, a, b, c] if !has_mask => ([d, a, b, c], None),
            _ if has_mask => return Err("shfl.sync takes five operands".to_owned()),
            _ => return Err("shfl without .sync takes four operands".to_owned()),
        };
        let members = match members {
            Some(members) => self.source(members, Type::B32)?,
            None => self.active_members("shfl")?,
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
            members,
            d: self.optional_destination(d, Type::B32)?,
            in_range: self.second_destination(in_range)?,
        };
        self.emit(Op::Shuffle(Box::new(shuffle)));
        Ok(())
    }

    /// `vote.sync`, `match.sync`, `redux.sync`, `activemask`, `elect.sync`
    pub fn collective(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        if op.name == "activemask" {
            op.take_type();
            let [d] = exactly(operands)?;
            let d = Some(self.destination(d, Type::B32)?);
            return self.collective_op(CollectiveKind::ActiveMask, d, None, None, 0, None);
        }
        let has_mask = op.take("sync");
        if !has_mask && op.name != "vote" {
            return Err(format!("there is no {} without .sync", op.name));
        }
        let (d, rest) = operands.split_first().ok_or("operands are missing")?;
        let (d, p) = match d {
            Operand::Pair(d, p) => (&**d, Some(&**p)),
            d => (d, None),
        };
        match op.name {
            "vote" => self.vote(op, d, rest, has_mask),
            "match" => self.match_values(op, d, p, rest),
            "redux" => self.reduce(op, d, rest),
            _ => self.elect(d, p, rest),
        }
    }

    /// Whether lanes may take part in an instruction without naming them, by being
    /// active: up to PTX 6.3, or before sm_70.
    fn check_without_sync(&self, name: &str) -> Decoded<()> {
        let digits = self.module.target.trim_start_matches("sm_");
        let digits = digits.trim_end_matches(|c: char| !c.is_ascii_digit());
        let is_old_target = digits.parse::<u32>().is_ok_and(|target| target < 70);
        if is_old_target || self.module.version < (6, 4) {
            return Ok(());
        }
        Err(format!(
            "{name} without .sync does not exist on sm_70 and later from PTX 6.4 on"
        ))
    }

    /// The active lanes as the members of an instruction without `.sync`.
    fn active_members(&mut self, name: &str) -> Decoded<Slot> {
        self.check_without_sync(name)?;
        let d = self.frame.temporary(4);
        self.collective_op(CollectiveKind::ActiveMask, Some(d), None, None, 0, None)?;
        Ok(d)
    }

    /// `vote.sync`, and `vote` without a mask.
    fn vote(
        &mut self,
        op: &mut Opcode<'_>,
        d: &Operand,
        rest: &[Operand],
        has_mask: bool,
    ) -> Decoded<()> {
        let kind = op
            .choose(&[
                ("all", CollectiveKind::All),
                ("any", CollectiveKind::Any),
                ("uni", CollectiveKind::Uniform),
                ("ballot", CollectiveKind::Ballot),
            ])
            .ok_or("no mode given")?;
        let ty = op.ty()?;
        let (a, members) = match rest {
            [a, members] if has_mask => (a, Some(members)),
            [a] if !has_mask => (a, None),
            _ if has_mask => return Err("vote.sync takes three operands".to_owned()),
            _ => return Err("vote without .sync takes two operands".to_owned()),
        };
        let a = self.predicate(a)?;
        let members = match members {
            Some(members) => Some(self.source(members, Type::B32)?),
            None => {
                self.check_without_sync("vote")?;
                None
            }
        };
        let d = self.optional_destination(d, ty)?;
        self.collective_op(kind, d, None, Some(a.slot), a.flip, members)
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
        let [a, members] = exactly(rest)?;
        let a = self.source(a, ty)?;
        let members = self.source(members, Type::B32)?;
        let d = self.optional_destination(d, Type::B32)?;
        let p = self.second_destination(p)?;
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
        let [a, members] = exactly(rest)?;
        let a = self.source(a, ty)?;
        let members = self.source(members, Type::B32)?;
        let d = self.optional_destination(d, ty)?;
        let kind = CollectiveKind::Reduce(reduction);
        self.collective_op(kind, d, None, Some(a), 0, Some(members))
    }

    /// `elect.sync`
    fn elect(&mut self, d: &Operand, p: Option<&Operand>, rest: &[Operand]) -> Decoded<()> {
        let [members] = exactly(rest)?;
        let members = self.source(members, Type::B32)?;
        let d = self.optional_destination(d, Type::B32)?;
        let p = self.second_destination(p)?;
        self.collective_op(CollectiveKind::Elect, d, p, None, 0, Some(members))
    }

    /// `bar.warp.sync`
    pub fn converge(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        op.ignore(&["warp", "sync"]);
        let members = self.source(one(operands)?, Type::U32)?;
        self.collective_op(CollectiveKind::Converge, None, None, None, 0, Some(members))
    }

    /// A predicate that is written besides the result, if it is wanted.
    fn second_destination(&mut self, p: Option<&Operand>) -> Decoded<Option<Slot>> {
        let p = p.map(|p| self.optional_destination(p, Type::Pred));
        Ok(p.transpose()?.flatten())
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
