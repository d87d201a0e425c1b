//! Global memory: which allocation an address belongs to.
//!
//! A tree over pages of 2 MiB, three levels deep, for 47 bits of address, as in a host
//! process. A copy of it costs one counter: launches in flight keep the one they began with
//! while the host allocates and frees.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::allocation::Allocation;
use super::transfer;

/// Address space that an allocation's start is aligned to.
pub const PAGE_SHIFT: u32 = 21;
/// Bits of an address that choose an entry, below the first level.
const LEVEL_BITS: u32 = 9;
const LEVEL_SIZE: usize = 1 << LEVEL_BITS;
/// Bits of an address.
const ADDRESS_BITS: u32 = 47;
const ROOT_SIZE: usize = 1 << (ADDRESS_BITS - PAGE_SHIFT - 2 * LEVEL_BITS);
/// The first address that no allocation can have.
pub const ADDRESS_END: u64 = 1 << ADDRESS_BITS;

/// What lies in a page.
#[derive(Clone, Default)]
enum Page {
    #[default]
    Empty,
    One(Arc<Allocation>),
    /// The host's memory does not keep to pages.
    Several(Vec<Arc<Allocation>>),
}

type Leaf = [Page; LEVEL_SIZE];
type Middle = [Option<Arc<Leaf>>; LEVEL_SIZE];
type Root = [Option<Arc<Middle>>; ROOT_SIZE];

/// All allocations of a device, by address.
#[derive(Clone)]
pub struct GlobalMemory(Arc<Root>);

impl Default for GlobalMemory {
    fn default() -> Self {
        Self(Arc::new(std::array::from_fn(|_| None)))
    }
}

/// Where a page is in the tree; none if it is past the last one.
#[inline]
fn indices(page: u64) -> Option<[usize; 3]> {
    let mask = LEVEL_SIZE as u64 - 1;
    let root = page >> (2 * LEVEL_BITS);
    let root = usize::try_from(root).ok().filter(|&i| i < ROOT_SIZE)?;
    let [middle, leaf] = [page >> LEVEL_BITS, page].map(|i| (i & mask) as usize);
    Some([root, middle, leaf])
}

/// The pages that an allocation lies in.
fn pages_of(allocation: &Allocation) -> std::ops::RangeInclusive<u64> {
    let last = allocation.base + allocation.size_bytes.max(1) - 1;
    allocation.base >> PAGE_SHIFT..=last >> PAGE_SHIFT
}

impl GlobalMemory {
    #[inline]
    fn page(&self, address: u64) -> Option<&Page> {
        let [root, middle, leaf] = indices(address >> PAGE_SHIFT)?;
        let middle = self.0[root].as_ref()?[middle].as_ref()?;
        Some(&middle[leaf])
    }

    fn page_mut(&mut self, page: u64) -> Option<&mut Page> {
        let [root, middle, leaf] = indices(page)?;
        let nothing = || Arc::new(std::array::from_fn(|_| None));
        let root = Arc::make_mut(&mut self.0)[root].get_or_insert_with(nothing);
        let empty = || Arc::new(std::array::from_fn(|_| Page::Empty));
        let middle = Arc::make_mut(root)[middle].get_or_insert_with(empty);
        Some(&mut Arc::make_mut(middle)[leaf])
    }

    /// Adds an allocation, in place of those of its addresses.
    pub(super) fn insert(&mut self, allocation: &Arc<Allocation>) {
        let (base, end) = (allocation.base, allocation.base + allocation.size_bytes);
        let stays = |other: &Allocation| {
            other.base != base && (other.base + other.size_bytes <= base || other.base >= end)
        };
        for number in pages_of(allocation) {
            let Some(page) = self.page_mut(number) else {
                continue;
            };
            *page = match std::mem::take(page) {
                Page::One(other) if stays(&other) => {
                    Page::Several(vec![other, Arc::clone(allocation)])
                }
                Page::Empty | Page::One(_) => Page::One(Arc::clone(allocation)),
                Page::Several(mut all) => {
                    all.retain(|other| stays(other));
                    all.push(Arc::clone(allocation));
                    Page::Several(all)
                }
            };
        }
    }

    /// Forgets a freed allocation, unless others have taken its addresses.
    pub(super) fn remove(&mut self, freed: &Arc<Allocation>) {
        for number in pages_of(freed) {
            let Some(page) = self.page_mut(number) else {
                continue;
            };
            *page = match std::mem::take(page) {
                Page::One(other) if Arc::ptr_eq(&other, freed) => Page::Empty,
                Page::Several(mut all) => {
                    all.retain(|other| !Arc::ptr_eq(other, freed));
                    match all.len() {
                        0 => Page::Empty,
                        _ => Page::Several(all),
                    }
                }
                page => page,
            };
        }
    }

    /// Takes over what another memory has at these addresses, whole GiB of them.
    pub(super) fn take_over(&mut self, other: &Self, range: &Range<u64>) {
        const MIDDLE_SHIFT: u32 = PAGE_SHIFT + LEVEL_BITS;
        let mut at = range.start >> MIDDLE_SHIFT;
        while at < range.end >> MIDDLE_SHIFT {
            let root = (at >> LEVEL_BITS) as usize;
            let end = ((at >> LEVEL_BITS) + 1) << LEVEL_BITS;
            let end = end.min(range.end >> MIDDLE_SHIFT);
            if let Some(from) = &other.0[root] {
                let nothing = || Arc::new(std::array::from_fn(|_| None));
                let to = Arc::make_mut(&mut self.0)[root].get_or_insert_with(nothing);
                let to = Arc::make_mut(to);
                for middle in at..end {
                    let middle = middle as usize % LEVEL_SIZE;
                    to[middle].clone_from(&from[middle]);
                }
            }
            at = end;
        }
    }

    /// The allocation in whose pages an address lies, freed ones included.
    #[inline]
    pub fn find(&self, address: u64) -> Option<&Allocation> {
        match self.page(address)? {
            Page::Empty => None,
            Page::One(allocation) => Some(allocation),
            Page::Several(all) => among(all, address).map(|allocation| &**allocation),
        }
    }

    /// [`GlobalMemory::find`], to be kept.
    pub(super) fn find_shared(&self, address: u64) -> Option<&Arc<Allocation>> {
        match self.page(address)? {
            Page::Empty => None,
            Page::One(allocation) => Some(allocation),
            Page::Several(all) => among(all, address),
        }
    }

    /// Whether no live allocation has an address of `base..base + size_bytes`.
    pub(super) fn is_free(&self, base: u64, size_bytes: u64) -> bool {
        let end = base + size_bytes.max(1);
        let is_live = |a: &Arc<Allocation>| {
            a.host().is_some() && a.base < end && base < a.base + a.size_bytes.max(1)
        };
        let mut pages = base >> PAGE_SHIFT..=(end - 1) >> PAGE_SHIFT;
        pages.all(|page| match self.page(page << PAGE_SHIFT) {
            None | Some(Page::Empty) => true,
            Some(Page::One(allocation)) => !is_live(allocation),
            Some(Page::Several(all)) => !all.iter().any(is_live),
        })
    }

    /// All allocations; those of several pages several times.
    pub fn all(&self) -> impl Iterator<Item = &Allocation> {
        let leaves = self.0.iter().flatten().flat_map(|middle| middle.iter());
        let pages = leaves.flatten().flat_map(|leaf| leaf.iter());
        let in_page = |page| match page {
            &Page::Empty => &[],
            Page::One(allocation) => std::slice::from_ref(allocation),
            Page::Several(all) => all,
        };
        pages.flat_map(in_page).map(|allocation| &**allocation)
    }

    /// The allocation nearest to an address that is in none.
    pub fn nearest(&self, address: u64) -> Option<&Allocation> {
        let distance = |a: &Allocation| {
            if address < a.base {
                a.base - address
            } else {
                address - (a.base + a.size_bytes)
            }
        };
        self.all()
            .filter(|a| !a.contains(address, 1))
            .min_by_key(|a| (distance(a), a.host().is_none()))
    }

    /// Whether this is the lower half of an address in an allocation.
    pub fn has_lower_half(&self, half: u32) -> bool {
        self.all()
            .any(|a| u64::from(half.wrapping_sub(a.base as u32)) < a.size_bytes)
    }
}

/// What is in memory; that of several pages several times.
impl Hash for GlobalMemory {
    fn hash<H: Hasher>(&self, state: &mut H) {
        const AT_ONCE: usize = 1 << 16;
        let mut bytes = vec![0; AT_ONCE];
        let mut last = None;
        for allocation in self.all() {
            let Some(host) = allocation.host() else {
                continue;
            };
            if last.replace(allocation.base) == Some(allocation.base) {
                continue;
            }
            (allocation.base, allocation.size_bytes).hash(state);
            let n_bytes = allocation.size_bytes as usize;
            for start in (0..n_bytes).step_by(AT_ONCE) {
                let part = &mut bytes[..AT_ONCE.min(n_bytes - start)];
                // SAFETY: In range of a live allocation.
                unsafe { transfer::read(host.as_ptr().wrapping_add(start), part) };
                part.hash(state);
            }
        }
    }
}

/// Of the allocations in a page, the one that an address is in, else the nearest before it.
fn among(all: &[Arc<Allocation>], address: u64) -> Option<&Arc<Allocation>> {
    let inside = all.iter().find(|a| a.contains(address, 1));
    inside.or_else(|| {
        let before = all.iter().filter(|a| a.base <= address);
        before.max_by_key(|a| a.base).or(all.first())
    })
}
