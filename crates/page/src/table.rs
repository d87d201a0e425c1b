//! A group's table: its kernels one below another, with their costs and times.

use crate::heat::bar;
use crate::kernel::{Counted, Kernel, State, Time};
use crate::numbers::{NONE, duration, grouped, short};
use crate::page::Group;
use crate::work::{Cost, Row};
use lockstep::counts::Metric;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// The work of a kernel in one part of memory.
fn cost(counted: &Counted, of: impl Fn(&Row) -> (u64, u64)) -> Cost {
    counted.rows.iter().fold(Cost::default(), |sum, row| {
        let (work, ideal) = of(row);
        Cost {
            work: sum.work + work,
            wasted: sum.wasted + work.saturating_sub(ideal),
        }
    })
}

fn in_shared(counted: &Counted) -> Cost {
    cost(counted, |row| (row.wavefronts, row.ideal_wavefronts))
}

fn in_sectors(counted: &Counted) -> Cost {
    cost(counted, |row| (row.sectors, row.ideal_sectors))
}

/// The scale on which the group's kernels are compared.
struct Scale<'g> {
    /// The shape that most of them were timed at; of several, the largest.
    shape: Option<&'g str>,
    /// The highest work in the group, which is the length of a full bar.
    wavefronts: u64,
    sectors: u64,
    /// The longest time at the shape.
    time_ms: f64,
}

/// The shape that most kernels were timed at; of several, the last one.
fn common_shape(group: &Group) -> Option<&str> {
    let mut shapes: Vec<(&str, usize)> = Vec::new();
    for time in group.kernels.iter().flat_map(|kernel| &kernel.times) {
        match shapes.iter_mut().find(|(shape, _)| *shape == time.shape) {
            Some((_, n)) => *n += 1,
            None => shapes.push((&time.shape, 1)),
        }
    }
    shapes
        .into_iter()
        .max_by_key(|(_, n)| *n)
        .map(|(shape, _)| shape)
}

impl<'g> Scale<'g> {
    fn of(group: &'g Group) -> Self {
        let counted = || group.kernels.iter().filter_map(Kernel::counted);
        let shape = common_shape(group);
        let times = group.kernels.iter().flat_map(|kernel| &kernel.times);
        let times = times.filter(|time| Some(&*time.shape) == shape);
        Self {
            shape,
            wavefronts: counted().map(|c| in_shared(c).work).max().unwrap_or(0),
            sectors: counted().map(|c| in_sectors(c).work).max().unwrap_or(0),
            time_ms: times.map(|time| time.median.get()).fold(0.0, f64::max),
        }
    }

    /// The kernel's time at the common shape; else at its largest.
    fn time<'k>(&self, kernel: &'k Kernel) -> Option<&'k Time> {
        let common = kernel
            .times
            .iter()
            .find(|time| Some(&*time.shape) == self.shape);
        common.or(kernel.time())
    }
}

/// The table, and the origin of its figures.
pub fn of(group: &Group) -> Markup {
    let scale = Scale::of(group);
    html! {
        table class="ladder many" {
            thead { tr {
                @for (name, is_words) in [("kernel", true), ("wavefronts", true), ("conflicts", false),
                    ("sectors", true), ("per load", false), ("per store", false), ("local", false),
                    ("time", true), ("compared with", true)] {
                    th scope="col" class=[is_words.then_some("left")] { (name) }
                }
            } }
            tbody { @for kernel in &group.kernels { (row(group, kernel, &scale)) } }
        }
        (provenance(group))
    }
}

fn row(group: &Group, kernel: &Kernel, scale: &Scale<'_>) -> Markup {
    let anchor = group.anchor_of(kernel);
    html! {
        tr data-kernel=(anchor) {
            th scope="row" class="name left" {
                a href=(format!("#{anchor}")) { code { (kernel.name) } }
                @if matches!(kernel.state(), State::Failed | State::NotRun) {
                    " " span class=(format!("badge {}", kernel.state().class())) { (kernel.state().words()) }
                }
                div class="technique" { (kernel.technique) }
            }
            @match kernel.counted() {
                Some(counted) => (counts(counted, scale)),
                None => td class="left faint wide" colspan="6" { (not_counted(kernel)) },
            }
            @match scale.time(kernel) {
                Some(time) => (timed(time, scale)),
                None => td class="left faint" colspan="2" data-label="time" { "not measured" },
            }
        }
    }
}

fn not_counted(kernel: &Kernel) -> &str {
    kernel.counted.as_ref().err().map_or("", String::as_str)
}

fn counts(counted: &Counted, scale: &Scale<'_>) -> Markup {
    let (shared, sectors) = (in_shared(counted), in_sectors(counted));
    let conflicts: u64 = counted.rows.iter().map(|row| row.conflicts).sum();
    let local = counted.totals.local_load_sectors + counted.totals.local_store_sectors;
    let per = |metric: Metric| metric.of(&counted.totals);
    let has_shared = shared.work > 0;
    html! {
        (work("wavefronts", shared, scale.wavefronts))
        @if has_shared {
            td class=[(conflicts > 0).then_some("bad")] data-label="bank conflicts" { (grouped(conflicts)) }
        } @else {
            td class="none" { (NONE) }
        }
        (work("sectors", sectors, scale.sectors))
        (ratio("sectors per load", per(Metric::GlobalLoadSectorsPerRequest)))
        (ratio("sectors per store", per(Metric::GlobalStoreSectorsPerRequest)))
        @if local > 0 {
            td class="bad" data-label="local sectors" { (grouped(local)) }
        } @else {
            td class="none" { (NONE) }
        }
    }
}

fn work(label: &str, cost: Cost, most: u64) -> Markup {
    if cost.work == 0 {
        return html! { td class="none left" { (NONE) } };
    }
    html! {
        td class="amount left" data-label=(label) { span class="figure" { (grouped(cost.work)) } (bar(cost, most)) }
    }
}

fn ratio(label: &str, value: Option<f64>) -> Markup {
    match value.filter(|value| value.is_finite()) {
        Some(value) => html! { td data-label=(label) { (short(value, 2)) } },
        None => html! { td class="none" { (NONE) } },
    }
}

fn timed(time: &Time, scale: &Scale<'_>) -> Markup {
    // Bars of times at other shapes cannot be compared.
    let is_common = Some(&*time.shape) == scale.shape;
    let share = 100.0 * time.median.get() / scale.time_ms;
    html! {
        td class="amount left" data-label="time" {
            span class="figure" { (duration(time.median.get())) }
            " " span class="faint" { "at " (time.shape) }
            @if is_common {
                span class="bar" aria-hidden="true" { span class="time" style=(format!("width:{share:.2}%")) {} }
            }
        }
        @if time.beside.is_empty() {
            td class="none left" { (NONE) }
        } @else {
            td class="left beside" data-label="compared with" {
                @for beside in &time.beside {
                    div { (beside.words()) }
                }
            }
        }
    }
}

/// The origin of the figures: shapes, and the devices that were measured.
fn provenance(group: &Group) -> Markup {
    let counted = group.kernels.iter().filter_map(Kernel::counted);
    let shapes: BTreeSet<&str> = counted
        .map(|c| c.shape.as_str())
        .filter(|s| !s.is_empty())
        .collect();
    let shapes: Vec<&str> = shapes.into_iter().collect();
    let times = group.kernels.iter().filter_map(Kernel::time);
    let on: BTreeSet<&str> = times.map(|time| time.on.as_str()).collect();
    html! {
        p class="faint provenance" {
            @if !shapes.is_empty() { "Counted on the simulator at " (shapes.join(", ")) ". " }
            @if on.is_empty() { "Times: not measured." }
            @for on in on { "Times: " (on) ". " }
        }
    }
}
