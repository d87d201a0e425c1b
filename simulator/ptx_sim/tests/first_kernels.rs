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

/// Every thread writes what may change from launch to launch.
const WHAT_CHANGES: &str = "
.version 8.0
.target sm_90
.address_size 64
.global .align 8 .u64 variable = 5;
.extern .shared .align 8 .b8 dynamic[];
.entry k(.param .u64 out, .param .u32 number, .param .u32 fails) {
    .reg .pred %p<3>;
    .reg .b32 %r<20>;
    .reg .b64 %d<5>;
    ld.param.u64 %d0, [out];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %tid.y;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %nctaid.x;
    mov.u32 %r5, %dynamic_smem_size;
    mad.lo.u32 %r6, %r1, %r2, %r0;
    mov.u32 %r7, %ntid.y;
    mul.lo.u32 %r8, %r2, %r7;
    mad.lo.u32 %r6, %r3, %r8, %r6;
    mul.wide.u32 %d1, %r6, 32;
    add.u64 %d0, %d0, %d1;
    ld.param.u32 %r9, [fails];
    setp.ne.u32 %p0, %r9, 0;
    @%p0 mov.u64 %d0, 16;
    ld.param.u32 %r10, [number];
    mov.u64 %d2, variable;
    ld.global.u64 %d3, [%d2];
    cvt.u32.u64 %r11, %d3;
    st.global.v4.u32 [%d0], {%r0, %r1, %r3, %r4};
    st.global.v4.u32 [%d0+16], {%r5, %r10, %r11, %r2};
    bar.sync 0;
    ret;
}";

#[test]
fn a_launch_sees_nothing_of_the_one_before() {
    let words = |module: &Module, grid: u32, [x, y]: [u32; 2], number: u32, fails: u32| {
        // The variable is somewhere else on every device.
        let device = Device::new();
        device
            .alloc(u64::from(number) << 22, "before the variable")
            .unwrap();
        let loaded = device.load(module).unwrap();
        let (variable, _) = loaded.variable("variable").unwrap();
        device
            .write(variable, &u64::from(7 * number).to_le_bytes())
            .unwrap();
        let mut all = vec![0; 32 * (grid * x * y) as usize];
        let out = device.alloc(all.len() as u64, "out").unwrap();
        let launched = device.launch(
            &loaded,
            "k",
            &Launch {
                grid: [grid, 1, 1],
                block: [x, y, 1],
                dynamic_shared_bytes: 16 * number,
                params: &[
                    &out.to_le_bytes(),
                    &number.to_le_bytes(),
                    &fails.to_le_bytes(),
                ],
                options: LaunchOptions::default(),
            },
        );
        assert_eq!(launched.is_err(), fails != 0);
        device.read(out, &mut all).unwrap();
        (all, launched.map(|report| report.counts).ok())
    };
    let again = Module::parse(WHAT_CHANGES).unwrap();
    for (grid, block, number, fails) in [
        (2, [40, 2], 1, 0),
        (3, [40, 2], 2, 0),
        (3, [40, 2], 3, 1),
        (1, [40, 2], 4, 0),
        (2, [80, 1], 5, 0),
        (2, [8, 8], 6, 0),
        (2, [8, 8], 7, 0),
    ] {
        let fresh = Module::parse(WHAT_CHANGES).unwrap();
        assert_eq!(
            words(&again, grid, block, number, fails),
            words(&fresh, grid, block, number, fails),
            "launch {number}"
        );
    }
}
