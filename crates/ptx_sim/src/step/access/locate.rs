//! Checking an access and finding its bytes.
//!
//! A warp's access is checked as a whole: if the lowest and highest addresses
//! lie in one allocation, all do. Only where that fails is each lane looked
//! at, to find the one at fault or because the lanes use several allocations.

use super::super::{Env, PathView, Trouble};
use crate::checks::observer::Observer;
use crate::diagnostics::{AccessKind, FaultKind, Relation};
use crate::ir::Space;
use crate::lanes::{FULL_MASK, WARP_SIZE, lanes};
use crate::memory::address::{NULL_PAGE, space_of};
use crate::memory::global::Purpose;
use crate::memory::local::LOCAL_START;
use crate::warp::Warp;

/// Where the lanes' bytes are.
pub(crate) enum Located {
    /// In host memory: lane `l`'s bytes at this address plus its address.
    Biased(*mut u8),
    /// In host memory, each lane's somewhere else.
    Each(Box<[*mut u8; WARP_SIZE]>),
    /// In the warp's local memory, at the lanes' offsets.
    Local,
}

impl Located {
    /// Lane `lane`'s bytes, which are not in local memory.
    #[inline(always)]
    pub fn host(&self, addresses: &[u64; WARP_SIZE], lane: usize) -> *mut u8 {
        match self {
            Self::Biased(base) => base.wrapping_add(addresses[lane] as usize),
            Self::Each(pointers) => pointers[lane],
            Self::Local => std::ptr::null_mut(),
        }
    }
}

/// Lowest and highest address of the active lanes, and all of them ORed.
#[inline(always)]
fn span(addresses: &[u64; WARP_SIZE], request: &Request) -> (u64, u64, u64) {
    let mask = request.mask;
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
pub(crate) struct Request {
    /// The space, generic addresses resolved.
    pub space: Space,
    /// Bytes per lane, and the alignment they need.
    pub bytes: u32,
    /// Active lanes.
    pub mask: u32,
    /// What it does.
    pub kind: AccessKind,
    /// As [`Addresses::stride`], where it is known.
    pub stride: Option<u64>,
}

/// Checks an access and finds its bytes.
#[inline(always)]
pub(crate) fn locate<O: Observer>(
    env: &Env<'_, O>,
    warp: &Warp,
    view: &PathView<'_>,
    addresses: &[u64; WARP_SIZE],
    request: Request,
) -> Result<Located, Trouble> {
    let (low, high, bits) = span(addresses, &request);
    let bytes = u64::from(request.bytes);
    if bits & (bytes - 1) == 0 && high.checked_add(bytes).is_some() {
        match request.space {
            Space::Global | Space::Const | Space::Generic => {
                if let Some(allocation) = env.launch.memory.find(low)
                    && let Some(host) = allocation.host()
                    && allocation.contains(low, high - low + bytes)
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
                let end = u64::from(view.local_base + view.function.local_bytes);
                if low >= u64::from(LOCAL_START) && high + bytes <= end {
                    return Ok(Located::Local);
                }
            }
            Space::Param => {
                let params = env.launch.params();
                if high + bytes <= params.1 && request.kind == AccessKind::Load {
                    return Ok(Located::Biased(params.0.cast_mut()));
                }
            }
        }
    }
    locate_each(env, warp, view, addresses, request)
}

/// As [`locate`], lane by lane: either finds the lane at fault, or the lanes'
/// bytes lie in several allocations.
#[cold]
fn locate_each<O: Observer>(
    env: &Env<'_, O>,
    warp: &Warp,
    view: &PathView<'_>,
    addresses: &[u64; WARP_SIZE],
    request: Request,
) -> Result<Located, Trouble> {
    let mut pointers = Box::new([std::ptr::null_mut(); WARP_SIZE]);
    for lane in lanes(request.mask) {
        let address = addresses[lane];
        if let Err(kind) = check_lane(env, view, address, request) {
            return Err(Trouble::Fault {
                lane: lane as u32,
                kind,
            });
        }
        if request.space == Space::Local {
            continue;
        }
        let single = Request {
            mask: 1 << lane,
            stride: None,
            ..request
        };
        match locate_one(env, warp, view, addresses, single)? {
            Located::Biased(base) => pointers[lane] = base.wrapping_add(address as usize),
            Located::Each(_) | Located::Local => {
                let message = format!("an access at {address:#x} passed no check and failed none");
                return Err(Trouble::Internal(message));
            }
        }
    }
    Ok(match request.space {
        Space::Local => Located::Local,
        _ => Located::Each(pointers),
    })
}

/// [`locate`], not part of its caller.
#[inline(never)]
fn locate_one<O: Observer>(
    env: &Env<'_, O>,
    warp: &Warp,
    view: &PathView<'_>,
    addresses: &[u64; WARP_SIZE],
    request: Request,
) -> Result<Located, Trouble> {
    locate(env, warp, view, addresses, request)
}

/// What is wrong with one lane's access, if anything.
fn check_lane<O: Observer>(
    env: &Env<'_, O>,
    view: &PathView<'_>,
    address: u64,
    request: Request,
) -> Result<(), FaultKind> {
    let Request {
        space,
        bytes,
        kind: access,
        ..
    } = request;
    let size = u64::from(bytes);
    let (inside, relation) = match space {
        Space::Global | Space::Const | Space::Generic => {
            let actual = space_of(address);
            if actual != Space::Global {
                let expected = space;
                return Err(FaultKind::WrongSpace {
                    access,
                    expected,
                    actual,
                    address,
                    bytes,
                });
            }
            if address < NULL_PAGE {
                return Err(FaultKind::NullPointer {
                    access,
                    address,
                    bytes,
                });
            }
            let memory = env.launch.memory;
            match memory.find(address).or_else(|| memory.nearest(address)) {
                None => (false, Relation::Nowhere),
                Some(allocation) => {
                    let relation = Relation::Near {
                        label: allocation.label.clone(),
                        size_bytes: allocation.size_bytes,
                        offset: i128::from(address) - i128::from(allocation.base),
                    };
                    let inside = allocation.contains(address, size);
                    if inside && allocation.host().is_none() {
                        return Err(FaultKind::UseAfterFree {
                            access,
                            address,
                            bytes,
                            relation,
                        });
                    }
                    if inside
                        && allocation.purpose == Purpose::Constant
                        && access != AccessKind::Load
                    {
                        return Err(FaultKind::ReadOnly {
                            access,
                            address,
                            bytes,
                            relation,
                        });
                    }
                    (inside, relation)
                }
            }
        }
        Space::Shared => {
            let total = u64::from(env.shared.size_bytes());
            if address >> 32 != 0 {
                let actual = space_of(address);
                if actual != Space::Global || env.launch.memory.find(address).is_some() {
                    return Err(FaultKind::WrongSpace {
                        access,
                        expected: space,
                        actual,
                        address,
                        bytes,
                    });
                }
            }
            let inside = address.checked_add(size).is_some_and(|end| end <= total);
            (inside, env.launch.shared_relation(address))
        }
        Space::Local => {
            let start = u64::from(LOCAL_START);
            let end = u64::from(view.local_base + view.function.local_bytes);
            let inside =
                address >= start && address.checked_add(size).is_some_and(|past| past <= end);
            let relation = Relation::Near {
                label: "the thread's local memory".to_owned(),
                size_bytes: end.saturating_sub(start),
                offset: i128::from(address) - i128::from(start),
            };
            (inside, relation)
        }
        Space::Param => {
            let total = env.launch.params().1;
            let relation = Relation::Near {
                label: "the kernel's parameters".to_owned(),
                size_bytes: total,
                offset: i128::from(address),
            };
            let inside = address.checked_add(size).is_some_and(|end| end <= total);
            if inside && access != AccessKind::Load {
                return Err(FaultKind::ReadOnly {
                    access,
                    address,
                    bytes,
                    relation,
                });
            }
            (inside, relation)
        }
    };
    if !inside {
        return Err(FaultKind::OutOfBounds {
            access,
            space,
            address,
            bytes,
            relation,
        });
    }
    if !address.is_multiple_of(size) {
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
