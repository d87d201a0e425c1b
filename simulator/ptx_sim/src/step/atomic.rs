//! `atom` and `red`.
//!
//! On global memory each lane's operation is a real atomic operation of the
//! host; lanes of one warp follow each other in lane order. Shared memory is
//! served by the same code. Ordering and scope are always the strongest: a
//! sequentially consistent, device-wide operation satisfies every weaker one.

use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};

use half::{bf16, f16};

use super::access::{Addresses, InCluster, Located, Request, by_block, locate};
use super::context::{PathView, Step};
use crate::checks::access::{AccessClass, WarpAccess};
use crate::checks::observer::Observer;
use crate::diagnostics::AccessKind;
use crate::lanes::{Lane, WARP_SIZE, lanes};
use crate::program::{Atomic, AtomicKind, AtomicType, BulkReduction};
use crate::stop::Stop;
use ptx::ir::Space;

/// Carries out an atomic instruction.
pub(super) fn atomic<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &Atomic,
    mask: u32,
) -> Result<(), Stop> {
    let mut addresses = Addresses::NONE;
    addresses.find(&step.view, &op.address, mask);
    let mut left = mask;
    while left != 0 {
        let (space, part) = addresses.resolve(op.space, left);
        if op.space == Space::Generic && space == Space::Shared && step.launch.has_ranks {
            let access = InCluster {
                addresses: &addresses,
                mask: part,
                kind: AccessKind::Atomic,
                bytes: op.bytes * op.value.len() as u32,
            };
            by_block(step, access, |step, addresses, mask| {
                atomic_in(step, op, Space::Shared, addresses, mask)
            })?;
        } else {
            atomic_in(step, op, space, &addresses, part)?;
        }
        left &= !part;
    }
    Ok(())
}

fn atomic_in<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &Atomic,
    space: Space,
    addresses: &Addresses,
    mask: u32,
) -> Result<(), Stop> {
    let stride = addresses.stride_for(mask);
    let addresses = &addresses.lanes;
    let n_elements = op.value.len();
    let request = Request {
        space,
        bytes: op.bytes * n_elements as u32,
        mask,
        kind: AccessKind::Atomic,
        addresses,
        stride,
    };
    let located = locate(step, request)?;
    let is_swap = is_swap(op.kind);
    if O::ON {
        let access = observed(step, op, &request, 0);
        match is_swap {
            // Which lanes write is only known afterwards.
            true => step.env.observer.may_write(&access),
            false => step.env.observer.access(step.number, &access),
        }
    }
    if !matches!(space, Space::Global | Space::Shared) {
        let reason = "atomic operations work on global and shared memory";
        return Err(Stop::unsupported("atom", reason));
    }
    // Does nothing else use the memory while this runs?
    let alone = step.launch.exclusive || space == Space::Shared;
    let words = Words {
        view: &step.view,
        op,
        located: &located,
        addresses,
        mask,
    };
    let Outcome { changes, failed } = match n_elements {
        1 if alone && matches!(op.bytes, 4 | 8) => words.one_after_the_other(),
        _ => words.atomically(),
    };
    if O::ON && is_swap {
        let access = observed(step, op, &request, failed);
        step.env.observer.access(step.number, &access);
    }
    // A reduction, whose result is not read, is not a wait.
    if changes || op.is_reduction && space == Space::Global {
        step.warp.has_effect();
    } else {
        step.poll(1);
    }
    Ok(())
}

/// The access as observers are notified of it; `failed` are lanes whose compare-and-swap
/// writes nothing.
fn observed<'a, O: Observer>(
    step: &Step<'_, '_, O>,
    op: &Atomic,
    request: &Request<'a>,
    failed: u32,
) -> WarpAccess<'a> {
    let class = match op.kind {
        AtomicKind::CompareAndSwap => AccessClass::CompareAndSwap,
        _ if op.is_increment && request.space == Space::Shared => AccessClass::Increment,
        _ if op.is_reduction => AccessClass::Reduction,
        _ => AccessClass::Atomic,
    };
    WarpAccess {
        order: op.order,
        scope: op.scope,
        overwrites: op.kind == AtomicKind::Exchange,
        failed,
        ..request.observed(step, class)
    }
}

/// What an instruction did.
#[derive(Clone, Copy)]
struct Outcome {
    /// Whether memory changed.
    changes: bool,
    /// Lanes whose compare-and-swap found something else.
    failed: u32,
}

/// The words in memory that an instruction works on.
struct Words<'a> {
    view: &'a PathView<'a>,
    op: &'a Atomic,
    located: &'a Located,
    addresses: &'a [u64; WARP_SIZE],
    mask: u32,
}

impl Words<'_> {
    /// Executes the instruction by atomic operations of the host.
    fn atomically(&self) -> Outcome {
        let Self { view, op, .. } = self;
        let is_swap = is_swap(op.kind);
        let (mut changes, mut failed) = (false, 0);
        for lane in lanes(self.mask) {
            for element in 0..op.value.len() {
                let host = self
                    .located
                    .host(self.addresses, lane)
                    .wrapping_add(element * op.bytes as usize);
                // SAFETY: `locate` found the lane's bytes, aligned for the whole
                // access; the decoder made the slots for lanes of `op.bytes`.
                unsafe {
                    if op.bytes == 16 {
                        let outcome = wide_atomic(view, op, host, lane);
                        changes |= outcome.changes;
                        failed |= outcome.failed;
                        continue;
                    }
                    let value = view.regs.get(op.value[element], op.bytes, lane);
                    let swap = op
                        .swap
                        .map_or(0, |slot| view.regs.get(slot, op.bytes, lane));
                    let change = |old: u64| new_value(op.kind, op.ty, op.bytes, old, value, swap);
                    let old = match op.bytes {
                        2 => {
                            let word = AtomicU16::from_ptr(host.cast());
                            u64::from(update(
                                |old| change(u64::from(old)) as u16,
                                |old, new| word.compare_exchange_weak(old, new, SeqCst, SeqCst),
                                word.load(SeqCst),
                            ))
                        }
                        4 => {
                            let word = AtomicU32::from_ptr(host.cast());
                            match (op.kind, op.ty) {
                                (AtomicKind::Add, AtomicType::Unsigned | AtomicType::Signed) => {
                                    u64::from(word.fetch_add(value as u32, SeqCst))
                                }
                                _ => u64::from(update(
                                    |old| change(u64::from(old)) as u32,
                                    |old, new| word.compare_exchange_weak(old, new, SeqCst, SeqCst),
                                    word.load(SeqCst),
                                )),
                            }
                        }
                        _ => {
                            let word = AtomicU64::from_ptr(host.cast());
                            update(
                                change,
                                |old, new| word.compare_exchange_weak(old, new, SeqCst, SeqCst),
                                word.load(SeqCst),
                            )
                        }
                    };
                    changes |= change(old) != old;
                    failed |= u32::from(is_swap && old != value) << lane;
                    if let Some(Some(slot)) = op.old.get(element) {
                        view.regs.set(*slot, op.bytes, lane, old);
                    }
                }
            }
        }
        Outcome { changes, failed }
    }

    /// The same where no other host thread may access the words, of 4 or 8 bytes
    /// and one per lane.
    fn one_after_the_other(&self) -> Outcome {
        use AtomicKind::{
            Add, And, CompareAndSwap, Decrement, Exchange, Increment, Max, Min, Or, Xor,
        };
        use AtomicType::{Bf16x2, F16x2, F32, F64, Signed, Unsigned};
        // One loop for each of these, in which kind and type are constants.
        macro_rules! loops {
            ($($word:ty, $bytes:literal: $($kind:ident $ty:ident),*;)*) => {
                match (self.op.bytes, self.op.kind, self.op.ty) {
                    $($(($bytes, $kind, $ty) => self.update_each::<{ is_swap($kind) }, _>(|old: $word, value, swap| {
                        new_value($kind, $ty, $bytes, old.into(), value.into(), swap.into()) as $word
                    }),)*)*
                    _ => self.atomically(),
                }
            };
        }
        loops! {
            u32, 4:
                Add Unsigned, Add Signed, Add F32, Add F16x2, Add Bf16x2, And Unsigned,
                Or Unsigned, Xor Unsigned, Exchange Unsigned, CompareAndSwap Unsigned,
                Increment Unsigned, Decrement Unsigned, Min Unsigned, Min Signed,
                Max Unsigned, Max Signed;
            u64, 8:
                Add Unsigned, Add Signed, Add F64, And Unsigned, Or Unsigned, Xor Unsigned,
                Exchange Unsigned, CompareAndSwap Unsigned, Min Unsigned, Min Signed,
                Max Unsigned, Max Signed;
        }
    }

    /// Replaces each lane's word by a function of it, of the lane's value and of
    /// its value to swap in.
    #[inline(always)]
    fn update_each<const SWAPS: bool, W: Lane + PartialEq>(
        &self,
        change: impl Fn(W, W, W) -> W,
    ) -> Outcome {
        let Self { view, op, .. } = self;
        let old_slot = op.old.first().copied().flatten();
        let (mut changes, mut failed) = (false, 0);
        for lane in lanes(self.mask) {
            let word = self.located.host(self.addresses, lane).cast::<W>();
            // SAFETY: `locate` found the lane's word, aligned, and no other host
            // thread accesses it; the decoder made the slots for such lanes, in
            // memory of their own.
            unsafe {
                let value = view.regs.lanes::<W>(op.value[0])[lane];
                let swap = op
                    .swap
                    .map_or(value, |slot| view.regs.lanes::<W>(slot)[lane]);
                let old = *word;
                let new = change(old, value, swap);
                *word = new;
                changes |= new != old;
                failed |= u32::from(SWAPS && old != value) << lane;
                if let Some(slot) = old_slot {
                    view.regs.lanes_mut::<W>(slot)[lane] = old;
                }
            }
        }
        Outcome { changes, failed }
    }
}

/// Whether an operation writes only where it finds what it expects.
const fn is_swap(kind: AtomicKind) -> bool {
    matches!(kind, AtomicKind::CompareAndSwap)
}

/// Replaces a word by a function of itself; gives the word it replaced.
fn update<T: Copy>(
    change: impl Fn(T) -> T,
    exchange: impl Fn(T, T) -> Result<T, T>,
    mut old: T,
) -> T {
    loop {
        match exchange(old, change(old)) {
            Ok(old) => return old,
            Err(seen) => old = seen,
        }
    }
}

/// Atomic operations on 16 bytes (`exch`, `cas`). The host has no portable one, so they
/// exclude each other by a lock.
///
/// # Safety
/// As in [`Words::atomically`].
unsafe fn wide_atomic(view: &PathView<'_>, op: &Atomic, host: *mut u8, lane: usize) -> Outcome {
    static LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _guard = LOCK
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    // SAFETY: The caller's promise.
    unsafe {
        let (low, high) = (
            AtomicU64::from_ptr(host.cast()),
            AtomicU64::from_ptr(host.add(8).cast()),
        );
        let old = u128::from(low.load(SeqCst)) | u128::from(high.load(SeqCst)) << 64;
        let value = view.regs.lanes::<u128>(op.value[0])[lane];
        let new = match (op.kind, op.swap) {
            (AtomicKind::CompareAndSwap, Some(slot)) if old == value => {
                view.regs.lanes::<u128>(slot)[lane]
            }
            (AtomicKind::CompareAndSwap, _) => old,
            _ => value,
        };
        low.store(new as u64, SeqCst);
        high.store((new >> 64) as u64, SeqCst);
        if let Some(Some(slot)) = op.old.first() {
            view.regs.lanes_mut::<u128>(*slot)[lane] = old;
        }
        Outcome {
            changes: new != old,
            failed: u32::from(is_swap(op.kind) && old != value) << lane,
        }
    }
}

/// Combines an element in memory, of 2, 4 or 8 bytes, with a value: what a bulk reduction
/// does.
///
/// # Safety
/// There is memory for the element, aligned, and others access it atomically only.
pub(super) unsafe fn update_element(host: *mut u8, op: BulkReduction, value: u64) {
    let change = |old: u64| reduced(op, old, value);
    // SAFETY: The caller's promise.
    unsafe {
        match op.bytes {
            2 => {
                let word = AtomicU16::from_ptr(host.cast());
                update(
                    |old| change(u64::from(old)) as u16,
                    |old, new| word.compare_exchange_weak(old, new, SeqCst, SeqCst),
                    word.load(SeqCst),
                );
            }
            4 => {
                let word = AtomicU32::from_ptr(host.cast());
                update(
                    |old| change(u64::from(old)) as u32,
                    |old, new| word.compare_exchange_weak(old, new, SeqCst, SeqCst),
                    word.load(SeqCst),
                );
            }
            _ => {
                let word = AtomicU64::from_ptr(host.cast());
                update(
                    change,
                    |old, new| word.compare_exchange_weak(old, new, SeqCst, SeqCst),
                    word.load(SeqCst),
                );
            }
        }
    }
}

/// What a bulk reduction leaves in memory: as observed on an H200, where an atomic may leave
/// any NaN or any zero.
fn reduced(op: BulkReduction, old: u64, value: u64) -> u64 {
    let is_half = matches!(op.ty, AtomicType::F16 | AtomicType::Bf16);
    if is_half && matches!(op.kind, AtomicKind::Min | AtomicKind::Max) {
        return half_extreme(op, old as u16, value as u16).into();
    }
    let new = new_value(op.kind, op.ty, op.bytes, old, value, 0);
    match op.ty {
        AtomicType::F16 if f16::from_bits(new as u16).is_nan() => 0x7FFF,
        AtomicType::Bf16 if bf16::from_bits(new as u16).is_nan() => 0x7FFF,
        AtomicType::F32 if f32::from_bits(new as u32).is_nan() => 0x7FFF_FFFF,
        AtomicType::F64 if f64::from_bits(value).is_nan() => value,
        AtomicType::F64 if f64::from_bits(old).is_nan() => old,
        _ => new,
    }
}

/// The lesser or the greater of two halves: a number before a NaN, and -0 below 0.
fn half_extreme(op: BulkReduction, old: u16, value: u16) -> u16 {
    let number = |bits: u16| match op.ty {
        AtomicType::F16 => f16::from_bits(bits).to_f32(),
        _ => bf16::from_bits(bits).to_f32(),
    };
    let (x, y) = (number(old), number(value));
    match (x.is_nan(), y.is_nan()) {
        (true, true) => 0x7FFF,
        (true, false) => value,
        (false, true) => old,
        (false, false) if (x.total_cmp(&y).is_lt()) == (op.kind == AtomicKind::Min) => old,
        (false, false) => value,
    }
}

/// What an atomic leaves in memory.
#[inline(always)]
fn new_value(kind: AtomicKind, ty: AtomicType, bytes: u32, old: u64, value: u64, swap: u64) -> u64 {
    let signed = |x: u64| match bytes {
        2 => i64::from(x as i16),
        4 => i64::from(x as i32),
        _ => x as i64,
    };
    let keep = match bytes {
        2 => 0xFFFF,
        4 => 0xFFFF_FFFF,
        _ => u64::MAX,
    };
    match (kind, ty) {
        (AtomicKind::And, _) => old & value,
        (AtomicKind::Or, _) => old | value,
        (AtomicKind::Xor, _) => old ^ value,
        (AtomicKind::Exchange, _) => value,
        (AtomicKind::CompareAndSwap, _) => {
            if old == value {
                swap
            } else {
                old
            }
        }
        (AtomicKind::Increment, _) => {
            if old >= value {
                0
            } else {
                old + 1
            }
        }
        (AtomicKind::Decrement, _) => {
            if old == 0 || old > value {
                value
            } else {
                old - 1
            }
        }
        (AtomicKind::Add | AtomicKind::Min | AtomicKind::Max, AtomicType::Signed)
        | (AtomicKind::Add, AtomicType::Unsigned) => match kind {
            AtomicKind::Add => old.wrapping_add(value) & keep,
            AtomicKind::Min => signed(old).min(signed(value)) as u64 & keep,
            _ => signed(old).max(signed(value)) as u64 & keep,
        },
        (AtomicKind::Min, AtomicType::Unsigned) => old.min(value),
        (AtomicKind::Max, AtomicType::Unsigned) => old.max(value),
        (_, AtomicType::F32) => {
            // `atom.add.f32` on global memory flushes subnormals; on the hardware that we
            // compare with (sm_90) it does not.
            let (x, y) = (f32::from_bits(old as u32), f32::from_bits(value as u32));
            u64::from((x + y).to_bits())
        }
        (_, AtomicType::F64) => (f64::from_bits(old) + f64::from_bits(value)).to_bits(),
        (_, AtomicType::F16) => u64::from(f16_op(kind, old as u16, value as u16)),
        (_, AtomicType::Bf16) => u64::from(bf16_op(kind, old as u16, value as u16)),
        (_, AtomicType::F16x2) => halves(old, value, |x, y| f16_op(kind, x, y)),
        (_, AtomicType::Bf16x2) => halves(old, value, |x, y| bf16_op(kind, x, y)),
    }
}

/// Applies a function to both 16-bit halves.
fn halves(old: u64, value: u64, f: impl Fn(u16, u16) -> u16) -> u64 {
    let low = f(old as u16, value as u16);
    let high = f((old >> 16) as u16, (value >> 16) as u16);
    u64::from(low) | u64::from(high) << 16
}

fn f16_op(kind: AtomicKind, x: u16, y: u16) -> u16 {
    let (x, y) = (f16::from_bits(x).to_f32(), f16::from_bits(y).to_f32());
    f16::from_f32(combine(kind, x, y)).to_bits()
}

fn bf16_op(kind: AtomicKind, x: u16, y: u16) -> u16 {
    let (x, y) = (bf16::from_bits(x).to_f32(), bf16::from_bits(y).to_f32());
    bf16::from_f32(combine(kind, x, y)).to_bits()
}

/// The sum of two 16-bit floats is correctly rounded when it is taken in f32
/// and rounded once more: f32 has more than twice their precision.
fn combine(kind: AtomicKind, x: f32, y: f32) -> f32 {
    match kind {
        AtomicKind::Min => x.min(y),
        AtomicKind::Max => x.max(y),
        _ => x + y,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increment_and_decrement_wrap_at_the_limit() {
        let inc = |old, value| {
            new_value(
                AtomicKind::Increment,
                AtomicType::Unsigned,
                4,
                old,
                value,
                0,
            )
        };
        assert_eq!([inc(0, 3), inc(2, 3), inc(3, 3), inc(9, 3)], [1, 3, 0, 0]);
        let dec = |old, value| {
            new_value(
                AtomicKind::Decrement,
                AtomicType::Unsigned,
                4,
                old,
                value,
                0,
            )
        };
        assert_eq!([dec(0, 3), dec(1, 3), dec(3, 3), dec(9, 3)], [3, 0, 2, 3]);
    }

    #[test]
    fn signed_minimum_is_signed() {
        let min = |old: i32, value: i32| {
            let (old, value) = (old as u32 as u64, value as u32 as u64);
            new_value(AtomicKind::Min, AtomicType::Signed, 4, old, value, 0) as u32 as i32
        };
        assert_eq!(min(-5, 3), -5);
        assert_eq!(min(7, -9), -9);
    }
}
