//! Keys and what they do.

use debugger::{Direction, Reach};
use ratatui::crossterm::event::KeyCode;

use crate::panes::Pane;
use Direction::{Backwards, Forwards};

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
    (KeyCode::Char('n'), Action::Step(Reach::Over, Forwards)),
    (KeyCode::Char('N'), Action::Step(Reach::Over, Backwards)),
    (KeyCode::Char('s'), Action::Step(Reach::Into, Forwards)),
    (KeyCode::Char('S'), Action::Step(Reach::Into, Backwards)),
    (KeyCode::Char('o'), Action::Step(Reach::Out, Forwards)),
    (KeyCode::Char('O'), Action::Step(Reach::Out, Backwards)),
    (
        KeyCode::Char('i'),
        Action::Step(Reach::Instruction, Forwards),
    ),
    (
        KeyCode::Char('I'),
        Action::Step(Reach::Instruction, Backwards),
    ),
    (KeyCode::Char('r'), Action::Step(Reach::Barrier, Forwards)),
    (KeyCode::Char('R'), Action::Step(Reach::Barrier, Backwards)),
    (
        KeyCode::Char('d'),
        Action::Step(Reach::Divergence, Forwards),
    ),
    (
        KeyCode::Char('D'),
        Action::Step(Reach::Divergence, Backwards),
    ),
    (KeyCode::Char('c'), Action::GoOn(Forwards)),
    (KeyCode::Char('C'), Action::GoOn(Backwards)),
    (KeyCode::Char('h'), Action::ToCursor(Forwards)),
    (KeyCode::Char('H'), Action::ToCursor(Backwards)),
    (KeyCode::Char('b'), Action::Breakpoint),
    (KeyCode::Char('B'), Action::Ask(Asked::Breakpoint)),
    (KeyCode::Char('u'), Action::Unit),
    (KeyCode::Char('w'), Action::Ask(Asked::LastWrite)),
    (KeyCode::Char('g'), Action::Ask(Asked::Time)),
    (KeyCode::Char('e'), Action::Ask(Asked::Expression)),
    (KeyCode::Char(':'), Action::Ask(Asked::Command)),
    (KeyCode::Char('f'), Action::Finding { is_other: false }),
    (KeyCode::Char('F'), Action::Finding { is_other: true }),
    (KeyCode::Char('<'), Action::Lane(-1)),
    (KeyCode::Char('>'), Action::Lane(1)),
    (KeyCode::Char('['), Action::Warp(-1)),
    (KeyCode::Char(']'), Action::Warp(1)),
    (KeyCode::Char('{'), Action::Block(-1)),
    (KeyCode::Char('}'), Action::Block(1)),
    (KeyCode::Up, Action::Cursor(-1)),
    (KeyCode::Down, Action::Cursor(1)),
    (KeyCode::Char('k'), Action::Cursor(-1)),
    (KeyCode::Char('j'), Action::Cursor(1)),
    (KeyCode::Char('.'), Action::CursorHome),
    (KeyCode::Home, Action::CursorHome),
    (KeyCode::PageUp, Action::Rows(-1)),
    (KeyCode::PageDown, Action::Rows(1)),
    (KeyCode::Char('-'), Action::Rows(-1)),
    (KeyCode::Char('+'), Action::Rows(1)),
    (KeyCode::Left, Action::Columns(-1)),
    (KeyCode::Right, Action::Columns(1)),
    (KeyCode::Char('1'), Action::Pane(Pane::Variables)),
    (KeyCode::Char('2'), Action::Pane(Pane::Registers)),
    (KeyCode::Char('3'), Action::Pane(Pane::Lanes)),
    (KeyCode::Char('4'), Action::Pane(Pane::Shared)),
    (KeyCode::Char('5'), Action::Pane(Pane::Buffers)),
    (KeyCode::Char('6'), Action::Pane(Pane::Waiting)),
    (KeyCode::Char('7'), Action::Pane(Pane::Printed)),
    (KeyCode::Char('8'), Action::Pane(Pane::Calls)),
    (KeyCode::Char('9'), Action::Pane(Pane::Warps)),
    (KeyCode::Tab, Action::PaneBy(1)),
    (KeyCode::BackTab, Action::PaneBy(-1)),
    (KeyCode::Char('m'), Action::Memory(1)),
    (KeyCode::Char('M'), Action::Memory(-1)),
    (KeyCode::Char('v'), Action::Lanes),
    (KeyCode::Char('p'), Action::Ptx),
    (KeyCode::Char('z'), Action::Large),
    (KeyCode::Char('?'), Action::Help),
    (KeyCode::Char('q'), Action::Quit),
    (KeyCode::Char('Q'), Action::Detach),
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
