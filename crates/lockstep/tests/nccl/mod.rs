//! Collective calls by NCCL: that of simulated devices, in one process and in several.

use lockstep::collectives::{Communicator, Operator, Ranks, group, load_functions};
use lockstep::{Device, Error, Stream};
use std::ffi::c_void;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Tells a process that a test has started that it is a rank, and how often it is to call.
const N_CALLS: &str = "LOCKSTEP_TEST_CALLS";

fn find(name: &str) -> Option<*const c_void> {
    use sim_nccl::api::{collectives, communicators, errors};
    macro_rules! named {
        ($($module:ident: $($function:ident)*;)*) => {
            match name {
                $($(stringify!($function) => $module::$function as *const c_void,)*)*
                _ => return None,
            }
        };
    }
    Some(named! {
        collectives: ncclAllReduce ncclReduceScatter ncclAllGather ncclBroadcast ncclSend ncclRecv
            ncclGroupStart ncclGroupEnd;
        communicators: ncclGetUniqueId ncclCommInitAll ncclCommInitRankConfig ncclCommAbort
            ncclCommDestroy;
        errors: ncclGetVersion ncclCommGetAsyncError ncclGetErrorString ncclGetLastError;
    })
}

fn devices() -> Vec<Device> {
    let devices = crate::devices();
    let _ = sim_runtime::driver::find_with(sim_driver::function);
    // SAFETY: they are what `nccl.h` declares; the first call is enough.
    let _ = unsafe { load_functions(find) };
    devices
}

#[test]
fn the_devices_of_a_process_add_up() {
    let devices = devices();
    let ranks = Communicator::of_devices(&devices).expect("there is an NCCL");
    assert!(
        ranks[0]
            .nccl_version()
            .is_some_and(|version| version > 22000)
    );
    let streams: Vec<Stream> = devices
        .iter()
        .map(|d| d.stream().expect("there is one"))
        .collect();
    let buffers: Vec<_> = (1..)
        .zip(&devices)
        .map(|(i, device)| {
            device
                .upload("x", &[i as f32; 1000])
                .expect("there is room")
        })
        .collect();
    group(&ranks, || {
        for (i, rank) in ranks.iter().enumerate() {
            // SAFETY: the buffers live until the streams have been waited for.
            unsafe { rank.all_reduce(&streams[i], &buffers[i], &buffers[i], Operator::Sum) }?;
        }
        Ok(())
    })
    .expect("all call");
    for (i, rank) in ranks.iter().enumerate() {
        rank.synchronize(&streams[i]).expect("it ends");
        assert_eq!(buffers[i].read().expect("it is there"), [3.0; 1000]);
    }
}

/// What a rank of several processes does.
fn be_a_rank(ranks: &Ranks, n_calls: u32) -> Result<f32, Error> {
    let device = &devices()[ranks.local_rank];
    let rank = Communicator::of_process(device, ranks)?;
    let stream = device.stream()?;
    let x = device.upload("x", &[ranks.rank as f32 + 1.0; 100])?;
    let sum = device.zeroed::<f32>("sum", 100)?;
    for _ in 0..n_calls {
        // SAFETY: the buffers live until the stream has been waited for.
        unsafe { rank.all_reduce(&stream, &sum, &x, Operator::Sum) }?;
        rank.synchronize(&stream)?;
    }
    Ok(sum.read()?[99])
}

/// Not a test: the processes that tests start begin here.
#[test]
fn another_rank() {
    let Some(n_calls) = std::env::var(N_CALLS).ok() else {
        return;
    };
    let ranks = Ranks::from_env()
        .expect("it is right")
        .expect("there are several");
    match be_a_rank(&ranks, n_calls.parse().expect("a number")) {
        Ok(sum) => println!("the sum is {sum}"),
        Err(error) => println!("the error is {error}"),
    }
}

/// Starts a rank of this many.
fn start(rank: usize, n_ranks: usize, port: u16, n_calls: u32) -> Child {
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.args(["--exact", "nccl::another_rank", "--nocapture"]);
    command
        .env("RANK", rank.to_string())
        .env("WORLD_SIZE", n_ranks.to_string());
    command
        .env("MASTER_PORT", port.to_string())
        .env(N_CALLS, n_calls.to_string());
    command.env("LOCKSTEP_RENDEZVOUS_S", "20");
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

fn said(child: Child) -> String {
    let output = child.wait_with_output().expect("it ends");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a port");
    listener.local_addr().expect("it is bound").port()
}

#[test]
fn processes_add_up() {
    let port = free_port();
    let ranks = [0, 1].map(|rank| start(rank, 2, port, 3));
    for rank in ranks {
        let said = said(rank);
        assert!(said.contains("the sum is 3"), "{said}");
    }
}

#[test]
fn the_end_of_a_process_ends_the_others_soon() {
    let port = free_port();
    let [zero, mut one] = [0, 1].map(|rank| start(rank, 2, port, u32::MAX));
    std::thread::sleep(Duration::from_millis(1500));
    one.kill().expect("it runs");
    let killed = Instant::now();
    let said = said(zero);
    one.wait().expect("it was killed");
    assert!(
        killed.elapsed() < Duration::from_secs(10),
        "{:?}",
        killed.elapsed()
    );
    assert!(said.contains("the error is NCCL: "), "{said}");
    assert!(said.contains("rank 1"), "{said}");
}
