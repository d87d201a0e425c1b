//! Products with the device to themselves: the fastest kernel by time, compared with one baseline
//! for each shape.
//!
//! Every row of a run has cuBLASLt's times; the baseline of a shape is the least of them, so that no
//! kernel has its own baseline. The fastest kernel is the one that takes the least time without a
//! pause, whatever ratio its own row has.

use lesson::Measurement;
use lesson::measure::{Alone, Ratio, Side, State, geometric_mean};

/// The best that cuBLASLt reaches on a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Baseline {
    rested_ms: f64,
    steady_ms: f64,
    joules: Option<f64>,
}

impl Baseline {
    /// For the shape of a kernel and factors of its type.
    pub fn of(cases: &[Measurement], one: &Measurement) -> Option<Self> {
        let same = cases.iter().filter(|case| is_like(case, one));
        let theirs = same.filter_map(|case| case.alone.get(&Side::CublasLt));
        let least = |state: State| {
            let all = theirs.clone();
            all.min_by(|a, b| a.median_ms(state).total_cmp(&b.median_ms(state)))
        };
        let steady = least(State::Steady)?;
        Some(Self {
            rested_ms: least(State::Rested)?.median_ms(State::Rested),
            steady_ms: steady.median_ms(State::Steady),
            joules: steady.joules,
        })
    }
}

/// Whether a kernel's factors are bf16.
pub fn is_bf16(one: &Measurement) -> bool {
    one.kernel.contains("_bf16_")
}

/// Whether two rows are of the same product.
fn is_like(one: &Measurement, other: &Measurement) -> bool {
    one.lesson == other.lesson && one.shape == other.shape && is_bf16(one) == is_bf16(other)
}

/// A kernel compared with the baseline of its shape: relative speed and energy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beside {
    /// Both alone, without a pause.
    pub steady: f64,
    /// Both alone, after a rest.
    pub rested: f64,
    /// Alternating, by pairs of runs.
    pub in_turn: Option<f64>,
    /// Energy per product over the baseline's, without a pause.
    pub energy: Option<f64>,
}

impl Beside {
    /// The comparison for a kernel that was timed this way.
    pub fn of(cases: &[Measurement], one: &Measurement) -> Option<Self> {
        let baseline = Baseline::of(cases, one)?;
        let own = one.alone.get(&Side::Kernel)?;
        let (own_joules, joules) = (own.joules, baseline.joules);
        Some(Self {
            steady: baseline.steady_ms / one.alone_ms(State::Steady)?,
            rested: baseline.rested_ms / one.alone_ms(State::Rested)?,
            in_turn: one.ratio_to(Side::CublasLt).map(|ratio| ratio.median),
            energy: own_joules.zip(joules).map(|(own, theirs)| own / theirs),
        })
    }

    /// The relative speed in a state.
    pub fn in_state(&self, state: State) -> f64 {
        match state {
            State::Steady => self.steady,
            State::Rested => self.rested,
        }
    }
}

/// The speed relative to the baseline without a pause, with the spread of the kernel's times.
pub fn steady_ratio(cases: &[Measurement], one: &Measurement) -> Option<Ratio> {
    let theirs = Baseline::of(cases, one)?.steady_ms;
    one.alone_ms(State::Steady)?;
    let Alone { steady, .. } = one.alone.get(&Side::Kernel)?;
    Some(Ratio {
        median: theirs / steady.median_ms,
        p10: theirs / steady.p90_ms,
        q1: theirs / steady.q3_ms,
        q3: theirs / steady.q1_ms,
        p90: theirs / steady.p10_ms,
    })
}

/// Among the chosen kernels, the one that takes the least time on a shape without a pause.
pub fn fastest(
    cases: &[Measurement],
    dims: [u32; 3],
    is_meant: impl Fn(&Measurement) -> bool,
) -> Option<&Measurement> {
    let dims = dims.map(u64::from);
    let meant = cases
        .iter()
        .filter(|case| case.dims() == dims && is_meant(case));
    let timed = meant.filter_map(|case| Some((case, case.alone_ms(State::Steady)?)));
    let least = timed.min_by(|(_, a), (_, b)| a.total_cmp(b));
    least.map(|(case, _)| case)
}

/// The geometric mean of some kernels relative to their baselines in a state, and the worst with
/// its shape.
pub fn summary<'c>(
    all: &[(&'c Measurement, Beside)],
    state: State,
) -> Option<(f64, (f64, &'c Measurement))> {
    let mean = geometric_mean(all.iter().map(|(_, beside)| beside.in_state(state)))?;
    let mut worst = all
        .iter()
        .map(|(case, beside)| (beside.in_state(state), *case));
    let first = worst.next()?;
    let worst = worst.fold(first, |a, b| if b.0 < a.0 { b } else { a });
    Some((mean, worst))
}

#[cfg(test)]
mod tests {
    use super::{Baseline, Beside, fastest, summary};
    use lesson::Measurement;
    use lesson::made_up::timed;
    use lesson::measure::State;

    const CUBE: [u32; 3] = [4096; 3];

    #[test]
    fn the_fastest_is_so_by_its_time_alone_and_not_by_its_ratio() {
        let cases = [
            // A slow kernel paired with a slow run of the library.
            timed("gemm_a", CUBE, (2.0, 2.2, 1.5), (2.1, 2.4, 1.6), 1.09),
            timed("gemm_b", CUBE, (1.8, 2.0, 1.4), (1.9, 2.0, 1.4), 0.98),
            timed("gemm_bf16_c", CUBE, (1.0, 1.1, 1.0), (1.0, 1.1, 1.0), 1.2),
        ];
        let is_f16 = |one: &Measurement| !super::is_bf16(one);
        let found = fastest(&cases, CUBE, is_f16).expect("measured");
        assert_eq!(found.kernel, "gemm_b");
        assert!(fastest(&cases, [2048; 3], |_| true).is_none());
    }

    #[test]
    fn a_shape_has_one_baseline_the_best_of_all_rows_in_each_state() {
        let cases = [
            timed("gemm_a", CUBE, (2.0, 2.2, 1.5), (1.8, 2.4, 1.6), 1.09),
            timed("gemm_b", CUBE, (1.8, 2.0, 1.4), (1.9, 2.0, 1.4), 0.98),
            // Another type, another shape.
            timed("gemm_bf16_c", CUBE, (1.0, 1.1, 1.0), (1.0, 1.1, 1.0), 1.2),
            timed("gemm_a", [2048; 3], (0.2, 0.2, 0.1), (0.2, 0.2, 0.1), 1.0),
        ];
        for one in &cases[..2] {
            let baseline = Baseline::of(&cases, one).expect("measured");
            assert_eq!((baseline.rested_ms, baseline.steady_ms), (1.8, 2.0));
            assert_eq!(baseline.joules, Some(1.4), "of the best without a pause");
        }
        let beside = Beside::of(&cases, &cases[0]).expect("measured");
        assert!((beside.steady - 2.0 / 2.2).abs() < 1e-12);
        assert!((beside.rested - 0.9).abs() < 1e-12);
        assert!((beside.energy.expect("measured") - 1.5 / 1.4).abs() < 1e-12);
        assert!((beside.in_turn.expect("measured") - 1.09).abs() < 1e-6);
    }

    #[test]
    fn the_worst_is_named_in_each_state() {
        let cases = [
            timed("gemm_a", CUBE, (2.0, 1.0, 1.0), (1.0, 2.0, 1.0), 1.0),
            timed("gemm_a", [2048; 3], (1.0, 2.0, 1.0), (2.0, 1.0, 1.0), 1.0),
        ];
        let all: Vec<_> = cases
            .iter()
            .map(|one| (one, Beside::of(&cases, one).expect("measured")))
            .collect();
        let (mean, (worst, at)) = summary(&all, State::Steady).expect("some");
        assert!((mean - 1.0).abs() < 1e-12 && (worst - 0.5).abs() < 1e-12);
        assert_eq!(at.shape, "2048x2048x2048");
        let (_, (_, at)) = summary(&all, State::Rested).expect("some");
        assert_eq!(at.shape, "4096x4096x4096");
        assert!(summary(&[], State::Steady).is_none());
    }
}
