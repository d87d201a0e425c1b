//! The styles of text for people.

use anstyle::{AnsiColor, Style};
use lesson::Status;

/// For what passed.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// For what failed.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// For what was not run.
pub const UNSURE: Style = AnsiColor::Yellow.on_default();
/// For headings.
pub const HEADING: Style = Style::new().bold();
/// For less important text.
pub const FAINT: Style = Style::new().dimmed();

/// The style of a status.
pub const fn style_of(status: Status) -> Style {
    match status {
        Status::Passed => GOOD,
        Status::Failed => BAD,
        Status::NotRun => UNSURE,
    }
}
