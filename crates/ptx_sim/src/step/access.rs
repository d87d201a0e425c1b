//! Loads and stores: finding the bytes, checking them, moving them.
//!
//! A warp's access is checked as a whole: if the lowest and highest addresses
//! lie in one allocation, all do. Only where that fails is each lane looked
//! at. Lanes that read or write neighbouring words are served by one copy.
//!
//! Host threads share global memory. Each element is moved by one relaxed
//! atomic operation (so a race in the kernel is not undefined behaviour here),
//! except that a launch on a single worker copies whole rows at once.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

use super::predicate::lanes;
use super::{Env, PathView, Stop, Trouble, poll};
use crate::checks::{AccessClass, Observer, WarpAccess};
use crate::diagnostics::{AccessKind, FaultKind, Relation};
use crate::ir::Space;
use crate::lanes::{FULL_MASK, WARP_SIZE};
use crate::memory::address::{NULL_PAGE, space_of, window_base};
use crate::memory::global::Purpose;
use crate::memory::local::LOCAL_START;
use crate::program::{Access, AddressOperand};
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

/// Computes the lanes' addresses.
#[inline]
pub(crate) fn addresses(view: &PathView<'_>, op: &AddressOperand) -> [u64; WARP_SIZE] {
    let mut out = [0; WARP_SIZE];
    // SAFETY: The decoder made the slot for lanes of this width.
    unsafe {
        if op.wide {
            let base = view.regs.lanes::<u64>(op.slot);
            for lane in 0..WARP_SIZE {
                out[lane] = base[lane].wrapping_add(op.offset as u64);
            }
        } else {
            let base = view.regs.lanes::<u32>(op.slot);
            for lane in 0..WARP_SIZE {
                out[lane] = u64::from(base[lane].wrapping_add(op.offset as u32));
            }
        }
    }
    out
}

/// Whether all lanes are active and each begins where the one before ends.
#[inline]
pub(crate) fn is_contiguous(addresses: &[u64; WARP_SIZE], bytes: u32, mask: u32) -> bool {
    if mask != FULL_MASK {
        return false;
    }
    let first = addresses[0];
    let mut difference = 0;
    for (lane, address) in addresses.iter().enumerate() {
        difference |= address ^ first.wrapping_add(lane as u64 * u64::from(bytes));
    }
    difference == 0
}

/// Lowest and highest address of the active lanes, and all of them ORed.
#[inline]
fn span(addresses: &[u64; WARP_SIZE], mask: u32) -> (u64, u64, u64) {
    let (mut low, mut high, mut bits) = (u64::MAX, 0, 0);
    if mask == FULL_MASK {
        for &address in addresses {
            low = low.min(address);
            high = high.max(address);
            bits |= address;
        }
    } else {
        for lane in lanes(mask) {
            low = low.min(addresses[lane]);
            high = high.max(addresses[lane]);
            bits |= addresses[lane];
        }
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
}

/// Checks an access and finds its bytes.
pub(crate) fn locate<O: Observer>(
    env: &Env<'_, O>,
    warp: &Warp,
    view: &PathView<'_>,
    addresses: &[u64; WARP_SIZE],
    request: Request,
) -> Result<Located, Trouble> {
    let (low, high, bits) = span(addresses, request.mask);
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
            ..request
        };
        match locate(env, warp, view, addresses, single)? {
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

/// Splits a generic access by the spaces that its addresses lie in, and calls
/// `part` for each with addresses in that space. Mostly there is one.
pub(crate) fn by_space(
    addresses: &mut [u64; WARP_SIZE],
    mask: u32,
    mut part: impl FnMut(Space, &mut [u64; WARP_SIZE], u32) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut left = mask;
    while left != 0 {
        let space = space_of(addresses[left.trailing_zeros() as usize]);
        let mut same = 0;
        for lane in lanes(left) {
            same |= u32::from(space_of(addresses[lane]) == space) << lane;
        }
        let base = window_base(space);
        if base != 0 {
            for lane in lanes(same) {
                addresses[lane] -= base;
            }
        }
        part(space, addresses, same)?;
        left &= !same;
    }
    Ok(())
}

/// `ld`
pub(crate) fn load<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &Access,
    mask: u32,
) -> Result<(), Stop> {
    if op.polls {
        poll(env, warp, 1);
    }
    let mut addresses = addresses(view, &op.address);
    if op.space == Space::Generic {
        return by_space(&mut addresses, mask, |space, addresses, mask| {
            load_in(env, warp, view, ptx, op, space, addresses, mask)
        });
    }
    load_in(env, warp, view, ptx, op, op.space, &addresses, mask)
}

/// `st`
pub(crate) fn store<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &Access,
    mask: u32,
) -> Result<(), Stop> {
    warp.idle_polls = 0;
    let mut addresses = addresses(view, &op.address);
    if op.space == Space::Generic {
        return by_space(&mut addresses, mask, |space, addresses, mask| {
            store_in(env, warp, view, ptx, op, space, addresses, mask)
        });
    }
    store_in(env, warp, view, ptx, op, op.space, &addresses, mask)
}

#[allow(clippy::too_many_arguments)] // The instruction's context, passed on.
fn load_in<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &Access,
    space: Space,
    addresses: &[u64; WARP_SIZE],
    mask: u32,
) -> Result<(), Stop> {
    let bytes = op.element_bytes * op.registers.len() as u32;
    let request = Request {
        space,
        bytes,
        mask,
        kind: AccessKind::Load,
    };
    let located = locate(env, warp, view, addresses, request)?;
    let contiguous = is_contiguous(addresses, bytes, mask);
    if O::ON {
        env.observer.access(
            view.function.first_instruction + ptx,
            &WarpAccess {
                class: AccessClass::Load,
                space,
                bytes,
                mask,
                addresses,
                contiguous,
            },
        );
    }
    if let Located::Local = located {
        local_load(warp, view, op, addresses, mask);
        return Ok(());
    }
    if contiguous
        && let [Some(slot)] = op.registers[..]
        && op.element_bytes == op.register_bytes
        && let Located::Biased(_) = located
    {
        let from = located.host(addresses, 0);
        let n_bytes = op.element_bytes as usize * WARP_SIZE;
        // SAFETY: `locate` found all lanes' bytes, aligned; the decoder made
        // the slot for 32 lanes of this width, in memory of its own.
        unsafe {
            let to = view.regs.0.add(slot as usize);
            if env.launch.exclusive || space == Space::Shared {
                std::ptr::copy_nonoverlapping(from, to, n_bytes);
            } else {
                copy_out_shared(from, to, n_bytes);
            }
        }
        return Ok(());
    }
    for (i, register) in op.registers.iter().enumerate() {
        let Some(slot) = *register else { continue };
        let offset = i * op.element_bytes as usize;
        let host = |lane| located.host(addresses, lane).wrapping_add(offset);
        // SAFETY: `locate` found the bytes of every active lane, aligned; the
        // decoder made the slot for lanes of `register_bytes`.
        unsafe {
            match (op.element_bytes, op.register_bytes, op.signed) {
                (4, 4, _) => gather(view, slot, mask, |l| read32(host(l))),
                (8, 8, _) => gather(view, slot, mask, |l| read64(host(l))),
                (2, 2, _) => gather(view, slot, mask, |l| read16(host(l))),
                (1, 4, false) => gather(view, slot, mask, |l| u32::from(read8(host(l)))),
                (2, 4, false) => gather(view, slot, mask, |l| u32::from(read16(host(l)))),
                (1, 2, false) => gather(view, slot, mask, |l| u16::from(read8(host(l)))),
                (16, 16, _) => gather(view, slot, mask, |l| {
                    u128::from(read64(host(l))) | u128::from(read64(host(l).add(8))) << 64
                }),
                (element, register, signed) => {
                    for lane in lanes(mask) {
                        let value = read_element(host(lane), element);
                        view.regs
                            .set(slot, register, lane, extend(value, element, signed));
                    }
                }
            }
        }
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)] // The instruction's context, passed on.
fn store_in<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &Access,
    space: Space,
    addresses: &[u64; WARP_SIZE],
    mask: u32,
) -> Result<(), Stop> {
    let bytes = op.element_bytes * op.registers.len() as u32;
    let request = Request {
        space,
        bytes,
        mask,
        kind: AccessKind::Store,
    };
    let located = locate(env, warp, view, addresses, request)?;
    let contiguous = is_contiguous(addresses, bytes, mask);
    if O::ON {
        env.observer.access(
            view.function.first_instruction + ptx,
            &WarpAccess {
                class: AccessClass::Store,
                space,
                bytes,
                mask,
                addresses,
                contiguous,
            },
        );
    }
    if let Located::Local = located {
        local_store(warp, view, op, addresses, mask);
        return Ok(());
    }
    if contiguous
        && let [Some(slot)] = op.registers[..]
        && op.element_bytes == op.register_bytes
        && let Located::Biased(_) = located
    {
        let to = located.host(addresses, 0);
        let n_bytes = op.element_bytes as usize * WARP_SIZE;
        // SAFETY: As in `load_in`, the other way round.
        unsafe {
            let from = view.regs.0.add(slot as usize);
            if env.launch.exclusive || space == Space::Shared {
                std::ptr::copy_nonoverlapping(from, to, n_bytes);
            } else {
                copy_in_shared(from, to, n_bytes);
            }
        }
        return Ok(());
    }
    for (i, register) in op.registers.iter().enumerate() {
        let Some(slot) = *register else { continue };
        let offset = i * op.element_bytes as usize;
        let host = |lane| located.host(addresses, lane).wrapping_add(offset);
        // SAFETY: As in `load_in`.
        unsafe {
            match (op.element_bytes, op.register_bytes) {
                (4, 4) => scatter(view, slot, mask, |l, v: u32| write32(host(l), v)),
                (8, 8) => scatter(view, slot, mask, |l, v: u64| write64(host(l), v)),
                (2, 2) => scatter(view, slot, mask, |l, v: u16| write16(host(l), v)),
                (1, 4) => scatter(view, slot, mask, |l, v: u32| write8(host(l), v as u8)),
                (2, 4) => scatter(view, slot, mask, |l, v: u32| write16(host(l), v as u16)),
                (1, 2) => scatter(view, slot, mask, |l, v: u16| write8(host(l), v as u8)),
                (16, 16) => scatter(view, slot, mask, |l, v: u128| {
                    write64(host(l), v as u64);
                    write64(host(l).add(8), (v >> 64) as u64);
                }),
                (element, register) => {
                    for lane in lanes(mask) {
                        write_element(host(lane), element, view.regs.get(slot, register, lane));
                    }
                }
            }
        }
    }
    Ok(())
}

fn local_load(
    warp: &mut Warp,
    view: &PathView<'_>,
    op: &Access,
    addresses: &[u64; WARP_SIZE],
    mask: u32,
) {
    let end = view.local_base + view.function.local_bytes;
    warp.local.reserve(end);
    for (i, register) in op.registers.iter().enumerate() {
        let Some(slot) = *register else { continue };
        let offset = i as u32 * op.element_bytes;
        if (op.element_bytes, op.register_bytes) == (4, 4) {
            let first = addresses[mask.trailing_zeros() as usize];
            if lanes(mask).all(|l| addresses[l] == first) {
                let row = warp.local.row_mut(first as u32 + offset);
                // SAFETY: The decoder made the slot for 32-bit lanes.
                unsafe { gather(view, slot, mask, |l| row[l]) };
                continue;
            }
        }
        for lane in lanes(mask) {
            let at = addresses[lane] as u32 + offset;
            let value = warp.local.read(lane, at, op.element_bytes);
            // SAFETY: The decoder made the slot for lanes of this width.
            unsafe {
                if op.register_bytes == 16 {
                    view.regs.lanes_mut::<u128>(slot)[lane] = value;
                } else {
                    let value = extend(value as u64, op.element_bytes, op.signed);
                    view.regs.set(slot, op.register_bytes, lane, value);
                }
            }
        }
    }
}

fn local_store(
    warp: &mut Warp,
    view: &PathView<'_>,
    op: &Access,
    addresses: &[u64; WARP_SIZE],
    mask: u32,
) {
    let end = view.local_base + view.function.local_bytes;
    warp.local.reserve(end);
    for (i, register) in op.registers.iter().enumerate() {
        let Some(slot) = *register else { continue };
        let offset = i as u32 * op.element_bytes;
        for lane in lanes(mask) {
            let at = addresses[lane] as u32 + offset;
            // SAFETY: The decoder made the slot for lanes of this width.
            let value = unsafe {
                if op.register_bytes == 16 {
                    view.regs.lanes::<u128>(slot)[lane]
                } else {
                    u128::from(view.regs.get(slot, op.register_bytes, lane))
                }
            };
            warp.local.write(lane, at, op.element_bytes, value);
        }
    }
}

/// Sets the active lanes of a register.
///
/// # Safety
/// The decoder made `slot` for lanes of type `T`.
#[inline(always)]
unsafe fn gather<T: crate::lanes::Lane>(
    view: &PathView<'_>,
    slot: u32,
    mask: u32,
    value: impl Fn(usize) -> T,
) {
    // SAFETY: The caller's promise; `value` reads memory, not registers.
    let d = unsafe { view.regs.lanes_mut::<T>(slot) };
    if mask == FULL_MASK {
        for (lane, slot) in d.iter_mut().enumerate() {
            *slot = value(lane);
        }
    } else {
        for lane in lanes(mask) {
            d[lane] = value(lane);
        }
    }
}

/// Hands out the active lanes of a register.
///
/// # Safety
/// The decoder made `slot` for lanes of type `T`.
#[inline(always)]
unsafe fn scatter<T: crate::lanes::Lane>(
    view: &PathView<'_>,
    slot: u32,
    mask: u32,
    store: impl Fn(usize, T),
) {
    // SAFETY: The caller's promise; `store` writes memory, not registers.
    let s = unsafe { view.regs.lanes::<T>(slot) };
    if mask == FULL_MASK {
        for (lane, value) in s.iter().enumerate() {
            store(lane, *value);
        }
    } else {
        for lane in lanes(mask) {
            store(lane, s[lane]);
        }
    }
}

/// Sign- or zero-extends the low `bytes` of a value.
fn extend(value: u64, bytes: u32, signed: bool) -> u64 {
    let shift = 64 - 8 * bytes.min(8);
    if signed {
        ((value << shift) as i64 >> shift) as u64
    } else {
        value << shift >> shift
    }
}

/// Copies from memory that other threads may write.
///
/// # Safety
/// `from` is readable and 2-aligned for `n_bytes`, a multiple of 64; `to` is
/// writable, 8-aligned and nobody else's.
#[inline]
unsafe fn copy_out_shared(from: *mut u8, to: *mut u8, n_bytes: usize) {
    // SAFETY: The caller's promise.
    unsafe {
        if from.addr().is_multiple_of(8) {
            for i in 0..n_bytes / 8 {
                *to.cast::<u64>().add(i) = read64(from.add(8 * i));
            }
        } else if from.addr().is_multiple_of(4) {
            for i in 0..n_bytes / 4 {
                *to.cast::<u32>().add(i) = read32(from.add(4 * i));
            }
        } else {
            for i in 0..n_bytes / 2 {
                *to.cast::<u16>().add(i) = read16(from.add(2 * i));
            }
        }
    }
}

/// Copies to memory that other threads may read.
///
/// # Safety
/// As [`copy_out_shared`], the other way round.
#[inline]
unsafe fn copy_in_shared(from: *mut u8, to: *mut u8, n_bytes: usize) {
    // SAFETY: The caller's promise.
    unsafe {
        if to.addr().is_multiple_of(8) {
            for i in 0..n_bytes / 8 {
                write64(to.add(8 * i), *from.cast::<u64>().add(i));
            }
        } else if to.addr().is_multiple_of(4) {
            for i in 0..n_bytes / 4 {
                write32(to.add(4 * i), *from.cast::<u32>().add(i));
            }
        } else {
            for i in 0..n_bytes / 2 {
                write16(to.add(2 * i), *from.cast::<u16>().add(i));
            }
        }
    }
}

macro_rules! atomic_access {
    ($read:ident, $write:ident, $t:ty, $atomic:ty) => {
        /// One relaxed atomic load.
        ///
        /// # Safety
        /// `p` is readable and aligned, and only accessed atomically by
        /// other threads.
        #[inline(always)]
        pub(crate) unsafe fn $read(p: *mut u8) -> $t {
            // SAFETY: The caller's promise.
            unsafe { <$atomic>::from_ptr(p.cast()).load(Relaxed) }
        }
        /// One relaxed atomic store.
        ///
        /// # Safety
        /// `p` is writable and aligned, and only accessed atomically by
        /// other threads.
        #[inline(always)]
        pub(crate) unsafe fn $write(p: *mut u8, value: $t) {
            // SAFETY: The caller's promise.
            unsafe { <$atomic>::from_ptr(p.cast()).store(value, Relaxed) }
        }
    };
}
atomic_access!(read8, write8, u8, AtomicU8);
atomic_access!(read16, write16, u16, AtomicU16);
atomic_access!(read32, write32, u32, AtomicU32);
atomic_access!(read64, write64, u64, AtomicU64);

/// Reads 1, 2, 4 or 8 bytes.
///
/// # Safety
/// As [`read64`], for this width.
unsafe fn read_element(p: *mut u8, bytes: u32) -> u64 {
    // SAFETY: The caller's promise.
    unsafe {
        match bytes {
            1 => u64::from(read8(p)),
            2 => u64::from(read16(p)),
            4 => u64::from(read32(p)),
            _ => read64(p),
        }
    }
}

/// Writes 1, 2, 4 or 8 bytes.
///
/// # Safety
/// As [`write64`], for this width.
unsafe fn write_element(p: *mut u8, bytes: u32, value: u64) {
    // SAFETY: The caller's promise.
    unsafe {
        match bytes {
            1 => write8(p, value as u8),
            2 => write16(p, value as u16),
            4 => write32(p, value as u32),
            _ => write64(p, value),
        }
    }
}
