//! Local memory: where each kernel's window lives, in the PTX, in ptxas' report
//! and in the traffic.

use crate::support::{ARCH, count, entry, local_arrays, opcodes, ptxas_report};
use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::local_memory::{self as kernels, BLOCK, WINDOWS, grid};
use lockstep::{Device, LaunchConfig};
use ptx_sim::Counts;

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
        let n_local = count(&entry, "ld.local") + count(&entry, "st.local");
        assert_eq!(n_local, 0, "window {window}");
        let n_loads = count(&entry, "ld.global");
        assert_eq!(n_loads, window as usize, "unrolled: window {window}");
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
        let frame = registers.stack_frame_bytes;
        assert_eq!(frame, 0, "window {window}: {registers:?}");
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
    let in_memory = (shared.stack_frame_bytes, shared.spill_store_bytes);
    assert_eq!(in_memory, (0, 0), "{shared:?}");
    // Four blocks of 256 threads.
    assert!(shared.n_registers <= 64, "{shared:?}");
}

/// Runs a kernel of the oldest architecture on the simulator; what it wrote, and its counts.
fn run<K: Kernel>(
    kernel: K,
    config: LaunchConfig,
    values: &[f32],
    args: impl Fn(DevicePtr<f32>, DevicePtrMut<f32>) -> K::Args,
) -> (Vec<f32>, Counts) {
    let device = Device::simulator();
    let source = host::kernels::module_with(K::NAME, Some(ARCH)).expect("it compiles");
    let module = device.load(source).expect("its variables fit");
    let input = device.upload("input", values).expect("there is room");
    let output = device.alloc("output", values.len()).expect("there is room");
    let args = args(input.as_ptr(), output.as_mut_ptr());
    // SAFETY: the simulator checks every access.
    let report = unsafe { module.launch(kernel, config, args) };
    let report = report.unwrap_or_else(|error| panic!("{error}"));
    let counts = report.simulated().expect("it is simulated").counts;
    (output.read().expect("it was allocated"), counts)
}

#[test]
fn local_traffic_is_the_window_there_and_back_in_whole_lines() {
    let values = lesson::inputs::uniform(4, N as usize);
    let config = LaunchConfig::new(grid(N), BLOCK);
    let kernel = kernels::running_mean_local_32;
    let (means, counts) = run(kernel, config, &values, |input, output| (input, output, N));
    let expected = host::lessons::local_memory::reference(&values, 32);
    assert_eq!(means, expected);
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
    let (window, n) = (1000, 10 * kernels::tile_outputs(1000));
    let values = lesson::inputs::uniform(5, n as usize);
    let grid = kernels::shared_grid(n, window);
    assert_eq!(grid, [10, 1, 1]);
    let config = LaunchConfig::new(grid, kernels::SHARED_BLOCK);
    let kernel = kernels::running_mean_shared;
    let args = |input, output| (input, output, n, window);
    let (_, counts) = run(kernel, config, &values, args);
    assert!(counts.global_load_bytes <= 10 * 4 * u64::from(kernels::TILE_ELEMENTS));
    assert_eq!(counts.global_store_bytes, 4 * u64::from(n));
    let conflicts = (counts.shared_load_conflicts, counts.shared_store_conflicts);
    assert_eq!(conflicts, (0, 0));
}

#[test]
fn the_shared_tile_moves_16_bytes_an_access() {
    let entry = entry("running_mean_shared");
    for opcode in ["ld.global", "st.shared", "ld.shared", "st.global"] {
        let is_wide = |found: &&str| {
            let mut wide = [".v4.b32", ".v4.f32", ".v2.b64"].iter();
            found.starts_with(opcode) && wide.any(|wide| found.ends_with(wide))
        };
        assert_eq!(opcodes(&entry).filter(is_wide).count(), 5, "{opcode}");
    }
    // Only the ends of the array and the tile's columns are narrower.
    assert_eq!(count(&entry, "st.global"), 5 + 1);
}
