//! One step of a warp's product: 64×64 sums in registers, and 16 of k.
//!
//! Four fragments of A, of 16 rows each, and eight of B, of 8 columns: 32 `mma`, fed by eight
//! `ldmatrix.x4`, which load four registers each. A tile of 64×32 takes six for 16. That
//! ratio determines a warp's tile: larger ones do not fit its registers.

use cuda_std::half::f16;
use cuda_std::mma::ldmatrix::x4_at;
use cuda_std::mma::{FragmentA, FragmentB, FragmentC, M16N8K16, mma, pair_address, quad_address};

use super::matrices::PITCH_UNIT;
use super::pipeline::{ROW_BYTES, TILE_K, chunk_offset_bytes};
use super::unrolled;

/// Rows, and columns, of C that a warp computes.
pub const WARP_SIDE: u32 = 64;
/// Depth of one `mma`.
pub const STEP: u32 = 16;
/// Steps in a tile.
pub const N_STEPS: usize = (TILE_K / STEP) as usize;

/// Rows of an `ldmatrix.x4`.
const BLOCK_ROWS: u32 = 16;

const _: () = assert!(WARP_SIDE == 4 * BLOCK_ROWS && N_STEPS == 4);

/// A warp's sums, in blocks of 16×8.
pub type Sums = [SumRows; 4];
/// The sums of 16 rows.
pub type SumRows = [FragmentC<f32>; 8];

/// Where a lane's rows of a factor are in the first stage, for each step: with the swizzle, a
/// step is an XOR. Adding a stage's offset gives addresses.
#[derive(Clone, Copy)]
pub struct Addresses([u32; N_STEPS]);

impl Addresses {
    /// For A's rows, from `tile` on.
    #[inline(always)]
    pub fn of_a(tile: u32, lane: u32) -> Self {
        Self::of(tile, quad_address(lane))
    }

    /// For B's rows, in the order in which `mma` takes registers.
    #[inline(always)]
    pub fn of_b(tile: u32, lane: u32) -> Self {
        Self::of(tile, pair_address(lane))
    }

    #[inline(always)]
    fn of(tile: u32, (row, column): (u32, u32)) -> Self {
        let mut addresses = [0; N_STEPS];
        unrolled!(K in [0 1 2 3] {
            let chunk = (K as u32 * STEP + column) / PITCH_UNIT;
            addresses[K] = kept(tile + chunk_offset_bytes(row, chunk));
        });
        Self(addresses)
    }

    /// The address of block `block` of 16 rows, in step `step` of the stage that begins `stage`
    /// bytes after the first.
    #[inline(always)]
    const fn of_block(self, block: usize, stage: u32, step: usize) -> u32 {
        self.0[step] + stage + block as u32 * BLOCK_ROWS * ROW_BYTES
    }
}

/// `x`, opaque, so that the compiler keeps it and does not recompute it.
#[cuda_std::gpu_only]
#[inline(always)]
fn kept(x: u32) -> u32 {
    let kept;
    // SAFETY: emits no instruction.
    unsafe {
        core::arch::asm!(
            "// {x}",
            x = inlateout(reg32) x => kept,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    kept
}

/// The factors of one step.
#[derive(Clone, Copy)]
pub struct Fragments {
    a: [FragmentA<f16, M16N8K16>; 4],
    b: [FragmentB<f16, M16N8K16>; 8],
}

impl Fragments {
    /// Zeros.
    pub const EMPTY: Self = Self {
        a: [FragmentA::new([0; 4]); 4],
        b: [FragmentB::new([0; 2]); 8],
    };

    /// The factors of step `step` of the stage that begins `stage` bytes after the first.
    ///
    /// # Safety
    ///
    /// The whole warp calls it together, after waiting for what fills the stage.
    #[inline(always)]
    pub unsafe fn load(a: Addresses, b: Addresses, stage: u32, step: usize) -> Self {
        let mut fragments = Self::EMPTY;
        unrolled!(I in [0 1 2 3] { fragments.load_b::<I>(b, stage, step); });
        unrolled!(I in [0 1 2 3] { fragments.load_a::<I>(a, stage, step); });
        fragments
    }

    /// Loads the fragments of A for rows `16·I` to `16·I + 15`.
    ///
    /// # Safety
    ///
    /// As [`load`](Self::load).
    #[inline(always)]
    pub unsafe fn load_a<const I: usize>(&mut self, a: Addresses, stage: u32, step: usize) {
        self.a[I] = FragmentA::new(x4_at(a.of_block(I, stage, step)));
    }

    /// Loads the fragments of B for columns `16·I` to `16·I + 15`.
    ///
    /// # Safety
    ///
    /// As [`load`](Self::load).
    #[inline(always)]
    pub unsafe fn load_b<const I: usize>(&mut self, b: Addresses, stage: u32, step: usize) {
        let [p, q, r, s] = x4_at(b.of_block(I, stage, step));
        self.b[2 * I] = FragmentB::new([p, q]);
        self.b[2 * I + 1] = FragmentB::new([r, s]);
    }
}

/// Adds the products of one step.
///
/// # Safety
///
/// The whole warp calls it together.
#[inline(always)]
pub unsafe fn multiply(sums: &mut Sums, fragments: &Fragments) {
    unrolled!(I in [0 1 2 3] { multiply_rows::<I>(sums, fragments); });
}

/// The products of rows `16·I` to `16·I + 15`. Forward along these rows and back along the next
/// ones: a fragment of A stays in place for eight `mma`, and one of B for two.
///
/// # Safety
///
/// As [`multiply`].
#[inline(always)]
pub unsafe fn multiply_rows<const I: usize>(sums: &mut Sums, fragments: &Fragments) {
    unrolled!(TURN in [0 1 2 3 4 5 6 7] {
        let j = const { if I.is_multiple_of(2) { TURN } else { 7 - TURN } };
        sums[I][j] = mma(fragments.a[I], fragments.b[j], sums[I][j]);
    });
}
