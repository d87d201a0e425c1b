//! The source with its heat: each line's share of the memory work, as a bar of what was
//! needed and what was wasted.

use crate::kernel::{Counted, Kernel};
use crate::numbers::grouped;
use crate::work::{Cost, files, lines, total};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Lines shown before and after a line with memory work.
const CONTEXT: u32 = 4;

/// How bars are scaled.
struct Scale {
    /// The work of the whole kernel.
    total: u64,
    /// That of the costliest line.
    most: u64,
}

/// The lines with memory work and those around them, file by file.
pub fn of(kernel: &Kernel, counted: &Counted) -> Markup {
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
                        (listing(text, &costs, &scale))
                    }
                    None => p class="faint" {
                        "Its text is not here. Lines with memory work: " (numbers(&costs)) "."
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

fn listing(text: &str, costs: &BTreeMap<u32, Cost>, scale: &Scale) -> Markup {
    let is_near = |number: u32| {
        let near = number.saturating_sub(CONTEXT)..=number.saturating_add(CONTEXT);
        costs.range(near).next().is_some()
    };
    let shown = (1u32..).zip(text.lines()).filter(|(number, _)| is_near(*number));
    let mut shown_to = 0;
    html! {
        div class="source" {
            @for (number, code) in shown {
                @if number > std::mem::replace(&mut shown_to, number) + 1 {
                    div class="cold gap" { span class="work" {} span class="number" {} span class="code" { "⋮" } }
                }
                (line(number, code, costs.get(&number), scale))
            }
        }
    }
}

fn line(number: u32, code: &str, cost: Option<&Cost>, scale: &Scale) -> Markup {
    // By itself, since a narrow page makes less of it.
    let (spaces, code) = code.split_at(code.len() - code.trim_start().len());
    html! {
        div class=(if cost.is_some() { "hot" } else { "cold" }) {
            span class="work" { @if let Some(cost) = cost { (scale.bar(*cost)) } }
            span class="number" { (number) }
            span class="code" style=(format!("--indent:{}", spaces.len())) {
                span class="indent" { (spaces) } (code)
            }
        }
    }
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

/// A bar of needed and of wasted work; as long as there is room for `most`.
pub fn bar(cost: Cost, most: u64) -> Markup {
    let width = |n: u64| 100.0 * n as f64 / most.max(1) as f64;
    let (needed, wasted) = (cost.needed(), cost.wasted);
    html! {
        span class="bar" role="img" title=(words(cost)) aria-label=(words(cost)) {
            span class="needed" style=(format!("width:{:.2}%", width(needed).max(0.5))) {}
            @if wasted > 0 {
                span class="wasted" style=(format!("width:{:.2}%", width(wasted))) {}
            }
        }
    }
}

fn words(cost: Cost) -> String {
    format!("{} needed, {} wasted", grouped(cost.needed()), grouped(cost.wasted))
}
