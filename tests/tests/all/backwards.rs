//! Launches of the catalogue's kernels, forwards and backwards: what a launch is at a moment does
//! not depend on the way that led there.

use cli::explain::default_shape;
use cli::profile::run_case;
use host::{kernels, registry};
use lockstep::engine::sim::Sim;
use ptx_sim::Schedule;
use ptx_sim::debug::Session;
use std::cell::Cell;
use std::rc::Rc;

/// Kernels with copies in flight, barriers in memory, products, clusters, atomics and shuffles.
const KERNELS: [&str; 10] = [
    "copy_vectorized",
    "transpose_swizzled",
    "reduce_shared",
    "reduce_fast",
    "sgemm_tiled",
    "gemm_pipelined",
    "gemm_wgmma",
    "gemm_tma",
    "gemm_split_k_64x128",
    "gemm_by_mma",
];

/// Moments that are compared.
const MOMENTS: usize = 4;

fn at(session: &mut Session<'_, '_>, time: u64) -> u64 {
    session.go_to(time);
    assert_eq!(session.time(), time);
    session.fingerprint()
}

/// Goes forwards and back to moments in the first part of a launch.
fn goes_both_ways(session: &mut Session<'_, '_>) {
    const MOST: u64 = 100_000;
    session.keep_every(1000);
    session.go_to(MOST);
    let last = session.time();
    let times: Vec<u64> = (1..=MOMENTS as u64).map(|i| last * i / 5 + i % 3).collect();
    session.go_to(0);
    let forwards: Vec<u64> = times.iter().map(|&time| at(session, time)).collect();
    for (&time, &known) in times.iter().zip(&forwards).rev() {
        assert_eq!(at(session, time), known, "time {time} of {last}");
    }
}

#[test]
fn ten_kernels_in_three_orders() {
    for name in KERNELS {
        let registered = registry::kernel(name).expect("it exists");
        let shape = default_shape(registered).expect("it has one");
        let module = kernels::module_with(name, None).expect("the kernels compile");
        for schedule in [None, Some(Schedule::new(1)), Some(Schedule::new(2))] {
            let sim = Sim::new(vec![module.clone()]);
            let n_debugged = Rc::new(Cell::new(0));
            let counted = Rc::clone(&n_debugged);
            sim.launch_by(Some(Rc::new(move |sim, launch| {
                if launch.entry() != name || counted.get() > 0 {
                    let options = ptx_sim::LaunchOptions::default();
                    return sim.launch_with(launch, options).map(drop);
                }
                counted.set(1);
                sim.debug(launch, schedule, goes_both_ways)
            })));
            // What it leaves is right afterwards.
            if let Err(error) = run_case(registered, &shape, &sim) {
                panic!("{name}: {error}");
            }
            assert_eq!(n_debugged.get(), 1, "{name}");
        }
    }
}
