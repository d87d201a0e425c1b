//! Instructions whose result PTX or ptxas leaves open, with others next to them that settle
//! it.
//!
//! This works on the finished text, so that the rest of a program stays as it is.

/// All bits of an `f64` but the highest of its exponent: what is left is a number below
/// two, and the sum of two of them a number.
const NUMBERS: &str = "0xbfffffffffffffff";

/// An instruction of a program, settled.
pub fn settled(instruction: &str) -> Vec<String> {
    if let Some((atomic, operands)) = instruction.split_once(".add.f64 ") {
        return without_nan(atomic, operands);
    }
    let mut all = vec![instruction.to_owned()];
    if instruction.contains(".tf32.f32 ") {
        // ptxas converts it to an integer where 8 bits of it are stored; it stores those of
        // the result of a bitwise instruction unchanged.
        let d = instruction.split([' ', ',']).nth(1).expect("a destination");
        all.push(format!("xor.b32 {d}, {d}, 1"));
    }
    all
}

/// `atom.SPACE.add.f64` of a number to a number: the hardware keeps the payload of a NaN
/// and does not quiet it, unlike additions.
fn without_nan(atomic: &str, operands: &str) -> Vec<String> {
    let space = atomic
        .strip_prefix("atom")
        .expect("it gives what was there");
    let [d, place, a]: [&str; 3] = operands
        .split(", ")
        .collect::<Vec<_>>()
        .try_into()
        .expect("three operands");
    vec![
        format!("ld{space}.b64 %u1, {place}"),
        format!("and.b64 %u1, %u1, {NUMBERS}"),
        format!("st{space}.b64 {place}, %u1"),
        format!("mov.b64 %u2, {a}"),
        format!("and.b64 %u2, %u2, {NUMBERS}"),
        format!("{atomic}.add.f64 {d}, {place}, %u2"),
    ]
}
