//! Division without a panic.

/// x / y for a y that is not 0, which the compiler cannot prove: a kernel that could panic
/// here would contain code for it.
#[inline(always)]
pub(crate) const fn quotient(x: u32, y: u32) -> u32 {
    match x.checked_div(y) {
        Some(quotient) => quotient,
        None => 0,
    }
}
