//! The counting rules against an H200's hardware counters, case by case.

use common::accesses::compared;

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

#[test]
fn fresh_cases_are_reproduced() {
    let data = include_str!("data/h200-access-counters-2.csv");
    assert_eq!(disagreeing(data), (690, vec![]));
    let data = include_str!("data/h200-access-counters-3.csv");
    assert_eq!(disagreeing(data), (2070, vec![]));
}

/// Lanes that share sectors, banks and sets in all the ways that distinguish the rule from
/// others.
#[test]
fn atomics_in_global_memory_are_reproduced() {
    let data = include_str!("data/h200-access-counters-4.csv");
    assert_eq!(disagreeing(data), (1370, vec![]));
}
