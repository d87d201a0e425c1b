//! Atomic operations with scope and order spelled out.
//!
//! ```
//! # use cuda_std::atomic::{self, Device, Global, Relaxed};
//! # unsafe fn example(counter: *mut u32) { unsafe {
//! let place = atomic::add(counter, 1u32, Global, Device, Relaxed);
//! # } }
//! ```
//!
//! Each operation returns the previous value. The table lists what PTX has;
//! anything else does not compile:
//!
//! | operation | u32 | i32 | u64 | i64 | f32 | f64 | F16x2 | Bf16x2 |
//! |---|---|---|---|---|---|---|---|---|
//! | [`load`], [`store`], [`exch`], [`cas`] | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | [`add`], [`sub`] | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | [`min`], [`max`] | ✓ | ✓ | ✓ | ✓ | | | | |
//! | [`and`], [`or`], [`xor`] | ✓ | ✓ | ✓ | ✓ | | | | |
//! | [`inc`], [`dec`] | ✓ | | | | | | | |
//!
//! times the spaces [`Global`], [`Shared`] and [`Generic`], times the scopes [`Block`],
//! [`Device`] and [`System`], times the orders [`Relaxed`], [`Acquire`],
//! [`Release`] and [`AcqRel`] (of which a load has the first two, and a store the
//! first and third). `cas` compares bits, for floats as well. `sub` adds the
//! negated value; PTX has no subtraction. `add` of `Bf16x2` is an instruction
//! from sm_90 on, and a loop around `cas` before that. The two halves of an `F16x2`
//! or `Bf16x2` are each added atomically, but not both together.
//!
//! They are inline assembly, because LLVM's own atomics lose scope and order on
//! their way to PTX. The space is an argument because the instruction for it is
//! faster than the generic one, and a Rust pointer does not carry it.

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use crate::gpu_only;
use crate::vector::{Bf16x2, F16x2};

/// The space the address points to: [`Global`], [`Shared`] or [`Generic`].
pub trait Space: sealed::Space {}
/// The threads among which the operation is atomic and ordered: [`Block`],
/// [`Device`] or [`System`].
pub trait Scope: sealed::Scope {}
/// How the operation orders other accesses of its thread: [`Relaxed`],
/// [`Acquire`], [`Release`] or [`AcqRel`].
pub trait Order: sealed::Order {}
/// The orders of a [`load`]: [`Relaxed`] or [`Acquire`].
pub trait LoadOrder: Order {}
/// The orders of a [`store`]: [`Relaxed`] or [`Release`].
pub trait StoreOrder: Order {}
/// The orders of a [`fence`]: [`AcqRel`] or [`SeqCst`].
pub trait FenceOrder: sealed::FenceOrder {}

/// Numbers for the marker types, for `match`es that are resolved before code
/// generation.
mod sealed {
    pub const GLOBAL: u32 = 0;
    pub const SHARED: u32 = 1;
    pub const GENERIC: u32 = 2;

    pub const BLOCK: u32 = 0;
    pub const DEVICE: u32 = 1;
    pub const SYSTEM: u32 = 2;

    pub const RELAXED: u32 = 0;
    pub const ACQUIRE: u32 = 1;
    pub const RELEASE: u32 = 2;
    pub const ACQ_REL: u32 = 3;
    pub const SEQ_CST: u32 = 4;

    pub trait Space {
        const SPACE: u32;
    }
    pub trait Scope {
        const SCOPE: u32;
    }
    pub trait Order {
        const ORDER: u32;
    }
    pub trait FenceOrder {
        const FENCE_ORDER: u32;
    }
}

macro_rules! markers {
    ($($(#[$doc:meta])* $name:ident: $($trait:ident $($constant:ident = $value:ident)?),*;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        $(
            impl $trait for $name {}
            $(impl sealed::$trait for $name {
                const $constant: u32 = sealed::$value;
            })?
        )*
    )* };
}
markers! {
    /// Global memory.
    Global: Space SPACE = GLOBAL;
    /// The block's shared memory.
    Shared: Space SPACE = SHARED;
    /// Global or shared memory, which the instruction finds out: for pointers that may point to
    /// either.
    Generic: Space SPACE = GENERIC;
    /// The threads of the block (`.cta`).
    Block: Scope SCOPE = BLOCK;
    /// The threads of the device (`.gpu`).
    Device: Scope SCOPE = DEVICE;
    /// The threads of all devices, and the host's (`.sys`).
    System: Scope SCOPE = SYSTEM;
    /// Atomic, without ordering.
    Relaxed: Order ORDER = RELAXED, LoadOrder, StoreOrder;
    /// Later accesses stay after it.
    Acquire: Order ORDER = ACQUIRE, LoadOrder;
    /// Earlier accesses stay before it.
    Release: Order ORDER = RELEASE, StoreOrder;
    /// Both.
    AcqRel: Order ORDER = ACQ_REL, FenceOrder FENCE_ORDER = ACQ_REL;
    /// Both, and all threads agree on one order of all such fences.
    SeqCst: FenceOrder FENCE_ORDER = SEQ_CST;
}

// ---------------------------------------------------------------------------
// One instruction in all its spaces, scopes and orders
// ---------------------------------------------------------------------------

/// `match`es on the space, scope and order of the generic parameters `P`, `C`
/// and `O`, with the instruction `BEFORE.order.scope.space.AFTER` in each arm.
/// The parameters are known when code is generated: one arm is left.
#[cfg(target_arch = "nvptx64")]
macro_rules! in_every_way {
    ($before:literal, [$($order:literal $order_id:ident),*], $after:expr, $address:ident, $($operands:tt)*) => {
        in_every_way!(@spaces $before, [$($order $order_id),*], $after, $address, [$($operands)*])
    };
    (@spaces $before:literal, $orders:tt, $after:expr, $address:ident, $operands:tt) => {
        match P::SPACE {
            sealed::GLOBAL => in_every_way!(@scopes [".global" "cvta.to.global.u64"], $before, $orders, $after, $address, $operands),
            sealed::SHARED => in_every_way!(@scopes [".shared" "cvta.to.shared.u64"], $before, $orders, $after, $address, $operands),
            _ => in_every_way!(@scopes ["" "mov.b64"], $before, $orders, $after, $address, $operands),
        }
    };
    (@scopes $space:tt, $before:literal, $orders:tt, $after:expr, $address:ident, $operands:tt) => {
        match C::SCOPE {
            sealed::BLOCK => in_every_way!(@orders "cta", $space, $before, $orders, $after, $address, $operands),
            sealed::DEVICE => in_every_way!(@orders "gpu", $space, $before, $orders, $after, $address, $operands),
            _ => in_every_way!(@orders "sys", $space, $before, $orders, $after, $address, $operands),
        }
    };
    (@orders $scope:literal, $space:tt, $before:literal, [$($order:literal $order_id:ident),*],
     $after:expr, $address:ident, $operands:tt) => {
        match O::ORDER {
            $(sealed::$order_id => in_every_way!(@asm $order, $scope, $space, $before, $after, $address, $operands),)*
            // SAFETY: an order that this operation does not take has no marker type for it.
            _ => core::hint::unreachable_unchecked(),
        }
    };
    (@asm $order:literal, $scope:literal, [$space:literal $convert:literal], $before:literal, $after:expr, $address:ident,
     [$($operands:tt)*]) => {
        asm!(
            "{{",
            ".reg .b64 place;",
            concat!($convert, " place, {address};"),
            concat!($before, ".", $order, ".", $scope, $space, ".", $after),
            "}}",
            address = in(reg64) $address,
            $($operands)*
            options(nostack, preserves_flags)
        )
    };
}

/// An operation on one type: `atom.….OPERATION`.
macro_rules! operation {
    ($visibility:vis $name:ident of $type:ty: $operation:expr, $register:ident) => {
        #[gpu_only]
        #[inline(always)]
        $visibility unsafe fn $name<P: Space, C: Scope, O: Order>(address: *mut $type, value: $type) -> $type {
            let old;
            // SAFETY: by the public function's contract.
            unsafe {
                in_every_way!(
                    "atom", ["relaxed" RELAXED, "acquire" ACQUIRE, "release" RELEASE, "acq_rel" ACQ_REL],
                    concat!($operation, " {old}, [place], {value};"),
                    address, old = out($register) old, value = in($register) value,
                );
            }
            old
        }
    };
}

// ---------------------------------------------------------------------------
// Load, store, exchange, compare and swap: bits
// ---------------------------------------------------------------------------

/// A value of 32 or 64 bits that atomic operations can move.
#[diagnostic::on_unimplemented(
    message = "there are no atomic operations on `{Self}`",
    note = "PTX has them for u32, i32, u64, i64, f32, f64, F16x2 and Bf16x2"
)]
#[allow(missing_docs, clippy::missing_safety_doc)]
pub trait AtomicValue: Copy {
    #[doc(hidden)]
    unsafe fn load<P: Space, C: Scope, O: LoadOrder>(address: *const Self) -> Self;
    #[doc(hidden)]
    unsafe fn store<P: Space, C: Scope, O: StoreOrder>(address: *mut Self, value: Self);
    #[doc(hidden)]
    unsafe fn exch<P: Space, C: Scope, O: Order>(address: *mut Self, value: Self) -> Self;
    #[doc(hidden)]
    unsafe fn cas<P: Space, C: Scope, O: Order>(
        address: *mut Self,
        expected: Self,
        value: Self,
    ) -> Self;
}

macro_rules! atomic_bits {
    ($($type:ty: $bits:literal, $register:ident;)*) => { $(
        impl AtomicValue for $type {
            #[gpu_only]
            #[inline(always)]
            unsafe fn load<P: Space, C: Scope, O: LoadOrder>(address: *const Self) -> Self {
                let value;
                // SAFETY: by the public function's contract.
                unsafe {
                    in_every_way!(
                        "ld", ["relaxed" RELAXED, "acquire" ACQUIRE], concat!($bits, " {value}, [place];"),
                        address, value = out($register) value,
                    );
                }
                value
            }

            #[gpu_only]
            #[inline(always)]
            unsafe fn store<P: Space, C: Scope, O: StoreOrder>(address: *mut Self, value: Self) {
                // SAFETY: by the public function's contract.
                unsafe {
                    in_every_way!(
                        "st", ["relaxed" RELAXED, "release" RELEASE], concat!($bits, " [place], {value};"),
                        address, value = in($register) value,
                    );
                }
            }

            operation!(exch of Self: concat!("exch.", $bits), $register);

            #[gpu_only]
            #[inline(always)]
            unsafe fn cas<P: Space, C: Scope, O: Order>(address: *mut Self, expected: Self, value: Self) -> Self {
                let old;
                // SAFETY: by the public function's contract.
                unsafe {
                    in_every_way!(
                        "atom", ["relaxed" RELAXED, "acquire" ACQUIRE, "release" RELEASE, "acq_rel" ACQ_REL],
                        concat!("cas.", $bits, " {old}, [place], {expected}, {value};"),
                        address, old = out($register) old, expected = in($register) expected,
                        value = in($register) value,
                    );
                }
                old
            }
        }
    )* };
}
atomic_bits! {
    u32: "b32", reg32;
    i32: "b32", reg32;
    f32: "b32", reg32;
    u64: "b64", reg64;
    i64: "b64", reg64;
    f64: "b64", reg64;
}

macro_rules! atomic_bits_packed {
    ($($type:ident),*) => { $(
        impl AtomicValue for $type {
            #[inline(always)]
            unsafe fn load<P: Space, C: Scope, O: LoadOrder>(address: *const Self) -> Self {
                // SAFETY: by the public function's contract, as all below.
                Self::from_bits(unsafe { u32::load::<P, C, O>(address.cast()) })
            }
            #[inline(always)]
            unsafe fn store<P: Space, C: Scope, O: StoreOrder>(address: *mut Self, value: Self) {
                // SAFETY: as above.
                unsafe { u32::store::<P, C, O>(address.cast(), value.to_bits()) }
            }
            #[inline(always)]
            unsafe fn exch<P: Space, C: Scope, O: Order>(address: *mut Self, value: Self) -> Self {
                // SAFETY: as above.
                Self::from_bits(unsafe { u32::exch::<P, C, O>(address.cast(), value.to_bits()) })
            }
            #[inline(always)]
            unsafe fn cas<P: Space, C: Scope, O: Order>(address: *mut Self, expected: Self, value: Self) -> Self {
                let (expected, value) = (expected.to_bits(), value.to_bits());
                // SAFETY: as above.
                Self::from_bits(unsafe { u32::cas::<P, C, O>(address.cast(), expected, value) })
            }
        }
    )* };
}
atomic_bits_packed!(F16x2, Bf16x2);

// ---------------------------------------------------------------------------
// Arithmetic
// ---------------------------------------------------------------------------

/// A value that [`add`] and [`sub`] take.
#[diagnostic::on_unimplemented(message = "there is no atomic addition of `{Self}`")]
#[allow(missing_docs, clippy::missing_safety_doc)]
pub trait AtomicAdd: AtomicValue {
    #[doc(hidden)]
    unsafe fn add<P: Space, C: Scope, O: Order>(address: *mut Self, value: Self) -> Self;
    #[doc(hidden)]
    fn negated(self) -> Self;
}

macro_rules! atomic_add {
    ($($type:ty: $operation:literal, $register:ident, |$value:ident| $negated:expr;)*) => { $(
        impl AtomicAdd for $type {
            operation!(add of Self: $operation, $register);
            #[inline(always)]
            fn negated(self) -> Self {
                let $value = self;
                $negated
            }
        }
    )* };
}
atomic_add! {
    u32: "add.u32", reg32, |value| value.wrapping_neg();
    i32: "add.s32", reg32, |value| value.wrapping_neg();
    u64: "add.u64", reg64, |value| value.wrapping_neg();
    // PTX has no add.s64; the bits of a wrapping sum are the same.
    i64: "add.u64", reg64, |value| value.wrapping_neg();
    f32: "add.f32", reg32, |value| -value;
    f64: "add.f64", reg64, |value| -value;
}

/// [`AtomicAdd`] for packed halves, on their bits.
mod packed {
    #[allow(clippy::wildcard_imports)]
    use super::*;

    operation!(pub add_f16x2 of u32: "add.noftz.f16x2", reg32);

    #[cfg(all(target_arch = "nvptx64", target_feature = "sm_90"))]
    operation!(pub add_bf16x2 of u32: "add.noftz.bf16x2", reg32);

    /// Before sm_90: a CAS loop, which adds in registers.
    #[cfg(not(all(target_arch = "nvptx64", target_feature = "sm_90")))]
    #[gpu_only]
    #[inline(always)]
    pub unsafe fn add_bf16x2<P: Space, C: Scope, O: Order>(address: *mut u32, value: u32) -> u32 {
        use crate::convert::GpuHalf;

        let value = Bf16x2::from_bits(value);
        // SAFETY: by the public function's contract, here and below.
        let mut found = unsafe { u32::load::<P, C, Relaxed>(address) };
        loop {
            let Bf16x2 { x, y } = Bf16x2::from_bits(found);
            // An f32 has more than twice the digits of a bf16, so rounding twice gives
            // the same as rounding once.
            let sum = Bf16x2::new(
                half::bf16::narrow(x.widen() + value.x.widen()),
                half::bf16::narrow(y.widen() + value.y.widen()),
            );
            // SAFETY: as above.
            let old = unsafe { u32::cas::<P, C, O>(address, found, sum.to_bits()) };
            if old == found {
                return old;
            }
            found = old;
        }
    }
}

macro_rules! atomic_add_packed {
    ($($type:ident: $add:ident;)*) => { $(
        impl AtomicAdd for $type {
            #[inline(always)]
            unsafe fn add<P: Space, C: Scope, O: Order>(address: *mut Self, value: Self) -> Self {
                // SAFETY: by the public function's contract.
                Self::from_bits(unsafe { packed::$add::<P, C, O>(address.cast(), value.to_bits()) })
            }
            #[inline(always)]
            fn negated(self) -> Self {
                const SIGNS_OF_BOTH: u32 = 0x8000_8000;
                Self::from_bits(self.to_bits() ^ SIGNS_OF_BOTH)
            }
        }
    )* };
}
atomic_add_packed! {
    F16x2: add_f16x2;
    Bf16x2: add_bf16x2;
}

/// An integer that [`min`], [`max`], [`and`], [`or`] and [`xor`] take.
#[diagnostic::on_unimplemented(
    message = "there is no atomic min, max, and, or, xor of `{Self}`",
    note = "PTX has them for u32, i32, u64 and i64; for floats, build them around `atomic::cas`"
)]
#[allow(missing_docs, clippy::missing_safety_doc)]
pub trait AtomicInteger: AtomicAdd {
    #[doc(hidden)]
    unsafe fn min<P: Space, C: Scope, O: Order>(address: *mut Self, value: Self) -> Self;
    #[doc(hidden)]
    unsafe fn max<P: Space, C: Scope, O: Order>(address: *mut Self, value: Self) -> Self;
    #[doc(hidden)]
    unsafe fn and<P: Space, C: Scope, O: Order>(address: *mut Self, value: Self) -> Self;
    #[doc(hidden)]
    unsafe fn or<P: Space, C: Scope, O: Order>(address: *mut Self, value: Self) -> Self;
    #[doc(hidden)]
    unsafe fn xor<P: Space, C: Scope, O: Order>(address: *mut Self, value: Self) -> Self;
}

macro_rules! atomic_integer {
    ($($type:ty: $min:literal $max:literal $and:literal $or:literal $xor:literal, $register:ident;)*) => { $(
        impl AtomicInteger for $type {
            operation!(min of Self: $min, $register);
            operation!(max of Self: $max, $register);
            operation!(and of Self: $and, $register);
            operation!(or of Self: $or, $register);
            operation!(xor of Self: $xor, $register);
        }
    )* };
}
atomic_integer! {
    u32: "min.u32" "max.u32" "and.b32" "or.b32" "xor.b32", reg32;
    i32: "min.s32" "max.s32" "and.b32" "or.b32" "xor.b32", reg32;
    u64: "min.u64" "max.u64" "and.b64" "or.b64" "xor.b64", reg64;
    i64: "min.s64" "max.s64" "and.b64" "or.b64" "xor.b64", reg64;
}

/// An integer that [`inc`] and [`dec`] take: `u32`.
#[diagnostic::on_unimplemented(
    message = "PTX has atomic inc and dec only for u32, not for `{Self}`"
)]
#[allow(missing_docs, clippy::missing_safety_doc)]
pub trait AtomicCounter: AtomicInteger {
    #[doc(hidden)]
    unsafe fn inc<P: Space, C: Scope, O: Order>(address: *mut Self, value: Self) -> Self;
    #[doc(hidden)]
    unsafe fn dec<P: Space, C: Scope, O: Order>(address: *mut Self, value: Self) -> Self;
}

impl AtomicCounter for u32 {
    operation!(inc of Self: "inc.u32", reg32);
    operation!(dec of Self: "dec.u32", reg32);
}

// ---------------------------------------------------------------------------
// The interface for kernels
// ---------------------------------------------------------------------------

/// Loads `*address`.
///
/// # Safety
///
/// `address` is aligned, points to the given space, and is valid for reads and
/// writes.
#[inline(always)]
pub unsafe fn load<T: AtomicValue, P: Space, C: Scope, O: LoadOrder>(
    address: *const T,
    _: P,
    _: C,
    _: O,
) -> T {
    // SAFETY: by this function's own contract.
    unsafe { T::load::<P, C, O>(address) }
}

/// Stores `value` to `*address`.
///
/// # Safety
///
/// As [`load`].
#[inline(always)]
pub unsafe fn store<T: AtomicValue, P: Space, C: Scope, O: StoreOrder>(
    address: *mut T,
    value: T,
    _: P,
    _: C,
    _: O,
) {
    // SAFETY: by this function's own contract.
    unsafe { T::store::<P, C, O>(address, value) }
}

/// Stores `value` if `*address` has the bits of `expected`. Returns the previous
/// value, which has those bits exactly if `value` was stored.
///
/// # Safety
///
/// As [`load`].
#[inline(always)]
pub unsafe fn cas<T: AtomicValue, P: Space, C: Scope, O: Order>(
    address: *mut T,
    expected: T,
    value: T,
    _: P,
    _: C,
    _: O,
) -> T {
    // SAFETY: by this function's own contract.
    unsafe { T::cas::<P, C, O>(address, expected, value) }
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident: $bound:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// As [`load`].
        #[inline(always)]
        pub unsafe fn $name<T: $bound, P: Space, C: Scope, O: Order>(
            address: *mut T,
            value: T,
            _: P,
            _: C,
            _: O,
        ) -> T {
            // SAFETY: by this function's own contract.
            unsafe { T::$name::<P, C, O>(address, value) }
        }
    )* };
}
operations! {
    /// Stores `value`, and returns the value from before.
    exch: AtomicValue;
    /// Adds `value` (integers wrap, floats round to nearest even), and returns
    /// the value from before.
    add: AtomicAdd;
    /// Stores the smaller of `value` and the value from before, and returns the
    /// latter.
    min: AtomicInteger;
    /// Stores the larger of `value` and the value from before, and returns the
    /// latter.
    max: AtomicInteger;
    /// Stores the bits that `value` and the value from before both have, and
    /// returns the latter.
    and: AtomicInteger;
    /// Stores the bits that `value` or the value from before has, and returns
    /// the latter.
    or: AtomicInteger;
    /// Stores the bits that one of `value` and the value from before has, and
    /// returns the latter.
    xor: AtomicInteger;
    /// Counts up from 0 to `value` and wraps around: stores
    /// `if old >= value { 0 } else { old + 1 }`, and returns `old`.
    inc: AtomicCounter;
    /// Counts down from `value` to 0 and wraps around: stores
    /// `if old == 0 || old > value { value } else { old - 1 }`, and returns `old`.
    dec: AtomicCounter;
}

/// Subtracts `value`, and returns the previous value.
///
/// # Safety
///
/// As [`load`].
#[inline(always)]
pub unsafe fn sub<T: AtomicAdd, P: Space, C: Scope, O: Order>(
    address: *mut T,
    value: T,
    _: P,
    _: C,
    _: O,
) -> T {
    // SAFETY: by this function's own contract.
    unsafe { T::add::<P, C, O>(address, value.negated()) }
}

/// A fence: orders this thread's accesses before and after it, as seen by the
/// threads of the scope.
#[gpu_only]
#[inline(always)]
pub fn fence<C: Scope, O: FenceOrder>(_: C, _: O) {
    macro_rules! fence {
        ($instruction:literal) => {
            // SAFETY: a fence touches no memory itself.
            unsafe { ptx!($instruction) }
        };
    }
    match (C::SCOPE, O::FENCE_ORDER) {
        (sealed::BLOCK, sealed::ACQ_REL) => fence!("fence.acq_rel.cta;"),
        (sealed::DEVICE, sealed::ACQ_REL) => fence!("fence.acq_rel.gpu;"),
        (sealed::SYSTEM, sealed::ACQ_REL) => fence!("fence.acq_rel.sys;"),
        (sealed::BLOCK, _) => fence!("fence.sc.cta;"),
        (sealed::DEVICE, _) => fence!("fence.sc.gpu;"),
        _ => fence!("fence.sc.sys;"),
    }
}
