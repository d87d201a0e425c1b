//! Memory with a name, as a tile: its values, or the lanes that touch its words.

use debugger::element::{self, Element};
use debugger::names::Named;
use debugger::{Debugger, show};
use maps::{Access, AccessMap};
use ptx::ir::Space;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::parts::{BAD, Canvas, DIM, STRONG, TOUCHED};
use crate::access;
use crate::panes::named;
use crate::view::View;

/// Columns for a row's number.
const LABEL: usize = 7;
/// Most columns of a value.
const MOST: usize = 12;

/// A tile as it is drawn.
struct Tile<'a> {
    named: &'a Named,
    /// Elements of a row.
    row: usize,
    n_rows: usize,
    /// The lanes that the current instruction touches it in, and the elements.
    touches: Vec<Touch>,
    focus: u32,
}

/// A lane that touches elements.
struct Touch {
    lane: u32,
    first: usize,
    end: usize,
    /// Whether its bank gives it its word in a pass of its own.
    is_late: bool,
}

/// Draws the tile.
pub fn draw(view: &mut View, debugger: &Debugger<'_, '_, '_>, mut canvas: Canvas<'_>) {
    let Some(space) = view.pane.space() else {
        return;
    };
    let all = named(debugger, space);
    let accesses = access::of_current(debugger);
    let access = accesses.iter().find(|access| access.space == space);
    let (chosen, is_chosen) = view.shown_memory();
    let Some(named) = all.get(chosen).or(all.first()) else {
        let text = match space {
            Space::Shared => "the kernel has no variables in shared memory",
            _ => "there are no buffers",
        };
        return canvas.say(0, text, DIM);
    };
    let map = access.map(AccessMap::of);
    let row = (named.row().max(1) as usize).min(named.len().max(1) as usize);
    let tile = Tile {
        named,
        row,
        n_rows: (named.len() as usize).div_ceil(row),
        touches: access.map_or_else(Vec::new, |access| touches(named, access, map.as_ref())),
        focus: debugger.focus().lane,
    };
    canvas.put(0, tile.title(all.len(), is_chosen));
    let summary = match (&map, tile.touches.is_empty()) {
        (Some(map), false) => Line::styled(map.summary(), style_of(map)),
        (Some(map), true) => Line::styled(format!("elsewhere: {}", map.summary()), DIM),
        (None, _) => Line::styled("the instruction does not touch this memory", DIM),
    };
    canvas.put(1, summary);
    tile.cells(view, debugger, canvas.without(2, 0));
}

fn style_of(map: &AccessMap) -> Style {
    match map {
        AccessMap::Banks(banks) if banks.has_conflicts() => BAD,
        _ => TOUCHED,
    }
}

/// The elements of a variable that lanes touch.
fn touches(named: &Named, access: &Access, map: Option<&AccessMap>) -> Vec<Touch> {
    let element = named.element.bytes();
    let end_of = named.address + named.size_bytes;
    let mut late = 0_u32;
    if let Some(AccessMap::Banks(banks)) = map {
        let cells = banks.phases.iter().flat_map(|phase| &phase.cells);
        for cell in cells.filter(|cell| cell.wavefront > 0) {
            late |= cell.lanes.iter().fold(0, |all, lane| all | 1 << lane);
        }
    }
    let lanes = (0..32).filter(|lane| access.mask >> lane & 1 != 0);
    let touches = lanes.filter_map(|lane: u32| {
        let address = access.addresses[lane as usize];
        let end = address + u64::from(access.bytes);
        (address >= named.address && end <= end_of).then(|| Touch {
            lane,
            first: ((address - named.address) / element) as usize,
            end: ((end - named.address).div_ceil(element)) as usize,
            is_late: late >> lane & 1 != 0,
        })
    });
    touches.collect()
}

/// A lane as one character, as numbers to the base 32 have it.
fn digit(lane: u32) -> char {
    char::from_digit(lane, 32).unwrap_or('?')
}

impl Tile<'_> {
    fn title(&self, n_named: usize, is_chosen: bool) -> Line<'static> {
        let named = self.named;
        let shape = format!(
            "  {} × {}, rows of {}",
            show::count(named.len()),
            named.element,
            self.row
        );
        let hint = match (n_named, is_chosen) {
            (..2, _) => "   v: lanes or values",
            (_, true) => "   v: lanes or values, m: other memory",
            (_, false) => "   v: lanes or values, m: other memory than what is touched",
        };
        Line::from(vec![
            Span::styled(named.name.clone(), STRONG),
            Span::raw(shape),
            Span::styled(hint, DIM),
        ])
    }

    /// Where the lane that is looked at touches it, else the first lane.
    fn target(&self) -> Option<usize> {
        let own = self.touches.iter().find(|touch| touch.lane == self.focus);
        own.or(self.touches.first()).map(|touch| touch.first)
    }

    fn value(&self, debugger: &Debugger<'_, '_, '_>, index: usize) -> String {
        let bytes = debugger.element(self.named, debugger.focus().block, index as u64);
        bytes.map_or("?".to_owned(), |bytes| brief(self.named.element, &bytes))
    }

    /// The lanes that touch an element as one character, and whether one has to wait.
    fn touched(&self, index: usize) -> Option<(char, bool)> {
        let is_here = |touch: &&Touch| (touch.first..touch.end).contains(&index);
        let here: Vec<&Touch> = self.touches.iter().filter(is_here).collect();
        let sign = match here[..] {
            [] => return None,
            [one] => digit(one.lane),
            _ => '+',
        };
        Some((sign, here.iter().any(|touch| touch.is_late)))
    }

    fn cells(&self, view: &mut View, debugger: &Debugger<'_, '_, '_>, mut canvas: Canvas<'_>) {
        let shown = canvas.height().saturating_sub(1);
        let target = self.target();
        let rows = &mut view.rows[view.pane.index()];
        rows.settle(self.n_rows, shown, target.map(|index| index / self.row));
        let rows = rows.first..(rows.first + shown).min(self.n_rows);
        let width = canvas.width().saturating_sub(LABEL);
        let inside = |index: usize| index < self.named.len() as usize;
        let in_rows = |column: usize| {
            let all = rows.clone().map(move |row| row * self.row + column);
            all.filter(|&index| inside(index))
        };
        // As wide as the widest value in sight, of all columns: so that they do not move.
        let widest = match view.shows_lanes {
            true => 1,
            false => {
                let all = (0..self.row).flat_map(in_rows).take(1 << 12);
                let widths = all.map(|index| self.value(debugger, index).len());
                widths.max().unwrap_or(1).max(2)
            }
        };
        let cell = widest + if view.shows_lanes { 1 } else { 2 };
        let n_columns = (width / cell).max(1);
        let columns = &mut view.columns;
        columns.settle(self.row, n_columns, target.map(|index| index % self.row));
        let columns = columns.first..(columns.first + n_columns).min(self.row);
        let mut spans = vec![Span::raw(format!("{:LABEL$}", ""))];
        for column in columns.clone() {
            // In narrow cells only every other number, or of four.
            let text = match (cell > 2, column % 4) {
                (true, _) => format!("{column:>cell$}"),
                (false, 0) => format!("{column:<cell$}"),
                (false, _) => " ".repeat(cell),
            };
            let text: String = text.chars().take(cell.max(2)).collect();
            spans.push(Span::styled(text, DIM));
        }
        canvas.put(0, spans);
        for (at, row) in (1..).zip(rows.clone()) {
            let mut spans = vec![Span::styled(format!("{row:>6} "), DIM)];
            let indices = columns.clone().map(|column| row * self.row + column);
            for index in indices.filter(|&index| inside(index)) {
                spans.push(self.cell(view.shows_lanes, debugger, index, widest));
            }
            canvas.put(at, spans);
        }
    }

    fn cell(
        &self,
        shows_lanes: bool,
        debugger: &Debugger<'_, '_, '_>,
        index: usize,
        widest: usize,
    ) -> Span<'static> {
        let touched = self.touched(index);
        let style = match touched {
            None => Style::new(),
            Some((_, false)) => TOUCHED,
            Some((_, true)) => BAD,
        };
        if shows_lanes {
            return match touched {
                Some((sign, _)) => Span::styled(format!("{sign} "), style),
                None => Span::styled("· ", DIM),
            };
        }
        let sign = match touched {
            None => "",
            Some((_, false)) => "*",
            Some((_, true)) => "!",
        };
        let text = format!("{sign}{}", self.value(debugger, index));
        Span::styled(format!("{text:>n$}", n = widest + 2), style)
    }
}

/// A value in few columns.
fn brief(element: Element, bytes: &[u8]) -> String {
    let text = element::text(element, bytes);
    if text.len() <= MOST {
        return text;
    }
    match element::number(element, bytes) {
        element::Number::Float(value) => format!("{value:.4e}"),
        element::Number::Integer(_) => text,
    }
}
