//! Launches as a program's environment asks for them: in orders other than the usual one, and with
//! checks across devices.
//!
//! Settings belong to a process: [`program`] is one, which the other tests run.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every call is one of a C API"
)]

#[path = "../driver/client.rs"]
#[allow(dead_code, reason = "it is the other tests', too")]
mod client;
mod devices;
mod streams;
#[path = "../driver/under_test.rs"]
#[allow(unused, reason = "it is the other tests', too")]
mod under_test;

use std::path::Path;
use std::process::Command;

use client::{Client, load_module};
use serde_json::Value;
use sim_driver::Settings;

fn settings() -> Settings {
    Settings::from_environment().expect("the test has set it")
}

/// Launches all kernels, the first of them in three shapes, twice each, and prints what the host
/// finds in memory.
#[test]
#[ignore = "is the program that the other tests run"]
fn program() {
    let mut client = Client::new();
    let text = std::ffi::CString::new(include_str!("kernels.ptx")).expect("no nul");
    client.module = load_module(&text);
    for name in ["hand_over", "hand_over_rightly", "add_up"] {
        let buffer = client.upload(&[0; 6]);
        for (i, block) in [64, 64, 96, 96, 128, 128].into_iter().enumerate() {
            let word = buffer + 4 * i as u64;
            client.launch(name, 1, block, &[&word]);
        }
        let words = client.download(buffer, 6);
        println!("{name}: {words:?}");
    }
}

/// What a program prints and reports in this environment.
fn run(name: &str, program: &str, environment: &[(&str, &str)]) -> (Vec<String>, Value) {
    let report = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("orders-{name}.json"));
    let _ = std::fs::remove_file(&report);
    let mut command = Command::new(std::env::current_exe().expect("this one"));
    command.args(["--exact", program, "--ignored", "--nocapture"]);
    command.env("LOCKSTEP_SIM_REPORT", &report);
    command.envs(environment.iter().copied());
    let output = command.output().expect("it runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}");
    let text = std::fs::read_to_string(report).expect("it reports");
    let lines = printed.lines().filter(|line| line.contains(": ["));
    let found = serde_json::from_str(&text).expect("JSON");
    (lines.map(str::to_owned).collect(), found)
}

fn findings(found: &Value) -> &[Value] {
    found["findings"].as_array().expect("a list")
}

#[test]
fn the_client_sees_the_usual_order_and_the_report_what_others_do() {
    let (usual, nothing) = run("usual", "program", &[]);
    assert!(findings(&nothing).is_empty());
    assert_eq!(usual[0], "hand_over: [7, 7, 7, 7, 7, 7]");
    let (printed, found) = run("searched", "program", &[("LOCKSTEP_SIM_SCHEDULES", "20")]);
    assert_eq!(printed, usual);
    // Once: after a finding, the kernel is not tried again.
    let [finding] = findings(&found) else {
        panic!("{found:#}");
    };
    assert_eq!(
        (&finding["kernel"], &finding["launch"]),
        (&"hand_over".into(), &1.into())
    );
    let text = finding["text"].as_str().expect("a text");
    assert!(text.contains("the result depends on the order"), "{text}");
    assert!(text.contains("race: "), "{text}");
    let notes = found["notes"].as_array().expect("a list");
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0]["kernel"], "add_up");
    let tried = |kernel: &str| found["kernels"][kernel]["n_tried"].as_u64();
    assert_eq!(tried("hand_over"), Some(1));
    assert_eq!(tried("hand_over_rightly"), Some(3));
    assert_eq!(found["machine"]["schedules"], 20);
    // The program itself meets the defect if everything runs in that order.
    let schedule = finding["schedule"].as_str().expect("an order");
    let (printed, found) = run("again", "program", &[("LOCKSTEP_SIM_SCHEDULE", schedule)]);
    assert_ne!(printed[0], usual[0]);
    assert_eq!(printed[1], usual[1]);
    assert_eq!(found["machine"]["schedule"], schedule);
}

#[test]
fn how_many_launches_are_tried_can_be_said() {
    for (launches, n_tried) in [("1", 1), ("all", 6), ("0", 0)] {
        let environment = [
            ("LOCKSTEP_SIM_SCHEDULES", "2"),
            ("LOCKSTEP_SIM_SCHEDULE_LAUNCHES", launches),
        ];
        let (_, found) = run(launches, "program", &environment);
        let kernel = &found["kernels"]["hand_over_rightly"];
        assert_eq!(kernel["n_tried"], n_tried, "{launches}");
        assert_eq!(kernel["n_launches"], 6);
    }
}

/// With checks the race shows in the usual order, and nothing is tried.
#[test]
fn what_checks_find_in_the_usual_order_is_told_once() {
    let environment = [("LOCKSTEP_SIM_SCHEDULES", "5"), ("LOCKSTEP_SIM_CHECK", "1")];
    let (_, found) = run("checked", "program", &environment);
    let all = findings(&found);
    assert!(!all.is_empty());
    assert!(
        all.iter()
            .all(|f| f["kernel"] == "hand_over" && f["schedule"].is_null())
    );
    let why = found["kernels"]["hand_over"]["not_tried"].as_str();
    let why = why.expect("it was not tried");
    assert!(why.starts_with("in the usual order: race: "), "{why}");
}
