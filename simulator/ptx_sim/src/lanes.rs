//! One operation on the 32 lanes of a warp.
//!
//! A register holds its 32 lane values side by side, so an arithmetic
//! instruction is a loop over two or three arrays that the compiler turns into
//! vector instructions. This file has one such loop for each *shape* of
//! instruction (one, two or three sources, comparison, selection); what a shape computes is
//! a closure without captures, chosen once when the program is decoded. On x86-64 every
//! shape exists twice, for AVX2 with FMA and, lane by lane, for processors without; the
//! choice is made when the program is decoded.
//!
//! Left out: everything that looks beyond its own lane (memory, shuffles).

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Lanes of a warp.
pub const WARP_SIZE: usize = 32;
/// The mask of a warp whose lanes are all active.
pub const FULL_MASK: u32 = u32::MAX;

/// The lanes of a mask, in order.
#[inline]
pub(crate) fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(lane)
    })
}

/// A lane-wise instruction: what to do, and the byte offsets of its operands
/// in the frame's registers.
#[derive(Clone, Copy)]
pub struct LaneOp {
    /// The loop that carries it out.
    pub run: LaneLoop,
    /// Destination.
    pub d: u32,
    /// First source.
    pub a: u32,
    /// Second source, if the shape has one.
    pub b: u32,
    /// Third source, if the shape has one.
    pub c: u32,
    /// Fourth source, or a constant that the shape hands to its closure.
    pub e: u32,
}

/// Carries out a [`LaneOp`] for the lanes of a mask.
///
/// # Safety
/// `frame` points to a register frame in which every operand offset that the
/// shape uses is in range, aligned, and wide enough for the shape's lane type
/// (its [`LaneFn::widths`]), and on which no reference is held.
pub type LaneLoop = unsafe fn(frame: *mut u8, op: &LaneOp, mask: u32);

/// A loop, and what its operands must be.
#[derive(Clone, Copy)]
pub struct LaneFn {
    /// The loop.
    pub run: LaneLoop,
    /// What it finds at the offsets of its operands.
    pub widths: Widths,
}

/// What lies at the offsets of a [`LaneOp`]'s operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widths {
    /// The destination.
    pub d: Width,
    /// The sources `a`, `b`, `c` and `e`, as far as the loop has them.
    pub sources: [Option<Width>; 4],
}

/// Bytes that one lane of a register takes; 0 for a predicate.
pub type Width = u32;

/// A predicate's [`Width`].
pub const PREDICATE: Width = 0;

/// A lane type's width.
const fn width_of<T: Lane>() -> Width {
    size_of::<T>() as Width
}

/// Sources of these widths.
fn widths<const N: usize>(d: Width, sources: [Width; N]) -> Widths {
    Widths {
        d,
        sources: std::array::from_fn(|i| sources.get(i).copied()),
    }
}

/// A type whose 32 values can make up a register.
///
/// # Safety
/// Plain data of 2, 4, 8 or 16 bytes, valid for every bit pattern, aligned to
/// at most 16 bytes.
pub unsafe trait Lane: Copy + Default + 'static {}

macro_rules! lanes_of {
    ($($t:ty),*) => {
        // SAFETY: Plain numbers, valid for every bit pattern.
        $(unsafe impl Lane for $t {})*
    };
}
lanes_of!(u16, i16, u32, i32, u64, i64, u128, f32, f64);

/// Recreates a closure without captures from its type alone.
struct Pure<F>(PhantomData<F>);

impl<F: Copy> Pure<F> {
    const STATELESS: () = assert!(size_of::<F>() == 0, "a lane closure captures nothing");

    /// The closure.
    ///
    /// # Safety
    /// A value of `F` has existed.
    #[inline(always)]
    unsafe fn get() -> F {
        const { Self::STATELESS };
        // SAFETY: `F` is zero-sized, `Copy` and inhabited (the caller's
        // promise), so any well-aligned pointer reads a value of it.
        unsafe { std::ptr::NonNull::<F>::dangling().read() }
    }
}

/// Whether every instruction is executed lane by lane and by itself: see [`run_plainly`].
static PLAIN: AtomicBool = AtomicBool::new(false);
/// Whether wide vectors can be used: not asked yet, no, yes.
static WIDE: AtomicU8 = AtomicU8::new(0);

/// Lets programs that are loaded from now on run plainly, or as usual: lane by lane, each
/// instruction by itself, without the vectors of the machine and without what is known of whole
/// rows. Results, counts and findings are the same; it takes several times as long. This is how
/// the simulator is tested against itself. The environment's `LOCKSTEP_SIM_PLAIN=1` does so from
/// the start.
pub fn run_plainly(plain: bool) {
    PLAIN.store(plain, Ordering::Relaxed);
    WIDE.store(u8::from(plain), Ordering::Relaxed);
}

/// Whether programs that are loaded now are to run plainly.
pub(crate) fn is_plain() -> bool {
    has_wide_vectors();
    PLAIN.load(Ordering::Relaxed)
}

/// Whether all lanes are there, and each names all.
#[inline(always)]
pub(crate) fn all_name_all(present: u32, members: &[u32; WARP_SIZE]) -> bool {
    present == FULL_MASK && members.iter().fold(FULL_MASK, |all, named| all & named) == FULL_MASK
}

/// Whether the wide versions of the lane loops can run here.
#[inline]
pub fn has_wide_vectors() -> bool {
    match WIDE.load(Ordering::Relaxed) {
        0 => ask(),
        known => known == 2,
    }
}

/// Asks the environment and the machine.
#[cold]
fn ask() -> bool {
    if std::env::var_os("LOCKSTEP_SIM_PLAIN").is_some_and(|value| value != "0") {
        run_plainly(true);
        return false;
    }
    #[cfg(target_arch = "x86_64")]
    let has = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt");
    #[cfg(not(target_arch = "x86_64"))]
    let has = false;
    WIDE.store(1 + u8::from(has), Ordering::Relaxed);
    has
}

/// Declares a shape: a constructor that takes the closure and gives the loop, in the version that
/// suits this machine. In brackets are the sources, fields of [`LaneOp`], with their lane types;
/// `with e` hands the field `e` itself to the closure, a constant.
macro_rules! shape {
    ($(#[$doc:meta])* $name:ident<$($g:ident),*>($($arg:ty),*) -> $ret:ty,
     [$($source:ident: $lane:ident),*] $(with $constant:ident)?, $store:ident to $d:expr) => {
        $(#[$doc])*
        pub fn $name<$($g: Lane,)* F: Fn($($arg),*) -> $ret + Copy + 'static>(_: F) -> LaneFn {
            #[inline(always)]
            unsafe fn body<$($g: Lane,)* F: Fn($($arg),*) -> $ret + Copy, const WIDE: bool>(
                frame: *mut u8, op: &LaneOp, mask: u32,
            ) {
                // SAFETY: The caller's promise ([`LaneLoop`]); `F` was passed
                // to the constructor that made this function pointer.
                unsafe {
                    let f = Pure::<F>::get();
                    $(let $source = source::<$lane>(frame, op.$source);)*
                    $store::<$ret, WIDE>(
                        frame,
                        op.d,
                        mask,
                        #[inline(always)]
                        |l| f($($source[l],)* $(op.$constant)?),
                    );
                }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
            unsafe fn wide<$($g: Lane,)* F: Fn($($arg),*) -> $ret + Copy>(
                frame: *mut u8, op: &LaneOp, mask: u32,
            ) {
                // SAFETY: As above.
                unsafe { body::<$($g,)* F, true>(frame, op, mask) }
            }
            unsafe fn plain<$($g: Lane,)* F: Fn($($arg),*) -> $ret + Copy>(
                frame: *mut u8, op: &LaneOp, mask: u32,
            ) {
                // SAFETY: As above.
                unsafe { body::<$($g,)* F, false>(frame, op, mask) }
            }
            let widths = widths($d, [$(width_of::<$lane>()),*]);
            #[cfg(target_arch = "x86_64")]
            if has_wide_vectors() {
                return LaneFn { run: wide::<$($g,)* F>, widths };
            }
            LaneFn { run: plain::<$($g,)* F>, widths }
        }
    };
}

/// `d = c ? a : b`, where `c` is a predicate.
pub fn select<T: Lane>() -> LaneFn {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn wide<T: Lane>(frame: *mut u8, op: &LaneOp, mask: u32) {
        // SAFETY: The caller's promise ([`LaneLoop`]).
        unsafe { select_body::<T, true>(frame, op, mask) }
    }
    unsafe fn plain<T: Lane>(frame: *mut u8, op: &LaneOp, mask: u32) {
        // SAFETY: As above.
        unsafe { select_body::<T, false>(frame, op, mask) }
    }
    let lane = width_of::<T>();
    let widths = widths(lane, [lane, lane, PREDICATE]);
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        return LaneFn {
            run: wide::<T>,
            widths,
        };
    }
    LaneFn {
        run: plain::<T>,
        widths,
    }
}

shape!(
    /// `d = f(a)`.
    unary<A, D>(A) -> D, [a: A], store_lanes to width_of::<D>()
);
shape!(
    /// `d = f(a, b)`.
    binary<A, B, D>(A, B) -> D, [a: A, b: B], store_lanes to width_of::<D>()
);
shape!(
    /// `d = f(a, b, c)`.
    ternary<A, B, C, D>(A, B, C) -> D, [a: A, b: B, c: C], store_lanes to width_of::<D>()
);
shape!(
    /// `d = f(a, b, c, e)`.
    quaternary<A, B, C, E, D>(A, B, C, E) -> D, [a: A, b: B, c: C, e: E], store_lanes to width_of::<D>()
);
shape!(
    /// `d = f(a, constant)`.
    unary_with<A, D>(A, u32) -> D, [a: A] with e, store_lanes to width_of::<D>()
);
shape!(
    /// `d = f(a, b, constant)`.
    binary_with<A, B, D>(A, B, u32) -> D, [a: A, b: B] with e, store_lanes to width_of::<D>()
);
shape!(
    /// `d = f(a, b, c, constant)`.
    ternary_with<A, B, C, D>(A, B, C, u32) -> D, [a: A, b: B, c: C] with e, store_lanes to width_of::<D>()
);
shape!(
    /// Predicate `d = f(a)`.
    test<A>(A) -> bool, [a: A], store_truths to PREDICATE
);
shape!(
    /// Predicate `d = f(a, b)`.
    compare<A, B>(A, B) -> bool, [a: A, b: B], store_truths to PREDICATE
);

/// Whether a loop goes lane by lane, which takes a fraction of the time to compile: on x86-64 the
/// version for processors without AVX2, which are rare.
const fn is_small<const WIDE: bool>() -> bool {
    cfg!(target_arch = "x86_64") && !WIDE
}

/// The 32 lanes of an operand.
///
/// # Safety
/// As [`LaneLoop`].
#[inline(always)]
unsafe fn source<'f, T: Lane>(frame: *const u8, offset: u32) -> &'f [T; WARP_SIZE] {
    // SAFETY: The offset is in range and aligned (the caller's promise).
    unsafe { &*frame.add(offset as usize).cast() }
}

/// Writes the lanes of `mask`.
///
/// # Safety
/// As [`LaneLoop`].
#[inline(always)]
unsafe fn store_lanes<T: Lane, const WIDE: bool>(
    frame: *mut u8,
    offset: u32,
    mask: u32,
    value: impl Fn(usize) -> T,
) {
    if is_small::<WIDE>() {
        // SAFETY: As below.
        unsafe {
            let destination = frame.add(offset as usize).cast::<[T; WARP_SIZE]>();
            let mut result = *destination;
            for lane in lanes(mask) {
                result[lane] = value(lane);
            }
            *destination = result;
        }
        return;
    }
    let mut result = [T::default(); WARP_SIZE];
    // SAFETY: In range and aligned (the caller's promise); the references
    // that `value` reads through have ended when the result is written.
    unsafe {
        let destination = frame.add(offset as usize).cast::<[T; WARP_SIZE]>();
        if mask == FULL_MASK {
            for (lane, slot) in result.iter_mut().enumerate() {
                *slot = value(lane);
            }
        } else {
            let old = &*destination;
            for (lane, slot) in result.iter_mut().enumerate() {
                *slot = if mask >> lane & 1 != 0 {
                    value(lane)
                } else {
                    old[lane]
                };
            }
        }
        *destination = result;
    }
}

/// Packs the truth values of 32 lanes, or at least those of `mask`, lane 0 in the lowest bit.
#[inline(always)]
fn pack<const WIDE: bool>(mask: u32, value: impl Fn(usize) -> bool) -> u32 {
    if is_small::<WIDE>() {
        return lanes(mask).fold(0, |all, lane| all | u32::from(value(lane)) << lane);
    }
    let mut bytes = [0u8; WARP_SIZE];
    for (lane, byte) in bytes.iter_mut().enumerate() {
        *byte = if value(lane) { 0xFF } else { 0 };
    }
    pack_bytes(&bytes)
}

/// Bit `i` is the top bit of byte `i`.
#[inline(always)]
fn pack_bytes(bytes: &[u8; WARP_SIZE]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_loadu_si128, _mm_movemask_epi8};
        // SAFETY: SSE2 is part of x86-64; both loads lie within the array.
        unsafe {
            let low = _mm_movemask_epi8(_mm_loadu_si128(bytes.as_ptr().cast())) as u32;
            let high = _mm_movemask_epi8(_mm_loadu_si128(bytes.as_ptr().add(16).cast())) as u32;
            low | high << 16
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        // The multiplication gathers the lowest bits of eight bytes.
        let mut mask = 0;
        for (i, chunk) in bytes.chunks_exact(8).enumerate() {
            let word = u64::from_le_bytes(chunk.try_into().expect("eight bytes"));
            let bits = (word & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            mask |= (bits as u32) << (8 * i);
        }
        mask
    }
}

/// Writes a predicate's lanes of `mask`.
///
/// # Safety
/// As [`LaneLoop`]; `offset` names a predicate.
#[inline(always)]
unsafe fn store_truths<T: Into<bool>, const WIDE: bool>(
    frame: *mut u8,
    offset: u32,
    mask: u32,
    value: impl Fn(usize) -> T,
) {
    let value = pack::<WIDE>(mask, |lane| value(lane).into());
    // SAFETY: In range and aligned (the caller's promise).
    unsafe {
        let destination = frame.add(offset as usize).cast::<u32>();
        *destination = (*destination & !mask) | (value & mask);
    }
}

#[inline(always)]
unsafe fn select_body<T: Lane, const WIDE: bool>(frame: *mut u8, op: &LaneOp, mask: u32) {
    // SAFETY: The caller's promises, passed on.
    unsafe {
        let (a, b) = (source::<T>(frame, op.a), source::<T>(frame, op.b));
        let chosen = frame.add(op.c as usize).cast::<u32>().read();
        store_lanes::<_, WIDE>(frame, op.d, mask, |l| {
            if chosen >> l & 1 != 0 { a[l] } else { b[l] }
        });
    }
}
