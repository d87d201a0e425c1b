//! The results of collectives, from what all ranks send.

use std::sync::Arc;

use super::members::Output;
use crate::call::{Call, Kind};
use crate::reduce;
use crate::types::Operator;

/// What each rank receives.
pub fn of(call: &Call, inputs: &[&[u8]]) -> Vec<Output> {
    let n = inputs.len();
    let operator = call.operator.unwrap_or(Operator::Sum);
    let combined = || Arc::new(reduce::combine(call.data_type, operator, inputs));
    let joined = || Arc::new(inputs.concat());
    let each = |bytes: Arc<Vec<u8>>| vec![Output::all(&bytes); n];
    let only = |root: usize, bytes: Arc<Vec<u8>>| {
        let all = Output::all(&bytes);
        let mut outputs = vec![Output::none(); n];
        outputs[root] = all;
        outputs
    };
    let parts = |bytes: Arc<Vec<u8>>| (0..n).map(|i| Output::part(&bytes, i, n)).collect();
    match call.kind {
        Kind::AllReduce => each(combined()),
        Kind::Reduce { root } => only(root, combined()),
        Kind::ReduceScatter => parts(combined()),
        Kind::AllGather => each(joined()),
        Kind::Gather { root } => only(root, joined()),
        Kind::Broadcast { root } => each(Arc::new(inputs[root].to_vec())),
        Kind::Scatter { root } => parts(Arc::new(inputs[root].to_vec())),
        Kind::AlltoAll => parts(Arc::new(exchanged(inputs))),
        // Two ranks make these, not all.
        Kind::Send { .. } | Kind::Recv { .. } => Vec::new(),
    }
}

/// The first part of each input, then the second of each, and so on.
fn exchanged(inputs: &[&[u8]]) -> Vec<u8> {
    let n = inputs.len();
    let part = |input: &[u8], i: usize| {
        let size = input.len() / n;
        input[i * size..(i + 1) * size].to_vec()
    };
    let parts = (0..n).flat_map(|i| inputs.iter().map(move |input| part(input, i)));
    parts.collect::<Vec<_>>().concat()
}
