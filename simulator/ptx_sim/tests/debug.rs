//! Launches that go forwards and backwards: what a launch is at a moment does not depend on the way
//! that led there.

use common::numbers::Numbers;
use common::{module, with_tile};
use ptx_sim::debug::Session;
use ptx_sim::{Buffer, Call, LaunchError, LaunchOptions, Schedule};

use crate::bulk::random::{random_kernel, shaped};
use crate::bulk::{Bench, noise};
use crate::prefilter::random_body;

/// The usual order, and two others.
fn orders() -> [Option<Schedule>; 3] {
    [None, Some(Schedule::new(1)), Some(Schedule::new(2))]
}

/// A device with a kernel `k`, and a buffer of words.
struct Small {
    bench: common::Bench,
    buffer: Buffer<u8>,
}

impl Small {
    fn new(ptx: &str) -> Self {
        let bench = common::Bench::new(ptx);
        let buffer = bench.upload(&[1; 1 << 16], "buffer");
        Self { bench, buffer }
    }

    fn call(&self, schedule: Option<Schedule>) -> Call<'_> {
        let options = LaunchOptions {
            schedule,
            fuel: Some(1 << 18),
            ..LaunchOptions::default()
        };
        let call = self.bench.call("k").grid(4).block(80);
        call.options(options).arg(self.buffer)
    }

    fn bytes(&self) -> Vec<u8> {
        self.bench.download(self.buffer)
    }

    fn restore(&self, bytes: &[u8]) {
        let written = self.bench.device.overwrite(self.buffer, bytes);
        written.expect("the buffer");
    }
}

/// Goes to moments of a launch in many ways, and compares what it is there.
fn goes_both_ways(session: &mut Session<'_, '_>, seed: u64) {
    let mut numbers = Numbers(seed);
    // From one moment to so many that most are forgotten.
    session.keep_every([1, 7, 100, 1 << 14][seed as usize % 4]);
    session.go_to(u64::MAX);
    let end = session.end().expect("it has been there").time;
    assert!(end > 0);
    let times: Vec<u64> = (0..8).map(|_| numbers.draw() % (end + 1)).collect();
    let known: Vec<u64> = times.iter().map(|&time| at(session, time)).collect();
    for _ in 0..16 {
        let i = (numbers.draw() % 8) as usize;
        assert_eq!(
            at(session, times[i]),
            known[i],
            "time {} of {end}",
            times[i]
        );
    }
    // Step by step, and back.
    let n = times[0].min(end.saturating_sub(3));
    let mut steps = vec![at(session, n)];
    for time in n + 1..(n + 12).min(end + 1) {
        steps.push(at(session, time));
    }
    for (i, &known) in steps.iter().enumerate().rev() {
        let time = n + i as u64;
        assert_eq!(at(session, time), known, "time {time}");
    }
}

fn at(session: &mut Session<'_, '_>, time: u64) -> u64 {
    session.go_to(time);
    assert_eq!(session.time(), time);
    session.fingerprint()
}

/// What a kernel leaves, and how it ends, with a debugger and without.
fn ends_alike(small: &Small, schedule: Option<Schedule>, seed: u64) {
    let before = small.bytes();
    let plain = small.call(schedule).run();
    let left = small.bytes();
    small.restore(&before);
    let debugged = small.call(schedule);
    let debugged = debugged.debug(|session| goes_both_ways(session, seed));
    let ((), report) = debugged.expect("an allowed launch");
    let error = |run: Result<_, LaunchError>| run.err().map(|error| error.to_string());
    assert_eq!(error(report), error(plain));
    assert!(left == small.bytes());
    small.restore(&before);
}

#[test]
fn random_kernels_are_the_same_from_both_sides() {
    for seed in 0..20 {
        let small = Small::new(&with_tile(&random_body(seed)));
        for schedule in orders() {
            ends_alike(&small, schedule, seed);
        }
    }
}

#[test]
fn random_copies_in_clusters_are_the_same_from_both_sides() {
    for seed in 0..20 {
        let module = module(&random_kernel(seed));
        for schedule in orders() {
            let bench = Bench::new(&noise(16_384, 31));
            let loaded = bench.device.load(&module).expect("a module");
            let call = shaped(bench.device.call(&loaded, "k"), schedule, bench.buffer);
            let debugged = call.debug(|session| goes_both_ways(session, seed));
            assert!(debugged.is_ok());
        }
    }
}

#[test]
fn programs_of_all_kinds_are_the_same_from_both_sides() {
    for number in 0..20 {
        for schedule in orders() {
            let options = LaunchOptions {
                schedule,
                fuel: Some(1 << 18),
                ..LaunchOptions::default()
            };
            let plain = crate::random::set::WIDE.simulate(number, options.clone());
            let debugged = crate::random::set::WIDE.debugged(number, options, |session| {
                goes_both_ways(session, number);
            });
            assert_eq!(debugged, plain, "program {number}");
        }
    }
}
