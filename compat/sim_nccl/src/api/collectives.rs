//! Collectives, sends and receives, and groups of them.

use std::ffi::c_int;

use super::api;
use super::buffers;
use crate::call::{Call, Kind};
use crate::comm::Comm;
use crate::exchange::Submitted;
use crate::group;
use crate::result::{Outcome, ensure};
use crate::types::DataType;

/// What a client passes to any of the functions.
struct Arguments {
    send: u64,
    receive: u64,
    count: usize,
    data_type: c_int,
    operator: Option<c_int>,
    comm: usize,
    stream: usize,
}

/// Makes a call for which `kind` has the rank's number, if it needs one.
fn make(arguments: &Arguments, other: Option<c_int>, kind: impl FnOnce(usize) -> Kind) -> Outcome {
    let comm = Comm::of(arguments.comm)?;
    comm.connection.has_joined()?;
    let number = other.unwrap_or(0);
    let n_ranks = comm.n_ranks;
    let rank = usize::try_from(number).ok().filter(|&rank| rank < n_ranks);
    let text = format_args!("there is no rank {number}: the communicator has {n_ranks}");
    ensure(rank.is_some(), text)?;
    let data_type = DataType::of(arguments.data_type)?;
    let operator = arguments
        .operator
        .map(|number| comm.operators.of(number, data_type));
    let (operator, factor) = operator.transpose()?.unzip();
    let call = Call {
        kind: kind(rank.unwrap_or(0)),
        count: arguments.count,
        data_type,
        operator,
    };
    let text = format_args!("{} elements for each rank are too many", call.count);
    ensure(call.total(n_ranks).is_some(), text)?;
    // As NVIDIA's library does: nobody waits for an empty collective.
    if call.count == 0 && call.is_collective() {
        return Ok(());
    }
    let (send, receive) = (arguments.send, arguments.receive);
    buffers::check(&comm, "send", send, call.sent(comm.rank, n_ranks))?;
    buffers::check(&comm, "receive", receive, call.received(comm.rank, n_ranks))?;
    comm.unless_broken(buffers::check_stream(&comm, arguments.stream))?;
    let submitted = Submitted {
        call,
        send,
        receive,
        factor: factor.flatten(),
        stream: arguments.stream,
    };
    group::call(comm, submitted)
}

api! {
    fn ncclAllReduce(send: u64, receive: u64, count: usize, data_type: c_int, operator: c_int, comm: usize, stream: usize) {
        let arguments = Arguments { send, receive, count, data_type, operator: Some(operator), comm, stream };
        make(&arguments, None, |_| Kind::AllReduce)
    }
    fn ncclReduce(send: u64, receive: u64, count: usize, data_type: c_int, operator: c_int, root: c_int, comm: usize, stream: usize) {
        let arguments = Arguments { send, receive, count, data_type, operator: Some(operator), comm, stream };
        make(&arguments, Some(root), |root| Kind::Reduce { root })
    }
    fn ncclReduceScatter(send: u64, receive: u64, count: usize, data_type: c_int, operator: c_int, comm: usize, stream: usize) {
        let arguments = Arguments { send, receive, count, data_type, operator: Some(operator), comm, stream };
        make(&arguments, None, |_| Kind::ReduceScatter)
    }
    fn ncclBroadcast(send: u64, receive: u64, count: usize, data_type: c_int, root: c_int, comm: usize, stream: usize) {
        let arguments = Arguments { send, receive, count, data_type, operator: None, comm, stream };
        make(&arguments, Some(root), |root| Kind::Broadcast { root })
    }
    fn ncclBcast(buffer: u64, count: usize, data_type: c_int, root: c_int, comm: usize, stream: usize) {
        let arguments = Arguments { send: buffer, receive: buffer, count, data_type, operator: None, comm, stream };
        make(&arguments, Some(root), |root| Kind::Broadcast { root })
    }
    fn ncclAllGather(send: u64, receive: u64, count: usize, data_type: c_int, comm: usize, stream: usize) {
        let arguments = Arguments { send, receive, count, data_type, operator: None, comm, stream };
        make(&arguments, None, |_| Kind::AllGather)
    }
    fn ncclAlltoAll(send: u64, receive: u64, count: usize, data_type: c_int, comm: usize, stream: usize) {
        let arguments = Arguments { send, receive, count, data_type, operator: None, comm, stream };
        make(&arguments, None, |_| Kind::AlltoAll)
    }
    fn ncclGather(send: u64, receive: u64, count: usize, data_type: c_int, root: c_int, comm: usize, stream: usize) {
        let arguments = Arguments { send, receive, count, data_type, operator: None, comm, stream };
        make(&arguments, Some(root), |root| Kind::Gather { root })
    }
    fn ncclScatter(send: u64, receive: u64, count: usize, data_type: c_int, root: c_int, comm: usize, stream: usize) {
        let arguments = Arguments { send, receive, count, data_type, operator: None, comm, stream };
        make(&arguments, Some(root), |root| Kind::Scatter { root })
    }
    fn ncclSend(send: u64, count: usize, data_type: c_int, peer: c_int, comm: usize, stream: usize) {
        let arguments = Arguments { send, receive: 0, count, data_type, operator: None, comm, stream };
        make(&arguments, Some(peer), |to| Kind::Send { to })
    }
    fn ncclRecv(receive: u64, count: usize, data_type: c_int, peer: c_int, comm: usize, stream: usize) {
        let arguments = Arguments { send: 0, receive, count, data_type, operator: None, comm, stream };
        make(&arguments, Some(peer), |from| Kind::Recv { from })
    }
    fn ncclGroupStart() {
        group::start();
        Ok(())
    }
    fn ncclGroupEnd() {
        group::end()
    }
}
