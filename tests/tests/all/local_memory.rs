//! Local memory: where each kernel's window lives, in the PTX, in ptxas' report
//! and in the traffic.

use crate::support::{Simulator, count, entry, local_arrays, ptxas_report};
use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::local_memory::{self as kernels, BLOCK, WINDOWS, grid};
use ptx_sim::Report;

const N: u32 = 8192;

fn in_registers(window: u32) -> String {
    format!("running_mean_registers_{window}")
}

fn in_local(window: u32) -> String {
    format!("running_mean_local_{window}")
}

#[test]
fn constant_indices_leave_no_local_array_in_the_ptx() {
    for window in WINDOWS {
        let entry = entry(&in_registers(window));
        assert_eq!(local_arrays(&entry), [], "window {window}");
        assert_eq!(
            count(&entry, "ld.local") + count(&entry, "st.local"),
            0,
            "window {window}"
        );
        assert_eq!(
            count(&entry, "ld.global"),
            window as usize,
            "unrolled: window {window}"
        );
    }
}

#[test]
fn an_index_of_run_time_leaves_a_local_array_of_the_window_in_the_ptx() {
    for window in WINDOWS {
        let entry = entry(&in_local(window));
        assert_eq!(local_arrays(&entry), [(4, 4 * window)], "window {window}");
        assert!(count(&entry, "ld.local") > 0, "window {window}");
        assert!(count(&entry, "st.local") > 0, "window {window}");
    }
}

#[test]
fn ptxas_gives_a_stack_frame_to_the_local_array_and_none_to_the_registers() {
    let Some(report) = ptxas_report() else {
        return;
    };
    for window in WINDOWS {
        let registers = report[&in_registers(window)];
        assert_eq!(
            registers.stack_frame_bytes, 0,
            "window {window}: {registers:?}"
        );
        let local = report[&in_local(window)];
        let frame = (4 * window).next_multiple_of(8);
        assert_eq!(local.stack_frame_bytes, frame, "window {window}: {local:?}");
        for resources in [registers, local] {
            let spills = resources.spill_store_bytes + resources.spill_load_bytes;
            assert_eq!(spills, 0, "window {window}: {resources:?}");
            assert!((1..=255).contains(&resources.n_registers), "{resources:?}");
        }
    }
    let shared = report["running_mean_shared"];
    assert_eq!(
        (shared.stack_frame_bytes, shared.spill_store_bytes),
        (0, 0),
        "{shared:?}"
    );
    assert!(
        shared.n_registers <= 64,
        "four blocks of 256 threads: {shared:?}"
    );
}

fn run<K: Kernel<Args = (DevicePtr<f32>, DevicePtrMut<f32>, u32)>>(
    kernel: K,
    window: u32,
) -> Report {
    let values = lesson::inputs::uniform(4, N as usize);
    let mut simulator = Simulator::new();
    let input = simulator.input("input", &values);
    let output = simulator.output("output", values.len());
    let report = simulator.launch(kernel, grid(N), BLOCK, (input, output.as_mut_ptr(), N));
    let expected = host::lessons::local_memory::reference(&values, window as usize);
    assert_eq!(
        simulator.read(&output),
        expected,
        "{} is not exact",
        K::NAME
    );
    report
}

#[test]
fn local_traffic_is_the_window_there_and_back_in_whole_lines() {
    let counts = run(kernels::running_mean_local_32, 32).counts;
    let n_warps = u64::from(N / 32);
    assert_eq!(counts.local_store_requests, 32 * n_warps);
    // The compiler keeps the element that is stored last for the load of the
    // same index; it may not keep the others, because that one could have
    // overwritten them for all it knows.
    assert_eq!(counts.local_load_requests, 31 * n_warps);
    // All lanes use the same index: a word of 32 lanes is one line.
    assert_eq!(counts.local_store_sectors, 4 * counts.local_store_requests);
    assert_eq!(counts.local_load_sectors, 4 * counts.local_load_requests);
}

#[test]
fn the_shared_tile_loads_each_element_about_once() {
    use gpu_kernels::local_memory::{
        SHARED_BLOCK, TILE_ELEMENTS, running_mean_shared, shared_grid, tile_outputs,
    };
    let (window, n) = (1000, 10 * tile_outputs(1000));
    let values = lesson::inputs::uniform(5, n as usize);
    let mut simulator = Simulator::new();
    let input = simulator.input("input", &values);
    let output = simulator.output("output", values.len());
    let grid = shared_grid(n, window);
    let args = (input, output.as_mut_ptr(), n, window);
    let counts = simulator
        .launch(running_mean_shared, grid, SHARED_BLOCK, args)
        .counts;
    assert_eq!(grid, [10, 1, 1]);
    assert!(counts.global_load_bytes <= 10 * 4 * u64::from(TILE_ELEMENTS));
    assert_eq!(counts.global_store_bytes, 4 * u64::from(n));
    assert_eq!(
        (counts.shared_load_conflicts, counts.shared_store_conflicts),
        (0, 0)
    );
}

#[test]
fn the_shared_tile_moves_16_bytes_an_access() {
    let entry = entry("running_mean_shared");
    for opcode in ["ld.global", "st.shared", "ld.shared", "st.global"] {
        let n_wide = entry.body.iter().flatten().filter(|instruction| {
            instruction.opcode.starts_with(opcode)
                && [".v4.b32", ".v4.f32", ".v2.b64"]
                    .iter()
                    .any(|wide| instruction.opcode.ends_with(wide))
        });
        assert_eq!(n_wide.count(), 5, "{opcode}");
    }
    // Only the ends of the array and the tile's columns are narrower.
    assert_eq!(count(&entry, "st.global"), 5 + 1);
}
