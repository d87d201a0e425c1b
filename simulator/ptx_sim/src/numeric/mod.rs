//! PTX arithmetic, one number at a time: pure functions on native types and
//! bit patterns, which the executor applies lane by lane.
//!
//! Where PTX leaves a result open, the function says what it gives; where
//! NVIDIA hardware settles it, that is what it gives.
//!
//! # Contents
//!
//! | PTX | here |
//! |---|---|
//! | `mul.hi/.wide`, `div`, `rem`, `sad`, `shl`, `shr` | [`integer::Integer`] on `u16` … `i64` |
//! | `add.cc`, `addc`, `sub.cc`, `subc` (and `mad.cc` through them) | [`integer::add_carry_u32`], [`integer::sub_carry_u32`], `_u64` |
//! | `mul24`, `dp2a`, `dp4a`, packed 16-bit integers | [`integer::mul24_lo_u32`] …, [`integer::dp4a`], [`integer::dp2a`], [`integer::each_half`] |
//! | `bfind`, `bfe`, `bfi`, `bmsk`, `szext`, `fns` | [`bits::bfind_u32`] …, [`bits::bfe_u32`] …, [`bits::bfi_b32`] …, [`bits::bmsk`], [`bits::szext`], [`bits::fns`] |
//! | `shf`, `lop3`, `prmt` | [`bits::shf_left`], [`bits::shf_right`], [`bits::lop3`], [`bits::prmt`] |
//! | `popc`, `clz`, `brev`, `add.sat.s32`, `mul.lo`, `abs`, `neg` | Rust's `count_ones`, `leading_zeros`, `reverse_bits`, `saturating_add`, `wrapping_*` |
//! | `add`, `sub`, `mul`, `fma`, `div.rn` …, `rcp.rn`, `sqrt.rn` | [`float::add`] … over [`float::Float`] (`f32`, `f64`, [`half::F16`], [`half::Bf16`]), with a [`Rounding`] |
//! | `.ftz`, `.sat`, `.relu` | [`float::mul_ftz`] …, [`float::flush`], [`float::saturate`], [`float::relu`] |
//! | `min`, `max` with `.NaN`, `.xorsign.abs` | [`compare::min`], [`compare::max`], [`compare::Extremum`] |
//! | `neg`, `abs`, `copysign`, `testp` | [`float::neg`] …, [`compare::Property`] |
//! | `setp`, `set` | Rust's own operators |
//! | `f16x2`, `bf16x2` | [`half::packed1`], [`half::packed2`], [`half::packed3`] |
//! | `cvt` | [`convert::Conversion`]; `cvt.pack` [`convert::pack_saturated`] |
//! | `ex2`, `lg2`, `sin`, `cos`, `tanh`, `rsqrt`, `rcp.approx`, `div.approx`, `div.full`, `sqrt.approx` | [`approx`] |
//! | `vadd`, `vabsdiff4` and the like | [`video::Video`] |
//! | 8-bit floats | [`fp8::Small`] |
//! | `mma`, `wmma`, `wgmma` | [`mma::dot`], by a [`mma::Model`] of the hardware; integers, bits, `f64` [`tensor`] |

pub mod approx;
pub mod bits;
pub mod compare;
pub mod convert;
pub mod float;
pub mod fp8;
pub mod half;
pub mod integer;
pub mod mma;
pub mod rounding;
pub mod soft;
pub mod tensor;
pub(crate) mod tile;
pub mod video;
pub(crate) mod wgmma;

#[cfg(test)]
mod tests;

pub use rounding::Rounding;
