//! Random sequences of calls against a model: a driver's results, and the contents of memory.

use proptest::prelude::*;
use sim_driver::Status;
use sim_driver::api::context::*;
use sim_driver::api::copy::*;
use sim_driver::api::event::*;
use sim_driver::api::memory::*;
use sim_driver::api::stream::*;

use crate::client::Client;
use crate::under_test::{call, is_real, ok};

const OK: u32 = 0;
const VALUE: u32 = Status::INVALID_VALUE.0;
const HANDLE: u32 = Status::INVALID_HANDLE.0;

/// One call. Numbers select among existing objects, freed ones and ones that never existed.
#[derive(Clone, Debug)]
enum Call {
    Alloc(usize),
    Free(usize),
    Fill {
        buffer: usize,
        offset: usize,
        n: usize,
        value: u8,
    },
    Copy {
        to: usize,
        from: usize,
        n: usize,
    },
    Add {
        buffer: usize,
        stream: usize,
    },
    Stream,
    DestroyStream(usize),
    Event,
    DestroyEvent(usize),
    Record {
        event: usize,
        stream: usize,
    },
    Wait {
        event: usize,
        stream: usize,
    },
    Synchronize(usize),
}

fn calls() -> impl Strategy<Value = Call> {
    let few = 0_usize..6;
    prop_oneof![
        (0_usize..300).prop_map(Call::Alloc),
        few.clone().prop_map(Call::Free),
        (few.clone(), 0_usize..300, 0_usize..300, any::<u8>()).prop_map(
            |(buffer, offset, n, value)| Call::Fill {
                buffer,
                offset,
                n,
                value
            }
        ),
        (few.clone(), few.clone(), 0_usize..300).prop_map(|(to, from, n)| Call::Copy {
            to,
            from,
            n
        }),
        (few.clone(), few.clone()).prop_map(|(buffer, stream)| Call::Add { buffer, stream }),
        Just(Call::Stream),
        few.clone().prop_map(Call::DestroyStream),
        Just(Call::Event),
        few.clone().prop_map(Call::DestroyEvent),
        (few.clone(), few.clone()).prop_map(|(event, stream)| Call::Record { event, stream }),
        (few.clone(), few.clone()).prop_map(|(event, stream)| Call::Wait { event, stream }),
        few.prop_map(Call::Synchronize),
    ]
}

/// The expected state.
#[derive(Default)]
struct Model {
    /// All buffers so far: address, and bytes while it is alive.
    buffers: Vec<(u64, Option<Vec<u8>>)>,
    /// All streams and events so far, and whether they are alive.
    streams: Vec<(usize, bool)>,
    events: Vec<(usize, bool)>,
}

/// The one that a number selects; a handle that never existed if there is none.
fn choose(all: &[(usize, bool)], number: usize) -> (usize, bool) {
    all.get(number).copied().unwrap_or((0xbad0, false))
}

/// Makes a call with handles; returns the status, and the expected one. A real driver would not
/// survive one with handles that are not alive.
fn with_handles(all_live: bool, call: impl FnOnce() -> u32) -> (u32, u32) {
    match (all_live, is_real()) {
        (true, _) => (call(), OK),
        (false, true) => (OK, OK),
        (false, false) => (call(), HANDLE),
    }
}

/// Whether a real driver may not notice an error: it tracks allocations in units of 512 bytes, and
/// reuses their addresses.
fn forgives(is_right: bool) -> bool {
    is_real() && !is_right
}

impl Model {
    fn buffer(&mut self, number: usize) -> (u64, Option<&mut Vec<u8>>) {
        match self.buffers.get_mut(number) {
            Some((address, bytes)) => (*address, bytes.as_mut()),
            None => (0xbad0, None),
        }
    }

    /// Makes a call; returns the status, and the expected one.
    fn make(&mut self, client: &Client, call: &Call) -> (u32, u32) {
        match *call {
            Call::Alloc(n) => {
                let mut address = 0;
                let status = call!(cuMemAlloc_v2(&mut address, n));
                if n == 0 {
                    return (status, VALUE);
                }
                ok!(cuMemsetD8_v2(address, 0, n));
                self.buffers.push((address, Some(vec![0; n])));
                (status, OK)
            }
            Call::Free(number) => {
                let (address, bytes) = self.buffer(number);
                if forgives(bytes.is_some()) {
                    return (OK, OK);
                }
                let expected = if bytes.is_some() { OK } else { VALUE };
                let status = call!(cuMemFree_v2(address));
                if let Some(buffer) = self.buffers.get_mut(number) {
                    buffer.1 = None;
                }
                (status, expected)
            }
            Call::Fill {
                buffer,
                offset,
                n,
                value,
            } => {
                let (address, bytes) = self.buffer(buffer);
                let fits = bytes
                    .as_ref()
                    .is_some_and(|bytes| offset + n <= bytes.len());
                if forgives(fits) {
                    return (OK, OK);
                }
                let status = call!(cuMemsetD8_v2(address + offset as u64, value, n));
                if n == 0 {
                    return (status, OK);
                }
                let range = bytes.and_then(|bytes| bytes.get_mut(offset..offset + n));
                match range {
                    Some(range) => {
                        range.fill(value);
                        (status, OK)
                    }
                    None => (status, VALUE),
                }
            }
            Call::Copy { to, from, n } => {
                let (source, bytes) = self.buffer(from);
                let data = bytes.and_then(|bytes| bytes.get(..n).map(<[u8]>::to_vec));
                let (target, bytes) = self.buffer(to);
                let fits = bytes.as_ref().is_some_and(|bytes| n <= bytes.len());
                if forgives(fits && data.is_some()) {
                    return (OK, OK);
                }
                let status = call!(cuMemcpyDtoD_v2(target, source, n));
                if n == 0 {
                    return (status, OK);
                }
                match (data, bytes.and_then(|bytes| bytes.get_mut(..n))) {
                    (Some(data), Some(range)) => {
                        range.copy_from_slice(&data);
                        (status, OK)
                    }
                    _ => (status, VALUE),
                }
            }
            Call::Add { buffer, stream } => {
                let (stream, lives) = choose(&self.streams, stream);
                let (address, Some(bytes)) = self.buffer(buffer) else {
                    return (OK, OK);
                };
                let n = (bytes.len() / 4) as u32;
                if n == 0 {
                    return (OK, OK);
                }
                if lives {
                    for word in bytes.chunks_exact_mut(4) {
                        let number = u32::from_le_bytes(word.try_into().expect("four bytes"));
                        word.copy_from_slice(&number.wrapping_add(1).to_le_bytes());
                    }
                }
                let launch = (1, 75, stream);
                // With atomics: no order is promised between two of the streams.
                with_handles(lives, || {
                    client.try_launch("add_one_atomically", launch, &[&address, &n])
                })
            }
            Call::Stream => {
                // Blocking: the copies and fills above wait for its work.
                self.streams.push((client.stream(0), true));
                (OK, OK)
            }
            Call::Event => {
                self.events.push((client.event(), true));
                (OK, OK)
            }
            Call::DestroyStream(number) => {
                let (stream, lives) = choose(&self.streams, number);
                if lives {
                    // Others no longer wait for what it still does.
                    ok!(cuStreamSynchronize(stream));
                    self.streams[number].1 = false;
                }
                with_handles(lives, || call!(cuStreamDestroy_v2(stream)))
            }
            Call::DestroyEvent(number) => {
                let (event, lives) = choose(&self.events, number);
                if lives {
                    self.events[number].1 = false;
                }
                with_handles(lives, || call!(cuEventDestroy_v2(event)))
            }
            Call::Record { event, stream } => {
                let (event, here) = choose(&self.events, event);
                let (stream, there) = choose(&self.streams, stream);
                with_handles(here && there, || call!(cuEventRecord(event, stream)))
            }
            Call::Wait { event, stream } => {
                let (event, here) = choose(&self.events, event);
                let (stream, there) = choose(&self.streams, stream);
                with_handles(here && there, || call!(cuStreamWaitEvent(stream, event, 0)))
            }
            Call::Synchronize(number) => {
                let (stream, lives) = choose(&self.streams, number);
                with_handles(lives, || call!(cuStreamSynchronize(stream)))
            }
        }
    }
}

/// Makes calls; returns a difference from the model.
fn differs(client: &Client, calls: &[Call]) -> Option<String> {
    let mut model = Model::default();
    // Some objects to select from.
    let first = [
        Call::Alloc(256),
        Call::Alloc(100),
        Call::Stream,
        Call::Stream,
        Call::Event,
    ];
    for (i, call) in first.iter().chain(calls).enumerate() {
        let (status, expected) = model.make(client, call);
        if status != expected {
            return Some(format!(
                "call {i}, {call:?}: {status} where {expected} should be"
            ));
        }
    }
    ok!(cuCtxSynchronize());
    for (address, bytes) in model.buffers {
        let Some(expected) = bytes else { continue };
        let mut bytes = vec![0; expected.len()];
        ok! { cuMemcpyDtoH_v2(bytes.as_mut_ptr() as u64, address, bytes.len()) }
        ok!(cuMemFree_v2(address));
        if bytes != expected {
            return Some(format!("the buffer at {address:#x} has other bytes"));
        }
    }
    let live = |all: Vec<(usize, bool)>| all.into_iter().filter(|&(_, lives)| lives);
    for (stream, _) in live(model.streams) {
        ok!(cuStreamDestroy_v2(stream));
    }
    for (event, _) in live(model.events) {
        ok!(cuEventDestroy_v2(event));
    }
    None
}

/// The number of cases to try; more with `PROPTEST_CASES`.
fn cases() -> ProptestConfig {
    let usual = ProptestConfig::default();
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        cases: if asked { usual.cases } else { 500 },
        failure_persistence: None,
        ..usual
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn any_calls_get_what_a_driver_answers(calls in prop::collection::vec(calls(), 1..60)) {
        thread_local! {
            // A real driver takes long to create one.
            static CLIENT: Client = Client::new();
        }
        prop_assert_eq!(CLIENT.with(|client| differs(client, &calls)), None);
    }

    #[test]
    fn several_threads_do_not_disturb_each_other(
        all in prop::collection::vec(prop::collection::vec(calls(), 1..30), 3)
    ) {
        let found = std::thread::scope(|scope| {
            let threads: Vec<_> =
                all.iter().map(|calls| scope.spawn(move || differs(&Client::new(), calls))).collect();
            let found = threads.into_iter().map(|thread| thread.join().expect("no panic"));
            found.collect::<Vec<_>>()
        });
        prop_assert_eq!(found, vec![None, None, None]);
    }
}
