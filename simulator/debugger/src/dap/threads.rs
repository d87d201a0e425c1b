//! Warps as threads, calls and inlined calls as frames.

use std::collections::HashMap;

use ptx_sim::debug::{BlockState, Frame, WarpState};
use ptx_sim::diagnostics::Source;
use serde_json::{Value, json};

use super::addresses;
use super::control::{Call, Control, WARPS, thread_id};
use super::request::Request;
use super::wanted::real;
use crate::expression::NoValue;
use crate::show;
use crate::watcher::Focus;

impl Control<'_, '_, '_, '_> {
    /// The warps of the blocks in flight. There is always one, that which is looked at.
    pub fn threads(&self) -> Value {
        let focus = self.debugger.focus();
        let state = self.debugger.session().state();
        let mut all = Vec::new();
        for block in &state.blocks {
            for warp in &block.warps {
                let is_focus = (block.number, warp.index) == (focus.block, focus.warp);
                if warp.live != 0 || is_focus {
                    all.push(thread(block, warp));
                }
            }
        }
        let id = thread_id(focus.block, focus.warp);
        if all.iter().all(|thread| thread["id"] != json!(id)) {
            let name = format!("block {} warp {}: not in flight", focus.block, focus.warp);
            all.push(json!({"id": id, "name": name}));
        }
        json!({"threads": all})
    }

    /// The thread that a request is about: the chosen lane of a warp.
    pub fn thread_of(&self, request: &Request) -> Result<Focus, NoValue> {
        let id = request.number("threadId").and_then(|id| id.checked_sub(1));
        let id = id.and_then(|id| u64::try_from(id).ok());
        let id = id.ok_or_else(|| NoValue("it names no thread".to_owned()))?;
        Ok(self.looked_at(id / WARPS, (id % WARPS) as u32))
    }

    /// The thread of a warp that is looked at: the lane chosen last, else the first that runs.
    pub fn looked_at(&self, block: u64, warp: u32) -> Focus {
        let focus = self.debugger.focus();
        if (block, warp) == (focus.block, focus.warp) {
            return focus;
        }
        let state = self.debugger.session().block(block);
        let state = state.and_then(|block| block.warps.into_iter().nth(warp as usize));
        let live = state.as_ref().map_or(0, |warp| warp.live);
        let chosen = self.lanes.get(&(block, warp)).copied();
        let first = || {
            let path = state.as_ref().and_then(|warp| warp.paths.first());
            path.map_or(0, |path| path.lanes).trailing_zeros() % 32
        };
        let lane = chosen.filter(|lane| live >> lane & 1 != 0);
        Focus {
            block,
            warp,
            lane: lane.unwrap_or_else(first),
        }
    }

    /// A thread's calls, the innermost first.
    pub fn stack(&mut self, request: &Request) -> Result<Value, NoValue> {
        let focus = self.thread_of(request)?;
        let path = self.at(focus, |debugger| debugger.path());
        let calls = path.map_or(Vec::new(), |path| path.frames);
        let mut frames = Vec::new();
        for (index, call) in calls.iter().enumerate() {
            let here = self.frames_of(call).into_iter();
            frames.extend(here.map(|(depth, frame)| {
                let call = Call {
                    focus,
                    index,
                    depth,
                };
                (call, frame)
            }));
        }
        let total = frames.len();
        let first = request.number("startFrame").unwrap_or(0).max(0) as usize;
        let most = request.number("levels").filter(|&levels| levels > 0);
        let most = most.map_or(usize::MAX, |levels| levels as usize);
        let mut shown = Vec::new();
        for (call, mut frame) in frames.into_iter().skip(first).take(most) {
            self.calls.push(call);
            frame["id"] = json!(self.calls.len());
            shown.push(frame);
        }
        Ok(json!({"stackFrames": shown, "totalFrames": total}))
    }

    /// What is at an instruction, with the calls that it was inlined through: what was inlined from
    /// libraries, what was inlined else, and the function.
    fn frames_of(&self, call: &Frame) -> Vec<(u32, Value)> {
        let position = call.position;
        let place = self.debugger.session().place(position);
        let name = &self.debugger.program().function(position.function).name;
        let reference = format!("{:#x}", addresses::address_of(position));
        let Some(source) = &place.source else {
            let frame = json!({
                "name": name,
                "source": addresses::source_of(self.debugger, position.function),
                "line": self.server.editor.their_line(addresses::line_of(position)),
                "column": self.server.editor.their_column(0),
                "instructionPointerReference": reference,
            });
            return vec![(0, frame)];
        };
        let n_inside = place.inside.len();
        let all: Vec<&Source> = place
            .inside
            .iter()
            .chain([source])
            .chain(&place.inlined_at)
            .collect();
        let names = self.names_of(call);
        let frame = |(index, &at): (usize, &&Source)| {
            let depth = (all.len() - 1 - index) as u32;
            let inlined = format!("inlined in {name}");
            let name = match depth {
                0 => name,
                _ => names.get(&depth).unwrap_or(&inlined),
            };
            let mut frame = json!({
                "name": name,
                "source": self.file_source(&at.file),
                "line": self.server.editor.their_line(at.line),
                "column": self.server.editor.their_column(at.column),
                "instructionPointerReference": reference,
            });
            // Libraries are not what is looked at first.
            if index < n_inside {
                frame["presentationHint"] = json!("subtle");
                frame["source"]["presentationHint"] = json!("deemphasize");
            }
            (depth, frame)
        };
        all.iter().enumerate().map(frame).collect()
    }

    /// The names of inlined functions, as far as they have variables, by how many calls they were
    /// inlined through.
    fn names_of(&self, call: &Frame) -> HashMap<u32, String> {
        let variables = self.debugger.variables_in(call).into_iter();
        let names = variables.map(|variable| {
            let frame = &variable.frame;
            (frame.depth, frame.function.clone())
        });
        names.collect()
    }

    /// A source file as the editor knows it.
    pub fn file_source(&self, file: &str) -> Value {
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let path = self.debugger.sources().path(file);
        let path = path.and_then(|path| real(&path));
        let Some(path) = path else {
            return json!({"name": name, "origin": format!("{file} is not here")});
        };
        match self.server.wanted.spelling(&path) {
            Some(spelling) => json!({"name": name, "path": spelling}),
            None => json!({"name": name, "path": path.to_string_lossy()}),
        }
    }
}

fn thread(block: &BlockState, warp: &WarpState) -> Value {
    let [x, y, z] = block.ctaid;
    let mut name = format!("block {} ({x},{y},{z}) warp {}", block.number, warp.index);
    let waiting = warp.paths.iter().all(|path| path.waits.is_some());
    match (warp.live, warp.paths.first()) {
        (0, _) => name.push_str(": has ended"),
        (_, Some(path)) if waiting => {
            name.push_str(": lanes ");
            name.push_str(&show::waits(path.waits));
        }
        _ if warp.paths.len() > 1 => {
            name.push_str(&format!(": on {} paths", warp.paths.len()));
        }
        _ => {}
    }
    json!({"id": thread_id(block.number, warp.index), "name": name})
}
