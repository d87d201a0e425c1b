//! `mbarrier` and `cp.async.mbarrier`.

use crate::lanes::unary;
use crate::program::{BarrierWord, Mbarrier, MbarrierKind, Op, Order, Scope};
use ptx::ir::{Operand, Type};

use super::decoder::{Decoded, Decoder};
use super::modifiers::{take_cluster, take_order, take_space};
use super::opcode::Opcode;
use super::operand::exactly;

impl Decoder<'_> {
    /// An instruction of the `mbarrier` family.
    pub fn mbarrier(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        // Without a scope, it applies to other blocks of the cluster too: compilers leave
        // it out.
        let (asked, scope) = match take_order(op) {
            (Order::Weak, scope) => (None, scope),
            (order, scope) => (Some(order), scope),
        };
        if op.has("pending_count") {
            op.ignore(&["pending_count", "noComplete", "b64"]);
            return self.pending_count(operands);
        }
        let (kind, order) = take_kind(op)?;
        let in_cluster = take_cluster(op);
        let space = take_space(op)?;
        let has_result = matches!(
            kind,
            MbarrierKind::Arrive { .. } | MbarrierKind::Wait { .. }
        ) && !matches!(operands.first(), Some(Operand::Address(_)));
        let (result, operands) = match operands {
            [first, rest @ ..] if has_result => (Some(first), rest),
            all => (None, all),
        };
        let [address, rest @ ..] = operands else {
            return Err("an address is missing".to_owned());
        };
        if in_cluster && !kind.may_be_remote() {
            return Err("it takes a barrier of the block itself: .shared::cta".to_owned());
        }
        if in_cluster && !matches!(result, None | Some(Operand::Sink)) {
            return Err("in .shared::cluster it returns no state: write `_`".to_owned());
        }
        let (address, space) = self.address_in(address, space, in_cluster)?;
        let operand_type = match kind {
            MbarrierKind::Wait {
                by_parity: false, ..
            } => Type::B64,
            _ => Type::U32,
        };
        let is_needed = !matches!(
            kind,
            MbarrierKind::Invalidate | MbarrierKind::Arrive { expects: false, .. }
        );
        let operand = match rest.first() {
            Some(operand) => Some(self.source(operand, operand_type)?),
            None if is_needed => return Err("an operand is missing".to_owned()),
            None => None,
        };
        let result_type = match kind {
            MbarrierKind::Wait { .. } => Type::Pred,
            _ => Type::B64,
        };
        let d = match result {
            Some(Operand::Sink) | None => None,
            Some(result) => Some(self.destination(result, result_type)?),
        };
        self.emit(Op::Mbarrier(Box::new(Mbarrier {
            kind,
            space,
            address,
            d,
            operand,
            order: asked.unwrap_or(order),
            scope,
            is_part: false,
        })));
        Ok(())
    }

    /// `cp.async.mbarrier.arrive`: copies that arrive.
    pub fn arrive_after_copies(
        &mut self,
        op: &mut Opcode<'_>,
        operands: &[Operand],
    ) -> Decoded<()> {
        op.ignore(&["arrive", "b64"]);
        let is_expected = op.take("noinc");
        let space = take_space(op)?;
        let [address] = operands else {
            return Err("it takes an address".to_owned());
        };
        let (address, space) = self.address(address, space)?;
        self.emit(Op::Mbarrier(Box::new(Mbarrier {
            kind: MbarrierKind::ArriveAfterCopies { is_expected },
            space,
            address,
            d: None,
            operand: None,
            order: Order::Release,
            scope: Scope::Device,
            is_part: false,
        })));
        Ok(())
    }

    /// `mbarrier.pending_count`: a number out of a state.
    fn pending_count(&mut self, operands: &[Operand]) -> Decoded<()> {
        let [d, state] = exactly(operands)?;
        let state = self.source(state, Type::B64)?;
        let d = self.destination(d, Type::U32)?;
        let run = unary(|state: u64| BarrierWord::unpack(state).to_come as u32);
        self.lanes(run, d, &[state]);
        Ok(())
    }
}

/// Takes what is done, with the order that it has if none is given.
fn take_kind(op: &mut Opcode<'_>) -> Decoded<(MbarrierKind, Order)> {
    let by_parity = op.take("parity");
    // Only a promise of the kernel's.
    op.ignore(&["noComplete", "b64"]);
    Ok(if op.take("init") {
        (MbarrierKind::Init, Order::Weak)
    } else if op.take("inval") {
        (MbarrierKind::Invalidate, Order::Weak)
    } else if op.has("arrive") || op.has("arrive_drop") {
        let drops = op.take("arrive_drop");
        op.ignore(&["arrive"]);
        let expects = op.take("expect_tx");
        (MbarrierKind::Arrive { drops, expects }, Order::Release)
    } else if op.has("expect_tx") || op.has("complete_tx") {
        let completes = op.take("complete_tx");
        op.ignore(&["expect_tx"]);
        (MbarrierKind::Expect { completes }, Order::Relaxed)
    } else if op.has("test_wait") || op.has("try_wait") {
        let may_sleep = op.take("try_wait");
        op.ignore(&["test_wait"]);
        let kind = MbarrierKind::Wait {
            by_parity,
            may_sleep,
        };
        (kind, Order::Acquire)
    } else {
        return Err("the instruction is not known".to_owned());
    })
}
