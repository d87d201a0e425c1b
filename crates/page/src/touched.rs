//! The accesses of a warp's lanes, instruction by instruction, as pictures: the banks and sectors
//! of single accesses, and the waits of a block's warps.

use crate::anchor::anchor;
use lockstep::source::{Place, places_of};
use maps::{Access, AccessMap, Timeline};
use ptx_sim::trace::Trace;

/// Maximum number of a kernel's maps: those with the most waste.
const MOST: usize = 12;

/// The maps of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// The launch and the block that they show.
    pub caption: String,
    /// Maps of single accesses, in the PTX's order; equal accesses appear once.
    pub maps: Vec<Map>,
    /// Accesses that have no map here.
    pub n_left_out: usize,
    /// The waits of the warps, if there are any besides barriers.
    pub timeline: Option<Map>,
}

/// One picture.
#[derive(Clone, Debug)]
pub struct Map {
    /// The line that it belongs to.
    pub line: Option<Place>,
    /// The instruction: `ld.shared.b32`.
    pub name: String,
    /// What it shows, in a sentence.
    pub summary: String,
    /// Wavefronts and sectors that are wasted.
    pub waste: u32,
    /// From `<svg` to `</svg>`.
    pub svg: String,
}

impl Map {
    /// The map of an access by an instruction that comes from this line.
    pub fn of(line: Option<Place>, opcode: &str, access: &Access) -> Self {
        let map = AccessMap::of(access);
        Self {
            line,
            name: opcode.to_owned(),
            summary: map.summary(),
            waste: maps::instructions::waste(access),
            svg: map.svg(),
        }
    }

    /// The map of a block's warps; `None` if there are only barriers to see.
    pub fn of_timeline(timeline: &Timeline) -> Option<Self> {
        timeline.has_more_than_barriers().then(|| Self {
            line: None,
            name: "timeline".to_owned(),
            summary: timeline.summary(),
            waste: 0,
            svg: timeline.svg(),
        })
    }
}

impl Touched {
    /// The maps of a block's trace. `file` is the kernel's own.
    pub fn of(caption: impl Into<String>, trace: &Trace, file: &str) -> Self {
        let maps = maps::by_instruction(trace).into_iter().map(|one| {
            let instruction = one.instruction;
            let (line, _) = places_of(instruction.loc.as_ref(), &instruction.inlined_at, file);
            Map::of(line, &instruction.opcode, one.worst)
        });
        Self::with(caption, maps, &Timeline::of(trace))
    }

    /// From maps in the PTX's order, and the warps' timeline.
    pub fn with(
        caption: impl Into<String>,
        maps: impl Iterator<Item = Map>,
        timeline: &Timeline,
    ) -> Self {
        let mut kept: Vec<Map> = Vec::new();
        for map in maps {
            let is_alike = |other: &Map| {
                (&other.line, &other.name, &other.summary) == (&map.line, &map.name, &map.summary)
            };
            if !kept.iter().any(is_alike) {
                kept.push(map);
            }
        }
        let mut wastes: Vec<u32> = kept.iter().map(|map| map.waste).collect();
        wastes.sort_unstable_by(|a, b| b.cmp(a));
        // Among those that waste as much as the last one kept, the first ones.
        let least = wastes.get(MOST - 1).copied().unwrap_or(0);
        let mut room = MOST
            - wastes
                .iter()
                .take(MOST)
                .filter(|waste| **waste > least)
                .count();
        let n_all = kept.len();
        kept.retain(|map| {
            let is_last = map.waste == least;
            let is_kept = map.waste > least || (is_last && room > 0);
            room -= usize::from(is_last && is_kept);
            is_kept
        });
        Self {
            caption: caption.into(),
            n_left_out: n_all - kept.len(),
            maps: kept,
            timeline: Map::of_timeline(timeline),
        }
    }

    /// All pictures, with their names in links.
    pub(crate) fn named(&self) -> Vec<(String, &Map)> {
        let mut named: Vec<(String, &Map)> = Vec::new();
        for map in &self.maps {
            let place = map
                .line
                .as_ref()
                .map_or_else(|| "ptx".to_owned(), Place::short);
            let place = anchor(&place);
            let same = |(name, _): &&(String, &Map)| name.split('~').next() == Some(&*place);
            let n = named.iter().filter(same).count();
            let name = if n == 0 {
                place
            } else {
                format!("{place}~{}", n + 1)
            };
            named.push((name, map));
        }
        named.extend(self.timeline.iter().map(|map| ("timeline".to_owned(), map)));
        named
    }

    /// The picture with the most waste.
    pub(crate) fn worst(named: &[(String, &Map)]) -> usize {
        let mut worst = 0;
        for (at, (_, map)) in named.iter().enumerate() {
            if map.waste > named[worst].1.waste {
                worst = at;
            }
        }
        worst
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Map, Touched};
    use maps::Timeline;
    use ptx_sim::trace::Trace;

    fn map(number: usize, waste: u32) -> Map {
        Map {
            line: None,
            name: "ld.shared.b32".to_owned(),
            summary: format!("map {number}"),
            waste,
            svg: String::new(),
        }
    }

    #[test]
    fn the_most_wasteful_maps_are_kept_in_order() {
        let maps = (0..3 * MOST).map(|n| map(n, if n % 5 == 4 { 31 } else { 0 }));
        let touched = Touched::with("", maps, &Timeline::of(&Trace::default()));
        let kept: Vec<_> = touched.maps.iter().map(|map| &*map.summary).collect();
        assert_eq!((kept.len(), touched.n_left_out), (MOST, 2 * MOST));
        assert_eq!(
            kept[..6],
            ["map 0", "map 1", "map 2", "map 3", "map 4", "map 5"]
        );
        assert!(kept.contains(&"map 34"), "{kept:?}");
        let named = touched.named();
        assert_eq!(named[Touched::worst(&named)].1.summary, "map 4");
        assert_eq!((&*named[0].0, &*named[1].0), ("ptx", "ptx~2"));
    }

    #[test]
    fn maps_alike_are_there_once() {
        let maps = [map(1, 0), map(2, 0), map(1, 0)];
        let touched = Touched::with("", maps.into_iter(), &Timeline::of(&Trace::default()));
        assert_eq!((touched.maps.len(), touched.n_left_out), (2, 0));
    }
}
