//! Video instructions: arithmetic on words and on parts of words, with a second operation
//! after it.

/// What a video instruction computes first.
#[allow(missing_docs)] // Named as in PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Add,
    Subtract,
    AbsoluteDifference,
    Minimum,
    Maximum,
    /// Rounded up at a tie.
    Average,
    ShiftLeft,
    ShiftRight,
    MultiplyAdd,
    Compare,
}

/// Which part of a word counts: 0 to 3 a byte, 4 and 5 a half, 6 all of it.
pub type Part = u8;
/// All of a word.
pub const WHOLE: Part = 6;

/// The second operation, with the third operand.
#[allow(missing_docs)] // Named as in PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Second {
    None,
    Add,
    Minimum,
    Maximum,
}

/// A comparison of `vset`.
#[allow(missing_docs)] // Named as in PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A video instruction on words, with everything that its opcode says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Video {
    /// What is computed first.
    pub operation: Operation,
    /// Whether the result, the first and the second source have a sign.
    pub signed: [bool; 3],
    /// `.sat`
    pub saturates: bool,
    /// Parts of the destination, the first and the second source.
    pub parts: [Part; 3],
    /// What is done with the third source.
    pub second: Second,
    /// Of shifts: by the lowest five bits of the distance, else by at most 32.
    pub wraps: bool,
    /// Of `vset`.
    pub comparison: Comparison,
    /// Of a product: bits that the sum is shifted right by, 0, 7 or 15.
    pub scale: u8,
    /// Of a product: 1 is added.
    pub plus_one: bool,
    /// 1, or 2 or 4 for an operation on each half or byte.
    pub lanes: u8,
}

impl Video {
    /// Computes `d` from `a`, `b` and `c`.
    pub fn apply(&self, a: u32, b: u32, c: u32) -> u32 {
        if self.lanes > 1 {
            return self.apply_to_parts(a, b, c);
        }
        let [_, a_signed, b_signed] = self.signed;
        let [to, a_part, b_part] = self.parts;
        let (x, y) = (part(a, a_part, a_signed), part(b, b_part, b_signed));
        if self.operation == Operation::MultiplyAdd {
            return self.multiply_add(x, y, c);
        }
        let first = self.saturated(self.first(x, y), to);
        let second = self.second(first, c);
        match to {
            0..=3 => merged(second, c, 8, u32::from(to)),
            4 | 5 => merged(second, c, 16, u32::from(to - 4)),
            _ => second,
        }
    }

    fn first(&self, x: i64, y: i64) -> i64 {
        match self.operation {
            Operation::Add => x + y,
            Operation::Subtract => x - y,
            Operation::AbsoluteDifference => (x - y).abs(),
            Operation::Minimum => x.min(y),
            Operation::Maximum => x.max(y),
            Operation::Average => (x + y + i64::from(x + y >= 0)) >> 1,
            Operation::ShiftLeft => x << self.distance(y),
            Operation::ShiftRight => x >> self.distance(y),
            Operation::MultiplyAdd => x * y,
            Operation::Compare => i64::from(match self.comparison {
                Comparison::Equal => x == y,
                Comparison::NotEqual => x != y,
                Comparison::Less => x < y,
                Comparison::LessOrEqual => x <= y,
                Comparison::Greater => x > y,
                Comparison::GreaterOrEqual => x >= y,
            }),
        }
    }

    /// A shift's distance, which has no sign.
    fn distance(&self, y: i64) -> u32 {
        let distance = y as u32;
        if self.wraps {
            distance & 31
        } else {
            distance.min(32)
        }
    }

    /// Limited to the destination's part, if asked to.
    fn saturated(&self, value: i64, to: Part) -> i64 {
        if !self.saturates {
            return value;
        }
        let n_bits = match (self.lanes, to) {
            (4, _) | (1, 0..=3) => 8,
            (2, _) | (1, 4 | 5) => 16,
            _ => 32,
        };
        limited(value, n_bits, self.signed[0])
    }

    /// The second operation, on the whole of the first's result, which may not fit a
    /// word. Sums and differences are words with a sign, whatever the result's type,
    /// unless they were limited to it, as on an H200.
    fn second(&self, first: i64, c: u32) -> u32 {
        let first = match self.operation {
            Operation::Add | Operation::Subtract if !self.saturates => i64::from(first as i32),
            _ => first,
        };
        let is_less = if self.signed[0] {
            first < i64::from(c as i32)
        } else {
            (first as u64) < u64::from(c)
        };
        match self.second {
            Second::None => first as u32,
            Second::Add => (first as u32).wrapping_add(c),
            Second::Minimum if is_less => first as u32,
            Second::Maximum if !is_less => first as u32,
            Second::Minimum | Second::Maximum => c,
        }
    }

    /// `vmad`: the third operand has a sign if a factor has.
    fn multiply_add(&self, x: i64, y: i64, c: u32) -> u32 {
        let signed = self.signed[1] || self.signed[2];
        let c = if signed {
            i64::from(c as i32)
        } else {
            i64::from(c)
        };
        let sum = i128::from(x) * i128::from(y) + i128::from(c) + i128::from(self.plus_one);
        let scaled = sum >> self.scale;
        if !self.saturates {
            return scaled as u32;
        }
        let scaled = scaled.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        limited(scaled, 32, signed) as u32
    }

    /// The operation on each half or byte.
    fn apply_to_parts(&self, a: u32, b: u32, c: u32) -> u32 {
        let [_, a_signed, b_signed] = self.signed;
        let n_bits = 32 / u32::from(self.lanes);
        let first = if self.lanes == 2 { 4 } else { 0 };
        (0..self.lanes).fold(
            if self.second == Second::Add { c } else { 0 },
            |result, i| {
                let (x, y) = (part(a, first + i, a_signed), part(b, first + i, b_signed));
                let value = self.saturated(self.first(x, y), WHOLE) as u32;
                if self.second == Second::Add {
                    result.wrapping_add(value)
                } else {
                    merged(value, result, n_bits, u32::from(i))
                }
            },
        )
    }
}

/// A part of a word, extended by its sign if it has one.
fn part(word: u32, part: Part, signed: bool) -> i64 {
    let (n_bits, place) = match part {
        0..=3 => (8, 8 * u32::from(part)),
        4 | 5 => (16, 16 * u32::from(part - 4)),
        _ => (32, 0),
    };
    let high = word << (32 - n_bits - place);
    match signed {
        true => i64::from(high as i32 >> (32 - n_bits)),
        false => i64::from(high >> (32 - n_bits)),
    }
}

/// `c` with the lowest bits of `value` at a place.
fn merged(value: u32, c: u32, n_bits: u32, place: u32) -> u32 {
    let mask = (u32::MAX >> (32 - n_bits)) << (n_bits * place);
    c & !mask | value << (n_bits * place) & mask
}

fn limited(value: i64, n_bits: u32, signed: bool) -> i64 {
    if signed {
        value.clamp(-(1 << (n_bits - 1)), (1 << (n_bits - 1)) - 1)
    } else {
        value.clamp(0, (1 << n_bits) - 1)
    }
}
