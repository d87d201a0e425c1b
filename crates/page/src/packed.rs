//! What a page unfolds when it is asked for, packed: JSON, deflated, in base64. Browsers
//! inflate it themselves.

use crate::page::Group;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, PreEscaped, html};
use serde::Serialize;
use std::collections::BTreeMap;

/// Of zlib, 0 to 10: beyond this, more time gives little.
const LEVEL: u8 = 8;

/// What is packed of a kernel.
#[derive(Serialize)]
struct Contents<'g> {
    ptx: Option<&'g str>,
}

/// An element with the group's packed contents, by the anchors of its kernels; nothing if
/// there are none.
pub fn of(group: &Group) -> Markup {
    let kernels = group.kernels.iter();
    let contents: BTreeMap<String, Contents<'_>> = kernels
        .map(|kernel| {
            let ptx = kernel.ptx.as_deref();
            (group.anchor_of(kernel), Contents { ptx })
        })
        .filter(|(_, contents)| contents.ptx.is_some())
        .collect();
    if contents.is_empty() {
        return html! {};
    }
    // Texts and lists of them: there is nothing in it that JSON cannot say.
    let json = serde_json::to_vec(&contents).unwrap_or_default();
    let packed = STANDARD.encode(miniz_oxide::deflate::compress_to_vec_zlib(&json, LEVEL));
    html! {
        script type="application/octet-stream" class="packed" { (PreEscaped(packed)) }
    }
}
