//! The limits of a launch and a device: fuel, and the host's memory.

use common::{Bench, kernel, launch, module, says};
use ptx_sim::{Device, DeviceConfig, LaunchError, MemoryError};

/// Four instructions of two warps, far less than a time slice.
fn run_with_fuel(fuel: u64) -> Result<(), LaunchError> {
    run_grid_with_fuel([3, 1, 1], 64, fuel)
}

fn run_grid_with_fuel(grid: [u32; 3], block: u32, fuel: u64) -> Result<(), LaunchError> {
    let ptx = ".visible .entry k(.param .u64 buffer)
{
	.reg .b32 %r<4>;
	mov.u32 %r1, 1;
	add.u32 %r2, %r1, 1;
	add.u32 %r3, %r2, 1;
	ret;
}";
    launch(ptx, &[0], |call| call.grid(grid).block(block).fuel(fuel)).map(drop)
}

/// It has more threads than a `u64` can count.
#[test]
fn the_largest_grid_ends_with_its_fuel() {
    let largest = [i32::MAX as u32, 65_535, 65_535];
    let error = run_grid_with_fuel(largest, 1024, 10_000).unwrap_err();
    assert!(matches!(error, LaunchError::OutOfFuel(_)), "{error}");
}

#[test]
fn fuel_is_for_all_blocks_together() {
    run_with_fuel(24).unwrap();
    for fuel in [0, 1, 4, 8, 15, 23] {
        let error = run_with_fuel(fuel).unwrap_err();
        assert!(matches!(error, LaunchError::OutOfFuel(_)), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(&format!("within {fuel} warp instructions")),
            "{text}"
        );
        assert!(text.contains("PTX line"), "{text}");
    }
}

#[test]
fn memory_that_the_host_has_not_is_an_error() {
    let device = Device::with_config(DeviceConfig {
        memory_bytes: u64::MAX,
        ..DeviceConfig::default()
    });
    for requested in [1 << 62, u64::MAX] {
        let error = device.alloc(requested, "much").unwrap_err();
        assert!(
            matches!(error, MemoryError::HostOutOfMemory { .. }),
            "{error}"
        );
    }
    assert_eq!(device.used_bytes(), 0);
    device.alloc(8, "little").unwrap();
}

/// A barrier over a grid of this many blocks, passed twice.
fn pass_a_grid_barrier(
    config: DeviceConfig,
    n_blocks: u32,
    block: u32,
    shared: u32,
    fuel: u64,
) -> Result<u32, LaunchError> {
    let body = "
	mov.u32 %r3, %nctaid.x;
	mov.u32 %r4, 0;
ROUND:
	add.u32 %r4, %r4, %r3;
	bar.sync 0;
	setp.ne.u32 %p1, %me, 0;
	@%p1 bra PASSED;
	red.release.gpu.global.add.u32 [%buf], 1;
WAIT:
	ld.acquire.gpu.global.u32 %r1, [%buf];
	setp.lt.u32 %p2, %r1, %r4;
	@%p2 bra WAIT;
PASSED:
	bar.sync 0;
	add.u32 %r5, %r3, %r3;
	setp.lt.u32 %p3, %r4, %r5;
	@%p3 bra ROUND;";
    let module = module(&format!(".extern .shared .b8 dynamic[];\n{}", kernel(body)));
    let bench = Bench::of(&module, config);
    let buffer = bench.zeros::<u32>(2, "buffer");
    let call = bench.call("k").grid(n_blocks).block(block).arg(buffer);
    let call = call.dynamic_shared_bytes(shared).fuel(fuel).check(true);
    call.run()?;
    Ok(bench.download(buffer)[0])
}

#[test]
fn as_many_blocks_are_in_flight_as_the_device_can_hold() {
    let h200 = DeviceConfig::default;
    assert_eq!(h200().resident_blocks(64, 0), 132 * 32);
    assert_eq!(h200().resident_blocks(1024, 0), 132 * 2);
    assert_eq!(h200().resident_blocks(96, 0), 132 * 21);
    assert_eq!(h200().resident_blocks(32, 100 << 10), 132 * 2);
    assert_eq!(h200().resident_blocks(128, 227 << 10), 132);
    let fuel = 100_000_000;
    let passed = pass_a_grid_barrier(h200(), 1056, 64, 0, fuel);
    assert_eq!(passed.expect("they all fit"), 2 * 1056);
    let small = || DeviceConfig {
        n_multiprocessors: 2,
        multiprocessor_threads: 256,
        multiprocessor_blocks: 6,
        ..h200()
    };
    for (block, shared, most) in [
        (32, 0, 12),
        (64, 0, 8),
        (128, 0, 4),
        (40, 0, 8),
        (32, 60 << 10, 6),
    ] {
        let passed = pass_a_grid_barrier(small(), most, block, shared, fuel);
        assert_eq!(passed.expect("they all fit"), 2 * most, "{block} {shared}");
        let more = pass_a_grid_barrier(small(), most + 1, block, shared, 100_000);
        let error = more.expect_err("one has no room").to_string();
        let expected = format!(
            "1 blocks of the grid have not begun: the device holds {most} such blocks at once"
        );
        assert!(error.contains(&expected), "{error}");
    }
}

/// Without a limit of its own, a launch that makes no progress is ended: one that waits for a
/// flag, one in an empty loop, and one whose loop alternates between the same values; also
/// one of a thousand blocks.
#[test]
fn a_launch_without_progress_is_ended_without_a_limit_of_its_own() {
    let spin = "
WAIT:
	ld.acquire.gpu.global.u32 %r1, [%buf];
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra WAIT;";
    let plain = "
WAIT:
	ld.global.u32 %r1, [%buf];
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra WAIT;";
    let empty = "
TURN:
	bra TURN;";
    let in_turn = "
TURN:
	add.u32 %r1, %r1, 1;
	and.b32 %r1, %r1, 1023;
	bra TURN;";
    for (body, n_blocks) in [(spin, 1000), (plain, 20), (empty, 20), (in_turn, 20)] {
        let outcome = launch(&kernel(body), &[0; 32_000], |call| {
            call.grid(n_blocks).block(32).count(false)
        });
        let error = outcome.unwrap_err().to_string();
        says(&error, &["has made progress", "PTX line"]);
        assert!(!error.contains("LOCKSTEP_SIM_FUEL"), "{error}");
        // The device has room for all, and this is not the reason.
        assert!(!error.contains("have not begun"), "{error}");
    }
}

/// Forty million iterations of a loop without a store in between: long, but not endless.
#[test]
fn a_long_loop_is_carried_out_without_a_limit_of_its_own() {
    let body = "
	mov.u32 %r1, 0;
	mov.u32 %r2, 1;
TURN:
	mad.lo.u32 %r2, %r2, 1664525, 1013904223;
	add.u32 %r1, %r1, 1;
	setp.ne.u32 %p1, %r1, 40000000;
	@%p1 bra TURN;
	st.global.u32 [%buf], %r2;";
    let words = launch(&kernel(body), &[0], |call| call.count(false));
    let expected = (0..40_000_000).fold(1_u32, |value, _| {
        value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
    });
    assert_eq!(words.expect("it ends").0[0] as u32, expected);
}

/// A loop that counts may just take long: the report says how to allow that.
#[test]
fn the_setting_is_named_where_a_launch_may_only_take_long() {
    let body = "
TURN:
	add.u32 %r1, %r1, 1;
	bra TURN;";
    let outcome = launch(&kernel(body), &[0], |call| call.block(32).fuel(100_000));
    let error = outcome.unwrap_err().to_string();
    for setting in ["`LaunchOptions::fuel`", "`--fuel`", "`LOCKSTEP_SIM_FUEL`"] {
        assert!(error.contains(setting), "{error}");
    }
}

/// Recursion that does not end, by a function that needs no memory of its own.
#[test]
fn recursion_without_end_has_one() {
    let text = ".func f ()\n{\ncall f;\nret;\n}\n.visible .entry k(.param .u64 buffer)\n{\ncall f;\nret;\n}";
    let error = launch(text, &[0], |call| call.block(64));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("stack"), "{error}");
}
