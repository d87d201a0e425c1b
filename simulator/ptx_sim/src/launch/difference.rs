//! The differences between what a launch leaves in memory in two orders of its threads, and
//! whether they must be a defect.
//!
//! A kernel may leave open what depends on the order: in which places of a list it puts
//! things, and how a sum of floats is rounded. Those are distinguished from differences that
//! no atomic explains. That is a guess, from the kernel's instructions and the bytes: it may
//! hide a defect, but not one that changes much.

use std::fmt;

use crate::decode::freedom::{Float, Freedom};
use crate::diagnostics::{LaunchError, Relation};
use crate::memory::global::GlobalMemory;
use crate::memory::journal::{Bytes, byte_at};
use crate::numeric::half::{Bf16, F16};

/// Memory in which a launch leaves something else in another order of its threads.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Difference {
    /// How many bytes differ.
    pub n_bytes: u64,
    /// The first address of a word of four bytes in which some do.
    pub address: u64,
    /// Where that is.
    pub relation: Relation,
    /// What the word is in the usual order, and in the other.
    pub words: [u32; 2],
    /// What explains it without a defect, if anything does.
    pub explanation: Option<Explanation>,
    /// What checks find in the launch, in that other order.
    pub finding: Option<Box<LaunchError>>,
}

/// What may make the result depend on the order without being a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explanation {
    /// Atomics add floats, and the values that differ agree in the upper half of their
    /// digits.
    Rounding,
    /// Atomics hand out places, and the same words are in other places.
    Places,
}

impl Difference {
    /// Between what memory holds now and what the usual order leaves; `before` is what the
    /// other order has overwritten.
    pub(super) fn find(
        memory: &GlobalMemory,
        usual: &Bytes,
        before: &Bytes,
        freedom: &Freedom,
    ) -> Option<Self> {
        let changed = usual.changed(before, memory);
        let first = changed.first()? & !3;
        let compared = Compared {
            memory,
            usual,
            before,
            changed: &changed,
        };
        let allocation = memory.find(first);
        let relation = allocation.map_or(Relation::Nowhere, |a| a.relation(first));
        Some(Self {
            n_bytes: changed.len() as u64,
            address: first,
            relation,
            words: compared.word(first, 4).map(|word| word as u32),
            explanation: compared.explanation(freedom),
            finding: None,
        })
    }
}

/// Two contents of memory, of which one is there now.
struct Compared<'a> {
    memory: &'a GlobalMemory,
    usual: &'a Bytes,
    before: &'a Bytes,
    /// Where they differ, in order.
    changed: &'a [u64],
}

impl Compared<'_> {
    fn explanation(&self, freedom: &Freedom) -> Option<Explanation> {
        let agree = |&float: &Float| {
            let words = self.words(float.n_bytes());
            words.iter().all(|&words| float.agree(words))
        };
        if freedom.sums.iter().any(agree) {
            return Some(Explanation::Rounding);
        }
        let (mut usual, mut other): (Vec<u64>, Vec<u64>) =
            self.words(4).into_iter().map(|[a, b]| (a, b)).unzip();
        usual.sort_unstable();
        other.sort_unstable();
        (freedom.takes_values && usual == other).then_some(Explanation::Places)
    }

    /// All words of this many bytes that differ.
    fn words(&self, n_bytes: u64) -> Vec<[u64; 2]> {
        let mut starts: Vec<u64> = self.changed.iter().map(|at| at & !(n_bytes - 1)).collect();
        starts.dedup();
        let word = |&start: &u64| self.word(start, n_bytes);
        starts.iter().map(word).collect()
    }

    /// What a word is in the usual order, and now.
    fn word(&self, start: u64, n_bytes: u64) -> [u64; 2] {
        let mut words = [[0; 8]; 2];
        for (i, at) in (start..start + n_bytes).enumerate() {
            let now = byte_at(self.memory, at).unwrap_or(0);
            let usual = self.usual.get(at).or_else(|| self.before.get(at));
            words[0][i] = usual.unwrap_or(now);
            words[1][i] = now;
        }
        words.map(u64::from_le_bytes)
    }
}

impl Float {
    fn n_bytes(self) -> u64 {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// A number by its bits, and the part of it that half of its digits do not determine.
    fn value(self, bits: u64) -> (f64, f64) {
        let half_of = |digits: i32| 0.5_f64.powf(f64::from(digits) / 2.0);
        match self {
            Self::F16 => (f64::from(F16(bits as u16).to_f32()), half_of(11)),
            Self::Bf16 => (f64::from(Bf16(bits as u16).to_f32()), half_of(8)),
            Self::F32 => (f64::from(f32::from_bits(bits as u32)), half_of(24)),
            Self::F64 => (f64::from_bits(bits), half_of(53)),
        }
    }

    /// Whether two numbers agree in the upper half of their digits.
    fn agree(self, words: [u64; 2]) -> bool {
        let [(a, share), (b, _)] = words.map(|bits| self.value(bits));
        let differ_by = (a - b).abs();
        differ_by.is_finite() && differ_by <= share * a.abs().max(b.abs())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_bytes = match self.n_bytes {
            1 => "1 byte differs".to_owned(),
            n => format!("{n} bytes differ"),
        };
        let [usual, other] = self.words;
        write!(
            f,
            "the result depends on the order in which threads run: {n_bytes}\n  the first word: \
             {other:#010x} instead of {usual:#010x}, at {:#x}, {}",
            self.address,
            self.relation.describe(4)
        )?;
        if let Some(explanation) = self.explanation {
            write!(f, "\n  {explanation}")?;
        }
        match &self.finding {
            Some(finding) => write!(f, "\nwith checks, in this order:\n{finding}"),
            None if self.explanation.is_some() => Ok(()),
            None => f.write_str(
                "\n  what to do: a GPU promises no order; look for a missing barrier, an update \
                 that is not atomic, or a flag that is set too early",
            ),
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rounding => {
                "the values that differ agree in the upper half of their digits: atomics that \
                 add floats explain that"
            }
            Self::Places => {
                "the same words are in other places: atomics that hand out places explain that, \
                 if nothing relies on their order"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Float;

    #[test]
    fn floats_agree_if_their_upper_digits_do() {
        let f32s = |a: f32, b: f32| Float::F32.agree([a, b].map(|x| u64::from(x.to_bits())));
        assert!(f32s(1000.0, 1000.1) && !f32s(1000.0, 1001.0));
        assert!(f32s(-0.0, 0.0) && !f32s(1.0, -1.0));
        assert!(!f32s(f32::NAN, 1.0) && !f32s(1.0, f32::INFINITY));
        let f64s = |a: f64, b: f64| Float::F64.agree([a, b].map(f64::to_bits));
        assert!(f64s(1.0, 1.0 + 1e-9) && !f64s(1.0, 1.0 + 1e-7));
        // 1 and 1 + 2^-10; 1 and 1.5.
        assert!(Float::F16.agree([0x3C00, 0x3C01]) && !Float::F16.agree([0x3C00, 0x3E00]));
        assert!(Float::Bf16.agree([0x3F80, 0x3F81]) && !Float::Bf16.agree([0x3F80, 0x3FC0]));
    }
}
