//! `--schedules N`, `--schedule S`: orders other than the usual one, and the report of
//! a case that failed in one.

use super::exit::Stop;
use lesson::CaseResult;
use lesson::schedules::Orders;
use ptx_sim::Schedule;
use ptx_sim::schedule::Varies;

/// Options of the commands that can run in other orders.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Simulator: run each kernel in its usual order, then in N others, each from a seed
    /// (0, 1, 2, …) that determines which blocks, warps and lanes run when. A kernel's
    /// search ends with the first order that fails. That order is reduced to the simplest one
    /// that still fails, and reported with the command that repeats it. At the quick shapes,
    /// unless --full is given (run-all): each order costs as much as a whole run.
    #[arg(long, value_name = "N", value_parser = n_schedules)]
    schedules: Option<u64>,

    /// With --schedules: the first seed.
    #[arg(
        long,
        value_name = "FIRST",
        default_value_t = 0,
        requires = "schedules"
    )]
    seed: u64,

    /// Simulator: run only in this order, as reported by --schedules: 7, 7/warps or
    /// 7/warps+lanes/12. At the same shapes.
    #[arg(long, value_name = "SCHEDULE", conflicts_with = "schedules")]
    schedule: Option<Schedule>,
}

fn n_schedules(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("at least 1 schedule is needed: give 1 or more, or leave it out".to_owned()),
        Ok(n) => Ok(n),
        Err(_) => Err("a number of schedules is expected, 1 or more".to_owned()),
    }
}

impl Options {
    /// The option that was given, if one was.
    pub fn given(&self) -> Option<&'static str> {
        match (self.schedules, self.schedule) {
            (Some(_), _) => Some("--schedules"),
            (None, Some(_)) => Some("--schedule"),
            (None, None) => None,
        }
    }

    /// Whether schedules are tried that the user did not name.
    pub fn is_search(&self) -> bool {
        self.schedules.is_some()
    }

    /// The requested orders.
    pub fn orders(&self) -> Result<Orders, Stop> {
        let Some(n) = self.schedules else {
            return Ok(self.schedule.map_or(Orders::Usual, Orders::One));
        };
        let end = self.seed.checked_add(n).ok_or_else(|| {
            Stop::usage(format!(
                "--seed {} --schedules {n}: the last seed is {}; start lower, or try fewer",
                self.seed,
                u64::MAX
            ))
        })?;
        Ok(Orders::Seeds(self.seed..end))
    }
}

/// The report of the order in which a case did not pass, if it was not the usual one.
pub(super) fn told(result: &CaseResult) -> Option<String> {
    let schedule = result.schedule?;
    let order = format!("under schedule {schedule}: {}", described(schedule));
    let passed = match result.n_schedules_passed {
        None => return Some(order),
        Some(0) => String::new(),
        Some(1) => " and 1 schedule".to_owned(),
        Some(n) => format!(" and {n} schedules"),
    };
    Some(format!(
        "{order}; before it, the usual order{passed} passed"
    ))
}

/// Describes what a schedule changes.
fn described(schedule: Schedule) -> String {
    let kinds = match schedule.varies {
        Varies::ALL => "blocks, warps and lanes".to_owned(),
        some => some.to_string().replace('+', " and "),
    };
    match schedule.n_choices {
        None => format!("{kinds} in another order"),
        Some(1) => format!("{kinds} in another order, for 1 choice"),
        Some(n) => format!("{kinds} in another order, for {n} choices"),
    }
}

#[cfg(test)]
mod tests {
    use super::described;

    #[test]
    fn schedules_are_described() {
        for (text, words) in [
            ("7", "blocks, warps and lanes in another order"),
            ("7/warps", "warps in another order"),
            (
                "7/warps+lanes/12",
                "warps and lanes in another order, for 12 choices",
            ),
            ("7/blocks/1", "blocks in another order, for 1 choice"),
        ] {
            let schedule = text.parse().expect("a schedule");
            assert_eq!(described(schedule), words);
        }
    }
}
