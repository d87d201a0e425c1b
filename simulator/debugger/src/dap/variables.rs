//! Variables to unfold: the thread, registers, memory, lanes, what is waited for.

use std::ops::Range;

use ptx::ir::Space;
use ptx_sim::debug::Known;
use serde_json::{Value, json};

use super::addresses::memory_reference;
use super::control::{Call, Control, Unfolds};
use super::request::Request;
use crate::expression::NoValue;
use crate::names::Named;
use crate::show;
use crate::watcher::Focus;

/// The most children that are sent to an editor that asks for all.
const MOST: u64 = 10_000;
/// Elements shown of memory that is not unfolded.
const PREVIEW: u64 = 8;

impl Control<'_, '_, '_, '_> {
    /// What a reference stands for.
    pub fn unfolds(&self, reference: i64) -> Option<&Unfolds> {
        let index = usize::try_from(reference.checked_sub(1)?).ok()?;
        self.unfolds.get(index)
    }

    fn reference(&mut self, unfolds: Unfolds) -> usize {
        self.unfolds.push(unfolds);
        self.unfolds.len()
    }

    fn call_of(&self, request: &Request) -> Option<Call> {
        let id = request.number("frameId")?.checked_sub(1)?;
        self.calls.get(usize::try_from(id).ok()?).copied()
    }

    /// The thread of the frame that a request names.
    pub fn frame_of(&self, request: &Request) -> Option<Focus> {
        let focus = self.call_of(request)?.focus;
        // Its lane may have been chosen since.
        Some(self.looked_at(focus.block, focus.warp))
    }

    /// What can be seen from a frame.
    pub fn scopes(&mut self, request: &Request) -> Result<Value, NoValue> {
        let call = self.call_of(request);
        let call = call.ok_or_else(|| NoValue("there is no such frame now".to_owned()))?;
        let focus = self.looked_at(call.focus.block, call.focus.warp);
        let call = Call { focus, ..call };
        let all = [
            ("Variables", Unfolds::Variables(call)),
            ("Memory", Unfolds::Memory(focus)),
            ("Registers", Unfolds::Registers(call)),
            ("Thread", Unfolds::Thread(focus)),
            ("Lanes", Unfolds::Lanes(focus)),
            ("Barriers and copies", Unfolds::Waiting(focus)),
        ];
        let mut scopes = Vec::new();
        let has_none = self.debugger.no_variables().is_some();
        let all = all.into_iter().skip(usize::from(has_none));
        for (name, unfolds) in all {
            let is_first = scopes.is_empty();
            let reference = self.reference(unfolds);
            let mut scope = json!({
                "name": name,
                "variablesReference": reference,
                // Only the first is unfolded by itself.
                "expensive": !is_first,
            });
            if name == "Registers" {
                scope["presentationHint"] = json!("registers");
            }
            scopes.push(scope);
        }
        Ok(json!({"scopes": scopes}))
    }

    /// What something unfolds to.
    pub fn variables(&mut self, request: &Request) -> Result<Value, NoValue> {
        let reference = request.number("variablesReference").unwrap_or(0);
        let unfolds = self.unfolds(reference).cloned();
        let unfolds = unfolds.ok_or_else(|| NoValue("this is of an earlier moment".to_owned()))?;
        let at_most = |n: u64| {
            let start = request.number("start").unwrap_or(0).max(0) as u64;
            let count = request.number("count").filter(|&count| count > 0);
            let count = count.map_or(MOST, |count| count as u64).min(MOST);
            start.min(n)..start.saturating_add(count).min(n)
        };
        let all = match unfolds {
            Unfolds::Thread(focus) => self.thread_variables(focus),
            Unfolds::Variables(call) => self.of_source(call),
            Unfolds::Registers(call) => self.registers(call),
            Unfolds::OfLanes(call, name) => self.of_lanes(call, &name),
            Unfolds::Memory(focus) => self.memories(focus),
            Unfolds::Elements(named, focus) => match named.columns {
                None => self.row((&named, focus), None, at_most(named.len())),
                Some(columns) => {
                    let n_rows = named.len().div_ceil(columns.max(1));
                    self.rows((&named, focus), at_most(n_rows))
                }
            },
            Unfolds::Row(named, row, focus) => {
                let before = (row * named.row()).min(named.len());
                let n = named.row().min(named.len() - before);
                self.row((&named, focus), Some(row), at_most(n))
            }
            Unfolds::Lanes(focus) => self.lanes_of(focus),
            Unfolds::Waiting(focus) => self.waiting(focus),
        };
        Ok(json!({"variables": all}))
    }

    fn thread_variables(&mut self, focus: Focus) -> Vec<Value> {
        let session = self.debugger.session();
        let (ctaid, tid) = session.thread(focus.block, focus.warp, focus.lane);
        let (grid, block) = session.shape();
        let triple = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
        let path = self.at(focus, |debugger| debugger.path());
        let with = match &path {
            Some(path) => format!(
                "lanes {}, {}",
                show::lanes(path.lanes),
                show::waits(path.waits)
            ),
            None => "it has not begun, or has ended".to_owned(),
        };
        let time = show::count(self.debugger.session().time());
        let all = [
            ("tid", triple(tid)),
            ("ctaid", triple(ctaid)),
            ("ntid", triple(block)),
            ("nctaid", triple(grid)),
            ("warp", focus.warp.to_string()),
            ("lane", focus.lane.to_string()),
            ("with", with),
            ("time", time),
        ];
        let all = all.iter().map(|(name, value)| leaf(name, value));
        all.collect()
    }

    /// The source's variables of a call, those that hide others first.
    fn of_source(&mut self, call: Call) -> Vec<Value> {
        self.at(call.focus, |debugger| {
            let Some(frame) = frame(debugger.path(), call) else {
                return Vec::new();
            };
            let all = debugger.variables_in(&frame).into_iter().rev();
            let own = all.filter(|variable| variable.frame.depth == call.depth);
            own.map(|variable| {
                let value = debugger.variable_text(&frame, &variable, call.focus.lane);
                let mut shown = leaf(&variable.name, &value);
                shown["type"] = json!(variable.ty.name());
                shown["evaluateName"] = json!(variable.name);
                shown
            })
            .collect()
        })
    }

    /// The registers of a call that have a value, each to be unfolded to its lanes.
    fn registers(&mut self, call: Call) -> Vec<Value> {
        let known = self.at(call.focus, |debugger| {
            let Some(frame) = frame(debugger.path(), call) else {
                return Vec::new();
            };
            let function = &debugger.session().module().functions[frame.position.function];
            let mut known = Vec::new();
            for register in &function.registers {
                let value = debugger.known_in(&frame, &register.name, call.focus.lane);
                if let Ok(value @ (Known::Is(_) | Known::InFlight)) = value {
                    known.push((register.name.clone(), show::known(value), register.ty));
                }
            }
            known
        });
        let mut all = Vec::new();
        for (name, value, ty) in known {
            let reference = self.reference(Unfolds::OfLanes(call, name.clone()));
            all.push(json!({
                "name": name,
                "value": value,
                "type": format!(".{ty:?}").to_lowercase(),
                "evaluateName": name,
                "variablesReference": reference,
                "indexedVariables": 32,
            }));
        }
        all
    }

    fn of_lanes(&mut self, call: Call, name: &str) -> Vec<Value> {
        self.at(call.focus, |debugger| {
            let path = debugger.path();
            let here = path.as_ref().map_or(0, |path| path.lanes);
            let Some(frame) = frame(path, call) else {
                return Vec::new();
            };
            let value = |lane| match here >> lane & 1 {
                0 => "elsewhere, or has ended".to_owned(),
                _ => debugger
                    .known_in(&frame, name, lane)
                    .map_or_else(|why| why.to_string(), show::known),
            };
            let all = (0..32).map(|lane| leaf(&format!("[{lane}]"), &value(lane)));
            all.collect()
        })
    }

    fn memories(&mut self, focus: Focus) -> Vec<Value> {
        let all = self.debugger.names().all().to_vec();
        let all = all.iter().map(|named| {
            let mut variable = self.memory_of(named, focus, "value");
            variable["name"] = json!(named.name);
            variable["evaluateName"] = json!(named.name);
            variable
        });
        all.collect()
    }

    /// Memory with a name, as a variable or the result of an expression.
    pub fn memory_of(&mut self, named: &Named, focus: Focus, value: &str) -> Value {
        let space = match named.space {
            Space::Shared => "shared",
            _ => "global",
        };
        let shape = named
            .columns
            .map_or(String::new(), |columns| format!(", rows of {columns}"));
        let mut first = self.elements(named, focus, 0..named.len().min(PREVIEW));
        if named.len() > PREVIEW {
            first.push("…".to_owned());
        }
        let n_children = match named.columns {
            Some(columns) => named.len().div_ceil(columns.max(1)),
            None => named.len(),
        };
        let reference = match named.is_empty() {
            true => 0,
            false => self.reference(Unfolds::Elements(named.clone(), focus)),
        };
        json!({
            value: first.join(", "),
            "type": format!("{space}, {} x {}{shape}", show::count(named.len()), named.element),
            "variablesReference": reference,
            "indexedVariables": n_children,
            "memoryReference": memory_reference(named.space, focus.block, named.address),
        })
    }

    fn rows(&mut self, (named, focus): (&Named, Focus), range: Range<u64>) -> Vec<Value> {
        let row = named.row().max(1);
        let mut all = Vec::new();
        for index in range {
            let end = ((index + 1) * row).min(named.len());
            let shown = index * row..end.min(index * row + PREVIEW);
            let mut first = self.elements(named, focus, shown);
            if end - index * row > PREVIEW {
                first.push("…".to_owned());
            }
            let reference = self.reference(Unfolds::Row(named.clone(), index, focus));
            all.push(json!({
                "name": format!("[{index}]"),
                "value": first.join(", "),
                "variablesReference": reference,
                "indexedVariables": end - index * row,
            }));
        }
        all
    }

    /// Elements, of all or of a row.
    fn row(
        &self,
        (named, focus): (&Named, Focus),
        row: Option<u64>,
        range: Range<u64>,
    ) -> Vec<Value> {
        let first = row.unwrap_or(0) * named.row();
        let texts = self.elements(named, focus, first + range.start..first + range.end);
        let mut all = Vec::new();
        for (index, text) in range.zip(texts) {
            let outer = row.map_or(String::new(), |row| format!("[{row}]"));
            let mut variable = leaf(&format!("[{index}]"), &text);
            let address = named.address_of(first + index);
            variable["type"] = json!(named.element.to_string());
            variable["evaluateName"] = json!(format!("{}{outer}[{index}]", named.name));
            variable["memoryReference"] =
                json!(memory_reference(named.space, focus.block, address));
            all.push(variable);
        }
        all
    }

    /// The lanes of a warp and where they are, each to be unfolded to its registers.
    fn lanes_of(&mut self, focus: Focus) -> Vec<Value> {
        let block = self.debugger.session().block(focus.block);
        let warp = block.and_then(|block| block.warps.into_iter().nth(focus.warp as usize));
        let paths = warp.map_or(Vec::new(), |warp| warp.paths);
        let mut all = Vec::new();
        for lane in 0..32 {
            let path = paths.iter().find(|path| path.lanes >> lane & 1 != 0);
            let position = path
                .and_then(|path| path.frames.first())
                .map(|frame| frame.position);
            let (Some(path), Some(position)) = (path, position) else {
                all.push(leaf(&format!("[{lane}]"), "has ended, or is not there"));
                continue;
            };
            let at = show::place(&self.debugger.session().place(position));
            let chosen = match lane == focus.lane {
                true => ", looked at",
                false => "",
            };
            let value = format!("{at}, {}{chosen}", show::waits(path.waits));
            let focus = Focus { lane, ..focus };
            let reference = self.reference(Unfolds::Registers(Call {
                focus,
                index: 0,
                depth: 0,
            }));
            let mut variable = leaf(&format!("[{lane}]"), &value);
            variable["variablesReference"] = json!(reference);
            all.push(variable);
        }
        all
    }

    fn waiting(&mut self, focus: Focus) -> Vec<Value> {
        let text = self.at(focus, |debugger| debugger.waiting_text());
        let lines = text.lines().enumerate();
        lines
            .map(|(i, line)| leaf(&format!("[{i}]"), line))
            .collect()
    }
}

/// The frame of a call, of the lanes that a thread is with.
fn frame(path: Option<ptx_sim::debug::PathState>, call: Call) -> Option<ptx_sim::debug::Frame> {
    path?.frames.get(call.index).copied()
}

/// What cannot be unfolded.
fn leaf(name: &str, value: &str) -> Value {
    json!({"name": name, "value": value, "variablesReference": 0})
}
