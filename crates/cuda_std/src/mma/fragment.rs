//! Fragments: one lane's registers of an operand, typed by their contents.

use core::marker::PhantomData;

use half::{bf16, f16};

use crate::vector::F16x2;

/// An element type of A and B: 16 bits.
pub trait Element: Copy + 'static {}
impl Element for f16 {}
impl Element for bf16 {}

/// The registers of a fragment.
pub trait Registers: Copy {
    /// All zero.
    const ZERO: Self;
}
impl<const N: usize> Registers for [u32; N] {
    const ZERO: Self = [0; N];
}
impl<const N: usize> Registers for [f32; N] {
    const ZERO: Self = [0.0; N];
}

/// A shape of `mma.sync`: M = 16, N = 8, and K.
pub trait Shape: Copy + 'static {
    /// Columns of A, rows of B.
    const K: u32;
    /// A lane's registers of A.
    type A: Registers;
    /// A lane's registers of B.
    type B: Registers;
}

/// D (16×8) = A (16×8) · B (8×8) + C.
#[derive(Clone, Copy, Debug)]
pub struct M16N8K8;
impl Shape for M16N8K8 {
    const K: u32 = 8;
    type A = [u32; 2];
    type B = [u32; 1];
}

/// D (16×8) = A (16×16) · B (16×8) + C.
#[derive(Clone, Copy, Debug)]
pub struct M16N8K16;
impl Shape for M16N8K16 {
    const K: u32 = 16;
    type A = [u32; 4];
    type B = [u32; 2];
}

/// A type that products are summed in.
pub trait Accumulate: Copy + 'static {
    /// A lane's registers of C and D.
    type C: Registers;
}
impl Accumulate for f16 {
    type C = [u32; 2];
}
impl Accumulate for f32 {
    type C = [f32; 4];
}

/// One lane's part of A, 16×K.
#[derive(Clone, Copy, Debug)]
pub struct FragmentA<T, S: Shape> {
    /// Two elements each, as [`map::a`](super::map::a) says.
    pub registers: S::A,
    element: PhantomData<T>,
}

/// One lane's part of B, K×8.
#[derive(Clone, Copy, Debug)]
pub struct FragmentB<T, S: Shape> {
    /// Two elements each, as [`map::b`](super::map::b) says.
    pub registers: S::B,
    element: PhantomData<T>,
}

/// One lane's part of C or D, 16×8.
#[derive(Clone, Copy, Debug)]
pub struct FragmentC<T: Accumulate> {
    /// As [`map::c16`](super::map::c16) and [`map::c32`](super::map::c32) say.
    pub registers: T::C,
}

impl<T: Element, S: Shape> FragmentA<T, S> {
    /// The fragment in `registers`.
    #[inline(always)]
    pub const fn new(registers: S::A) -> Self {
        Self {
            registers,
            element: PhantomData,
        }
    }
}

impl<T: Element, S: Shape> FragmentB<T, S> {
    /// The fragment in `registers`.
    #[inline(always)]
    pub const fn new(registers: S::B) -> Self {
        Self {
            registers,
            element: PhantomData,
        }
    }
}

impl<T: Accumulate> FragmentC<T> {
    /// The fragment in `registers`.
    #[inline(always)]
    pub const fn new(registers: T::C) -> Self {
        Self { registers }
    }

    /// The zero matrix.
    #[inline(always)]
    pub const fn zero() -> Self {
        Self::new(T::C::ZERO)
    }
}

impl FragmentC<f32> {
    /// The same matrix in f16, each element rounded to the nearest.
    #[inline(always)]
    pub fn to_f16(self) -> FragmentC<f16> {
        let [a, b, c, d] = self.registers;
        FragmentC::new([F16x2::narrow(a, b).to_bits(), F16x2::narrow(c, d).to_bits()])
    }
}

impl FragmentA<f16, M16N8K16> {
    /// Two products side by side, columns 0 to 7 and 8 to 15, as the left
    /// operand of the next product. The maps agree, so nothing moves.
    #[inline(always)]
    pub const fn from_products(left: FragmentC<f16>, right: FragmentC<f16>) -> Self {
        let ([r0, r1], [r2, r3]) = (left.registers, right.registers);
        Self::new([r0, r1, r2, r3])
    }

    /// The reverse: a 16×16 left operand as two 16×8 results.
    #[inline(always)]
    pub const fn to_products(self) -> (FragmentC<f16>, FragmentC<f16>) {
        let [r0, r1, r2, r3] = self.registers;
        (FragmentC::new([r0, r1]), FragmentC::new([r2, r3]))
    }
}
