//! The PTX as a text and as a disassembly, and bytes of memory.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::addresses::{address, memory, position};
use super::control::Control;
use super::request::{Request, number, text};
use crate::expression::NoValue;
use crate::show;

/// The most instructions that one request gets.
const MOST_INSTRUCTIONS: i64 = 1 << 16;
const MOST_BYTES: i64 = 1 << 20;

/// Why there is no such function, instruction or memory.
fn nothing_at(what: &str) -> NoValue {
    NoValue(format!("there is nothing at {what}"))
}

impl Control<'_, '_, '_, '_> {
    /// The text of a function.
    pub fn source(&self, request: &Request) -> Result<Value, NoValue> {
        let inner = request.arguments().get("source").unwrap_or(&Value::Null);
        let reference = number(inner, "sourceReference").filter(|&reference| reference > 0);
        let reference = reference.or_else(|| request.number("sourceReference"));
        let module = self.debugger.session().module();
        let index = reference.and_then(|n| usize::try_from(n).ok()?.checked_sub(1));
        let function = index.and_then(|index| module.functions.get(index));
        let Some(function) = function else {
            return self.file(inner);
        };
        let mut content = format!("// {}\n", ptx_sim::readable(&function.name));
        for at in function.body.as_deref().unwrap_or_default() {
            content.push_str(&show::instruction(module, function, at));
            content.push('\n');
        }
        Ok(json!({"content": content, "mimeType": "text/x-ptx"}))
    }

    /// The text of a file, for an editor on another machine.
    fn file(&self, source: &Value) -> Result<Value, NoValue> {
        let path = text(source, "path").unwrap_or_default();
        // Nothing but what the kernel was made from.
        let mut known = self.debugger.program().files().iter();
        let known = known.find(|file| {
            let own = self.debugger.sources().path(file);
            own.is_some_and(|own| path == **file || own.to_string_lossy() == path)
        });
        let lines = known.and_then(|file| self.debugger.sources().lines(file));
        let lines = lines.ok_or_else(|| nothing_at(path))?;
        Ok(json!({"content": lines.join("\n")}))
    }

    /// Instructions around an address.
    pub fn disassemble(&self, request: &Request) -> Result<Value, NoValue> {
        let reference = request.text("memoryReference").unwrap_or_default();
        let start = address(reference).and_then(|base| {
            let offset = request.number("offset").unwrap_or(0);
            let instructions = request.number("instructionOffset").unwrap_or(0);
            base.checked_add_signed(offset.checked_add(instructions)?)
        });
        let start = start.ok_or_else(|| nothing_at(reference))?;
        let n = request.number("instructionCount").unwrap_or(0);
        let all = (0..n.clamp(0, MOST_INSTRUCTIONS) as u64)
            .map(|i| self.disassembled(start.wrapping_add(i)));
        Ok(json!({"instructions": all.collect::<Vec<Value>>()}))
    }

    fn disassembled(&self, address: u64) -> Value {
        let at = format!("{address:#x}");
        let Some(position) = position(self.debugger, address) else {
            return json!({"address": at, "instruction": "", "presentationHint": "invalid"});
        };
        let module = self.debugger.session().module();
        let function = &module.functions[position.function];
        let body = function.body.as_deref().unwrap_or_default();
        let text = show::instruction(module, function, &body[position.instruction as usize]);
        let mut entry = json!({"address": at, "instruction": text});
        if position.instruction == 0 {
            entry["symbol"] = json!(self.debugger.program().function(position.function).name);
        }
        if let Some(source) = self.debugger.session().place(position).source {
            entry["location"] = self.file_source(&source.file);
            entry["line"] = json!(self.server.editor.their_line(source.line));
        }
        entry
    }

    /// Bytes of memory: as many as there are, up to what is asked for.
    pub fn read_memory(&self, request: &Request) -> Result<Value, NoValue> {
        let reference = request.text("memoryReference").unwrap_or_default();
        let (space, block, base) = memory(reference).ok_or_else(|| nothing_at(reference))?;
        let offset = request.number("offset").unwrap_or(0);
        let count = request.number("count").unwrap_or(0).clamp(0, MOST_BYTES) as u64;
        let start = base
            .checked_add_signed(offset)
            .ok_or_else(|| nothing_at(reference))?;
        let read = |n| self.debugger.bytes(space, block, start, n);
        // Halves until all is there: a buffer ends where it ends.
        let bytes = read(count).or_else(|| {
            let (mut known, mut beyond) = (0, count);
            while beyond > known + 1 {
                let middle = known + (beyond - known) / 2;
                match read(middle) {
                    Some(_) => known = middle,
                    None => beyond = middle,
                }
            }
            read(known)
        });
        let bytes = bytes.unwrap_or_default();
        Ok(json!({
            "address": format!("{start:#x}"),
            "unreadableBytes": count - bytes.len() as u64,
            "data": STANDARD.encode(bytes),
        }))
    }
}
