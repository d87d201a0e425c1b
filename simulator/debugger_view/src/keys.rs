//! Keys and what they do.

use debugger::{Direction, Reach};
use ratatui::crossterm::event::KeyCode;

use crate::panes::Pane;
use Direction::{Backwards, Forwards};
use KeyCode::Char;

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A step.
    Step(Reach, Direction),
    /// To the next breakpoint, or to the one before.
    GoOn(Direction),
    /// To the line that the cursor is on.
    ToCursor(Direction),
    /// Sets a breakpoint at the cursor, or removes it.
    Breakpoint,
    /// Whose instructions count as steps: the thread's, its block's, all.
    Unit,
    /// Asks for a text.
    Ask(Asked),
    /// What the checks find, or its other side.
    Finding {
        /// What happened before it.
        is_other: bool,
    },
    /// Another lane.
    Lane(i32),
    /// Another warp of the block.
    Warp(i32),
    /// Another block of those that run.
    Block(i32),
    /// Moves the cursor by lines.
    Cursor(i32),
    /// Moves the cursor back to where the thread is.
    CursorHome,
    /// Scrolls the pane by rows.
    Rows(i32),
    /// Scrolls the tile, else the source, by columns.
    Columns(i32),
    /// Shows a pane.
    Pane(Pane),
    /// Shows the pane that is so many further.
    PaneBy(i32),
    /// Shows other memory with a name.
    Memory(i32),
    /// Shows a tile as values or as lanes.
    Lanes,
    /// Shows PTX and no source.
    Ptx,
    /// Gives the pane more room.
    Large,
    /// Shows the keys.
    Help,
    /// Ends: the launch runs to its end.
    Quit,
    /// The same for all launches that come after it.
    Detach,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A command of the debugger by lines.
    Command,
    /// Memory, whose last write is looked for.
    LastWrite,
    /// A time.
    Time,
    /// The expression that the lanes are shown of.
    Expression,
    /// A place to halt at.
    Breakpoint,
}

/// Every key that is one character, and some that have a name.
pub const KEYS: [(KeyCode, Action); 62] = [
    (Char('n'), Action::Step(Reach::Over, Forwards)),
    (Char('N'), Action::Step(Reach::Over, Backwards)),
    (Char('s'), Action::Step(Reach::Into, Forwards)),
    (Char('S'), Action::Step(Reach::Into, Backwards)),
    (Char('o'), Action::Step(Reach::Out, Forwards)),
    (Char('O'), Action::Step(Reach::Out, Backwards)),
    (Char('i'), Action::Step(Reach::Instruction, Forwards)),
    (Char('I'), Action::Step(Reach::Instruction, Backwards)),
    (Char('r'), Action::Step(Reach::Barrier, Forwards)),
    (Char('R'), Action::Step(Reach::Barrier, Backwards)),
    (Char('d'), Action::Step(Reach::Divergence, Forwards)),
    (Char('D'), Action::Step(Reach::Divergence, Backwards)),
    (Char('c'), Action::GoOn(Forwards)),
    (Char('C'), Action::GoOn(Backwards)),
    (Char('h'), Action::ToCursor(Forwards)),
    (Char('H'), Action::ToCursor(Backwards)),
    (Char('b'), Action::Breakpoint),
    (Char('B'), Action::Ask(Asked::Breakpoint)),
    (Char('u'), Action::Unit),
    (Char('w'), Action::Ask(Asked::LastWrite)),
    (Char('g'), Action::Ask(Asked::Time)),
    (Char('e'), Action::Ask(Asked::Expression)),
    (Char(':'), Action::Ask(Asked::Command)),
    (Char('f'), Action::Finding { is_other: false }),
    (Char('F'), Action::Finding { is_other: true }),
    (Char('<'), Action::Lane(-1)),
    (Char('>'), Action::Lane(1)),
    (Char('['), Action::Warp(-1)),
    (Char(']'), Action::Warp(1)),
    (Char('{'), Action::Block(-1)),
    (Char('}'), Action::Block(1)),
    (KeyCode::Up, Action::Cursor(-1)),
    (KeyCode::Down, Action::Cursor(1)),
    (Char('k'), Action::Cursor(-1)),
    (Char('j'), Action::Cursor(1)),
    (Char('.'), Action::CursorHome),
    (KeyCode::Home, Action::CursorHome),
    (KeyCode::PageUp, Action::Rows(-1)),
    (KeyCode::PageDown, Action::Rows(1)),
    (Char('-'), Action::Rows(-1)),
    (Char('+'), Action::Rows(1)),
    (KeyCode::Left, Action::Columns(-1)),
    (KeyCode::Right, Action::Columns(1)),
    (Char('1'), Action::Pane(Pane::Variables)),
    (Char('2'), Action::Pane(Pane::Registers)),
    (Char('3'), Action::Pane(Pane::Lanes)),
    (Char('4'), Action::Pane(Pane::Shared)),
    (Char('5'), Action::Pane(Pane::Buffers)),
    (Char('6'), Action::Pane(Pane::Waiting)),
    (Char('7'), Action::Pane(Pane::Printed)),
    (Char('8'), Action::Pane(Pane::Calls)),
    (Char('9'), Action::Pane(Pane::Warps)),
    (KeyCode::Tab, Action::PaneBy(1)),
    (KeyCode::BackTab, Action::PaneBy(-1)),
    (Char('m'), Action::Memory(1)),
    (Char('M'), Action::Memory(-1)),
    (Char('v'), Action::Lanes),
    (Char('p'), Action::Ptx),
    (Char('z'), Action::Large),
    (Char('?'), Action::Help),
    (Char('q'), Action::Quit),
    (Char('Q'), Action::Detach),
];

/// What the keys do, in words: the keys, and what they do. Without keys it is a heading.
pub const HELP: [(&str, &str); 44] = [
    ("", "Going: small letters forwards, capitals backwards"),
    ("n N", "to the next source line, over functions"),
    ("s S", "to the next source line, into functions"),
    ("o O", "out of the function"),
    ("i I", "to the next PTX instruction"),
    ("r R", "to the next barrier"),
    ("d D", "to where lanes go different ways next"),
    ("c C", "to the next breakpoint, or to the end"),
    ("h H", "here: to the line that the cursor is on"),
    ("g", "to a time: a number, or `end`"),
    ("w", "to the last write of an element, such as out[37]"),
    ("f F", "to what the checks find; to what happened before it"),
    (
        "u",
        "steps are of the thread, of its block or of the launch",
    ),
    ("Esc Ctrl-C", "halts a launch that runs"),
    ("", "Breakpoints"),
    ("b", "at the line of the cursor: sets or removes one"),
    (
        "B",
        "anywhere: 41 if lane == 3, ptx:120, barrier, write out[3]",
    ),
    ("", "Looking"),
    ("< >", "the previous or next lane"),
    ("[ ]", "the previous or next warp"),
    ("{ }", "the previous or next block that runs"),
    ("Up Down k j", "moves the cursor in the source"),
    ("Home .", "moves it back to where the thread is"),
    ("Left Right", "scrolls the tile, else the source, sideways"),
    ("PgUp PgDn - +", "scrolls the pane"),
    ("1 2 3 4 5 6 7 8 9", "the panes, by their numbers"),
    ("Tab Shift-Tab", "the next pane, the previous one"),
    ("m M", "memory: what is touched, or always the same"),
    (
        "v",
        "a tile as values, or as the lanes that touch its words",
    ),
    ("e", "the expression of the lanes"),
    ("z", "a large pane, or a small one"),
    ("p", "only PTX in place of the source"),
    (
        ":",
        "a command, such as `shape tile 32x33`; `help` lists them",
    ),
    ("?", "this help"),
    (
        "q Q",
        "quits: the launch runs to its end; all later ones, too",
    ),
    ("", "Signs"),
    (
        "",
        "  ● breakpoint   ▶ the thread is here   │ of the same line",
    ),
    ("", "  lanes: ■ here   □ here, but the guard holds them off"),
    ("", "         a b … at other places   · ended"),
    (
        "",
        "  warps: r can run   b at a barrier   c waits for its cluster",
    ),
    ("", "         g for its warpgroup   l for lanes   + several"),
    ("", "         places   · ended"),
    ("", "  registers: * changed by the last move"),
    (
        "",
        "  tiles: * touched by this instruction, ! in a bank conflict",
    ),
];

/// What a key does, if it does anything.
pub fn action(key: KeyCode) -> Option<Action> {
    let found = KEYS.iter().find(|(own, _)| *own == key);
    found.map(|(_, action)| *action)
}

/// A key's name, as the help has it.
pub fn name(key: KeyCode) -> String {
    match key {
        KeyCode::Char(c) => c.to_string(),
        KeyCode::PageUp => "PgUp".to_owned(),
        KeyCode::PageDown => "PgDn".to_owned(),
        KeyCode::BackTab => "Shift-Tab".to_owned(),
        other => format!("{other:?}"),
    }
}
