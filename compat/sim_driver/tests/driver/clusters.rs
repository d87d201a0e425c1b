//! Clusters of blocks: launched, captured, queried. The statuses and the numbers of clusters were
//! not measured on an H200.

use std::ffi::{CString, c_void};

use sim_driver::Status;
use sim_driver::api::device::*;
use sim_driver::api::graph::*;
use sim_driver::api::kernel::*;
use sim_driver::api::launch::*;
use sim_driver::api::occupancy::*;
use sim_driver::api::stream::*;

use crate::client::{Client, function_of, load_module, ok};
use crate::under_test::{call, fails, got, ok};

/// Each block stores its number where the next block of its cluster finds it, and stores what it
/// finds.
const EXCHANGE: &str = "
.version 8.0
.target sm_90
.address_size 64
.shared .align 4 .u32 word;
";

/// The body of a kernel of that module.
fn exchange(name: &str, directives: &str) -> String {
    format!(
        "
.visible .entry {name}(.param .u64 out) {directives}
{{
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	mov.u32 %r1, %cluster_ctarank;
	mov.u32 %r2, %cluster_nctarank;
	mov.u32 %r3, %ctaid.x;
	add.u32 %r1, %r1, 1;
	rem.u32 %r1, %r1, %r2;
	mov.u32 %r4, word;
	mapa.shared::cluster.u32 %r5, %r4, %r1;
	st.shared::cluster.u32 [%r5], %r3;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	ld.shared.u32 %r6, [word];
	ld.param.u64 %rd1, [out];
	mul.wide.u32 %rd2, %r3, 4;
	add.u64 %rd1, %rd1, %rd2;
	st.global.u32 [%rd1], %r6;
	ret;
}}
"
    )
}

/// The module's kernels, by name.
fn functions<const N: usize>(names: [&str; N]) -> [usize; N] {
    let text = EXCHANGE.to_owned()
        + &exchange("exchange", "")
        + &exchange("pairs", ".reqnctapercluster 2, 1, 1")
        + &exchange("must_be_named", ".explicitcluster");
    let text = CString::new(text).expect("no nul");
    let module = load_module(&text);
    names.map(|name| function_of(module, &CString::new(name).expect("no nul")))
}

/// Launches a kernel of one-warp blocks, with clusters or without.
fn launch(function: usize, n_blocks: u32, cluster: &[Attribute], out: u64, stream: usize) -> u32 {
    let config = Config::new(([n_blocks, 1, 1], [1, 1, 1]), 0, stream, cluster);
    let mut params: [*mut c_void; 1] = [std::ptr::from_ref(&out).cast_mut().cast()];
    let params = params.as_mut_ptr();
    call! { cuLaunchKernelEx(&config, function, params, std::ptr::null()) }
}

/// What blocks in clusters of `n` along x find.
fn expected(n_blocks: u32, n: u32) -> Vec<u32> {
    let before = |block: u32| block / n * n + (block % n + n - 1) % n;
    (0..n_blocks).map(before).collect()
}

fn attribute(function: usize, number: u32) -> i32 {
    let mut value = -1;
    ok!(cuFuncGetAttribute(&mut value, number, function));
    value
}

#[test]
fn launches_have_clusters() {
    let client = Client::new();
    let [exchange, pairs] = functions(["exchange", "pairs"]);
    let out = client.upload(&[0; 32]);
    let cases = [
        (exchange, Some([4, 1, 1]), 4),
        (exchange, Some([8, 1, 1]), 8),
        (exchange, Some([1, 1, 1]), 1),
        (exchange, None, 1),
        (pairs, Some([2, 1, 1]), 2),
        (pairs, None, 2),
    ];
    for (function, cluster, n) in cases {
        let attributes: Vec<Attribute> = cluster.into_iter().map(Attribute::cluster).collect();
        ok(launch(function, 32, &attributes, out, 0));
        assert_eq!(client.download(out, 32), expected(32, n), "{cluster:?}");
    }
}

#[test]
fn clusters_that_break_a_rule_are_refused() {
    let client = Client::new();
    let names = ["exchange", "pairs", "must_be_named"];
    let [exchange, pairs, must_be_named] = functions(names);
    let out = client.upload(&[0; 32]);
    let cases = [
        (exchange, 32, Some([16, 1, 1])),
        (exchange, 32, Some([0, 1, 1])),
        (exchange, 31, Some([2, 1, 1])),
        (exchange, 32, Some([1, 2, 1])),
        (pairs, 32, Some([4, 1, 1])),
        (pairs, 31, None),
        (must_be_named, 32, None),
    ];
    for (function, n_blocks, cluster) in cases {
        let attributes: Vec<Attribute> = cluster.into_iter().map(Attribute::cluster).collect();
        let status = launch(function, n_blocks, &attributes, out, 0);
        assert_eq!(status, Status::INVALID_CLUSTER_SIZE.0, "{cluster:?}");
    }
    assert_eq!(client.download(out, 32), [0; 32]);
    ok(launch(
        must_be_named,
        32,
        &[Attribute::cluster([1, 1, 1])],
        out,
        0,
    ));
}

#[test]
fn larger_clusters_must_be_allowed() {
    let client = Client::new();
    let [exchange] = functions(["exchange"]);
    let out = client.upload(&[0; 32]);
    let cluster = [Attribute::cluster([16, 1, 1])];
    assert_eq!(attribute(exchange, 14), 0);
    assert_eq!(
        launch(exchange, 32, &cluster, out, 0),
        Status::INVALID_CLUSTER_SIZE.0
    );
    ok!(cuFuncSetAttribute(exchange, 14, 1));
    assert_eq!(attribute(exchange, 14), 1);
    ok(launch(exchange, 32, &cluster, out, 0));
    assert_eq!(client.download(out, 32), expected(32, 16));
}

#[test]
fn a_kernels_clusters_are_told_and_set() {
    let client = Client::new();
    let names = ["exchange", "pairs", "must_be_named"];
    let [exchange, pairs, must_be_named] = functions(names);
    let told = |function| [10, 11, 12, 13, 14].map(|number| attribute(function, number));
    assert_eq!(told(exchange), [0, 0, 0, 0, 0]);
    assert_eq!(told(pairs), [0, 2, 1, 1, 0]);
    assert_eq!(told(must_be_named), [1, 0, 0, 0, 0]);
    for (number, value) in [(11, 4), (12, 1), (13, 1)] {
        ok!(cuFuncSetAttribute(exchange, number, value));
        fails!(cuFuncSetAttribute(pairs, number, value) with NOT_PERMITTED);
    }
    assert_eq!(told(exchange), [0, 4, 1, 1, 0]);
    fails!(cuFuncSetAttribute(exchange, 11, -1) with INVALID_VALUE);
    let out = client.upload(&[0; 32]);
    ok(launch(exchange, 32, &[], out, 0));
    assert_eq!(client.download(out, 32), expected(32, 4));
}

#[test]
fn captured_launches_keep_their_clusters() {
    let client = Client::new();
    let [exchange] = functions(["exchange"]);
    let (out, stream) = (client.upload(&[0; 32]), client.stream(1));
    let (mut graph, mut executable) = (0, 0);
    ok!(cuStreamBeginCapture_v2(stream, 2));
    ok(launch(
        exchange,
        32,
        &[Attribute::cluster([4, 1, 1])],
        out,
        stream,
    ));
    ok!(cuStreamEndCapture(stream, &mut graph));
    ok!(cuGraphInstantiateWithFlags(&mut executable, graph, 0));
    ok!(cuGraphLaunch(executable, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(client.download(out, 32), expected(32, 4));
}

#[test]
fn clusters_that_fit_are_counted() {
    let _client = Client::new();
    let [exchange] = functions(["exchange"]);
    let is_there = got!(is_there of cuDeviceGetAttribute(&mut is_there, 120, 0));
    assert_eq!(is_there, 1);
    let count = |cluster: u32| {
        let attributes = [Attribute::cluster([cluster, 1, 1])];
        // Half of an SM's threads, so that two blocks fit on it.
        let config = Config::new(([64, 1, 1], [1024, 1, 1]), 0, 0, &attributes);
        let mut n = -1;
        let status = call!(cuOccupancyMaxActiveClusters(&mut n, exchange, &config));
        (status, n)
    };
    assert_eq!(count(1), (0, 264));
    assert_eq!(count(8), (0, 32));
    assert_eq!(count(16), (Status::INVALID_CLUSTER_SIZE.0, -1));
    let config = Config::new(([64, 1, 1], [1024, 1, 1]), 0, 0, &[]);
    let mut most = -1;
    ok! { cuOccupancyMaxPotentialClusterSize(&mut most, exchange, &config) }
    assert_eq!(most, 8);
    ok!(cuFuncSetAttribute(exchange, 14, 1));
    ok! { cuOccupancyMaxPotentialClusterSize(&mut most, exchange, &config) }
    assert_eq!(most, 16);
}
