//! The view on a screen.
//!
//! From above: where the launch stands; the source, and the PTX of the line; the lanes of the warp;
//! one of the panes; a line for messages and for what is typed. A wide screen has the warps beside
//! the source.

mod code;
mod pane;
mod parts;
mod popup;
mod strip;
mod tile;

use debugger::{Debugger, Unit, show};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::places::Spot;
use crate::view::View;
use parts::{Canvas, DIM, REVERSED, STRONG};

/// From this width on the warps are beside the source.
const WIDE: u16 = 110;
/// Columns of the warps there.
const WARPS_WIDTH: u16 = 44;

/// Rows of the code beside a large pane.
const LEAST_CODE: u16 = 4;

/// Where everything is.
struct Areas {
    status: Rect,
    source: Rect,
    ptx: Rect,
    warps: Rect,
    strip: Rect,
    pane: Rect,
    bottom: Rect,
}

impl Areas {
    fn of(all: Rect, has_source: bool, is_large: bool) -> Self {
        let rest = all.height.saturating_sub(2);
        let strip = if rest >= 8 { 2 } else { 0 };
        let rest = rest - strip;
        let pane = match (rest, is_large) {
            (..10, _) => 0,
            (_, true) => rest - LEAST_CODE,
            (_, false) => (7 * rest / 20).max(6),
        };
        let code = rest - pane;
        let ptx = match (has_source, code) {
            (false, _) => code,
            (true, ..6) => 0,
            (true, _) => (2 * code / 5).max(3),
        };
        let warps = match all.width >= WIDE && code > 2 {
            true => WARPS_WIDTH,
            false => 0,
        };
        let left = all.width - warps;
        let mut y = all.y;
        let mut next = |width, height| {
            let area = Rect::new(all.x, y, width, height).intersection(all);
            y += height;
            area
        };
        let status = next(all.width, 1);
        let source = next(left, code - ptx);
        let ptx = next(left, ptx);
        Self {
            warps: Rect::new(all.x + left, source.y, warps, code).intersection(all),
            status,
            source,
            ptx,
            strip: next(all.width, strip),
            pane: next(all.width, pane),
            bottom: next(all.width, 1),
        }
    }
}

/// Draws the view.
pub fn draw(view: &mut View, debugger: &Debugger<'_, '_, '_>, frame: &mut Frame<'_>) {
    let all = frame.area();
    let has_source = matches!(view.cursor, Some(Spot::Source { .. }));
    let areas = Areas::of(all, has_source, view.is_large);
    let mut screen = Canvas {
        area: all,
        buffer: frame.buffer_mut(),
    };
    let cut_off = status(view, debugger, screen.at(areas.status));
    code::source(view, debugger, screen.at(areas.source));
    code::ptx(view, debugger, screen.at(areas.ptx));
    pane::warps_beside(debugger, screen.at(areas.warps));
    strip::draw(debugger, screen.at(areas.strip));
    pane::draw(view, debugger, screen.at(areas.pane));
    let caret = bottom(view, cut_off.as_deref(), screen.at(areas.bottom));
    if let Some(popup) = &mut view.popup {
        popup::draw(popup, screen);
    }
    if let Some(x) = caret.filter(|_| !areas.bottom.is_empty()) {
        frame.set_cursor_position((x, areas.bottom.y));
    }
}

/// When, which thread, and why the launch was halted; gives the latter if it does not fit.
fn status(view: &View, debugger: &Debugger<'_, '_, '_>, mut canvas: Canvas<'_>) -> Option<String> {
    let focus = debugger.focus();
    let session = debugger.session();
    let (ctaid, tid) = session.thread(focus.block, focus.warp, focus.lane);
    let mut text = format!(
        " time {}  block {}  thread {}  warp {} lane {}",
        show::count(session.time()),
        show::triple(ctaid),
        show::triple(tid),
        focus.warp,
        focus.lane
    );
    text.push_str(match view.unit {
        Unit::Thread => "",
        Unit::Block => "  steps: block",
        Unit::Launch => "  steps: launch",
    });
    let reason = match session.is_at_end() && view.reason.is_empty() {
        true => "the launch has ended",
        false => &view.reason,
    };
    let width = canvas.width();
    let line = vec![
        Span::styled(format!("{text}  "), REVERSED),
        Span::styled(format!("{reason:width$}"), REVERSED.patch(STRONG)),
    ];
    canvas.put(0, line);
    let fits = Span::raw(text).width() + 2 + Span::raw(reason).width() <= width;
    (!fits).then(|| reason.to_owned())
}

/// What is typed, or the message, or what the first line has no room for, or the keys that are used
/// most. Gives the caret's column.
fn bottom(view: &View, cut_off: Option<&str>, mut canvas: Canvas<'_>) -> Option<u16> {
    let Some(prompt) = &view.prompt else {
        let line = match (view.message.as_str(), cut_off) {
            ("", Some(reason)) => Line::styled(reason, STRONG),
            ("", None) => Line::styled(
                "n next  s step  i instruction  c continue (capitals: back)  b break  ? help",
                DIM,
            ),
            (message, _) => Line::styled(message, STRONG),
        };
        canvas.put(0, line);
        return None;
    };
    let label = prompt.label();
    let before: String = prompt.text.chars().take(prompt.at).collect();
    let before = Span::raw(before).width() + label.len();
    // What does not fit goes out of sight on the left.
    let n_hidden = (before + 1).saturating_sub(canvas.width().max(1));
    let text = format!("{label}{}", prompt.text);
    let text: String = text.chars().skip(n_hidden).collect();
    canvas.say(0, &text, STRONG);
    Some(canvas.area.x + (before - n_hidden) as u16)
}
