//! The lanes of the warp and the warps of the block, a cell for each.

use debugger::Debugger;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

use super::parts::{BAD, CURRENT, Canvas, DIM, STRONG};
use crate::warp::{self, LaneMark, lanes, sign_of};

/// Lanes between gaps.
const GROUP: usize = 8;

/// The lanes with the warps beside them, and what the signs stand for.
pub fn draw(debugger: &Debugger<'_, '_, '_>, mut canvas: Canvas<'_>) {
    let focus = debugger.focus();
    let (Some(lanes), Some(block)) = (lanes(debugger), warp::block(debugger)) else {
        let text = format!("block {} has not begun, or has ended", focus.block);
        return canvas.say(0, &text, DIM);
    };
    let mut spans = vec![Span::styled("lanes", STRONG)];
    for (lane, mark) in lanes.marks.iter().enumerate() {
        if lane % GROUP == 0 {
            spans.push(Span::raw(" "));
        }
        let style = chosen(style_of(*mark), lane as u32 == focus.lane);
        spans.push(Span::styled(mark.sign().to_string(), style));
    }
    spans.push(Span::styled(" warps ", STRONG));
    for state in &block.warps {
        let sign = sign_of(state);
        let style = match sign {
            '·' => DIM,
            'r' => Style::new().fg(Color::Green),
            _ => Style::new().fg(Color::Yellow),
        };
        let style = chosen(style, state.index == focus.warp);
        spans.push(Span::styled(sign.to_string(), style));
    }
    canvas.put(0, spans);
    let legend = lanes.legend(debugger).join("  ");
    canvas.put(1, format!("      {legend}"));
}

fn style_of(mark: LaneMark) -> Style {
    match mark {
        LaneMark::Here => CURRENT,
        LaneMark::GuardedOff => Style::new().fg(Color::Yellow),
        LaneMark::Elsewhere(_) => BAD,
        LaneMark::Ended | LaneMark::Absent => DIM,
    }
}

/// A style, turned round for what is looked at.
fn chosen(style: Style, is_chosen: bool) -> Style {
    match is_chosen {
        true => style.add_modifier(Modifier::REVERSED),
        false => style,
    }
}
