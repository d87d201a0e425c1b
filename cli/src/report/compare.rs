//! Two bench runs side by side: what became faster, what slower, and what is noise.
//!
//! A difference is real if it is larger than the band of noise around it: the usual
//! deviation of both sides' runs from their medians, and never less than
//! [`LEAST_BAND`], because two runs of the program differ by more than two timed runs
//! within one.

use crate::report::bench::BenchReport;
use lesson::Measurement;
use lesson::measure::{Side, Times, geometric_mean};

/// The band that two runs of the program cannot be expected to stay within.
pub const LEAST_BAND: f64 = 0.01;

/// How a kernel has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It takes less time, by more than noise.
    Faster,
    /// It takes more time, by more than noise.
    Slower,
    /// The difference is noise.
    Same,
}

impl Verdict {
    /// As people read it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "SLOWER",
            Self::Same => "same within noise",
        }
    }
}

/// Old and new times of one thing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Its speed relative to before.
    pub speed: f64,
    /// A speed between 1 ÷ (1 + band) and 1 + band is noise.
    pub band: f64,
    /// The verdict from the two.
    pub verdict: Verdict,
}

impl Change {
    /// The change from `old` to `new`.
    pub fn between(old: &Times, new: &Times) -> Self {
        let speed = old.median_ms / new.median_ms;
        let band = (old.spread() + new.spread()).max(LEAST_BAND);
        let verdict = if speed > 1.0 + band {
            Verdict::Faster
        } else if speed < 1.0 / (1.0 + band) {
            Verdict::Slower
        } else {
            Verdict::Same
        };
        Self {
            speed,
            band,
            verdict,
        }
    }
}

/// A comparison of the cases that two reports share.
#[derive(Clone, Debug, Default)]
pub struct Comparison<'r> {
    /// The new cases with their changes.
    pub changes: Vec<(&'r Measurement, Change)>,
    /// New cases that the old report does not have.
    pub n_new: usize,
    /// Old cases that the new report does not have.
    pub n_gone: usize,
    /// The speed, relative to before, of the copies timed alongside the kernels, which no
    /// change of ours makes faster: the machine's own drift.
    pub drift: Option<f64>,
}

impl<'r> Comparison<'r> {
    /// The comparison from `old` to `new`.
    pub fn of(old: &BenchReport, new: &'r BenchReport) -> Self {
        let same = |a: &Measurement, b: &Measurement| a.kernel == b.kernel && a.shape == b.shape;
        let mut comparison = Self {
            n_gone: old
                .cases
                .iter()
                .filter(|old| !new.cases.iter().any(|new| same(old, new)))
                .count(),
            ..Self::default()
        };
        let mut drifts = Vec::new();
        for case in &new.cases {
            let Some(before) = old.cases.iter().find(|old| same(old, case)) else {
                comparison.n_new += 1;
                continue;
            };
            let both = |side| Some((before.times.get(&side)?, case.times.get(&side)?));
            if let Some((old, new)) = both(Side::Kernel) {
                comparison.changes.push((case, Change::between(old, new)));
            }
            if let Some((old, new)) = both(Side::Copy) {
                drifts.push(old.median_ms / new.median_ms);
            }
        }
        comparison.drift = geometric_mean(drifts);
        comparison
    }

    /// How many have this verdict.
    pub fn n_of(&self, verdict: Verdict) -> usize {
        let verdicts = self.changes.iter().map(|(_, change)| change.verdict);
        verdicts.filter(|&of| of == verdict).count()
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, Comparison, LEAST_BAND, Verdict};
    use crate::report::bench::tests::{case, report, times};
    use lesson::measure::{Side, Times};

    #[test]
    fn a_small_difference_is_noise_and_a_large_one_is_not() {
        let verdict = |old, new| Change::between(&times(old), &times(new)).verdict;
        assert_eq!(verdict(1.0, 1.0), Verdict::Same);
        assert_eq!(verdict(1.0, 1.009), Verdict::Same);
        assert_eq!(verdict(1.0, 0.992), Verdict::Same);
        assert_eq!(verdict(1.0, 1.02), Verdict::Slower);
        assert_eq!(verdict(1.0, 0.98), Verdict::Faster);
    }

    #[test]
    fn the_band_grows_with_the_spread_of_both() {
        let steady = times(1.0);
        let change = Change::between(&steady, &steady);
        assert!((change.band - LEAST_BAND).abs() < 1e-9, "{}", change.band);
        let noisy = Times {
            q1_ms: 0.9,
            q3_ms: 1.1,
            ..times(1.0)
        };
        let median_ms = 1.09;
        let change = Change::between(&noisy, &Times { median_ms, ..noisy });
        assert!(change.band > 0.15, "{}", change.band);
        assert_eq!(change.verdict, Verdict::Same);
    }

    #[test]
    fn only_cases_of_both_are_compared() {
        let of = |kernel: &str, ms, copy_ms| {
            let sides = [(Side::Kernel, ms), (Side::Copy, copy_ms)];
            case("l", kernel, "8", &sides)
        };
        let old = ["a", "gone", "b"].map(|kernel| of(kernel, 1.0, 1.0));
        let new = [("a", 0.5, 1.02), ("b", 2.0, 1.02), ("new", 1.0, 1.0)];
        let new = new.map(|(kernel, ms, copy_ms)| of(kernel, ms, copy_ms));
        let (old, new) = (report(old.into()), report(new.into()));
        let comparison = Comparison::of(&old, &new);
        assert_eq!((comparison.n_new, comparison.n_gone), (1, 1));
        assert_eq!(comparison.n_of(Verdict::Faster), 1);
        assert_eq!(comparison.n_of(Verdict::Slower), 1);
        assert_eq!(comparison.n_of(Verdict::Same), 0);
        let drift = comparison.drift.expect("copies");
        assert!((drift - 1.0 / 1.02).abs() < 1e-9);
    }
}
