//! How fast the simulator is: thread-instructions a second on one core, with
//! and without counters, for an arithmetic loop, a copy and a transpose
//! through shared memory.
//!
//! `cargo run --release -p ptx_sim --example speed`

use ptx_sim::{Device, Launch, LaunchOptions, Module};

/// A loop of eight arithmetic instructions.
const ARITHMETIC: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry arithmetic(.param .u64 out, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<12>;
	.reg .f32 %f<8>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, 0;
	cvt.rn.f32.u32 %f1, %r2;
	mov.f32 %f2, 0f3F800000;
LOOP:
	mad.lo.s32 %r4, %r2, 5, %r3;
	xor.b32 %r5, %r4, %r2;
	shl.b32 %r6, %r5, 3;
	add.s32 %r2, %r6, %r3;
	fma.rn.f32 %f2, %f2, %f1, %f1;
	add.f32 %f1, %f1, %f2;
	add.s32 %r3, %r3, 1;
	setp.lt.u32 %p1, %r3, %r1;
	@%p1 bra LOOP;
	cvt.rzi.s32.f32 %r7, %f2;
	add.s32 %r8, %r7, %r2;
	mov.u32 %r9, %tid.x;
	mul.wide.u32 %rd2, %r9, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r8;
	ret;
}
";

struct Case<'a> {
    name: &'a str,
    ptx: &'a str,
    kernel: &'a str,
    grid: [u32; 3],
    block: [u32; 3],
    params: Vec<Vec<u8>>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut device = Device::new();
    let n = 1024u32;
    let buffers: Vec<u64> = (0..3)
        .map(|i| device.alloc(u64::from(n * n * 4), ["x", "y", "z"][i]))
        .collect::<Result<_, _>>()?;
    let address = |i: usize| buffers[i].to_le_bytes().to_vec();
    let word = |value: u32| value.to_le_bytes().to_vec();
    let cases = [
        Case {
            name: "arithmetic loop",
            ptx: ARITHMETIC,
            kernel: "arithmetic",
            grid: [4, 1, 1],
            block: [256, 1, 1],
            params: vec![address(0), word(5_000)],
        },
        Case {
            name: "vector sum",
            ptx: include_str!("../tests/kernels/add.ptx"),
            kernel: "add",
            grid: [n * n / 256, 1, 1],
            block: [256, 1, 1],
            params: vec![address(0), address(1), address(2), word(n * n)],
        },
        Case {
            name: "transpose, 32-way conflicts",
            ptx: include_str!("../tests/kernels/transpose.ptx"),
            kernel: "transpose_shared",
            grid: [n / 32, n / 32, 1],
            block: [32, 32, 1],
            params: vec![address(0), address(1), word(n)],
        },
        Case {
            name: "transpose, padded",
            ptx: include_str!("../tests/kernels/transpose.ptx"),
            kernel: "transpose_padded",
            grid: [n / 32, n / 32, 1],
            block: [32, 32, 1],
            params: vec![address(0), address(1), word(n)],
        },
    ];
    println!(
        "{:30} {:>12} {:>12}  (G thread-instructions/s, one core)",
        "", "counted", "bare"
    );
    // An argument picks cases by name.
    let wanted = std::env::args().nth(1).unwrap_or_default();
    for case in cases.iter().filter(|case| case.name.contains(&wanted)) {
        let module = Module::parse(case.ptx)?;
        let loaded = device.load(&module)?;
        let params: Vec<&[u8]> = case.params.iter().map(Vec::as_slice).collect();
        let mut run = |count| {
            let options = LaunchOptions {
                count,
                threads: Some(1),
                ..Default::default()
            };
            device.launch(
                &loaded,
                case.kernel,
                &Launch {
                    grid: case.grid,
                    block: case.block,
                    dynamic_shared_bytes: 0,
                    params: &params,
                    options,
                },
            )
        };
        let instructions = run(true)?.counts.thread_instructions as f64;
        let mut best = [f64::INFINITY; 2];
        for _ in 0..40 {
            for (slot, count) in best.iter_mut().zip([true, false]) {
                *slot = slot.min(run(count)?.elapsed.as_secs_f64());
            }
        }
        let [counted, bare] = best.map(|seconds| instructions / seconds / 1e9);
        println!("{:30} {counted:12.2} {bare:12.2}", case.name);
    }
    Ok(())
}
