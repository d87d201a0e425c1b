//! Values that nobody has written, read by the host of a simulator that checks.

use crate::behaviour::kernels::{self, PTX};
use cuda_std::prelude::*;
use lockstep::engine::Unwritten;
use lockstep::{Buffer, Device, Error, LaunchConfig, Module, PtxModule, Simulator};

/// Each of 64 threads with an odd number stores it in the next free place of `kept`.
#[kernel]
pub unsafe fn keep_odd(kept: *mut u32, n_kept: *mut u32) {
    // Its body is in the PTX below.
    let _ = (kept, n_kept);
}

/// The 32 threads of a block store `n` numbers together, in rounds.
#[kernel]
pub unsafe fn in_rounds(out: *mut u32, n: u32) {
    // As above.
    let _ = (out, n);
}

const OTHERS: &str = r#"
.version 7.8
.target sm_70
.address_size 64

.visible .entry keep_odd(.param .u64 kept, .param .u64 n_kept)
{
    .reg .pred %p;
    .reg .b32 %r<5>;
    .reg .b64 %rd<5>;
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p, %r2, 0;
    @%p bra $done;
    ld.param.u64 %rd1, [n_kept];
    atom.global.add.u32 %r3, [%rd1], 1;
    ld.param.u64 %rd2, [kept];
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r1;
$done:
    ret;
}

.visible .entry in_rounds(.param .u64 out, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r2, [n];
    ld.param.u64 %rd1, [out];
$again:
    setp.ge.u32 %p, %r1, %r2;
    @%p bra $done;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    add.u32 %r1, %r1, 32;
    bra $again;
$done:
    ret;
}
"#;

fn checked() -> (Device, Module) {
    let device = Device::simulator_with(Simulator {
        check: true,
        ..Simulator::default()
    });
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let module = PtxModule::of_text("kernels.ptx", PTX).with_sources(root);
    let module = device.load(module).expect("it loads");
    (device, module)
}

fn blocks(n: u32, n_threads: u32) -> LaunchConfig {
    LaunchConfig::new([n, 1, 1], [n_threads, 1, 1])
}

/// `scale` stores the first `n` values from `first` on.
fn scale(module: &Module, y: &Buffer<f32>, first: usize, n: usize, config: LaunchConfig) {
    let x = module.device().upload("x", &vec![1.0_f32; n]);
    let x = x.expect("there is room");
    let args = (x.as_slice(), y.ptr_mut_at(first), 2.0);
    // SAFETY: threads past the last value of `x` do nothing.
    unsafe { module.launch(kernels::scale, config, args) }.expect("it runs");
}

/// The report on a read, and what it says.
fn refused<T>(read: Result<T, Error>) -> (Unwritten, String) {
    match read.err() {
        Some(error @ Error::Unwritten(_)) => {
            let text = error.to_string();
            let Error::Unwritten(unwritten) = error else {
                unreachable!("as above")
            };
            (*unwritten, text)
        }
        other => panic!("{other:?}"),
    }
}

/// Block and thread, along x.
fn thread(unwritten: &Unwritten) -> Option<(u32, u32)> {
    let omission = unwritten.omission.as_ref()?;
    Some((omission.block[0], omission.thread[0]))
}

#[test]
fn a_grid_that_is_too_small_names_the_missing_thread() {
    let (device, module) = checked();
    let y = device.alloc::<f32>("y", 300).expect("there is room");
    scale(&module, &y, 0, 300, blocks(2, 128));
    let (_, text) = refused(y.read());
    let expected = "\
`y`: of 300 values read, 44 were never written, value 256 first
  by the other threads' stores, in kernel `scale`, at crates/lockstep/tests/behaviour/kernels.rs:12 \
(PTX line 31: st.global.f32)
  it is that of block (2, 0, 0), thread (0, 0, 0), which a grid of 2×1×1 blocks does not have
  what to do: launch more blocks; if values are left out on purpose, read the others by `read_of`, \
all by `read_with_gaps`, or give them a value before the launch (`zeroed`, `upload`)";
    assert_eq!(text, expected);
    let (of_part, _) = refused(y.read_of(250..260));
    assert_eq!(
        (of_part.first, of_part.n_unwritten, of_part.n_read),
        (256, 4, 10)
    );
    let mut values = vec![0.0; 300];
    refused(y.read_into(&mut values));

    // A single block does not tell where the next one goes on; threads do.
    y.poison().expect("it is live");
    scale(&module, &y, 0, 300, blocks(1, 256));
    assert_eq!(thread(&refused(y.read()).0), Some((1, 0)));
}

#[test]
fn a_thread_that_stores_nothing_is_named() {
    let (device, module) = checked();
    let y = device.alloc::<f32>("y", 300).expect("there is room");
    scale(&module, &y, 0, 299, blocks(3, 128));
    let (unwritten, text) = refused(y.read());
    assert_eq!((unwritten.first, unwritten.n_unwritten), (299, 1));
    assert_eq!(thread(&unwritten), Some((2, 43)));
    assert!(
        text.contains("which did not store it\n  what to do: have that thread store"),
        "{text}"
    );
}

#[test]
fn a_copy_in_a_stream_is_a_read() {
    let (device, module) = checked();
    let y = device.alloc::<f32>("y", 64).expect("there is room");
    scale(&module, &y, 0, 32, blocks(1, 32));
    let stream = device.stream().expect("there is one");
    let mut to = device.pinned::<f32>(64).expect("there is room");
    // SAFETY: both live until the stream is waited for.
    let (unwritten, _) = refused(unsafe { stream.download(&mut to, &y) });
    assert_eq!((unwritten.first, thread(&unwritten)), (32, Some((1, 0))));
}

#[test]
fn several_launches_may_fill_a_buffer_together() {
    let (device, module) = checked();
    let y = device.alloc::<f32>("y", 300).expect("there is room");
    scale(&module, &y, 0, 100, blocks(1, 128));
    scale(&module, &y, 128, 72, blocks(1, 128));
    // Nobody but the first launch begins before 100; past 200, both might have gone on.
    assert_eq!(thread(&refused(y.read()).0), Some((0, 100)));
    let (unwritten, text) = refused(y.read_of(200..300));
    assert_eq!((unwritten.first, thread(&unwritten)), (200, None));
    assert!(text.contains("have a thread store each value; "), "{text}");
    scale(&module, &y, 100, 28, blocks(1, 128));
    scale(&module, &y, 200, 100, blocks(1, 128));
    assert_eq!(y.read().expect("all is written"), [2.0; 300]);
}

#[test]
fn what_the_host_has_given_values_is_no_finding() {
    let (device, module) = checked();
    let config = blocks(1, 128);
    let zeroed = device.zeroed::<f32>("zeroed", 300).expect("there is room");
    scale(&module, &zeroed, 0, 100, config);
    assert_eq!(zeroed.read().expect("zeros and twos")[99..101], [2.0, 0.0]);
    // In place, and only a part of it.
    let x = device.upload("x", &[1_u32; 300]).expect("there is room");
    let args = (x.as_mut_ptr(), 100);
    // SAFETY: it has 300 values.
    unsafe { module.launch(kernels::increment, config, args) }.expect("it runs");
    assert_eq!(x.read().expect("ones and twos")[99..101], [2, 1]);
    // Part by the kernel, part by the host.
    let y = device.alloc::<f32>("y", 2).expect("there is room");
    scale(&module, &y, 0, 1, config);
    refused(y.read());
    y.write(&[3.0, 3.0]).expect("as long");
    y.read().expect("all is written");
}

#[test]
fn a_buffer_with_room_for_more_is_read_in_part() {
    let (device, module) = checked();
    let others = device.load(OTHERS).expect("it loads");
    let kept = device.alloc::<u32>("kept", 64).expect("there is room");
    let n_kept = device.zeroed::<u32>("n_kept", 1).expect("there is room");
    let args = (kept.as_mut_ptr(), n_kept.as_mut_ptr());
    // SAFETY: there is room for all 64.
    unsafe { others.launch(keep_odd, blocks(1, 64), args) }.expect("it runs");
    let n = n_kept.read().expect("it was zero")[0] as usize;
    assert_eq!(n, 32);
    let mut values = kept.read_of(0..n).expect("these are written");
    values.sort_unstable();
    assert!(values.into_iter().eq((1..64).step_by(2)));
    assert_eq!(
        kept.read_with_gaps().expect("whatever it holds")[32],
        u32::MAX
    );
    // Where a thread stores is not a matter of its number: nobody is named.
    let (unwritten, _) = refused(kept.read());
    assert_eq!((unwritten.first, unwritten.omission), (32, None));
    drop(module);
}

#[test]
fn threads_that_store_in_rounds_are_not_guessed_at() {
    let (device, _) = checked();
    let others = device.load(OTHERS).expect("it loads");
    let out = device.alloc::<u32>("out", 100).expect("there is room");
    let args = (out.as_mut_ptr(), 90);
    // SAFETY: it has 100 values.
    unsafe { others.launch(in_rounds, blocks(1, 32), args) }.expect("it runs");
    let (unwritten, _) = refused(out.read());
    assert_eq!((unwritten.first, unwritten.n_unwritten), (90, 10));
    assert_eq!(unwritten.omission, None);
}

#[test]
fn without_checks_nothing_is_found() {
    let device = Device::simulator();
    let module = device.load(PTX).expect("it loads");
    let y = device.alloc::<f32>("y", 300).expect("there is room");
    scale(&module, &y, 0, 100, blocks(1, 128));
    assert!(y.read().expect("it is read")[100].is_nan());
}
