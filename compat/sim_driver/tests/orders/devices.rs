//! Kernels on several devices, with checks: those that wait for each other are checked together.

use std::ffi::{CString, c_void};
use std::ptr::null_mut;

use sim_driver::api::context::*;
use sim_driver::api::host::*;
use sim_driver::api::module::*;

use crate::client::{Client, ok};
use crate::run;
use crate::under_test::{call, ok};

/// A kernel that stores a value and then sets a flag; and one that waits for the flag, and copies
/// the value.
fn hand_over(scope: &str) -> CString {
    let text = format!(
        "
.version 8.0
.target sm_80
.address_size 64
.visible .entry give_{scope}(.param .u64 value)
{{
	.reg .b64 %rd;
	ld.param.u64 %rd, [value];
	st.global.u32 [%rd], 42;
	st.release.{scope}.global.u32 [%rd + 4], 1;
	ret;
}}
.visible .entry take_{scope}(.param .u64 value, .param .u64 out)
{{
	.reg .pred %p;
	.reg .b32 %r;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd0, [value];
	ld.param.u64 %rd1, [out];
WAIT:
	ld.acquire.{scope}.global.u32 %r, [%rd0 + 4];
	setp.eq.u32 %p, %r, 0;
	@%p bra WAIT;
	ld.global.u32 %r, [%rd0];
	st.global.u32 [%rd1], %r;
	ret;
}}"
    );
    CString::new(text).expect("no nul")
}

fn clients() -> [Client; 2] {
    [Client::on(0), Client::on(1)]
}

fn make_current(client: &Client) {
    ok!(cuCtxSetCurrent(client.context));
}

fn load(client: &mut Client, text: &CString) {
    make_current(client);
    ok!(cuModuleLoadData(&mut client.module, text.as_ptr().cast()));
}

/// Hands a value from the first device to the second, whose kernel waits for it; prints it.
fn hand_value(clients: &mut [Client; 2], scope: &str) {
    let text = hand_over(scope);
    clients.iter_mut().for_each(|client| load(client, &text));
    let [first, second] = clients;
    let out = second.upload(&[0]);
    let (value, stream) = (second.upload(&[0, 0]), second.stream(1));
    let take = format!("take_{scope}");
    ok(second.try_launch(&take, (1, 1, stream), &[&value, &out]));
    make_current(first);
    let (give, stream) = (format!("give_{scope}"), first.stream(1));
    ok(first.try_launch(&give, (1, 1, stream), &[&value]));
    make_current(second);
    ok!(cuCtxSynchronize());
    println!("{scope}: {:?}", second.download(out, 1));
}

/// A kernel that waits for the host, which takes its time; prints what it leaves.
fn wait_for_host(client: &mut Client) {
    load(client, &hand_over("sys"));
    let mut pointer = null_mut::<c_void>();
    ok!(cuMemHostAlloc(&mut pointer, 8, 0));
    let (address, out, stream) = (pointer as u64, client.upload(&[0]), client.stream(1));
    ok(client.try_launch("take_sys", (1, 1, stream), &[&address, &out]));
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let words = pointer.cast::<u32>();
    // SAFETY: eight bytes of ours, which only the kernel reads besides.
    unsafe {
        words.write_volatile(7);
        words.add(1).write_volatile(1);
    }
    ok!(cuCtxSynchronize());
    println!("host: {:?}", client.download(out, 1));
}

#[test]
#[ignore = "is the program that the other test runs"]
fn program_on_two_devices() {
    let mut clients = clients();
    make_current(&clients[0]);
    ok!(cuCtxEnablePeerAccess(clients[1].context, 0));
    hand_value(&mut clients, "sys");
    hand_value(&mut clients, "gpu");
    wait_for_host(&mut clients[1]);
    ok!(cuCtxEnablePeerAccess(clients[0].context, 0));
    // Without access: the last thing that the first device does.
    make_current(&clients[0]);
    ok!(cuCtxDisablePeerAccess(clients[1].context));
    make_current(&clients[1]);
    let there = clients[1].upload(&[0, 0]);
    make_current(&clients[0]);
    clients[0].launch("give_gpu", 1, 1, &[&there]);
    println!("without access: [{}]", call!(cuCtxSynchronize()));
}

#[test]
fn kernels_that_wait_for_each_other_are_checked_together() {
    let environment = [("LOCKSTEP_SIM_CHECK", "1"), ("LOCKSTEP_SIM_DEVICES", "2")];
    let (printed, found) = run("devices", "devices::program_on_two_devices", &environment);
    let expected = [
        "sys: [42]",
        "gpu: [42]",
        "host: [7]",
        "without access: [700]",
    ];
    assert_eq!(printed, expected);
    let kernel = |name: &str| {
        let record = &found["kernels"][name];
        let number = |what: &str| record[what].as_u64().expect("a number");
        ["n_launches", "n_failed", "n_found", "n_unchecked"].map(number)
    };
    // The launch that waits for the host runs without checks.
    assert_eq!(kernel("give_sys"), [1, 0, 0, 0]);
    assert_eq!(kernel("take_sys"), [2, 0, 0, 1]);
    // Those in which a race is found were checked until then.
    assert_eq!(kernel("give_gpu")[3] + kernel("take_gpu")[3], 0);
    assert_eq!(kernel("give_gpu")[2] + kernel("take_gpu")[2], 2);
    let findings = found["findings"].as_array().expect("a list");
    let [race, refused] = &findings[..] else {
        panic!("{findings:#?}");
    };
    // The flag has too narrow a scope; either side may be the second.
    let text = race["text"].as_str().expect("a text");
    assert!(text.starts_with("race: "), "{text}");
    assert!(
        text.contains("device 0, block") && text.contains("device 1, block"),
        "{text}"
    );
    assert_eq!(
        (&refused["kernel"], &refused["device"]),
        (&"give_gpu".into(), &0.into())
    );
    let text = refused["text"].as_str().expect("a text");
    assert!(
        text.starts_with("no peer access: store of 4 bytes"),
        "{text}"
    );
}
