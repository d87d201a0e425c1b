//! Functions that the device runtime provides: `vprintf`, `__assertfail`. Those of the heap
//! are in `heap`.

use super::access::read8;
use super::context::{Env, PathView, Step};
use super::printf;
use crate::checks::observer::Observer;
use crate::diagnostics::FaultKind;
use crate::lanes::lanes;
use crate::memory::address::{space_of, window_base};
use crate::program::{Argument, Call};
use crate::stop::Stop;
use crate::warp::Warp;
use ptx::ir::Space;

/// Calls an external function.
pub(super) fn call<O: Observer>(
    step: &mut Step<'_, '_, O>,
    name: &str,
    call: &Call,
    mask: u32,
) -> Result<(), Stop> {
    let Step {
        env, warp, view, ..
    } = step;
    if name == "__assertfail" && call.arguments.len() == 5 {
        let lane = mask.trailing_zeros().min(31) as usize;
        return Err(assertion(env, warp, view, call, lane));
    }
    if name != "vprintf" || call.arguments.len() != 2 {
        let reason = format!("the function `{name}` is declared but not defined");
        return Err(Stop::unsupported("call", reason));
    }
    for lane in lanes(mask) {
        let format = argument(warp, view, call.arguments[0], lane);
        let values = argument(warp, view, call.arguments[1], lane);
        let text = render(env, warp, lane, format, values);
        env.launch
            .printed
            .add(env.ctaid, (warp.index, lane as u32), text);
    }
    if let Some(Argument::Memory { offset, bytes }) = call.returns.first() {
        let at = view.local_base + offset;
        // Whole words, which call parameters are made of; as many as are declared.
        for word in 0..bytes.div_ceil(4) {
            for lane in lanes(mask) {
                warp.local.set_word(lane, at + 4 * word, 0);
            }
        }
        if O::ON {
            let lanes = step.lanes(mask);
            step.env.observer.local_passed(lanes, at..at + bytes);
        }
    }
    Ok(())
}

/// The argument that a lane passes.
pub(super) fn argument(warp: &Warp, view: &PathView<'_>, argument: Argument, lane: usize) -> u64 {
    match argument {
        Argument::Memory { offset, bytes } => {
            warp.local
                .read(lane, view.local_base + offset, bytes.min(8)) as u64
        }
        // SAFETY: The decoder made the slot for `bytes` a lane.
        Argument::Register { slot, bytes } => unsafe { view.regs.get(slot, bytes, lane) },
        // SAFETY: As above, for 64 bits.
        Argument::Number { slot } => unsafe { view.regs.get(slot, 8, lane) },
    }
}

/// A byte at a generic address, if there is one.
fn byte<O: Observer>(env: &Env<'_, O>, warp: &Warp, lane: usize, address: u64) -> Option<u8> {
    let base = window_base(space_of(address));
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
            Some(unsafe { read8(host.wrapping_add(offset)) })
        }
        _ => None,
    }
}

/// A C string at a generic address, cut if it is too long.
fn string<O: Observer>(env: &Env<'_, O>, warp: &Warp, lane: usize, start: u64) -> Vec<u8> {
    const LIMIT: u64 = 4096;
    (0..LIMIT)
        .map_while(|i| byte(env, warp, lane, start.wrapping_add(i)).filter(|&b| b != 0))
        .collect()
}

/// A failed assertion, as C reports it: message, file, line, function.
fn assertion<O: Observer>(
    env: &Env<'_, O>,
    warp: &Warp,
    view: &PathView<'_>,
    call: &Call,
    lane: usize,
) -> Stop {
    let value = |i: usize| argument(warp, view, call.arguments[i], lane);
    let text = |i: usize| {
        let bytes = string(env, warp, lane, value(i));
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let message = format!(
        "{}:{}: {}: assertion `{}` failed",
        text(1),
        value(2) as u32,
        text(3),
        text(0)
    );
    Stop::fault(
        1 << lane,
        FaultKind::Trap {
            message: Some(message),
        },
    )
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
    let string = |start: u64| string(env, warp, lane, start);
    let mut take = |n: u64| {
        // Any address can be passed, even the very last.
        values = values.wrapping_add(n - 1) & !(n - 1);
        let mut bits = 0;
        for i in 0..n {
            let value = byte(env, warp, lane, values.wrapping_add(i)).unwrap_or(0);
            bits |= u64::from(value) << (8 * i);
        }
        values = values.wrapping_add(n);
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
        let (mut spec, n) = printf::parse(&text[at + 1..]);
        at += 1 + n;
        if spec.width == Some(None) {
            spec.set_width(take(4) as i32);
        }
        if spec.precision == Some(None) {
            spec.set_precision(take(4) as i32);
        }
        let width = if spec.is_long { 8 } else { 4 };
        let rendered = match spec.letter {
            b'%' => "%".to_owned(),
            b'd' | b'i' if spec.is_long => spec.signed(take(8) as i64),
            b'd' | b'i' => spec.signed(i64::from(take(4) as i32)),
            b'u' | b'x' | b'X' | b'o' => spec.unsigned(take(width)),
            b'c' => spec.text(&char::from(take(4) as u8).to_string()),
            b'p' => spec.unsigned(take(8)),
            b's' => spec.text(&String::from_utf8_lossy(&string(take(8)))),
            b'f' | b'g' | b'e' | b'F' | b'G' | b'E' => spec.float(f64::from_bits(take(8))),
            _ => "%?".to_owned(),
        };
        out.extend(rendered.bytes());
    }
    String::from_utf8_lossy(&out).into_owned()
}
