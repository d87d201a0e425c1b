//! Traces: they hold what was counted, of one block only.

use ptx_sim::trace::TraceKind;
use ptx_sim::{LaunchOptions, Report, Trace, TraceOptions};

use common::{Bench, kernel, launch, says};

/// Launches a kernel of `kernels/transpose.ptx` on 64×64 elements, four blocks.
fn transpose(kernel: &str, options: LaunchOptions) -> Report {
    let bench = Bench::new(include_str!("kernels/transpose.ptx"));
    let n = 64u32;
    let a = bench.upload(&vec![1_u32; 64 * 64], "a");
    let b = bench.zeros::<u32>(64 * 64, "b");
    let call = bench.call(kernel).grid([2, 2]).block([32, 32]);
    let call = call.args(&[&a, &b, &n]).options(options);
    call.run().unwrap()
}

fn tracing(trace: TraceOptions) -> LaunchOptions {
    LaunchOptions {
        trace: Some(trace),
        ..LaunchOptions::default()
    }
}

fn of_block(block: u64) -> LaunchOptions {
    tracing(TraceOptions {
        block,
        ..TraceOptions::default()
    })
}

/// Conflicts in shared memory, and sectors of global memory, of what was traced.
fn cost(trace: &Trace) -> (u64, u64) {
    let mut sum = (0, 0);
    for event in &trace.events {
        if let TraceKind::Access(access) = &event.kind {
            let times = u64::from(event.times);
            sum.0 += times * u64::from(access.shared_cost().conflicts);
            sum.1 += times * u64::from(access.global_cost().sectors);
        }
    }
    sum
}

#[test]
fn the_blocks_together_cost_what_was_counted() {
    for name in ["transpose_shared", "transpose_padded"] {
        let mut sum = (0, 0);
        let mut counted = (0, 0);
        for block in 0..4 {
            let report = transpose(name, of_block(block));
            let trace = report.trace.expect("it was asked for");
            assert_eq!((trace.block, trace.is_cut), (block, false));
            let (conflicts, sectors) = cost(&trace);
            sum = (sum.0 + conflicts, sum.1 + sectors);
            let counts = report.counts;
            counted = (
                counts.shared_load_conflicts + counts.shared_store_conflicts,
                counts.global_load_sectors + counts.global_store_sectors,
            );
        }
        assert_eq!(sum, counted, "{name}");
    }
}

#[test]
fn phases_are_those_that_the_cost_is_the_sum_of() {
    let report = transpose("transpose_shared", of_block(1));
    let trace = report.trace.expect("it was asked for");
    let mut n_conflicting = 0;
    for event in &trace.events {
        let TraceKind::Access(access) = &event.kind else {
            continue;
        };
        let phases = access.phases();
        let wavefronts: u32 = phases.iter().map(|phase| phase.wavefronts).sum();
        assert_eq!(wavefronts, access.shared_cost().wavefronts);
        let lanes = phases.iter().fold(0, |all, phase| all | phase.lanes);
        let expected = if phases.is_empty() { 0 } else { access.mask };
        assert_eq!(lanes, expected);
        n_conflicting += u32::from(wavefronts == 32);
    }
    // A column per warp.
    assert_eq!(n_conflicting, 32);
}

#[test]
fn events_name_their_instructions_and_come_in_order() {
    let report = transpose("transpose_shared", of_block(0));
    let trace = report.trace.expect("it was asked for");
    let mut stored = 0;
    for event in &trace.events {
        let opcode = event
            .instruction
            .map(|at| trace.instructions[at as usize].opcode.as_str());
        match (&event.kind, opcode) {
            (TraceKind::Access(_), Some("st.shared.f32")) => stored += 1,
            (TraceKind::Access(_), Some("ld.shared.f32")) => assert_eq!(stored, 32),
            (TraceKind::Arrived { waits, .. }, Some("bar.sync")) => assert!(waits),
            (TraceKind::Released { .. }, None) => assert_eq!(stored, 32),
            (TraceKind::Access(_), Some(_)) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(stored, 32);
}

#[test]
fn no_more_is_kept_than_was_asked_for() {
    let few = TraceOptions {
        accesses: 0,
        ..TraceOptions::default()
    };
    let trace = transpose("transpose_shared", tracing(few)).trace.unwrap();
    let is_access = |kind: &TraceKind| matches!(kind, TraceKind::Access(_));
    assert!(!trace.events.is_empty());
    assert!(!trace.events.iter().any(|event| is_access(&event.kind)));
    // Each of 32 warps makes four.
    assert_eq!(trace.n_omitted, 4 * 32);
    let short = TraceOptions {
        events: 5,
        ..TraceOptions::default()
    };
    let trace = transpose("transpose_shared", tracing(short)).trace.unwrap();
    assert_eq!((trace.events.len(), trace.is_cut), (5, true));
}

#[test]
fn a_launch_that_is_not_to_be_traced_is_not() {
    let report = transpose("transpose_shared", LaunchOptions::default());
    assert_eq!(report.trace, None);
}

#[test]
fn what_cannot_be_traced_is_refused() {
    let refused = |options: LaunchOptions| {
        let launched = launch(&kernel("ret;"), &[0], |call| {
            call.grid(3).block(32).options(options)
        });
        launched.expect_err("it is refused").to_string()
    };
    let text = refused(of_block(3));
    says(&text, &["block 3 is to be traced, but the grid has 3"]);
    let text = refused(LaunchOptions {
        check: true,
        ..of_block(0)
    });
    assert!(text.contains("either checked or traced"), "{text}");
}
