//! Kernels that are right in the usual order of their warps and wrong in another: they are found,
//! reported so that the failure can be repeated, and counted as failures.

use super::support::{
    command, fails, has, json_of, lockstep, passes, stderr, stdout, usage_errors,
};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// `copy` with a detour: each warp but the first of a block copies what the warp before it
/// has left in shared memory, the last also its own. After the store there must be a barrier;
/// without it the copy is right only as long as warps run one after another.
const DETOUR: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 input, .param .u64 output, .param .u32 n)
{
	.shared .align 4 .b32 tile[1024];
	.reg .pred %p<6>;
	.reg .b32 %r<12>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [input];
	ld.param.u64 %rd2, [output];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %ctaid.x;
	mad.lo.u32 %r5, %r4, %r3, %r2;
	mov.u32 %r6, tile;
	mad.lo.u32 %r6, %r2, 4, %r6;
	mov.b32 %r7, 0;
	setp.lt.u32 %p1, %r5, %r1;
	mul.wide.u32 %rd3, %r5, 4;
	add.u64 %rd4, %rd1, %rd3;
	@%p1 ld.global.u32 %r7, [%rd4];
	st.shared.u32 [%r6], %r7;
	BARRIER
	add.u64 %rd5, %rd2, %rd3;
	add.u32 %r8, %r2, 32;
	setp.ge.u32 %p2, %r8, %r3;
	and.pred %p2, %p2, %p1;
	@%p2 st.global.u32 [%rd5], %r7;
	setp.lt.u32 %p3, %r2, 32;
	@%p3 bra END;
	sub.u32 %r9, %r5, 32;
	setp.lt.u32 %p4, %r9, %r1;
	@!%p4 bra END;
	ld.shared.u32 %r10, [%r6 + -128];
	st.global.u32 [%rd5 + -128], %r10;
END:
	ret;
}
";

/// The kernel as a file, with or without its barrier.
fn detour(folder: &Path, barrier: &str) -> PathBuf {
    let path = folder.join("detour.ptx");
    std::fs::write(&path, DETOUR.replace("BARRIER", barrier)).expect("a file");
    path
}

/// The cases of `copy` itself: two.
fn on_copy(path: &Path, more: &str) -> String {
    // `copy_vectorized` is not in the file.
    let run = "run-all --engine sim --quick --filter copy --ptx";
    format!("{run} {} {more}", path.display())
}

/// Among the reported failures, that of the case `copy 16384`.
fn trouble(output: &Output) -> String {
    let told = stdout(output);
    let (_, after) = told.split_once(": copy 16384\n").expect("its trouble");
    let end = after.find("\n\n").unwrap_or(after.len());
    after[..end].to_owned()
}

#[test]
fn a_defect_that_the_usual_order_hides_is_found_and_can_be_repeated() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = detour(folder.path(), "");
    has(&stdout(&lockstep(on_copy(&path, ""))), &["2 passed"]);

    let found = command(on_copy(&path, "--schedules 30 --fuel 100000000"))
        .env("LOCKSTEP_COMMAND", env!("CARGO_BIN_EXE_lockstep"))
        .output()
        .expect("the program runs");
    let orders = "in the usual order and under schedules 0 to 29";
    fails(&found, 1, &[orders]);
    let told = trouble(&found);
    let words = [
        "elements are wrong",
        "warps in another order, for ",
        "the usual order",
    ];
    has(&told, &words);
    // A profile runs in the usual order, which passes.
    assert!(!told.contains("to look at it"), "{told}");

    let (_, typed) = told.split_once("to run it again: ").expect("what to type");
    has(typed, &[" --fuel 100000000", " --ptx "]);
    let again = Command::new("sh").args(["-c", typed]).output().expect("sh");
    fails(&again, 1, &[]);
    let reason = |told: &str| told.lines().next().map(str::to_owned);
    assert_eq!(reason(&trouble(&again)), reason(&told));
    // There is nothing more to report.
    let told = stdout(&again);
    assert!(!told.contains("to run it again"), "{told}");
}

#[test]
fn with_its_barrier_it_passes_in_every_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = detour(folder.path(), "bar.sync 0;");
    let output = lockstep(on_copy(&path, "--schedules 30 --seed 100"));
    let words = ["2 passed", "under schedules 100 to 129"];
    has(&stdout(&output), &words);
}

#[test]
fn results_name_their_schedule() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = detour(folder.path(), "");
    let file = folder.path().join("results.json");
    let result = |more: &str| {
        lockstep(on_copy(&path, &format!("--json {} {more}", file.display())));
        let json = json_of(&file);
        let results = json["results"].as_array().expect("a list").clone();
        let of_copy = |r: &&serde_json::Value| r["kernel"] == "copy" && r["shape"] == "16384";
        results.iter().find(of_copy).expect("its shape").clone()
    };
    let usual = result("");
    assert_eq!(usual["status"], "passed");
    assert!(usual["schedule"].is_null() && usual["n_schedules_passed"].is_null());

    let found = result("--schedules 30");
    assert_eq!(found["status"], "failed");
    let schedule = found["schedule"].as_str().expect("a schedule");
    assert!(schedule.contains("/warps/"), "{schedule}");
    let n_passed = found["n_schedules_passed"].as_u64().expect("a number");
    assert!(schedule.starts_with(&format!("{n_passed}/")), "{schedule}");

    let one = result(&format!("--schedule {schedule}"));
    assert_eq!(one["status"], found["status"]);
    assert_eq!(one["schedule"], found["schedule"]);
    assert!(one["n_schedules_passed"].is_null());
    // Zero choices change nothing, so all is well; counts are only of the usual order.
    let none = result("--schedule 5/warps/0");
    assert_eq!(none["status"], "passed");
    assert!(none["counts"]["global_load_sectors"].is_null());
}

#[test]
fn schedules_ask_for_the_simulator_and_the_quick_shapes() {
    let output = lockstep("run-all --filter copy_vectorized --schedules 1");
    let words = [
        "16384",
        "2 passed",
        "in the usual order and under schedule 0,",
    ];
    has(&passes(&output), &words);
    let told = stderr(&output);
    let line = told.lines().next().expect("a line");
    assert_eq!(line, "engine: simulator (only it has --schedules)");
}

#[test]
fn what_makes_no_sense_is_refused_with_what_would() {
    usage_errors(
        "run-all --filter copy",
        "--schedules 0                             => give 1 or more
         --schedules many                          => a number of schedules is expected
         --schedule 7/warp                         => `7/warps+lanes/12`
         --schedule=                               => no seed
         --seed 5                                  => --schedules <N>
         --schedules 2 --schedule 5                => cannot be used with
         --schedules 2 --seed 18446744073709551615 => the last seed is 18446744073709551615
         --schedules 2 --engine gpu                => --schedules is for the simulator, and --engine gpu asks for the GPU
         --schedule 2 --engine gpu                 => --schedule is for the simulator",
    );
    usage_errors(
        "",
        "sanitize copy --with gpu --schedules 3 => --schedules is for the simulator, which --with gpu",
    );
}

#[test]
fn checks_are_made_in_other_orders_too() {
    let output = lockstep("sanitize copy_vectorized --with sim --schedules 2");
    fails(&output, 0, &["1 kernel without findings"]);
    assert!(stderr(&output).contains("in the usual order and under schedules 0 to 1"));
    // The race is found in every order in which it is looked for.
    let folder = tempfile::tempdir().expect("a folder");
    let path = detour(folder.path(), "");
    let checked = lockstep(on_copy(&path, "--check --schedule 3"));
    fails(&checked, 1, &["race: ", ", under schedule 3: "]);
}
