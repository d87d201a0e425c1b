//! Groups, and communicators made of others.

use sim_driver::api::stream::*;
use sim_nccl::api::collectives::*;
use sim_nccl::api::communicators::*;
use sim_nccl::api::errors::*;

use crate::ranks::{N, Rank, choose, each, id, initialize, ok};

/// All ranks in this thread.
fn all() -> Vec<Rank> {
    initialize();
    let mut comms = [0; N];
    ok!(ncclCommInitAll(
        comms.as_mut_ptr(),
        N as i32,
        std::ptr::null()
    ));
    let with = |(rank, comm)| {
        choose(rank);
        Rank::with(comm, rank)
    };
    comms.into_iter().enumerate().map(with).collect()
}

/// Has this thread do something for each rank, in a group.
fn together<T>(ranks: &[Rank], work: impl Fn(&Rank) -> T) -> Vec<T> {
    ok!(ncclGroupStart());
    let for_one = |rank: &Rank| {
        choose(rank.rank);
        work(rank)
    };
    let results = ranks.iter().map(for_one).collect();
    ok!(ncclGroupEnd());
    results
}

#[test]
fn one_thread_makes_the_calls_of_all_ranks() {
    let ranks = all();
    let buffers = together(&ranks, |rank| {
        let buffer = rank.upload_words(&[rank.rank as i32]);
        ok!(ncclAllReduce(
            buffer,
            buffer,
            1,
            2,
            0,
            rank.comm,
            rank.stream
        ));
        buffer
    });
    for (rank, buffer) in ranks.iter().zip(buffers) {
        choose(rank.rank);
        assert_eq!(rank.download_words(buffer, 1), [28]);
        let (mut count, mut own, mut device) = (0, 0, 0);
        ok!(ncclCommCount(rank.comm, &mut count));
        ok!(ncclCommUserRank(rank.comm, &mut own));
        ok!(ncclCommCuDevice(rank.comm, &mut device));
        let expected = rank.rank as i32;
        assert_eq!((count, own, device), (8, expected, expected));
    }
    ranks.into_iter().for_each(Rank::destroy);
}

#[test]
fn sends_and_receives_of_a_group_are_done_at_once() {
    let received = each(N, |rank| {
        let sent: Vec<i32> = (0..N as i32).map(|to| 10 * rank.rank as i32 + to).collect();
        let (from, to) = (rank.upload_words(&sent), rank.upload_words(&[0; N]));
        ok!(ncclGroupStart());
        // Each to each, itself included, all sends first; a group within the group.
        for peer in 0..N {
            let at = from + 4 * peer as u64;
            ok!(ncclSend(at, 1, 2, peer as i32, rank.comm, rank.stream));
        }
        ok!(ncclGroupStart());
        for peer in 0..N {
            let at = to + 4 * peer as u64;
            ok!(ncclRecv(at, 1, 2, peer as i32, rank.comm, rank.stream));
        }
        ok!(ncclGroupEnd());
        ok!(ncclGroupEnd());
        rank.download_words(to, N)
    });
    for (rank, received) in received.into_iter().enumerate() {
        let expected: Vec<i32> = (0..N).map(|from| (10 * from + rank) as i32).collect();
        assert_eq!(received, expected);
    }
}

#[test]
fn sends_without_a_group_meet_their_receives_in_order() {
    let received = each(2, |rank| {
        let buffer = rank.upload_words(&[7, 8, 0]);
        let peer = 1 - rank.rank as i32;
        for i in 0..2 {
            let at = buffer + 4 * i;
            let code = match rank.rank {
                0 => unsafe { ncclSend(at, 1, 2, peer, rank.comm, rank.stream) },
                _ => unsafe { ncclRecv(at + 4, 1, 2, peer, rank.comm, rank.stream) },
            };
            ok(code);
        }
        rank.download_words(buffer, 3)
    });
    assert_eq!(received, [[7, 8, 0], [7, 7, 8]]);
}

#[test]
fn a_group_has_collectives_on_several_streams() {
    let results = each(3, |rank| {
        let (first, second) = (rank.upload_words(&[1]), rank.upload_words(&[0]));
        let mut other = 0;
        ok!(cuStreamCreate(&mut other, 1));
        ok!(sim_driver::api::copy::cuMemsetD32Async(second, 5, 1, other));
        ok!(ncclGroupStart());
        ok!(ncclAllReduce(first, first, 1, 2, 0, rank.comm, rank.stream));
        ok!(ncclAllReduce(second, second, 1, 2, 0, rank.comm, other));
        ok!(ncclGroupEnd());
        ok!(cuStreamSynchronize(other));
        [
            rank.download_words(first, 1),
            rank.download_words(second, 1),
        ]
        .concat()
    });
    assert_eq!(results, vec![[3, 15]; 3]);
}

#[test]
fn a_split_makes_a_communicator_of_each_color() {
    each(N, |rank| {
        // Even ranks in reverse order; of the odd ones, the last has no part.
        let color = if rank.rank == 7 {
            -1
        } else {
            rank.rank as i32 % 2
        };
        let mut comm = 1;
        ok!(ncclCommSplit(
            rank.comm,
            color,
            -(rank.rank as i32),
            &mut comm,
            std::ptr::null()
        ));
        if rank.rank == 7 {
            assert_eq!(comm, 0);
            return;
        }
        let (mut own, mut count) = (0, 0);
        let buffer = rank.upload_words(&[rank.rank as i32]);
        ok!(ncclCommUserRank(comm, &mut own));
        ok!(ncclCommCount(comm, &mut count));
        ok!(ncclAllReduce(buffer, buffer, 1, 2, 0, comm, rank.stream));
        let expected = [[12, 4], [9, 3]][rank.rank % 2];
        assert_eq!([rank.download_words(buffer, 1)[0], count], expected);
        let before = if rank.rank % 2 == 0 { 6 } else { 5 };
        assert_eq!(own, (before - rank.rank as i32) / 2);
        ok!(ncclCommDestroy(comm));
    });
}

#[test]
fn one_thread_begins_and_splits_in_groups() {
    initialize();
    let (id, mut comms, mut parts) = (id(), [0; N], [0; N]);
    ok!(ncclGroupStart());
    for (rank, comm) in comms.iter_mut().enumerate() {
        choose(rank);
        ok!(ncclCommInitRank(comm, N as i32, id, rank as i32));
    }
    ok!(ncclGroupEnd());
    ok!(ncclGroupStart());
    for (rank, (&comm, part)) in comms.iter().zip(&mut parts).enumerate() {
        ok! { ncclCommSplit(comm, (rank / 4) as i32, 0, part, std::ptr::null()) }
    }
    ok!(ncclGroupEnd());
    for (rank, (comm, part)) in comms.into_iter().zip(parts).enumerate() {
        let mut own = 0;
        ok!(ncclCommUserRank(part, &mut own));
        ok!(ncclCommDestroy(part));
        ok!(ncclCommDestroy(comm));
        assert_eq!(own as usize, rank % 4);
    }
}

#[test]
fn who_does_not_wait_asks_whether_all_have_joined() {
    initialize();
    let id = id();
    // As in `NCCL_CONFIG_INITIALIZER`, but not blocking.
    let config: [u64; 8] = [64, 0xcafe_beef | 22809 << 32, 0, 0, 0, 0, 0, 0];
    let config = config.as_ptr().cast();
    let (mut comms, mut state) = ([0; 2], 0);
    choose(0);
    ok!(ncclCommInitRankConfig(&mut comms[0], 2, id, 0, config));
    ok!(ncclCommGetAsyncError(comms[0], &mut state));
    assert_eq!(state, 7);
    choose(1);
    ok! { ncclCommInitRankScalable(&mut comms[1], 2, 1, 1, &id, config) }
    while state == 7 {
        ok!(ncclCommGetAsyncError(comms[0], &mut state));
    }
    assert_eq!(state, 0);
    comms.iter().for_each(|&comm| ok!(ncclCommAbort(comm)));
}

#[test]
fn captured_calls_are_made_at_each_launch() {
    use sim_driver::api::graph::*;
    let results = each(2, |rank| {
        let buffer = rank.upload_words(&[1]);
        let (mut graph, mut executable) = (0, 0);
        // Which forbids its thread to allocate memory.
        ok!(cuStreamBeginCapture_v2(rank.stream, 1));
        ok! { ncclAllReduce(buffer, buffer, 1, 2, 0, rank.comm, rank.stream) }
        ok!(cuStreamEndCapture(rank.stream, &mut graph));
        ok!(cuGraphInstantiateWithFlags(&mut executable, graph, 0));
        for _ in 0..3 {
            ok!(cuGraphLaunch(executable, rank.stream));
        }
        rank.download_words(buffer, 1)[0]
    });
    assert_eq!(results, [8, 8]);
}
