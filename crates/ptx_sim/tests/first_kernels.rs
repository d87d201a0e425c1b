//! Two whole kernels: a vector sum and a transpose through shared memory.

use ptx_sim::{Device, Launch, LaunchOptions, Module};

const ADD: &str = include_str!("kernels/add.ptx");

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|b| f32::from_le_bytes(*b))
        .collect()
}

#[test]
fn vector_sum() {
    let module = Module::parse(ADD).unwrap();
    let device = Device::new();
    let loaded = device.load(&module).unwrap();
    let n = 1000u32;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let y: Vec<f32> = (0..n).map(|i| 0.5 * i as f32).collect();
    let [dx, dy, dz] = ["x", "y", "z"].map(|name| device.alloc(u64::from(4 * n), name).unwrap());
    device.write(dx, &bytes(&x)).unwrap();
    device.write(dy, &bytes(&y)).unwrap();
    let report = device
        .launch(
            &loaded,
            "add",
            &Launch {
                grid: [8, 1, 1],
                block: [128, 1, 1],
                dynamic_shared_bytes: 0,
                params: &[
                    &dx.to_le_bytes(),
                    &dy.to_le_bytes(),
                    &dz.to_le_bytes(),
                    &n.to_le_bytes(),
                ],
                options: LaunchOptions::default(),
            },
        )
        .unwrap();
    let mut z = vec![0; 4 * n as usize];
    device.read(dz, &mut z).unwrap();
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    assert_eq!(floats(&z), expected);
    let counts = report.counts;
    // 31 full warps and one of 8 lanes.
    assert_eq!(counts.global_load_requests, 64);
    assert_eq!(counts.global_load_sectors, 2 * 125);
    assert_eq!(counts.global_store_sectors, 125);
    assert_eq!(counts.global_load_bytes, 2 * 4000);
}

#[test]
fn transpose_through_shared_memory_conflicts_as_expected() {
    let module = Module::parse(include_str!("kernels/transpose.ptx")).unwrap();
    let device = Device::new();
    let loaded = device.load(&module).unwrap();
    let n = 64u32;
    let input: Vec<f32> = (0..n * n).map(|i| i as f32).collect();
    let a = device.alloc(u64::from(4 * n * n), "a").unwrap();
    let b = device.alloc(u64::from(4 * n * n), "b").unwrap();
    device.write(a, &bytes(&input)).unwrap();
    for (kernel, conflicts) in [("transpose_shared", 31), ("transpose_padded", 0)] {
        device.fill(b, u64::from(4 * n * n), 0xFF).unwrap();
        let report = device
            .launch(
                &loaded,
                kernel,
                &Launch {
                    grid: [2, 2, 1],
                    block: [32, 32, 1],
                    dynamic_shared_bytes: 0,
                    params: &[&a.to_le_bytes(), &b.to_le_bytes(), &n.to_le_bytes()],
                    options: LaunchOptions::default(),
                },
            )
            .unwrap();
        let mut out = vec![0; (4 * n * n) as usize];
        device.read(b, &mut out).unwrap();
        let out = floats(&out);
        for row in 0..n {
            for column in 0..n {
                let (from, to) = (row * n + column, column * n + row);
                assert_eq!(out[to as usize], input[from as usize], "{kernel}");
            }
        }
        assert_eq!(report.counts.shared_load_requests, 4 * 32);
        assert_eq!(
            report.counts.shared_load_conflicts,
            4 * 32 * conflicts,
            "{kernel}"
        );
        assert_eq!(report.counts.shared_store_conflicts, 0);
        assert_eq!(report.counts.global_load_sectors, 4 * 32 * 4);
    }
}
