//! The search for a schedule that fails.

use super::{Schedule, Varies};

/// A schedule that fails.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found<E> {
    /// The schedule: of those tried with its seed that fail, one that leaves most in the
    /// usual order.
    pub schedule: Schedule,
    /// How it fails.
    pub error: E,
    /// Schedules that did not fail before.
    pub n_passed: u64,
}

/// Calls `run` with the schedules of `seeds`, until one fails; then with simpler ones of
/// its seed, which change the order of fewer things, by fewer choices. Gives the simplest
/// that fails.
///
/// `run` makes a launch by [`LaunchOptions::schedule`](crate::LaunchOptions::schedule),
/// each time on the same initial memory, and checks the result.
///
/// ```
/// use ptx_sim::{LaunchOptions, schedule};
///
/// let found = schedule::search(0..100, |schedule| {
///     let options = LaunchOptions { schedule: Some(schedule), ..LaunchOptions::default() };
/// #   let launch_and_compare = |_: LaunchOptions| Ok::<(), String>(());
///     launch_and_compare(options)
/// });
/// assert!(found.is_none(), "schedule {}", found.unwrap().schedule);
/// ```
pub fn search<E>(
    seeds: impl IntoIterator<Item = u64>,
    mut run: impl FnMut(Schedule) -> Result<(), E>,
) -> Option<Found<E>> {
    let mut n_passed = 0;
    for seed in seeds {
        match run(Schedule::new(seed)) {
            Ok(()) => n_passed += 1,
            Err(error) => {
                let found = Found {
                    schedule: Schedule::new(seed),
                    error,
                    n_passed,
                };
                return Some(simplified(found, &mut run));
            }
        }
    }
    None
}

/// Takes the simplest of some schedules, simplest first, that fails.
fn take_first<E>(
    found: &mut Found<E>,
    run: &mut impl FnMut(Schedule) -> Result<(), E>,
    schedules: impl IntoIterator<Item = Schedule>,
) -> bool {
    schedules.into_iter().any(|schedule| {
        let Err(error) = run(schedule) else {
            return false;
        };
        (found.schedule, found.error) = (schedule, error);
        true
    })
}

fn simplified<E>(mut found: Found<E>, run: &mut impl FnMut(Schedule) -> Result<(), E>) -> Found<E> {
    let whole = found.schedule;
    let kinds = (1..7u32).map(|kinds| Varies {
        blocks: kinds & 1 != 0,
        warps: kinds & 2 != 0,
        lanes: kinds & 4 != 0,
    });
    let n_kinds = |v: &Varies| [v.blocks, v.warps, v.lanes].iter().filter(|v| **v).count();
    let mut kinds: Vec<Varies> = kinds.collect();
    kinds.sort_by_key(n_kinds);
    let fewer = kinds.into_iter().map(|varies| Schedule { varies, ..whole });
    take_first(&mut found, run, fewer);

    // How many choices it takes: between two powers of two, then exactly. A longer prefix
    // of the same choices need not fail where a shorter one does, but mostly it does.
    let first = |n| Schedule {
        n_choices: Some(n),
        ..found.schedule
    };
    let powers: Vec<Schedule> = (0..24).map(|power| first(1 << power)).collect();
    if !take_first(&mut found, run, powers) {
        return found;
    }
    let mut fails = found.schedule.n_choices.unwrap_or(1);
    let mut passes = fails / 2;
    while passes + 1 < fails {
        let middle = passes.midpoint(fails);
        let schedule = Schedule {
            n_choices: Some(middle),
            ..found.schedule
        };
        if take_first(&mut found, run, [schedule]) {
            fails = middle;
        } else {
            passes = middle;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_is_made_as_simple_as_it_can_be() {
        // Fails with seed 5 where warps vary, for 37 choices or more.
        let fails = |s: Schedule| {
            s.seed == 5 && s.varies.warps && s.n_choices.is_none_or(|choices| choices >= 37)
        };
        let mut n_runs = 0;
        let run = |schedule| {
            n_runs += 1;
            if fails(schedule) {
                Err("wrong")
            } else {
                Ok(())
            }
        };
        let found = search(0..10, run).expect("seed 5");
        assert_eq!(found.schedule.to_string(), "5/warps/37");
        assert_eq!((found.n_passed, found.error), (5, "wrong"));
        assert!(n_runs < 30, "{n_runs}");
    }

    #[test]
    fn what_takes_two_kinds_keeps_both() {
        let run = |s: Schedule| {
            if s.varies.warps && s.varies.lanes {
                Err(())
            } else {
                Ok(())
            }
        };
        let found = search([9], run).expect("at once");
        assert_eq!(found.schedule.to_string(), "9/warps+lanes/1");
    }

    #[test]
    fn nothing_is_found_where_nothing_fails() {
        assert!(search(0..10, |_| Ok::<(), ()>(())).is_none());
    }
}
