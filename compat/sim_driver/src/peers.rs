//! Access to the memory of other devices: from one context to another, or to a pool.
//!
//! The simulator's devices have access to all memory of another one, or to none: as soon as one
//! context has access, or a pool allows it, all kernels of the device have.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::context::Context;
use crate::driver::{SimDevice, driver};
use crate::status::{Outcome, Status};

/// Why a device has access to another one's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    /// A context has it to another one; their handles.
    Contexts(usize, usize),
    /// A pool allows it; its handle.
    Pool(usize),
}

/// A reason, the number of the device that has access, and that of the device whose memory it is.
type Access = (Why, u32, u32);

static ACCESSES: Mutex<BTreeSet<Access>> = Mutex::new(BTreeSet::new());

fn accesses() -> MutexGuard<'static, BTreeSet<Access>> {
    ACCESSES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a device can have access to the memory of another one.
pub fn can_access(device: &SimDevice, peer: &SimDevice) -> bool {
    device.ordinal != peer.ordinal
}

/// Whether kernels of a device may use the memory of a device: its own, or another one's.
pub fn has_access(device: &SimDevice, peer: &SimDevice) -> bool {
    device.ordinal == peer.ordinal || device.sim.is_peer_enabled(&peer.sim)
}

/// Adds a reason; an error if it was there already.
fn add(all: &mut BTreeSet<Access>, access: Access) -> Outcome {
    Status::PEER_ACCESS_ALREADY_ENABLED.when(!all.insert(access))?;
    settle(all, access)
}

/// Removes a reason; an error if it was not there.
fn remove(all: &mut BTreeSet<Access>, access: Access) -> Outcome {
    Status::PEER_ACCESS_NOT_ENABLED.when(!all.remove(&access))?;
    settle(all, access)
}

/// Gives or takes away what there is a reason for, or no longer.
fn settle(all: &BTreeSet<Access>, (_, from, to): Access) -> Outcome {
    let devices = &driver()?.devices;
    let [device, peer] = [from, to].map(|number| &devices[number as usize].sim);
    let has_reason = all.iter().any(|&(_, a, b)| (a, b) == (from, to));
    // It may be so already.
    let _ = match has_reason {
        true => device.enable_peer(peer),
        false => device.disable_peer(peer),
    };
    Ok(())
}

impl Context {
    fn access_to(&self, peer: &Self) -> Access {
        let why = Why::Contexts(self.handle, peer.handle);
        (why, self.device.ordinal, peer.device.ordinal)
    }

    /// Lets kernels use the memory of another context.
    pub fn enable_peer(&self, peer: &Self) -> Outcome {
        Status::INVALID_CONTEXT.when(self.handle == peer.handle)?;
        Status::PEER_ACCESS_UNSUPPORTED.when(!can_access(&self.device, &peer.device))?;
        add(&mut accesses(), self.access_to(peer))
    }

    /// The opposite.
    pub fn disable_peer(&self, peer: &Self) -> Outcome {
        remove(&mut accesses(), self.access_to(peer))
    }

    /// Ends all access from and to a context that ends.
    pub(crate) fn forget_peers(&self) {
        let is_own = |why| matches!(why, Why::Contexts(a, b) if [a, b].contains(&self.handle));
        forget(is_own);
    }
}

/// Lets a device use the memory of a pool of another one, or not.
pub fn set_pool_access(pool: usize, device: u32, owner: u32, may: bool) -> Outcome {
    let access = (Why::Pool(pool), device, owner);
    let all = &mut accesses();
    // It may be so already.
    let _ = match may {
        true => add(all, access),
        false => remove(all, access),
    };
    Ok(())
}

/// Whether a device may use the memory of a pool of another one.
pub fn has_pool_access(pool: usize, device: u32, owner: u32) -> bool {
    accesses().contains(&(Why::Pool(pool), device, owner))
}

/// Ends all access to a pool that ends.
pub fn forget_pool(pool: usize) {
    forget(|why| why == Why::Pool(pool));
}

fn forget(is_meant: impl Fn(Why) -> bool) {
    let all = &mut accesses();
    let gone: Vec<Access> = all
        .iter()
        .copied()
        .filter(|&(why, ..)| is_meant(why))
        .collect();
    for access in gone {
        let _ = remove(all, access);
    }
}
