//! The pane below: its tabs, and what it shows as lines.

use debugger::Debugger;
use ratatui::style::Style;
use ratatui::text::Span;

use super::parts::{CHANGED, CURRENT, Canvas, DIM, REVERSED, STRONG};
use super::tile;
use crate::panes::{Pane, Scroll, last_register, warps};
use crate::view::View;
use crate::warp::active;

/// Most columns of a value of one lane.
const MOST_OF_LANE: usize = 24;

/// Draws the pane.
pub fn draw(view: &mut View, debugger: &Debugger<'_, '_, '_>, mut canvas: Canvas<'_>) {
    let mut tabs = Vec::new();
    for pane in Pane::ALL {
        let text = format!("{} {}", pane.index() + 1, pane.name());
        let style = match pane == view.pane {
            true => REVERSED,
            false => Style::new(),
        };
        tabs.push(Span::styled(text, style));
        tabs.push(Span::raw(" "));
    }
    let canvas = canvas.heading(tabs);
    let rows = &mut view.rows[view.pane.index()];
    match view.pane {
        Pane::Variables => variables(view, canvas),
        Pane::Registers => registers(view, canvas),
        Pane::Lanes => lanes(view, debugger, canvas),
        Pane::Shared | Pane::Buffers => tile::draw(view, debugger, canvas),
        Pane::Waiting => listed(rows, canvas, &lines(&debugger.waiting_text()), None),
        Pane::Calls => listed(rows, canvas, &lines(&debugger.frames_text()), None),
        Pane::Printed => printed(rows, debugger, canvas),
        Pane::Warps => {
            let (lines, own) = warps(debugger);
            listed(rows, canvas, &lines, own);
        }
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// Lines, of which one stands out and is in sight.
fn listed(rows: &mut Scroll, mut canvas: Canvas<'_>, lines: &[String], own: Option<usize>) {
    rows.settle(lines.len(), canvas.height(), own);
    for (row, (index, line)) in (0..).zip(lines.iter().enumerate().skip(rows.first)) {
        let style = match own == Some(index) {
            true => CURRENT,
            false => Style::new(),
        };
        canvas.say(row, &line.replace('\t', "    "), style);
    }
    more(canvas, rows, lines.len());
}

/// Says in the last row how many are out of sight.
fn more(mut canvas: Canvas<'_>, rows: &Scroll, n: usize) {
    let text = match (rows.first, n.saturating_sub(rows.first + canvas.height())) {
        (0, 0) => return,
        (above, 0) => format!(" {above} above "),
        (0, below) => format!(" {below} below "),
        (above, below) => format!(" {above} above, {below} below "),
    };
    let (height, width) = (canvas.area.height, canvas.area.width);
    let mut corner = canvas.without(0, width.saturating_sub(text.len() as u16));
    corner.say(height.saturating_sub(1), &text, DIM);
}

/// The printed lines, the last ones in sight.
fn printed(rows: &mut Scroll, debugger: &Debugger<'_, '_, '_>, mut canvas: Canvas<'_>) {
    let lines = lines(&debugger.session().printed(0).concat());
    if lines.is_empty() {
        return canvas.say(0, "nothing has been printed", DIM);
    }
    rows.settle(lines.len(), canvas.height(), Some(lines.len() - 1));
    listed(rows, canvas, &lines, None);
}

/// The sign and the style of what the last move may have changed.
fn changed(has_changed: bool) -> (char, Style) {
    match has_changed {
        true => ('*', CHANGED),
        false => (' ', Style::new()),
    }
}

/// The source's variables, changed ones marked.
fn variables(view: &mut View, mut canvas: Canvas<'_>) {
    let lines = &view.variables.lines;
    let first_changed = lines.iter().position(|(_, has_changed)| *has_changed);
    let rows = &mut view.rows[Pane::Variables.index()];
    rows.settle(lines.len(), canvas.height(), first_changed);
    for (row, (text, has_changed)) in (0..).zip(lines.iter().skip(rows.first)) {
        let (sign, style) = changed(*has_changed);
        canvas.say(row, &format!("{sign}{text}"), style);
    }
    more(canvas, rows, lines.len());
}

/// Registers in columns, from above to below.
fn registers(view: &mut View, mut canvas: Canvas<'_>) {
    let texts = view.registers.texts();
    if texts.is_empty() {
        return canvas.say(0, "no register has a value here", DIM);
    }
    let widest = texts.iter().map(|(text, _)| text.len()).max().unwrap_or(0) + 3;
    let n_columns = (canvas.width() / widest).max(1);
    let n_rows = texts.len().div_ceil(n_columns);
    let rows = &mut view.rows[Pane::Registers.index()];
    let first_changed = view.registers.first_changed().map(|index| index % n_rows);
    rows.settle(n_rows, canvas.height(), first_changed);
    for row in 0..canvas.height().min(n_rows - rows.first) {
        let mut spans = Vec::new();
        for index in (rows.first + row..texts.len()).step_by(n_rows) {
            let (text, has_changed) = &texts[index];
            let (sign, style) = changed(*has_changed);
            let text = format!("{sign}{text:<n$}", n = widest - 1);
            spans.push(Span::styled(text, style));
        }
        canvas.put(row as u16, spans);
    }
    more(canvas, rows, n_rows);
}

/// An expression in all lanes.
fn lanes(view: &mut View, debugger: &Debugger<'_, '_, '_>, mut canvas: Canvas<'_>) {
    let is_given = !view.expression.is_empty();
    let given = is_given.then(|| view.expression.clone());
    let Some(expression) = given.or_else(|| last_register(debugger)) else {
        let text = "the instruction has no register with a value: e asks for an expression";
        return canvas.say(0, text, DIM);
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
    canvas.put(0, title);
    let text = |value: &Result<String, String>| match value {
        Ok(value) => value.chars().take(MOST_OF_LANE).collect(),
        Err(_) => "?".to_owned(),
    };
    let texts: Vec<String> = values.iter().map(text).collect();
    let widths = texts.iter().map(|text| text.chars().count());
    let widest = widths.max().unwrap_or(1);
    let mut canvas = canvas.without(1, 0);
    let fit = canvas.width() / (widest + 5);
    let n_columns = [8, 4, 2].into_iter().find(|&n| n <= fit).unwrap_or(1);
    let n_rows = 32 / n_columns;
    let rows = &mut view.rows[Pane::Lanes.index()];
    let focus = debugger.focus().lane as usize;
    rows.settle(n_rows, canvas.height(), Some(focus / n_columns));
    for row in 0..canvas.height().min(n_rows - rows.first) {
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
        canvas.put(row as u16, spans);
    }
    more(canvas, rows, n_rows);
}

/// The warps of the block, beside the source.
pub fn warps_beside(debugger: &Debugger<'_, '_, '_>, mut canvas: Canvas<'_>) {
    let title = format!("warps of block {}", debugger.focus().block);
    let mut canvas = canvas.heading(vec![Span::styled(title, STRONG)]);
    let (lines, own) = warps(debugger);
    listed(&mut Scroll::default(), canvas.without(0, 1), &lines, own);
}
