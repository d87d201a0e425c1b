//! The catalogue's figures of coalescing: sectors per request and degree, of each
//! load and store separately, and 16-byte accesses where they were promised.

use crate::support::{Simulator, count, entry, instructions};
use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::coalescing::{
    self, COUNTED_BLOCK_THREADS, COUNTED_BLOCKS, VECTORIZED_BLOCK_THREADS, add, add_broadcast,
    add_offset, add_permuted, add_stride, add_vectorized,
};
use ptx_sim::InstructionCounts;

type Args = (DevicePtr<f32>, DevicePtr<f32>, DevicePtrMut<f32>, u32);

/// Sectors per request, and percent of their bytes that were asked for.
fn figures(instruction: &InstructionCounts) -> (f64, f64) {
    let sectors = instruction.sectors as f64;
    (
        sectors / instruction.requests as f64,
        100.0 * instruction.bytes as f64 / (32.0 * sectors),
    )
}

/// Figures of the two loads, in rising order, and of the store, of 128 warps.
fn counted<K: Kernel<Args = Args>>(kernel: K, n_elements: u32) -> [(f64, f64); 3] {
    let mut simulator = Simulator::new();
    let x = simulator.input("x", &lesson::inputs::uniform(1, n_elements as usize));
    let y = simulator.input("y", &lesson::inputs::uniform(2, n_elements as usize));
    let z = simulator.output("z", n_elements as usize);
    let report = simulator.launch(
        kernel,
        [COUNTED_BLOCKS, 1, 1],
        [COUNTED_BLOCK_THREADS, 1, 1],
        (x, y, z.as_mut_ptr(), n_elements),
    );
    let loads = instructions(&report, "ld.global");
    let stores = instructions(&report, "st.global");
    assert_eq!((loads.len(), stores.len()), (2, 1), "{}", K::NAME);
    for access in loads.iter().chain(&stores) {
        assert_eq!(access.requests, u64::from(COUNTED_BLOCKS), "{}", K::NAME);
    }
    let mut loads = [figures(&loads[0]), figures(&loads[1])];
    loads.sort_by(|a, b| a.0.total_cmp(&b.0));
    [loads[0], loads[1], figures(&stores[0])]
}

const N: u32 = COUNTED_BLOCKS * COUNTED_BLOCK_THREADS;

#[test]
fn lanes_side_by_side_take_4_sectors() {
    assert_eq!(counted(add, N), [(4.0, 100.0); 3]);
}

#[test]
fn lanes_changed_round_take_4_sectors() {
    assert_eq!(counted(add_permuted, N), [(4.0, 100.0); 3]);
}

#[test]
fn one_element_later_takes_5_sectors() {
    assert_eq!(counted(add_offset, N + 1), [(5.0, 80.0); 3]);
}

#[test]
fn lanes_a_grid_apart_take_32_sectors() {
    assert_eq!(counted(add_stride, N), [(32.0, 12.5); 3]);
}

#[test]
fn one_word_for_all_takes_1_sector() {
    let [x, y, z] = counted(add_broadcast, N);
    assert_eq!(x, (1.0, 12.5), "4 of 32 bytes used");
    assert_eq!((y, z), ((4.0, 100.0), (4.0, 100.0)));
}

#[test]
fn sixteen_bytes_a_lane_take_16_whole_sectors() {
    let n = 4 * coalescing::VECTORIZED_BLOCK_ELEMENTS;
    let mut simulator = Simulator::new();
    let x = simulator.input("x", &lesson::inputs::uniform(1, n as usize));
    let y = simulator.input("y", &lesson::inputs::uniform(2, n as usize));
    let z = simulator.output("z", n as usize);
    let report = simulator.launch(
        add_vectorized,
        coalescing::vectorized_grid(n),
        [VECTORIZED_BLOCK_THREADS, 1, 1],
        (x, y, z.as_mut_ptr(), n),
    );
    for opcode in ["ld.global", "st.global"] {
        for access in instructions(&report, opcode) {
            assert!(access.opcode.contains(".v4"), "{}", access.opcode);
            assert_eq!(figures(&access), (16.0, 100.0));
        }
    }
}

#[test]
fn the_vectorized_sum_loads_all_before_it_stores() {
    let entry = entry("add_vectorized");
    let wide: Vec<_> = entry
        .body
        .iter()
        .flatten()
        .map(|instruction| instruction.opcode.as_str())
        .filter(|opcode| opcode.contains(".v4"))
        .collect();
    assert_eq!(wide.len(), 3, "{wide:?}");
    let (loads, stores) = wide.split_at(2);
    assert!(
        loads.iter().all(|opcode| opcode.starts_with("ld.global")),
        "{wide:?}"
    );
    assert!(
        stores.iter().all(|opcode| opcode.starts_with("st.global")),
        "{wide:?}"
    );
}

#[test]
fn one_element_a_thread_is_two_loads_and_a_store() {
    for name in [
        "add",
        "add_permuted",
        "add_offset",
        "add_stride",
        "add_broadcast",
    ] {
        let entry = entry(name);
        assert_eq!(
            (count(&entry, "ld.global"), count(&entry, "st.global")),
            (2, 1),
            "{name}"
        );
    }
}
