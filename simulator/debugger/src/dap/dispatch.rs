//! A launch's requests, from its beginning until it is to run to its end.

use serde_json::{Value, json};

use super::control::{Control, Motion};
use super::request::Request;
use super::server::{Server, Then};
use crate::debugger::{Debugger, Direction};
use crate::expression::NoValue;
use crate::text::product;
use crate::watcher::{Reach, Unit};

impl Server {
    /// Puts a launch under the editor's control, until it is to run to its end. It is left alone once
    /// the editor is gone.
    pub fn control(&mut self, debugger: &mut Debugger<'_, '_, '_>) -> Then {
        if !self.is_ready() {
            self.start(|_| Ok(()));
        }
        if let Some(then) = self.left() {
            return then;
        }
        Control::new(self, debugger).run()
    }
}

impl Control<'_, '_, '_, '_> {
    /// Follows the editor until the launch is to run to its end.
    pub fn run(mut self) -> Then {
        self.begin();
        loop {
            if let Some(then) = self.server.left() {
                return then;
            }
            if self.is_let_go {
                return Then::Next;
            }
            if let Some(motion) = self.motion.take() {
                self.go(motion);
            } else if let Some(request) = self.server.next_request() {
                self.handle(&request);
            }
        }
    }

    fn begin(&mut self) {
        let kernel = self.debugger.session().kernel();
        let name = self.debugger.program().function(kernel).name.clone();
        let (grid, block) = self.debugger.session().shape();
        let [grid, block] = [grid, block].map(product);
        let text = format!("launch of {name}: {grid} blocks of {block} threads\n");
        self.server.output("console", &text);
        let editor = self.server.editor;
        for breakpoint in self.server.wanted.put_all(self.debugger, editor) {
            let body = json!({"reason": "changed", "breakpoint": breakpoint});
            self.server.event("breakpoint", body);
        }
        if self.server.stops_on_entry {
            self.halted("entry", "at the beginning of the launch", &[]);
        } else {
            self.motion = Some(Motion::GoOn {
                direction: Direction::Forwards,
                from_here: true,
            });
        }
    }

    /// Answers a request. What moves the launch is kept for when it is answered.
    pub fn handle(&mut self, request: &Request) {
        let focus = self.debugger.focus();
        let time = self.debugger.session().time();
        let result = match self.server.answer(request) {
            Some(result) => result,
            None => self.result(request),
        };
        self.server.respond(request, result);
        self.server.after(request);
        if request.command == "evaluate" {
            self.after_command(focus, time);
        }
    }

    fn result(&mut self, request: &Request) -> Result<Value, NoValue> {
        let editor = self.server.editor;
        if let Some(answers) = self.server.wanted.set(request, editor, Some(self.debugger)) {
            return Ok(json!({"breakpoints": answers}));
        }
        match request.command.as_str() {
            "threads" => Ok(self.threads()),
            "stackTrace" => self.stack(request),
            "scopes" => self.scopes(request),
            "variables" => self.variables(request),
            "evaluate" => self.evaluate(request),
            "source" => self.source(request),
            "disassemble" => self.disassemble(request),
            "readMemory" => self.read_memory(request),
            "dataBreakpointInfo" => Ok(self.data_breakpoint(request)),
            "exceptionInfo" => self.exception_info(),
            "pause" => {
                self.is_paused = true;
                Ok(Value::Null)
            }
            "continue" | "reverseContinue" | "next" | "stepIn" | "stepOut" | "stepBack" => {
                self.moving(request)
            }
            command => Err(NoValue(format!("`{command}` is not supported"))),
        }
    }

    fn moving(&mut self, request: &Request) -> Result<Value, NoValue> {
        let focus = self.thread_of(request)?;
        let is_instruction = request.text("granularity") == Some("instruction");
        let lines = |reach| match is_instruction {
            true => Reach::Instruction,
            false => reach,
        };
        let step = |reach, direction| Motion::Step {
            reach,
            unit: Unit::Thread,
            direction,
        };
        let go_on = |direction| Motion::GoOn {
            direction,
            from_here: false,
        };
        let motion = match request.command.as_str() {
            "continue" => go_on(Direction::Forwards),
            "reverseContinue" => go_on(Direction::Backwards),
            "next" => step(lines(Reach::Over), Direction::Forwards),
            "stepIn" => step(lines(Reach::Into), Direction::Forwards),
            "stepOut" => step(Reach::Out, Direction::Forwards),
            _ => step(lines(Reach::Over), Direction::Backwards),
        };
        if let Motion::Step { .. } = motion {
            self.debugger.look_at(focus)?;
        }
        self.motion = Some(motion);
        Ok(json!({"allThreadsContinued": true}))
    }
}
