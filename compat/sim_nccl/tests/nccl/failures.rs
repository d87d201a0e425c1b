//! Calls that do not fit each other, ranks that do not come, processes that are killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use sim_driver::api::launch::cuLaunchKernel;
use sim_driver::api::module::*;
use sim_nccl::api::collectives::*;
use sim_nccl::api::communicators::*;
use sim_nccl::api::errors::*;

use crate::ranks::{Rank, each, id, initialize, last_error, ok};

/// Says which part this process has, if it is another one that a test has started.
const ROLE: &str = "SIM_NCCL_TEST_ROLE";
/// Tells that process the communicator's id.
const ID: &str = "SIM_NCCL_TEST_ID";

/// Makes a call whose buffer is large enough.
fn all_reduce(rank: &Rank, count: usize) -> (u32, u64) {
    let buffer = rank.upload_words(&[1; 4]);
    let code = unsafe { ncclAllReduce(buffer, buffer, count, 2, 0, rank.comm, rank.stream) };
    (code, buffer)
}

/// The communicator's error, and its text, once the stream has come to an end.
fn failure(rank: &Rank) -> (u32, String) {
    let mut code = 0;
    ok!(sim_driver::api::stream::cuStreamSynchronize(rank.stream));
    ok!(ncclCommGetAsyncError(rank.comm, &mut code));
    (code, last_error(rank.comm))
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

/// Checks the error of each rank, and what its text has.
#[track_caller]
fn all_fail(results: Vec<(u32, String)>, code: u32, parts: &[&str]) {
    for (found, text) in results {
        assert_eq!(found, code);
        has(&text, parts);
    }
}

#[test]
fn different_calls_name_both_sides() {
    let results = each(2, |rank| {
        ok(all_reduce(rank, 4).0);
        let (code, buffer) = all_reduce(rank, if rank.rank == 1 { 2 } else { 3 });
        ok(code);
        let found = failure(rank);
        // The result cannot be mistaken for one, and later calls fail.
        assert_eq!(rank.download_words(buffer, 1), [-1]);
        assert_eq!(all_reduce(rank, 1).0, 5);
        found
    });
    let parts = [
        "rank 1: call 2, AllReduce (sum) of 2 int32",
        "rank 0: call 2, AllReduce (sum) of 3 int32",
    ];
    all_fail(results, 5, &parts);
}

#[test]
fn a_send_that_does_not_fit_its_receive_names_both_sides() {
    let results = each(2, |rank| {
        let buffer = rank.upload_words(&[1; 4]);
        ok(match rank.rank {
            0 => unsafe { ncclSend(buffer, 4, 2, 1, rank.comm, rank.stream) },
            _ => unsafe { ncclRecv(buffer, 2, 4, 0, rank.comm, rank.stream) },
        });
        failure(rank)
    });
    let parts = [
        "rank 0: call 1, Send of 4 int32 to rank 1",
        "rank 1: call 1, Recv of 2 int64 from rank 0",
    ];
    all_fail(results, 5, &parts);
}

#[test]
fn ranks_that_wait_for_each_other_are_told_at_once() {
    let results = each(2, |rank| {
        let buffer = rank.upload_words(&[1; 4]);
        let peer = 1 - rank.rank as i32;
        // Without a group: each waits for the other's receive.
        ok!(ncclSend(buffer, 1, 2, peer, rank.comm, rank.stream));
        // The failure may be known by now.
        let _ = unsafe { ncclRecv(buffer, 1, 2, peer, rank.comm, rank.stream) };
        failure(rank)
    });
    let parts = [
        "waits for another",
        "rank 0: call 1, Send of 1 int32 to rank 1",
        "rank 1: call 1, Send",
    ];
    all_fail(results, 5, &parts);
}

#[test]
fn a_rank_that_has_gone_is_not_waited_for() {
    let results = each(2, |rank| {
        if rank.rank == 1 {
            let text = "rank 0: call 1, AllReduce; rank 1: has destroyed";
            return (6, text.to_owned());
        }
        ok(all_reduce(rank, 1).0);
        failure(rank)
    });
    let parts = ["rank 0: call 1, AllReduce", "rank 1: has destroyed"];
    all_fail(results, 6, &parts);
}

#[test]
fn two_ranks_cannot_have_one_device() {
    initialize();
    let id = id();
    let join = |rank| {
        std::thread::spawn(move || {
            crate::ranks::choose(5);
            let mut comm = 0;
            let code = unsafe { ncclCommInitRank(&mut comm, 2, id, rank) };
            (code, comm)
        })
    };
    for thread in [0, 1].map(join) {
        assert_eq!(thread.join().expect("no panic"), (5, 0));
    }
}

/// Another process.
struct Other {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Other {
    /// Starts one, which runs the test below in this role.
    fn start(role: &str, id: &str) -> Self {
        let own = std::env::current_exe().expect("it has a path");
        let patience = match role {
            "missing" | "crossed" => "1",
            _ => "20",
        };
        let mut child = Command::new(own)
            .args(["--exact", "failures::another_process", "--nocapture"])
            .env(ROLE, role)
            .env(ID, id)
            .env("LOCKSTEP_NCCL_TIMEOUT", patience)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it can be started");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, output }
    }

    /// What it prints after a word.
    fn says(&mut self, word: &str) -> String {
        let mut line = String::new();
        while !line.contains(word) {
            line.clear();
            let n = self.output.read_line(&mut line).expect("it prints text");
            assert_ne!(n, 0, "it ended and has not said {word}");
        }
        let (_, rest) = line.split_once(word).expect("just found");
        rest.trim().to_owned()
    }

    /// What it writes to standard error, until it ends.
    fn errors(mut self) -> String {
        let mut text = String::new();
        let mut errors = self.child.stderr.take().expect("piped");
        errors.read_to_string(&mut text).expect("text");
        assert!(self.child.wait().expect("it ends").success(), "{text}");
        text
    }
}

/// What other processes do: nothing unless a test has started it.
#[test]
fn another_process() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    match role.as_str() {
        "missing" => missing(),
        "crossed" => crossed(),
        "fault" => fault(),
        _ => two_processes(role == "waits", &std::env::var(ID).unwrap_or_default()),
    }
}

/// Two ranks, of which one does not come to the second call.
fn missing() {
    let results = each(2, |rank| {
        ok(all_reduce(rank, 4).0);
        if rank.rank == 0 {
            ok(all_reduce(rank, 3).0);
        } else {
            std::thread::sleep(Duration::from_millis(1500));
        }
        failure(rank).0
    });
    assert_eq!(results, [6, 6]);
}

/// Two communicators, whose calls two ranks submit in different orders.
fn crossed() {
    let failed = each(2, |rank| {
        let mut other = 0;
        ok!(ncclCommSplit(rank.comm, 0, 0, &mut other, std::ptr::null()));
        let buffer = rank.upload_words(&[1; 4]);
        let mut order = [rank.comm, other];
        order.rotate_left(rank.rank);
        for comm in order {
            ok!(ncclAllReduce(buffer, buffer, 4, 2, 0, comm, rank.stream));
        }
        let (first, mut second) = (failure(rank).0, 0);
        ok!(ncclCommGetAsyncError(other, &mut second));
        ok!(ncclCommDestroy(other));
        [first, second]
    });
    // Once one communicator has failed, the other one's calls may meet.
    assert!(
        failed[0] == failed[1] && failed[0].contains(&6),
        "{failed:?}"
    );
}

/// Two ranks, of which one's device fails before the call.
fn fault() {
    const PTX: &std::ffi::CStr = c"
        .version 7.0
        .target sm_70
        .address_size 64
        .visible .entry lost()
        {
            .reg .b64 %at;
            mov.u64 %at, 16;
            st.global.u64 [%at], %at;
            ret;
        }";
    let codes = each(2, |rank| {
        let buffer = rank.upload_words(&[1; 4]);
        let (mut module, mut kernel, mut code) = (0, 0, 0);
        unsafe {
            ok!(cuModuleLoadData(&mut module, PTX.as_ptr().cast()));
            ok!(cuModuleGetFunction(&mut kernel, module, c"lost".as_ptr()));
            if rank.rank == 1 {
                let none = std::ptr::null_mut();
                ok! { cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, rank.stream, none, none.cast()) }
            }
            // It may have failed by now.
            let _ = ncclAllReduce(buffer, buffer, 1, 2, 0, rank.comm, rank.stream);
            let _ = sim_driver::api::stream::cuStreamSynchronize(rank.stream);
            ok!(ncclCommGetAsyncError(rank.comm, &mut code));
        }
        code
    });
    assert_eq!(codes[0], 6);
}

/// One of two processes, of which one waits for input and is killed.
fn two_processes(waits: bool, known: &str) {
    initialize();
    let (id, rank) = match known {
        "" => (id(), 0),
        text => {
            let mut id = UniqueId { internal: [0; 128] };
            for (to, from) in id.internal.iter_mut().zip(text.bytes()) {
                *to = from as std::ffi::c_char;
            }
            (id, 1)
        }
    };
    let name: String = id.internal.iter().map(|&c| c as u8 as char).collect();
    println!("id: {}", name.trim_end_matches('\0'));
    let rank = Rank::join(id, rank, 2);
    let (code, buffer) = all_reduce(&rank, 4);
    ok(code);
    assert_eq!(rank.download_words(buffer, 4), [2; 4]);
    println!("met: {}", rank.rank);
    std::io::stdout().flush().expect("it is read");
    if waits {
        let _ = std::io::stdin().read(&mut [0]);
        return;
    }
    // The kill may be known before this call.
    let _ = all_reduce(&rank, 3);
    let (code, text) = failure(&rank);
    println!("failed: {code} {}", text.replace('\n', " "));
}

#[test]
fn a_rank_that_does_not_come_is_named() {
    let begin = Instant::now();
    let text = Other::start("missing", "").errors();
    has(
        &text,
        &[
            "rank 0: call 2, AllReduce (sum) of 3 int32",
            "rank 1: has not come; its last was call 1, AllReduce (sum) of 4 int32",
            "within 1 s",
        ],
    );
    assert_eq!(text.matches("lockstep:").count(), 1, "{text}");
    assert!(begin.elapsed() < Duration::from_secs(15));
}

#[test]
fn a_stream_that_does_not_come_to_a_call_is_named() {
    let text = Other::start("crossed", "").errors();
    let submitted = "call 1, AllReduce (sum) of 4 int32, is submitted, but its stream has not come";
    has(&text, &["rank 0: call 1, ", "rank 1: call 1, ", submitted]);
}

#[test]
fn the_kill_of_one_process_ends_the_other() {
    for killed in 0..2 {
        let role = |rank: usize| if rank == killed { "waits" } else { "calls" };
        let mut first = Other::start(role(0), "");
        let id = first.says("id: ");
        let mut second = Other::start(role(1), &id);
        first.says("met: ");
        second.says("met: ");
        let (mut victim, mut other) = match killed {
            0 => (first, second),
            _ => (second, first),
        };
        let begin = Instant::now();
        victim.child.kill().expect("it can be killed");
        let failed = other.says("failed: ");
        assert!(begin.elapsed() < Duration::from_secs(10));
        has(&failed, &["6 NCCL: ", "killed"]);
        has(&other.errors(), &["lockstep: NCCL: ", "killed"]);
        victim.child.wait().expect("it has ended");
    }
}

#[test]
fn a_device_that_has_failed_fails_the_calls_of_the_others() {
    let text = Other::start("fault", "").errors();
    has(&text, &["rank 1: has a device that failed before"]);
}
