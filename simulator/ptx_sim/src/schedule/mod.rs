//! The orders in which a launch may run: blocks, warps, and diverged lanes.
//!
//! A launch always takes the same order. A GPU promises none, so a kernel may be right in
//! one order and wrong in another. A [`Schedule`] stands for another order, given by a
//! seed: the same one every time, on every machine. [`search`] tries many, and makes one
//! that fails as simple as it can.

mod choices;
mod search;

use std::fmt;
use std::str::FromStr;

pub(crate) use choices::{Choices, WINDOW};
pub use search::{Found, search};

/// An order in which a launch runs.
///
/// Written and read as `7`, `7/warps+lanes` or `7/warps+lanes/12`: the seed, what is not in
/// its usual order (everything, if not given), and for how many choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// What the choices are drawn from.
    pub seed: u64,
    /// What is not in its usual order.
    pub varies: Varies,
    /// After this many choices everything runs in its usual order.
    pub n_choices: Option<u64>,
}

/// What a [`Schedule`] changes the order of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Varies {
    /// The order of blocks, and which run at the same time.
    pub blocks: bool,
    /// Which warps of a block run, and for how long at a time.
    pub warps: bool,
    /// Diverged lanes: which go first, and whether they meet again before they must.
    pub lanes: bool,
}

impl Varies {
    /// Everything.
    pub const ALL: Self = Self {
        blocks: true,
        warps: true,
        lanes: true,
    };

    /// Nothing.
    const NONE: Self = Self {
        blocks: false,
        warps: false,
        lanes: false,
    };
}

impl Schedule {
    /// One that changes everything.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            varies: Varies::ALL,
            n_choices: None,
        }
    }
}

impl fmt::Display for Varies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            (self.blocks, "blocks"),
            (self.warps, "warps"),
            (self.lanes, "lanes"),
        ];
        let names: Vec<&str> = kinds.iter().filter(|k| k.0).map(|k| k.1).collect();
        f.write_str(&names.join("+"))
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.seed)?;
        if self.varies != Varies::ALL || self.n_choices.is_some() {
            write!(f, "/{}", self.varies)?;
        }
        match self.n_choices {
            Some(n) => write!(f, "/{n}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = |what: &str| {
            format!(
                "{what} in the schedule `{text}`: it is written as a seed, such as `7`, with what \
                 it changes, such as `7/warps+lanes`, and for how many choices, such as \
                 `7/warps+lanes/12`"
            )
        };
        let mut parts = text.split('/');
        let seed = parts.next().unwrap_or("");
        let seed = seed.parse().map_err(|_| bad("no seed"))?;
        let mut varies = Varies::ALL;
        if let Some(kinds) = parts.next() {
            varies = Varies::NONE;
            for kind in kinds.split('+') {
                match kind {
                    "blocks" => varies.blocks = true,
                    "warps" => varies.warps = true,
                    "lanes" => varies.lanes = true,
                    _ => return Err(bad("neither blocks, warps nor lanes")),
                }
            }
        }
        let n_choices = match parts.next().map(str::parse) {
            None => None,
            Some(Ok(n)) => Some(n),
            Some(Err(_)) => return Err(bad("no number of choices")),
        };
        match parts.next() {
            None => Ok(Self {
                seed,
                varies,
                n_choices,
            }),
            Some(_) => Err(bad("too much")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_read_as_they_are_written() {
        for text in [
            "0",
            "7/warps",
            "18446744073709551615/blocks+lanes",
            "7/blocks+warps+lanes/12",
        ] {
            let schedule: Schedule = text.parse().expect("a schedule");
            assert_eq!(schedule.to_string(), text);
        }
        assert_eq!("3".parse(), Ok(Schedule::new(3)));
        for text in ["", "x", "-1", "7/", "7/warp", "7/warps/", "7/warps/1/2"] {
            let error = text.parse::<Schedule>().unwrap_err();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }
}
