//! The pane below: its tabs, and what it shows as lines.

use debugger::Debugger;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::parts::{CHANGED, CURRENT, DIM, REVERSED, STRONG, below_heading, heading, put};
use super::tile;
use crate::panes::{Pane, Scroll, last_register, warps};
use crate::view::View;
use crate::warp::active;

/// Most columns of a value of one lane.
const MOST_OF_LANE: usize = 24;

/// Draws the pane.
pub fn draw(view: &mut View, debugger: &Debugger<'_, '_, '_>, buffer: &mut Buffer, area: Rect) {
    let mut tabs = Vec::new();
    for pane in Pane::ALL {
        let text = format!("{} {}", pane.index() + 1, pane.name());
        let style = if pane == view.pane {
            REVERSED
        } else {
            Style::new()
        };
        tabs.push(Span::styled(text, style));
        tabs.push(Span::raw(" "));
    }
    heading(buffer, area, tabs);
    let area = below_heading(area);
    let pane = view.pane;
    match pane {
        Pane::Variables => variables(view, buffer, area),
        Pane::Registers => registers(view, buffer, area),
        Pane::Lanes => lanes(view, debugger, buffer, area),
        Pane::Shared | Pane::Buffers => tile::draw(view, debugger, buffer, area),
        Pane::Waiting => text(view, buffer, area, &debugger.waiting_text()),
        Pane::Calls => text(view, buffer, area, &debugger.frames_text()),
        Pane::Printed => printed(view, debugger, buffer, area),
        Pane::Warps => {
            let rows = &mut view.rows[pane.index()];
            let (lines, own) = warps(debugger);
            listed(rows, buffer, area, &lines, own);
        }
    }
}

/// Lines, of which one stands out and is in sight.
fn listed(
    rows: &mut Scroll,
    buffer: &mut Buffer,
    area: Rect,
    lines: &[String],
    own: Option<usize>,
) {
    rows.settle(lines.len(), area.height.into(), own);
    for (row, (index, line)) in (0..).zip(lines.iter().enumerate().skip(rows.first)) {
        let style = if own == Some(index) {
            CURRENT
        } else {
            Style::new()
        };
        put(
            buffer,
            area,
            row,
            &Line::styled(line.replace('\t', "    "), style),
        );
    }
    more(buffer, area, rows, lines.len());
}

/// Says in the last row how many are out of sight.
fn more(buffer: &mut Buffer, area: Rect, rows: &Scroll, n: usize) {
    let n_below = n.saturating_sub(rows.first + usize::from(area.height));
    let text = match (rows.first, n_below) {
        (0, 0) => return,
        (above, 0) => format!(" {above} above "),
        (0, below) => format!(" {below} below "),
        (above, below) => format!(" {above} above, {below} below "),
    };
    let width = (text.len() as u16).min(area.width);
    let corner = Rect::new(area.right() - width, area.y, width, area.height);
    put(
        buffer,
        corner,
        area.height.saturating_sub(1),
        &Line::styled(text, DIM),
    );
}

fn text(view: &mut View, buffer: &mut Buffer, area: Rect, text: &str) {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    listed(
        &mut view.rows[view.pane.index()],
        buffer,
        area,
        &lines,
        None,
    );
}

/// The printed lines, the last ones in sight.
fn printed(view: &mut View, debugger: &Debugger<'_, '_, '_>, buffer: &mut Buffer, area: Rect) {
    let text = debugger.session().printed(0).concat();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        put(
            buffer,
            area,
            0,
            &Line::styled("nothing has been printed", DIM),
        );
        return;
    }
    let rows = &mut view.rows[Pane::Printed.index()];
    rows.settle(lines.len(), area.height.into(), Some(lines.len() - 1));
    listed(rows, buffer, area, &lines, None);
}

/// The source's variables, changed ones marked.
fn variables(view: &mut View, buffer: &mut Buffer, area: Rect) {
    let lines = &view.variables.lines;
    let changed = lines.iter().position(|(_, has_changed)| *has_changed);
    let rows = &mut view.rows[Pane::Variables.index()];
    rows.settle(lines.len(), area.height.into(), changed);
    for (row, (text, has_changed)) in (0..).zip(lines.iter().skip(rows.first)) {
        let (sign, style) = match has_changed {
            true => ("*", CHANGED),
            false => (" ", Style::new()),
        };
        put(
            buffer,
            area,
            row,
            &Line::styled(format!("{sign}{text}"), style),
        );
    }
    more(buffer, area, rows, lines.len());
}

/// Registers in columns, from above to below.
fn registers(view: &mut View, buffer: &mut Buffer, area: Rect) {
    let texts = view.registers.texts();
    if texts.is_empty() {
        put(
            buffer,
            area,
            0,
            &Line::styled("no register has a value here", DIM),
        );
        return;
    }
    let width = usize::from(area.width);
    let widest = texts.iter().map(|(text, _)| text.len()).max().unwrap_or(0) + 3;
    let n_columns = (width / widest.max(1)).max(1);
    let n_rows = texts.len().div_ceil(n_columns);
    let rows = &mut view.rows[Pane::Registers.index()];
    let changed = view.registers.first_changed().map(|index| index % n_rows);
    rows.settle(n_rows, area.height.into(), changed);
    for row in 0..usize::from(area.height).min(n_rows - rows.first) {
        let mut spans = Vec::new();
        for index in (rows.first + row..texts.len()).step_by(n_rows) {
            let (text, has_changed) = &texts[index];
            let (sign, style) = match has_changed {
                true => ("*", CHANGED),
                false => (" ", Style::new()),
            };
            spans.push(Span::styled(
                format!("{sign}{text:<n$}", n = widest - 1),
                style,
            ));
        }
        put(buffer, area, row as u16, &Line::from(spans));
    }
    more(buffer, area, rows, n_rows);
}

/// An expression in all lanes.
fn lanes(view: &mut View, debugger: &Debugger<'_, '_, '_>, buffer: &mut Buffer, area: Rect) {
    let is_given = !view.expression.is_empty();
    let given = is_given.then(|| view.expression.clone());
    let Some(expression) = given.or_else(|| last_register(debugger)) else {
        let text = "the instruction has no register with a value: e asks for an expression";
        put(buffer, area, 0, &Line::styled(text, DIM));
        return;
    };
    let path = debugger.path();
    let here = path.as_ref().map_or(0, |path| path.lanes);
    let active = path.as_ref().map_or(0, |path| active(debugger, path));
    let values: Vec<Result<String, String>> = (0..32)
        .map(|lane| match here >> lane & 1 {
            0 => Ok("-".to_owned()),
            _ => {
                let value = debugger.print_in(&expression, lane);
                value.map_err(|error| error.to_string())
            }
        })
        .collect();
    let why = values.iter().find_map(|value| value.as_ref().err());
    let hint = match (why, is_given) {
        (Some(why), _) => format!("   ? {why}"),
        (None, true) => String::new(),
        (None, false) => "   (of the instruction; e asks for an expression)".to_owned(),
    };
    let title = vec![Span::styled(expression, STRONG), Span::styled(hint, DIM)];
    put(buffer, area, 0, &Line::from(title));
    let text = |value: &Result<String, String>| match value {
        Ok(value) => value.chars().take(MOST_OF_LANE).collect(),
        Err(_) => "?".to_owned(),
    };
    let texts: Vec<String> = values.iter().map(text).collect();
    let widest = texts
        .iter()
        .map(|text| text.chars().count())
        .max()
        .unwrap_or(1);
    let area = below_heading(area);
    let fit = usize::from(area.width) / (widest + 5);
    let n_columns = [8, 4, 2].into_iter().find(|&n| n <= fit).unwrap_or(1);
    let n_rows = 32 / n_columns;
    let rows = &mut view.rows[Pane::Lanes.index()];
    let focus = debugger.focus().lane as usize;
    rows.settle(n_rows, area.height.into(), Some(focus / n_columns));
    for row in 0..usize::from(area.height).min(n_rows - rows.first) {
        let mut spans = Vec::new();
        let first = (rows.first + row) * n_columns;
        for (lane, text) in texts.iter().enumerate().skip(first).take(n_columns) {
            let style = match active >> lane & 1 {
                _ if lane == focus => CURRENT,
                0 => DIM,
                _ => Style::new(),
            };
            spans.push(Span::styled(format!("{lane:>2} "), DIM));
            spans.push(Span::styled(format!("{text:<n$}", n = widest + 2), style));
        }
        put(buffer, area, row as u16, &Line::from(spans));
    }
    more(buffer, area, rows, n_rows);
}

/// The warps of the block, beside the source.
pub fn warps_beside(debugger: &Debugger<'_, '_, '_>, buffer: &mut Buffer, area: Rect) {
    let title = format!("warps of block {}", debugger.focus().block);
    heading(buffer, area, vec![Span::styled(title, STRONG)]);
    let (lines, own) = warps(debugger);
    let area = below_heading(area);
    let area = Rect::new(
        area.x + area.width.min(1),
        area.y,
        area.width.saturating_sub(1),
        area.height,
    );
    listed(&mut Scroll::default(), buffer, area, &lines, own);
}
