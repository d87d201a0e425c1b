//! The lanes of a warp and the warps of a block, each as one cell.

use debugger::Debugger;
use debugger::show;
use ptx::ir::Instruction;
use ptx_sim::debug::{BlockState, Known, PathState, Position, Waits, WarpState};

/// What a lane does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneMark {
    /// It is with the one that is looked at, and will carry out the instruction.
    Here,
    /// It is there, but the instruction's guard does not hold for it.
    GuardedOff,
    /// It is with these others, by their number.
    Elsewhere(usize),
    /// It has ended.
    Ended,
    /// The block has no such thread.
    Absent,
}

/// The lanes of the warp that is looked at.
#[derive(Clone, Debug)]
pub struct Lanes {
    /// By lane.
    pub marks: [LaneMark; 32],
    /// Lanes at other places.
    pub others: Vec<PathState>,
}

/// The instruction at a position.
pub fn instruction<'a>(
    debugger: &'a Debugger<'_, '_, '_>,
    position: Position,
) -> Option<&'a Instruction> {
    let function = debugger
        .session()
        .module()
        .functions
        .get(position.function)?;
    function.body.as_ref()?.get(position.instruction as usize)
}

/// The lanes of a path for which its instruction's guard holds: all if it has none.
pub fn active(debugger: &Debugger<'_, '_, '_>, path: &PathState) -> u32 {
    let Some(frame) = path.frames.first() else {
        return path.lanes;
    };
    let guard = instruction(debugger, frame.position).and_then(|at| at.guard);
    let Some(guard) = guard else {
        return path.lanes;
    };
    let function = &debugger.session().module().functions[frame.position.function];
    let name = &function.registers[guard.register.0 as usize].name;
    let holds = |lane: &u32| match debugger.known_in(frame, name, *lane) {
        Ok(Known::Is(value)) => (value.bits & 1 != 0) != guard.negated,
        _ => true,
    };
    let lanes = (0..32).filter(|lane| path.lanes >> lane & 1 != 0);
    lanes.filter(holds).fold(0, |all, lane| all | 1 << lane)
}

/// The lanes of the warp that is looked at; none if its block does not run.
pub fn lanes(debugger: &Debugger<'_, '_, '_>) -> Option<Lanes> {
    let focus = debugger.focus();
    let block = debugger.session().block(focus.block)?;
    let warp = block.warps.into_iter().nth(focus.warp as usize)?;
    let (_, shape) = debugger.session().shape();
    let n_threads: u32 = shape.iter().product();
    let mut marks = [LaneMark::Ended; 32];
    for (lane, mark) in (0..).zip(&mut marks) {
        if focus.warp * 32 + lane >= n_threads {
            *mark = LaneMark::Absent;
        }
    }
    let mut others = Vec::new();
    for path in warp.paths {
        let is_here = path.lanes >> focus.lane & 1 != 0;
        let active = if is_here { active(debugger, &path) } else { 0 };
        for (lane, mark) in marks.iter_mut().enumerate() {
            if path.lanes >> lane & 1 != 0 {
                *mark = match (is_here, active >> lane & 1 != 0) {
                    (true, true) => LaneMark::Here,
                    (true, false) => LaneMark::GuardedOff,
                    (false, _) => LaneMark::Elsewhere(others.len()),
                };
            }
        }
        if !is_here {
            others.push(path);
        }
    }
    Some(Lanes { marks, others })
}

impl LaneMark {
    /// As a character.
    pub fn sign(self) -> char {
        match self {
            Self::Here => '■',
            Self::GuardedOff => '□',
            Self::Elsewhere(number) => letter(number),
            Self::Ended => '·',
            Self::Absent => ' ',
        }
    }
}

/// The letter of lanes at another place.
pub fn letter(number: usize) -> char {
    char::from(b'a' + (number % 26) as u8)
}

impl Lanes {
    /// The lanes with a mark.
    pub fn with(&self, mark: LaneMark) -> u32 {
        let marks = self.marks.iter().enumerate();
        let own = marks.filter(|(_, own)| **own == mark);
        own.fold(0, |all, (lane, _)| all | 1 << lane)
    }

    /// What the signs stand for, one text each.
    pub fn legend(&self, debugger: &Debugger<'_, '_, '_>) -> Vec<String> {
        let mut texts = Vec::new();
        for (mark, what) in [
            (LaneMark::Here, "here"),
            (LaneMark::GuardedOff, "guarded off"),
        ] {
            let lanes = self.with(mark);
            if lanes != 0 {
                texts.push(format!("{} {} {what}", mark.sign(), show::lanes(lanes)));
            }
        }
        for (number, path) in self.others.iter().enumerate() {
            texts.push(format!(
                "{} {} {}, {}",
                letter(number),
                show::lanes(path.lanes),
                place_of(debugger, path),
                show::waits(path.waits)
            ));
        }
        let ended = self.with(LaneMark::Ended);
        if ended != 0 {
            texts.push(format!("· {} ended", show::lanes(ended)));
        }
        texts
    }
}

/// Where lanes are: the file's name and the line, or the line of the PTX text.
pub fn place_of(debugger: &Debugger<'_, '_, '_>, path: &PathState) -> String {
    let frame = path.frames.first();
    let place = frame.map(|frame| show::place(&debugger.session().place(frame.position)));
    short(&place.unwrap_or_default()).to_owned()
}

/// A file's name without its folders.
pub fn short(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// What a warp does, as a character: see the help.
pub fn sign_of(warp: &WarpState) -> char {
    if warp.live == 0 {
        return '·';
    }
    match warp.paths.as_slice() {
        [path] => match path.waits {
            None => 'r',
            Some(Waits::Barrier) => 'b',
            Some(Waits::Cluster) => 'c',
            Some(Waits::Warpgroup) => 'g',
            Some(Waits::Lanes(_) | Waits::Join(_)) => 'l',
        },
        _ => '+',
    }
}

/// The block that is looked at, if it runs.
pub fn block(debugger: &Debugger<'_, '_, '_>) -> Option<BlockState> {
    debugger.session().block(debugger.focus().block)
}
