//! The debugger's answers as text.

use std::fmt::Write as _;

use ptx::ir;
use ptx_sim::debug::{BlockState, Frame, Known, Position, Waits, WarpState};

use crate::debugger::{Debugger, Reason, Stop};
use crate::element;
use crate::names::Named;
use crate::text;
pub use crate::text::{count, instruction, known, lanes, number, number_of, place, triple, waits};

/// Lines shown before and after a line of source.
const AROUND: u32 = 3;
/// Columns that the values of a line may take, without a word on those left out.
const COLUMNS: usize = 84;

/// A value of many parts, such as an array, in one line: the first ones, and how many there are
/// besides.
fn shortened(value: &str) -> String {
    if value.len() <= COLUMNS {
        return value.to_owned();
    }
    let mut parts: Vec<&str> = value.split(", ").collect();
    let mut n_more = 0;
    // An array's own word on those that it leaves out.
    if let Some(left_out) = parts.pop_if(|last| last.starts_with("… ")) {
        n_more = left_out
            .split(' ')
            .nth(1)
            .and_then(|n| n.parse().ok())
            .unwrap_or(1);
    }
    while parts.len() > 1 && parts.iter().map(|part| part.len() + 2).sum::<usize>() > COLUMNS {
        parts.pop();
        n_more += 1;
    }
    format!("{}, … {n_more} more", parts.join(", "))
}

impl Debugger<'_, '_, '_> {
    /// Why and where the launch was halted.
    pub fn stop_text(&self, stop: &Stop) -> String {
        let why = self.reason_text(stop);
        match why.is_empty() {
            true => self.where_text(),
            false => format!("{why}\n{}", self.where_text()),
        }
    }

    /// Why the launch was halted; empty where that needs no words.
    pub fn reason_text(&self, stop: &Stop) -> String {
        match &stop.reason {
            Reason::Begin => "at the beginning of the launch".to_owned(),
            Reason::Time | Reason::Step => String::new(),
            Reason::Breakpoint(id) => {
                let mut all = self.breakpoints().iter();
                let text = all.find(|breakpoint| breakpoint.id == *id);
                format!("breakpoint {id}: {}", text.map_or("", |b| b.text.as_str()))
            }
            Reason::ThreadEnded => "the thread has ended".to_owned(),
            Reason::End(None) => match self.unknown() {
                None => "the launch has ended".to_owned(),
                Some((n, why)) => {
                    format!("the launch has ended; {n} times a condition had no value: {why}")
                }
            },
            Reason::End(Some(error)) => format!("the launch fails here:\n{error}"),
            Reason::Finding { error, is_other } => match is_other {
                false => format!("the checks find this:\n{error}"),
                true => "the other side of what the checks find".to_owned(),
            },
            Reason::LastWrite(what) => format!("the last write of {what} is about to happen"),
            Reason::NeverWritten(what) => format!("nothing before this moment writes {what}"),
            Reason::Interrupted => "interrupted".to_owned(),
        }
    }

    /// The moment, the thread, its source line and its instruction.
    pub fn where_text(&self) -> String {
        let focus = self.focus();
        let session = self.session();
        let (ctaid, tid) = session.thread(focus.block, focus.warp, focus.lane);
        let mut text = format!(
            "time {}, block {}, thread {} (warp {}, lane {})",
            count(session.time()),
            triple(ctaid),
            triple(tid),
            focus.warp,
            focus.lane
        );
        let Some(path) = self.path() else {
            text.push_str(": it has not begun, or has ended");
            return text;
        };
        let _ = write!(text, ", with lanes {}", lanes(path.lanes));
        if path.waits.is_some() {
            let _ = write!(text, ", which {}", waits(path.waits));
        }
        text.push('\n');
        if let Some(frame) = path.frames.first() {
            text.push_str(&self.frame_text(frame));
            text.push_str(&self.instruction_text(frame.position));
        }
        text
    }

    fn instruction_text(&self, position: Position) -> String {
        let module = self.session().module();
        let function = &module.functions[position.function];
        let body = function.body.as_deref().unwrap_or_default();
        let Some(at) = body.get(position.instruction as usize) else {
            return String::new();
        };
        let is_here = self.session().here().is_some_and(|(b, w, _, own)| {
            (b, w) == (self.focus().block, self.focus().warp) && own == position
        });
        let active = self.session().active();
        let lanes_here = self.session().here().map_or(0, |(_, _, lanes, _)| lanes);
        let guarded = match is_here && active != lanes_here {
            true => format!("   (for lanes {})", lanes(active)),
            false => String::new(),
        };
        let text = instruction(module, function, at);
        format!("  ptx:{}  {text}{guarded}", at.line)
    }

    /// A call, with its source line and what it was inlined in.
    fn frame_text(&self, frame: &Frame) -> String {
        let place = self.session().place(frame.position);
        let mut text = String::new();
        if let Some(source) = &place.source {
            let line = self.sources().line(&source.file, source.line);
            let line = line.map_or(String::new(), |line| format!("  {}", line.trim()));
            let _ = writeln!(text, "  {}:{}{line}", source.file, source.line);
        }
        for outer in &place.inlined_at {
            let _ = writeln!(text, "    inlined at {}:{}", outer.file, outer.line);
        }
        text
    }

    /// All calls of the thread, inlined ones included, the innermost first.
    pub fn frames_text(&self) -> String {
        let Some(path) = self.path() else {
            return "the thread has not begun, or has ended".to_owned();
        };
        let mut text = String::new();
        for frame in &path.frames {
            let name = &self.program().function(frame.position.function).name;
            let _ = writeln!(text, "{name}\n{}", self.frame_text(frame).trim_end());
        }
        text.trim_end().to_owned()
    }

    /// The source around the thread's line, or around another.
    pub fn list_text(&self, around: Option<u32>) -> String {
        let place = self.position().map(|at| self.session().place(at));
        let Some(source) = place.and_then(|place| place.source) else {
            return "the PTX has no line table for this instruction".to_owned();
        };
        let middle = around.unwrap_or(source.line);
        let mut text = String::new();
        for line in middle.saturating_sub(AROUND).max(1)..=middle + AROUND {
            if let Some(code) = self.sources().line(&source.file, line) {
                let mark = if line == source.line { '>' } else { ' ' };
                let _ = writeln!(text, "{mark}{line:>5}  {code}");
            }
        }
        match text.is_empty() {
            true => format!("the file {} is not here", source.file),
            false => text.trim_end().to_owned(),
        }
    }

    /// A register in all lanes of the warp that are together.
    ///
    /// # Errors
    /// There is no such register.
    pub fn lanes_text(&self, what: &str) -> Result<String, crate::expression::NoValue> {
        let here = self.path().map_or(0, |path| path.lanes);
        let here = (0..32).filter(|lane| here >> lane & 1 != 0);
        let values = here.map(|lane| Ok((lane, shortened(&self.print_in(what, lane)?))));
        let values: Vec<(u32, String)> = values.collect::<Result<_, _>>()?;
        let is_wide = values.iter().any(|(_, value)| value.len() > 14);
        let mut text = String::new();
        for (lane, value) in &values {
            let _ = write!(text, "{lane:>3}: {value:<14}");
            if lane % 4 == 3 || is_wide {
                text.push('\n');
            }
        }
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        Ok(lines.join("\n"))
    }

    /// The source's variables in scope, by the calls that they belong to.
    pub fn variables_text(&self) -> String {
        let Some(path) = self.path() else {
            return "the thread has not begun, or has ended".to_owned();
        };
        if let Some(why) = self.no_variables() {
            return why.to_owned();
        }
        let mut text = String::new();
        for frame in &path.frames {
            let mut last = None;
            for variable in self.variables_in(frame).iter().rev() {
                if last.as_ref() != Some(&variable.frame) {
                    let _ = writeln!(text, "{}", variable.frame.function);
                    last = Some(variable.frame.clone());
                }
                let value = self.variable_text(frame, variable, self.focus().lane);
                let (name, ty) = (&variable.name, variable.ty.name());
                let _ = writeln!(text, "  {name}: {ty} = {value}");
            }
        }
        match text.is_empty() {
            true => "no variable is in scope here".to_owned(),
            false => text.trim_end().to_owned(),
        }
    }

    /// The registers of the thread's innermost call that are known.
    pub fn registers_text(&self) -> String {
        let Some(frame) = self.path().and_then(|path| path.frames.first().copied()) else {
            return "the thread has not begun, or has ended".to_owned();
        };
        let function = &self.session().module().functions[frame.position.function];
        let mut text = String::new();
        for register in &function.registers {
            if let Ok(Known::Is(value)) = self.known_in(&frame, &register.name, self.focus().lane) {
                let _ = writeln!(text, "{:<8} {}", register.name, text::value(value));
            }
        }
        match text.is_empty() {
            true => "no register has a value here".to_owned(),
            false => text.trim_end().to_owned(),
        }
    }

    /// Memory with a name, as rows.
    pub fn tile_text(&self, named: &Named) -> String {
        const MOST_ROWS: u64 = 64;
        let row = named.row().max(1);
        let n_rows = named.len().div_ceil(row);
        let mut text = String::new();
        for first in 0..n_rows.min(MOST_ROWS) {
            let mut line = format!("{:>6}", first * row);
            let end = ((first + 1) * row).min(named.len());
            for index in first * row..end {
                let bytes = self.element(named, self.focus().block, index);
                let value = bytes.map_or("?".to_owned(), |b| element::text(named.element, &b));
                if line.len() + 7.max(1 + value.len()) > COLUMNS {
                    let _ = write!(line, " … {} more", end - index);
                    break;
                }
                let _ = write!(line, " {value:>6}");
            }
            let _ = writeln!(text, "{line}");
        }
        if n_rows > MOST_ROWS {
            let _ = writeln!(text, "{} more rows", n_rows - MOST_ROWS);
        }
        text.trim_end().to_owned()
    }

    /// Memory with names.
    pub fn memory_text(&self) -> String {
        let mut text = String::new();
        for named in self.names().all() {
            let space = format!("{:?}", named.space).to_lowercase();
            let shape = named
                .columns
                .map_or(String::new(), |n| format!(", rows of {n}"));
            let _ = writeln!(
                text,
                "{:<12} {space:<7} {} x {}{shape}, at {:#x}",
                named.name,
                count(named.len()),
                named.element,
                named.address
            );
        }
        text.trim_end().to_owned()
    }

    /// Where the warps of the thread's block are.
    pub fn warps_text(&self) -> String {
        let Some(block) = self.session().block(self.focus().block) else {
            return format!("block {} does not run now", self.focus().block);
        };
        // Those that are at the same place together.
        let mut all: Vec<(u32, u32, String)> = Vec::new();
        for warp in &block.warps {
            let text = self.warp_text(warp);
            match all.last_mut() {
                Some((_, last, same)) if *same == text => *last = warp.index,
                _ => all.push((warp.index, warp.index, text)),
            }
        }
        let mut text = String::new();
        for (first, last, places) in all {
            let who = match first == last {
                true => format!("warp {first}"),
                false => format!("warps {first}-{last}"),
            };
            for (i, place) in places.lines().enumerate() {
                let who = if i == 0 { who.as_str() } else { "" };
                let _ = writeln!(text, "{who:<12} {place}");
            }
        }
        text.trim_end().to_owned()
    }

    fn warp_text(&self, warp: &WarpState) -> String {
        let mut text = String::new();
        if warp.live == 0 {
            return "has ended".to_owned();
        }
        for path in &warp.paths {
            let frame = path.frames.first();
            let place = frame.map(|frame| place(&self.session().place(frame.position)));
            let (who, place) = (lanes(path.lanes), place.unwrap_or_default());
            let _ = writeln!(text, "lanes {who:<12} {place}  {}", waits(path.waits));
        }
        text.trim_end().to_owned()
    }

    /// The blocks that run.
    pub fn blocks_text(&self) -> String {
        let state = self.session().state();
        let of_block = |block: &BlockState| {
            let live: u32 = block.warps.iter().map(|warp| warp.live.count_ones()).sum();
            format!(
                "block {}, at {}: {live} threads",
                block.number,
                triple(block.ctaid)
            )
        };
        let blocks: Vec<String> = state.blocks.iter().map(of_block).collect();
        match blocks.is_empty() {
            true => "no block runs".to_owned(),
            false => blocks.join("\n"),
        }
    }

    /// Barriers of the thread's block, and who has arrived; copies and products in flight.
    pub fn waiting_text(&self) -> String {
        let Some(block) = self.session().block(self.focus().block) else {
            return format!("block {} does not run now", self.focus().block);
        };
        let mut text = String::new();
        for barrier in &block.barriers {
            let _ = writeln!(text, "{barrier}");
        }
        let name = |address: u64| match self.names().at(ir::Space::Shared, address) {
            Some(named) => named.name_of(address),
            None => format!("{address:#x}"),
        };
        for barrier in &block.in_memory {
            let name = name(barrier.address);
            let _ = writeln!(
                text,
                "mbarrier {name}: {} of {} arrivals and {} bytes still to come, phase {}",
                barrier.to_come,
                barrier.of_phase,
                barrier.bytes,
                u32::from(barrier.parity)
            );
        }
        for copy in &block.copies {
            let who = copy.warp.map_or(String::new(), |(warp, mask)| {
                format!(" of warp {warp}, lanes {}", lanes(mask))
            });
            let first = copy.shared.first().map_or(0, |&(first, _)| first);
            let n: u32 = copy.shared.iter().map(|(_, n)| n).sum();
            let way = if copy.to_shared { "to" } else { "from" };
            let name = name(first);
            let _ = writeln!(text, "copy{who} in flight: {n} bytes {way} {name}");
        }
        for warp in block.warps.iter().filter(|warp| warp.has_products) {
            let _ = writeln!(text, "warp {}: sums of products are in flight", warp.index);
        }
        for warp in &block.warps {
            // Who waits at a barrier stands with it.
            let is_elsewhere = |waits| !matches!(waits, None | Some(Waits::Barrier));
            for path in warp.paths.iter().filter(|path| is_elsewhere(path.waits)) {
                let (who, what) = (lanes(path.lanes), waits(path.waits));
                let _ = writeln!(text, "warp {}, lanes {who}: {what}", warp.index);
            }
        }
        match text.is_empty() {
            true => "nobody waits, and nothing is in flight".to_owned(),
            false => text.trim_end().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut() {
        let short = shortened("[1, 2, … 8 more]");
        assert_eq!(short, "[1, 2, … 8 more]");
        let values: Vec<String> = (100..132).map(|n| n.to_string()).collect();
        let array = |end: &str| shortened(&format!("[{}{end}]", values.join(", ")));
        let kept = values[..16].join(", ");
        assert_eq!(array(""), format!("[{kept}, … 16 more"));
        assert_eq!(array(", … 8 more"), format!("[{kept}, … 24 more"));
    }
}
