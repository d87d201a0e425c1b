//! The epilogue: from the sums of a warpgroup to the result in memory.
//!
//! A thread's sums are spread over its tile in adjacent pairs. Stored directly, a warp writes
//! 16 bytes of eight rows at once, half a sector each: [`Direct`]. Through shared memory, whole
//! rows of 128 bytes are assembled, and TMA stores them while the threads go on:
//! [`TmaEpilogue`]. `stmatrix` writes sixteen rows of 16 bytes at once, without bank
//! conflicts thanks to the swizzle, which the tensor map undoes.

use core::marker::PhantomData;

use cuda_std::TensorMap;
use cuda_std::bulk;
use cuda_std::half::{bf16, f16};
use cuda_std::mma::stmatrix::x4_at;
use cuda_std::prelude::*;
use cuda_std::vector::{Bf16x2, F16x2, Float2};
use cuda_std::warpgroup;
use cuda_std::wgmma::{M, ROW_BYTES, WARPGROUP, position};

use super::Sizes;
use cuda_std::unrolled;

/// An element of a result.
pub trait Element: Copy {
    /// Stores two adjacent elements.
    ///
    /// # Safety
    ///
    /// `to` is aligned to both, and valid.
    unsafe fn store_pair(to: *mut Self, pair: [f32; 2]);
    /// The nearest element.
    fn narrow(value: f32) -> Self;
    /// As an `f32`; exact.
    fn widen(self) -> f32;
}

/// An element of 16 bits: two of them fill a register.
pub trait Half: Element {
    /// Both, the first in the lower bits.
    fn pack(pair: [f32; 2]) -> u32;
}

macro_rules! halves {
    ($($t:ident = $pair:ident;)*) => { $(
        impl Half for $t {
            #[inline(always)]
            fn pack([low, high]: [f32; 2]) -> u32 {
                $pair::narrow(low, high).to_bits()
            }
        }

        impl Element for $t {
            #[inline(always)]
            unsafe fn store_pair(to: *mut Self, pair: [f32; 2]) {
                *to.cast::<u32>() = Self::pack(pair);
            }
            #[inline(always)]
            fn narrow(value: f32) -> Self {
                cuda_std::convert::GpuHalf::narrow(value)
            }
            #[inline(always)]
            fn widen(self) -> f32 {
                cuda_std::convert::GpuHalf::widen(self)
            }
        }
    )* };
}

halves! {
    f16 = F16x2;
    bf16 = Bf16x2;
}

impl Element for f32 {
    #[inline(always)]
    unsafe fn store_pair(to: *mut Self, pair: [f32; 2]) {
        *to.cast::<Float2>() = Float2::new(pair[0], pair[1]);
    }
    #[inline(always)]
    fn narrow(value: f32) -> Self {
        value
    }
    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }
}

/// Work on sums before they are stored.
pub trait Finish: Copy {
    /// A cheaper form, where less has to be done.
    type Less: Finish;

    /// The cheaper form, if it is enough, which is tested once per tile.
    fn less(&self) -> Option<Self::Less>;

    /// Finishes two adjacent elements of a row, from this column on.
    ///
    /// # Safety
    ///
    /// What the finish reads is valid, within the sizes it knows.
    unsafe fn finish(&self, pair: [f32; 2], row: u32, column: u32) -> [f32; 2];
}

/// No work at all.
#[derive(Clone, Copy)]
pub struct AsItIs;

impl Finish for AsItIs {
    type Less = Self;

    #[inline(always)]
    fn less(&self) -> Option<Self> {
        Some(*self)
    }

    #[inline(always)]
    unsafe fn finish(&self, pair: [f32; 2], _row: u32, _column: u32) -> [f32; 2] {
        pair
    }
}

/// alpha · sum + beta · C, where C is not read if beta is 0.
#[derive(Clone, Copy)]
pub struct Scaled<O> {
    /// Factor of the sums.
    pub alpha: f32,
    /// Factor of the old C.
    pub beta: f32,
    /// The old C, rows of `pitch` elements.
    pub c: *const O,
    /// Elements from one row to the next.
    pub pitch: u32,
    /// Sizes of C.
    pub sizes: Sizes,
}

/// alpha · sum.
#[derive(Clone, Copy)]
pub struct Times(pub f32);

impl Finish for Times {
    type Less = Self;

    #[inline(always)]
    fn less(&self) -> Option<Self> {
        Some(*self)
    }

    #[inline(always)]
    unsafe fn finish(&self, [low, high]: [f32; 2], _row: u32, _column: u32) -> [f32; 2] {
        [low * self.0, high * self.0]
    }
}

impl<O: Element> Finish for Scaled<O> {
    type Less = Times;

    #[inline(always)]
    fn less(&self) -> Option<Times> {
        if self.beta == 0.0 {
            Some(Times(self.alpha))
        } else {
            None
        }
    }

    #[inline(always)]
    unsafe fn finish(&self, [low, high]: [f32; 2], row: u32, column: u32) -> [f32; 2] {
        let mut scaled = [low * self.alpha, high * self.alpha];
        if row < self.sizes.m {
            let c = self
                .c
                .add(row as usize * self.pitch as usize + column as usize);
            if column < self.sizes.n {
                scaled[0] += self.beta * (*c).widen();
            }
            if column + 1 < self.sizes.n {
                scaled[1] += self.beta * (*c.add(1)).widen();
            }
        }
        scaled
    }
}

/// A way for sums to get to memory.
pub trait Store: Copy {
    /// Bytes of shared memory for each warpgroup that stores.
    const STAGING_BYTES: u32;

    /// Stores the sums of a warpgroup: of 64 rows if `TALL` is false, otherwise of 128, the lower
    /// half of the registers being the upper 64 rows.
    ///
    /// # Safety
    ///
    /// All threads of the warpgroup, which has this number in its block, call it together.
    /// `staging` is the address of its [`STAGING_BYTES`](Self::STAGING_BYTES).
    unsafe fn store<const TALL: bool, const REGISTERS: usize>(
        &self,
        staging: u32,
        warpgroup: u32,
        sums: &[f32; REGISTERS],
        row: u32,
        column: u32,
    );

    /// Waits until everything that the thread has stored is on its way out of shared memory.
    ///
    /// # Safety
    ///
    /// As [`store`](Self::store).
    unsafe fn end(&self);
}

/// Straight from registers.
#[derive(Clone, Copy)]
pub struct Direct<O, F> {
    /// Rows of `pitch` elements, an even number.
    pub c: *mut O,
    /// Elements from one row to the next.
    pub pitch: u32,
    /// Sizes of C.
    pub sizes: Sizes,
    /// The work before storing.
    pub finish: F,
}

impl<O: Element, F: Finish> Direct<O, F> {
    #[inline(always)]
    unsafe fn store_as<const TALL: bool, const REGISTERS: usize>(
        &self,
        finish: impl Finish,
        sums: &[f32; REGISTERS],
        row: u32,
        column: u32,
    ) {
        let thread = thread::thread_idx_x() % WARPGROUP;
        let n_registers = if TALL { REGISTERS / 2 } else { REGISTERS };
        unrolled::<64>(|pair| {
            if pair < REGISTERS / 2 {
                let register = 2 * pair;
                let lower = register / n_registers;
                let at = position(thread, (register % n_registers) as u32);
                let (row, column) = (row + lower as u32 * M + at.row, column + at.column);
                let pair = [sums[register], sums[register + 1]];
                self.store_pair_as(finish, pair, row, column);
            }
        });
    }

    /// Stores two adjacent elements of a row, as far as C has them.
    #[inline(always)]
    unsafe fn store_pair_as(&self, finish: impl Finish, pair: [f32; 2], row: u32, column: u32) {
        if row < self.sizes.m && column < self.sizes.n {
            let pair = finish.finish(pair, row, column);
            let to = self
                .c
                .add(row as usize * self.pitch as usize + column as usize);
            if column + 1 < self.sizes.n {
                O::store_pair(to, pair);
            } else {
                *to = O::narrow(pair[0]);
            }
        }
    }

    /// Finishes and stores two adjacent elements of a row, the first in an even column, as far as C
    /// has them.
    ///
    /// # Safety
    ///
    /// C and what the finish reads are valid.
    #[inline(always)]
    pub unsafe fn store_pair(&self, pair: [f32; 2], row: u32, column: u32) {
        self.store_pair_as(self.finish, pair, row, column);
    }
}

impl<O: Element, F: Finish> Store for Direct<O, F> {
    const STAGING_BYTES: u32 = 0;

    #[inline(always)]
    unsafe fn store<const TALL: bool, const REGISTERS: usize>(
        &self,
        _staging: u32,
        _warpgroup: u32,
        sums: &[f32; REGISTERS],
        row: u32,
        column: u32,
    ) {
        match self.finish.less() {
            Some(less) => self.store_as::<TALL, REGISTERS>(less, sums, row, column),
            None => self.store_as::<TALL, REGISTERS>(self.finish, sums, row, column),
        }
    }

    #[inline(always)]
    unsafe fn end(&self) {}
}

/// Columns of a box that is stored: 128 bytes.
pub const BOX_N: u32 = 64;
/// Bytes of a box of 64 rows.
const BOX_BYTES: u32 = M * ROW_BYTES;

/// Through shared memory and TMA, in boxes of 64 columns and the tile's rows. The map
/// has a swizzle of 128 bytes. Up to two boxes of 64 rows, or one of 128, are in flight at a time.
#[derive(Clone, Copy)]
pub struct TmaEpilogue<'a, O, F> {
    c: &'a TensorMap,
    finish: F,
    is: PhantomData<O>,
}

impl<'a, O: Half, F: Finish> TmaEpilogue<'a, O, F> {
    /// To the matrix of this map.
    #[inline(always)]
    pub const fn new(c: &'a TensorMap, finish: F) -> Self {
        Self {
            c,
            finish,
            is: PhantomData,
        }
    }

    /// Whether this thread hands boxes to TMA: one thread per warpgroup, always the
    /// same.
    #[inline(always)]
    unsafe fn hands_over() -> bool {
        warp::broadcast(thread::thread_idx_x() % WARPGROUP / 32, 0) == 0 && warp::is_elected()
    }

    /// Two adjacent elements as they are stored.
    #[inline(always)]
    unsafe fn pair<const REGISTERS: usize>(
        finish: impl Finish,
        sums: &[f32; REGISTERS],
        first: usize,
        register: usize,
        row: u32,
        column: u32,
    ) -> u32 {
        let thread = thread::thread_idx_x() % WARPGROUP;
        let at = position(thread, register as u32);
        let pair = [sums[first + register], sums[first + register + 1]];
        O::pack(finish.finish(pair, row + at.row, column + at.column))
    }

    /// Writes 64 rows and columns to shared memory.
    #[inline(always)]
    unsafe fn write_box<const REGISTERS: usize>(
        finish: impl Finish,
        to: u32,
        sums: &[f32; REGISTERS],
        first: usize,
        row: u32,
        column: u32,
    ) {
        let thread = thread::thread_idx_x() % WARPGROUP;
        let (warp, lane) = (thread / 32, thread % 32);
        // The row that the lane addresses, one of the warp's 16, and in it the left or right half
        // of 16 columns.
        let to = to + (warp * 16 + lane % 16) * ROW_BYTES;
        let chunk = (lane / 16) ^ (lane % 8);
        unrolled!(QUARTER in [0 1 2 3] {
            let pairs = [
                Self::pair(finish, sums, first, QUARTER * 8, row, column),
                Self::pair(finish, sums, first, QUARTER * 8 + 2, row, column),
                Self::pair(finish, sums, first, QUARTER * 8 + 4, row, column),
                Self::pair(finish, sums, first, QUARTER * 8 + 6, row, column),
            ];
            x4_at(to + ((chunk ^ (2 * QUARTER as u32)) << 4), pairs);
        });
    }
}

/// Registers of a box of 64 rows.
const BOX_REGISTERS: usize = 32;

impl<O: Half, F: Finish> TmaEpilogue<'_, O, F> {
    /// Stores box `i` of a row of boxes. (Not a closure: LLVM might call it, with all sums in local
    /// memory.)
    #[inline(always)]
    unsafe fn store_box<const TALL: bool, const REGISTERS: usize>(
        &self,
        finish: impl Finish,
        staging: u32,
        warpgroup: u32,
        sums: &[f32; REGISTERS],
        i: usize,
        row: u32,
        column: u32,
    ) {
        // With an odd number of boxes, the last one and the next tile's first use the same memory.
        let is_same_as_last = i == 0 && !(REGISTERS / BOX_REGISTERS).is_multiple_of(2);
        if Self::hands_over() {
            if TALL || is_same_as_last {
                bulk::wait_group_read::<0>();
            } else {
                bulk::wait_group_read::<1>();
            }
        }
        warpgroup::sync(warpgroup + 1);
        let x = column + i as u32 * BOX_N;
        let first = i * BOX_REGISTERS;
        let to = if TALL {
            staging
        } else {
            staging + (i % 2) as u32 * BOX_BYTES
        };
        Self::write_box(finish, to, sums, first, row, x);
        if TALL {
            Self::write_box(
                finish,
                to + BOX_BYTES,
                sums,
                REGISTERS / 2 + first,
                row + M,
                x,
            );
        }
        bulk::fence();
        warpgroup::sync(warpgroup + 1);
        if Self::hands_over() {
            bulk::store_box(self.c, [x as i32, row as i32], to);
            bulk::commit_group();
        }
    }
}

impl<O: Half, F: Finish> Store for TmaEpilogue<'_, O, F> {
    const STAGING_BYTES: u32 = 2 * BOX_BYTES;

    #[inline(always)]
    unsafe fn store<const TALL: bool, const REGISTERS: usize>(
        &self,
        staging: u32,
        warpgroup: u32,
        sums: &[f32; REGISTERS],
        row: u32,
        column: u32,
    ) {
        unrolled!(I in [0 1 2 3] {
            if I * BOX_REGISTERS < if TALL { REGISTERS / 2 } else { REGISTERS } {
                match self.finish.less() {
                    Some(less) => self.store_box::<TALL, REGISTERS>(
                        less, staging, warpgroup, sums, I, row, column,
                    ),
                    None => self.store_box::<TALL, REGISTERS>(
                        self.finish, staging, warpgroup, sums, I, row, column,
                    ),
                }
            }
        });
    }

    #[inline(always)]
    unsafe fn end(&self) {
        if Self::hands_over() {
            bulk::wait_group_read::<0>();
        }
    }
}
