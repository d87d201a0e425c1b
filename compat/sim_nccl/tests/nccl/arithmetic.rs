//! Elements of every type, and the arithmetic of the rarer ones.

use half::{bf16, f16};
use sim_nccl::reduce::{combine, scale};
use sim_nccl::types::{DataType, Operator};

/// Numbers of 8 bits, by the definition of the formats.
pub fn decode8(bits: u8, exponent_bits: i32) -> f64 {
    let mantissa_bits = 7 - exponent_bits;
    let bias = (1 << (exponent_bits - 1)) - 1;
    let exponent = i32::from(bits & 0x7f) >> mantissa_bits;
    let mantissa = f64::from(i32::from(bits) & ((1 << mantissa_bits) - 1));
    let fraction = mantissa / f64::from(1 << mantissa_bits);
    let sign = if bits & 0x80 == 0 { 1.0 } else { -1.0 };
    let is_special = match exponent_bits {
        4 => bits & 0x7f == 0x7f,
        _ => exponent == 31,
    };
    match (is_special, exponent) {
        (true, _) if exponent_bits == 5 && mantissa == 0.0 => sign * f64::INFINITY,
        (true, _) => f64::NAN,
        (_, 0) => sign * fraction * 2_f64.powi(1 - bias),
        _ => sign * (1.0 + fraction) * 2_f64.powi(exponent - bias),
    }
}

/// The code whose number is nearest, of two the even one; the greatest if it is beyond.
fn nearest8(value: f64, exponent_bits: i32) -> u8 {
    let finite = (0..=0x7f_u8).filter(|&bits| decode8(bits, exponent_bits).is_finite());
    let size = value.abs().min(1e9);
    let distance = |bits: u8| (decode8(bits, exponent_bits) - size).abs();
    let best = finite.min_by(|&a, &b| {
        let odd = |bits: u8| bits & 1;
        distance(a)
            .total_cmp(&distance(b))
            .then(odd(a).cmp(&odd(b)))
    });
    let sign = if value.is_sign_negative() { 0x80 } else { 0 };
    best.expect("there are some") | sign
}

/// A small whole number as the bytes of a type.
pub fn encode(value: i64, data_type: DataType) -> Vec<u8> {
    let float = value as f32;
    match data_type {
        DataType::Int8 | DataType::Uint8 => vec![value as u8],
        DataType::Int32 | DataType::Uint32 => (value as i32).to_le_bytes().to_vec(),
        DataType::Int64 | DataType::Uint64 => value.to_le_bytes().to_vec(),
        DataType::Float16 => f16::from_f32(float).to_le_bytes().to_vec(),
        DataType::Float32 => float.to_le_bytes().to_vec(),
        DataType::Float64 => (value as f64).to_le_bytes().to_vec(),
        DataType::Bfloat16 => bf16::from_f32(float).to_le_bytes().to_vec(),
        DataType::Float8e4m3 => vec![nearest8(value as f64, 4)],
        DataType::Float8e5m2 => vec![nearest8(value as f64, 5)],
    }
}

/// The numbers that bytes of a type are.
pub fn decode(bytes: &[u8], data_type: DataType) -> Vec<f64> {
    let one = |bytes: &[u8]| {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let word = u64::from_le_bytes(wide);
        match data_type {
            DataType::Int8 => f64::from(word as i8),
            DataType::Uint8 => f64::from(word as u8),
            DataType::Int32 => f64::from(word as i32),
            DataType::Uint32 => f64::from(word as u32),
            DataType::Int64 => word as i64 as f64,
            DataType::Uint64 => word as f64,
            DataType::Float16 => f16::from_bits(word as u16).to_f64(),
            DataType::Float32 => f64::from(f32::from_bits(word as u32)),
            DataType::Float64 => f64::from_bits(word),
            DataType::Bfloat16 => bf16::from_bits(word as u16).to_f64(),
            DataType::Float8e4m3 => decode8(word as u8, 4),
            DataType::Float8e5m2 => decode8(word as u8, 5),
        }
    };
    bytes.chunks_exact(data_type.bytes()).map(one).collect()
}

#[test]
fn numbers_of_8_bits_are_rounded_and_limited() {
    for (data_type, exponent_bits) in [(DataType::Float8e4m3, 4), (DataType::Float8e5m2, 5)] {
        for a in 0..=u8::MAX {
            for b in (0..=u8::MAX).step_by(5) {
                let sum = combine(data_type, Operator::Sum, &[&[a], &[b]])[0];
                let exact = decode8(a, exponent_bits) + decode8(b, exponent_bits);
                // CUDA adds numbers of 16 bits.
                let exact = f16::from_f64(exact).to_f64();
                match exact.is_nan() {
                    true => assert!(decode8(sum, exponent_bits).is_nan()),
                    false => assert_eq!(sum, nearest8(exact, exponent_bits), "{a:#x} + {b:#x}"),
                }
            }
        }
    }
}

#[test]
fn what_overflows_or_is_no_number_is_as_in_cuda() {
    let sum = |data_type, a: &[u8], b: &[u8]| combine(data_type, Operator::Sum, &[a, b]);
    assert_eq!(sum(DataType::Int8, &[127], &[1]), [128]);
    assert_eq!(sum(DataType::Uint8, &[255], &[2]), [1]);
    let nan = f32::NAN.to_le_bytes();
    let two = 2_f32.to_le_bytes();
    for operator in [Operator::Max, Operator::Min] {
        assert_eq!(combine(DataType::Float32, operator, &[&nan, &two]), two);
    }
    // Averages of integers are rounded towards zero, those of floats the sum of shares.
    let minus = |n: i32| (-n).to_le_bytes();
    let average = combine(DataType::Int32, Operator::Avg, &[&minus(3), &minus(4)]);
    assert_eq!(average, minus(3));
    let mut half = f16::from_f32(3.0).to_le_bytes();
    scale(
        DataType::Float16,
        &f16::from_f32(0.1).to_le_bytes(),
        &mut half,
    );
    assert_eq!(
        f16::from_le_bytes(half),
        f16::from_f32(3.0) * f16::from_f32(0.1)
    );
}
