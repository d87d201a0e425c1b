//! Kernels that are right in the usual order and wrong in another, and minimally corrected
//! ones: a search finds the former and passes the latter.

use common::{Bench, kernel, launch, module, says};
use ptx_sim::schedule::{Found, search};
use ptx_sim::{
    Device, DeviceConfig, Explanation, Launch, LaunchError, LaunchOptions, NotSearched, OrderError,
    Orders, Schedule,
};

/// A wrong kernel and a minimally corrected one, on a buffer of zeros.
struct Pair {
    /// What is wrong with the wrong one.
    wrong: &'static str,
    /// What the right one has instead.
    right: &'static str,
    declarations: &'static str,
    /// Lines that begin with `-` belong only to the wrong kernel, those with `+` only to
    /// the right one.
    body: &'static str,
    grid: u32,
    block: u32,
    /// What the right one leaves in the first words.
    expected: &'static [u64],
}

/// One of the two.
struct Case<'a> {
    pair: &'a Pair,
    name: &'static str,
    /// The prefix of its own lines.
    sign: char,
}

impl Pair {
    fn both(&self) -> [Case<'_>; 2] {
        [(self.wrong, '-'), (self.right, '+')].map(|(name, sign)| Case {
            pair: self,
            name,
            sign,
        })
    }
}

impl Case<'_> {
    fn text(&self) -> String {
        let lines = self.pair.body.lines();
        let own = lines.filter_map(|line| {
            let is_common = !line.starts_with(['-', '+']);
            is_common
                .then_some(line)
                .or_else(|| line.strip_prefix(self.sign))
        });
        let body = own.collect::<Vec<_>>().join("\n");
        format!("{}\n{}", self.pair.declarations, kernel(&body))
    }

    fn run(&self, schedule: Option<Schedule>) -> Result<(), String> {
        let Pair {
            grid,
            block,
            expected,
            ..
        } = *self.pair;
        let options = LaunchOptions {
            fuel: Some(200_000),
            schedule,
            ..LaunchOptions::default()
        };
        let run = launch(&self.text(), &[0; 64], |call| {
            call.grid(grid).block(block).options(options)
        });
        let (words, _) = run.map_err(|e| e.to_string())?;
        let words = &words[..expected.len()];
        match words == expected {
            true => Ok(()),
            false => Err(format!("{words:?}, not {expected:?}")),
        }
    }

    fn search(&self) -> Option<Found<String>> {
        search(0..100, |schedule| self.run(Some(schedule)))
    }
}

/// Warp 0 writes a word that warp 1 reads.
const HANDED_OVER: Pair = Pair {
    wrong: "a barrier is missing between two warps",
    right: "with the barrier",
    declarations: ".shared .align 8 .b64 word;",
    body: "
	setp.ne.u32 %p1, %me, 0;
	@%p1 bra READ;
	st.shared.u64 [word], 7;
READ:
+	bar.sync 0;
	setp.ne.u32 %p2, %me, 32;
	@%p2 bra END;
	ld.shared.u64 %rd1, [word];
	st.global.u64 [%buf], %rd1;
END:",
    grid: 1,
    block: 64,
    expected: &[7],
};

/// Eight warps of four blocks count themselves.
const COUNTED: Pair = Pair {
    wrong: "an update is lost",
    right: "with an atomic addition",
    declarations: "",
    body: "
	and.b32 %r1, %me, 31;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra END;
-	ld.relaxed.gpu.global.u64 %rd1, [%buf];
-	add.u64 %rd1, %rd1, 1;
-	st.relaxed.gpu.global.u64 [%buf], %rd1;
+	red.relaxed.gpu.global.add.u64 [%buf], 1;
END:",
    grid: 4,
    block: 64,
    expected: &[8],
};

/// Two warps take two locks, and count how often both had both.
const LOCKED: Pair = Pair {
    wrong: "two locks are taken in different orders",
    right: "in the same order",
    declarations: ".shared .align 4 .u32 a; .shared .align 4 .u32 b;",
    body: "
	and.b32 %r1, %me, 31;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra END;
-	mov.u64 %rd1, a;
-	mov.u64 %rd2, b;
	setp.eq.u32 %p2, %me, 0;
	@%p2 st.shared.u32 [a], 0;
	@%p2 st.shared.u32 [b], 0;
	bar.sync 0;
-	selp.b64 %rd3, %rd1, %rd2, %p2;
-	selp.b64 %rd4, %rd2, %rd1, %p2;
FIRST:
-	atom.shared.cas.b32 %r2, [%rd3], 0, 1;
+	atom.shared.cas.b32 %r2, [a], 0, 1;
	setp.ne.u32 %p3, %r2, 0;
	@%p3 bra FIRST;
SECOND:
-	atom.shared.cas.b32 %r2, [%rd4], 0, 1;
+	atom.shared.cas.b32 %r2, [b], 0, 1;
	setp.ne.u32 %p3, %r2, 0;
	@%p3 bra SECOND;
	red.global.add.u64 [%buf], 1;
-	atom.shared.exch.b32 %r2, [%rd4], 0;
-	atom.shared.exch.b32 %r2, [%rd3], 0;
+	atom.shared.exch.b32 %r2, [b], 0;
+	atom.shared.exch.b32 %r2, [a], 0;
END:",
    grid: 1,
    block: 64,
    expected: &[2],
};

/// The lower half of a warp hands words to the upper half.
const HALVES: Pair = Pair {
    wrong: "lanes exchange words without meeting",
    right: "with bar.warp.sync",
    declarations: ".shared .align 8 .b64 words[16];",
    body: "
	mov.u64 %rd1, words;
	and.b32 %r1, %me, 15;
	mul.wide.u32 %rd2, %r1, 8;
	add.u64 %rd1, %rd1, %rd2;
	setp.ge.u32 %p1, %me, 16;
	@%p1 bra MEET;
	cvt.u64.u32 %rd3, %me;
	st.shared.u64 [%rd1], %rd3;
MEET:
+	bar.warp.sync 0xffffffff;
	setp.lt.u32 %p2, %me, 16;
	@%p2 bra END;
	ld.shared.u64 %rd4, [%rd1];
	add.u64 %rd2, %buf, %rd2;
	st.global.u64 [%rd2], %rd4;
END:",
    grid: 1,
    block: 32,
    expected: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
};

/// Each block goes on from what the one before it left.
const CHAINED: Pair = Pair {
    wrong: "a block relies on the one before it having run",
    right: "waiting for it",
    declarations: "",
    body: "
	setp.ne.u32 %p1, %me, 0;
	@%p1 bra END;
	mov.u64 %rd1, 0;
-	setp.eq.u32 %p2, %blk, 0;
	mul.wide.u32 %rd2, %blk, 8;
	add.u64 %rd2, %buf, %rd2;
-	@!%p2 ld.relaxed.gpu.global.u64 %rd1, [%rd2 + -8];
+	setp.eq.u32 %p2, %blk, 0;
+	@%p2 bra GO;
+WAIT:
+	ld.acquire.gpu.global.u64 %rd1, [%rd2 + -8];
+	setp.eq.u64 %p3, %rd1, 0;
+	@%p3 bra WAIT;
+GO:
	add.u64 %rd1, %rd1, 1;
-	st.relaxed.gpu.global.u64 [%rd2], %rd1;
+	st.release.gpu.global.u64 [%rd2], %rd1;
END:",
    grid: 5,
    block: 32,
    expected: &[1, 2, 3, 4, 5],
};

/// A warp signals another that a word is there.
const TOLD: Pair = Pair {
    wrong: "a flag is set before what it stands for",
    right: "after it",
    declarations: "",
    body: "
	setp.eq.u32 %p1, %me, 0;
	@%p1 bra WRITE;
	setp.eq.u32 %p2, %me, 32;
	@%p2 bra WAIT;
	bra END;
WRITE:
-	st.relaxed.gpu.global.u64 [%buf + 8], 1;
	st.relaxed.gpu.global.u64 [%buf + 16], 7;
+	st.release.gpu.global.u64 [%buf + 8], 1;
	bra END;
WAIT:
-	ld.relaxed.gpu.global.u64 %rd1, [%buf + 8];
+	ld.acquire.gpu.global.u64 %rd1, [%buf + 8];
	setp.eq.u64 %p3, %rd1, 0;
	@%p3 bra WAIT;
	ld.relaxed.gpu.global.u64 %rd2, [%buf + 16];
	st.global.u64 [%buf], %rd2;
END:",
    grid: 1,
    block: 64,
    expected: &[7],
};

/// The other threads of a block wait for one that itself waits for a long time; nothing is
/// wrong.
const WAITING_AT_A_BARRIER: Pair = Pair {
    wrong: "",
    right: "a thread waits for long, the others at a barrier",
    declarations: "",
    body: "
	mul.wide.u32 %rd2, %blk, 8;
	add.u64 %rd2, %buf, %rd2;
	setp.ne.u32 %p1, %me, 0;
	@%p1 bra MEET;
	setp.eq.u32 %p2, %blk, 0;
	@%p2 bra MEET;
WAIT:
	add.u32 %r1, %r1, 1;
	ld.acquire.gpu.global.u64 %rd1, [%rd2 + -8];
	setp.eq.u64 %p3, %rd1, 0;
	@%p3 bra WAIT;
MEET:
	bar.sync 0;
	@%p1 bra END;
	st.release.gpu.global.u64 [%rd2], 1;
END:",
    grid: 12,
    block: 64,
    expected: &[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
};

const ALL: [Pair; 6] = [HANDED_OVER, COUNTED, LOCKED, HALVES, CHAINED, TOLD];

#[test]
fn defects_that_the_usual_order_hides_are_found() {
    for pair in ALL {
        let [wrong, right] = pair.both();
        assert_eq!(wrong.run(None), Ok(()), "{}", wrong.name);
        assert_eq!(right.run(None), Ok(()), "{}", right.name);
        let found = wrong.search();
        let found = found.unwrap_or_else(|| panic!("not found: {}", wrong.name));
        assert!(found.n_passed < 20, "{} by {}", wrong.name, found.schedule);
        let is_simple = found.schedule.n_choices.is_some_and(|n| n < 1000);
        assert!(is_simple, "{} by {}", wrong.name, found.schedule);
        // The same again, also from what is printed.
        let read = found.schedule.to_string().parse().expect("a schedule");
        assert_eq!(wrong.run(Some(read)), Err(found.error), "{}", wrong.name);
        let alarm = right.search().map(|f| (f.schedule, f.error));
        assert_eq!(alarm, None, "{}", right.name);
    }
}

#[test]
fn no_choices_are_the_usual_order() {
    for pair in ALL {
        let [wrong, _] = pair.both();
        for seed in 0..20 {
            let schedule = Schedule {
                n_choices: Some(0),
                ..Schedule::new(seed)
            };
            assert_eq!(wrong.run(Some(schedule)), Ok(()), "{}", wrong.name);
        }
    }
}

/// However short a turn is, the lanes that wait for a loop are not stuck.
#[test]
fn a_long_wait_is_no_deadlock() {
    let [_, waiting] = WAITING_AT_A_BARRIER.both();
    assert_eq!(waiting.run(None), Ok(()));
    let found = waiting.search();
    assert_eq!(found.map(|f| (f.schedule, f.error)), None);
}

/// Searches a kernel on words; gives what was found, what was explained, and the words.
fn search_on(
    text: &str,
    (grid, block): (u32, u32),
    words: &[u64],
    options: LaunchOptions,
) -> (Result<Orders, NotSearched>, Vec<u64>) {
    let bench = Bench::new(text);
    let buffer = bench.upload(words, "buffer");
    let launch = Launch {
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        dynamic_shared_bytes: 0,
        params: &[&buffer.address().to_le_bytes()],
        options,
    };
    let Bench { device, loaded } = &bench;
    let orders = device.search_orders(loaded, "k", &launch, 0..30);
    (orders, bench.download(buffer))
}

#[test]
fn a_launch_is_compared_with_its_usual_order() {
    for pair in ALL {
        let [wrong, right] = pair.both().map(|case| {
            let shape = (pair.grid, pair.block);
            let (orders, left) = search_on(&case.text(), shape, &[0; 64], LaunchOptions::default());
            assert_eq!(left, [0; 64], "{}", case.name);
            orders.unwrap_or_else(|e| panic!("{}: {e}", case.name))
        });
        let found = wrong
            .found
            .unwrap_or_else(|| panic!("not found: {}", pair.wrong));
        match &found.error {
            OrderError::Ended(error) => {
                assert!(matches!(error, LaunchError::OutOfFuel(_)), "{error}");
                assert_eq!(pair.wrong, LOCKED.wrong);
            }
            OrderError::Differs(difference) => {
                assert!(difference.n_bytes > 0 && difference.words[0] != difference.words[1]);
                let is_race = difference.finding.is_some();
                let is_a_race = [HANDED_OVER.wrong, HALVES.wrong];
                assert_eq!(is_race, is_a_race.contains(&pair.wrong), "{difference}");
            }
        }
        assert!(found.schedule.n_choices.is_some(), "{}", pair.wrong);
        assert!(right.found.is_none(), "{}: {:?}", pair.right, right.found);
        assert!(right.explained.is_none(), "{}", pair.right);
    }
}

#[test]
fn a_difference_says_where_it_is() {
    let [wrong, _] = HANDED_OVER.both();
    let (orders, _) = search_on(&wrong.text(), (1, 64), &[9; 8], LaunchOptions::default());
    let found = orders.expect("it can be searched").found.expect("a defect");
    let text = found.error.to_string();
    says(
        &text,
        &[
            "the result depends on the order in which threads run: 8 bytes differ",
            "the first word: 0xffffffff instead of 0x00000007",
            "0 bytes into `buffer` (64 bytes)",
            "with checks, in this order:\nrace: ",
        ],
    );
}

/// With checks, a defect in the usual order is not looked for in others.
#[test]
fn what_the_usual_order_shows_is_not_searched() {
    let [wrong, right] = HANDED_OVER.both();
    let check = || LaunchOptions {
        check: true,
        ..LaunchOptions::default()
    };
    let (orders, left) = search_on(&wrong.text(), (1, 64), &[9; 8], check());
    let why = orders.expect_err("a race").to_string();
    assert!(why.starts_with("in the usual order: race: "), "{why}");
    assert_eq!(left, [9; 8]);
    let (orders, _) = search_on(&right.text(), (1, 64), &[9; 8], check());
    assert!(orders.is_ok_and(|orders| orders.found.is_none()));
    // What passes the checks is still compared.
    let [wrong, _] = COUNTED.both();
    let (orders, _) = search_on(&wrong.text(), (4, 64), &[0], check());
    let found = orders.expect("nothing is wrong at first").found;
    let error = found.expect("a lost update").error;
    assert!(
        matches!(&error, OrderError::Differs(d) if d.finding.is_none()),
        "{error}"
    );
}

/// Every thread adds a third, a seventh and so on: the rounding of the sum depends on the
/// order.
const SUM: &str = "
	cvt.rn.f32.u32 %f1, %me;
	add.f32 %f1, %f1, 0f40400000;
	rcp.rn.f32 %f1, %f1;
	red.global.add.f32 [%buf], %f1;";

/// Every warp takes a place in a list.
const LIST: &str = "
	and.b32 %r1, %me, 31;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 ret;
	atom.global.add.u32 %r2, [%buf], 1;
	mul.wide.u32 %rd1, %r2, 8;
	add.u64 %rd1, %rd1, %buf;
	st.global.u32 [%rd1 + 8], %global_id;";

#[test]
fn what_atomics_leave_open_is_no_defect() {
    let explained = |body: &str| {
        let (orders, left) = search_on(&kernel(body), (2, 128), &[0; 64], LaunchOptions::default());
        assert_eq!(left, [0; 64]);
        let orders = orders.expect("it can be searched");
        let explained = orders.explained.and_then(|(_, d)| d.explanation);
        (orders.found.map(|found| found.error.to_string()), explained)
    };
    assert_eq!(explained(SUM), (None, Some(Explanation::Rounding)));
    assert_eq!(explained(LIST), (None, Some(Explanation::Places)));
    // Half of the list's words change: that is more than other places.
    let (found, _) = explained(&format!("{LIST}\n	st.global.u32 [%rd1 + 12], %r2;"));
    assert_eq!(found, None);
    let (found, _) = explained(&format!(
        "{LIST}\n	add.u32 %r3, %r2, %global_id;\n	st.global.u32 [%rd1 + 12], %r3;"
    ));
    assert!(found.is_some_and(|text| text.contains("depends on the order")));
    // A sum of numbers in an order that changes is more than rounding.
    let (found, _) = explained(&format!("{SUM}\n	st.global.u32 [%buf + 8], %me;"));
    assert!(found.is_some_and(|text| text.contains("8 bytes into `buffer`")));
    // A clock distinguishes any two orders.
    let clock = "	mov.u64 %rd1, %clock64;\n	st.global.u64 [%buf], %rd1;";
    assert_eq!(explained(clock), (None, None));
}

/// The host writes what a kernel waits for only once.
#[test]
fn a_kernel_that_may_wait_for_the_host_is_not_searched() {
    let bench = Bench::new(&kernel("	ld.volatile.global.u64 %rd1, [%buf];"));
    let Bench { device, loaded } = &bench;
    let mut word = Box::new(0_u64);
    let host = std::ptr::NonNull::from(&mut *word).cast();
    // SAFETY: The word is there until it is freed.
    let address = unsafe { device.map_host(host, 8, "a flag") }.expect("it can be mapped");
    let launch = Launch {
        grid: [1; 3],
        block: [1; 3],
        dynamic_shared_bytes: 0,
        params: &[&address.to_le_bytes()],
        options: LaunchOptions::default(),
    };
    let search = || device.search_orders(loaded, "k", &launch, 0..3);
    let why = search().expect_err("there is the host's memory");
    assert!(matches!(why, NotSearched::MayWaitForTheHost), "{why}");
    device.free(address).expect("it was mapped");
    let why = search().expect_err("nothing is there");
    assert!(
        matches!(why, NotSearched::Failed(LaunchError::Fault(_))),
        "{why}"
    );
}

/// A running launch may wait for what the host does after the one that is searched.
#[test]
fn a_search_does_not_wait_long_for_others() {
    let wait = "AGAIN:\n	ld.volatile.global.u64 %rd1, [%buf];
	setp.eq.u64 %p1, %rd1, 0;\n	@%p1 bra AGAIN;";
    let device = Device::with_config(DeviceConfig {
        concurrent: true,
        ..DeviceConfig::default()
    });
    let [waits, ends] = [wait, ""].map(|body| {
        let loaded = device.load(&module(&kernel(body)));
        loaded.expect("there is memory")
    });
    let flag = std::sync::atomic::AtomicU64::new(0);
    let host = std::ptr::NonNull::from(&flag).cast();
    // SAFETY: The word is there until it is freed, and used by atomic operations.
    let address = unsafe { device.map_host(host, 8, "a flag") }.expect("it can be mapped");
    let launch = Launch {
        grid: [1; 3],
        block: [1; 3],
        dynamic_shared_bytes: 0,
        params: &[&address.to_le_bytes()],
        options: LaunchOptions {
            fuel: Some(u64::MAX),
            ..LaunchOptions::default()
        },
    };
    let search = || device.search_orders(&ends, "k", &launch, 0..3);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| device.launch(&waits, "k", &launch));
        // Until the other has begun, the search is alone.
        let why = loop {
            match search() {
                Ok(_) => std::thread::yield_now(),
                Err(why) => break why,
            }
        };
        assert!(matches!(why, NotSearched::Busy), "{why}");
        flag.store(1, std::sync::atomic::Ordering::Relaxed);
        assert!(running.join().expect("no panic").is_ok());
    });
    assert!(search().is_ok());
}

/// A lock that the lanes of many warps take one after the other. In other orders most of
/// the execution is waiting; waiting warps get fewer turns, so that it stays bounded.
#[test]
fn a_lock_that_many_want_is_passed_on_in_other_orders() {
    let body = "
TAKE:
	atom.acquire.gpu.global.cas.b64 %rd1, [%buf], 0, 1;
	setp.ne.u64 %p1, %rd1, 0;
	@%p1 bra TAKE;
	ld.relaxed.gpu.global.u64 %rd2, [%buf+8];
	add.u64 %rd2, %rd2, 1;
	st.relaxed.gpu.global.u64 [%buf+8], %rd2;
	st.release.gpu.global.u64 [%buf], 0;";
    for seed in 0..8 {
        let schedule = Schedule::new(seed);
        let run = launch(&kernel(body), &[0; 2], |call| {
            let call = call.grid(12).block(128);
            call.fuel(1_000_000).schedule(schedule)
        });
        assert_eq!(run.expect("it ends").0, [0, 12 * 128]);
    }
}
