//! Any kernel of a PTX text, on buffers from the question.
//!
//! Left out: devices that outlive a question, schedules, clusters.

use crate::common::told;
use ptx_sim::{Device, Module};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Warp instructions after which a kernel is assumed never to end: some seconds in a browser.
const FUEL: u64 = 20_000_000;

/// A launch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Question {
    /// The PTX text.
    pub ptx: String,
    /// The kernel's name.
    pub kernel: String,
    /// Blocks, by axis.
    pub grid: [u32; 3],
    /// Threads of a block, by axis.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    #[serde(default)]
    pub dynamic_shared_bytes: u32,
    /// Its arguments, in order.
    pub arguments: Vec<Given>,
    /// Whether to look for races and other errors.
    #[serde(default)]
    pub check: bool,
}

/// An argument.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Given {
    /// A number of 32 bits.
    Word(u32),
    /// A number of 64 bits.
    Long(u64),
    /// A buffer that holds these words; its address is the argument.
    Words(Vec<u32>),
    /// A buffer of this many words, all zero.
    Zeros(u32),
}

/// The results and counts of a launch.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The counters that are not zero, by name.
    pub counts: BTreeMap<&'static str, u64>,
    /// The memory instructions, in order of the PTX.
    pub instructions: Vec<Instruction>,
    /// The buffers' words after the launch, in the arguments' order.
    pub buffers: Vec<Vec<u32>>,
    /// What threads printed.
    pub printed: Vec<String>,
}

/// The work of a memory instruction.
#[derive(Clone, Debug, Serialize)]
pub struct Instruction {
    /// Line of the PTX text, from 1.
    pub ptx_line: u32,
    /// The opcode as written.
    pub opcode: String,
    /// Requests of warps.
    pub requests: u64,
    /// Wavefronts in shared memory.
    pub wavefronts: u64,
    /// Bank conflicts.
    pub conflicts: u64,
    /// Sectors of global and local memory.
    pub sectors: u64,
}

/// Runs a launch.
///
/// # Errors
///
/// The PTX is wrong, there is no such kernel, the launch is not allowed, or the kernel
/// failed: in the simulator's words.
pub fn answer(question: &Question) -> Result<Answer, String> {
    let module = Module::parse(&question.ptx).map_err(told)?;
    let device = Device::new();
    let loaded = device.load(&module).map_err(told)?;
    let mut call = device.call(&loaded, &question.kernel);
    let mut buffers = Vec::new();
    for (number, given) in question.arguments.iter().enumerate() {
        let label = format!("argument {number}");
        let buffer = match given {
            Given::Word(word) => {
                call = call.arg(*word);
                continue;
            }
            Given::Long(long) => {
                call = call.arg(*long);
                continue;
            }
            Given::Words(words) => device.upload(words, &label),
            Given::Zeros(n) => device.zeros::<u32>(*n as usize, &label),
        };
        let buffer = buffer.map_err(told)?;
        call = call.arg(buffer);
        buffers.push(buffer);
    }
    let report = call
        .grid(question.grid)
        .block(question.block)
        .dynamic_shared_bytes(question.dynamic_shared_bytes)
        .check(question.check)
        .fuel(FUEL)
        .run()
        .map_err(|error| match device.printed_before_failure().concat() {
            printed if printed.is_empty() => told(error),
            printed => format!("{error}\n\nprinted before:\n{printed}"),
        })?;
    let read = buffers.into_iter().map(|buffer| device.download(buffer));
    let is_there = |(_, n): &(&str, u64)| *n > 0;
    Ok(Answer {
        counts: report
            .counts
            .entries()
            .into_iter()
            .filter(is_there)
            .collect(),
        instructions: instructions(&report),
        buffers: read.collect::<Result<_, _>>().map_err(told)?,
        printed: report.printed,
    })
}

fn instructions(report: &ptx_sim::Report) -> Vec<Instruction> {
    let all = report.instructions().into_iter();
    let of_memory = all.filter(|instruction| instruction.requests > 0);
    of_memory
        .map(|instruction| Instruction {
            ptx_line: instruction.ptx_line,
            opcode: instruction.opcode,
            requests: instruction.requests,
            wavefronts: instruction.wavefronts,
            conflicts: instruction.conflicts,
            sectors: instruction.sectors,
        })
        .collect()
}
