//! Launches that go forwards and backwards: what a launch is at a moment does not depend on the way
//! that led there.

use common::lanewise::Numbers;
use common::{HEADER, kernel};
use ptx_sim::debug::Session;
use ptx_sim::{Device, Launch, LaunchOptions, Module, Schedule};

use crate::bulk::random::{random_kernel, with_launch};
use crate::bulk::{Bench, noise};
use crate::prefilter::random_body;

/// The usual order, and two others.
fn orders() -> [Option<Schedule>; 3] {
    [None, Some(Schedule::new(1)), Some(Schedule::new(2))]
}

/// A device with a buffer of words, and a kernel `k` on it.
struct Small {
    device: Device,
    loaded: ptx_sim::LoadedModule,
    buffer: u64,
}

impl Small {
    fn new(ptx: &str) -> Self {
        let device = Device::new();
        let module = Module::parse(ptx).unwrap_or_else(|e| panic!("{e}\n{ptx}"));
        let loaded = device.load(&module).expect("a module");
        let buffer = device.alloc(1 << 16, "buffer").expect("there is room");
        device.fill(buffer, 1 << 16, 1).expect("the buffer");
        Self {
            device,
            loaded,
            buffer,
        }
    }

    fn with_launch<R>(&self, schedule: Option<Schedule>, f: impl FnOnce(&Launch<'_>) -> R) -> R {
        f(&Launch {
            grid: [4, 1, 1],
            block: [80, 1, 1],
            dynamic_shared_bytes: 0,
            params: &[&self.buffer.to_le_bytes()],
            options: LaunchOptions {
                schedule,
                fuel: Some(1 << 18),
                ..LaunchOptions::default()
            },
        })
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; 1 << 16];
        self.device
            .read(self.buffer, &mut bytes)
            .expect("the buffer");
        bytes
    }

    fn debug<R>(
        &self,
        schedule: Option<Schedule>,
        f: impl FnOnce(&mut Session<'_, '_>) -> R,
    ) -> (R, Result<ptx_sim::Report, ptx_sim::LaunchError>) {
        let debugged = self.with_launch(schedule, |launch| {
            self.device.debug(&self.loaded, "k", launch, f)
        });
        debugged.expect("an allowed launch")
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
    let plain = small.with_launch(schedule, |launch| {
        small.device.launch(&small.loaded, "k", launch)
    });
    let left = small.bytes();
    small
        .device
        .write(small.buffer, &before)
        .expect("the buffer");
    let ((), report) = small.debug(schedule, |session| goes_both_ways(session, seed));
    assert_eq!(
        report.err().map(|error| error.to_string()),
        plain.err().map(|error| error.to_string())
    );
    assert!(left == small.bytes());
    small
        .device
        .write(small.buffer, &before)
        .expect("the buffer");
}

#[test]
fn random_kernels_are_the_same_from_both_sides() {
    for seed in 0..20 {
        let body = random_body(seed);
        let text = format!(
            "{HEADER}.shared .align 16 .b8 tile[4096];\n{}",
            kernel(&body)
        );
        let small = Small::new(&text);
        for schedule in orders() {
            ends_alike(&small, schedule, seed);
        }
    }
}

#[test]
fn random_copies_in_clusters_are_the_same_from_both_sides() {
    for seed in 0..20 {
        let ptx = random_kernel(seed);
        let module = Module::parse(&ptx).unwrap_or_else(|e| panic!("{e}\n{ptx}"));
        for schedule in orders() {
            let bench = Bench::new(&noise(16_384, 31));
            let loaded = bench.device.load(&module).expect("a module");
            with_launch(schedule, bench.buffer, |launch| {
                let debugged = bench.device.debug(&loaded, "k", launch, |session| {
                    goes_both_ways(session, seed);
                });
                assert!(debugged.is_ok());
            });
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
