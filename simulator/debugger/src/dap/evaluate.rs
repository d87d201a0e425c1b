//! Expressions, and in the console the commands of [`lines`](crate::lines), too.

use std::ops::Range;

use serde_json::{Value, json};

use super::addresses::memory_reference;
use super::control::{Control, Unfolds};
use super::incoming::Halt;
use super::request::Request;
use crate::debugger::Looked;
use crate::element;
use crate::expression::{Expression, NoValue};
use crate::lines::{self, Outcome};
use crate::names::Named;
use crate::watcher::Focus;

impl Control<'_, '_, '_, '_> {
    /// The value of an expression, or what a command says.
    pub fn evaluate(&mut self, request: &Request) -> Result<Value, NoValue> {
        let text = request.text("expression").unwrap_or_default().trim();
        let focus = self.frame_of(request).unwrap_or(self.debugger.focus());
        // Editors without a console say nothing of the context.
        if let Some("repl") | None = request.text("context") {
            return self.command(text, focus);
        }
        self.expression(text, focus)
    }

    fn expression(&mut self, text: &str, focus: Focus) -> Result<Value, NoValue> {
        if let Some(named) = self.debugger.names().find(text).cloned() {
            return Ok(self.memory_of(&named, focus, "result"));
        }
        let (value, place) = self.at(focus, |debugger| {
            let read = Expression::read(text, debugger.names());
            let place = read.and_then(|read| read.place(&Looked::at_focus(debugger)));
            (debugger.print(text), place.ok())
        });
        let mut result = json!({"result": value?, "variablesReference": 0});
        if let Some(place) = place {
            result["type"] = json!(place.element.to_string());
            let reference = memory_reference(place.space, focus.block, place.address);
            result["memoryReference"] = json!(reference);
        }
        Ok(result)
    }

    fn command(&mut self, text: &str, focus: Focus) -> Result<Value, NoValue> {
        // What was typed for a frame's thread is about that one.
        self.debugger.look_at(focus)?;
        if let Some(lane) = text.strip_prefix("lane ") {
            return self.choose_lane(lane.trim(), focus);
        }
        let flag = self.debugger.session().interrupt();
        self.server.incoming.halt(Halt::IfMeant(flag));
        let outcome = lines::command(self.debugger, text);
        self.server.incoming.halt(Halt::Never);
        match outcome {
            Ok(Outcome::Text(text)) => Ok(json!({"result": text, "variablesReference": 0})),
            Ok(Outcome::Quit) => {
                self.is_let_go = true;
                Ok(json!({"result": "the launch runs to its end", "variablesReference": 0}))
            }
            Ok(Outcome::Detach) => {
                self.server.detach();
                Ok(json!({"result": "the program runs alone", "variablesReference": 0}))
            }
            // An expression alone is a command, too.
            Err(error) => self.expression(text, focus).map_err(|_| error),
        }
    }

    fn choose_lane(&mut self, lane: &str, focus: Focus) -> Result<Value, NoValue> {
        let lane: u32 = lane
            .parse()
            .map_err(|_| NoValue(format!("`{lane}` is not a lane: they are 0 to 31")))?;
        self.debugger.look_at(Focus { lane, ..focus })?;
        Ok(json!({"result": self.debugger.where_text(), "variablesReference": 0}))
    }

    /// After a command: tells the editor if the launch has moved, or another thread is looked at.
    pub fn after_command(&mut self, before: Focus, time: u64) {
        self.show_printed();
        let now = self.debugger.focus();
        let has_moved = self.debugger.session().time() != time;
        if self.is_let_go || (now == before && !has_moved) {
            return;
        }
        self.lanes.insert((now.block, now.warp), now.lane);
        let is_other = (now.block, now.warp) != (before.block, before.warp);
        if has_moved || is_other || !self.server.editor.knows_invalidated {
            let text = self.thread_text(now);
            let reason = if has_moved { "goto" } else { "step" };
            return self.halted(reason, &text, &[]);
        }
        let areas = json!({"areas": ["stacks", "variables"]});
        self.server.event("invalidated", areas);
    }

    /// What a data breakpoint would be on.
    pub fn data_breakpoint(&mut self, request: &Request) -> Value {
        let name = request.text("name").unwrap_or_default();
        let reference = request.number("variablesReference").unwrap_or(0);
        let focus = self.frame_of(request).unwrap_or(self.debugger.focus());
        let text = match self.unfolds(reference) {
            Some(Unfolds::Registers(_) | Unfolds::OfLanes(..) | Unfolds::Thread(_)) => {
                return json!({
                    "dataId": null,
                    "description": "only memory: for registers give a breakpoint a condition",
                });
            }
            Some(Unfolds::Row(named, row, _)) => format!("{}[{row}]{name}", named.name),
            Some(Unfolds::Elements(named, _)) => format!("{}{name}", named.name),
            _ => name.to_owned(),
        };
        match self.canonical(&text, focus) {
            Ok(id) => json!({
                "dataId": id,
                "description": id,
                "accessTypes": ["read", "write", "readWrite"],
                "canPersist": false,
            }),
            Err(NoValue(why)) => json!({"dataId": null, "description": why}),
        }
    }

    /// Memory by a text that means the same in every thread.
    fn canonical(&mut self, text: &str, focus: Focus) -> Result<String, NoValue> {
        if self.debugger.names().find(text).is_some() {
            return Ok(text.to_owned());
        }
        let place = self.at(focus, |debugger| {
            let read = Expression::read(text, debugger.names())?;
            read.place(&Looked::at_focus(debugger))
        })?;
        Ok(match self.debugger.names().at(place.space, place.address) {
            Some(named) => named.name_of(place.address),
            None => text.to_owned(),
        })
    }

    /// The elements of memory as text, as many as there are.
    pub fn elements(&self, named: &Named, focus: Focus, range: Range<u64>) -> Vec<String> {
        let text = |index| match self.debugger.element(named, focus.block, index) {
            Some(bytes) => element::text(named.element, &bytes),
            None => "not there".to_owned(),
        };
        range.map(text).collect()
    }
}
