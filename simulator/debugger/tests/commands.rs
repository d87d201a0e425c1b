//! Commands on a small kernel: steps both ways, breakpoints with conditions, who wrote last.

use debugger::sources::Sources;
use debugger::{Debugger, lines};
use ptx_sim::{Device, Module};

/// Each thread adds its number to a word three times (lines 20 to 22 of `sum.rs`), and stores the
/// sum (line 24), twice it if the number is odd (line 23).
const SUMS: &str = "
.version 8.0
.target sm_90
.address_size 64
.file 1 \"sum.rs\"
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .loc 1 19 1
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r2, 0;
    mov.u32 %r3, 0;
AGAIN:
    .loc 1 20 5
    add.u32 %r3, %r3, %r1;
    .loc 1 21 5
    st.global.u32 [%rd3], %r3;
    .loc 1 22 5
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 3;
    @%p1 bra AGAIN;
    .loc 1 23 5
    and.b32 %r4, %r1, 1;
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra EVEN;
    add.u32 %r3, %r3, %r3;
EVEN:
    .loc 1 24 5
    st.global.u32 [%rd3], %r3;
    ret;
}
";

/// What the commands of a script answer, each on lines of its own.
fn answers(script: &str) -> Vec<String> {
    let device = Device::new();
    let module = Module::parse(SUMS).unwrap_or_else(|error| panic!("{error}"));
    let loaded = device.load(&module).expect("a module");
    let out = device.zeros::<u32>(64, "out").expect("room");
    let call = device.call(&loaded, "k").block(64).arg(out);
    let debugged = call.debug(|session| {
        let mut debugger = Debugger::new(session, Sources::new([]));
        let answer = |line: &str| match lines::command(&mut debugger, line) {
            Ok(lines::Outcome::Text(text)) => text,
            Ok(_) => "the end".to_owned(),
            Err(error) => format!("error: {error}"),
        };
        script.lines().map(str::trim).map(answer).collect()
    });
    debugged.expect("an allowed launch").0
}

/// Each command's answer has the text next to it.
fn answered(conversation: &[(&str, &str)]) {
    let script: Vec<&str> = conversation.iter().map(|(command, _)| *command).collect();
    let answers = answers(&script.join("\n"));
    for ((command, expected), answer) in conversation.iter().zip(&answers) {
        assert!(
            answer.contains(expected),
            "`{command}`: no `{expected}` in\n{answer}\n--- all\n{}",
            answers.join("\n")
        );
    }
}

#[test]
fn lines_are_stepped_over_both_ways() {
    answered(&[
        ("next", "sum.rs:20"),
        ("next", "sum.rs:21"),
        ("next", "sum.rs:22"),
        ("next", "sum.rs:20"),
        ("rn", "sum.rs:22"),
        ("rn", "sum.rs:21"),
        ("rn", "sum.rs:20"),
        ("rn", "sum.rs:19"),
        ("rn", "at the beginning"),
    ]);
}

#[test]
fn instructions_and_divergence_are_reached_both_ways() {
    answered(&[
        ("divergence", "ptx:30"),
        ("p %r3", "= 0"),
        ("thread 5", "thread 5 (warp 0, lane 5)"),
        ("p %r3", "= 15"),
        ("stepi", "ptx:31"),
        ("back stepi", "ptx:30"),
        ("back divergence", "at the beginning"),
    ]);
}

#[test]
fn breakpoints_heed_conditions() {
    answered(&[
        ("b 21 if tid.x == 7 && %r2 == 2", "breakpoint 1"),
        ("c", "thread 7 (warp 0, lane 7)"),
        ("p %r3", "= 21"),
        ("c", "the launch has ended"),
        ("rc", "thread 7 (warp 0, lane 7)"),
        ("delete 1", "is gone"),
        ("b write out[9] if %r2 == 1", "breakpoint 2"),
        ("goto 0", "at the beginning"),
        ("c", "thread 9 (warp 0, lane 9)"),
        ("p out[9]", "= 9"),
        ("p %r3", "= 18"),
        ("b 41", "the nearest lines with code are 21, 22, 23, 24"),
        ("b nowhere.rs:3", "there is code from sum.rs"),
        ("b 21 if %r99 == 1", "breakpoint"),
        ("c", "the launch has ended; "),
    ]);
}

#[test]
fn long_rows_are_cut() {
    let row = "     0      0      6      6     18     12     30     18     42     24     54     30 … 21 more";
    answered(&[
        ("goto end", "the launch has ended"),
        ("tile out", row),
        ("shape out 4x4", "out has rows of 4"),
        ("tile out", "\n    60    180    366    186    378"),
    ]);
}

#[test]
fn the_last_write_is_found() {
    answered(&[
        ("lw out[3]", "nothing before this moment writes out[3]"),
        ("goto end", "the launch has ended"),
        ("lw out[3]", "sum.rs:24"),
        ("lw out[3]", "sum.rs:21"),
        ("p %r2", "= 2"),
        ("lw out[99]", "error: `out` has 64 elements"),
        ("lw 3 + 4", "error: it is not memory"),
        ("lanes", "error: an expression is missing"),
        ("b 21 if", "error: an expression is missing"),
        ("b 21 if %r2 = 2", "`==` asks whether two are equal"),
        ("finding other", "nothing that has another side"),
        (
            "frob",
            "error: there is no command `frob` (`help` names all)",
        ),
        (
            "pritn out[3]",
            "no command `pritn`: did you mean `print`? (",
        ),
    ]);
}
