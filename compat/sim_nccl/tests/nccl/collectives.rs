//! Every collective, with every type and operator, against a plain reference.

use sim_nccl::api::collectives::*;
use sim_nccl::api::operators::*;
use sim_nccl::types::DataType;

use crate::arithmetic::{decode, encode};
use crate::ranks::{N, Rank, each, ok};

/// Elements per rank; not a power of two.
const COUNT: usize = 3;
/// What rank 0 multiplies by for a `PreMulSum`; the others multiply by one.
const FACTOR: i64 = 2;
/// The operator that is made, after the five that exist.
const PRE_MUL_SUM: usize = 5;

/// Element `i` of a rank: few and small enough for sums and products to be exact in every type.
fn value(rank: usize, i: usize, data_type: DataType) -> i64 {
    let is_signed = !matches!(
        data_type,
        DataType::Uint8 | DataType::Uint32 | DataType::Uint64
    );
    match (rank + i) % 4 {
        0 if rank < 4 => 1,
        1 if rank < 4 && is_signed => -1,
        2 if rank < 4 => 2,
        _ => i64::from(!i.is_multiple_of(2)),
    }
}

/// The reference: element `i` of all ranks combined.
fn combined(i: usize, data_type: DataType, operator: usize) -> f64 {
    let values = (0..N).map(|rank| value(rank, i, data_type));
    match operator {
        0 => values.sum::<i64>() as f64,
        1 => values.product::<i64>() as f64,
        2 => values.max().unwrap_or(0) as f64,
        3 => values.min().unwrap_or(0) as f64,
        4 if data_type.is_integer() => (values.sum::<i64>() / N as i64) as f64,
        4 => values.sum::<i64>() as f64 / N as f64,
        _ => (values.sum::<i64>() + (FACTOR - 1) * value(0, i, data_type)) as f64,
    }
}

fn values(rank: usize, range: std::ops::Range<usize>, data_type: DataType) -> Vec<f64> {
    range.map(|i| value(rank, i, data_type) as f64).collect()
}

fn input(rank: usize, n: usize, data_type: DataType) -> Vec<u8> {
    (0..n)
        .flat_map(|i| encode(value(rank, i, data_type), data_type))
        .collect()
}

/// What a rank does with its buffers: those to send and to receive.
type Called<'a> = &'a dyn Fn(u64, u64) -> u32;

/// Makes a call with separate buffers, and in place; returns what is received each time.
fn both(
    rank: &Rank,
    data_type: DataType,
    [n_sent, n_received]: [usize; 2],
    [send_at, receive_at]: [usize; 2],
    call: Called<'_>,
) -> [Vec<f64>; 2] {
    let bytes = data_type.bytes();
    let sent = input(rank.rank, n_sent, data_type);
    let apart = rank.upload(&sent);
    let received = rank.upload(&vec![0; n_received * bytes]);
    ok(call(apart, received));
    let result = rank.download(received, n_received * bytes);
    // One buffer, as NCCL defines it for each function.
    let mut whole = vec![0; n_sent.max(n_received) * bytes];
    whole[send_at * bytes..][..sent.len()].copy_from_slice(&sent);
    let whole_at = rank.upload(&whole);
    let (send, receive) = (
        whole_at + (send_at * bytes) as u64,
        whole_at + (receive_at * bytes) as u64,
    );
    ok(call(send, receive));
    let in_place = rank.download(receive, n_received * bytes);
    [result, in_place].map(|bytes| decode(&bytes, data_type))
}

#[track_caller]
fn expect(results: [Vec<f64>; 2], expected: &[f64], what: &str) {
    for (result, place) in results.into_iter().zip(["apart", "in place"]) {
        assert_eq!(result, expected, "{what}, {place}");
    }
}

#[test]
fn reductions_of_every_type_by_every_operator() {
    each(N, |rank| {
        let (comm, stream) = (rank.comm, rank.stream);
        for (number, &data_type) in (0..).zip(&DataType::ALL) {
            let factor = encode(if rank.rank == 0 { FACTOR } else { 1 }, data_type);
            let mut made = 0;
            ok!(ncclRedOpCreatePreMulSum(
                &mut made,
                factor.as_ptr(),
                number,
                1,
                comm
            ));
            for operator in 0..=PRE_MUL_SUM {
                let op = if operator == PRE_MUL_SUM {
                    made
                } else {
                    operator as i32
                };
                let what = format!("{data_type}, operator {operator}, rank {}", rank.rank);
                let all: Vec<f64> = (0..N * COUNT)
                    .map(|i| combined(i, data_type, operator))
                    .collect();
                let results = both(rank, data_type, [COUNT, COUNT], [0, 0], &|s, r| unsafe {
                    ncclAllReduce(s, r, COUNT, number, op, comm, stream)
                });
                expect(results, &all[..COUNT], &format!("AllReduce of {what}"));
                let at = rank.rank * COUNT;
                let results = both(
                    rank,
                    data_type,
                    [N * COUNT, COUNT],
                    [0, at],
                    &|s, r| unsafe { ncclReduceScatter(s, r, COUNT, number, op, comm, stream) },
                );
                expect(
                    results,
                    &all[at..at + COUNT],
                    &format!("ReduceScatter of {what}"),
                );
                let root = operator;
                let n = if rank.rank == root { COUNT } else { 0 };
                let results = both(rank, data_type, [COUNT, n], [0, 0], &|s, r| unsafe {
                    ncclReduce(s, r, COUNT, number, op, root as i32, comm, stream)
                });
                expect(results, &all[..n], &format!("Reduce of {what}"));
            }
            ok!(ncclRedOpDestroy(made, comm));
        }
    });
}

#[test]
fn copies_of_every_type() {
    each(N, |rank| {
        let (comm, stream, own) = (rank.comm, rank.stream, rank.rank);
        for (number, &data_type) in (0..).zip(&DataType::ALL) {
            let root = number as usize % N;
            let if_root = |n: usize| if own == root { n } else { 0 };
            let what = format!("of {data_type}, rank {own}");
            let from = |rank: usize| values(rank, 0..COUNT, data_type);
            let part = |rank: usize| values(rank, own * COUNT..(own + 1) * COUNT, data_type);
            let joined: Vec<f64> = (0..N).flat_map(from).collect();

            let results = both(
                rank,
                data_type,
                [COUNT, N * COUNT],
                [own * COUNT, 0],
                &|s, r| unsafe { ncclAllGather(s, r, COUNT, number, comm, stream) },
            );
            expect(results, &joined, &format!("AllGather {what}"));
            let results = both(rank, data_type, [COUNT, COUNT], [0, 0], &|s, r| unsafe {
                ncclBroadcast(s, r, COUNT, number, root as i32, comm, stream)
            });
            expect(results, &from(root), &format!("Broadcast {what}"));
            let results = both(
                rank,
                data_type,
                [N * COUNT, N * COUNT],
                [0, 0],
                &|s, r| unsafe { ncclAlltoAll(s, r, COUNT, number, comm, stream) },
            );
            let parts: Vec<f64> = (0..N).flat_map(part).collect();
            expect(results, &parts, &format!("AlltoAll {what}"));
            let at = own * COUNT;
            let send_at = if_root(at);
            let results = both(
                rank,
                data_type,
                [COUNT, if_root(N * COUNT)],
                [send_at, 0],
                &|s, r| unsafe { ncclGather(s, r, COUNT, number, root as i32, comm, stream) },
            );
            expect(
                results,
                &joined[..if_root(N * COUNT)],
                &format!("Gather {what}"),
            );
            let results = both(
                rank,
                data_type,
                [if_root(N * COUNT), COUNT],
                [0, if_root(at)],
                &|s, r| unsafe { ncclScatter(s, r, COUNT, number, root as i32, comm, stream) },
            );
            expect(results, &part(root), &format!("Scatter {what}"));
        }
        let buffer = rank.upload(&input(own, COUNT, DataType::Int32));
        ok!(ncclBcast(buffer, COUNT, 2, 3, comm, stream));
        let bytes = rank.download(buffer, 4 * COUNT);
        assert_eq!(
            decode(&bytes, DataType::Int32),
            values(3, 0..COUNT, DataType::Int32)
        );
    });
}

#[test]
fn a_factor_in_memory_is_read_when_it_is_used() {
    let sums = each(2, |rank| {
        let mut operator = 0;
        let factor = rank.upload_words(&[0]);
        ok!(ncclRedOpCreatePreMulSum(
            &mut operator,
            factor as *const u8,
            2,
            0,
            rank.comm
        ));
        let buffer = rank.upload_words(&[10]);
        let now = rank.rank as u32 + 2;
        ok!(sim_driver::api::copy::cuMemsetD32Async(
            factor,
            now,
            1,
            rank.stream,
        ));
        ok! { ncclAllReduce(buffer, buffer, 1, 2, operator, rank.comm, rank.stream) }
        rank.download_words(buffer, 1)[0]
    });
    assert_eq!(sums, [50, 50]);
}

#[test]
fn nobody_waits_for_an_empty_collective() {
    each(2, |rank| {
        if rank.rank == 0 {
            ok!(ncclAllReduce(0, 0, 0, 2, 0, rank.comm, rank.stream));
        }
        let buffer = rank.upload_words(&[1]);
        ok!(ncclAllReduce(
            buffer,
            buffer,
            1,
            2,
            0,
            rank.comm,
            rank.stream
        ));
        assert_eq!(rank.download_words(buffer, 1), [2]);
    });
}

#[test]
fn many_calls_are_done_in_order_whatever_their_streams() {
    each(3, |rank| {
        let mut other = 0;
        ok!(sim_driver::api::stream::cuStreamCreate(&mut other, 1));
        let buffer = rank.upload_words(&[1, 1]);
        // Not even the same streams on all ranks; more than may be in flight.
        for i in 0..200 {
            let stream = if i % (rank.rank + 2) == 0 {
                other
            } else {
                rank.stream
            };
            let (operator, count) = if i % 3 == 0 { (0, 2) } else { (2, 1) };
            ok!(ncclAllReduce(
                buffer, buffer, count, 2, operator, rank.comm, stream
            ));
        }
        ok!(sim_driver::api::stream::cuStreamSynchronize(other));
        let expected = (0..200)
            .filter(|i| i % 3 == 0)
            .fold(1_i32, |x, _| x.wrapping_mul(3));
        assert_eq!(rank.download_words(buffer, 2), [expected; 2]);
    });
}
