//! Reasons for which a launch was halted, in the protocol's words.

use serde_json::{Value, json};

use super::control::{Control, Exception, Motion};
use super::wanted::Kind;
use crate::debugger::{Reason, Stop};
use crate::expression::NoValue;

impl Control<'_, '_, '_, '_> {
    /// Tells the editor that a motion has ended, or lets the launch go if it has.
    pub fn stopped(&mut self, motion: Motion, began: u64, stop: &Stop) {
        match &stop.reason {
            Reason::Begin => self.halted("entry", "at the beginning of the launch", &[]),
            Reason::Time | Reason::Step => self.halted("step", "after a step", &[]),
            Reason::ThreadEnded => self.halted("step", "the thread has ended", &[]),
            Reason::Breakpoint(number) => self.at_breakpoint(*number),
            Reason::LastWrite(what) => {
                self.halted("goto", &format!("before the last write of {what}"), &[]);
            }
            Reason::NeverWritten(what) => {
                self.halted("goto", &format!("nothing before writes {what}"), &[]);
            }
            Reason::Interrupted => self.halted("pause", "halted", &[]),
            Reason::Finding { error, is_other } => match is_other {
                true => self.halted("goto", "the other side of what the checks find", &[]),
                false => self.wrong("finding", error.to_string()),
            },
            Reason::End(error) => {
                // Asked for a second time, it is left.
                let is_known = self.ended == Some(stop.time) && began == stop.time;
                self.ended = Some(stop.time);
                match error {
                    Some(error) if self.server.wanted.faults && !is_known => {
                        self.wrong("fault", error.to_string());
                    }
                    None if !is_known && self.halts_at_end(motion) => {
                        self.halted("step", "the launch has ended", &[]);
                    }
                    _ => self.is_let_go = true,
                }
            }
        }
    }

    fn halts_at_end(&self, motion: Motion) -> bool {
        self.server.stops_at_end || matches!(motion, Motion::Step { .. })
    }

    fn wrong(&mut self, id: &'static str, text: String) {
        let description = text.lines().next().unwrap_or_default().to_owned();
        self.server.output("stderr", &format!("{text}\n"));
        self.exception = Some(Exception { id, text });
        self.halted("exception", &description, &[]);
    }

    fn at_breakpoint(&mut self, number: u32) {
        let written = self.debugger.breakpoints().iter();
        let mut written = written.filter(|own| own.id == number).map(|own| &own.text);
        let written = written.next().cloned().unwrap_or_default();
        let Some((kind, id)) = self.server.wanted.find(number) else {
            return self.halted(
                "breakpoint",
                &format!("breakpoint {number}: {written}"),
                &[],
            );
        };
        let (reason, description) = match kind {
            Kind::Source(_) => ("breakpoint", "at a breakpoint".to_owned()),
            Kind::Functions => ("function breakpoint", format!("at {written}")),
            Kind::Data => ("data breakpoint", format!("before a {written}")),
            Kind::Instructions => ("instruction breakpoint", format!("at {written}")),
            Kind::Exceptions if written == "barrier" => ("breakpoint", "at a barrier".to_owned()),
            Kind::Exceptions => ("breakpoint", "where lanes go different ways".to_owned()),
        };
        self.halted(reason, &description, &[id]);
    }

    /// More about what is wrong.
    pub fn exception_info(&self) -> Result<Value, NoValue> {
        let exception = self.exception.as_ref();
        let exception = exception.ok_or_else(|| NoValue("nothing is wrong here".to_owned()))?;
        Ok(json!({
            "exceptionId": exception.id,
            "description": exception.text,
            "breakMode": "always",
            "details": {"message": exception.text},
        }))
    }
}
