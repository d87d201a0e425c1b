//! Functions that the device runtime provides: `vprintf`.

use super::predicate::lanes;
use super::{Env, PathView, Trouble};
use crate::checks::Observer;
use crate::ir::Space;
use crate::memory::address::space_of;
use crate::program::{Argument, Call};
use crate::warp::Warp;

/// Calls an external function.
pub(crate) fn call<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    name: &str,
    call: &Call,
    mask: u32,
) -> Result<(), Box<Trouble>> {
    if name != "vprintf" || call.arguments.len() != 2 {
        return Err(Box::new(Trouble::Unsupported {
            opcode: "call".to_owned(),
            reason: format!("the function `{name}` is declared but not defined"),
        }));
    }
    for lane in lanes(mask) {
        let format = argument(warp, view, call.arguments[0], lane);
        let values = argument(warp, view, call.arguments[1], lane);
        let text = render(env, warp, lane, format, values);
        env.launch.print(env.ctaid, warp.index, lane as u32, text);
    }
    if let Some(Argument::Memory { offset, bytes }) = call.returns.first() {
        let at = view.local_base + offset;
        warp.local.reserve(at + bytes);
        for lane in lanes(mask) {
            warp.local.write(lane, at, *bytes, 0);
        }
    }
    Ok(())
}

fn argument(warp: &Warp, view: &PathView<'_>, argument: Argument, lane: usize) -> u64 {
    match argument {
        Argument::Memory { offset, bytes } => {
            warp.local.read(lane, view.local_base + offset, bytes) as u64
        }
        // SAFETY: The decoder made the slot for `bytes` a lane.
        Argument::Register { slot, bytes } => unsafe { view.regs.get(slot, bytes, lane) },
    }
}

/// A byte at a generic address, if there is one.
fn byte<O: Observer>(env: &Env<'_, O>, warp: &Warp, lane: usize, address: u64) -> Option<u8> {
    let base = crate::memory::address::window_base(space_of(address));
    match space_of(address) {
        Space::Local => warp.local.byte(lane, (address - base) as u32),
        Space::Global => {
            let allocation = env.launch.memory.find(address)?;
            if !allocation.contains(address, 1) {
                return None;
            }
            let host = allocation.host()?.as_ptr();
            let offset = (address - allocation.base) as usize;
            // SAFETY: In range of a live allocation.
            Some(unsafe { super::access::read8(host.wrapping_add(offset)) })
        }
        _ => None,
    }
}

/// Renders a C format string with its packed arguments: integers, pointers,
/// characters, strings and floats, each aligned to its size.
fn render<O: Observer>(
    env: &Env<'_, O>,
    warp: &Warp,
    lane: usize,
    format: u64,
    mut values: u64,
) -> String {
    /// Longest text that one call prints.
    const LIMIT: usize = 4096;
    let string = |start: u64| -> Vec<u8> {
        (start..)
            .map_while(|a| byte(env, warp, lane, a).filter(|&b| b != 0))
            .take(LIMIT)
            .collect()
    };
    let mut take = |n: u64| {
        values = values.next_multiple_of(n);
        let mut bits = 0;
        for i in 0..n {
            let value = byte(env, warp, lane, values + i).unwrap_or(0);
            bits |= u64::from(value) << (8 * i);
        }
        values += n;
        bits
    };
    let text = string(format);
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if text[at] != b'%' {
            out.push(text[at]);
            at += 1;
            continue;
        }
        at += 1;
        let mut long = false;
        while at < text.len() && !text[at].is_ascii_alphabetic() && text[at] != b'%' {
            at += 1;
        }
        while at < text.len() && matches!(text[at], b'l' | b'z' | b'j' | b't' | b'h') {
            long |= text[at] != b'h';
            at += 1;
        }
        let width = if long { 8 } else { 4 };
        let rendered = match text.get(at) {
            Some(b'%') => "%".to_owned(),
            Some(b'd' | b'i') if long => (take(8) as i64).to_string(),
            Some(b'd' | b'i') => (take(4) as i32).to_string(),
            Some(b'u') => take(width).to_string(),
            Some(b'x' | b'X') => format!("{:x}", take(width)),
            Some(b'c') => char::from(take(4) as u8).to_string(),
            Some(b'p') => format!("{:#x}", take(8)),
            Some(b's') => String::from_utf8_lossy(&string(take(8))).into_owned(),
            Some(b'f' | b'g' | b'e' | b'F' | b'G' | b'E') => f64::from_bits(take(8)).to_string(),
            _ => "%?".to_owned(),
        };
        out.extend(rendered.bytes());
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}
