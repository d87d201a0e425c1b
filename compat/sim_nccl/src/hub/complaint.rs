//! The words for ranks that do not meet: which of them made which call, and which did not come.

use std::fmt::Write;

use super::members::{Gone, Member};
use crate::settings;
use crate::wire::Farewell;

/// A heading, and what each rank does.
pub fn text(heading: &str, members: &[Member], with_absent: bool) -> String {
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for (rank, member) in members.iter().enumerate() {
        if !with_absent && member.waits_since().is_none() {
            continue;
        }
        let does = does(member);
        match groups.iter_mut().find(|(other, _)| *other == does) {
            Some((_, ranks)) => ranks.push(rank),
            None => groups.push((does, vec![rank])),
        }
    }
    let mut text = heading.to_owned();
    for (does, ranks) in groups {
        let _ = write!(text, "\n  {}: {does}", named(&ranks));
    }
    text
}

/// The heading for ranks that have waited for too long.
pub fn too_long(what: &str) -> String {
    let seconds = settings::patience().map_or(0, |patience| patience.as_secs());
    format!(
        "NCCL: {what} within {seconds} s ({} sets this)",
        settings::NAME
    )
}

/// `rank 3`, `ranks 0, 2, 3`
pub fn named(ranks: &[usize]) -> String {
    let numbers: Vec<String> = ranks.iter().map(usize::to_string).collect();
    let s = if ranks.len() == 1 { "" } else { "s" };
    format!("rank{s} {}", numbers.join(", "))
}

/// What a rank does.
fn does(member: &Member) -> String {
    let waits: Vec<_> = member.waiting().collect();
    if let Some(first) = waits.first() {
        let more = match waits.len() {
            1 => String::new(),
            n => format!(", in a group with {} more that wait", n - 1),
        };
        return format!("call {}, {}{more}", first.number, first.call);
    }
    if let Some((_, color, key)) = member.split {
        return format!("splits the communicator (color {color}, key {key})");
    }
    if let (Some(call), None) = (member.submitted.front(), member.gone) {
        let number = member.n_calls + 1;
        return format!("call {number}, {call}, is submitted, but its stream has not come to it");
    }
    let state = match (member.gone, &member.introduction) {
        (Some(gone), _) => how(gone),
        (None, None) => return "has not joined the communicator".to_owned(),
        (None, Some(_)) => "has not come",
    };
    match member.last {
        Some(call) => format!("{state}; its last was call {}, {call}", member.n_calls),
        None => format!("{state}; it has made no call"),
    }
}

/// How a rank has gone.
pub fn how(gone: Gone) -> &'static str {
    match gone {
        Gone::Said(Farewell::Destroyed) => "has destroyed its communicator",
        Gone::Said(Farewell::Aborted) => "has aborted its communicator",
        Gone::Said(Farewell::Exited) => "has ended its process",
        Gone::Said(Farewell::DeviceFailed) => "has a device that failed before",
        Gone::Lost => "was killed, or ended without a word",
    }
}
