//! Memory instructions as a table, and the same figures by a GPU's counters.

use crate::kernel::Hardware;
use crate::numbers::{NONE, grouped};
use crate::work::Row;
use maud::{Markup, PreEscaped, html};

/// The instructions, in the PTX's order.
pub fn of(rows: &[Row]) -> Markup {
    html! {
        table class="many" {
            thead { tr {
                @for (name, is_words) in [("source", true), ("instruction", true), ("PTX line", false),
                    ("executed", false), ("wavefronts", false), ("ideal", false), ("n-way", false),
                    ("sectors", false), ("ideal", false)] {
                    th scope="col" class=[is_words.then_some("left")] { (name) }
                }
            } }
            tbody { @for row in rows { (instruction(row)) } }
        }
    }
}

fn instruction(row: &Row) -> Markup {
    let conflicts = row.wavefronts > row.ideal_wavefronts;
    let scattered = row.sectors > row.ideal_sectors;
    let shared = |label, n: u64, is_bad| cell(label, row.is_in_shared(), is_bad, &grouped(n));
    let sectors = |label, n: u64, is_bad| cell(label, row.is_in_sectors(), is_bad, &grouped(n));
    html! {
        tr {
            td class="name left" { (source(row)) }
            td class="name left" { code { (row.ptx) } }
            (cell("PTX line", true, false, &row.ptx_line.to_string()))
            (cell("executed", true, false, &grouped(row.executions)))
            (shared("wavefronts", row.wavefronts, conflicts))
            (shared("ideal wavefronts", row.ideal_wavefronts, false))
            (shared("n-way", row.ways.into(), conflicts))
            (sectors("sectors", row.sectors, scattered))
            (sectors("ideal sectors", row.ideal_sectors, false))
        }
    }
}

/// A figure: its name, for where there are no headings; whether there is one; whether it is
/// bad.
pub fn cell(label: &str, is_there: bool, is_bad: bool, text: &str) -> Markup {
    html! {
        @if is_there {
            td class=[is_bad.then_some("bad")] data-label=(label) { (text) }
        } @else {
            td class="none" { (NONE) }
        }
    }
}

fn source(row: &Row) -> Markup {
    let Some(line) = &row.line else {
        return html! { "?" };
    };
    html! {
        code { (line.short()) }
        @if let Some(at) = &row.written_at {
            " " span class="faint" { "(" (at.short()) ")" }
        }
    }
}

/// Figures of a GPU's counters, and what measures them.
pub fn hardware(hardware: &Hardware) -> Markup {
    let is_measured = hardware.figures.iter().any(|(_, _, measured)| measured.is_some());
    // Metrics are many, with commas between them.
    let command = html! { (hardware.command) }.into_string();
    let command = PreEscaped(command.replace(',', ",<wbr>"));
    html! {
        table class="metrics" {
            thead { tr {
                th scope="col" class="left" { "metric" }
                th scope="col" { "counted" }
                @if is_measured { th scope="col" { "measured" } }
            } }
            tbody {
                @for (metric, counted, measured) in &hardware.figures {
                    tr {
                        td class="name left" { code { (metric) } }
                        (cell("counted", true, false, &grouped(*counted)))
                        @if let Some(n) = measured {
                            (cell("measured", true, n != counted, &grouped(*n)))
                        }
                    }
                }
            }
        }
        pre class="command" { (command) }
    }
}
