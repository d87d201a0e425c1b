//! The debugger: breakpoints, steps both ways, and who wrote a word last.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ptx::ir::Space;
use ptx_sim::LaunchError;
use ptx_sim::debug::{Found, Frame, Known, PathState, Position, Session, Stopped};

use crate::element::{Element, Number};
use crate::expression::{Expression, NoValue, Thread, ThreadPlace};
use crate::names::{Named, Names};
use crate::program::Program;
use crate::sources::Sources;
use crate::text;
use crate::variables::{Type, Variable, Variables};
use crate::vars::{self, Call};
use crate::watcher::{
    At, Backwards, Breakpoint, Focus, Hit, NamedVariables, Reach, Run, Search, Step, Unit, Watcher,
};

/// Which way to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// As the launch runs.
    Forwards,
    /// To earlier moments.
    Backwards,
}

/// Why the launch was halted.
#[derive(Clone, Debug)]
pub enum Reason {
    /// It is at its beginning.
    Begin,
    /// It is where it was sent.
    Time,
    /// A step has ended.
    Step,
    /// At a breakpoint, of this number.
    Breakpoint(u32),
    /// The thread has ended before the step did.
    ThreadEnded,
    /// At the end of the launch, which failed or did not.
    End(Option<Box<LaunchError>>),
    /// At what the checks have found, or at its other side.
    Finding {
        /// What they report.
        error: Box<LaunchError>,
        /// Whether this is what happened before.
        is_other: bool,
    },
    /// Before the instruction that last wrote some memory.
    LastWrite(String),
    /// No instruction before this moment has written it.
    NeverWritten(String),
    /// Someone wanted it to halt.
    Interrupted,
}

/// Where and why the launch was halted.
#[derive(Clone, Debug)]
pub struct Stop {
    /// Why.
    pub reason: Reason,
    /// When.
    pub time: u64,
}

/// A launch under a debugger.
pub struct Debugger<'s, 'w, 'o> {
    session: &'s mut Session<'w, 'o>,
    program: Program,
    variables: Arc<Variables>,
    names: Names,
    sources: Sources,
    breakpoints: Arc<Vec<Breakpoint>>,
    n_breakpoints: u32,
    focus: Focus,
    /// Conditions that had no value when the launch last went on: how often, and why.
    unknown: Option<(u32, String)>,
}

impl<'s, 'w, 'o> Debugger<'s, 'w, 'o> {
    /// For a launch, whose sources are found like this.
    pub fn new(session: &'s mut Session<'w, 'o>, sources: Sources) -> Self {
        let program = Program::of(session);
        let variables = vars::of(session);
        let mut names = Names::of(session);
        names.type_by_lines(session, &sources);
        names.type_by_parameters(session, &pointed_to(session, &variables));
        session.go_to(0);
        let focus = Focus {
            block: 0,
            warp: 0,
            lane: 0,
        };
        let mut debugger = Self {
            variables,
            session,
            program,
            names,
            sources,
            breakpoints: Arc::default(),
            n_breakpoints: 0,
            focus,
            unknown: None,
        };
        debugger.look_at_here();
        debugger
    }

    /// The launch.
    pub fn session(&self) -> &Session<'w, 'o> {
        self.session
    }

    /// The code.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Memory with names.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The same, to be described better.
    pub fn names_mut(&mut self) -> &mut Names {
        &mut self.names
    }

    /// The text of source files.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The thread that is looked at.
    pub fn focus(&self) -> Focus {
        self.focus
    }

    /// Looks at another thread.
    ///
    /// # Errors
    /// There is no such thread.
    pub fn look_at(&mut self, focus: Focus) -> Result<(), NoValue> {
        let (grid, block) = self.session.shape();
        let n_blocks: u64 = grid.iter().map(|&n| u64::from(n)).product();
        let n_threads: u32 = block.iter().product();
        if focus.block >= n_blocks || focus.lane >= 32 || focus.warp * 32 + focus.lane >= n_threads
        {
            return Err(NoValue(format!(
                "there is no such thread: the launch has {n_blocks} blocks of {n_threads} threads, \
                 in warps of 32 lanes"
            )));
        }
        self.focus = focus;
        Ok(())
    }

    /// Looks at the thread that is about to do something, if it is another one's turn.
    fn look_at_here(&mut self) {
        if let Some((block, warp, lanes, _)) = self.session.here() {
            let is_with = (block, warp) == (self.focus.block, self.focus.warp)
                && lanes >> self.focus.lane & 1 != 0;
            if !is_with {
                let lane = lanes.trailing_zeros() % 32;
                self.focus = Focus { block, warp, lane };
            }
        }
    }

    /// The lanes that the thread is with, and their calls; none if it has not begun or has ended.
    pub fn path(&self) -> Option<PathState> {
        let block = self.session.block(self.focus.block)?;
        let warp = block.warps.into_iter().nth(self.focus.warp as usize)?;
        let mut paths = warp.paths.into_iter();
        paths.find(|path| path.lanes >> self.focus.lane & 1 != 0)
    }

    /// Breakpoints.
    pub fn breakpoints(&self) -> &[Breakpoint] {
        &self.breakpoints
    }

    /// Adds a breakpoint at a place that is known, with a condition as it is written.
    ///
    /// # Errors
    /// What is wrong with the condition.
    pub fn add_breakpoint_at(
        &mut self,
        text: &str,
        at: At,
        condition: Option<&str>,
    ) -> Result<u32, NoValue> {
        let condition = condition.map(|text| Expression::read(text, &self.names));
        let condition = condition.transpose()?;
        self.n_breakpoints += 1;
        let id = self.n_breakpoints;
        let breakpoint = Breakpoint {
            id,
            text: text.trim().to_owned(),
            at,
            condition,
        };
        Arc::make_mut(&mut self.breakpoints).push(breakpoint);
        Ok(id)
    }

    /// Removes a breakpoint; gives whether there was one.
    pub fn remove_breakpoint(&mut self, id: u32) -> bool {
        let all = Arc::make_mut(&mut self.breakpoints);
        let n = all.len();
        all.retain(|breakpoint| breakpoint.id != id);
        all.len() != n
    }

    /// Whether conditions had no value when the launch last went on: how often, and why.
    pub fn unknown(&self) -> Option<(u32, &str)> {
        let (n, why) = self.unknown.as_ref()?;
        Some((*n, why))
    }

    /// The breakpoint that the launch stands at, if it does.
    pub fn breakpoint_here(&mut self) -> Option<Stop> {
        let now = self.session.time();
        let probe = Backwards::new(self.watcher(None));
        let here = |seen: &Backwards| Some(seen.hit.filter(|hit| hit.time == now));
        let hit = loop {
            let hit = self.session.backwards(now + 1, &probe, here).flatten();
            let is_halted = self.session.interrupt().load(Ordering::Relaxed);
            self.reach(now);
            if hit.is_some() || !is_halted {
                break hit;
            }
        };
        Some(self.at_hit(hit?))
    }

    /// Goes to a time that was passed before, even if someone wants the launch to halt.
    fn reach(&mut self, time: u64) {
        while let Stopped::Interrupted = self.session.go_to(time) {}
    }

    /// Goes to a time.
    pub fn go_to(&mut self, time: u64) -> Stop {
        let stopped = self.session.go_to(time);
        let reason = match time {
            0 => Reason::Begin,
            _ => Reason::Time,
        };
        self.stop(&stopped, reason)
    }

    /// Goes on to the next breakpoint, or to the one before.
    pub fn go_on(&mut self, direction: Direction) -> Stop {
        match direction {
            Direction::Forwards => self.forwards(None),
            Direction::Backwards => self.backwards(None),
        }
    }

    /// Goes one step.
    pub fn step(&mut self, reach: Reach, unit: Unit, direction: Direction) -> Stop {
        let mut step = Step {
            unit,
            reach,
            focus: self.focus,
            from: None,
        };
        step.from = self.run_of(&step);
        match direction {
            Direction::Forwards => self.forwards(Some(step)),
            Direction::Backwards => self.backwards(Some(step)),
        }
    }

    /// Where the thread is, as a step of this kind compares it.
    fn run_of(&self, step: &Step) -> Option<Run> {
        let path = self.path()?;
        let position = path.frames.first()?.position;
        let spot = self.program.spot(position)?;
        let warp = (self.focus.block, self.focus.warp);
        let n_calls = path.frames.len() as u32 - 1;
        Some(step.run_at(warp, position, n_calls, &spot))
    }

    fn watcher(&self, step: Option<Step>) -> Watcher {
        let program = self.program.clone();
        let mut watcher = Watcher::new(program, Arc::clone(&self.breakpoints), Some(self.focus));
        watcher.variables = self.named_variables();
        watcher.step = step;
        watcher
    }

    /// What conditions need to find variables: nothing, if no condition names one.
    fn named_variables(&self) -> Option<Arc<NamedVariables>> {
        let mut conditions = self.breakpoints.iter().filter_map(|b| b.condition.as_ref());
        conditions.any(Expression::names_variables).then(|| {
            let functions = self.session.module().functions.iter();
            Arc::new(NamedVariables {
                functions: functions.map(|function| function.name.clone()).collect(),
                variables: Arc::clone(&self.variables),
            })
        })
    }

    fn forwards(&mut self, step: Option<Step>) -> Stop {
        let has_step = step.is_some();
        let watcher = self.watcher(step);
        let (stopped, watcher) = self.session.forwards(watcher);
        self.unknown.clone_from(&watcher.unknown);
        if let Some(hit) = watcher.hit {
            return self.at_hit(hit);
        }
        if let Stopped::Interrupted = stopped {
            return self.stop(&stopped, Reason::Interrupted);
        }
        let failed = self.session.end().is_some_and(|end| end.error.is_some());
        let has_ended = matches!(stopped, Stopped::AtEnd) && !failed;
        if let (true, true, Some(last)) = (has_step, has_ended, watcher.last_of_unit) {
            self.reach(last + 1);
            return self.stop(&Stopped::Here, Reason::ThreadEnded);
        }
        self.stop(&stopped, Reason::Time)
    }

    fn at_hit(&mut self, hit: Hit) -> Stop {
        if self.session.time() != hit.time {
            self.reach(hit.time);
        }
        self.focus = hit.focus;
        Stop {
            reason: match hit.breakpoint {
                Some(id) => Reason::Breakpoint(id),
                None => Reason::Step,
            },
            time: hit.time,
        }
    }

    /// The last moment before this one at which a step in that direction ends, or at which there
    /// is a breakpoint.
    fn backwards(&mut self, step: Option<Step>) -> Stop {
        let mut search = Search::default();
        let found = match self.search(self.watcher(step), |seen| search.stretch(seen)) {
            Ok(found) => found.or_else(|| search.at_begin()),
            Err(stop) => return stop,
        };
        match found {
            Some(hit) => self.at_hit(hit),
            None => self.go_to(0),
        }
    }

    /// Searches the moments before this one, from the last to the first. If it is interrupted, the
    /// launch is back where it began.
    fn search(
        &mut self,
        watcher: Watcher,
        result: impl FnMut(&Backwards) -> Option<Hit>,
    ) -> Result<Option<Hit>, Stop> {
        let now = self.session.time();
        let probe = Backwards::new(watcher);
        let found = self.session.backwards(now, &probe, result);
        if found.is_none() && self.session.interrupt().load(Ordering::Relaxed) {
            self.reach(now);
            return Err(self.stop(&Stopped::Interrupted, Reason::Interrupted));
        }
        Ok(found)
    }

    /// Goes to the instruction that last wrote some memory before this moment.
    ///
    /// # Errors
    /// The text names no memory.
    pub fn last_write(&mut self, text: &str) -> Result<Stop, NoValue> {
        let at = self.accesses_to(text, (false, true))?;
        let now = self.session.time();
        let mut watcher = self.watcher(None);
        watcher.breakpoints = Arc::new(vec![Breakpoint {
            id: 0,
            text: String::new(),
            at,
            condition: None,
        }]);
        Ok(match self.search(watcher, |seen| seen.hit) {
            Ok(Some(hit)) => Stop {
                reason: Reason::LastWrite(text.to_owned()),
                ..self.at_hit(hit)
            },
            Ok(None) => {
                self.reach(now);
                Stop {
                    reason: Reason::NeverWritten(text.to_owned()),
                    time: now,
                }
            }
            Err(interrupted) => interrupted,
        })
    }

    /// Accesses to the memory that a text names: an element, or all of a buffer or a variable.
    pub(crate) fn accesses_to(&self, text: &str, how: (bool, bool)) -> Result<At, NoValue> {
        let (space, block, range) = match self.names.find(text) {
            Some(named) => {
                let range = named.address..named.address + named.size_bytes;
                (named.space, None, range)
            }
            None => {
                let expression = Expression::read(text, &self.names)?;
                let place = expression.place(&Looked::at_focus(self))?;
                let range = place.address..place.address + place.element.bytes();
                let block = (place.space == Space::Shared).then_some(self.focus.block);
                (place.space, block, range)
            }
        };
        let (reads, writes) = how;
        Ok(At::Access {
            space,
            block,
            range,
            reads,
            writes,
        })
    }

    /// Bytes of memory; of a block's, if it is shared. None if there are not that many.
    pub fn bytes(&self, space: Space, block: u64, address: u64, n_bytes: u64) -> Option<Vec<u8>> {
        match space {
            Space::Shared => self.session.shared(block, address, n_bytes),
            _ => self.session.global(address, n_bytes),
        }
    }

    /// The bytes of an element of memory with a name; of a block's, if it is shared.
    pub fn element(&self, named: &Named, block: u64, index: u64) -> Option<Vec<u8>> {
        let address = named.address_of(index);
        self.bytes(named.space, block, address, named.element.bytes())
    }

    /// What the checks find.
    pub fn finding(&mut self) -> Option<Found> {
        self.session.finding()
    }

    /// Goes to what the checks find, or to its other side; if they find nothing, to where the launch
    /// fails by itself. None if it does not, or there is no other side.
    pub fn go_to_finding(&mut self, is_other: bool) -> Option<Stop> {
        let Some(found) = self.session.finding() else {
            return if is_other { None } else { self.go_to_fault() };
        };
        let party = match is_other {
            false => found.this,
            true => found.other?,
        };
        self.reach(party.time);
        self.focus = Focus {
            block: party.block,
            warp: party.warp,
            lane: party.lane,
        };
        Some(Stop {
            reason: Reason::Finding {
                error: Box::new(found.error),
                is_other,
            },
            time: party.time,
        })
    }

    /// Goes to where the launch fails; none if it does not, and stays where it is.
    fn go_to_fault(&mut self) -> Option<Stop> {
        let time = self.session.time();
        let stop = self.go_to(u64::MAX);
        match stop.reason {
            Reason::End(Some(_)) => Some(stop),
            _ => {
                self.go_to(time);
                None
            }
        }
    }

    fn stop(&mut self, stopped: &Stopped, reason: Reason) -> Stop {
        let reason = match stopped {
            Stopped::Here => reason,
            Stopped::Interrupted => Reason::Interrupted,
            Stopped::AtEnd => self.at_end(),
        };
        if !matches!(reason, Reason::ThreadEnded | Reason::End(Some(_))) {
            self.look_at_here();
        }
        Stop {
            reason,
            time: self.session.time(),
        }
    }

    /// At the end: of a launch that fails by an instruction, the moment before it.
    fn at_end(&mut self) -> Reason {
        let error = self.session.end().and_then(|end| end.error.clone());
        let Some(error) = error else {
            return Reason::End(None);
        };
        let thread = match &error {
            LaunchError::Fault(fault) => Some(&fault.thread),
            LaunchError::OutOfFuel(kernel) => Some(&kernel.thread),
            _ => None,
        };
        let at = thread.and_then(|thread| self.session.find_thread(thread.block, thread.thread));
        if let Some((block, warp, lane)) = at {
            self.focus = Focus { block, warp, lane };
        }
        // A thread that waits is where it waits. One that has carried something out is past that.
        if self.path().is_none() {
            let last = self.session.time().saturating_sub(1);
            self.reach(last);
        }
        Reason::End(Some(Box::new(error)))
    }

    /// The value of an expression for the thread.
    ///
    /// # Errors
    /// Why it has none.
    pub fn value(&self, text: &str) -> Result<Number, NoValue> {
        Expression::read(text, &self.names)?.value(&Looked::at_focus(self))
    }

    /// An expression's value as text, of memory in the type of its elements.
    ///
    /// # Errors
    /// Why it has none.
    pub fn print(&self, text: &str) -> Result<String, NoValue> {
        self.print_in(text, self.focus.lane)
    }

    /// [`print`](Self::print) for another lane of the warp.
    ///
    /// # Errors
    /// Why it has no value.
    pub fn print_in(&self, text: &str, lane: u32) -> Result<String, NoValue> {
        let expression = Expression::read(text, &self.names)?;
        match &expression {
            Expression::Register(name) => return Ok(text::known(self.known(name, lane)?)),
            Expression::Variable(name) => {
                let (frame, variable) = self.variable(name)?;
                return Ok(self.variable_text(&frame, &variable, lane));
            }
            _ => {}
        }
        let focus = Focus { lane, ..self.focus };
        let thread = Looked {
            debugger: self,
            focus,
        };
        match expression.place(&thread) {
            Ok(place) => {
                let bytes = thread.memory(place.space, place.address, place.element.bytes())?;
                Ok(crate::element::text(place.element, &bytes))
            }
            Err(_) => Ok(text::number(expression.value(&thread)?)),
        }
    }

    /// The source's variables in scope in a call of the thread, those of the outermost inlined call
    /// first.
    pub fn variables_in(&self, frame: &Frame) -> Vec<Variable> {
        let Position {
            function,
            instruction,
        } = frame.position;
        let name = &self.session.module().functions[function].name;
        self.variables.at(name, instruction as usize)
    }

    /// Why there are no variables, if the module has none.
    pub fn no_variables(&self) -> Option<&str> {
        self.variables.missing()
    }

    /// A variable's value in a call of the thread, as text.
    pub fn variable_text(&self, frame: &Frame, variable: &Variable, lane: u32) -> String {
        let call = CalledAt {
            debugger: self,
            frame: *frame,
            lane,
        };
        variable.show(|piece| vars::bytes(&call, piece))
    }

    /// A variable by its name, the innermost of that name, and the call that it belongs to.
    fn variable(&self, name: &str) -> Result<(Frame, Variable), NoValue> {
        let missing = || match self.no_variables() {
            Some(why) => NoValue(format!("there is nothing called `{name}`: {why}")),
            None => NoValue(format!("there is no variable `{name}` here")),
        };
        let path = self.path().ok_or_else(missing)?;
        let mut found = path.frames.iter().filter_map(|frame| {
            let mut all = self.variables_in(frame).into_iter().rev();
            Some((*frame, all.find(|variable| variable.name == name)?))
        });
        found.next().ok_or_else(missing)
    }

    /// What is known of a register of the innermost call, in a lane of the warp.
    ///
    /// # Errors
    /// There is no such register, or the thread is not there.
    pub fn known(&self, name: &str, lane: u32) -> Result<Known, NoValue> {
        let not_there = || NoValue("the thread has not begun, or has ended".to_owned());
        let path = self.path().ok_or_else(not_there)?;
        let frame = path.frames.first().ok_or_else(not_there)?;
        self.known_in(frame, name, lane)
    }

    /// The same in any of the thread's calls.
    ///
    /// # Errors
    /// There is no such register, or the thread is not there.
    pub fn known_in(&self, frame: &Frame, name: &str, lane: u32) -> Result<Known, NoValue> {
        let function = frame.position.function;
        let register = self.program.register(function, name).ok_or_else(|| {
            let name_of = &self.program.function(function).name;
            NoValue(format!("`{name_of}` has no register `{name}`"))
        })?;
        let at = (self.focus.block, self.focus.warp);
        let known = self.session.register(at, frame, register, lane);
        known.ok_or_else(|| NoValue("the thread is not there".to_owned()))
    }

    /// The instruction that the thread is at.
    pub fn position(&self) -> Option<Position> {
        Some(self.path()?.frames.first()?.position)
    }
}

/// What the kernel's parameters that are pointers point to, in the order of the source, as far as
/// those are elements.
fn pointed_to(session: &Session<'_, '_>, variables: &Variables) -> Vec<Element> {
    let kernel = &session.module().functions[session.kernel()].name;
    let all = variables.at(kernel, 0);
    let parameters = all.iter().filter(|v| v.is_parameter && v.frame.depth == 0);
    let pointed_to = parameters.filter_map(|parameter| match &*parameter.ty {
        Type::Pointer { to, .. } => Element::named(to),
        _ => None,
    });
    pointed_to.collect()
}

/// The thread that is looked at.
pub struct Looked<'a, 's, 'w, 'o> {
    /// By whom.
    debugger: &'a Debugger<'s, 'w, 'o>,
    focus: Focus,
}

impl<'a, 's, 'w, 'o> Looked<'a, 's, 'w, 'o> {
    /// The one that the debugger looks at.
    pub fn at_focus(debugger: &'a Debugger<'s, 'w, 'o>) -> Self {
        let focus = debugger.focus;
        Self { debugger, focus }
    }
}

impl Thread for Looked<'_, '_, '_, '_> {
    fn register(&self, name: &str) -> Result<Number, NoValue> {
        match self.debugger.known(name, self.focus.lane)? {
            Known::Is(value) => Ok(text::number_of(value)),
            other => Err(NoValue(format!("`{name}` is {}", text::known(other)))),
        }
    }

    fn variable(&self, name: &str) -> Result<Number, NoValue> {
        let (frame, variable) = self.debugger.variable(name)?;
        let call = CalledAt {
            debugger: self.debugger,
            frame,
            lane: self.focus.lane,
        };
        vars::value(&call, &variable)
    }

    fn place(&self) -> ThreadPlace {
        let Focus { block, warp, lane } = self.focus;
        let session = &self.debugger.session;
        ThreadPlace {
            shape: session.shape(),
            indices: session.thread(block, warp, lane),
            block,
            warp,
            lane,
        }
    }

    fn memory(&self, space: Space, address: u64, n_bytes: u64) -> Result<Vec<u8>, NoValue> {
        let block = self.focus.block;
        if space == Space::Shared && self.debugger.session.block(block).is_none() {
            return Err(NoValue(format!("block {block} does not run now")));
        }
        let bytes = self.debugger.bytes(space, block, address, n_bytes);
        bytes.ok_or_else(|| NoValue(format!("there is no memory at {address:#x}")))
    }
}

/// A call of the thread that a debugger looks at.
struct CalledAt<'a, 's, 'w, 'o> {
    /// Whose.
    debugger: &'a Debugger<'s, 'w, 'o>,
    /// Which.
    frame: Frame,
    /// In which lane.
    lane: u32,
}

impl Call for CalledAt<'_, '_, '_, '_> {
    fn register(&self, name: &str) -> Option<u128> {
        match self.debugger.known_in(&self.frame, name, self.lane) {
            Ok(Known::Is(value)) => Some(value.bits),
            _ => None,
        }
    }

    fn memory(&self, space: Space, name: &str, offset: u64, n_bytes: u64) -> Option<Vec<u8>> {
        let session = self.debugger.session();
        let function = self.frame.position.function;
        let address = session
            .address_of(function, space, name)?
            .checked_add(offset)?;
        let focus = self.debugger.focus();
        match space {
            Space::Local => {
                let address = u64::from(self.frame.local_base).checked_add(address)?;
                let thread = (focus.block, focus.warp, self.lane);
                session.local(
                    thread,
                    u32::try_from(address).ok()?,
                    u32::try_from(n_bytes).ok()?,
                )
            }
            Space::Shared => session.shared(focus.block, address, n_bytes),
            Space::Param => vars::part(&session.parameters(), address, n_bytes),
            _ => session.global(address, n_bytes),
        }
    }
}
