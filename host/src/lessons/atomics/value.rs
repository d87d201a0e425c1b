//! The effect of each operation on a value, one after another; and inputs for it.

use cuda_std::launch::DeviceCopy;
use cuda_std::vector::{Bf16x2, F16x2};
use gpu_kernels::atomics::table::Operation;
use half::{bf16, f16};

/// A type of the table. Packed types are atomic part by part, and are checked
/// that way.
pub trait AtomicValue: DeviceCopy {
    /// Parts, each of which is atomic.
    const N_PARTS: usize = 1;

    /// The initial content of the place.
    fn initial(operation: Operation) -> Self;
    /// A thread's operand.
    fn operand(operation: Operation, thread: u32) -> Self;
    /// What a thread's compare-and-swap expects: values that the operands store,
    /// so that some find what they expect.
    fn cas_expected(thread: u32) -> Self;
    /// The content after the operation.
    fn after(self, operation: Operation, operand: Self, expected: Self) -> Self;
    /// Whether the last value does not depend on the order of the threads.
    fn order_is_free(operation: Operation) -> bool;
    /// Bits of a part.
    fn part(self, part: usize) -> u64;
    /// The start of a report about a part.
    fn part_name(_part: usize) -> &'static str {
        ""
    }
    /// A part's bits, as a number in words.
    fn part_words(bits: u64) -> String;
    /// Another value.
    #[cfg(test)]
    fn other_than(value: Self) -> Self;
    /// Whether the bits are the same.
    fn same(self, other: Self) -> bool {
        (0..Self::N_PARTS).all(|part| self.part(part) == other.part(part))
    }
    /// The value in words.
    fn words(self) -> String {
        (0..Self::N_PARTS)
            .map(|part| Self::part_words(self.part(part)))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// A number without pattern for a thread.
fn scrambled(thread: u32) -> u64 {
    let mut bits = u64::from(thread) + 0x9E37_79B9_7F4A_7C15;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// Values that compare-and-swap cycles through: 0 to this, and 0 again.
const N_CAS_VALUES: u32 = 8;

const fn cas_expected(thread: u32) -> u32 {
    thread % N_CAS_VALUES
}

const fn cas_operand(thread: u32) -> u32 {
    (thread + 1) % N_CAS_VALUES
}

/// Where `inc` and `dec` wrap around: many times within the threads of a block.
const COUNTER_LIMIT: u32 = 20;

macro_rules! integers {
    ($($type:ty, $unsigned:ty;)*) => { $(
        impl AtomicValue for $type {
            fn initial(operation: Operation) -> Self {
                match operation {
                    Operation::Min => <$type>::MAX,
                    Operation::Max => <$type>::MIN,
                    Operation::And => !0,
                    Operation::Add | Operation::Sub => 1000,
                    _ => 0,
                }
            }

            fn operand(operation: Operation, thread: u32) -> Self {
                let bits = scrambled(thread) as $unsigned as $type;
                match operation {
                    // One bit each, so that the threads do not all come to the
                    // same end at once.
                    Operation::And => !(1 << (bits as u32 % <$type>::BITS)),
                    Operation::Or => 1 << (bits as u32 % <$type>::BITS),
                    Operation::Cas => cas_operand(thread) as $type,
                    Operation::Inc | Operation::Dec => COUNTER_LIMIT as $type,
                    _ => bits,
                }
            }

            fn cas_expected(thread: u32) -> Self {
                cas_expected(thread) as $type
            }

            fn after(self, operation: Operation, operand: Self, expected: Self) -> Self {
                match operation {
                    Operation::Add => self.wrapping_add(operand),
                    Operation::Sub => self.wrapping_sub(operand),
                    Operation::Exch => operand,
                    Operation::Cas => if self == expected { operand } else { self },
                    Operation::Min => self.min(operand),
                    Operation::Max => self.max(operand),
                    Operation::And => self & operand,
                    Operation::Or => self | operand,
                    Operation::Xor => self ^ operand,
                    Operation::Inc => if self >= operand { 0 } else { self + 1 },
                    Operation::Dec => if self == 0 || self > operand { operand } else { self - 1 },
                }
            }

            fn order_is_free(operation: Operation) -> bool {
                !matches!(operation, Operation::Exch | Operation::Cas)
            }

            fn part(self, _: usize) -> u64 {
                u64::from(self as $unsigned)
            }

            fn part_words(bits: u64) -> String {
                (bits as $unsigned as $type).to_string()
            }

            #[cfg(test)]
            fn other_than(value: Self) -> Self {
                value ^ 0x40
            }
        }
    )* };
}
integers! {
    u32, u32;
    i32, u32;
    u64, u64;
    i64, u64;
}

/// Inputs for floats: no bits to manipulate, and sums that round.
fn float_initial(operation: Operation) -> f32 {
    match operation {
        Operation::Add | Operation::Sub => 1.5,
        _ => 0.0,
    }
}

fn float_operand(operation: Operation, thread: u32) -> f32 {
    match operation {
        Operation::Cas => cas_operand(thread) as f32,
        // Positive, and with more digits than a sum keeps.
        _ => 0.001 * ((scrambled(thread) % 997) + 1) as f32,
    }
}

macro_rules! floats {
    ($($type:ty, $bits:ty;)*) => { $(
        impl AtomicValue for $type {
            fn initial(operation: Operation) -> Self {
                float_initial(operation).into()
            }

            fn operand(operation: Operation, thread: u32) -> Self {
                float_operand(operation, thread).into()
            }

            fn cas_expected(thread: u32) -> Self {
                (cas_expected(thread) as f32).into()
            }

            fn after(self, operation: Operation, operand: Self, expected: Self) -> Self {
                match operation {
                    Operation::Add => self + operand,
                    Operation::Sub => self - operand,
                    Operation::Cas if self.to_bits() != expected.to_bits() => self,
                    _ => operand,
                }
            }

            fn order_is_free(_: Operation) -> bool {
                false
            }

            fn part(self, _: usize) -> u64 {
                self.to_bits().into()
            }

            fn part_words(bits: u64) -> String {
                <$type>::from_bits(bits as $bits).to_string()
            }

            #[cfg(test)]
            fn other_than(value: Self) -> Self {
                value + 0.75
            }
        }
    )* };
}
floats! {
    f32, u32;
    f64, u64;
}

macro_rules! packed {
    ($($type:ident, $half:ident;)*) => { $(
        impl AtomicValue for $type {
            const N_PARTS: usize = 2;

            fn initial(operation: Operation) -> Self {
                let value = $half::from_f32(float_initial(operation));
                Self::new(value, value)
            }

            fn operand(operation: Operation, thread: u32) -> Self {
                let value = |thread| $half::from_f32(float_operand(operation, thread));
                match operation {
                    // Both halves are one word to a compare-and-swap.
                    Operation::Cas => Self::new(value(thread), value(thread)),
                    _ => Self::new(value(thread), value(thread + 1000)),
                }
            }

            fn cas_expected(thread: u32) -> Self {
                let value = $half::from_f32(cas_expected(thread) as f32);
                Self::new(value, value)
            }

            fn after(self, operation: Operation, operand: Self, expected: Self) -> Self {
                // In f32, which has more than twice a half's digits: rounding
                // its sum once more rounds the true sum once.
                let each = |on: fn(f32, f32) -> f32| {
                    Self::new(
                        $half::from_f32(on(self.x.to_f32(), operand.x.to_f32())),
                        $half::from_f32(on(self.y.to_f32(), operand.y.to_f32())),
                    )
                };
                match operation {
                    Operation::Add => each(|a, b| a + b),
                    Operation::Sub => each(|a, b| a - b),
                    Operation::Cas if self.to_bits() != expected.to_bits() => self,
                    _ => operand,
                }
            }

            fn order_is_free(_: Operation) -> bool {
                false
            }

            fn part(self, part: usize) -> u64 {
                [self.x, self.y][part].to_bits().into()
            }

            fn part_name(part: usize) -> &'static str {
                ["low half: ", "high half: "][part]
            }

            fn part_words(bits: u64) -> String {
                $half::from_bits(bits as u16).to_string()
            }

            #[cfg(test)]
            fn other_than(value: Self) -> Self {
                Self::new(value.x + $half::from_f32(50.0), value.y)
            }
        }
    )* };
}
packed! {
    F16x2, f16;
    Bf16x2, bf16;
}
