//! The source around the cursor, and the PTX around the thread's instruction.

use debugger::{Debugger, show};
use ptx::ir::{Function, LabelId, Operand};
use ptx_sim::debug::{Known, Position};
use ratatui::style::Style;
use ratatui::text::Span;

use super::parts::{BAD, CURRENT, Canvas, DIM, REVERSED, STRONG, TOUCHED};
use crate::panes::{Scroll, registers_in};
use crate::places::{Spot, here, lines_with_breakpoints, positions_with_breakpoints};
use crate::view::View;
use crate::warp::{instruction, short};

/// Rows that stay between the cursor and the edge.
const MARGIN: usize = 2;

pub fn source(view: &mut View, debugger: &Debugger<'_, '_, '_>, mut canvas: Canvas<'_>) {
    let Some(Spot::Source { file, line }) = &view.cursor else {
        return;
    };
    let mut canvas = canvas.heading(title(view, debugger, file));
    let lines = debugger.sources().lines(file).unwrap_or_default();
    let (rows, target) = (&mut view.source_rows, *line as usize - 1);
    keep_in_sight(rows, lines.len(), canvas.height(), target);
    let stops = lines_with_breakpoints(debugger, file);
    let last = view.last.as_ref();
    let at = last.and_then(|(_, place)| place.source.as_ref());
    let at = at
        .filter(|source| source.file == *file)
        .map(|source| source.line);
    let is_there = debugger.position().is_some();
    let rows = lines.iter().enumerate().skip(view.source_rows.first);
    for (row, (index, text)) in (0..canvas.area.height).zip(rows) {
        let number = index as u32 + 1;
        let is_at = at == Some(number);
        let style = match text.trim_start().starts_with("//") {
            _ if is_at => CURRENT,
            true => DIM,
            false => Style::new(),
        };
        let gutter = if number == *line { REVERSED } else { DIM };
        let text = text.replace('\t', "    ");
        let text: String = text.chars().skip(view.source_column).collect();
        let line = vec![
            mark('●', stops.contains(&number), BAD),
            // Hollow where the thread has ended: it was there last.
            mark(if is_there { '▶' } else { '▷' }, is_at, CURRENT),
            Span::styled(format!("{number:>5}"), gutter),
            Span::raw(" "),
            Span::styled(text, style),
        ];
        canvas.put(row, line);
    }
}

fn mark(sign: char, is_on: bool, style: Style) -> Span<'static> {
    match is_on {
        true => Span::styled(sign.to_string(), style),
        false => Span::raw(" "),
    }
}

/// The file, and what the line was inlined at.
fn title<'a>(view: &View, debugger: &Debugger<'_, '_, '_>, file: &'a str) -> Vec<Span<'a>> {
    let mut spans = vec![Span::styled(file, STRONG)];
    let Some((position, place)) = &view.last else {
        return spans;
    };
    let name = &debugger.program().function(position.function).name;
    spans.push(Span::styled(format!("  in {name}"), DIM));
    for (index, outer) in place.inlined_at.iter().enumerate() {
        let what = if index == 0 { "  inlined at" } else { "," };
        let (file, line) = (short(&outer.file), outer.line);
        spans.push(Span::raw(format!("{what} {file}:{line}")));
    }
    spans
}

/// Scrolls so that a row is in sight, with some around it, by as little as it takes; to its middle
/// if it is far away.
fn keep_in_sight(scroll: &mut Scroll, n: usize, height: usize, target: usize) {
    let margin = MARGIN.min(height.saturating_sub(1) / 2);
    let first = scroll.first;
    let lowest = (target + margin + 1).saturating_sub(height);
    let highest = target.saturating_sub(margin);
    let near = first.clamp(lowest.min(highest), highest);
    scroll.first = match near.abs_diff(first) > height {
        true => target.saturating_sub(height / 2),
        false => near,
    };
    scroll.first = scroll.first.min(n.saturating_sub(height));
    scroll.shown = height;
}

/// The instructions around the thread's; around the cursor where that is in PTX.
pub fn ptx(view: &mut View, debugger: &Debugger<'_, '_, '_>, mut canvas: Canvas<'_>) {
    let here = here(debugger).map(|(position, _)| position);
    let last = view.last.as_ref().map(|(position, _)| *position);
    let cursor = match &view.cursor {
        Some(Spot::Ptx(position)) => Some(*position),
        _ => None,
    };
    let Some(middle) = cursor.or(here).or(last) else {
        return;
    };
    let name = &debugger.program().function(middle.function).name;
    let mut title = vec![Span::styled("PTX", STRONG)];
    if cursor.is_some() {
        title.push(Span::raw(format!(" of {name}")));
    }
    let mut canvas = canvas.heading(title);
    let n = debugger.program().function(middle.function).spots.len();
    let height = canvas.height();
    let first = match cursor {
        Some(position) => {
            let rows = &mut view.source_rows;
            keep_in_sight(rows, n, height, position.instruction as usize);
            rows.first
        }
        // One before it, if there is room.
        None => {
            let before = usize::from(height > 2);
            let first = (middle.instruction as usize).saturating_sub(before);
            first.min(n.saturating_sub(height))
        }
    };
    let stops = positions_with_breakpoints(debugger);
    let key_of = |position| debugger.program().spot(position).map(|spot| spot.line_key);
    let key = here.or(last).and_then(key_of);
    for (row, index) in (0..canvas.area.height).zip(first..n) {
        let position = Position {
            instruction: index as u32,
            ..middle
        };
        let is_here = here.or(last) == Some(position);
        let mut spans = vec![
            mark('●', stops.contains(&position), BAD),
            match is_here {
                true => mark(if here.is_some() { '▶' } else { '▷' }, true, CURRENT),
                false => mark('│', key_of(position) == key, CURRENT),
            },
        ];
        let spot = debugger.program().spot(position);
        let number = spot.map_or(0, |spot| spot.ptx_line);
        let gutter = match cursor == Some(position) {
            true => REVERSED,
            false => DIM,
        };
        spans.push(Span::styled(format!("{number:>5}"), gutter));
        spans.extend(code(debugger, position, is_here, here == Some(position)));
        canvas.put(row, spans);
    }
}

/// An instruction with the labels before it, and with the values of its registers if the thread
/// is there.
fn code(
    debugger: &Debugger<'_, '_, '_>,
    position: Position,
    is_here: bool,
    has_values: bool,
) -> Vec<Span<'static>> {
    let module = debugger.session().module();
    let function = &module.functions[position.function];
    let Some(at) = instruction(debugger, position) else {
        return Vec::new();
    };
    let labels = function.labels.iter();
    let labels = (0..).zip(labels).filter(|(id, label)| {
        label.target == position.instruction && is_branched_to(function, LabelId(*id))
    });
    let labels: String = labels
        .map(|(_, label)| format!("{}: ", label.name))
        .collect();
    let style = if is_here { CURRENT } else { Style::new() };
    let mut spans = vec![
        Span::styled(format!(" {labels}"), DIM),
        Span::styled(show::instruction(module, function, at), style),
    ];
    if has_values {
        let mut registers = Vec::new();
        registers.extend(at.guard.map(|guard| guard.register));
        for operand in &at.operands {
            registers_in(operand, &mut registers);
        }
        let mut shown = Vec::new();
        for id in registers {
            let name = &function.registers[id.0 as usize].name;
            let known = debugger.known(name, debugger.focus().lane);
            if let Ok(known @ Known::Is(_)) = known
                && !shown.contains(&id)
            {
                let value = format!("  {name} = {}", show::known(known));
                spans.push(Span::styled(value, TOUCHED));
                shown.push(id);
            }
        }
    }
    spans
}

/// Whether a branch names a label: the others are there for line tables.
fn is_branched_to(function: &Function, label: LabelId) -> bool {
    let body = function.body.as_deref().unwrap_or_default();
    let mut operands = body.iter().flat_map(|at| &at.operands);
    let mut lists = function.branch_targets.iter();
    operands.any(|operand| *operand == Operand::Label(label))
        || lists.any(|list| list.contains(&label))
}
