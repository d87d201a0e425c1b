//! Wrong arguments.

use sim_nccl::api::collectives::*;
use sim_nccl::api::communicators::*;
use sim_nccl::api::errors::*;
use sim_nccl::api::memory::*;
use sim_nccl::api::operators::*;

use crate::ranks::{N, Rank, choose, each, id, initialize, last_error, ok};

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

#[test]
fn wrong_calls_are_refused() {
    initialize();
    choose(0);
    let id = id();
    let mut comm = 0;
    ok(unsafe { ncclCommInitRank(&mut comm, 1, id, 0) });
    let rank = Rank::with(comm, 0);
    let (buffer, host) = (rank.upload_words(&[1, 2]), [0_u8; 8]);
    let host = host.as_ptr() as u64;
    choose(1);
    let other = Rank::with(0, 1);
    let foreign = other.upload_words(&[1, 2]);
    choose(0);
    let reduce = |send, receive, count, data_type, operator, comm, stream| unsafe {
        ncclAllReduce(send, receive, count, data_type, operator, comm, stream)
    };
    let (c, s) = (comm, rank.stream);
    ok(reduce(buffer, buffer, 2, 2, 0, c, s));
    refused(
        reduce(0, buffer, 1, 2, 0, c, s),
        INVALID,
        "the send buffer is null",
    );
    refused(
        reduce(buffer, 0, 1, 2, 0, c, s),
        INVALID,
        "the receive buffer is null",
    );
    refused(
        reduce(host, buffer, 1, 2, 0, c, s),
        INVALID,
        "not in memory that devices can use",
    );
    refused(
        reduce(foreign, buffer, 1, 2, 0, c, s),
        INVALID,
        "on device 1, the communicator on device 0",
    );
    refused(
        reduce(buffer, buffer + 4, 2, 2, 0, c, s),
        INVALID,
        "only 4 there",
    );
    refused(
        reduce(buffer, buffer, usize::MAX / 2, 2, 0, c, s),
        INVALID,
        "too many",
    );
    refused(
        reduce(buffer, buffer, 1, 12, 0, c, s),
        INVALID,
        "there is no type 12",
    );
    refused(
        reduce(buffer, buffer, 1, -1, 0, c, s),
        INVALID,
        "there is no type -1",
    );
    refused(
        reduce(buffer, buffer, 1, 2, 5, c, s),
        INVALID,
        "no operator 5",
    );
    refused(
        reduce(buffer, buffer, 1, 2, 0, 0, s),
        INVALID,
        "the communicator is null",
    );
    refused(
        reduce(buffer, buffer, 1, 2, 0, c, other.stream),
        INVALID,
        "the stream is one of device 1",
    );
    refused(
        reduce(buffer, buffer, 1, 2, 0, c, 77),
        INVALID,
        "no such stream",
    );
    unsafe {
        refused(
            ncclBcast(buffer, 1, 2, 1, c, s),
            INVALID,
            "there is no rank 1",
        );
        refused(
            ncclSend(buffer, 1, 2, -1, c, s),
            INVALID,
            "there is no rank -1",
        );
        refused(ncclGroupEnd(), USAGE, "ncclGroupStart");
        // What fails in a group is told again at its end, and nothing is done.
        ok(ncclGroupStart());
        ok(ncclAllReduce(buffer, buffer, 1, 2, 0, c, s));
        refused(ncclBcast(0, 1, 2, 0, c, s), INVALID, "null");
        refused(ncclGroupEnd(), INVALID, "null");
        let mut operator = 0;
        let two = 2_f32;
        let scalar = (&raw const two).cast();
        ok(ncclRedOpCreatePreMulSum(&mut operator, scalar, 7, 1, c));
        refused(
            ncclAllReduce(buffer, buffer, 1, 2, operator, c, s),
            INVALID,
            "is for float32, not for int32",
        );
        refused(ncclRedOpDestroy(0, c), INVALID, "no operator 0");
        ok(ncclRedOpDestroy(operator, c));
        refused(ncclRedOpDestroy(operator, c), INVALID, "no operator 5");
        refused(
            ncclRedOpCreatePreMulSum(&mut operator, host as *const u8, 7, 0, c),
            INVALID,
            "devices can use",
        );
        let mut made = 0;
        refused(
            ncclCommInitRank(&mut made, 2, id, 2),
            INVALID,
            "there is no rank 2 of 2",
        );
        refused(
            ncclCommInitRank(std::ptr::null_mut(), 2, id, 0),
            INVALID,
            "null",
        );
        let foreign_id = UniqueId { internal: [0; 128] };
        refused(
            ncclCommInitRank(&mut made, 2, foreign_id, 0),
            INVALID,
            "ncclGetUniqueId",
        );
        refused(ncclCommInitRank(&mut made, 1, id, 0), 6, "used before");
        let mut comms = [0; 2];
        refused(
            ncclCommInitAll(comms.as_mut_ptr(), 2, [3, 3].as_ptr()),
            USAGE,
            "listed twice",
        );
        refused(
            ncclCommInitAll(comms.as_mut_ptr(), 2, [0, 8].as_ptr()),
            INVALID,
            "no device 8",
        );
        refused(
            ncclGroupSimulateEnd(std::ptr::null_mut()),
            USAGE,
            "not supported",
        );
        ok(ncclCommFinalize(c));
        ok(ncclCommDestroy(c));
        refused(ncclCommDestroy(c), INVALID, "destroyed");
        ok(ncclCommDestroy(0));
        // The call of the group was not made.
        assert_eq!(rank.download_words(buffer, 2), [1, 2]);
    }
}

#[test]
fn memory_is_allocated_and_registered() {
    each(N, |rank| {
        let (mut buffer, mut handle, mut version) = (0, 0, 0);
        unsafe {
            ok(ncclMemAlloc(&mut buffer, 64));
            ok(ncclCommRegister(
                rank.comm,
                buffer as *const _,
                64,
                &mut handle,
            ));
            assert_ne!(handle, 0);
            ok(ncclAllGather(buffer, buffer, 0, 0, rank.comm, rank.stream));
            ok(ncclCommDeregister(rank.comm, handle));
            ok(ncclMemFree(buffer));
            ok(ncclGetVersion(&mut version));
            let text = std::ffi::CStr::from_ptr(ncclGetErrorString(5));
            assert_eq!((version, text), (22809, c"invalid usage"));
        }
    });
}
