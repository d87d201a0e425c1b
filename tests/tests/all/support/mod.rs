//! The common part of tests of the kernels' PTX, and what ptxas reports.

use lockstep::engine::PtxModule;
use ptx_sim::ir::{Function, Space};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest architecture that kernels are compiled for.
pub const ARCH: &str = host::kernels::ARCHES[0];

fn begins_with(opcode: &str, prefix: &str) -> bool {
    opcode
        .strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// An entry of the kernels' PTX.
pub fn entry(name: &str) -> Function {
    let module = host::kernels::module_with(name, Some(ARCH)).expect("it compiles");
    let text = module.text().expect("it compiles");
    let module = ptx_sim::parse::parse(text).expect("well-formed");
    let mut functions = module.functions.into_iter();
    let entry = functions.find(|function| function.is_entry && function.name == name);
    entry.unwrap_or_else(|| panic!("no entry `{name}`"))
}

/// The opcodes of a function, in order.
pub fn opcodes(function: &Function) -> impl Iterator<Item = &str> {
    let body = function.body.iter().flatten();
    body.map(|instruction| instruction.opcode.as_str())
}

/// How many instructions of a function have an opcode that begins with `prefix`, whole words.
pub fn count(function: &Function, prefix: &str) -> usize {
    opcodes(function)
        .filter(|opcode| begins_with(opcode, prefix))
        .count()
}

/// Alignment and size in bytes of an entry's `.local` arrays.
pub fn local_arrays(entry: &Function) -> Vec<(u32, u32)> {
    entry
        .locals
        .iter()
        .filter(|variable| variable.space == Space::Local)
        .map(|variable| (variable.align, variable.size_bytes))
        .collect()
}

/// What ptxas says about a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    pub n_registers: u32,
    pub stack_frame_bytes: u32,
    pub spill_store_bytes: u32,
    pub spill_load_bytes: u32,
}

/// ptxas' report on every kernel, for an H200; `None`, and a line that says so,
/// where there is no ptxas.
pub fn ptxas_report() -> Option<HashMap<String, Resources>> {
    let Some(ptxas) = find_ptxas() else {
        eprintln!("not run: no ptxas on the PATH or in CUDA_HOME/bin");
        return None;
    };
    let modules = host::kernels::modules().expect("the kernels are here");
    let base = modules
        .iter()
        .filter(|module| module.target_name() == Some(ARCH));
    Some(base.flat_map(|module| report_on(&ptxas, module)).collect())
}

/// ptxas' report on one module.
fn report_on(ptxas: &Path, module: &PtxModule) -> HashMap<String, Resources> {
    let name = format!("lockstep-{}-{}", std::process::id(), module.name);
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, module.text().expect("it compiles")).expect("it can be written");
    let output = Command::new(ptxas)
        .args(["-arch=sm_90", "--verbose", "--output-file", "/dev/null"])
        .arg(&file)
        .output()
        .expect("ptxas can be run");
    std::fs::remove_file(&file).expect("it was written");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "ptxas rejects the kernels: {text}");
    parse_report(&text)
}

fn find_ptxas() -> Option<PathBuf> {
    let homes = ["CUDA_HOME", "CUDA_PATH"]
        .into_iter()
        .filter_map(std::env::var_os);
    let path = std::env::var_os("PATH").unwrap_or_default();
    homes
        .map(|home| PathBuf::from(home).join("bin"))
        .chain(std::env::split_paths(&path))
        .map(|folder| folder.join("ptxas"))
        .find(|ptxas| ptxas.is_file())
}

fn parse_report(text: &str) -> HashMap<String, Resources> {
    let number_before = |line: &str, what: &str| -> Option<u32> {
        line[..line.find(what)?]
            .split_whitespace()
            .last()?
            .parse()
            .ok()
    };
    let mut kernels = HashMap::<String, Resources>::new();
    let (mut kernel, mut function) = (String::new(), String::new());
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            kernel = rest.split('\'').next().unwrap_or_default().to_owned();
            kernels.insert(kernel.clone(), Resources::default());
        } else if let Some((_, rest)) = line.split_once("Function properties for ") {
            function = rest.trim().to_owned();
        } else if let Some(entry) = kernels.get_mut(&kernel) {
            if let Some(bytes) = number_before(line, "bytes stack frame")
                && function == kernel
            {
                entry.stack_frame_bytes = bytes;
                entry.spill_store_bytes = number_before(line, "bytes spill stores").unwrap_or(0);
                entry.spill_load_bytes = number_before(line, "bytes spill loads").unwrap_or(0);
            }
            if let Some(registers) = number_before(line, "registers") {
                entry.n_registers = registers;
            }
        }
    }
    assert!(!kernels.is_empty(), "ptxas reported on no kernel: {text}");
    kernels
}
