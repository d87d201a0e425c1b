//! The driver's report of a program, as read from its JSON, and how the program was run.

use cpp_demangle::Symbol;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The full report.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Found {
    pub run: Run,
    pub machine: Machine,
    pub kernels: BTreeMap<String, Kernel>,
    pub findings: Vec<Finding>,
    pub n_more_findings: u64,
    pub not_loaded: Vec<String>,
    pub notes: Vec<Finding>,
    pub leaks: Vec<Leak>,
}

/// How the program was run.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Run {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Its exit status; for a signal, the one that a shell gives.
    pub status: u8,
    /// How long it ran.
    pub seconds: f64,
}

/// The simulated machine, and what was looked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Machine {
    pub n_devices: u32,
    pub name: String,
    pub compute: String,
    pub memory_bytes: u64,
    pub check: bool,
    pub counters: bool,
    pub schedules: u64,
    pub schedule: Option<String>,
}

/// What is known about a kernel.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Kernel {
    pub n_launches: u64,
    pub n_failed: u64,
    pub n_found: u64,
    pub n_unchecked: u64,
    pub seconds: f64,
    pub n_tried: u64,
    pub seconds_tried: f64,
    pub not_tried: Option<String>,
    pub counts: BTreeMap<String, u64>,
    pub lines: Vec<Line>,
}

/// A line's accesses by one kind of instruction, with bank conflicts or more sectors than needed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Line {
    pub place: String,
    pub opcode: String,
    pub conflicts: u64,
    pub sectors: u64,
    pub ideal_sectors: u64,
}

/// A launch in which something was found.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Finding {
    pub kernel: String,
    pub launch: u64,
    pub device: Option<u32>,
    pub schedule: Option<String>,
    pub streams: bool,
    pub text: String,
}

/// An allocation that was never freed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Leak {
    pub address: u64,
    pub n_bytes: u64,
    pub frames: Vec<String>,
}

impl Found {
    /// How many findings there are.
    pub fn n_findings(&self) -> u64 {
        self.findings.len() as u64 + self.n_more_findings
    }

    /// Whether something is wrong with the program, or could not be tried.
    pub fn is_bad(&self) -> bool {
        self.n_findings() > 0 || !self.not_loaded.is_empty()
    }

    /// How many findings, notes, modules that were not loaded, and leaks there are, in words.
    pub fn in_short(&self) -> String {
        let mut text = plural(self.n_findings(), "finding", "findings");
        if !self.notes.is_empty() {
            text += ", ";
            text += &plural(self.notes.len() as u64, "note", "notes");
        }
        if !self.not_loaded.is_empty() {
            text += "; ";
            text += &plural(self.not_loaded.len() as u64, "module", "modules");
            text += " not loaded";
        }
        let leaks = plural(self.leaks.len() as u64, "allocation", "allocations");
        format!("{text}; {leaks} never freed")
    }

    /// The end of a command that runs the program again on as many devices.
    fn program(&self) -> String {
        let devices = match self.machine.n_devices {
            0 | 1 => String::new(),
            n => format!(" --devices {n}"),
        };
        format!("{devices} -- {}", self.run.in_words())
    }

    /// The same with demangled names.
    pub fn demangled(mut self) -> Self {
        for (name, kernel) in std::mem::take(&mut self.kernels) {
            let demangled = demangled(&name);
            // Two that demangle to the same name stay apart.
            let is_new = !self.kernels.contains_key(&demangled);
            self.kernels
                .insert(if is_new { demangled } else { name }, kernel);
        }
        for finding in self.findings.iter_mut().chain(&mut self.notes) {
            finding.kernel = demangled(&finding.kernel);
            finding.text = demangled(&finding.text);
        }
        let frames = self.leaks.iter_mut().flat_map(|leak| &mut leak.frames);
        for text in frames.chain(&mut self.not_loaded) {
            *text = demangled(text);
        }
        self
    }
}

impl Run {
    /// The program and its arguments, as a shell reads them.
    pub fn in_words(&self) -> String {
        let words: Vec<String> = self.command.iter().map(|word| quoted(word)).collect();
        words.join(" ")
    }
}

impl Kernel {
    /// How many launches ran without checks, and why.
    pub fn unchecked(&self) -> String {
        let launches = plural(self.n_unchecked, "launch", "launches");
        format!(
            "{launches} ran without checks: this kernel, or one that ran at the same time, waited \
             for something that was not ready yet, such as a later launch or the host"
        )
    }
}

impl Finding {
    /// The launch, and its device and order.
    pub fn heading(&self) -> String {
        let Self { kernel, launch, .. } = self;
        if kernel.is_empty() {
            return "between streams".to_owned();
        }
        format!("launch {launch} of `{kernel}`{}", self.where_and_how())
    }

    /// Its device, if there are several, and its order, if not the usual one.
    pub fn where_and_how(&self) -> String {
        let device = self.device.map(|device| format!(" on device {device}"));
        let order = self.schedule.as_ref();
        let order = order.map(|schedule| format!(", under schedule {schedule}"));
        device.unwrap_or_default() + &order.unwrap_or_default()
    }

    /// The command that halts launches in the debugger, which goes to what is found; none if that
    /// takes work in several streams, which a debugger does one after the other.
    pub fn step(&self, found: &Found) -> Option<String> {
        let order = self.schedule.as_ref();
        let order = order.map_or(String::new(), |order| format!(" --schedule {order}"));
        let program = found.program();
        let command = format!("cargo xtask sim-run --debug{order}{program}");
        (!self.streams).then(|| format!("{command}, and there `finding`"))
    }

    /// The command that runs all launches in its order.
    pub fn again(&self, found: &Found) -> Option<String> {
        let schedule = self.schedule.as_ref()?;
        let program = found.program();
        Some(format!(
            "cargo xtask sim-run --schedule {schedule}{program}"
        ))
    }
}

/// An argument as a shell takes it.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', r"'\''")),
    }
}

/// A text with its mangled names demangled.
fn demangled(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut rest = text;
    let mut out = String::with_capacity(text.len());
    while let Some(start) = rest.find(is_word) {
        let (before, word) = rest.split_at(start);
        let end = word.find(|c| !is_word(c)).unwrap_or(word.len());
        let (word, behind) = word.split_at(end);
        out.push_str(before);
        let mangled = Some(word).filter(|word| word.starts_with("_Z"));
        let symbol = mangled.and_then(|word| Symbol::new(word).ok());
        let name = symbol.and_then(|symbol| symbol.demangle().ok());
        out.push_str(name.as_deref().unwrap_or(word));
        rest = behind;
    }
    out + rest
}

/// `1 launch`, `2 launches`.
pub fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::Found;

    #[test]
    fn names_are_as_cpp_has_them() {
        let found: Found = serde_json::from_value(serde_json::json!({
            "kernels": {"_Z3addIfEvPT_i": {"n_launches": 3}, "plain": {}, "_Z": {}},
            "findings": [{"kernel": "_Z3sumPi", "launch": 1,
                "text": "store in kernel `_Z3sumPi` (PTX line 7)\n  at _Zebra.cu:3, ü_Z3sumPi"}],
            "leaks": [{"address": 16, "n_bytes": 4, "frames": ["_ZN4grid4makeEv at a.cu:7"]}],
        }))
        .unwrap();
        let found = found.demangled();
        let names: Vec<&String> = found.kernels.keys().collect();
        assert_eq!(names, ["_Z", "plain", "void add<float>(float*, int)"]);
        let finding = &found.findings[0];
        assert_eq!(finding.kernel, "sum(int*)");
        let text = "store in kernel `sum(int*)` (PTX line 7)\n  at _Zebra.cu:3, ü_Z3sumPi";
        assert_eq!(finding.text, text);
        assert_eq!(found.leaks[0].frames, ["grid::make() at a.cu:7"]);
    }
}
