//! Something that is known of some registers of a warp's calls.

use crate::lanes::WARP_SIZE;
use crate::program::Slot;
use crate::warp::FrameId;

/// Bytes of a register of all lanes in a frame: products' have 32 bits.
const REGISTER: u32 = 4 * WARP_SIZE as u32;

/// A register of a call.
pub(super) type Place = (FrameId, Slot);

/// By register, what is known of it.
pub(super) struct ByRegister<T>(Vec<OfCall<T>>);

/// Of one call's registers.
struct OfCall<T> {
    frame: FrameId,
    /// By register.
    known: Vec<Option<T>>,
    /// Those of which something is known, and maybe others.
    which: Vec<Slot>,
}

/// A register's number; no two of a frame overlap.
fn index(slot: Slot) -> usize {
    (slot / REGISTER) as usize
}

impl<T> Default for ByRegister<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ByRegister<T> {
    /// Nothing is known any more.
    pub fn clear(&mut self) {
        self.retain(|_| false);
    }

    #[inline]
    pub fn get(&self, (frame, slot): Place) -> Option<&T> {
        let call = self.0.iter().find(|call| call.frame == frame)?;
        call.known.get(index(slot))?.as_ref()
    }

    #[inline]
    pub fn get_mut(&mut self, (frame, slot): Place) -> Option<&mut T> {
        let call = self.0.iter_mut().find(|call| call.frame == frame)?;
        call.known.get_mut(index(slot))?.as_mut()
    }

    #[inline]
    pub fn remove(&mut self, (frame, slot): Place) {
        if let Some(call) = self.0.iter_mut().find(|call| call.frame == frame)
            && let Some(known) = call.known.get_mut(index(slot))
        {
            *known = None;
        }
    }

    #[inline]
    pub fn insert(&mut self, (frame, slot): Place, value: T) {
        let at = self.0.iter().position(|call| call.frame == frame);
        let at = at.unwrap_or_else(|| {
            self.0.push(OfCall {
                frame,
                known: Vec::new(),
                which: Vec::new(),
            });
            self.0.len() - 1
        });
        self.0[at].insert(slot, value);
    }

    /// Forgets what does not have this property.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&T) -> bool) {
        for call in &mut self.0 {
            let known = &mut call.known;
            call.which.retain(|&slot| {
                let known = &mut known[index(slot)];
                *known = known.take().filter(&mut is_kept);
                known.is_some()
            });
        }
    }

    /// All that is known, mostly once.
    pub fn iter(&self) -> impl Iterator<Item = (Place, &T)> {
        self.0.iter().flat_map(|call| {
            let known =
                |&slot: &Slot| Some(((call.frame, slot), call.known[index(slot)].as_ref()?));
            call.which.iter().filter_map(known)
        })
    }
}

impl<T> OfCall<T> {
    #[inline]
    fn insert(&mut self, slot: Slot, value: T) {
        let index = index(slot);
        if self.known.len() <= index {
            self.known.resize_with(index + 1, || None);
        }
        if self.known[index].replace(value).is_none() {
            self.which.push(slot);
            if self.which.len() > 2 * self.known.len() {
                self.which.sort_unstable();
                self.which.dedup();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_removed_and_comes_back_is_known_once() {
        let mut all = ByRegister::default();
        let place = (1, 3 * REGISTER);
        for n in 0..100 {
            all.insert(place, n);
            all.remove(place);
        }
        assert!(all.get(place).is_none() && all.iter().next().is_none());
        all.insert(place, 7);
        all.insert((0, 3 * REGISTER), 8);
        assert_eq!(all.get(place), Some(&7));
        all.retain(|&n| n == 8);
        assert_eq!(all.get(place), None);
        assert_eq!(all.iter().map(|(_, n)| *n).collect::<Vec<_>>(), [8]);
        all.clear();
        assert!(all.iter().next().is_none());
    }
}
