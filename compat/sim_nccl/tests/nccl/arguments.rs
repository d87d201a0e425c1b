//! Wrong arguments.

use sim_nccl::api::collectives::*;
use sim_nccl::api::communicators::*;
use sim_nccl::api::errors::*;
use sim_nccl::api::memory::*;
use sim_nccl::api::operators::*;

use crate::ranks::{N, Rank, choose, each, id, initialize, last_error};

/// `ncclInvalidArgument`
const INVALID: u32 = 4;
/// `ncclInvalidUsage`
const USAGE: u32 = 5;

/// Fails unless a call is refused for a reason.
#[track_caller]
fn refused(code: u32, expected: u32, reason: &str) {
    let text = last_error(0);
    assert!(code == expected && text.contains(reason), "{code}: {text}");
}

/// A communicator of one rank, on device 0.
fn alone() -> (Rank, UniqueId) {
    initialize();
    choose(0);
    let (id, mut comm) = (id(), 0);
    ok!(ncclCommInitRank(&mut comm, 1, id, 0));
    (Rank::with(comm, 0), id)
}

#[test]
fn wrong_calls_are_refused() {
    let (rank, _) = alone();
    let (buffer, host) = (rank.upload_words(&[1, 2]), [0_u8; 8]);
    let host = host.as_ptr() as u64;
    choose(1);
    let other = Rank::with(0, 1);
    let foreign = other.upload_words(&[1, 2]);
    choose(0);
    let (c, s) = (rank.comm, rank.stream);
    let most = usize::MAX / 2;
    let wrong = [
        (0, buffer, 1, 2, 0, c, s, "the send buffer is null"),
        (buffer, 0, 1, 2, 0, c, s, "the receive buffer is null"),
        (host, buffer, 1, 2, 0, c, s, "not in memory that devices"),
        (foreign, buffer, 1, 2, 0, c, s, "is on device 1, the"),
        (buffer, buffer + 4, 2, 2, 0, c, s, "only 4 there"),
        (buffer, buffer, most, 2, 0, c, s, "too many"),
        (buffer, buffer, 1, 12, 0, c, s, "there is no type 12"),
        (buffer, buffer, 1, -1, 0, c, s, "there is no type -1"),
        (buffer, buffer, 1, 2, 5, c, s, "no operator 5"),
        (buffer, buffer, 1, 2, 0, 0, s, "the communicator is null"),
        (buffer, buffer, 1, 2, 0, c, other.stream, "one of device 1"),
        (buffer, buffer, 1, 2, 0, c, 77, "no such stream"),
    ];
    for (send, receive, count, data_type, operator, comm, stream, reason) in wrong {
        let code =
            unsafe { ncclAllReduce(send, receive, count, data_type, operator, comm, stream) };
        refused(code, INVALID, reason);
    }
    unsafe {
        ok!(ncclAllReduce(buffer, buffer, 2, 2, 0, c, s));
        let code = ncclBcast(buffer, 1, 2, 1, c, s);
        refused(code, INVALID, "there is no rank 1");
        let code = ncclSend(buffer, 1, 2, -1, c, s);
        refused(code, INVALID, "there is no rank -1");
    }
    rank.destroy();
}

#[test]
fn a_group_with_a_wrong_call_does_nothing() {
    let (rank, _) = alone();
    let (send, receive) = (rank.upload_words(&[1]), rank.upload_words(&[2]));
    let (c, s) = (rank.comm, rank.stream);
    unsafe {
        refused(ncclGroupEnd(), USAGE, "ncclGroupStart");
        ok!(ncclGroupStart());
        ok!(ncclAllReduce(send, receive, 1, 2, 0, c, s));
        refused(ncclBcast(0, 1, 2, 0, c, s), INVALID, "null");
        refused(ncclGroupEnd(), INVALID, "null");
        let code = ncclGroupSimulateEnd(std::ptr::null_mut());
        refused(code, USAGE, "not supported");
    }
    assert_eq!(rank.download_words(receive, 1), [2]);
    rank.destroy();
}

#[test]
fn wrong_operators_are_refused() {
    let (rank, _) = alone();
    let (c, s) = (rank.comm, rank.stream);
    let buffer = rank.upload_words(&[1]);
    let (two, mut operator) = (2_f32, 0);
    let scalar = (&raw const two).cast();
    unsafe {
        ok!(ncclRedOpCreatePreMulSum(&mut operator, scalar, 7, 1, c));
        let code = ncclAllReduce(buffer, buffer, 1, 2, operator, c, s);
        refused(code, INVALID, "is for float32, not for int32");
        refused(ncclRedOpDestroy(0, c), INVALID, "no operator 0");
        ok!(ncclRedOpDestroy(operator, c));
        refused(ncclRedOpDestroy(operator, c), INVALID, "no operator 5");
        let code = ncclRedOpCreatePreMulSum(&mut operator, scalar, 7, 0, c);
        refused(code, INVALID, "devices can use");
    }
    rank.destroy();
}

#[test]
fn wrong_communicators_are_refused() {
    let (rank, id) = alone();
    let (c, mut made, mut comms) = (rank.comm, 0, [0; 2]);
    let foreign = UniqueId { internal: [0; 128] };
    unsafe {
        let code = ncclCommInitRank(&mut made, 2, id, 2);
        refused(code, INVALID, "there is no rank 2 of 2");
        let code = ncclCommInitRank(std::ptr::null_mut(), 2, id, 0);
        refused(code, INVALID, "null");
        let code = ncclCommInitRank(&mut made, 2, foreign, 0);
        refused(code, INVALID, "ncclGetUniqueId");
        refused(ncclCommInitRank(&mut made, 1, id, 0), 6, "used before");
        let code = ncclCommInitAll(comms.as_mut_ptr(), 2, [3, 3].as_ptr());
        refused(code, USAGE, "listed twice");
        let code = ncclCommInitAll(comms.as_mut_ptr(), 2, [0, 8].as_ptr());
        refused(code, INVALID, "no device 8");
        ok!(ncclCommFinalize(c));
        ok!(ncclCommDestroy(c));
        refused(ncclCommDestroy(c), INVALID, "destroyed");
        ok!(ncclCommDestroy(0));
    }
}

#[test]
fn memory_is_allocated_and_registered() {
    each(N, |rank| {
        let (mut buffer, mut handle, mut version) = (0, 0, 0);
        unsafe {
            ok!(ncclMemAlloc(&mut buffer, 64));
            ok! { ncclCommRegister(rank.comm, buffer as *const _, 64, &mut handle) }
            assert_ne!(handle, 0);
            ok!(ncclAllGather(buffer, buffer, 0, 0, rank.comm, rank.stream));
            ok!(ncclCommDeregister(rank.comm, handle));
            ok!(ncclMemFree(buffer));
            ok!(ncclGetVersion(&mut version));
            let text = std::ffi::CStr::from_ptr(ncclGetErrorString(5));
            assert_eq!((version, text), (22809, c"invalid usage"));
        }
    });
}
