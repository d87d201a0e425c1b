//! The view's state, and what keys do to it: all of it but the screen.

use debugger::lines::{self, Outcome};
use debugger::{Debugger, Direction, Focus, Reason, Stop, Unit};
use ptx::ir::Space;
use ptx_sim::debug::Position;
use ptx_sim::diagnostics::Place;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::access;
use crate::keys::{self, Action, Asked};
use crate::panes::{self, Pane, Registers, Scroll, Variables};
use crate::places::{Spot, here, positions_with_breakpoints};
use crate::popup::Popup;
use crate::prompt::{Prompt, Typed};

/// Columns that the source is scrolled by at once.
const SOURCE_COLUMNS: isize = 8;

/// Whether the view goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It does.
    GoesOn,
    /// It is to be left.
    Quits,
    /// The same, and later launches are not to be halted.
    Detaches,
}

/// What is shown.
#[derive(Default)]
pub struct View {
    /// Why the launch was halted.
    pub reason: String,
    /// What the last key has led to, until the next.
    pub message: String,
    /// The part shown below.
    pub pane: Pane,
    /// The instruction that the thread was last seen at, and its place in the source.
    pub last: Option<(Position, Place)>,
    /// Where the cursor is.
    pub cursor: Option<Spot>,
    /// Whether PTX is shown in place of the source.
    pub only_ptx: bool,
    /// Whether the pane has most of the screen.
    pub is_large: bool,
    /// Whose instructions count as steps.
    pub unit: Unit,
    /// The line that is typed.
    pub prompt: Option<Prompt>,
    /// A text over everything else.
    pub popup: Option<Popup>,
    /// What the lanes are shown of; if empty, of a register of the instruction.
    pub expression: String,
    /// Whether tiles show which lanes touch their words.
    pub shows_lanes: bool,
    /// The memory that is shown, by its number: shared, global. If none is chosen, it is what an
    /// instruction has touched last.
    pub memory: [Option<usize>; 2],
    /// What was touched last.
    touched: [usize; 2],
    /// The registers, and which the last move has changed.
    pub registers: Registers,
    /// The source's variables.
    pub variables: Variables,
    /// How far each pane is scrolled.
    pub rows: [Scroll; Pane::ALL.len()],
    /// How far tiles are scrolled sideways.
    pub columns: Scroll,
    /// How far the source is scrolled.
    pub source_rows: Scroll,
    /// How far it is scrolled sideways.
    pub source_column: usize,
    /// What was typed before.
    typed: Vec<(Asked, String)>,
}

impl View {
    /// Of a launch as it stands.
    pub fn new(debugger: &Debugger<'_, '_, '_>) -> Self {
        let mut view = Self {
            reason: reason_at_first(debugger),
            pane: match debugger.no_variables() {
                None => Pane::Variables,
                Some(_) => Pane::Registers,
            },
            registers: Registers::of(debugger),
            variables: Variables::of(debugger),
            ..Self::default()
        };
        view.look(debugger);
        view
    }

    /// Puts the cursor where the thread is, or where it was last.
    fn look(&mut self, debugger: &Debugger<'_, '_, '_>) {
        self.last = here(debugger).or(self.last.take());
        let last = self.last.as_ref();
        let cursor = last.map(|(at, place)| Spot::of(debugger, *at, place, self.only_ptx));
        self.cursor = cursor.or_else(|| {
            Some(Spot::Ptx(Position {
                function: debugger.session().kernel(),
                instruction: 0,
            }))
        });
        for access in access::of_current(debugger) {
            let all = panes::named(debugger, access.space);
            let first = access.addresses[access.mask.trailing_zeros() as usize % 32];
            let touched = debugger.names().at(access.space, first);
            let touched = touched.and_then(|touched| all.iter().position(|one| one == touched));
            let own = &mut self.touched[usize::from(access.space == Space::Global)];
            *own = touched.unwrap_or(*own);
        }
        for scroll in &mut self.rows {
            scroll.follows = true;
        }
        self.columns.follows = true;
        self.source_rows.follows = true;
    }

    /// Does something that may move the launch or change the thread that is looked at.
    fn moving<'s, 'w, 'o, R>(
        &mut self,
        debugger: &mut Debugger<'s, 'w, 'o>,
        f: impl FnOnce(&mut Debugger<'s, 'w, 'o>) -> R,
    ) -> (R, bool) {
        let at = |debugger: &Debugger<'_, '_, '_>| (debugger.session().time(), debugger.focus());
        let (registers, variables) = (Registers::of(debugger), Variables::of(debugger));
        let was_at = at(debugger);
        let result = f(debugger);
        let has_moved = at(debugger) != was_at;
        if has_moved {
            self.registers = Registers::of(debugger).since(&registers);
            self.variables = Variables::of(debugger).since(&variables);
            self.look(debugger);
        }
        (result, has_moved)
    }

    /// Moves the launch.
    fn go<'s, 'w, 'o>(
        &mut self,
        debugger: &mut Debugger<'s, 'w, 'o>,
        f: impl FnOnce(&mut Debugger<'s, 'w, 'o>) -> Stop,
    ) {
        let (stop, _) = self.moving(debugger, f);
        let why = debugger.reason_text(&stop);
        self.halted("halted", &why);
    }

    /// Says why the launch was halted: in the first line, all of it over the rest.
    fn halted(&mut self, title: &str, why: &str) {
        self.reason = why.lines().next().unwrap_or_default().to_owned();
        if why.lines().count() > 1 {
            self.popup = Some(Popup::new(title, why));
        }
    }

    /// Takes a key.
    pub fn key(&mut self, debugger: &mut Debugger<'_, '_, '_>, key: KeyEvent) -> Flow {
        self.message.clear();
        if self.prompt.is_some() {
            return self.prompt_key(debugger, key);
        }
        if self.popup.is_some() && !self.popup_key(key) {
            return Flow::GoesOn;
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            if key.code == KeyCode::Char('c') {
                self.message = "nothing runs; q quits".to_owned();
            }
            return Flow::GoesOn;
        }
        match keys::action(key.code) {
            Some(Action::Quit) => return Flow::Quits,
            Some(Action::Detach) => return Flow::Detaches,
            Some(action) => self.act(debugger, action),
            None if matches!(key.code, KeyCode::Char(_)) => {
                self.message = format!("{} does nothing; ? shows the keys", keys::name(key.code));
            }
            None => {}
        }
        Flow::GoesOn
    }

    /// Takes a key for the text over everything else. Gives whether it is for what is below, too.
    fn popup_key(&mut self, key: KeyEvent) -> bool {
        let Some(popup) = &mut self.popup else {
            return true;
        };
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => popup.scroll(-1),
            KeyCode::Down | KeyCode::Char('j') => popup.scroll(1),
            KeyCode::PageUp => popup.page(-1),
            KeyCode::PageDown | KeyCode::Char(' ') => popup.page(1),
            _ => self.popup = None,
        }
        self.popup.is_none() && key.code == KeyCode::Char(':')
    }

    fn act(&mut self, debugger: &mut Debugger<'_, '_, '_>, action: Action) {
        match action {
            Action::Step(reach, direction) => {
                let unit = self.unit;
                self.go(debugger, |debugger| debugger.step(reach, unit, direction));
            }
            Action::GoOn(direction) => self.go(debugger, |debugger| debugger.go_on(direction)),
            Action::ToCursor(direction) => self.go_to_cursor(debugger, direction),
            Action::Finding { is_other } => self.finding(debugger, is_other),
            Action::Breakpoint => self.toggle_breakpoint(debugger),
            Action::Unit => self.next_unit(),
            Action::Ask(asked) => self.ask(debugger, asked),
            Action::Lane(n) => self.turn(debugger, |focus, _| {
                focus.lane = (focus.lane as i32 + n).rem_euclid(32) as u32;
            }),
            Action::Warp(n) => self.turn(debugger, |focus, n_warps| {
                let warp = focus.warp as i32 + n;
                focus.warp = warp.rem_euclid(n_warps as i32) as u32;
            }),
            Action::Block(n) => self.other_block(debugger, n),
            Action::Cursor(n) => {
                self.cursor = self.cursor.as_ref().map(|spot| spot.moved(debugger, n));
                self.source_rows.follows = true;
            }
            Action::CursorHome => self.look(debugger),
            Action::Rows(n) => {
                let rows = &mut self.rows[self.pane.index()];
                let page = rows.shown.saturating_sub(1).max(1) as isize;
                rows.by(n as isize * page);
            }
            Action::Columns(n) => match self.pane.space() {
                Some(_) => self.columns.by(n as isize),
                None => {
                    let column = self.source_column;
                    let n = n as isize * SOURCE_COLUMNS;
                    self.source_column = column.saturating_add_signed(n);
                }
            },
            Action::Pane(pane) => self.pane = pane,
            Action::PaneBy(n) => self.pane = self.pane.by(n),
            Action::Memory(n) => self.other_memory(debugger, n),
            Action::Lanes => self.shows_lanes = !self.shows_lanes,
            Action::Ptx => {
                self.only_ptx = !self.only_ptx;
                self.look(debugger);
            }
            Action::Large => self.is_large = !self.is_large,
            Action::Help => self.popup = Some(help()),
            Action::Quit | Action::Detach => {}
        }
    }

    /// Runs to where the cursor is.
    fn go_to_cursor(&mut self, debugger: &mut Debugger<'_, '_, '_>, direction: Direction) {
        let Some(cursor) = &self.cursor else {
            return;
        };
        let id = match debugger.add_breakpoint(&cursor.text(debugger)) {
            Ok(id) => id,
            Err(error) => {
                self.message = error.to_string();
                return;
            }
        };
        self.go(debugger, |debugger| {
            let mut stop = debugger.go_on(direction);
            if matches!(stop.reason, Reason::Breakpoint(at) if at == id) {
                stop.reason = Reason::Step;
            }
            debugger.remove_breakpoint(id);
            stop
        });
    }

    fn finding(&mut self, debugger: &mut Debugger<'_, '_, '_>, is_other: bool) {
        let (stop, _) = self.moving(debugger, |debugger| debugger.go_to_finding(is_other));
        match stop {
            Some(stop) => {
                let why = debugger.reason_text(&stop);
                self.halted("finding", &why);
            }
            None => {
                self.message = match is_other && debugger.finding().is_some() {
                    true => "what the checks find has no other side".to_owned(),
                    false => "the checks find nothing in this launch".to_owned(),
                }
            }
        }
    }

    fn toggle_breakpoint(&mut self, debugger: &mut Debugger<'_, '_, '_>) {
        let Some(cursor) = &self.cursor else {
            return;
        };
        let there = cursor.breakpoints(debugger);
        let place = cursor.text(debugger);
        if there.is_empty() {
            self.message = match debugger.add_breakpoint(&place) {
                Ok(id) => format!("breakpoint {id}: {place}"),
                Err(error) => error.to_string(),
            };
            return;
        }
        for id in there {
            debugger.remove_breakpoint(id);
        }
        self.message = format!("no breakpoint at {place} any more");
    }

    fn next_unit(&mut self) {
        let (unit, message) = match self.unit {
            Unit::Thread => (Unit::Block, "steps are of the block: of any of its warps"),
            Unit::Block => (Unit::Launch, "steps are of the launch: of any warp"),
            Unit::Launch => (Unit::Thread, "steps are of the thread"),
        };
        self.unit = unit;
        message.clone_into(&mut self.message);
    }

    /// Looks at another thread of the block.
    fn turn(&mut self, debugger: &mut Debugger<'_, '_, '_>, f: impl Fn(&mut Focus, u32)) {
        let (_, shape) = debugger.session().shape();
        let n_threads: u32 = shape.iter().product();
        let mut focus = debugger.focus();
        // Past lanes that the last warp does not have.
        for _ in 0..32 {
            f(&mut focus, n_threads.div_ceil(32));
            if focus.warp * 32 + focus.lane < n_threads {
                break;
            }
            if focus.warp != debugger.focus().warp {
                focus.lane = 0;
                break;
            }
        }
        self.look_at(debugger, focus);
    }

    fn look_at(&mut self, debugger: &mut Debugger<'_, '_, '_>, focus: Focus) {
        let (result, _) = self.moving(debugger, |debugger| debugger.look_at(focus));
        if let Err(error) = result {
            self.message = error.to_string();
        }
    }

    fn other_block(&mut self, debugger: &mut Debugger<'_, '_, '_>, n: i32) {
        let state = debugger.session().state();
        let mut blocks: Vec<u64> = state.blocks.iter().map(|block| block.number).collect();
        blocks.sort_unstable();
        let focus = debugger.focus();
        let next = match n > 0 {
            true => blocks.iter().find(|&&block| block > focus.block),
            false => blocks.iter().rev().find(|&&block| block < focus.block),
        };
        let around = if n > 0 { blocks.first() } else { blocks.last() };
        match next.or(around) {
            Some(&block) if block != focus.block => {
                self.look_at(debugger, Focus { block, ..focus });
            }
            _ => self.message = "no other block runs now".to_owned(),
        }
    }

    fn other_memory(&mut self, debugger: &Debugger<'_, '_, '_>, n: i32) {
        let Some(space) = self.pane.space() else {
            self.message = "for the panes `shared` and `buffers`".to_owned();
            return;
        };
        // One state more: what is touched.
        let n_states = panes::named(debugger, space).len() as i32 + 1;
        let chosen = &mut self.memory[usize::from(self.pane == Pane::Buffers)];
        let state = chosen.map_or(0, |index| index as i32 + 1);
        *chosen = ((state + n).rem_euclid(n_states) as usize).checked_sub(1);
        self.rows[self.pane.index()] = Scroll::default();
        self.columns = Scroll::default();
    }

    /// The number of the memory that a pane shows, and whether it was chosen.
    pub fn shown_memory(&self) -> (usize, bool) {
        let space = usize::from(self.pane == Pane::Buffers);
        let chosen = self.memory[space];
        (chosen.unwrap_or(self.touched[space]), chosen.is_some())
    }

    fn ask(&mut self, debugger: &Debugger<'_, '_, '_>, asked: Asked) {
        let text = match asked {
            Asked::LastWrite => touched(debugger).unwrap_or_default(),
            Asked::Expression => self.expression.clone(),
            Asked::Breakpoint => {
                let cursor = self.cursor.as_ref();
                cursor.map_or(String::new(), |spot| spot.text(debugger))
            }
            Asked::Command | Asked::Time => String::new(),
        };
        self.prompt = Some(Prompt::new(asked, text));
    }

    fn prompt_key(&mut self, debugger: &mut Debugger<'_, '_, '_>, key: KeyEvent) -> Flow {
        let Some(prompt) = &mut self.prompt else {
            return Flow::GoesOn;
        };
        let typed = self.typed.iter();
        let earlier = typed.filter(|(asked, _)| *asked == prompt.asked);
        let earlier: Vec<String> = earlier.map(|(_, text)| text.clone()).collect();
        match prompt.key(key, &earlier) {
            Typed::GoesOn => return Flow::GoesOn,
            Typed::GivenUp => {
                self.prompt = None;
                return Flow::GoesOn;
            }
            Typed::Done => {}
        }
        let (asked, text) = (prompt.asked, prompt.text.trim().to_owned());
        self.prompt = None;
        if !text.is_empty() {
            self.typed.push((asked, text.clone()));
        }
        self.answered(debugger, asked, &text)
    }

    fn answered(&mut self, debugger: &mut Debugger<'_, '_, '_>, asked: Asked, text: &str) -> Flow {
        let command = match asked {
            Asked::Expression => {
                self.expression = text.to_owned();
                self.pane = Pane::Lanes;
                return Flow::GoesOn;
            }
            _ if text.is_empty() => return Flow::GoesOn,
            Asked::Command => text.to_owned(),
            Asked::LastWrite => format!("last-write {text}"),
            Asked::Time => format!("goto {text}"),
            Asked::Breakpoint => format!("break {text}"),
        };
        let (outcome, has_moved) =
            self.moving(debugger, |debugger| lines::command(debugger, &command));
        match outcome {
            Ok(Outcome::Quit) => return Flow::Quits,
            Ok(Outcome::Detach) => return Flow::Detaches,
            Ok(Outcome::Text(text)) => {
                // Where the launch stands is shown anyway.
                let rest = text.strip_suffix(&debugger.where_text());
                match rest {
                    Some(why) if has_moved || !why.is_empty() => {
                        self.halted(&command, why.trim_end());
                    }
                    _ => self.answer(&command, &text),
                }
            }
            Err(error) => self.answer(&command, &error.to_string()),
        }
        Flow::GoesOn
    }

    /// Shows the answer to a command: a line below, more over the rest.
    fn answer(&mut self, command: &str, text: &str) {
        match text.lines().count() {
            0 | 1 => self.message = text.to_owned(),
            _ => self.popup = Some(Popup::new(command, text)),
        }
    }
}

/// Why a launch may have been halted where it stands.
fn reason_at_first(debugger: &Debugger<'_, '_, '_>) -> String {
    let stops = positions_with_breakpoints(debugger);
    let is_at_stop = debugger.position().is_some_and(|at| stops.contains(&at));
    match (debugger.session().time(), is_at_stop) {
        (0, _) => "at the beginning of the launch",
        (_, true) => "at a breakpoint",
        _ => "",
    }
    .to_owned()
}

/// The element that the current instruction touches in the lane that is looked at.
fn touched(debugger: &Debugger<'_, '_, '_>) -> Option<String> {
    let lane = debugger.focus().lane;
    let mut accesses = access::of_current(debugger).into_iter();
    let access = accesses.find(|access| access.mask >> lane & 1 != 0)?;
    let address = access.addresses[lane as usize];
    let named = debugger.names().at(access.space, address)?;
    Some(named.name_of(address))
}

/// The keys.
fn help() -> Popup {
    let mut text = String::new();
    for (keys, what) in keys::HELP {
        text.push_str(&match keys {
            "" => format!("{what}\n"),
            keys => format!("  {keys:<16}{what}\n"),
        });
    }
    Popup::new("keys", &text)
}
