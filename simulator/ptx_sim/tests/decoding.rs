//! The memory of decoding, which is proportional to a function's length, whatever its
//! shape. The tests count all memory ever requested, which bounds the work from below.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write as _;

use common::{Bench, HEADER};
use ptx_sim::{DeviceConfig, Module};

/// Counts the bytes that this thread asks for.
struct Counting;

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: Everything is passed on to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let add = |asked: &Cell<u64>| asked.set(asked.get() + layout.size() as u64);
        // A thread that ends counts no more.
        let _ = ASKED.try_with(add);
        // SAFETY: The caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: The caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// `n` registers that are all live at once, across as many branches: their sum.
fn live_registers(n: u32) -> String {
    let mut text = format!(
        "{HEADER}.visible .entry k(.param .u64 out)\n{{\n.reg .pred p; .reg .b64 d; .reg .b32 r<{}>;\n\
         ld.param.u64 d, [out];\nmov.u32 r0, %tid.x;\nsetp.eq.u32 p, r0, 0;\n",
        n + 1
    );
    for i in 1..n {
        let _ = writeln!(
            text,
            "add.u32 r{i}, r0, {i}; @p bra L{i}; add.u32 r{i}, r{i}, 1; L{i}:"
        );
    }
    let _ = writeln!(text, "mov.u32 r{n}, 0;");
    for i in 1..n {
        let _ = writeln!(text, "add.u32 r{n}, r{n}, r{i};");
    }
    let _ = write!(text, "@p st.global.u32 [d], r{n};\nret;\n}}");
    text
}

/// `n` different constants.
fn constants(n: u32) -> String {
    let mut text = format!(
        "{HEADER}.visible .entry k(.param .u64 out)\n{{\n.reg .b64 d; .reg .b32 r;\n\
         ld.param.u64 d, [out];\nmov.u32 r, 0;\n"
    );
    for i in 1..n {
        let _ = writeln!(text, "add.u32 r, r, {i};");
    }
    text + "st.global.u32 [d], r;\nret;\n}"
}

/// The memory that a module's decoding requests, and what its kernel writes.
fn decode(text: &str) -> (u64, u32) {
    let before = ASKED.get();
    let module = Module::parse(text).expect("well-formed");
    let asked = ASKED.get() - before;
    let bench = Bench::of(&module, DeviceConfig::default());
    let out = bench.zeros::<u32>(1, "out");
    bench.call("k").block(32).arg(out).run().expect("runs");
    (asked, bench.download(out)[0])
}

#[test]
fn four_times_the_length_takes_four_times_the_room() {
    type Text = fn(u32) -> String;
    let texts: [(&str, Text); 2] = [("live registers", live_registers), ("constants", constants)];
    for (what, text) in texts {
        let [(short, small), (long, large)] = [15_000, 60_000].map(|n| decode(&text(n)));
        assert_eq!(
            (small, large),
            (14_999 * 15_000 / 2, (59_999u64 * 60_000 / 2) as u32)
        );
        assert!(long < 6 * short, "{what}: {short} bytes, then {long}");
    }
}
