//! The common part of the kernels' tests: a launch on the simulator with counts by instruction, and
//! what ptxas reports.

// Each test file uses a part of it.
#![allow(dead_code)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use lockstep::engine::PtxModule;
use lockstep::engine::launch::topic_of;
use lockstep::{Buffer, Device, LaunchConfig, Module};

use cuda_std::launch::{DevicePtr, Kernel};
use ptx_sim::Report;
use ptx_sim::ir::{Function, Space};

/// The oldest architecture that kernels are compiled for.
const ARCH: &str = host::kernels::ARCHES[0];

/// The simulator with the kernels of the oldest architecture, loaded when they are
/// launched.
pub struct Simulator {
    device: Device,
    modules: HashMap<&'static str, Module>,
    /// What kernels read; kept as long as the device.
    inputs: Vec<Buffer<f32>>,
}

impl Simulator {
    pub fn new() -> Self {
        Self {
            device: Device::simulator(),
            modules: HashMap::new(),
            inputs: Vec::new(),
        }
    }

    /// The module with a kernel.
    fn module<K: Kernel>(&mut self) -> &Module {
        let topic = topic_of(K::MODULE_PATH).expect("every kernel has a topic");
        self.modules.entry(topic).or_insert_with(|| {
            let source = host::kernels::module_with(K::NAME, Some(ARCH)).expect("it compiles");
            self.device.load(source).expect("its variables fit")
        })
    }

    /// A copy of `values` on the device.
    pub fn input(&mut self, label: &str, values: &[f32]) -> DevicePtr<f32> {
        let buffer = self.device.upload(label, values).expect("there is room");
        let pointer = buffer.as_ptr();
        self.inputs.push(buffer);
        pointer
    }

    /// Room for `len` values on the device, NaN to begin with.
    pub fn output(&mut self, label: &str, len: usize) -> Buffer<f32> {
        self.device.alloc(label, len).expect("there is room")
    }

    /// Runs a kernel, which must end well.
    pub fn launch<K: Kernel>(
        &mut self,
        kernel: K,
        grid: [u32; 3],
        block: [u32; 3],
        args: K::Args,
    ) -> Report {
        let config = LaunchConfig::new(grid, block);
        // SAFETY: the simulator checks every access.
        let report = unsafe { self.module::<K>().launch(kernel, config, args) };
        let report = report.unwrap_or_else(|error| panic!("{error}"));
        report.simulated().expect("it is simulated").clone()
    }

    /// What a kernel wrote.
    pub fn read(&self, output: &Buffer<f32>) -> Vec<f32> {
        output.read().expect("it was allocated")
    }
}

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
    module
        .functions
        .into_iter()
        .find(|function| function.is_entry && function.name == name)
        .unwrap_or_else(|| panic!("no entry `{name}`"))
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
