//! The parts of a page that unfold on demand, packed: JSON, deflated, in base64. Browsers can
//! inflate it.

use crate::page::{Group, Picture};
use crate::player::Player;
use crate::touched::Touched;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, PreEscaped, html};
use serde::Serialize;
use std::collections::BTreeMap;

/// Level of zlib, 0 to 10: beyond this, more time gains little.
const LEVEL: u8 = 8;
/// Larger pictures are packed.
const LARGE_BYTES: usize = 20_000;

#[derive(Serialize)]
struct Contents<'g> {
    /// Pictures of accesses.
    maps: Vec<&'g str>,
    /// By the anchors of kernels.
    kernels: BTreeMap<String, OfKernel<'g>>,
    /// Those that are packed, by their number in the group.
    pictures: BTreeMap<usize, &'g str>,
}

#[derive(Serialize)]
struct OfKernel<'g> {
    /// The first line's number, and the lines; empty lines are not shown.
    ptx: Option<(usize, String)>,
    /// By the names in links: the number among the group's maps.
    maps: BTreeMap<String, usize>,
    player: Option<&'g Player>,
}

impl OfKernel<'_> {
    fn is_empty(&self) -> bool {
        self.ptx.is_none() && self.maps.is_empty() && self.player.is_none()
    }
}

/// Texts without duplicates.
#[derive(Default)]
struct Texts<'g> {
    all: Vec<&'g str>,
    numbers: BTreeMap<&'g str, usize>,
}

impl<'g> Texts<'g> {
    fn number(&mut self, text: &'g str) -> usize {
        *self.numbers.entry(text).or_insert_with(|| {
            self.all.push(text);
            self.all.len() - 1
        })
    }
}

/// Whether a picture is packed.
pub fn is_packed(picture: &Picture) -> bool {
    picture.svg.len() > LARGE_BYTES
}

/// An element with the group's packed contents; nothing if there are none.
pub fn of(group: &Group) -> Markup {
    let mut texts = Texts::default();
    let kernels = group.kernels.iter().map(|kernel| {
        let rows = kernel.counted().map_or(&[][..], |counted| &counted.rows);
        let maps = kernel.touched.iter().flat_map(Touched::named);
        let contents = OfKernel {
            ptx: kernel
                .ptx
                .as_ref()
                .map(|ptx| (ptx.first, ptx.with_costs(rows))),
            maps: maps
                .map(|(name, map)| (name, texts.number(&map.svg)))
                .collect(),
            player: kernel.player.as_ref(),
        };
        (group.anchor_of(kernel), contents)
    });
    let pictures = group.pictures.iter().enumerate();
    let pictures = pictures.filter(|(_, picture)| is_packed(picture));
    let kernels: BTreeMap<_, _> = kernels.filter(|(_, kernel)| !kernel.is_empty()).collect();
    let contents = Contents {
        maps: texts.all,
        kernels,
        pictures: pictures.map(|(at, picture)| (at, &*picture.svg)).collect(),
    };
    if contents.kernels.is_empty() && contents.pictures.is_empty() {
        return html! {};
    }
    // Texts and lists of texts: JSON can express all of them.
    let json = serde_json::to_vec(&contents).unwrap_or_default();
    let packed = STANDARD.encode(miniz_oxide::deflate::compress_to_vec_zlib(&json, LEVEL));
    html! {
        script type="application/octet-stream" class="packed" { (PreEscaped(packed)) }
    }
}
