//! The checks' report: it is the same however many host threads run a launch, and the same as
//! that of the exact judge alone, which runs under a schedule.

use common::numbers::Numbers;
use common::{Bench, module, says, with_tile};
use ptx_sim::{DeviceConfig, LaunchOptions, Module, Pending, Report, Schedule, Touches, Usage};
use std::ops::Range;

/// Threads of a block.
const BLOCK: u32 = 128;
/// Blocks: enough for several host threads.
const GRID: u32 = 160;
/// Threads of the launch.
const N: u64 = GRID as u64 * BLOCK as u64;

/// What a launch reports, if anything, and leaves in memory; otherwise, of some of the bytes, which
/// others must not read meanwhile, and which they must not write.
type Outcome = (Result<Vec<[bool; 2]>, String>, Vec<u8>);

/// Runs `k` on a buffer of three words for each thread: one that the host has written, one
/// that it has not, and one that it has written in part.
fn outcome(module: &Module, options: LaunchOptions) -> Outcome {
    let bench = Bench::of(module, DeviceConfig::default());
    let device = &bench.device;
    let n_bytes = 8 * N * 3;
    let buffer = device.alloc(n_bytes, "buffer").expect("there is room");
    device.fill(buffer, n_bytes, 1).expect("the buffer");
    let unwritten = [(8 * N, 8 * N), (16 * N + 40, 8 * N / 2)];
    for (offset, n_bytes) in unwritten {
        let forgotten = device.mark_unwritten(buffer + offset, n_bytes);
        forgotten.expect("in the buffer");
    }
    let call = bench.call("k").grid(GRID).block(BLOCK).arg(buffer);
    let outcome = call.options(options).run();
    let mut left = vec![0; n_bytes as usize];
    device.read(buffer, &mut left).expect("the buffer");
    let used = outcome.map(|report| used(report, buffer..buffer + n_bytes));
    (used.map_err(|error| error.to_string()), left)
}

fn used(report: Report, addresses: Range<u64>) -> Vec<[bool; 2]> {
    /// It meets every byte of a word.
    const STEP: usize = 237;
    let footprint = report.footprint.expect("it was asked for");
    let work = Pending {
        touches: Touches::Parts(footprint),
        what: String::new(),
    };
    let conflicts = |at, usage| work.conflict(&(at..at + 1), usage).is_some();
    let bytes = addresses.step_by(STEP);
    bytes
        .map(|at| [Usage::READ, Usage::WRITE].map(|usage| conflicts(at, usage)))
        .collect()
}

fn checked(threads: Option<usize>, schedule: Option<Schedule>) -> LaunchOptions {
    LaunchOptions {
        check: true,
        footprint: true,
        threads,
        schedule,
        ..LaunchOptions::default()
    }
}

/// The report that all agree on for a kernel with this body.
fn agreed(body: &str) -> Outcome {
    let text = with_tile(body);
    // A schedule without choices is the usual order.
    let usual = Schedule {
        n_choices: Some(0),
        ..Schedule::new(1)
    };
    let expected = outcome(&module(&text), checked(None, Some(usual)));
    for threads in [1, 2, 4] {
        // Twice, in case the module remembers the first time.
        let module = module(&text);
        for _ in 0..2 {
            let found = outcome(&module, checked(Some(threads), None));
            assert_eq!(found.0, expected.0, "{threads} threads:\n{text}");
            assert!(found.1 == expected.1, "{threads} threads, bytes:\n{text}");
        }
    }
    expected
}

/// The report of a kernel with a defect, of which it must have all these words.
fn told(body: &str, words: &[&str]) {
    let (report, _) = agreed(body);
    let report = report
        .err()
        .unwrap_or_else(|| panic!("nothing is found in\n{body}"));
    says(&report, words);
}

/// Executes `then` in one block only.
fn in_block(block: u32, then: &str) -> String {
    format!("{{\nsetp.ne.u32 %p1, %blk, {block};\n@%p1 bra PAST;\n{then}\nPAST:\n}}\n")
}

/// Executes `then` in one block's first thread only.
fn in_one(block: u32, then: &str) -> String {
    let thread = block * BLOCK;
    format!("{{\nsetp.ne.u32 %p1, %global_id, {thread};\n@%p1 bra PAST;\n{then}\nPAST:\n}}\n")
}

const STORE: &str = "st.global.u32 [%buf], %me;";
const LOAD: &str = "ld.global.u32 %r1, [%buf];";
/// Lane 0 stores what the others load without a barrier.
const SHARED_RACE: &str = "
	mov.u32 %r5, tile;
	mad.lo.u32 %r6, %me, 4, %r5;
	st.shared.u32 [%r6], %me;
	xor.b32 %r6, %r6, 128;
	ld.shared.u32 %r7, [%r6];";

/// One block accesses what another one has accessed, or will.
#[test]
fn races_of_two_blocks_are_told() {
    let [load, store] = ["ld.global.u32 %r1,", "st.global.u32"];
    let unwritten = format!("[%buf+{}]", 8 * N);
    for (one, first, other, second, at, what) in [
        (0, load, 150, store, "[%buf]", "race: store"),
        (2, store, 151, load, "[%buf]", "race: load"),
        (4, store, 1, store, "[%buf]", "race: store"),
        (1, load, 140, store, &unwritten, "race: store"),
    ] {
        let access = |what: &str| match what == load {
            true => format!("{what} {at};"),
            false => format!("{what} {at}, %me;"),
        };
        let body = in_one(one, &access(first)) + &in_one(other, &access(second));
        let [one, other] = [one, other].map(|block| format!("block ({block}, 0, 0)"));
        told(&body, &[what, &one, &other]);
    }
}

#[test]
fn reads_of_unwritten_memory_are_told() {
    let body = format!("ld.global.u64 %rd1, [%slot+{}];", 8 * N);
    told(&body, &["read of unwritten memory", "block (0, 0, 0)"]);
}

#[test]
fn what_the_lower_block_has_is_told_first() {
    let global = in_one(0, STORE) + &in_one(3, STORE);
    told(
        &(global.clone() + &in_block(159, SHARED_RACE)),
        &["race: store", "block (3, 0, 0)"],
    );
    told(
        &(global + &in_block(1, SHARED_RACE)),
        &["shared address", "block (1, 0, 0)"],
    );
}

#[test]
fn a_fault_hides_nothing_that_a_lower_block_has() {
    let outside = "ld.global.u32 %r1, [%buf+1000000000];";
    let race = in_one(0, STORE) + &in_one(1, STORE);
    told(&(race.clone() + &in_one(3, outside)), &["race: store"]);
    told(&(in_one(0, outside) + &race), &["out of bounds"]);
}

#[test]
fn memory_is_as_one_thread_left_it() {
    // Up to the defect of the last block, all have run.
    let add =
        "ld.global.u64 %rd1, [%slot];\nadd.u64 %rd1, %rd1, 1;\nst.global.u64 [%slot], %rd1;\n";
    let body = add.to_owned() + &in_block(159, SHARED_RACE);
    told(&body, &["shared address", "block (159, 0, 0)"]);
}

#[test]
fn sums_of_all_blocks_are_no_race() {
    let (report, left) = agreed("red.global.add.u32 [%buf], 1;");
    assert!(report.is_ok());
    assert_eq!(left[..4], (N as u32 + 0x0101_0101).to_le_bytes());
    told(
        &("red.global.add.u32 [%buf], 1;".to_owned() + &in_block(77, LOAD)),
        &["race: load", "block (77, 0, 0)"],
    );
    // What is left depends on the order.
    let body = "red.global.add.f32 [%buf], 0f3DCCCCCD;";
    assert_eq!(agreed(body).0.err(), None);
    let body = "red.global.add.u32 [%buf], %me;\nred.global.max.u32 [%buf], %blk;";
    assert_eq!(agreed(body).0.err(), None);
}

#[test]
fn blocks_that_wait_for_later_ones_are_judged_alike() {
    let flag = 16 * N;
    let wait = format!(
        "WAIT:\nld.acquire.gpu.global.u32 %r1, [%buf+{flag}];\nsetp.ne.u32 %p1, %r1, 7;\n@%p1 bra WAIT;"
    );
    let tell = format!("st.release.gpu.global.u32 [%buf+{flag}], 7;");
    let ordered = in_one(0, &format!("{wait}\n{LOAD}")) + &in_one(150, &format!("{STORE}\n{tell}"));
    assert_eq!(agreed(&ordered).0.err(), None);
    let unordered =
        in_one(0, &format!("{wait}\n{LOAD}")) + &in_one(150, &format!("{tell}\n{STORE}"));
    told(
        &unordered,
        &["race: load", "block (0, 0, 0)", "block (150, 0, 0)"],
    );
    // Each has its own shared memory.
    let tile = "mov.u32 %r5, tile;\nmad.lo.u32 %r6, %me, 4, %r5;\nst.shared.u32 [%r6], %me;
ld.shared.u32 %r7, [%r6];\n";
    assert_eq!(agreed(&(tile.to_owned() + &ordered + tile)).0.err(), None);
    told(
        &(ordered + &in_block(77, SHARED_RACE)),
        &["shared address", "block (77, 0, 0)"],
    );
}

#[test]
fn blocks_that_can_tell_their_order_run_in_it() {
    let body = in_block(3, "atom.global.add.u32 %r1, [%buf], 1;")
        + "atom.global.exch.b32 %r2, [%buf+16], %blk;";
    assert_eq!(agreed(&body).0.err(), None);
}

/// All blocks store, and the last one to draw a ticket loads what they stored.
fn last_block_reads(fence: &str) -> String {
    format!(
        "
	st.global.u64 [%slot], 5;
	bar.sync 0;
	setp.ne.u32 %p1, %me, 0;
	@%p1 bra DRAWN;
	{fence}
	atom.global.add.u32 %r1, [%buf+{}], 1;
	{fence}
	mov.u32 %r5, tile;
	st.shared.u32 [%r5], %r1;
DRAWN:
	bar.sync 0;
	mov.u32 %r5, tile;
	ld.shared.u32 %r1, [%r5];
	setp.ne.u32 %p1, %r1, {};
	@%p1 bra LEFT;
	mul.wide.u32 %rd2, %me, 1280;
	add.u64 %rd2, %buf, %rd2;
	ld.global.u64 %rd1, [%rd2];
	st.global.u64 [%rd2], %rd1;
LEFT:
",
        16 * N,
        0x0101_0101 + GRID - 1
    )
}

#[test]
fn a_last_block_may_read_what_others_stored_before_their_fences() {
    assert_eq!(agreed(&last_block_reads("membar.gl;")).0.err(), None);
    told(&last_block_reads(""), &["race: load", "block (159, 0, 0)"]);
}

#[test]
fn lanes_that_read_the_same_word_are_all_remembered() {
    // Scattered, and lanes 2 and 3 of each four read one word.
    let reads = "
	mov.u32 %r5, tile;
	mad.lo.u32 %r6, %me, 4, %r5;
	st.shared.u32 [%r6], %me;
	bar.sync 0;
	and.b32 %r7, %me, 126;
	mad.lo.u32 %r7, %r7, 4, %r5;
	ld.shared.u32 %r8, [%r7];
";
    for writer in [2, 3] {
        let writes = format!(
            "and.b32 %r8, %me, 31;\nsetp.eq.u32 %p1, %r8, {writer};\n@%p1 st.shared.u32 [%r7], %me;"
        );
        told(&(reads.to_owned() + &writes), &["race: store", "load"]);
        let in_order = format!("{reads}bar.sync 0;\n{writes}");
        assert_eq!(agreed(&in_order).0.err(), None);
    }
}

#[test]
fn lanes_that_read_the_same_word_hide_no_other_warp() {
    // Both warps read a word, the second one by two lanes; its lanes know of each other, but
    // not of the first warp's when one of them writes.
    for load in ["ld.shared.u32", "ld.volatile.shared.u32"] {
        let body = format!(
            "
	mov.u32 %r5, tile;
	mad.lo.u32 %r6, %me, 4, %r5;
	st.shared.u32 [%r6], %me;
	bar.sync 0;
	and.b32 %r7, %me, 30;
	mad.lo.u32 %r7, %r7, 4, %r5;
	setp.gt.u32 %p1, %me, 63;
	@%p1 bra LEFT;
	{load} %r8, [%r7];
	bar.warp.sync -1;
	setp.ne.u32 %p1, %me, 34;
	@%p1 bra LEFT;
	st.shared.u32 [%r7], %me;
LEFT:
"
        );
        told(&body, &["race: store", "load", "thread (34, 0, 0)"]);
    }
}

#[test]
fn a_wide_volatile_load_may_not_meet_narrow_atomics() {
    let body = "
	mov.u32 %r5, tile;
	mad.lo.u32 %r6, %me, 8, %r5;
	mov.u64 %rd9, 4;
	st.shared.u64 [%r6], %rd9;
	bar.sync 0;
	setp.gt.u32 %p1, %me, 40;
	@%p1 bra PAST;
	mad.lo.u32 %r6, %me, 4, %r5;
	red.shared.add.u32 [%r6], 1;
PAST:
	bar.warp.sync -1;
	ld.volatile.shared.u64 %rd9, [%r5+40];
";
    told(body, &["race: load of 8 bytes", "thread (32, 0, 0)"]);
}

/// A statement that may be unordered with others.
fn statement(numbers: &mut Numbers, i: usize) -> String {
    let mut below = |n: u64| numbers.draw() % n;
    let bytes = [4, 4, 4, 8, 2, 1][below(6) as usize];
    let (bits, value) = match bytes {
        8 => ("u64", "%rd9"),
        2 => ("u16", "%h1"),
        1 => ("u8", "%h1"),
        _ => ("u32", "%r9"),
    };
    // Which element: mostly the thread's own.
    let element = match below(15) {
        11 => "and.b32 %r2, %me, 7;",
        12 => "shr.u32 %r2, %me, 3;",
        13 => "mul.lo.u32 %r2, %me, 3;",
        14 => "mad.lo.u32 %r2, %me, 2, 1;",
        8 => "shr.u32 %r2, %me, 1;",
        9 => "mul.lo.u32 %r2, %me, 7;\nand.b32 %r2, %r2, 127;",
        10 => "min.u32 %r2, %me, 90;",
        0 => "xor.b32 %r2, %me, 1;",
        1 => "xor.b32 %r2, %me, 32;",
        2 => "mov.u32 %r2, 5;",
        3 => "and.b32 %r2, %me, 96;",
        _ => "mov.u32 %r2, %me;",
    };
    let shared = format!("{element}\nmov.u32 %r3, tile;\nmad.lo.u32 %r3, %r2, {bytes}, %r3;\n");
    let area = 8 * N * below(3);
    let global = match below(7) {
        0 => "mov.u32 %r2, %me;",
        5 => "and.b32 %r2, %global_id, 4092;",
        6 => "mul.lo.u32 %r2, %me, 5;",
        1 => "add.u32 %r2, %global_id, 1;\nmin.u32 %r2, %r2, 20479;",
        _ => "mov.u32 %r2, %global_id;",
    };
    let global = format!(
        "{global}\nmul.wide.u32 %rd2, %r2, {bytes};\nadd.u64 %rd2, %rd2, %buf;\nadd.u64 %rd2, %rd2, {area};\n"
    );
    let statement = match below(16) {
        12 => format!("{shared}ld.volatile.shared.{bits} {value}, [%r3];"),
        13 => format!("{shared}st.volatile.shared.{bits} [%r3], {value};"),
        14 => "membar.gl;\natom.global.add.u32 %r9, [%buf+64], 1;\nmembar.gl;".to_owned(),
        15 => "bar.warp.sync 0x0000ffff;".to_owned(),
        0 | 1 => "bar.sync 0;".to_owned(),
        2 => "bar.warp.sync -1;".to_owned(),
        3 | 4 => format!("{shared}st.shared.{bits} [%r3], {value};"),
        5 | 6 => format!("{shared}ld.shared.{bits} {value}, [%r3];"),
        7 => format!("{global}st.global.{bits} [%rd2], {value};"),
        8 => format!("{global}ld.global.{bits} {value}, [%rd2];"),
        9 => format!("{global}ld.global.nc.{bits} {value}, [%rd2];"),
        10 => format!(
            "{element}\nmov.u32 %r3, tile;\nmad.lo.u32 %r3, %r2, 4, %r3;\nred.shared.add.u32 [%r3], 1;"
        ),
        _ => format!(
            "{element}\nmul.wide.u32 %rd2, %r2, 4;\nadd.u64 %rd2, %rd2, %buf;\nred.global.add.u32 [%rd2], 1;"
        ),
    };
    let guard = match below(4) {
        _ if statement.ends_with("ffff;") && statement.starts_with("bar.warp") => {
            "and.b32 %r2, %me, 16;\nsetp.ne.u32 %p1, %r2, 0;"
        }
        _ if statement.starts_with("bar") => return statement,
        0 => "setp.gt.u32 %p1, %me, 40;",
        1 => "setp.ne.u32 %p1, %blk, 9;",
        _ => return statement,
    };
    format!("{guard}\n@%p1 bra PAST_{i};\n{statement}\nPAST_{i}:")
}

/// The body of a random kernel, which may have races.
pub fn random_body(seed: u64) -> String {
    let mut numbers = Numbers(seed);
    let mut body = "mov.u32 %r9, 3;\nmov.u64 %rd9, 4;\nmov.u16 %h1, 5;
mov.u32 %r3, tile;\nmad.lo.u32 %r3, %me, 8, %r3;\nst.shared.u64 [%r3], %rd9;\nbar.sync 0;\n"
        .to_owned();
    for i in 0..2 + seed as usize % 5 {
        body += &statement(&mut numbers, i);
        body += "\n";
    }
    body
}

/// How many random kernels are compared.
fn n_random() -> u64 {
    let asked = std::env::var("RANDOM_KERNELS").ok();
    asked.map_or(60, |n| n.parse().expect("a number"))
}

#[test]
fn random_kernels_are_judged_alike() {
    let (mut n_found, mut n_passed) = (0, 0);
    for seed in 0..n_random() {
        match agreed(&random_body(seed)).0 {
            Err(_) => n_found += 1,
            Ok(_) => n_passed += 1,
        }
    }
    assert!(n_found >= 10 && n_passed >= 10, "{n_found}, {n_passed}");
}
