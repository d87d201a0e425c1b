//! A check that *some* order of single steps gives the values that the threads saw.
//!
//! Values are points, and a thread's step is an arrow from the value it returned
//! to the value it stored. An order of all steps in which each one starts where the
//! one before ended is a path along every arrow once: an Euler path. One exists
//! from `first` to `last` exactly if every point has as many outgoing arrows as
//! incoming ones, except for one more outgoing at `first` and one more incoming at `last`
//! (none if they are the same point), and all arrows are connected to `first`.

use std::collections::{BTreeMap, HashMap, HashSet};

/// One thread's operation.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The thread.
    pub thread: u32,
    /// Bits of the value it returned.
    pub from: u64,
    /// Bits of the value it stored.
    pub to: u64,
}

/// The reason why no order of the steps is possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// More threads found a value than it was there for.
    FoundTooOften {
        value: u64,
        n_there: i64,
        threads: Vec<u32>,
    },
    /// A value was stored and no thread found it, and it is not the last.
    Lost { value: u64, last: u64 },
    /// Threads whose values cannot be reached from the first value.
    Detached { value: u64, thread: u32 },
}

impl Wrong {
    /// In words; `part` says which half of a packed value it is, `words` what bits
    /// mean.
    pub fn describe(&self, part: &str, words: impl Fn(u64) -> String) -> String {
        match self {
            Self::FoundTooOften {
                value,
                n_there,
                threads,
            } => {
                let threads: Vec<_> = threads.iter().map(u32::to_string).collect();
                let times = if *n_there == 1 {
                    "once"
                } else {
                    &format!("{n_there} times")
                };
                format!(
                    "{part}{} was there {times}, and threads {} found it: an update is lost",
                    words(*value),
                    list(&threads)
                )
            }
            Self::Lost { value, last } => format!(
                "{part}{} was stored, no thread found it, and the last value is {}",
                words(*value),
                words(*last)
            ),
            Self::Detached { value, thread } => format!(
                "{part}thread {thread} found {}, which no step leads to from the first value",
                words(*value)
            ),
        }
    }
}

fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Checks that some order of `steps` leads from `first` to `last`.
///
/// # Errors
///
/// There is none.
pub fn check_sequence(first: u64, last: u64, steps: &[Step]) -> Result<(), Wrong> {
    // The number of times each value was there, less those it was found. At the end the last
    // value is there once, and no thread finds it.
    let mut surplus: BTreeMap<u64, i64> = BTreeMap::new();
    *surplus.entry(first).or_default() += 1;
    *surplus.entry(last).or_default() -= 1;
    for step in steps {
        *surplus.entry(step.to).or_default() += 1;
        *surplus.entry(step.from).or_default() -= 1;
    }
    surplus.retain(|_, surplus| *surplus != 0);
    // A value that was found too often tells which threads found it; report that first.
    let found_too_often = surplus
        .iter()
        .filter(|&(_, &surplus)| surplus < 0)
        .map(|(&value, &surplus)| {
            let found = steps.iter().filter(|step| step.from == value);
            let threads: Vec<u32> = found.map(|step| step.thread).collect();
            let n_there = surplus + threads.len() as i64 + i64::from(value == last);
            Wrong::FoundTooOften {
                value,
                n_there,
                threads,
            }
        })
        .find(|wrong| matches!(wrong, Wrong::FoundTooOften { threads, .. } if !threads.is_empty()));
    if let Some(wrong) = found_too_often {
        return Err(wrong);
    }
    if let Some((&value, _)) = surplus.iter().find(|&(_, &surplus)| surplus > 0) {
        return Err(Wrong::Lost { value, last });
    }
    match first_detached(first, steps) {
        Some(step) => Err(Wrong::Detached {
            value: step.from,
            thread: step.thread,
        }),
        None => Ok(()),
    }
}

/// A step that is not connected to `first`.
fn first_detached(first: u64, steps: &[Step]) -> Option<Step> {
    let mut arrows: HashMap<u64, Vec<u64>> = HashMap::new();
    for step in steps {
        arrows.entry(step.from).or_default().push(step.to);
        arrows.entry(step.to).or_default().push(step.from);
    }
    let mut reached = HashSet::from([first]);
    let mut open = vec![first];
    while let Some(value) = open.pop() {
        for &next in arrows.get(&value).into_iter().flatten() {
            if reached.insert(next) {
                open.push(next);
            }
        }
    }
    steps
        .iter()
        .copied()
        .find(|step| !reached.contains(&step.from))
}

#[cfg(test)]
mod tests {
    use super::{Step, Wrong, check_sequence};

    fn steps(pairs: &[(u64, u64)]) -> Vec<Step> {
        pairs
            .iter()
            .zip(0..)
            .map(|(&(from, to), thread)| Step { thread, from, to })
            .collect()
    }

    #[test]
    fn a_path_in_any_order_of_threads_passes() {
        assert_eq!(
            check_sequence(0, 3, &steps(&[(1, 2), (0, 1), (2, 3)])),
            Ok(())
        );
        assert_eq!(check_sequence(0, 0, &steps(&[])), Ok(()));
    }

    #[test]
    fn circles_and_standing_still_pass() {
        // 0 → 1 → 0 → 2, with a step that changes nothing at 1.
        assert_eq!(
            check_sequence(0, 2, &steps(&[(0, 1), (1, 1), (1, 0), (0, 2)])),
            Ok(())
        );
    }

    #[test]
    fn two_threads_with_the_same_value_are_a_lost_update() {
        let wrong = check_sequence(0, 2, &steps(&[(0, 1), (0, 2)])).expect_err("lost");
        assert_eq!(
            wrong,
            Wrong::FoundTooOften {
                value: 0,
                n_there: 1,
                threads: vec![0, 1]
            }
        );
        assert_eq!(
            wrong.describe("", |bits| bits.to_string()),
            "0 was there once, and threads 0 and 1 found it: an update is lost"
        );
    }

    #[test]
    fn a_last_value_that_nobody_stored_is_wrong() {
        assert_eq!(
            check_sequence(0, 9, &steps(&[(0, 1)])),
            Err(Wrong::Lost { value: 1, last: 9 })
        );
    }

    #[test]
    fn a_circle_that_nobody_entered_is_detached() {
        // Balanced everywhere, but 5 ⇄ 6 cannot be reached from 0.
        assert_eq!(
            check_sequence(0, 1, &steps(&[(0, 1), (5, 6), (6, 5)])),
            Err(Wrong::Detached {
                value: 5,
                thread: 1
            })
        );
        assert_eq!(
            check_sequence(0, 0, &steps(&[(7, 7)])),
            Err(Wrong::Detached {
                value: 7,
                thread: 0
            })
        );
    }
}
