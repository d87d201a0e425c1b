//! Films hold all of a trace, or say what they lack, and their boards follow what is under way.

use maps::Film;
use maps::film::{Frame, InFlight, Kind};
use ptx_sim::{Device, LaunchOptions, Module, Report, TraceOptions};

const TRANSPOSE: &str = include_str!("../../ptx_sim/tests/kernels/transpose.ptx");

/// The grid and the blocks that transpose a square of 64.
const SQUARE: ([u32; 3], [u32; 3]) = ([2, 2, 1], [32, 32, 1]);

/// Launches a kernel on a buffer, which it gets as its first two arguments.
fn launch(
    ptx: &str,
    kernel: &str,
    (grid, block): ([u32; 3], [u32; 3]),
    trace: TraceOptions,
) -> Report {
    let module = Module::parse(ptx).unwrap();
    let device = Device::new();
    let loaded = device.load(&module).unwrap();
    let a = device.upload(&[0x0101_0101_u32; 64 * 64], "a").unwrap();
    let b = device.zeros::<u32>(64 * 64, "b").unwrap();
    let call = device.call(&loaded, kernel).grid(grid).block(block).arg(a);
    let call = match kernel.starts_with("transpose") {
        true => call.arg(b).arg(64_u32),
        false => call,
    };
    let options = LaunchOptions {
        trace: Some(trace),
        ..LaunchOptions::default()
    };
    call.options(options).run().unwrap()
}

fn transpose(kernel: &str, block: u64) -> Report {
    let trace = TraceOptions {
        block,
        ..TraceOptions::default()
    };
    launch(TRANSPOSE, kernel, SQUARE, trace)
}

fn film(report: &Report, most: usize) -> Film {
    Film::of(report.trace.as_ref().expect("it was asked for"), most)
}

#[test]
fn the_films_of_all_blocks_cost_what_was_counted() {
    for kernel in ["transpose_shared", "transpose_padded"] {
        let (mut conflicts, mut sectors) = (0, 0);
        let mut counted = (0, 0);
        for block in 0..4 {
            let report = transpose(kernel, block);
            let film = film(&report, usize::MAX);
            assert_eq!(
                film.frames.len(),
                report.trace.as_ref().unwrap().events.len()
            );
            for touch in film.frames.iter().filter_map(|frame| frame.touch.as_ref()) {
                conflicts += u64::from(touch.conflicts);
                sectors += u64::from(touch.sectors);
            }
            let counts = report.counts;
            counted = (
                counts.shared_load_conflicts + counts.shared_store_conflicts,
                counts.global_load_sectors + counts.global_store_sectors,
            );
        }
        assert_eq!((conflicts, sectors), counted, "{kernel}");
    }
}

#[test]
fn lanes_have_addresses_and_wavefronts() {
    let film = film(&transpose("transpose_shared", 0), usize::MAX);
    // 32 warps load a row, store it, wait; then load a column, and store it.
    assert_eq!(film.frames.len(), 5 * 32 + 1);
    let conflicts = |frame: &Frame| frame.touch.as_ref().map_or(0, |touch| touch.conflicts);
    let is_column = |frame: &&Frame| conflicts(frame) > 0;
    let columns: Vec<&Frame> = film.frames.iter().filter(is_column).collect();
    assert_eq!(columns.len(), 32);
    for (warp, frame) in (0..).zip(columns) {
        let touch = frame.touch.as_ref().unwrap();
        assert_eq!((frame.warp, frame.kind), (Some(warp), Kind::Shared));
        let distances = &film.patterns[touch.pattern as usize];
        assert_eq!(
            *distances,
            (0..32).map(|lane| 128 * lane).collect::<Vec<_>>()
        );
        let served = &film.served[touch.served.expect("banks serve it") as usize];
        assert_eq!(served.wavefronts, (0..32).collect::<Vec<_>>());
        assert_eq!((&*served.phases, touch.wavefronts), (&[32][..], 32));
        assert_eq!(
            film.sentence(frame),
            format!(
                "Warp {warp}: lanes 0–31 load 4 bytes each from shared memory: \
                 32 wavefronts where 1 would do, 31 bank conflicts (32-way)."
            )
        );
    }
    // What is alike is there once.
    assert_eq!((film.texts.len(), film.served.len()), (6, 2));
}

#[test]
fn a_film_that_is_cut_says_so() {
    let report = transpose("transpose_shared", 2);
    let whole = film(&report, usize::MAX);
    assert_eq!(whole.extent(), "All 161 events of block 2");
    let short = film(&report, 10);
    assert_eq!((short.frames.len(), short.n_cut), (10, 151));
    assert_eq!(short.extent(), "The first 10 of 161 events of block 2");
    assert_eq!(short.frames[..], whole.frames[..10]);
    let traced = |accesses, events| {
        let trace = TraceOptions {
            block: 0,
            accesses,
            events,
        };
        launch(TRANSPOSE, "transpose_shared", SQUARE, trace)
    };
    for (accesses, events, most, extent) in [
        (64, 20, 100, "The first 20 events of block 0"),
        (64, 20, 5, "The first 5 of more than 20 events of block 0"),
        (
            0,
            100,
            100,
            "All 33 events of block 0, without 128 repeated accesses",
        ),
    ] {
        assert_eq!(film(&traced(accesses, events), most).extent(), extent);
    }
}

#[test]
fn boards_have_the_warps_that_wait() {
    let film = film(&transpose("transpose_shared", 0), usize::MAX);
    let mut come = 0;
    for frame in &film.frames {
        let board = &film.boards[frame.board as usize];
        come += usize::from(frame.kind == Kind::Barrier);
        if frame.warp.is_none() {
            assert_eq!(
                film.sentence(frame),
                "Barrier 0 is complete: warps 0–31 go on."
            );
            assert!(board.barriers.is_empty(), "{board:?}");
            return;
        }
        let waiting = board.barriers.get(&0).map_or(0, |warps| warps.len());
        assert_eq!(waiting, come);
    }
    panic!("the barrier was never complete");
}

/// A copy of 256 bytes to shared memory that a barrier there counts, and two groups of
/// asynchronous copies.
const COPIES: &str = "
.version 8.6
.target sm_90a
.address_size 64
.shared .align 1024 .b8 tile[512];
.shared .align 8 .b8 bar[8];
.visible .entry copies(.param .u64 buffer)
{
    .reg .pred %lead, %done;
    .reg .b32 %tile, %bar, %me;
    .reg .b64 %buf;
    ld.param.u64 %buf, [buffer];
    cvta.to.global.u64 %buf, %buf;
    mov.u32 %tile, tile;
    mov.u32 %bar, bar;
    mov.u32 %me, %tid.x;
    setp.eq.u32 %lead, %me, 0;
    @%lead mbarrier.init.shared::cta.b64 [%bar], 1;
    fence.proxy.async;
    bar.sync 0;
    @%lead mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 256;
    @%lead cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%tile], [%buf], 256, [%bar];
AGAIN:
    mbarrier.try_wait.parity.shared::cta.b64 %done, [%bar], 0;
    @!%done bra AGAIN;
    cp.async.ca.shared.global [%tile+256], [%buf], 4;
    cp.async.commit_group;
    cp.async.ca.shared.global [%tile+260], [%buf], 4;
    cp.async.commit_group;
    cp.async.wait_group 1;
    cp.async.wait_all;
    ret;
}
";

#[test]
fn copies_are_in_flight_until_they_are_waited_for() {
    let geometry = ([1, 1, 1], [32, 1, 1]);
    let report = launch(COPIES, "copies", geometry, TraceOptions::default());
    let film = film(&report, usize::MAX);
    let board = |frame: &Frame| film.boards[frame.board as usize].clone();
    let at = |start: &str| {
        let mut frames = film.frames.iter();
        let found = frames.find(|frame| film.sentence(frame).contains(start));
        found.unwrap_or_else(|| panic!("`{start}` is not in {:#?}", film.texts))
    };
    let start = at("lane 0 starts bulk copy 0, 256 bytes to shared memory, counted by");
    assert_eq!((start.copy, &*start.target), (Some(0), &[(0, 256)][..]));
    assert_eq!(Vec::from_iter(board(start).bulk), [(0, 256)]);
    let arrival = at("Bulk copy 0 is in shared memory");
    assert!(board(arrival).bulk.is_empty() && arrival.warp.is_none());
    let over = at("Phase 0 of the mbarrier at byte 512 is over");
    assert_eq!(Vec::from_iter(board(over).phases), [(512, 1)]);
    let test = at("Warp 0: lanes 0–31 test the mbarrier at byte 512");
    // All of them poll one word. That costs wavefronts, but is for waiting.
    assert_eq!((test.kind, test.touch.as_ref()), (Kind::Mbarrier, None));

    let n_groups = |frame: &Frame| {
        let in_flight = board(frame).warps.get(&0).copied();
        in_flight.map_or(0, |in_flight: InFlight| in_flight.copy_groups)
    };
    let groups: Vec<u32> = film.frames.iter().map(n_groups).collect();
    let mut changes = groups.clone();
    changes.dedup();
    assert_eq!(changes, [0, 1, 2, 1, 0], "{groups:?}");
}

#[test]
fn a_film_is_small() {
    let film = film(&transpose("transpose_padded", 0), usize::MAX);
    let json = serde_json::to_string(&film).unwrap();
    assert!(json.len() < 200 * film.frames.len(), "{} bytes", json.len());
}
