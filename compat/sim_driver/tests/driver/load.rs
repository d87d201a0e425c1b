//! A million calls in one process: the cost of each does not grow. Takes a minute; reported but not
//! asserted, since other programs influence it:
//! `cargo test -p sim_driver --test driver -- --ignored --nocapture load`.

use std::time::Instant;

use sim_driver::api::memory::*;
use sim_driver::api::stream::*;

use crate::client::Client;
use crate::under_test::{got, ok};

const N: usize = 1_000_000;

/// KiB of memory that the process uses.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}

/// Prints time and memory for every hundred thousand calls.
fn tell(what: &str, mut one: impl FnMut()) {
    let mut started = Instant::now();
    for i in 1..=N {
        one();
        if i % (N / 10) == 0 {
            let micros = started.elapsed().as_secs_f64() * 1e6 / (N / 10) as f64;
            println!("{what}: {i} calls, {micros:.2} µs each, {} KiB", resident());
            started = Instant::now();
        }
    }
}

#[test]
#[ignore = "takes a minute"]
fn load_of_launches_and_allocations() {
    let client = Client::new();
    let buffer = client.upload(&[0; 32]);
    let stream = client.stream(1);
    let function = client.function("add_one");
    let (buffer, n) = (buffer, 32_u32);
    let params = [
        (&raw const buffer).cast_mut().cast(),
        (&raw const n).cast_mut().cast(),
    ];
    tell("launch", || {
        use sim_driver::api::launch::cuLaunchKernel;
        let (params, null) = (params.as_ptr(), std::ptr::null());
        ok! { cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, params, null) }
    });
    ok!(cuStreamSynchronize(stream));
    assert_eq!(client.download(buffer, 32), [N as u32; 32]);
    tell("allocate and free", || {
        let address = got!(address of cuMemAlloc_v2(&mut address, 4096));
        ok!(cuMemFree_v2(address));
    });
}
