//! A launch under the editor's control: what is known of it between two requests.

use std::collections::HashMap;

use serde_json::json;

use super::server::Server;
use crate::debugger::{Debugger, Direction};
use crate::names::Named;
use crate::show;
use crate::watcher::{Focus, Reach, Unit};

/// How the launch is to move.
#[derive(Clone, Copy, Debug)]
pub enum Motion {
    /// To the next breakpoint, or to the one before.
    GoOn {
        /// Which way.
        direction: Direction,
        /// Whether a breakpoint at the moment where it begins counts.
        from_here: bool,
    },
    /// A step of the thread that is looked at.
    Step {
        /// How far.
        reach: Reach,
        /// Whose instructions count.
        unit: Unit,
        /// Which way.
        direction: Direction,
    },
}

impl Motion {
    /// Which way it goes.
    pub fn direction(self) -> Direction {
        match self {
            Self::GoOn { direction, .. } | Self::Step { direction, .. } => direction,
        }
    }
}

/// Something wrong for which the launch was halted.
#[derive(Clone, Debug)]
pub struct Exception {
    /// `finding` or `fault`.
    pub id: &'static str,
    /// What is wrong.
    pub text: String,
}

/// A call of a thread that the editor can ask for.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The thread.
    pub focus: Focus,
    /// Its calls that are in this one.
    pub index: usize,
    /// How many calls it was inlined through.
    pub depth: u32,
}

/// What the editor can unfold.
#[derive(Clone, Debug)]
pub enum Unfolds {
    Thread(Focus),
    /// The source's variables of a call.
    Variables(Call),
    Registers(Call),
    /// A register in all lanes that are with the thread.
    OfLanes(Call, String),
    /// Memory with a name, of a thread's block if it is shared.
    Memory(Focus),
    /// Elements of memory, of a thread's block if it is shared.
    Elements(Named, Focus),
    /// A row of memory.
    Row(Named, u64, Focus),
    /// The lanes of a warp.
    Lanes(Focus),
    /// What a block waits for.
    Waiting(Focus),
}

/// Warps of a block have room for this many numbers.
pub const WARPS: u64 = 32;

/// The number of a warp as a thread of the protocol.
pub fn thread_id(block: u64, warp: u32) -> u64 {
    block.wrapping_mul(WARPS).wrapping_add(u64::from(warp) + 1)
}

/// A launch under the editor's control.
pub struct Control<'c, 's, 'w, 'o> {
    /// The connection.
    pub server: &'c mut Server,
    /// The launch.
    pub debugger: &'c mut Debugger<'s, 'w, 'o>,
    /// The calls that the editor was told of since the launch was halted, by their number from 1.
    pub calls: Vec<Call>,
    /// The same of what can be unfolded.
    pub unfolds: Vec<Unfolds>,
    /// The lanes that were chosen, by block and warp.
    pub lanes: HashMap<(u64, u32), u32>,
    /// What the launch was halted for, if something is wrong.
    pub exception: Option<Exception>,
    /// Lines printed that the editor has been shown.
    pub n_printed: usize,
    /// Where to go next.
    pub motion: Option<Motion>,
    /// Whether someone wants it to halt.
    pub is_paused: bool,
    /// When the editor was told that the launch has ended.
    pub ended: Option<u64>,
    /// Whether the launch is to run to its end.
    pub is_let_go: bool,
}

impl<'c, 's, 'w, 'o> Control<'c, 's, 'w, 'o> {
    /// Of a launch at its beginning.
    pub fn new(server: &'c mut Server, debugger: &'c mut Debugger<'s, 'w, 'o>) -> Self {
        Self {
            server,
            debugger,
            calls: Vec::new(),
            unfolds: Vec::new(),
            lanes: HashMap::new(),
            exception: None,
            n_printed: 0,
            motion: None,
            is_paused: false,
            ended: None,
            is_let_go: false,
        }
    }

    /// Does something with the debugger while it looks at another thread.
    pub fn at<R>(&mut self, focus: Focus, f: impl FnOnce(&mut Debugger<'s, 'w, 'o>) -> R) -> R {
        let own = self.debugger.focus();
        // A thread that there is not has no calls, no registers and no memory.
        let _ = self.debugger.look_at(focus);
        let result = f(self.debugger);
        let _ = self.debugger.look_at(own);
        result
    }

    /// Shows what has been printed since.
    pub fn show_printed(&mut self) {
        let lines = self.debugger.session().printed(self.n_printed);
        self.n_printed += lines.len();
        for line in lines {
            self.server.output("stdout", &line);
        }
    }

    /// Tells the editor that the launch was halted.
    pub fn halted(&mut self, reason: &str, description: &str, hit: &[i64]) {
        self.calls.clear();
        self.unfolds.clear();
        let focus = self.debugger.focus();
        self.lanes.insert((focus.block, focus.warp), focus.lane);
        let mut body = json!({
            "reason": reason,
            "description": description.lines().next().unwrap_or(description),
            "threadId": thread_id(focus.block, focus.warp),
            "allThreadsStopped": true,
        });
        if let Some(exception) = &self.exception {
            body["text"] = json!(exception.text);
        }
        if !hit.is_empty() {
            body["hitBreakpointIds"] = json!(hit);
        }
        self.server.event("stopped", body);
    }

    /// A thread in short, for what is shown of the one looked at.
    pub fn thread_text(&self, focus: Focus) -> String {
        let ([bx, by, bz], [x, y, z]) =
            self.debugger
                .session()
                .thread(focus.block, focus.warp, focus.lane);
        format!(
            "block ({bx},{by},{bz}), thread ({x},{y},{z}), lane {}, time {}",
            focus.lane,
            show::count(self.debugger.session().time())
        )
    }
}
