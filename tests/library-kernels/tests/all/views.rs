//! Safe kernels with loops over tiles, operations of a block, and several elements per thread.

use crate::bench::{count, opcodes, ptx, read};
use library_kernels::views::{self, COLUMNS, Particle, ROWS, SIDE, THREADS};
use lockstep::{Device, LaunchConfig, Module, Simulator};

/// A simulator with all checks on, and the kernels.
fn checked() -> (Device, Module) {
    let device = Device::simulator_with(Simulator {
        check: true,
        ..Simulator::default()
    });
    let module = device.load(ptx("library")).expect("it is PTX");
    (device, module)
}

fn tiles(n: u32) -> u32 {
    n.div_ceil(SIDE)
}

#[test]
fn a_product_goes_through_its_tiles() {
    let (device, module) = checked();
    for (m, n, k) in [
        (16, 16, 16),
        (1, 1, 1),
        (20, 33, 50),
        (7, 40, 15),
        (3, 3, 0),
    ] {
        let matrix = |n: u32, seed: u32| (0..n).map(move |i| (i * seed % 11) as f32 - 5.0);
        let (a, b): (Vec<f32>, Vec<f32>) = (matrix(m * k, 7).collect(), matrix(k * n, 5).collect());
        let a_buffer = device.upload("a", &a).expect("there is room");
        let b_buffer = device.upload("b", &b).expect("there is room");
        let mut c = device
            .alloc::<f32>("c", (m * n) as usize)
            .expect("there is room");
        let config = LaunchConfig::new([tiles(n), tiles(m), 1], [SIDE, SIDE, 1]);
        let arguments = (a_buffer.input(), b_buffer.input(), c.output(), m, n, k);
        let report = module.run(views::product, config, arguments);
        report.expect("it runs").expect_bank_conflicts(0);
        for (place, found) in (0..).zip(read(&c)) {
            let (row, column) = (place / n, place % n);
            let term = |i: u32| a[(row * k + i) as usize] * b[(i * n + column) as usize];
            let expected: f32 = (0..k).map(term).sum();
            assert_eq!(found, expected, "({row}, {column})");
        }
    }
}

/// The compiler alone would take two of 8 bytes.
#[test]
fn a_vector_is_copied_by_one_load_and_one_store() {
    let opcodes = opcodes(&ptx("library"), "copied_vectors");
    for start in ["ld.global", "st.global"] {
        assert_eq!(count(&opcodes, start), 1, "{opcodes:?}");
    }
}

/// Loads, stores, barriers and arithmetic are those of a kernel with pointers.
#[test]
fn a_product_of_tiles_does_the_work_of_one_with_pointers() {
    let text = ptx("library");
    let safe = opcodes(&text, "product");
    let plain = opcodes(&text, "product_by_pointers");
    assert!(safe.len() <= plain.len() + 4, "{safe:?}\n{plain:?}");
    for start in "ld. st. bar. mul.rn.f32 add.rn.f32 fma call trap div rem".split(' ') {
        assert_eq!(count(&safe, start), count(&plain, start), "{start}");
    }
}

#[test]
fn blocks_of_any_size_scan_and_reduce() {
    let (device, module) = checked();
    for n_threads in [1, 31, 32, 40, 96, 1000, 1024] {
        let (n, n_blocks) = (n_threads * 2 - 1, 2);
        let x: Vec<u64> = (0..n).map(|i| u64::from(i * 37 % 101) << 30).collect();
        let x_buffer = device.upload("x", &x).expect("there is room");
        let mut sums = device.alloc::<u64>("sums", x.len()).expect("there is room");
        let mut largest = device.zeroed::<u64>("largest", 1).expect("there is room");
        let config = LaunchConfig::new([n_blocks, 1, 1], [n_threads, 1, 1]);
        let arguments = (x_buffer.input(), sums.output(), largest.output(), n);
        let report = module.run(views::running_sums, config, arguments);
        report.expect("it runs").expect_no_local_memory();
        let parts = || x.chunks(n_threads as usize);
        let running = parts().flat_map(|part| {
            part.iter().scan(0, |sum, x| {
                *sum += x;
                Some(*sum)
            })
        });
        let expected: Vec<u64> = running.collect();
        assert_eq!(read(&sums), expected, "{n_threads} threads");
        let max = parts().map(|part| part.iter().max().expect("it is not empty"));
        let expected: u64 = max.sum();
        assert_eq!(read(&largest), [expected], "{n_threads} threads");
    }
}

#[test]
fn threads_meet_in_nested_loops() {
    let (device, module) = checked();
    for (n, n_sums) in [(0, 7), (1, 1), (4, 500)] {
        let mut sums = device
            .alloc::<u32>("sums", n_sums as usize)
            .expect("there is room");
        let config = LaunchConfig::new([1, 1, 1], [THREADS, 1, 1]);
        let report = module.run(views::rounds, config, (sums.output(), n_sums, n));
        report.expect("it runs").expect_no_local_memory();
        let of_tile = |round| ROWS * COLUMNS * round + 1 + THREADS;
        let sum: u32 = (0..n).map(|round| (round + 1) * of_tile(round)).sum();
        let expected: Vec<u32> = (0..n_sums).map(|i| sum + i).collect();
        assert_eq!(read(&sums), expected, "{n} rounds");
    }
}

#[test]
fn values_of_several_sizes_share_scratch_memory() {
    const N: u32 = 1024;
    let (device, module) = checked();
    let mut sums = device
        .alloc::<f64>("sums", N as usize)
        .expect("there is room");
    let config = LaunchConfig::linear(N as usize, N);
    let report = module.run(views::sums_of_sizes, config, (sums.output(), N));
    report.expect("it passes the checks");
    let expected = |i: u32| f64::from(N + i + (i + 1) + 2 * N + N - 1);
    let expected: Vec<f64> = (0..N).map(expected).collect();
    assert_eq!(read(&sums), expected);
}

#[test]
fn views_hold_structures() {
    let (device, module) = checked();
    let particle = |i: u32| Particle {
        at: [f64::from(i), 0.5, -1.0],
        mass: i as f32 / 4.0,
        charge: -(i as i32),
    };
    let before: Vec<Particle> = (0..100).map(particle).collect();
    let particles = device.upload("particles", &before).expect("there is room");
    let mut moved = device.alloc("moved", 100).expect("there is room");
    let arguments = (particles.input(), moved.output(), 100, 0.25);
    let config = LaunchConfig::linear(100, 32);
    module
        .run(views::moves, config, arguments)
        .expect("it runs");
    let expected = before.iter().map(|particle| Particle {
        at: [particle.at[0], 0.5, -0.75],
        charge: particle.charge - 1,
        ..*particle
    });
    assert_eq!(read(&moved), Vec::from_iter(expected));
}
