//! Two whole kernels: a vector sum and a transpose through shared memory.

use common::Bench;
use ptx_sim::{Device, Module};

#[test]
fn vector_sum() {
    let bench = Bench::new(include_str!("kernels/add.ptx"));
    let n = 1000u32;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let y: Vec<f32> = (0..n).map(|i| 0.5 * i as f32).collect();
    let (to_x, to_y) = (bench.upload(&x, "x"), bench.upload(&y, "y"));
    let to_z = bench.zeros::<f32>(n as usize, "z");
    let call = bench.call("add").grid(8).block(128);
    let report = call.args(&[&to_x, &to_y, &to_z, &n]).run().unwrap();
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    assert_eq!(bench.download(to_z), expected);
    let counts = report.counts;
    // 31 full warps and one of 8 lanes.
    assert_eq!(counts.global_load_requests, 64);
    assert_eq!(counts.global_load_sectors, 2 * 125);
    assert_eq!(counts.global_store_sectors, 125);
    assert_eq!(counts.global_load_bytes, 2 * 4000);
}

#[test]
fn transpose_through_shared_memory_conflicts_as_expected() {
    let bench = Bench::new(include_str!("kernels/transpose.ptx"));
    let n = 64u32;
    let input: Vec<f32> = (0..n * n).map(|i| i as f32).collect();
    let a = bench.upload(&input, "a");
    for (kernel, conflicts) in [("transpose_shared", 31), ("transpose_padded", 0)] {
        let b = bench.zeros::<f32>(input.len(), "b");
        let call = bench.call(kernel).grid([2, 2]).block([32, 32]);
        let counts = call.args(&[&a, &b, &n]).run().unwrap().counts;
        let out = bench.download(b);
        for row in 0..n {
            for column in 0..n {
                let (from, to) = (row * n + column, column * n + row);
                assert_eq!(out[to as usize], input[from as usize], "{kernel}");
            }
        }
        assert_eq!(counts.shared_load_requests, 4 * 32);
        let expected = 4 * 32 * conflicts;
        assert_eq!(counts.shared_load_conflicts, expected, "{kernel}");
        assert_eq!(counts.shared_store_conflicts, 0);
        assert_eq!(counts.global_load_sectors, 4 * 32 * 4);
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
        let out = device.zeros::<u32>(8 * (grid * x * y) as usize, "out");
        let out = out.unwrap();
        let call = device.call(&loaded, "k").grid(grid).block([x, y]);
        let call = call.dynamic_shared_bytes(16 * number);
        let launched = call.args(&[&out, &number, &fails]).run();
        assert_eq!(launched.is_err(), fails != 0);
        let all = device.download(out).unwrap();
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
