//! The counting rules against an H200's hardware counters, case by case.

use crate::common::accesses::compared;

/// How many lines a data file has, and those that the rules do not reproduce.
fn disagreeing(data: &str) -> (usize, Vec<usize>) {
    let wrong = compared(data).filter(|access| !access.agrees());
    (
        compared(data).count(),
        wrong.map(|access| access.line).collect(),
    )
}

#[test]
fn every_measured_case_is_reproduced() {
    let data = include_str!("data/h200-access-counters.csv");
    assert_eq!(disagreeing(data), (230, vec![]));
}

/// One in forty atomics in global memory counts one or two sectors more than any rule
/// we know of. They are named here, so that a better rule shows.
#[test]
fn fresh_cases_are_reproduced_but_for_some_atomics() {
    let data = include_str!("data/h200-access-counters-2.csv");
    assert_eq!(disagreeing(data), (690, vec![564, 613]));
    let data = include_str!("data/h200-access-counters-3.csv");
    let unexplained = vec![569, 603, 607, 1221, 1253, 1901, 1907, 2001];
    assert_eq!(disagreeing(data), (2070, unexplained));
}
