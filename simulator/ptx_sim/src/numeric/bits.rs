//! Bit counting, bit fields, shifts across two words and byte permutation.

/// `bfind`: the place of the highest bit that is set (unsigned) or that
/// differs from the sign (signed, given sign-extended); all ones if none.
/// With `shift_amount`, the left shift that brings it to the top instead.
#[inline]
fn bfind(magnitude: u64, n_bits: u32, shift_amount: bool) -> u32 {
    if magnitude == 0 {
        return u32::MAX;
    }
    let place = 63 - magnitude.leading_zeros();
    if shift_amount {
        n_bits - 1 - place
    } else {
        place
    }
}

/// `bfind.u32`
#[inline]
pub fn bfind_u32(a: u32, shift_amount: bool) -> u32 {
    bfind(u64::from(a), 32, shift_amount)
}

/// `bfind.s32`
#[inline]
pub fn bfind_s32(a: i32, shift_amount: bool) -> u32 {
    bfind(u64::from((a ^ (a >> 31)) as u32), 32, shift_amount)
}

/// `bfind.u64`
#[inline]
pub fn bfind_u64(a: u64, shift_amount: bool) -> u32 {
    bfind(a, 64, shift_amount)
}

/// `bfind.s64`
#[inline]
pub fn bfind_s64(a: i64, shift_amount: bool) -> u32 {
    bfind((a ^ (a >> 63)) as u64, 64, shift_amount)
}

/// `fns.b32`: the place of the `offset`-th bit set in `mask`, counted from
/// place `base` upwards (positive), downwards (negative), or `base` itself
/// (zero); all ones if there is none.
#[inline]
pub fn fns(mask: u32, base: u32, offset: i32) -> u32 {
    if base > 31 {
        return u32::MAX;
    }
    let is_set = |place: u32| mask >> place & 1 == 1;
    let nth = |places: &mut dyn Iterator<Item = u32>, n: u32| {
        places
            .filter(|&place| is_set(place))
            .nth(n as usize)
            .unwrap_or(u32::MAX)
    };
    match offset {
        0 => nth(&mut (base..=base), 0),
        1.. => nth(&mut (base..32), offset as u32 - 1),
        _ => nth(&mut (0..=base).rev(), offset.unsigned_abs() - 1),
    }
}

/// A word with its lowest `n_ones` bits set, 64 or more for all.
#[inline]
fn low_ones(n_ones: u32) -> u64 {
    if n_ones >= 64 {
        u64::MAX
    } else {
        (1 << n_ones) - 1
    }
}

/// `bfe`: the field of `length` bits at `start`, of a value of `n_bits`
/// given zero- or sign-extended to 64.
///
/// PTX allows 0 to 255 for `start` and `length`. Beyond, hardware takes them
/// modulo 256 for 32 bits, and as they are for 64.
#[inline]
fn bfe(a: i64, n_bits: u32, start: u32, length: u32, is_signed: bool) -> i64 {
    if length == 0 {
        return 0;
    }
    let top = start.saturating_add(length - 1).min(n_bits - 1);
    let sign = if is_signed && a >> top & 1 == 1 {
        -1
    } else {
        0
    };
    if start >= n_bits {
        return sign;
    }
    let ones = low_ones(top - start + 1) as i64;
    ((a >> start) & ones) | (sign & !ones)
}

/// `bfe.u32`
#[inline]
pub fn bfe_u32(a: u32, start: u32, length: u32) -> u32 {
    bfe(i64::from(a), 32, start & 0xff, length & 0xff, false) as u32
}

/// `bfe.s32`
#[inline]
pub fn bfe_s32(a: i32, start: u32, length: u32) -> i32 {
    bfe(i64::from(a), 32, start & 0xff, length & 0xff, true) as i32
}

/// `bfe.u64`
#[inline]
pub fn bfe_u64(a: u64, start: u32, length: u32) -> u64 {
    bfe(a as i64, 64, start, length, false) as u64
}

/// `bfe.s64`
#[inline]
pub fn bfe_s64(a: i64, start: u32, length: u32) -> i64 {
    bfe(a, 64, start, length, true)
}

/// `bfi.b64`: `into` with `length` bits from the bottom of `field` put at
/// `start`. Only the lowest 8 bits of `start` and `length` count.
#[inline]
pub fn bfi_b64(field: u64, into: u64, start: u32, length: u32) -> u64 {
    let (start, length) = (start & 0xff, length & 0xff);
    if start >= 64 {
        return into;
    }
    let ones = low_ones(length) << start;
    (into & !ones) | (field << start & ones)
}

/// `bfi.b32`, as [`bfi_b64`].
#[inline]
pub fn bfi_b32(field: u32, into: u32, start: u32, length: u32) -> u32 {
    bfi_b64(u64::from(field), u64::from(into), start, length) as u32
}

/// `bmsk.b32`: `length` ones from place `start`. `wrap` takes both modulo 32
/// (`.wrap`); otherwise they are limited to 32 (`.clamp`).
#[inline]
pub fn bmsk(start: u32, length: u32, wrap: bool) -> u32 {
    let (start, length) = if wrap {
        (start & 31, length & 31)
    } else {
        (start.min(32), length.min(32))
    };
    (low_ones(length) << start) as u32
}

/// `szext.u32` and `szext.s32`: the lowest `n` bits, extended by zero or by
/// their sign. `wrap` takes `n` modulo 32 (`.wrap`); otherwise it is limited
/// to 32 (`.clamp`).
#[inline]
pub fn szext(a: u32, n: u32, is_signed: bool, wrap: bool) -> u32 {
    let n = if wrap { n & 31 } else { n.min(32) };
    if n == 0 {
        return 0;
    }
    let unused = 32 - n;
    if is_signed {
        ((a << unused) as i32 >> unused) as u32
    } else {
        a << unused >> unused
    }
}

/// `shf.l`: the upper word of `high:low` shifted left. `wrap` takes the count
/// modulo 32; otherwise it is limited to 32.
#[inline]
pub fn shf_left(low: u32, high: u32, count: u32, wrap: bool) -> u32 {
    let count = if wrap { count & 31 } else { count.min(32) };
    let both = u64::from(high) << 32 | u64::from(low);
    (both << count >> 32) as u32
}

/// `shf.r`: the lower word of `high:low` shifted right, counts as in
/// [`shf_left`].
#[inline]
pub fn shf_right(low: u32, high: u32, count: u32, wrap: bool) -> u32 {
    let count = if wrap { count & 31 } else { count.min(32) };
    let both = u64::from(high) << 32 | u64::from(low);
    (both >> count) as u32
}

/// `lop3`: the three-input function whose truth table is `table`.
#[inline]
pub fn lop3(a: u32, b: u32, c: u32, table: u8) -> u32 {
    let mut result = 0;
    for row in 0..8_u8 {
        let all = if table >> row & 1 == 1 { u32::MAX } else { 0 };
        let of = |word: u32, bit: u8| if row >> bit & 1 == 1 { word } else { !word };
        result |= all & of(a, 2) & of(b, 1) & of(c, 0);
    }
    result
}

/// How `prmt` chooses its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permute {
    /// Four selectors of four bits.
    Index,
    /// `.f4e`: four bytes upwards from the selected one.
    Forward4,
    /// `.b4e`: four bytes downwards from the selected one.
    Backward4,
    /// `.rc8`: one byte everywhere.
    Replicate8,
    /// `.ecl`: edge clamp to the left.
    EdgeLeft,
    /// `.ecr`: edge clamp to the right.
    EdgeRight,
    /// `.rc16`: one half twice.
    Replicate16,
}

/// `prmt.b32`: four bytes out of the eight of `b:a`.
#[inline]
pub fn prmt(a: u32, b: u32, selector: u32, mode: Permute) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    let byte = |index: u32| (bytes >> (8 * (index & 7))) as u8;
    let s = selector & 3;
    let gather = |indices: [u32; 4]| u32::from_le_bytes(indices.map(byte));
    match mode {
        Permute::Index => {
            let chosen = [0, 4, 8, 12].map(|shift| {
                let nibble = selector >> shift & 0xf;
                let byte = byte(nibble);
                // The top bit of a selector spreads the byte's sign.
                if nibble & 8 == 0 {
                    byte
                } else {
                    (byte as i8 >> 7) as u8
                }
            });
            u32::from_le_bytes(chosen)
        }
        Permute::Forward4 => gather([s, s + 1, s + 2, s + 3]),
        Permute::Backward4 => gather([s, s.wrapping_sub(1), s.wrapping_sub(2), s.wrapping_sub(3)]),
        Permute::Replicate8 => gather([s; 4]),
        Permute::EdgeLeft => gather([s, 1.max(s), 2.max(s), 3]),
        Permute::EdgeRight => gather([0, 1.min(s), 2.min(s), s]),
        Permute::Replicate16 => {
            let first = (s & 1) * 2;
            gather([first, first + 1, first, first + 1])
        }
    }
}
