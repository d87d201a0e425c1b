//! A launch's way from stop to stop.
//!
//! While it runs, each request that arrives halts it. If the request does not mean it to halt, it is
//! answered, and the launch goes on where it was.

use ptx_sim::debug::Found;

use super::control::{Control, Motion};
use super::incoming::Halt;
use crate::debugger::{Direction, Reason, Stop};
use crate::watcher::Focus;

/// Where a motion begins.
#[derive(Clone, Copy)]
struct Origin {
    time: u64,
    focus: Focus,
}

impl Control<'_, '_, '_, '_> {
    /// Moves the launch, and tells the editor where it halts.
    pub fn go(&mut self, motion: Motion) {
        let flag = self.debugger.session().interrupt();
        self.server.incoming.halt(Halt::ForAll(flag));
        self.go_on(motion);
        self.server.incoming.halt(Halt::Never);
    }

    fn go_on(&mut self, mut motion: Motion) {
        let mut origin = self.origin();
        self.is_paused = false;
        self.exception = None;
        loop {
            let stop = self.move_once(motion, origin);
            self.show_printed();
            if !matches!(stop.reason, Reason::Interrupted) {
                return self.stopped(motion, origin.time, &stop);
            }
            while let Some(request) = self.server.next_request_now() {
                self.handle(&request);
            }
            if self.server.left().is_some() || self.motion.is_some() {
                return;
            }
            if self.is_paused {
                return self.halted("pause", "halted", &[]);
            }
            match &mut motion {
                Motion::GoOn {
                    direction: Direction::Forwards,
                    from_here,
                } if self.debugger.session().time() > origin.time => {
                    *from_here = true;
                    origin = self.origin();
                }
                // A step is measured from where it began.
                _ => self.back_to(origin),
            }
        }
    }

    fn origin(&self) -> Origin {
        Origin {
            time: self.debugger.session().time(),
            focus: self.debugger.focus(),
        }
    }

    fn back_to(&mut self, origin: Origin) {
        while let Reason::Interrupted = self.debugger.go_to(origin.time).reason {}
        let _ = self.debugger.look_at(origin.focus);
    }

    /// Moves the launch until something halts it.
    fn move_once(&mut self, motion: Motion, origin: Origin) -> Stop {
        let found = match self.server.wanted.findings {
            true => self.debugger.finding(),
            false => None,
        };
        let interrupted = Stop {
            reason: Reason::Interrupted,
            time: origin.time,
        };
        if self.server.wanted.findings && !self.debugger.session().knows_finding() {
            return interrupted;
        }
        let _ = self.debugger.look_at(origin.focus);
        if let Motion::GoOn {
            from_here: true, ..
        } = motion
            && let Some(stop) = self.debugger.breakpoint_here()
        {
            return stop;
        }
        // On short ways the launch is not halted for what arrives.
        if self.server.incoming.is_waiting() {
            return interrupted;
        }
        let stop = match motion {
            Motion::GoOn { direction, .. } => self.debugger.go_on(direction),
            Motion::Step {
                reach,
                unit,
                direction,
            } => self.debugger.step(reach, unit, direction),
        };
        let is_passed =
            found.is_some_and(|found| passes(motion.direction(), origin, &stop, &found));
        match is_passed {
            true => self.debugger.go_to_finding(false).unwrap_or(stop),
            false => stop,
        }
    }
}

/// Whether what the checks find lies on the way from one moment to another.
fn passes(direction: Direction, origin: Origin, stop: &Stop, found: &Found) -> bool {
    let time = found.this.time;
    match (direction, &stop.reason) {
        // A way that is interrupted goes on from where it was interrupted, and not from its origin.
        (Direction::Forwards, _) => origin.time < time && time <= stop.time,
        (Direction::Backwards, Reason::Interrupted) => false,
        (Direction::Backwards, _) => stop.time <= time && time < origin.time,
    }
}
