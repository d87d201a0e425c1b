//! The check of an access, and the location of its bytes.
//!
//! A warp's access is checked as a whole: if the lowest and highest addresses
//! lie in one allocation, all do. Only if that fails is each lane checked, to find the one
//! at fault or because the lanes use several allocations.

use super::super::context::Step;
use crate::checks::access::{AccessClass, WarpAccess};
use crate::checks::observer::Observer;
use crate::diagnostics::{AccessKind, FaultKind, Relation, WrongBlock};
use crate::lanes::{FULL_MASK, WARP_SIZE, lanes};
use crate::memory::address::{NULL_PAGE, Owner, owner_of, space_of};
use crate::memory::allocation::{Allocation, Purpose};
use crate::memory::heap::ordinal_of;
use crate::memory::wrong_space::other_space;
use crate::stop::Stop;
use ptx::ir::Space;

/// An address so far from every allocation has nothing to do with them.
const FAR: u64 = 1 << 40;

/// Where the lanes' bytes are.
pub(in crate::step) enum Located {
    /// In host memory: lane `l`'s bytes at this address plus its address.
    Biased(*mut u8),
    /// In host memory, somewhere else for each lane.
    Each(Box<[*mut u8; WARP_SIZE]>),
    /// In the warp's local memory, at the lanes' offsets.
    Local,
}

impl Located {
    /// Lane `lane`'s bytes, which are not in local memory: the caller ensures that.
    #[inline(always)]
    pub fn host(&self, addresses: &[u64; WARP_SIZE], lane: usize) -> *mut u8 {
        match self {
            Self::Biased(base) => base.wrapping_add(addresses[lane] as usize),
            Self::Each(pointers) => pointers[lane],
            Self::Local => {
                debug_assert!(false, "local memory has no address on the host");
                std::ptr::null_mut()
            }
        }
    }
}

/// Lowest and highest address of the active lanes, and all of them ORed.
#[inline(always)]
fn span(request: &Request<'_>) -> (u64, u64, u64) {
    let (mask, addresses) = (request.mask, request.addresses);
    if mask == FULL_MASK {
        let (first, last) = (addresses[0], addresses[WARP_SIZE - 1]);
        if let Some(stride) = request.stride
            && first <= last
            && stride < 1 << 48
        {
            // All are aligned if the first one and the stride are.
            return (first, last, first | stride);
        }
    }
    if mask == FULL_MASK && addresses.iter().fold(0, |all, address| all | address) >> 32 == 0 {
        // Vectors compare 32 bits at once.
        let (mut low, mut high, mut bits) = (u32::MAX, 0, 0);
        for &address in addresses {
            let address = address as u32;
            (low, high, bits) = (low.min(address), high.max(address), bits | address);
        }
        return (low.into(), high.into(), bits.into());
    }
    let first = addresses[mask.trailing_zeros() as usize % WARP_SIZE];
    let (mut low, mut high, mut bits) = (first, first, first);
    for (lane, &address) in addresses.iter().enumerate() {
        let address = if mask >> lane & 1 != 0 {
            address
        } else {
            first
        };
        low = low.min(address);
        high = high.max(address);
        bits |= address;
    }
    (low, high, bits)
}

/// An access to be located.
#[derive(Clone, Copy)]
pub(in crate::step) struct Request<'a> {
    /// The space, generic addresses resolved.
    pub space: Space,
    /// Bytes per lane, and the alignment they need.
    pub bytes: u32,
    /// Active lanes.
    pub mask: u32,
    /// What it does.
    pub kind: AccessKind,
    /// Addresses in the space, by lane; meaningless for inactive lanes.
    pub addresses: &'a [u64; WARP_SIZE],
    /// Bytes from each lane's address to the next one's, where that is known.
    pub stride: Option<u64>,
}

impl<'a> Request<'a> {
    /// The access as observers are notified of it, without further details.
    #[inline(always)]
    pub fn observed<O: Observer>(
        &self,
        step: &Step<'_, '_, O>,
        class: AccessClass,
    ) -> WarpAccess<'a> {
        let lanes = step.lanes(self.mask);
        WarpAccess {
            stride: self.stride,
            owner: step.env.owner,
            ..WarpAccess::new(lanes, class, self.space, self.bytes, self.addresses)
        }
    }
}

/// Checks an access and finds its bytes.
#[inline(always)]
pub(in crate::step) fn locate<O: Observer>(
    step: &Step<'_, '_, O>,
    request: Request<'_>,
) -> Result<Located, Stop> {
    let (low, high, bits) = span(&request);
    let bytes = u64::from(request.bytes);
    if bits & (bytes - 1) == 0 && high.checked_add(bytes).is_some() {
        let env = &*step.env;
        match request.space {
            Space::Global | Space::Const | Space::Generic => {
                if let Some(allocation) = step.launch.memory.find(low)
                    && let Some(host) = allocation.host()
                    && allocation.is_open(low, high - low + bytes)
                    && (request.kind == AccessKind::Load || allocation.purpose != Purpose::Constant)
                {
                    let base = host.as_ptr().wrapping_sub(allocation.base as usize);
                    return Ok(Located::Biased(base));
                }
            }
            Space::Shared => {
                if high + bytes <= u64::from(env.shared.size_bytes()) {
                    return Ok(Located::Biased(env.shared.host()));
                }
            }
            Space::Local => {
                let end = u64::from(step.view.local_base + step.view.function.local_bytes);
                if low >= u64::from(step.launch.local_start()) && high + bytes <= end {
                    return Ok(Located::Local);
                }
            }
            Space::Param => {
                let params = step.launch.params();
                if high + bytes <= params.1 && request.kind == AccessKind::Load {
                    return Ok(Located::Biased(params.0.cast_mut()));
                }
            }
        }
    }
    locate_each(step, request)
}

/// As [`locate`], lane by lane: either finds the lane at fault, or the lanes'
/// bytes lie in several allocations.
#[cold]
fn locate_each<O: Observer>(step: &Step<'_, '_, O>, request: Request<'_>) -> Result<Located, Stop> {
    let mut pointers = Box::new([std::ptr::null_mut(); WARP_SIZE]);
    for lane in lanes(request.mask) {
        let address = request.addresses[lane];
        if let Err(kind) = check_lane(step, address, &request) {
            return Err(Stop::fault(1 << lane, kind));
        }
        if request.space == Space::Local {
            continue;
        }
        if let Some(pointer) = in_a_heap(step, address, &request) {
            pointers[lane] = pointer;
            continue;
        }
        let single = Request {
            mask: 1 << lane,
            stride: None,
            ..request
        };
        match locate_one(step, single)? {
            Located::Biased(base) => pointers[lane] = base.wrapping_add(address as usize),
            Located::Each(_) | Located::Local => {
                let message = format!("an access at {address:#x} passed no check and failed none");
                return Err(Stop::internal(message));
            }
        }
    }
    // Loads read for all lanes at once.
    let first = pointers[request.mask.trailing_zeros() as usize % WARP_SIZE];
    for lane in lanes(!request.mask) {
        pointers[lane] = first;
    }
    Ok(match request.space {
        Space::Local => Located::Local,
        _ => Located::Each(pointers),
    })
}

/// [`locate`], not part of its caller.
#[inline(never)]
fn locate_one<O: Observer>(step: &Step<'_, '_, O>, request: Request<'_>) -> Result<Located, Stop> {
    locate(step, request)
}

/// What is wrong with one lane's access, if anything.
fn check_lane<O: Observer>(
    step: &Step<'_, '_, O>,
    address: u64,
    request: &Request<'_>,
) -> Result<(), FaultKind> {
    let &Request {
        space,
        bytes,
        kind: access,
        ..
    } = request;
    let (inside, relation) = match space {
        Space::Global | Space::Const | Space::Generic => in_global(step, address, request)?,
        Space::Shared => in_shared(step, address, request)?,
        Space::Local => in_local(step, address, request),
        Space::Param => in_params(step, address, request)?,
    };
    if !inside {
        if let Some(actual) = other_space(step.launch.memory, address, space) {
            return Err(wrong_space(address, request, actual));
        }
        return Err(FaultKind::OutOfBounds {
            access,
            space,
            address,
            bytes,
            relation,
        });
    }
    if !address.is_multiple_of(u64::from(bytes)) {
        return Err(FaultKind::Misaligned {
            access,
            space,
            address,
            bytes,
            relation,
        });
    }
    Ok(())
}

/// Where a lane's bytes are on the host, if kernels have allocated them by `malloc`.
fn in_a_heap<O: Observer>(
    step: &Step<'_, '_, O>,
    address: u64,
    request: &Request<'_>,
) -> Option<*mut u8> {
    let is_global = matches!(request.space, Space::Global | Space::Const | Space::Generic);
    let allocation = step.launch.memory.find(address).filter(|_| is_global)?;
    allocation.heap.as_ref()?;
    let offset = (address - allocation.base) as usize;
    Some(allocation.host()?.as_ptr().wrapping_add(offset))
}

/// Whether a lane's bytes lie in one allocation, and where that is.
fn in_global<O: Observer>(
    step: &Step<'_, '_, O>,
    address: u64,
    request: &Request<'_>,
) -> Result<(bool, Relation), FaultKind> {
    let &Request {
        bytes,
        kind: access,
        ..
    } = request;
    let actual = space_of(address);
    if actual != Space::Global {
        return Err(wrong_space(address, request, actual));
    }
    if address < NULL_PAGE {
        return Err(FaultKind::NullPointer {
            access,
            address,
            bytes,
        });
    }
    let memory = step.launch.memory;
    if let Some(fault) = not_a_peer(step, address, request) {
        return Err(fault);
    }
    let near = |a: &&Allocation| address.abs_diff(a.base) < FAR;
    let nearest = || memory.nearest(address).filter(near);
    let Some(allocation) = memory.find(address).or_else(nearest) else {
        return Ok((false, Relation::Nowhere));
    };
    let (inside, relation, is_freed) = match &allocation.heap {
        Some(heap) => heap.find(address, u64::from(bytes)),
        None => (
            allocation.contains(address, u64::from(bytes)),
            allocation.relation(address),
            allocation.host().is_none(),
        ),
    };
    if inside && is_freed {
        return Err(FaultKind::UseAfterFree {
            access,
            address,
            bytes,
            relation,
        });
    }
    if inside && allocation.purpose == Purpose::Constant && access != AccessKind::Load {
        return Err(FaultKind::ReadOnly {
            access,
            address,
            bytes,
            relation,
        });
    }
    Ok((inside, relation))
}

/// An address in the memory of a device that this one has no access to.
fn not_a_peer<O: Observer>(
    step: &Step<'_, '_, O>,
    address: u64,
    request: &Request<'_>,
) -> Option<FaultKind> {
    let launch = step.launch;
    let device = ordinal_of(address).filter(|&owner| launch.device.is_some_and(|d| d != owner))?;
    if launch.memory.find(address).is_some() {
        return None;
    }
    let there = launch.machine.find(address)?;
    Some(FaultKind::NotAPeer {
        access: request.kind,
        address,
        bytes: request.bytes,
        device,
        relation: there.relation(address),
    })
}

/// Whether a lane's bytes lie in the block's shared memory, and where that is.
fn in_shared<O: Observer>(
    step: &Step<'_, '_, O>,
    address: u64,
    request: &Request<'_>,
) -> Result<(bool, Relation), FaultKind> {
    if step.launch.has_ranks
        && let (Owner::Rank(rank), address) = owner_of(address)
    {
        return Err(FaultKind::WrongBlock {
            access: request.kind,
            address,
            bytes: request.bytes,
            why: WrongBlock::NotOwn { rank },
        });
    }
    let total = u64::from(step.env.shared.size_bytes());
    let past = address.checked_add(u64::from(request.bytes));
    let inside = past.is_some_and(|past| past <= total);
    Ok((inside, step.launch.shared_relation(address)))
}

/// Whether a lane's bytes lie in its own memory, and where that is.
fn in_local<O: Observer>(
    step: &Step<'_, '_, O>,
    address: u64,
    request: &Request<'_>,
) -> (bool, Relation) {
    let start = u64::from(step.launch.local_start());
    let end = u64::from(step.view.local_base + step.view.function.local_bytes);
    let past = address.checked_add(u64::from(request.bytes));
    let inside = address >= start && past.is_some_and(|past| past <= end);
    let relation = Relation::Near {
        label: "the thread's local memory".to_owned(),
        size_bytes: end.saturating_sub(start),
        offset: i128::from(address) - i128::from(start),
    };
    (inside, relation)
}

/// Whether a lane's bytes lie in the kernel's parameters, and where that is.
fn in_params<O: Observer>(
    step: &Step<'_, '_, O>,
    address: u64,
    request: &Request<'_>,
) -> Result<(bool, Relation), FaultKind> {
    let &Request {
        bytes,
        kind: access,
        ..
    } = request;
    let total = step.launch.params().1;
    let relation = Relation::Near {
        label: "the kernel's parameters".to_owned(),
        size_bytes: total,
        offset: i128::from(address),
    };
    let past = address.checked_add(u64::from(bytes));
    let inside = past.is_some_and(|past| past <= total);
    if inside && access != AccessKind::Load {
        return Err(FaultKind::ReadOnly {
            access,
            address,
            bytes,
            relation,
        });
    }
    Ok((inside, relation))
}

fn wrong_space(address: u64, request: &Request<'_>, actual: Space) -> FaultKind {
    FaultKind::WrongSpace {
        access: request.kind,
        expected: request.space,
        actual,
        address,
        bytes: request.bytes,
    }
}
