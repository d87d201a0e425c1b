//! Communicators: how they begin, what they are, how they end.

use std::ffi::{c_char, c_int};

use super::{api, not_supported, put};
use crate::comm::Comm;
use crate::group;
use crate::hub;
use crate::result::{Code, Outcome, ensure};
use crate::wire::{Farewell, Part};

/// `ncclUniqueId`: the name of a hub.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct UniqueId {
    /// Ends in zeros.
    pub internal: [c_char; 128],
}

impl UniqueId {
    fn of(name: &str) -> Self {
        let mut internal = [0; 128];
        for (to, from) in internal.iter_mut().zip(name.bytes()) {
            *to = from as c_char;
        }
        Self { internal }
    }

    fn name(&self) -> String {
        let bytes = self.internal.iter().map(|&byte| byte as u8);
        let name: Vec<u8> = bytes.take_while(|&byte| byte != 0).collect();
        String::from_utf8_lossy(&name).into_owned()
    }
}

/// The beginning of `ncclConfig_t`, which all versions have.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Config {
    n_bytes: usize,
    magic: u32,
    version: u32,
    blocking: c_int,
}

const MAGIC: u32 = 0xcafe_beef;
/// `NCCL_SPLIT_NOCOLOR`
const NO_COLOR: c_int = -1;

/// Whether functions are to wait for the other ranks: yes, unless the client says otherwise.
unsafe fn is_blocking(config: *const Config) -> Outcome<bool> {
    if config.is_null() {
        return Ok(true);
    }
    let config = unsafe { config.read_unaligned() };
    let text = "the configuration does not begin as NCCL_CONFIG_INITIALIZER says";
    ensure(config.magic == MAGIC, text)?;
    Ok(config.blocking != 0)
}

/// Begins a communicator.
unsafe fn begin(
    out: *mut usize,
    n_ranks: c_int,
    id: &UniqueId,
    rank: c_int,
    config: *const Config,
) -> Outcome {
    ensure(!out.is_null(), "the place for the communicator is null")?;
    let text = format_args!("there is no rank {rank} of {n_ranks}");
    ensure((0..n_ranks).contains(&rank), text)?;
    let is_blocking = unsafe { is_blocking(config)? };
    let part = Part {
        hub: id.name(),
        rank: rank as usize,
        n_ranks: n_ranks as usize,
    };
    unsafe {
        out.write_unaligned(0);
        let handle = Comm::begin(&part, is_blocking)?;
        out.write_unaligned(handle);
        group::begin(handle, out)
    }
}

/// The devices of a communicator of one process.
unsafe fn devices(n: c_int, list: *const c_int) -> Outcome<Vec<c_int>> {
    let n_devices = sim_runtime::current::n_devices()?;
    let text = format_args!("{n} devices are asked for, and there are {n_devices}");
    ensure((1..=n_devices).contains(&n), text)?;
    let devices: Vec<c_int> = match list.is_null() {
        true => (0..n).collect(),
        false => (0..n as usize)
            .map(|i| unsafe { list.add(i).read() })
            .collect(),
    };
    for (i, device) in devices.iter().enumerate() {
        let text = format_args!("there is no device {device}");
        ensure((0..n_devices).contains(device), text)?;
        if devices[..i].contains(device) {
            let text = format_args!("device {device} is listed twice");
            return Err(Code::INVALID_USAGE.because(text));
        }
    }
    Ok(devices)
}

/// Begins communicators of one process.
unsafe fn begin_all(out: *mut usize, devices: &[c_int]) -> Outcome {
    let hub = hub::start()?;
    group::start();
    let begin = |rank: usize| -> Outcome {
        let part = Part {
            hub: hub.clone(),
            rank,
            n_ranks: devices.len(),
        };
        let context = sim_runtime::current::primary(devices[rank])?;
        let handle = Comm::begin_in(context, &part, true)?;
        let place = unsafe { out.add(rank) };
        unsafe { place.write_unaligned(handle) };
        group::begin(handle, place)
    };
    let begun: Outcome = (0..devices.len()).try_for_each(begin);
    if let Err(failure) = &begun {
        group::note(failure);
    }
    group::end()
}

api! {
    fn ncclGetUniqueId(out: *mut UniqueId) {
        ensure(!out.is_null(), "the place for the id is null")?;
        put(out, UniqueId::of(&hub::start()?))
    }
    fn ncclCommInitRank(out: *mut usize, n_ranks: c_int, id: UniqueId, rank: c_int) {
        begin(out, n_ranks, &id, rank, std::ptr::null())
    }
    fn ncclCommInitRankConfig(out: *mut usize, n_ranks: c_int, id: UniqueId, rank: c_int, config: *const Config) {
        begin(out, n_ranks, &id, rank, config)
    }
    // The first id is enough for all ranks of one machine.
    fn ncclCommInitRankScalable(out: *mut usize, n_ranks: c_int, rank: c_int, n_ids: c_int, ids: *const UniqueId, config: *const Config) {
        ensure(n_ids > 0 && !ids.is_null(), "there is no id")?;
        begin(out, n_ranks, &ids.read_unaligned(), rank, config)
    }
    fn ncclCommInitAll(out: *mut usize, n: c_int, list: *const c_int) {
        ensure(!out.is_null(), "the place for the communicators is null")?;
        let devices = devices(n, list)?;
        begin_all(out, &devices)
    }
    fn ncclCommSplit(comm: usize, color: c_int, key: c_int, out: *mut usize, config: *const Config) {
        let comm = Comm::of(comm)?;
        ensure(!out.is_null(), "the place for the communicator is null")?;
        let text = format_args!("color {color} is negative, and not NCCL_SPLIT_NOCOLOR");
        ensure(color >= 0 || color == NO_COLOR, text)?;
        let is_blocking = is_blocking(config)?;
        out.write_unaligned(0);
        comm.connection.ask_split(color, key)?;
        group::split(comm, is_blocking, out)
    }
    fn ncclCommShrink(_comm: usize, _excluded: *const c_int, _n: c_int, _out: *mut usize, _config: *const Config, _flags: c_int) {
        not_supported()
    }

    fn ncclCommFinalize(comm: usize) {
        Comm::of(comm)?.finish();
        Ok(())
    }
    fn ncclCommDestroy(comm: usize) {
        if comm == 0 {
            return Ok(());
        }
        let comm = Comm::remove(comm)?;
        comm.finish();
        comm.connection.leave(Farewell::Destroyed);
        Ok(())
    }
    fn ncclCommAbort(comm: usize) {
        if comm == 0 {
            return Ok(());
        }
        let comm = Comm::remove(comm)?;
        comm.connection.leave(Farewell::Aborted);
        Ok(())
    }

    fn ncclCommCount(comm: usize, out: *mut c_int) {
        put(out, Comm::of(comm)?.n_ranks as c_int)
    }
    fn ncclCommUserRank(comm: usize, out: *mut c_int) {
        put(out, Comm::of(comm)?.rank as c_int)
    }
    fn ncclCommCuDevice(comm: usize, out: *mut c_int) {
        put(out, Comm::of(comm)?.device)
    }
}
