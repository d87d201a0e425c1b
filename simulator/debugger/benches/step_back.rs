//! The time that a step back takes in a launch of a hundred million thread instructions, and how much
//! memory what it goes back to needs.
//!
//!     cargo bench -p lockstep-debugger

use std::time::{Duration, Instant};

use debugger::sources::Sources;
use debugger::{Debugger, Direction, Reach, Unit};
use ptx_sim::{Device, Module};

/// Each thread sums numbers in shared memory and in a buffer, in a loop.
const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64
.shared .align 16 .b8 tile[4096];
.visible .entry sums(.param .u64 out, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<12>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, %ctaid.x;
	mad.lo.u32 %r4, %r3, 256, %r2;
	mul.wide.u32 %rd2, %r4, 4;
	add.u64 %rd3, %rd1, %rd2;
	mov.u32 %r5, tile;
	shl.b32 %r6, %r2, 2;
	add.u32 %r7, %r5, %r6;
	mov.u32 %r8, 0;
	st.shared.u32 [%r7], %r2;
AGAIN:
	ld.shared.u32 %r9, [%r7];
	add.u32 %r9, %r9, %r8;
	xor.b32 %r9, %r9, %r4;
	st.shared.u32 [%r7], %r9;
	ld.global.u32 %r10, [%rd3];
	add.u32 %r10, %r10, %r9;
	st.global.u32 [%rd3], %r10;
	bar.sync 0;
	add.u32 %r8, %r8, 1;
	setp.lt.u32 %p1, %r8, %r1;
	@%p1 bra AGAIN;
	ret;
}
";

/// Threads, and rounds of each: eleven instructions a round.
const BLOCKS: u32 = 64;
const THREADS: u32 = 256;
const ROUNDS: u32 = 560;
/// Steps that are measured.
const STEPS: usize = 60;

fn main() {
    let module = Module::parse(PTX).expect("PTX");
    let device = Device::new();
    let loaded = device.load(&module).expect("a module");
    let n = (BLOCKS * THREADS) as usize;
    let out = device.zeros::<u32>(n, "out").expect("memory");
    let call = device.call(&loaded, "sums").grid(BLOCKS).block(THREADS);
    let call = call.count(false).arg(out).arg(ROUNDS);
    let debugged = call.debug(|session| {
        let started = Instant::now();
        session.go_to(u64::MAX);
        let forwards = started.elapsed();
        let end = session.end().expect("it has been there").time;
        let bytes = session.kept_bytes();
        println!(
            "{} thread instructions, {} warp instructions: forwards in {:.2} s, {:.0} MB kept",
            u64::from(BLOCKS * THREADS) * (12 + 11 * u64::from(ROUNDS)),
            end,
            forwards.as_secs_f64(),
            bytes as f64 / 1e6
        );
        let mut debugger = Debugger::new(session, Sources::default());
        for (name, reach) in [
            ("instruction", Reach::Instruction),
            ("barrier", Reach::Barrier),
        ] {
            let times = (0..STEPS).map(|i| step_back(&mut debugger, reach, at(i, end)));
            let mut times: Vec<Duration> = times.collect();
            times.sort_unstable();
            println!(
                "one {name} back: median {:.1} ms, slowest {:.1} ms",
                times[STEPS / 2].as_secs_f64() * 1e3,
                times[STEPS - 1].as_secs_f64() * 1e3
            );
        }
        debugger.go_to(end);
        let started = Instant::now();
        debugger.last_write("out[77]").expect("memory of that name");
        println!(
            "last write of a word of the first block, from the end: {:.2} s",
            started.elapsed().as_secs_f64()
        );
    });
    debugged.expect("an allowed launch").1.expect("no fault");
    println!("most memory in use: {}", most_memory());
}

/// Moments all over the launch.
fn at(i: usize, end: u64) -> u64 {
    (end / 7).wrapping_mul(i as u64 * 13 + 5) % end + 1
}

fn step_back(debugger: &mut Debugger<'_, '_, '_>, reach: Reach, time: u64) -> Duration {
    // Later moments are dropped from what is kept when one goes back: from the end each time.
    debugger.go_to(time);
    let started = Instant::now();
    debugger.step(reach, Unit::Thread, Direction::Backwards);
    started.elapsed()
}

/// The most memory that the process had, as the system says it.
fn most_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.map_or("unknown".to_owned(), |line| {
        line.trim_start_matches("VmHWM:").trim().to_owned()
    })
}
