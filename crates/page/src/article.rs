//! The article on one kernel: the outcome of its runs, what is wasted, its source with heat, its
//! instructions, its PTX.

use crate::kernel::{Counted, Kernel, State};
use crate::listing::Listing;
use crate::numbers::duration;
use crate::page::Group;
use crate::touched::Touched;
use crate::verdict::verdicts;
use crate::{heat, instructions};
use maud::{Markup, html};

/// The kernel's article; its headings are below the group's.
pub fn of(group: &Group, kernel: &Kernel) -> Markup {
    let anchor = group.anchor_of(kernel);
    html! {
        article class="kernel" id=(anchor) aria-labelledby=(format!("{anchor}/name")) tabindex="-1" {
            h3 id=(format!("{anchor}/name")) { code { (kernel.name) } }
            p class="technique" { (kernel.technique) }
            (runs(kernel))
            @match &kernel.counted {
                Ok(counted) => {
                    p class="faint geometry" { (geometry(counted)) }
                    @for (entry, n) in &counted.others {
                        p class="faint" { "Not included: " (n) " × " code { (entry) } ", launched with it." }
                    }
                    (findings(counted))
                    (heat::of(group, kernel, counted))
                }
                Err(why) => p class="remark unsure" { (capital(why)) "." },
            }
            (maps(group, kernel))
            (player(kernel))
            @if let Ok(counted) = &kernel.counted { (details(kernel, counted)) }
            (times(kernel))
            (ptx(kernel))
        }
    }
}

/// The outcome of its runs, one by one.
fn runs(kernel: &Kernel) -> Markup {
    html! {
        @if kernel.runs.is_empty() { p class="remark unsure" { "Not run." } }
        ul class="runs" {
            @for run in &kernel.runs {
                li {
                    span class=(run.state.class()) { (run.state.words()) }
                    " at " (run.shape)
                    @for note in &run.notes { span class="faint" { "; " (note) } }
                    @if let Some(reason) = &run.reason {
                        pre class=(if run.state == State::Failed { "reason failed" } else { "reason" }) { (reason) }
                    }
                }
            }
        }
    }
}

fn geometry(counted: &Counted) -> Markup {
    html! {
        @if !counted.shape.is_empty() { "Counted at " (counted.shape) ": " }
        @if counted.n_launches > 1 { (counted.n_launches) " launches, the first of " }
        (counted.geometry) "; " (counted.module) " for " (counted.target)
    }
}

/// Deviations from what was expected, then what is wasted.
fn findings(counted: &Counted) -> Markup {
    let verdicts = verdicts(&counted.rows);
    html! {
        @for remark in &counted.remarks {
            p class="remark" { span class="bad" { (remark.label) } ": " span class="lines" { (remark.text) } }
        }
        @if counted.rows.is_empty() {
            p class="remark good" { "It accesses no memory but its parameters." }
        } @else if verdicts.is_empty() {
            p class="remark good" {
                "Nothing wasted: no bank conflicts, and no more sectors than the accesses need."
            }
        }
        @for verdict in verdicts {
            p class="remark" {
                code { (verdict.place) } ": " b { (verdict.finding) } ":" br; (verdict.advice) "."
            }
        }
    }
}

fn details(kernel: &Kernel, counted: &Counted) -> Markup {
    html! {
        @if !counted.rows.is_empty() {
            details {
                summary { "Instruction by instruction" }
                (instructions::of(&counted.rows))
            }
        }
        @if let Some(hardware) = &counted.hardware {
            details {
                summary { "The same on a GPU, by Nsight Compute's names" }
                (instructions::hardware(hardware))
            }
        }
        @if let Some(command) = &kernel.command {
            p class="faint" { "In a terminal: " code { (command) } }
        }
    }
}

/// What its lanes touch; the script shows one picture at a time.
fn maps(group: &Group, kernel: &Kernel) -> Markup {
    let Some(touched) = &kernel.touched else {
        return html! {};
    };
    let named = touched.named();
    let anchor = group.anchor_of(kernel);
    let worst = Touched::worst(&named);
    html! {
        @if !named.is_empty() {
            section class="maps" aria-label=(format!("What the lanes of {} touch", kernel.name)) {
                h4 { "What the lanes touch" }
                p class="faint geometry" {
                    (touched.caption)
                    @if touched.n_left_out > 0 {
                        " Not shown here: " (touched.n_left_out) " accesses that waste no more."
                    }
                }
                ul class="map-list" {
                    @for (at, (name, map)) in named.iter().enumerate() {
                        li {
                            a id=(format!("{anchor}@{name}")) href=(format!("#{anchor}@{name}"))
                                data-worst[at == worst] {
                                @if let Some(line) = &map.line { code { (line.short()) } " " }
                                code { (map.name) }
                            }
                            " " span class=(if map.waste > 0 { "wasteful" } else { "faint" }) { (map.summary) }
                        }
                    }
                }
                noscript { p class="faint" { "The pictures are packed; unfolding them needs JavaScript." } }
                fieldset class="phases" hidden { legend { "Phase" } }
                div class="map-shown" tabindex="0" role="group" aria-label=(format!("Map of {}", kernel.name)) aria-live="polite" {}
            }
        }
    }
}

/// A block's run; the script unpacks its data.
fn player(kernel: &Kernel) -> Markup {
    html! {
        @if let Some(player) = &kernel.player {
            h4 { "Frame by frame" }
            (player.section(&html! {}))
        }
    }
}

/// Its times, shape by shape. On narrow screens the stylesheet labels the cells: there are many.
fn times(kernel: &Kernel) -> Markup {
    if kernel.times.is_empty() {
        return html! {};
    }
    html! {
        details {
            summary { "Times, " (kernel.times.len()) @if kernel.times.len() == 1 { " shape" } @else { " shapes" } }
            table class="many times" {
                thead { tr {
                    @for name in ["shape", "median", "10%", "90%", "runs", "compared with"] { th scope="col" { (name) } }
                } }
                tbody { @for time in &kernel.times {
                    tr {
                        th scope="row" class="name" { (time.shape) }
                        td { (duration(time.median.get())) }
                        @if let Some((p10, p90)) = time.spread {
                            td { (duration(p10.get())) }
                            td { (duration(p90.get())) }
                        } @else {
                            td class="none" { "–" } td class="none" { "–" }
                        }
                        td { (time.n_runs) }
                        td {
                            @for (i, beside) in time.beside.iter().enumerate() {
                                @if i > 0 { ", " }
                                (beside.words())
                            }
                        }
                    }
                } }
            }
            p class="faint" { @if let Some(time) = kernel.time() { (time.on) "." } }
        }
    }
}

/// The PTX, unfolded by the script.
fn ptx(kernel: &Kernel) -> Markup {
    html! {
        @if kernel.ptx.is_some() {
            details class="ptx" {
                summary { "PTX" }
                @if kernel.ptx.as_ref().is_some_and(Listing::is_shortened) {
                    p class="faint" {
                        "It is long: only lines near memory instructions, barriers and "
                        "branches are shown."
                        @if let Some(command) = &kernel.ptx_command { " All of it: " code { (command) } "." }
                    }
                }
                noscript { p { "It is packed; unfolding it needs JavaScript." } }
                pre tabindex="0" {}
            }
        }
    }
}

/// With a capital letter.
fn capital(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(characters).collect()
}
