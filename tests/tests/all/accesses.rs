//! Single memory accesses, carried out by the simulator: each must cost what an
//! H200's counters showed, and what the rules predict from its addresses alone.

use cli::accesses::file::{self, Numbered};
use cli::accesses::{instructions, measure, patterns, rules};
use lockstep_tests::simulator;

/// What the hardware counted.
const MEASURED: [&str; 4] = [
    include_str!("../../../simulator/ptx_sim/tests/data/h200-access-counters.csv"),
    include_str!("../../../simulator/ptx_sim/tests/data/h200-access-counters-2.csv"),
    include_str!("../../../simulator/ptx_sim/tests/data/h200-access-counters-3.csv"),
    include_str!("../../../simulator/ptx_sim/tests/data/h200-access-counters-4.csv"),
];

#[test]
fn launches_on_the_simulator_cost_what_the_hardware_counted() {
    let engine = simulator(&instructions::ptx(90));
    for text in MEASURED {
        let (lines, cases): (Vec<_>, Vec<_>) = file::read(text.as_bytes())
            .expect("the data is well-formed")
            .into_iter()
            .map(|Numbered { line, case }| (line, case))
            .unzip();
        let counted = measure::launch_all(&engine, &cases).expect("they run");
        let mut different = Vec::new();
        for ((line, case), counted) in lines.iter().zip(&cases).zip(counted) {
            let counted = counted.expect("the simulator counts");
            if !case.counted.differences(&counted).is_empty() {
                different.push(*line);
            }
        }
        assert_eq!(different, [0u64; 0]);
    }
}

#[test]
fn launches_on_the_simulator_cost_what_the_rules_say() {
    let engine = simulator(&instructions::ptx(90));
    let cases = patterns::cases(instructions::on(90), 24, 5);
    let counted = measure::launch_all(&engine, &cases).expect("they run");
    for (case, counted) in cases.iter().zip(counted) {
        let counted = counted.expect("the simulator counts");
        let by_rule = rules::predict(case).expect("it is counted");
        assert_eq!(counted.differences(&by_rule), [], "{case:?}");
    }
}
