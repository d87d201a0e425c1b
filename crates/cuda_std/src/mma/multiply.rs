//! `mma.sync`: D = A·B + C by the whole warp.

use half::{bf16, f16};

use crate::gpu_only;

use super::{Accumulate, Element, FragmentA, FragmentB, FragmentC, M16N8K8, M16N8K16, Shape};

/// A shape that multiplies elements `T` and sums in `C`.
pub trait Mma<T: Element, C: Accumulate>: Shape + Sized {
    /// The product; see [`mma`].
    ///
    /// # Safety
    ///
    /// As [`mma`].
    unsafe fn multiply(
        a: FragmentA<T, Self>,
        b: FragmentB<T, Self>,
        c: FragmentC<C>,
    ) -> FragmentC<C>;
}

/// A·B + C.
///
/// | shape | A and B | C and D |
/// |---|---|---|
/// | [`M16N8K8`], [`M16N8K16`] | f16 | f16, f32 |
/// | [`M16N8K8`], [`M16N8K16`] | bf16 | f32 |
///
/// Anything else does not compile.
///
/// # Safety
///
/// All 32 lanes of the warp call it together, with fragments of the same
/// matrices.
#[inline(always)]
pub unsafe fn mma<T: Element, C: Accumulate, S: Mma<T, C>>(
    a: FragmentA<T, S>,
    b: FragmentB<T, S>,
    c: FragmentC<C>,
) -> FragmentC<C> {
    // SAFETY: by this function's own contract.
    unsafe { S::multiply(a, b, c) }
}

macro_rules! instructions {
    ($($shape:ident $t:ident $c:ident = $name:literal, $a:literal [$($ai:ident)*], [$($bi:ident)*], [$($ci:ident)*];)*) => { $(
        impl Mma<$t, $c> for $shape {
            #[gpu_only]
            #[inline(always)]
            unsafe fn multiply(
                a: FragmentA<$t, Self>,
                b: FragmentB<$t, Self>,
                c: FragmentC<$c>,
            ) -> FragmentC<$c> {
                let ([$($ai),*], [$($bi),*], [$(mut $ci),*]) = (a.registers, b.registers, c.registers);
                // SAFETY: only registers are involved. Never `pure`: the whole warp takes
                // part, so it must not be moved into a branch.
                unsafe {
                    ptx!(
                        concat!("mma.sync.aligned.", $name, " ", $a, ";"),
                        $($ci = inout(reg32) $ci,)*
                        $($ai = in(reg32) $ai,)*
                        $($bi = in(reg32) $bi,)*
                        options(nomem)
                    );
                }
                FragmentC::new([$($ci),*])
            }
        }
    )* };
}

instructions! {
    M16N8K8 f16 f16 = "m16n8k8.row.col.f16.f16.f16.f16",
        "{{{c0}, {c1}}}, {{{a0}, {a1}}}, {{{b0}}}, {{{c0}, {c1}}}"
        [a0 a1], [b0], [c0 c1];
    M16N8K8 f16 f32 = "m16n8k8.row.col.f32.f16.f16.f32",
        "{{{c0}, {c1}, {c2}, {c3}}}, {{{a0}, {a1}}}, {{{b0}}}, {{{c0}, {c1}, {c2}, {c3}}}"
        [a0 a1], [b0], [c0 c1 c2 c3];
    M16N8K8 bf16 f32 = "m16n8k8.row.col.f32.bf16.bf16.f32",
        "{{{c0}, {c1}, {c2}, {c3}}}, {{{a0}, {a1}}}, {{{b0}}}, {{{c0}, {c1}, {c2}, {c3}}}"
        [a0 a1], [b0], [c0 c1 c2 c3];
    M16N8K16 f16 f16 = "m16n8k16.row.col.f16.f16.f16.f16",
        "{{{c0}, {c1}}}, {{{a0}, {a1}, {a2}, {a3}}}, {{{b0}, {b1}}}, {{{c0}, {c1}}}"
        [a0 a1 a2 a3], [b0 b1], [c0 c1];
    M16N8K16 f16 f32 = "m16n8k16.row.col.f32.f16.f16.f32",
        "{{{c0}, {c1}, {c2}, {c3}}}, {{{a0}, {a1}, {a2}, {a3}}}, {{{b0}, {b1}}}, {{{c0}, {c1}, {c2}, {c3}}}"
        [a0 a1 a2 a3], [b0 b1], [c0 c1 c2 c3];
    M16N8K16 bf16 f32 = "m16n8k16.row.col.f32.bf16.bf16.f32",
        "{{{c0}, {c1}, {c2}, {c3}}}, {{{a0}, {a1}, {a2}, {a3}}}, {{{b0}, {b1}}}, {{{c0}, {c1}, {c2}, {c3}}}"
        [a0 a1 a2 a3], [b0 b1], [c0 c1 c2 c3];
}
