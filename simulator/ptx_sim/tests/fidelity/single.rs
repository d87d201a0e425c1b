//! Instructions that were measured alone, one operation per lane (`tests/hardware`).

use crate::hardware::table::{self, Agreement, Case};
use crate::hardware::{self, results};

/// One form and how its results compare with the H200's.
pub struct Single {
    pub opcode: String,
    pub n_operands: usize,
    /// Results that are the same.
    pub n_same: usize,
    /// Whether only the same bits are accepted.
    pub must_be_same: bool,
    /// The largest difference between two numbers, in steps of the format at the smaller;
    /// results beyond all numbers count only as the same or not.
    pub most_ulp: u64,
    /// The largest difference relative to the hardware's result, of normal numbers.
    pub most_relative: f64,
    /// The largest difference, where that is what PTX bounds.
    pub most_absolute: Option<f64>,
}

/// All forms, in the order of the table.
pub fn singles() -> Vec<Single> {
    let cases = table::cases();
    let results = results::measured();
    assert_eq!(cases.len(), results.len(), "the table has changed");
    let simulated = hardware::simulated(&cases, results[0].len());
    let compared = cases.iter().zip(&results).zip(&simulated);
    compared
        .map(|((case, measured), found)| single(case, measured, found))
        .collect()
}

fn single(case: &Case, measured: &[u64], found: &[u64]) -> Single {
    let mut single = Single {
        opcode: case.opcode.clone(),
        n_operands: measured.len(),
        n_same: 0,
        must_be_same: case.agreement == Agreement::Exact,
        most_ulp: 0,
        most_relative: 0.0,
        most_absolute: matches!(case.agreement, Agreement::Absolute(_)).then_some(0.0),
    };
    for (&measured, &found) in measured.iter().zip(found) {
        single.n_same += usize::from(found == measured);
        if let Some((steps, relative)) = difference(case, found, measured) {
            single.most_ulp = single.most_ulp.max(steps);
            single.most_relative = single.most_relative.max(relative);
            if let Some(most) = &mut single.most_absolute {
                let number = |bits: u64| f64::from(f32::from_bits(bits as u32));
                *most = most.max((number(found) - number(measured)).abs());
            }
        }
    }
    single
}

/// The exponent and fraction bits of a result's format.
fn format(case: &Case) -> (u32, u32) {
    match case.result_bits {
        64 => (11, 52),
        32 => (8, 23),
        _ if case.opcode.ends_with("bf16") => (8, 7),
        _ => (5, 10),
    }
}

/// How far apart two results are, in steps and relatively; `None` unless both are normal
/// numbers.
fn difference(case: &Case, found: u64, measured: u64) -> Option<(u64, f64)> {
    let (exponent_bits, fraction_bits) = format(case);
    let sign = 1 << (exponent_bits + fraction_bits);
    let exponent = |bits: u64| (bits & (sign - 1)) >> fraction_bits;
    let is_normal = |bits| (1..(1 << exponent_bits) - 1).contains(&exponent(bits));
    if !is_normal(found) || !is_normal(measured) || (found ^ measured) & sign != 0 {
        return None;
    }
    let steps = found.abs_diff(measured);
    // A step is at least this part of a number with these bits.
    let significand = (1 << fraction_bits) + (measured & ((1 << fraction_bits) - 1));
    Some((steps, steps as f64 / significand as f64))
}
