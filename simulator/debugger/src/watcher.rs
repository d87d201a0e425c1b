//! The search for the moment at which a debugger is to halt.

use std::sync::Arc;

use ptx::ir::Space;
use ptx_sim::debug::{Known, Moment, Position, Probe, Touch};

use crate::element::Number;
use crate::expression::{Expression, NoValue, Thread, ThreadPlace};
use crate::program::{Program, Spot};
use crate::variables::Variables;
use crate::vars;

/// A thread of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Focus {
    /// The block's number in the grid.
    pub block: u64,
    /// The warp's number in the block.
    pub warp: u32,
    /// The lane.
    pub lane: u32,
}

/// Whose instructions count as steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Those of the thread that is looked at, and of the lanes that are with it.
    #[default]
    Thread,
    /// Those of its block.
    Block,
    /// All of them.
    Launch,
}

/// How far a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// To another source line, in inlined functions and in calls, too.
    Into,
    /// To another source line, over calls.
    Over,
    /// Out of a call.
    Out,
    /// To another instruction of the PTX text.
    Instruction,
    /// To a barrier.
    Barrier,
    /// To a place where lanes go different ways.
    Divergence,
}

/// A step, from where it begins.
#[derive(Clone, Debug)]
pub struct Step {
    pub unit: Unit,
    pub reach: Reach,
    pub focus: Focus,
    /// The line and the depth of where it begins, in calls and inlined ones.
    pub from: Option<Run>,
}

/// Instructions of one line, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub key: (u64, u64),
    pub depth: u32,
}

impl Step {
    /// Whether it is a step of the unit.
    pub fn is_of(&self, at: &Moment<'_>) -> bool {
        match self.unit {
            Unit::Launch => true,
            Unit::Block => at.block() == self.focus.block,
            Unit::Thread => {
                (at.block(), at.warp()) == (self.focus.block, self.focus.warp)
                    && at.lanes() >> self.focus.lane & 1 != 0
            }
        }
    }

    /// The run that an instruction belongs to.
    fn run(&self, at: &Moment<'_>, spot: &Spot) -> Run {
        let position = position(at);
        self.run_at((at.block(), at.warp()), position, at.depth(), spot)
    }

    /// The run that an instruction of a warp belongs to, so many calls deep.
    pub fn run_at(
        &self,
        (block, warp): (u64, u32),
        at: Position,
        n_calls: u32,
        spot: &Spot,
    ) -> Run {
        let who = match self.unit {
            Unit::Thread => 0,
            Unit::Block | Unit::Launch => block << 6 | u64::from(warp),
        };
        let depth = n_calls + spot.depth;
        let what = match self.reach {
            Reach::Into | Reach::Over | Reach::Out => {
                u64::from(spot.line_key) << 8 | u64::from(depth)
            }
            Reach::Instruction | Reach::Barrier | Reach::Divergence => {
                (at.function as u64) << 32 | u64::from(at.instruction)
            }
        };
        Run {
            key: (who, what),
            depth,
        }
    }

    /// Whether what is at this depth is passed over.
    pub fn passes_over(&self, run: Run) -> bool {
        let from = self.from.map_or(u32::MAX, |from| from.depth);
        match self.reach {
            Reach::Over => run.depth > from,
            Reach::Out => run.depth >= from,
            _ => false,
        }
    }

    /// Whether it may end at an instruction at all.
    pub fn may_end_at(&self, at: &Moment<'_>, spot: &Spot) -> bool {
        match self.reach {
            Reach::Barrier => spot.is_barrier,
            Reach::Divergence => at.diverges(),
            _ => true,
        }
    }
}

fn position(at: &Moment<'_>) -> Position {
    Position {
        function: at.function(),
        instruction: at.instruction(),
    }
}

/// A place to halt at.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Its number.
    pub id: u32,
    /// As it was asked for.
    pub text: String,
    /// Where.
    pub at: At,
    /// When, for a thread that is there.
    pub condition: Option<Expression>,
}

/// Where to halt.
#[derive(Clone, Debug)]
pub enum At {
    /// At some instructions.
    Instructions(Arc<Vec<Position>>),
    /// At any barrier.
    Barrier,
    /// Where lanes go different ways.
    Divergence,
    /// Before an access to some memory.
    Access {
        /// Global or shared.
        space: Space,
        /// Of shared memory, the block, if only one's counts.
        block: Option<u64>,
        /// The addresses.
        range: std::ops::Range<u64>,
        /// Whether reads count.
        reads: bool,
        /// Whether writes do.
        writes: bool,
    },
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    pub time: u64,
    /// The breakpoint; none for the end of a step.
    pub breakpoint: Option<u32>,
    /// The thread.
    pub focus: Focus,
}

/// The source's variables, and the functions that have them.
pub struct NamedVariables {
    /// By number.
    pub functions: Vec<String>,
    pub variables: Arc<Variables>,
}

/// Looks for the end of a step and for breakpoints, forwards.
#[derive(Clone)]
pub struct Watcher {
    pub program: Program,
    pub breakpoints: Arc<Vec<Breakpoint>>,
    pub step: Option<Step>,
    /// The source's variables, if a condition names some.
    pub variables: Option<Arc<NamedVariables>>,
    /// The thread that is kept as long as it is there.
    pub focus: Option<Focus>,
    /// What was found.
    pub hit: Option<Hit>,
    /// How often a condition had no value, and why it last had none.
    pub unknown: Option<(u32, String)>,
    /// When the step's unit last did anything.
    pub last_of_unit: Option<u64>,
    /// By access that has a condition, the lanes for which that holds now.
    allowed: Vec<(u32, u32)>,
}

impl Watcher {
    pub fn new(program: Program, breakpoints: Arc<Vec<Breakpoint>>, focus: Option<Focus>) -> Self {
        Self {
            program,
            breakpoints,
            step: None,
            variables: None,
            focus,
            hit: None,
            unknown: None,
            last_of_unit: None,
            allowed: Vec::new(),
        }
    }

    /// The thread to look at of some lanes: the one that was, if it is one of them.
    fn chosen(&self, block: u64, warp: u32, lanes: u32) -> Focus {
        let kept = self.focus.filter(|focus| {
            (focus.block, focus.warp) == (block, warp) && lanes >> focus.lane & 1 != 0
        });
        kept.unwrap_or(Focus {
            block,
            warp,
            lane: lanes.trailing_zeros() % 32,
        })
    }

    /// The breakpoint that lanes are at.
    fn breakpoint(&mut self, at: &Moment<'_>, spot: &Spot) -> Option<Hit> {
        let position = position(at);
        let breakpoints = Arc::clone(&self.breakpoints);
        breakpoints.iter().find_map(|breakpoint| {
            let is_here = match &breakpoint.at {
                At::Instructions(all) => all.binary_search(&position).is_ok(),
                At::Barrier => spot.is_barrier,
                At::Divergence => at.diverges(),
                At::Access { .. } => false,
            };
            let lanes = if is_here { at.active() } else { 0 };
            let lanes = self.lanes_where(breakpoint.condition.as_ref(), at, lanes);
            (lanes != 0).then(|| Hit {
                time: at.time(),
                breakpoint: Some(breakpoint.id),
                focus: self.chosen(at.block(), at.warp(), lanes),
            })
        })
    }

    /// Looks for which lanes the conditions of accesses hold, before an instruction that may be one.
    fn allow(&mut self, at: &Moment<'_>, spot: &Spot) {
        self.allowed.clear();
        if !spot.may_access {
            return;
        }
        let breakpoints = Arc::clone(&self.breakpoints);
        for breakpoint in breakpoints.iter() {
            if matches!(breakpoint.at, At::Access { .. }) && breakpoint.condition.is_some() {
                let lanes = self.lanes_where(breakpoint.condition.as_ref(), at, at.active());
                self.allowed.push((breakpoint.id, lanes));
            }
        }
    }

    /// The lanes for which a condition holds.
    fn lanes_where(&mut self, condition: Option<&Expression>, at: &Moment<'_>, lanes: u32) -> u32 {
        let Some(condition) = condition else {
            return lanes;
        };
        let mut unknown = None;
        let holds = |&lane: &u32| {
            if lanes >> lane & 1 == 0 {
                return false;
            }
            let thread = ThreadAt {
                at,
                lane,
                program: &self.program,
                variables: self.variables.as_deref(),
            };
            match condition.value(&thread) {
                Ok(value) => value.is_true(),
                Err(why) => {
                    unknown = Some(why);
                    false
                }
            }
        };
        let all = (0..32).filter(holds).fold(0, |all, lane| all | 1 << lane);
        if let Some(NoValue(why)) = unknown {
            let n = self.unknown.take().map_or(0, |(n, _)| n);
            self.unknown = Some((n + 1, why));
        }
        all
    }

    /// Whether a step ends at an instruction.
    fn ends_step(&mut self, at: &Moment<'_>, spot: &Spot) -> bool {
        let Some(step) = &self.step else {
            return false;
        };
        if !step.is_of(at) {
            return false;
        }
        self.last_of_unit = Some(at.time());
        let run = step.run(at, spot);
        let is_other = step.from.is_none_or(|from| from.key != run.key);
        is_other && !step.passes_over(run) && step.may_end_at(at, spot)
    }
}

impl Probe for Watcher {
    fn step(&mut self, at: &Moment<'_>) -> bool {
        let function = self.program.function(at.function());
        let Some(&spot) = function.spots.get(at.instruction() as usize) else {
            return false;
        };
        self.allow(at, &spot);
        let hit = self.breakpoint(at, &spot);
        if hit.is_some() || self.ends_step(at, &spot) {
            self.hit = hit.or(Some(Hit {
                time: at.time(),
                breakpoint: None,
                focus: self.chosen(at.block(), at.warp(), at.lanes()),
            }));
            return true;
        }
        false
    }

    fn wants_accesses(&self) -> bool {
        let is_access = |breakpoint: &Breakpoint| matches!(breakpoint.at, At::Access { .. });
        self.breakpoints.iter().any(is_access)
    }

    fn touch(&mut self, touch: &Touch<'_>) -> bool {
        let hit = accessed(&self.breakpoints, &self.allowed, touch);
        if let Some((id, lanes)) = hit {
            self.hit = Some(Hit {
                time: touch.time,
                breakpoint: Some(id),
                focus: self.chosen(touch.block, touch.warp, lanes),
            });
        }
        hit.is_some()
    }
}

/// The breakpoint that an access meets, and the lanes; of those with a condition, only the lanes that
/// are `allowed`.
fn accessed(
    breakpoints: &[Breakpoint],
    allowed: &[(u32, u32)],
    touch: &Touch<'_>,
) -> Option<(u32, u32)> {
    breakpoints.iter().find_map(|breakpoint| {
        let At::Access {
            space,
            block,
            range,
            reads,
            writes,
        } = &breakpoint.at
        else {
            return None;
        };
        let is_asked_for = (*writes && touch.how.writes())
            || (*reads && touch.how != ptx_sim::debug::Touched::Written);
        let is_there = *space == touch.space && block.is_none_or(|block| block == touch.owner);
        let known = allowed.iter().find(|(id, _)| *id == breakpoint.id);
        let allowed = match (&breakpoint.condition, known) {
            (None, _) => u32::MAX,
            (Some(_), known) => known.map_or(0, |(_, lanes)| *lanes),
        };
        let lanes = match is_asked_for && is_there {
            true => touch.lanes_in(range) & allowed,
            false => 0,
        };
        (lanes != 0).then_some((breakpoint.id, lanes))
    })
}

/// Looks for the last moment before some time at which [`Watcher`] would halt.
#[derive(Clone)]
pub struct Backwards {
    pub watcher: Watcher,
    /// The first instruction of the unit, and whether a step may end there.
    first: Option<(Begin, bool)>,
    /// The last one's run.
    last: Option<Run>,
    /// The last that begins a run.
    begins: Option<Begin>,
    /// The last breakpoint met.
    pub hit: Option<Hit>,
}

/// An instruction that may begin a run.
#[derive(Clone, Copy)]
struct Begin {
    run: Run,
    hit: Hit,
}

impl Backwards {
    pub fn new(watcher: Watcher) -> Self {
        Self {
            watcher,
            first: None,
            last: None,
            begins: None,
            hit: None,
        }
    }

    fn follow(&mut self, at: &Moment<'_>, spot: &Spot) {
        let Some(step) = &self.watcher.step else {
            return;
        };
        if !step.is_of(at) {
            return;
        }
        let run = step.run(at, spot);
        if step.passes_over(run) {
            return;
        }
        let may_end = step.may_end_at(at, spot);
        let hit = Hit {
            time: at.time(),
            breakpoint: None,
            focus: self.watcher.chosen(at.block(), at.warp(), at.lanes()),
        };
        let begin = Begin { run, hit };
        match self.last {
            None => self.first = Some((begin, may_end)),
            Some(last) if last.key != run.key && may_end => self.begins = Some(begin),
            Some(_) => {}
        }
        // What a step cannot end at still separates.
        self.last = Some(run);
    }
}

impl Probe for Backwards {
    fn step(&mut self, at: &Moment<'_>) -> bool {
        let function = self.watcher.program.function(at.function());
        if let Some(&spot) = function.spots.get(at.instruction() as usize) {
            self.watcher.allow(at, &spot);
            let hit = self.watcher.breakpoint(at, &spot);
            self.hit = hit.or(self.hit);
            self.follow(at, &spot);
        }
        false
    }

    fn wants_accesses(&self) -> bool {
        self.watcher.wants_accesses()
    }

    fn touch(&mut self, touch: &Touch<'_>) -> bool {
        if self.watcher.touch(touch) {
            self.hit = self.watcher.hit;
        }
        false
    }
}

/// Puts together what [`Backwards`] sees in one stretch of a launch after the other, the last first.
#[derive(Default)]
pub struct Search {
    /// The first instruction of a later stretch, which begins a run if what comes before it is
    /// another one's.
    pending: Option<Begin>,
    /// A breakpoint met before that.
    hit: Option<Hit>,
}

impl Search {
    /// Adds a stretch; gives where to halt, once that is known.
    pub fn stretch(&mut self, seen: &Backwards) -> Option<Hit> {
        if let (Some(pending), Some(last)) = (self.pending, seen.last) {
            if last.key != pending.run.key {
                return Some(pending.hit);
            }
            self.pending = None;
        }
        self.hit = self.hit.or(seen.hit);
        if let Some(begins) = seen.begins {
            let later = self.hit.filter(|hit| hit.time >= begins.hit.time);
            return Some(later.unwrap_or(begins.hit));
        }
        let first = seen.first.filter(|(_, may_end)| *may_end);
        self.pending = self.pending.or(first.map(|(begin, _)| begin));
        let is_last = |hit: &Hit| {
            self.pending
                .is_none_or(|pending| pending.hit.time <= hit.time)
        };
        self.hit.filter(is_last)
    }

    /// Where to halt if there is nothing earlier.
    pub fn at_begin(&self) -> Option<Hit> {
        self.pending.map(|pending| pending.hit).or(self.hit)
    }
}

/// A thread at a moment, as conditions see it.
struct ThreadAt<'a> {
    at: &'a Moment<'a>,
    lane: u32,
    program: &'a Program,
    variables: Option<&'a NamedVariables>,
}

impl Thread for ThreadAt<'_> {
    fn register(&self, name: &str) -> Result<Number, NoValue> {
        let register = self.program.register(self.at.function(), name);
        let register = register.ok_or_else(|| NoValue(format!("no register `{name}`")))?;
        match self.at.register(register, self.lane) {
            Known::Is(value) => Ok(crate::text::number_of(value)),
            _ => Err(NoValue(format!("`{name}` has no value here"))),
        }
    }

    fn variable(&self, name: &str) -> Result<Number, NoValue> {
        let not_known = || NoValue(format!("there is no variable `{name}` here"));
        let known = self.variables.ok_or_else(not_known)?;
        let function = &known.functions[self.at.function()];
        let all = known.variables.at(function, self.at.instruction() as usize);
        let variable = all.iter().rev().find(|variable| variable.name == name);
        let call = vars::Now {
            at: self.at,
            lane: self.lane,
            program: self.program,
        };
        vars::value(&call, variable.ok_or_else(not_known)?)
    }

    fn place(&self) -> ThreadPlace {
        ThreadPlace {
            shape: self.at.shape(),
            indices: self.at.thread(self.lane),
            block: self.at.block(),
            warp: self.at.warp(),
            lane: self.lane,
        }
    }

    fn memory(&self, space: Space, address: u64, n_bytes: u64) -> Result<Vec<u8>, NoValue> {
        let bytes = match space {
            Space::Shared => self.at.shared(address, n_bytes),
            _ => self.at.global(address, n_bytes),
        };
        bytes.ok_or_else(|| NoValue("there is no such memory".to_owned()))
    }
}
