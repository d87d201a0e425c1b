//! The source with its heat: each line's share of the memory work, as a bar of needed
//! and wasted work.

use crate::kernel::{Counted, Kernel};
use crate::numbers::grouped;
use crate::page::Group;
use crate::touched::Touched;
use crate::work::{Cost, files, lines, total};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Lines shown before and after a line with memory work.
const CONTEXT: u32 = 3;

/// The scale of the bars.
struct Scale {
    /// The work of the whole kernel.
    total: u64,
    /// The work of the costliest line.
    most: u64,
}

/// The lines with memory work and those around them, file by file.
pub fn of(group: &Group, kernel: &Kernel, counted: &Counted) -> Markup {
    let most = lines(&counted.rows).values().map(|cost| cost.work).max();
    let scale = Scale {
        total: total(&counted.rows).work.max(1),
        most: most.unwrap_or(1).max(1),
    };
    html! {
        @for (file, costs) in files(&counted.rows, &counted.file) {
            section class="file" {
                h4 { code { (file) } }
                @match kernel.sources.get(file) {
                    Some(text) => {
                        p class="legend" {
                            span class="needed" {} "needed" span class="wasted" {} "wasted, of "
                            (grouped(scale.total)) " wavefronts and sectors"
                        }
                        (listing(text, &costs, &scale, &links(group, kernel, file)))
                    }
                    None => p class="faint" {
                        "Its text is not available. Lines with memory work: " (numbers(&costs)) "."
                    }
                }
            }
        }
    }
}

fn numbers(costs: &BTreeMap<u32, Cost>) -> String {
    let lines: Vec<_> = costs.keys().map(u32::to_string).collect();
    lines.join(", ")
}

/// The lines, each a number and code, after a bar where there is work.
fn listing(text: &str, costs: &BTreeMap<u32, Cost>, scale: &Scale, links: &Links) -> Markup {
    let is_near = |number: u32| {
        let near = number.saturating_sub(CONTEXT)..=number.saturating_add(CONTEXT);
        costs.range(near).next().is_some()
    };
    let shown = (1u32..)
        .zip(text.lines())
        .filter(|(number, _)| is_near(*number));
    let mut shown_to = 0;
    html! {
        div class="source" {
            @for (number, code) in shown {
                @if number > std::mem::replace(&mut shown_to, number) + 1 {
                    div { i { "⋮" } }
                }
                (line(number, code, costs.get(&number), scale, links))
            }
        }
    }
}

fn line(number: u32, code: &str, cost: Option<&Cost>, scale: &Scale, links: &Links) -> Markup {
    let indent = code.len() - code.trim_start().len();
    let indent = (indent > 0).then(|| format!("--i:{indent}"));
    html! {
        div class=[cost.map(|_| "hot")] {
            @if let Some(cost) = cost { span class="work" { (scale.bar(*cost)) } }
            i {
                @match links.get(&number) {
                    Some(link) => a href=(link) { (number) },
                    None => (number),
                }
            }
            code style=[indent] { (code.trim_start()) }
        }
    }
}

/// Links to maps, by line.
type Links = BTreeMap<u32, String>;

fn links(group: &Group, kernel: &Kernel, file: &str) -> Links {
    let mut links = Links::new();
    for (name, map) in kernel.touched.iter().flat_map(Touched::named) {
        if let Some(place) = map.line.as_ref().filter(|place| place.file == file) {
            let link = format!("#{}@{name}", group.anchor_of(kernel));
            links.entry(place.line).or_insert(link);
        }
    }
    links
}

impl Scale {
    /// A share in percent, and its bar.
    fn bar(&self, cost: Cost) -> Markup {
        html! {
            b { (format!("{:.0}%", 100.0 * cost.work as f64 / self.total as f64)) }
            (bar(cost, self.most))
        }
    }
}

/// A bar of needed and wasted work; `most` fills the width.
pub fn bar(cost: Cost, most: u64) -> Markup {
    let width = |n: u64| 100.0 * n as f64 / most.max(1) as f64;
    let (needed, wasted) = (cost.needed(), cost.wasted);
    html! {
        span class="bar" role="img" aria-label=(words(cost)) {
            span class="needed" style=(format!("width:{:.2}%", width(needed).max(0.5))) {}
            @if wasted > 0 {
                span class="wasted" style=(format!("width:{:.2}%", width(wasted))) {}
            }
        }
    }
}

fn words(cost: Cost) -> String {
    format!(
        "{} needed, {} wasted",
        grouped(cost.needed()),
        grouped(cost.wasted)
    )
}
