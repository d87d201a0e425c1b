//! Four `f32` of a view in one access of 16 bytes.
//!
//! Left out: other element types, and rows of a matrix, which need not begin at multiples
//! of 16 bytes.

use core::marker::PhantomData;

use super::disjoint::{Disjoint, Place, Slot};
use super::global::{Chunked, Global};
use super::map::{ANY, Geometry, Ids, Linear, Map, Reason, one_dimension};
use super::shape::Length;
use crate::vector::Float4;

/// Elements in a chunk.
const CHUNK: u32 = 4;

const _: () = assert!(size_of::<Float4>() == CHUNK as usize * size_of::<f32>());

/// As [`Linear<BLOCK>`](Linear), but each thread has a chunk of four elements where that
/// would give it one. An index is that of the chunk's first element.
#[derive(Clone, Copy, Debug)]
pub struct Chunks<const BLOCK: u32 = ANY>;

// SAFETY: `Linear` is one-to-one, so its multiples of 4 are at least 4 apart. Below 2³⁰
// threads neither these nor the ends of the chunks wrap.
unsafe impl<const BLOCK: u32> Map for Chunks<BLOCK> {
    type Index = u32;
    const ALIGN_ELEMENTS: u64 = CHUNK as u64;

    #[inline(always)]
    fn index(ids: &Ids) -> u32 {
        Linear::<BLOCK>::index(ids) * CHUNK
    }

    fn admits(launch: Geometry) -> Result<(), Reason> {
        Linear::<BLOCK>::admits(launch)?;
        if one_dimension(launch)? * u64::from(CHUNK) > u32::MAX.into() {
            return Err("the grid has more elements than 32-bit indices count");
        }
        Ok(())
    }
}

impl Global<f32, Length, Chunked> {
    /// The four elements at a thread's place, in one access, if the view has all of them.
    #[inline(always)]
    pub fn get_chunk<const BLOCK: u32>(self, place: Place<Chunks<BLOCK>>) -> Option<Float4> {
        let first = place.index();
        // SAFETY: the chunk lies in the view's memory, which is aligned to 16 bytes, and
        // the index is a multiple of 4. The sum does not wrap: see `Chunks`.
        (first + CHUNK <= self.shape.get())
            .then(|| unsafe { Float4::load(self.base.add(first as usize).cast()) })
    }
}

impl<const BLOCK: u32> Disjoint<f32, Length, Chunks<BLOCK>> {
    /// Hands this thread's four elements to `whole`; at the output's end, where not all of
    /// them are there, those that are to `single`, one after the other with their indices.
    #[inline(always)]
    pub fn write_chunk(
        &mut self,
        place: Place<Chunks<BLOCK>>,
        whole: impl FnOnce(ChunkSlot<'_>),
        mut single: impl FnMut(u32, Slot<'_, f32>),
    ) {
        let (first, n_elements) = (place.index(), self.shape.get());
        // The sum does not wrap: see `Chunks`.
        if first + CHUNK <= n_elements {
            whole(ChunkSlot {
                // SAFETY: the chunk lies in the view's memory.
                address: unsafe { self.base.add(first as usize) }.cast(),
                view: PhantomData,
            });
        } else {
            // Fewer than four, and the thread's own.
            for n in first..n_elements {
                let slot = Slot {
                    // SAFETY: the element lies in the view's memory.
                    address: unsafe { self.base.add(n as usize) },
                    view: PhantomData,
                };
                single(n, slot);
            }
        }
    }
}

/// A thread's four elements, to be written.
pub struct ChunkSlot<'v> {
    address: *mut Float4,
    view: PhantomData<&'v mut f32>,
}

impl ChunkSlot<'_> {
    /// Writes them in one access.
    #[inline(always)]
    pub fn store(self, value: Float4) {
        // SAFETY: the thread's own elements, aligned to 16 bytes.
        unsafe { value.store(self.address) }
    }

    /// Writes them in one access, to memory that nobody reads soon (`st.global.cs`).
    #[inline(always)]
    pub fn store_streaming(self, value: Float4) {
        // SAFETY: the thread's own elements, in global memory and aligned to 16 bytes.
        unsafe { value.store_streaming(self.address) }
    }
}
