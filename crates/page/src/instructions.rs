//! Memory instructions as a table, and the same figures by a GPU's counters.

use crate::kernel::Hardware;
use crate::numbers::{NONE, grouped};
use crate::work::Row;
use maud::{Markup, PreEscaped, html};

/// Instructions of one line with one opcode, such as an unrolled loop's.
struct Alike {
    /// Their sums, and the highest number of lanes of any.
    sum: Row,
    /// How many there are.
    n: usize,
}

/// Groups of alike instructions, in the PTX's order.
fn alike(rows: &[Row]) -> Vec<Alike> {
    let mut all: Vec<Alike> = Vec::new();
    for row in rows {
        let is_alike = |other: &&mut Alike| {
            let sum = &other.sum;
            (&sum.line, &sum.written_at, &sum.opcode) == (&row.line, &row.written_at, &row.opcode)
        };
        let Some(Alike { sum, n }) = all.iter_mut().find(is_alike) else {
            let sum = row.clone();
            all.push(Alike { sum, n: 1 });
            continue;
        };
        *n += 1;
        sum.executions += row.executions;
        sum.requests += row.requests;
        sum.wavefronts += row.wavefronts;
        sum.ideal_wavefronts += row.ideal_wavefronts;
        sum.conflicts += row.conflicts;
        sum.ways = sum.ways.max(row.ways);
        sum.sectors += row.sectors;
        sum.ideal_sectors += row.ideal_sectors;
    }
    all
}

/// Headings, which label the figures where there is no room for a table (`page.css`).
const HEADINGS: [&str; 9] = [
    "source",
    "instruction",
    "PTX line",
    "executed",
    "wavefronts",
    "ideal",
    "n-way",
    "sectors",
    "ideal",
];

/// Rows of the table, at most: those with the most work.
const MOST: usize = 32;

/// The instructions, in the PTX's order.
pub fn of(rows: &[Row]) -> Markup {
    let mut alike = alike(rows);
    let n_left_out = alike.len().saturating_sub(MOST);
    if n_left_out > 0 {
        alike.sort_by_key(|alike| std::cmp::Reverse(alike.sum.work()));
        alike.truncate(MOST);
        alike.sort_by_key(|alike| alike.sum.ptx_line);
    }
    html! {
        table class="many instructions" {
            thead { tr { @for name in HEADINGS { th scope="col" { (name) } } } }
            tbody { @for alike in &alike { (instruction(alike)) } }
        }
        @if n_left_out > 0 {
            p class="faint" { "And " (n_left_out) " with less work, which the PTX has with their costs." }
        }
    }
}

fn instruction(Alike { sum: row, n }: &Alike) -> Markup {
    let conflicts = row.wavefronts > row.ideal_wavefronts;
    let scattered = row.sectors > row.ideal_sectors;
    let shared = |n: u64, is_bad| figure(row.is_in_shared(), is_bad, n);
    let sectors = |n: u64, is_bad| figure(row.is_in_sectors(), is_bad, n);
    html! {
        tr {
            td { (source(row)) }
            td {
                @if *n == 1 { code { (row.ptx) } } @else { code { (row.opcode) } " × " (n) }
            }
            td { (row.ptx_line) }
            td { (grouped(row.executions)) }
            (shared(row.wavefronts, conflicts))
            (shared(row.ideal_wavefronts, false))
            (shared(row.ways.into(), conflicts))
            (sectors(row.sectors, scattered))
            (sectors(row.ideal_sectors, false))
        }
    }
}

/// A figure: whether the instruction has it, and whether it is bad.
fn figure(is_there: bool, is_bad: bool, n: u64) -> Markup {
    html! {
        @if is_there { td class=[is_bad.then_some("bad")] { (grouped(n)) } }
        @else { td class="none" { (NONE) } }
    }
}

fn source(row: &Row) -> Markup {
    let Some(line) = &row.line else {
        return html! { "?" };
    };
    html! {
        code { (line.short()) }
        @if let Some(at) = &row.written_at { " (" (at.short()) ")" }
    }
}

/// Figures of a GPU's counters, and the command that measures them.
pub fn hardware(hardware: &Hardware) -> Markup {
    let is_measured = hardware
        .figures
        .iter()
        .any(|(_, _, measured)| measured.is_some());
    // There are many metrics, separated by commas.
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
                        (figure(true, false, *counted))
                        @if let Some(n) = measured { (figure(true, n != counted, *n)) }
                    }
                }
            }
        }
        pre class="command" { (command) }
    }
}
