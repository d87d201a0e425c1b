//! Operands: numbers whose sums lose precision, close together, far apart, arbitrary ones,
//! special ones, and some that cancel. They are the same as in `measure.py`.

use super::cases::Operand;
use common::numbers::number as mix;

/// What the operands of a warp are like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Near,
    Wide,
    Any,
    Special,
    Few,
}

const MODES: [Mode; 5] = [Mode::Near, Mode::Wide, Mode::Any, Mode::Special, Mode::Few];

/// Bits of exponent and fraction, and how far exponents go from that of 1.
fn float(kind: &str) -> (u32, u32, u64) {
    match kind {
        "f16" => (5, 10, 6),
        "bf16" => (8, 7, 20),
        "tf32" | "f32" => (8, 23, 20),
        "f64" => (11, 52, 40),
        "e4m3" => (4, 3, 4),
        "e5m2" => (5, 2, 8),
        other => panic!("no kind of number: {other}"),
    }
}

fn number(kind: &str, r: u64, mode: Mode) -> u64 {
    let (e_bits, m_bits, spread) = float(kind);
    let (bias, top) = ((1 << (e_bits - 1)) - 1, (1 << e_bits) - 1);
    let ones = (1 << m_bits) - 1;
    let q = mix(r ^ 0x5555);
    let mut fraction = r >> 1 & ones;
    let near = bias - 2 + q % 5;
    let mut exponent = match mode {
        Mode::Wide => bias - spread + q % (2 * spread + 1),
        Mode::Any => q % top,
        Mode::Few => bias - 1 + q % 3,
        Mode::Near | Mode::Special => near,
    };
    if mode == Mode::Few {
        fraction = fraction >> (m_bits - 2) << (m_bits - 2);
    }
    if mode == Mode::Special && (q >> 20).is_multiple_of(48) {
        let which = (q >> 32) % 6;
        exponent = match which {
            0 | 1 => 0,
            5 => top - 1,
            _ => top,
        };
        fraction = match which {
            0 | 2 => 0,
            5 => ones,
            _ => fraction,
        };
    }
    (r & 1) << (e_bits + m_bits) | exponent << m_bits | fraction
}

/// Numbers about those that conversions to few bits round to.
fn narrow(kind: &str, r: u64, mode: Mode) -> u64 {
    if matches!(mode, Mode::Any | Mode::Special) {
        return number(kind, r, mode);
    }
    let (e_bits, m_bits, _) = float(kind);
    let half: u64 = 1 << (e_bits - 1);
    let q = mix(r ^ 0x3333);
    let kept = if mode == Mode::Few { 4 } else { 5 };
    let kept_bits = (r >> 1) % (1 << kept);
    let fraction = kept_bits << (m_bits - kept) | u64::from(mode == Mode::Wide);
    let reach = (half - 2).min(20);
    let exponent = half - 1 - reach + q % (2 * reach);
    (r & 1) << (e_bits + m_bits) | exponent << m_bits | fraction
}

const EXTREMES: [u64; 6] = [
    0x8080_8080,
    0x7f7f_7f7f,
    0xffff_ffff,
    0x8888_8888,
    0x7777_7777,
    0,
];

fn word(kind: &str, r: u64, mode: Mode) -> u64 {
    let (low, q) = (r & 0xffff_ffff, mix(r ^ 0x7777));
    let parts = match kind {
        "int" | "int16" => {
            return match mode {
                Mode::Special => EXTREMES[(q % 6) as usize],
                Mode::Few => low & q,
                _ => low,
            };
        }
        "sum" => {
            return match mode {
                Mode::Wide => 0x7fff_ffff - q % 5000,
                Mode::Any => 0x8000_0000 + q % 5000,
                Mode::Special => q % 100,
                _ => low,
            };
        }
        "count" => return if mode == Mode::Special { low } else { q % 70 },
        "narrow" => return narrow("f32", r, mode),
        "f16" | "bf16" | "narrow16" => 2,
        "e4m3" | "e5m2" => 4,
        _ => return number(kind, r, mode),
    };
    (0..parts).fold(0, |word, i| {
        let r = mix(r.wrapping_add(i + 1));
        let part = match kind {
            "narrow16" => narrow("f16", r, mode),
            _ => number(kind, r, mode),
        };
        word | part << (32 / parts * i)
    })
}

/// What a warp of a case reads.
pub fn inputs(case: usize, sources: &[Operand<'_>], warp: u64) -> Vec<u8> {
    let mode = MODES[(warp % 5) as usize];
    let mut bytes = Vec::new();
    for (place, operand) in (0_u64..).zip(sources) {
        if operand.is_free() {
            continue;
        }
        for word_number in 0..32 * operand.n as u64 {
            let counter = ((case as u64) << 40) + (warp << 20) + (place << 16) + word_number;
            let bits = word(operand.kind, mix(counter), mode);
            bytes.extend_from_slice(&bits.to_le_bytes()[..operand.width()]);
        }
    }
    bytes
}
