//! A device used by several host threads, and with the host's own memory.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use common::{Bench, module};
use ptx_sim::{Device, DeviceConfig, LaunchError, LoadedModule, Managed, MemoryError};

const KERNELS: &str = "
.visible .entry add_one(.param .u64 buffer)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [buffer];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r1, %r1, %r2, %r3;
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd1, %rd1, %rd2;
	atom.global.add.u32 %r3, [%rd1], 1;
	ret;
}
.visible .entry wait_for(.param .u64 flag)
{
	.reg .pred %p;
	.reg .b32 %r;
	.reg .b64 %rd;
	ld.param.u64 %rd, [flag];
WAIT:
	ld.relaxed.sys.global.u32 %r, [%rd];
	setp.eq.u32 %p, %r, 0;
	@%p bra WAIT;
	st.relaxed.sys.global.u32 [%rd + 4], 7;
	ret;
}
.visible .entry count_up(.param .u64 counter)
{
	.reg .pred %p;
	.reg .b32 %r<2>;
	.reg .b64 %rd;
	ld.param.u64 %rd, [counter];
	mov.u32 %r1, 0;
AGAIN:
	red.relaxed.sys.global.add.u32 [%rd], 1;
	add.u32 %r1, %r1, 1;
	setp.lt.u32 %p, %r1, 2000;
	@%p bra AGAIN;
	ret;
}";

fn device(config: DeviceConfig) -> (Device, LoadedModule) {
    let Bench { device, loaded } = Bench::of(&module(KERNELS), config);
    (device, loaded)
}

fn concurrent() -> DeviceConfig {
    DeviceConfig {
        concurrent: true,
        ..DeviceConfig::default()
    }
}

/// Launches by several host threads lose no updates, at the same time or one by one.
#[test]
fn launches_by_several_host_threads() {
    for config in [DeviceConfig::default(), concurrent()] {
        let (device, loaded) = device(config);
        let counts = device.zeros::<u32>(64, "counts").expect("there is memory");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let call = device.call(&loaded, "add_one").block(64).arg(counts);
                        call.run().expect("it runs");
                        // Others come and go meanwhile.
                        let other = device.upload(&[1_u32; 9], "other").expect("room");
                        assert_eq!(device.download(other).expect("there"), [1; 9]);
                        device.free(other.address()).expect("there");
                    }
                });
            }
        });
        assert_eq!(device.download(counts).expect("there"), [200; 64]);
    }
}

/// A kernel waits for what the host writes while it runs, by a copy or directly.
#[test]
fn the_host_goes_on_while_a_kernel_runs() {
    let (device, loaded) = device(concurrent());
    let flag = device.zeros::<u32>(2, "flag").expect("there is memory");
    let host = [const { AtomicU32::new(0) }; 2];
    let pointer = NonNull::from(&host).cast();
    // SAFETY: It lives until it is freed below, and is accessed atomically.
    let mapped = unsafe { device.map_host(pointer, 8, "host") }.expect("not mapped yet");
    assert_eq!(mapped, host.as_ptr().addr() as u64);
    for by_copy in [true, false] {
        let address = if by_copy { flag.address() } else { mapped };
        std::thread::scope(|scope| {
            let run = || device.call(&loaded, "wait_for").arg(address).run();
            let launch = scope.spawn(run);
            std::thread::sleep(Duration::from_millis(20));
            assert!(!launch.is_finished());
            if by_copy {
                device.overwrite(flag, &[1]).expect("there");
            } else {
                host[0].store(1, Ordering::Release);
            }
            launch.join().expect("no panic").expect("it runs");
        });
    }
    assert_eq!(device.download(flag).expect("there"), [1, 7]);
    assert_eq!(host[1].load(Ordering::Acquire), 7);
    device.free(mapped).expect("mapped");
    let freed = device.call(&loaded, "wait_for").arg(mapped).run();
    let text = freed.expect_err("freed").to_string();
    assert!(text.contains("freed"), "{text}");
}

/// The host and a kernel add to one number at the same time, and no addition is lost: with checks,
/// which run one launch at a time, neither.
#[test]
fn atomics_meet_those_of_the_host() {
    const ADDED: u32 = 256 * 2000;
    let host = AtomicU32::new(0);
    for check in [false, true] {
        let (device, loaded) = device(DeviceConfig::default());
        let pointer = NonNull::from(&host).cast();
        // SAFETY: It lives longer than the device, and is accessed atomically.
        let mapped = unsafe { device.map_host(pointer, 4, "host") }.expect("not mapped yet");
        host.store(0, Ordering::Relaxed);
        let by_the_host = std::thread::scope(|scope| {
            let call = || device.call(&loaded, "count_up").arg(mapped);
            let run = move || call().block([256, 1, 1]).check(check).run();
            let launch = scope.spawn(run);
            let mut n_added = 0_u32;
            while !launch.is_finished() {
                host.fetch_add(1, Ordering::Relaxed);
                n_added += 1;
            }
            launch.join().expect("no panic").expect("it runs");
            n_added
        });
        let expected = ADDED.wrapping_add(by_the_host);
        assert_eq!(host.load(Ordering::Relaxed), expected, "check: {check}");
    }
}

#[test]
fn mapped_memory_is_found_and_refused_twice() {
    let device = Device::new();
    let words = [const { AtomicU64::new(5) }; 4];
    let pointer: NonNull<u8> = NonNull::from(&words).cast();
    // SAFETY: It lives as long as the device, and is accessed atomically.
    let map = |offset: usize, n| unsafe { device.map_host(pointer.add(offset), n, "words") };
    let address = map(0, 24).expect("not mapped yet");
    let info = device.allocation_at(address + 23).expect("mapped");
    assert_eq!((info.address, info.size_bytes), (address, 24));
    assert!(info.is_the_hosts && info.label == "words");
    assert_eq!(device.allocation_at(address + 24), None);
    let again = map(16, 8).expect_err("mapped");
    assert!(matches!(again, MemoryError::NotMappable { .. }), "{again}");
    map(24, 8).expect("its neighbour");
    assert_eq!(device.used_bytes(), 0);
    let mut bytes = [0; 8];
    device.read(address + 8, &mut bytes).expect("mapped");
    assert_eq!(u64::from_le_bytes(bytes), 5);
}

#[test]
fn devices_have_addresses_of_their_own() {
    let of = |ordinal| {
        let config = DeviceConfig {
            ordinal,
            ..DeviceConfig::default()
        };
        let (device, loaded) = device(config);
        let buffer = device.zeros::<u32>(1, "x").expect("there is memory");
        (device, loaded, buffer.address())
    };
    let (first, loaded, here) = of(0);
    let (_, _, there) = of(1);
    assert_ne!(here, there);
    let error = first.call(&loaded, "wait_for").arg(there).run();
    let error = error.expect_err("another device's");
    assert!(matches!(error, LaunchError::Fault(_)), "{error}");
}

#[test]
fn an_unloaded_module_gives_its_variables_back() {
    let Bench { device, loaded } = Bench::new(".visible .global .align 4 .b8 table[4096];");
    assert_eq!(device.used_bytes(), 4096);
    device.unload(&loaded);
    assert_eq!(device.used_bytes(), 0);
}

/// A managed variable is where the host has it, keeps what it holds when its module is loaded
/// elsewhere, and stays when a module is unloaded.
#[test]
fn managed_variables_are_the_hosts() {
    let module = module(
        ".visible .global .attribute(.managed) .align 4 .u32 total = 5;
.visible .global .u64 pointer = total;",
    );
    let mut word = AtomicU64::new(0);
    let pointer = NonNull::from(word.get_mut()).cast::<u8>();
    let devices = [0, 1].map(|ordinal| {
        Device::with_config(DeviceConfig {
            ordinal,
            ..DeviceConfig::default()
        })
    });
    let mut is_new = true;
    for device in &devices {
        // SAFETY: `word` lives as long as the devices, and nothing else is in it.
        let address = unsafe { device.map_host(pointer, 8, "total") }.expect("not mapped yet");
        let mut place = |name: &str, size_bytes: u64| {
            assert_eq!((name, size_bytes), ("total", 4));
            Ok(Managed { address, is_new })
        };
        let loaded = device.load_with_managed(&module, &mut place, None);
        let loaded = loaded.expect("there is memory");
        assert_eq!(loaded.variable("total"), Some((address, 4)));
        let pointer = loaded.array::<u64>("pointer").expect("it is there");
        assert_eq!(device.download(pointer).expect("it is there"), [address]);
        let holds = if is_new { 5 } else { 6 };
        assert_eq!(word.swap(6, Ordering::Relaxed), holds);
        device.unload(&loaded);
        assert!(device.allocation_at(pointer.address()).is_none());
        assert!(device.allocation_at(address).is_some());
        is_new = false;
    }
    let alone = Bench::of(&module, DeviceConfig::default());
    let total = alone.loaded.array::<u32>("total").expect("it is there");
    assert_eq!(alone.download(total), [5]);
    alone.device.unload(&alone.loaded);
    assert_eq!(alone.device.used_bytes(), 0);
}

/// What has been placed when memory runs out is given back.
#[test]
fn a_module_without_room_leaves_nothing() {
    let module = module(".global .b8 first[600];\n.global .b8 second[600];");
    let device = Device::with_config(DeviceConfig {
        memory_bytes: 1000,
        ..DeviceConfig::default()
    });
    let refused = device.load(&module).map(drop);
    assert!(matches!(refused, Err(MemoryError::OutOfMemory { .. })));
    assert_eq!(device.used_bytes(), 0);
}
