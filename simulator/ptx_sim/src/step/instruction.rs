//! One instruction, by its kind.

use super::context::Step;
use super::{access, async_store, atomic, bulk, collective, lanewise, matrix, mbarrier, warpgroup};
use crate::checks::observer::Observer;
use crate::program::Op;
use crate::stop::Stop;
use crate::warp::IDLE_POLLS;

/// Carries out one instruction for the lanes of `mask`: in the loop, the most frequent
/// kinds.
#[inline(always)]
pub(super) fn carry_out_in_loop<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &Op,
    mask: u32,
) -> Result<(), Stop> {
    match op {
        Op::Lanes(op) => {
            // SAFETY: The decoder checked the operands against the frame's layout, and
            // no reference into it is held here.
            unsafe { (op.run)(step.view.regs.0, op, mask) };
            Ok(())
        }
        Op::Load(op) => access::load(step, op, mask),
        Op::Store(op) => access::store(step, op, mask),
        op => carry_out(step, op, mask),
    }
}

/// Carries out one instruction for the lanes of `mask`, in the version that suits this
/// machine.
#[inline(always)]
pub(super) fn carry_out<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &Op,
    mask: u32,
) -> Result<(), Stop> {
    #[cfg(target_arch = "x86_64")]
    if O::QUICK {
        // SAFETY: Such an observer is run only where there are wide vectors (`BlockRun::round`).
        return unsafe { carry_out_wide(step, op, mask) };
    }
    carry_out_plain(step, op, mask)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn carry_out_wide<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &Op,
    mask: u32,
) -> Result<(), Stop> {
    carry_out_any(step, op, mask)
}

#[inline(never)]
fn carry_out_plain<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &Op,
    mask: u32,
) -> Result<(), Stop> {
    carry_out_any(step, op, mask)
}

#[inline(always)]
fn carry_out_any<O: Observer>(step: &mut Step<'_, '_, O>, op: &Op, mask: u32) -> Result<(), Stop> {
    match op {
        Op::Lanes(op) => {
            // SAFETY: The decoder checked the operands against the frame.
            unsafe { (op.run)(step.view.regs.0, op, mask) };
            Ok(())
        }
        Op::Divide(op) => {
            lanewise::divide(step, op, mask);
            Ok(())
        }
        Op::Predicate(op) => {
            lanewise::combine(&step.view, *op, mask);
            Ok(())
        }
        Op::Video(op) => {
            lanewise::video(&step.view, op, mask);
            Ok(())
        }
        Op::Convert(op) => {
            lanewise::convert(&step.view, op, mask);
            Ok(())
        }
        Op::Transfer(op) => {
            lanewise::transfer(&step.view, op, mask);
            Ok(())
        }
        Op::Load(op) => access::load(step, op, mask),
        Op::LoadParts(op) => access::load_parts(step, op, mask),
        Op::Store(op) => access::store(step, op, mask),
        Op::Atomic(op) => atomic::atomic(step, op, mask),
        Op::Shuffle(op) => collective::shuffle(step, op, mask),
        Op::Collective(op) => collective::collective(step, op, mask),
        Op::Clock(op) => {
            lanewise::read_clock(step, *op, mask);
            Ok(())
        }
        Op::Fence(scope) => {
            if O::ON {
                let lanes = step.lanes(mask);
                step.env.observer.fence(lanes, *scope);
            }
            Ok(())
        }
        Op::ProxyFence => {
            if O::ON {
                let lanes = step.lanes(mask);
                step.env.observer.proxy_fence(lanes);
            }
            Ok(())
        }
        Op::Nothing => Ok(()),
        Op::Yield => {
            step.poll(IDLE_POLLS);
            Ok(())
        }
        Op::Matrix(op) => matrix::matrix(step, op, mask),
        Op::Mbarrier(op) => mbarrier::mbarrier(step, op, mask),
        Op::Bulk(op) => bulk::bulk(step, op, mask),
        Op::AsyncStore(op) => async_store::async_store(step, op, mask),
        Op::Warpgroup(op) => warpgroup::warpgroup(step, op, mask),
        Op::Unsupported(what) => Err(Stop::Unsupported(what.clone())),
    }
}
