//! A lesson's targets for speed: the ratio to reach, and how to find it among the measurements
//! of a run.
//!
//! A target is a ratio within one run, of medians of alternating runs. If a lesson has
//! several kernels, any of them may reach it: the fastest counts.

use crate::measure::Side;
use crate::measurement::Measurement;

/// A number to reach.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The item that should be fast.
    pub item: &'static str,
    /// What it is compared with.
    pub relative_to: &'static str,
    /// The number to reach.
    pub wanted: f64,
    /// Whether more is better.
    pub more_is_better: bool,
    /// The number among the lesson's measurements, if they have it.
    pub find: fn(&[Measurement]) -> Option<Found>,
}

impl Target {
    /// A number that should be at least `wanted`.
    pub const fn at_least(
        item: &'static str,
        relative_to: &'static str,
        wanted: f64,
        find: fn(&[Measurement]) -> Option<Found>,
    ) -> Self {
        Self {
            item,
            relative_to,
            wanted,
            more_is_better: true,
            find,
        }
    }

    /// A number that should be at most `wanted`.
    pub const fn at_most(
        item: &'static str,
        relative_to: &'static str,
        wanted: f64,
        find: fn(&[Measurement]) -> Option<Found>,
    ) -> Self {
        Self {
            more_is_better: false,
            ..Self::at_least(item, relative_to, wanted, find)
        }
    }
}

/// A number and its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The number.
    pub value: f64,
    /// Half of the distance between the quartiles of both sides, as a share of it.
    pub spread: Option<f64>,
    /// The kernel and the shape.
    pub at: String,
}

impl Found {
    /// The measured kernel's speed relative to the side.
    pub fn speed(measured: &Measurement, side: Side) -> Option<Self> {
        let other = measured.times.get(&side)?;
        Some(Self {
            value: measured.speed_of(side)?,
            spread: Some(measured.times.get(&Side::Kernel)?.spread() + other.spread()),
            at: measured.place(),
        })
    }

    /// The measured kernel's speed relative to the side, by pairs of runs.
    pub fn ratio(measured: &Measurement, side: Side) -> Option<Self> {
        let ratio = measured.ratio_to(side)?;
        Some(Self {
            value: ratio.median,
            spread: Some(ratio.spread()),
            at: measured.place(),
        })
    }

    /// Another number about a measured kernel.
    pub fn of(measured: &Measurement, value: f64) -> Self {
        let times = measured.times.get(&Side::Kernel);
        Self {
            value,
            spread: times.map(|times| times.spread()),
            at: measured.place(),
        }
    }

    /// Its reciprocal.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self {
            value: 1.0 / self.value,
            ..self
        }
    }
}

/// The least of them.
pub fn least(found: impl Iterator<Item = Found>) -> Option<Found> {
    found.min_by(|a, b| a.value.total_cmp(&b.value))
}

/// The most of them.
pub fn most(found: impl Iterator<Item = Found>) -> Option<Found> {
    found.max_by(|a, b| a.value.total_cmp(&b.value))
}
