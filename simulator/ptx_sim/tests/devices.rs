//! Several devices of one machine: their memory, launches that run together, and what checks find
//! across them.

use common::{module, says};
use ptx_sim::schedule::search;
use ptx_sim::{
    Buffer, Call, Device, DeviceConfig, LaunchError, LoadedModule, PeerError, Report, run_together,
};

/// A machine, with a module on each of its devices, and access of each to the memory of all.
struct Machine {
    devices: Vec<Device>,
    modules: Vec<LoadedModule>,
}

impl Machine {
    fn new(n: usize, ptx: &str) -> Self {
        let module = module(ptx);
        let devices = Device::several(n, &DeviceConfig::default());
        let modules = devices
            .iter()
            .map(|device| device.load(&module).expect("room"));
        let modules = modules.collect();
        Self { devices, modules }
    }

    fn with_peers(n: usize, ptx: &str) -> Self {
        let machine = Self::new(n, ptx);
        for device in &machine.devices {
            let is_other = |peer: &&Device| !std::ptr::eq(*peer, device);
            for peer in machine.devices.iter().filter(is_other) {
                device.enable_peer(peer).expect("not yet");
            }
        }
        machine
    }

    fn call<'a>(&'a self, device: usize, kernel: &'a str) -> Call<'a> {
        self.devices[device]
            .call(&self.modules[device], kernel)
            .check(true)
    }

    fn zeros(&self, device: usize, n: usize, name: &str) -> Buffer<u32> {
        self.devices[device]
            .upload(&vec![0; n], name)
            .expect("room")
    }
}

/// A value and a flag for it: stored by one kernel, and awaited and read by another, each in a way
/// to be filled in.
fn hand_over(set: &str, wait: &str) -> String {
    format!(
        "
.visible .entry give(.param .u64 value, .param .u64 flag)
{{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [value];
	ld.param.u64 %rd2, [flag];
	mov.u32 %r1, 1;
	st.global.u32 [%rd1], 42;
	{set}
	ret;
}}
.visible .entry take(.param .u64 value, .param .u64 flag, .param .u64 out)
{{
	.reg .pred %p;
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [value];
	ld.param.u64 %rd2, [flag];
	ld.param.u64 %rd3, [out];
WAIT:
	{wait}
	setp.eq.u32 %p, %r1, 0;
	@%p bra WAIT;
	FENCE
	ld.global.u32 %r2, [%rd1];
	st.global.u32 [%rd3], %r2;
	ret;
}}"
    )
}

/// Runs both, on two devices; gives the value that was read.
fn handed_over(set: &str, (wait, fence): (&str, &str)) -> Result<u32, String> {
    let machine = Machine::with_peers(2, &hand_over(set, wait).replace("FENCE", fence));
    let [value, flag] = ["value", "flag"].map(|name| machine.zeros(1, 1, name));
    let out = machine.zeros(1, 1, "out");
    // The one that waits goes first.
    let take = machine.call(1, "take").arg(value).arg(flag).arg(out);
    let give = machine.call(0, "give").arg(value).arg(flag);
    run_together(&[take, give]).map_err(|error| error.to_string())?;
    Ok(machine.devices[1].download(out).expect("there")[0])
}

const RELEASE: &str = "st.release.sys.global.u32 [%rd2], %r1;";
const ACQUIRE: (&str, &str) = ("ld.acquire.sys.global.u32 %r1, [%rd2];", "");
const RELAXED: &str = "ld.relaxed.sys.global.u32 %r1, [%rd2];";

#[test]
fn a_flag_with_system_scope_hands_a_value_to_another_device() {
    let volatile = "fence.acq_rel.sys; st.volatile.global.u32 [%rd2], %r1;";
    let added = "atom.add.release.sys.global.u32 %r2, [%rd2], 1;";
    let membar = "membar.sys; st.relaxed.sys.global.u32 [%rd2], %r1;";
    for set in [RELEASE, volatile, added, membar] {
        for wait in [ACQUIRE, (RELAXED, "fence.acq_rel.sys;")] {
            assert_eq!(handed_over(set, wait), Ok(42), "{set} {wait:?}");
        }
    }
}

#[test]
fn what_is_too_narrow_or_missing_is_a_race_with_both_devices() {
    let fenced = |fence: &str| format!("{fence} st.relaxed.sys.global.u32 [%rd2], %r1;");
    let cases = [
        ("st.release.gpu.global.u32 [%rd2], %r1;".to_owned(), ACQUIRE),
        (fenced(""), ACQUIRE),
        (fenced("fence.acq_rel.gpu;"), ACQUIRE),
        ("st.global.u32 [%rd2], %r1;".to_owned(), ACQUIRE),
        (
            RELEASE.to_owned(),
            ("ld.acquire.gpu.global.u32 %r1, [%rd2];", ""),
        ),
        (RELEASE.to_owned(), (RELAXED, "")),
        (RELEASE.to_owned(), (RELAXED, "fence.acq_rel.gpu;")),
    ];
    for (set, wait) in cases {
        let error = handed_over(&set, wait).expect_err("nothing orders the two");
        assert!(error.starts_with("race: "), "{error}");
        says(
            &error,
            &[
                "device 0, block (0, 0, 0)",
                "device 1, block (0, 0, 0)",
                "kernel `give`",
                "kernel `take`",
            ],
        );
    }
}

const HAND_ON: &str = "
.visible .entry give(.param .u64 value, .param .u64 flag)
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [value];
	ld.param.u64 %rd2, [flag];
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %rd3, %r2, 4;
	add.u64 %rd1, %rd1, %rd3;
	st.global.u32 [%rd1], %r2;
	bar.sync 0;
	setp.ne.u32 %p1, %r2, 0;
	@%p1 bra END;
	mov.u32 %r1, 1;
	st.release.sys.global.u32 [%rd2], %r1;
END:
	ret;
}
.visible .entry take(.param .u64 value, .param .u64 flag, .param .u64 out)
{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [value];
	ld.param.u64 %rd2, [flag];
	ld.param.u64 %rd3, [out];
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, %ctaid.x;
	setp.ne.u32 %p1, %r2, 0;
	@%p1 bra READ;
	setp.ne.u32 %p1, %r3, 0;
	@%p1 bra SECOND;
WAIT:
	ld.acquire.sys.global.u32 %r1, [%rd2];
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra WAIT;
	mov.u32 %r1, 1;
	st.release.gpu.global.u32 [%rd3], %r1;
	bra READ;
SECOND:
	ld.acquire.gpu.global.u32 %r1, [%rd3];
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra SECOND;
READ:
	bar.sync 0;
	mul.wide.u32 %rd4, %r2, 4;
	add.u64 %rd1, %rd1, %rd4;
	ld.global.u32 %r4, [%rd1];
	mad.lo.u32 %r5, %r3, 64, %r2;
	mul.wide.u32 %rd4, %r5, 4;
	add.u64 %rd3, %rd3, %rd4;
	st.global.u32 [%rd3 + 4], %r4;
	ret;
}";

/// What one thread acquires, its block's barrier hands on, and a release of device scope to the
/// other blocks of its device.
#[test]
fn what_was_acquired_is_handed_on_within_the_device() {
    let machine = Machine::with_peers(3, HAND_ON);
    let value = machine.zeros(1, 64, "value");
    let flag = machine.zeros(2, 1, "flag");
    let out = machine.zeros(2, 129, "out");
    let run = |schedule| -> Result<Vec<Report>, _> {
        for cleared in [flag, out] {
            let cleared = machine.devices[2].overwrite(cleared, &[0]);
            cleared.expect("there");
        }
        let take = machine.call(2, "take").grid(2).block(64);
        let take = take.args(&[&value, &flag, &out]);
        let give = machine.call(0, "give").block(64).arg(value).arg(flag);
        let [take, give] = match schedule {
            Some(schedule) => [take.schedule(schedule), give.schedule(schedule)],
            None => [take, give],
        };
        run_together(&[take, give])
    };
    let reports = run(None).expect("right");
    let got = machine.devices[2].download(out).expect("there");
    let expected: Vec<u32> = (0..64).chain(0..64).collect();
    assert_eq!(got[1..], expected[..]);
    // 256 bytes and a flag in one direction, 256 bytes for each of two blocks in the other; the thread
    // that has waited reads alone.
    let [take, give] = [&reports[0].counts, &reports[1].counts];
    assert_eq!((give.peer_store_bytes, give.peer_store_sectors), (260, 9));
    assert_eq!((take.peer_load_bytes, take.peer_load_sectors), (512, 18));
    assert_eq!((take.peer_store_bytes, give.peer_load_bytes), (0, 0));
    let lines = reports[1].instructions();
    let moves = lines.iter().filter(|line| line.counts.peer_store_bytes > 0);
    assert_eq!(
        moves
            .map(|line| line.counts.peer_store_bytes)
            .collect::<Vec<_>>(),
        [256, 4]
    );
    let found = search(0..30, |schedule| run(Some(schedule)).map(drop));
    assert!(found.is_none(), "{found:?}");
}

const STORE: &str = "
.visible .entry store(.param .u64 to)
{
	.reg .b64 %rd;
	ld.param.u64 %rd, [to];
	st.global.u32 [%rd], 1;
	ret;
}
.visible .entry load(.param .u64 from, .param .u64 to)
{
	.reg .b32 %r;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd0, [from];
	ld.param.u64 %rd1, [to];
	ld.global.u32 %r, [%rd0];
	st.global.u32 [%rd1], %r;
	ret;
}
.visible .entry wait(.param .u64 flag)
{
	.reg .pred %p;
	.reg .b32 %r;
	.reg .b64 %rd;
	ld.param.u64 %rd, [flag];
AGAIN:
	ld.acquire.sys.global.u32 %r, [%rd];
	setp.eq.u32 %p, %r, 0;
	@%p bra AGAIN;
	ret;
}";

#[test]
fn two_devices_that_write_one_word_race() {
    let machine = Machine::with_peers(2, STORE);
    let word = machine.zeros(0, 1, "word");
    let calls = [1, 0].map(|device| machine.call(device, "store").arg(word));
    let error = run_together(&calls).expect_err("a race");
    assert_eq!(error.member, 1);
    let text = error.to_string();
    says(
        &text,
        &[
            "store of 4 bytes",
            "`word`",
            "device 0, block",
            "device 1, block",
        ],
    );
    // One after the other they do not.
    for device in [0, 1] {
        let run = machine.call(device, "store").arg(word).run();
        run.expect("alone");
    }
}

#[test]
fn memory_of_another_device_needs_access() {
    let machine = Machine::new(3, STORE);
    let word = machine.zeros(2, 1, "word");
    let store = || machine.call(0, "store").arg(word).run();
    let text = store().expect_err("no access").to_string();
    assert!(
        text.starts_with("no peer access: store of 4 bytes"),
        "{text}"
    );
    says(
        &text,
        &[
            "memory of device 2: 0 bytes into `word`",
            "device 0, block",
            "enable_peer",
        ],
    );
    machine.devices[0]
        .enable_peer(&machine.devices[2])
        .expect("not yet");
    assert!(machine.devices[0].is_peer_enabled(&machine.devices[2]));
    assert!(!machine.devices[2].is_peer_enabled(&machine.devices[0]));
    store().expect("access");
    assert_eq!(machine.devices[2].download(word).expect("there"), [1]);
    machine.devices[0]
        .disable_peer(&machine.devices[2])
        .expect("enabled");
    store().expect_err("no access again");
}

#[test]
fn peers_are_two_devices_of_one_machine() {
    let devices = Device::several(2, &DeviceConfig::default());
    let [a, b] = &devices[..] else { panic!() };
    assert_eq!(a.enable_peer(a), Err(PeerError::Itself(0)));
    assert_eq!(a.disable_peer(b), Err(PeerError::NotEnabled(0, 1)));
    assert_eq!(a.enable_peer(b), Ok(()));
    assert_eq!(a.enable_peer(b), Err(PeerError::AlreadyEnabled(0, 1)));
    let alone = Device::new();
    assert_eq!(a.enable_peer(&alone), Err(PeerError::Apart(0, 0)));
    assert_eq!(alone.enable_peer(a), Err(PeerError::Apart(0, 0)));
}

#[test]
fn what_another_device_wrote_is_known_to_be_written() {
    let machine = Machine::with_peers(2, STORE);
    let device = &machine.devices[0];
    let word = device.zeros::<u32>(2, "word").expect("room");
    device.mark_unwritten(word.address(), 8).expect("there");
    let out = machine.zeros(1, 1, "out");
    let load = || machine.call(1, "load").arg(word).arg(out);
    let text = load().run().expect_err("unwritten").to_string();
    assert!(text.starts_with("read of unwritten memory"), "{text}");
    assert!(text.contains("`word` of device 0"), "{text}");
    machine.call(1, "store").arg(word).run().expect("right");
    load().run().expect("written");
    assert_eq!(device.unwritten(word.address(), 8).expect("there").len(), 1);
    // The same, if both run together: whatever comes first, it is a race.
    device.mark_unwritten(word.address(), 8).expect("there");
    let together = [load(), machine.call(0, "store").arg(word)];
    let text = run_together(&together).expect_err("a race").to_string();
    assert!(text.starts_with("race"), "{text}");
}

#[test]
fn devices_that_wait_forever_are_all_named() {
    let machine = Machine::with_peers(2, STORE);
    let flags = [0, 1].map(|device| machine.zeros(device, 1, "flag"));
    let calls = [0, 1].map(|device| machine.call(device, "wait").arg(flags[1 - device]));
    let error = run_together(&calls).expect_err("nobody sets them");
    assert!(matches!(error.error, LaunchError::OutOfFuel(_)), "{error}");
    let text = error.to_string();
    says(
        &text,
        &[
            "device 0, block",
            "meanwhile, in kernel `wait`",
            "device 1, block",
        ],
    );
}

#[test]
fn launches_together_are_on_one_machine() {
    let (one, other) = (Machine::new(1, STORE), Machine::new(1, STORE));
    let word = one.zeros(0, 1, "word");
    let calls = [
        one.call(0, "store").arg(word),
        other.call(0, "store").arg(word),
    ];
    let error = run_together(&calls).expect_err("two machines");
    assert_eq!(error.member, 1);
    assert!(error.to_string().contains("Device::several"), "{error}");
    assert!(run_together(&[]).expect("nothing").is_empty());
    run_together(&calls[..1]).expect("one is enough");
}

/// Flags of a byte each, in one word: each keeps what was released there.
#[test]
fn flags_in_one_word_are_apart() {
    let ptx = "
.visible .entry give(.param .u64 value, .param .u64 flag)
{
	.reg .b32 %r;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd0, [value];
	ld.param.u64 %rd1, [flag];
	mov.u32 %r, 1;
	st.global.u32 [%rd0], 42;
	st.release.sys.global.u8 [%rd1], %r;
	ret;
}
.visible .entry take(.param .u64 values, .param .u64 flags, .param .u64 out)
{
	.reg .pred %p;
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd0, [values];
	ld.param.u64 %rd1, [flags];
	ld.param.u64 %rd2, [out];
FIRST:
	ld.acquire.sys.global.u8 %r0, [%rd1];
	setp.eq.u32 %p, %r0, 0;
	@%p bra FIRST;
SECOND:
	ld.acquire.sys.global.u8 %r0, [%rd1 + 1];
	setp.eq.u32 %p, %r0, 0;
	@%p bra SECOND;
	ld.global.u32 %r1, [%rd0];
	ld.global.u32 %r2, [%rd0 + 4];
	add.u32 %r1, %r1, %r2;
	st.global.u32 [%rd2], %r1;
	ret;
}";
    let machine = Machine::with_peers(3, ptx);
    let [values, flags, out] = ["values", "flags", "out"].map(|name| machine.zeros(0, 2, name));
    let (value, flag) = (values.address(), flags.address());
    let give = |device: usize, i: u64| {
        let call = machine.call(device, "give");
        call.arg(value + 4 * i).arg(flag + i)
    };
    let take = machine.call(0, "take").arg(values).arg(flags).arg(out);
    // Both have set their flags before the first is looked at.
    run_together(&[give(1, 0), give(2, 1), take]).expect("both are awaited");
    assert_eq!(machine.devices[0].download(out).expect("there")[0], 84);
}
