//! Reads of global memory some elements apart: the sectors that they fetch, and the bytes
//! used of them.

use crate::common::{accesses, elements, told};
use crate::show;
use maps::SectorMap;
use ptx_sim::ir::Space;
use ptx_sim::trace::TraceOptions;
use ptx_sim::{AccessClass, Device, LaunchOptions, Module};
use serde::{Deserialize, Serialize};

/// Threads of the block.
const BLOCK_THREADS: u32 = 32;
/// The largest stride and first element that a page can show.
const MOST: u32 = 64;
/// More warp instructions than any choice needs.
const FUEL: u64 = 100_000;

/// The reader's choice.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Question {
    /// The playground's PTX.
    pub ptx: String,
    /// The elements' type, as `explain` names it: `f32`.
    #[serde(rename = "type")]
    pub element: String,
    /// Distance in elements from one lane to the next.
    pub stride: u32,
    /// The first lane's element, counted from one at a multiple of 256 bytes.
    pub first: u32,
}

/// The result.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Whether every element arrived in its place.
    pub is_right: bool,
    /// Sectors that the warp's load fetched.
    pub sectors: u64,
    /// Verdict, counts and the map, as a part of a page.
    pub html: String,
}

/// Runs the reader's choice.
///
/// # Errors
///
/// There is no such type or stride, or the kernel fails: in words for the reader.
pub fn answer(question: &Question) -> Result<Answer, String> {
    let bytes = maps::tile::element_bytes(&question.element).map_err(told)?;
    let (first, stride) = (question.first, question.stride);
    if stride > MOST || first > MOST {
        return Err(format!("strides and first elements go up to {MOST}"));
    }
    let module = Module::parse(&question.ptx).map_err(told)?;
    let device = Device::new();
    let loaded = device.load(&module).map_err(told)?;
    let all = elements(first + 31 * stride + 1, bytes);
    let input = device.upload(&all, "input").map_err(told)?;
    let n_bytes = (BLOCK_THREADS * bytes) as usize;
    let output = device.zeros::<u8>(n_bytes, "output").map_err(told)?;
    let options = LaunchOptions {
        fuel: Some(FUEL),
        trace: Some(TraceOptions::default()),
        ..LaunchOptions::default()
    };
    let report = device
        .call(&loaded, &format!("strided_{bytes}"))
        .block(BLOCK_THREADS)
        .arg(input)
        .arg(output)
        .arg(BLOCK_THREADS)
        .arg(first)
        .arg(stride)
        .options(options)
        .run()
        .map_err(told)?;
    let expected: Vec<u8> = (0..BLOCK_THREADS)
        .flat_map(|lane| {
            let at = ((first + lane * stride) * bytes) as usize;
            all[at..at + bytes as usize].iter().copied()
        })
        .collect();
    let is_right = device.download(output).map_err(told)? == expected;
    let trace = report.trace.as_ref().ok_or("nothing was traced")?;
    let mut loads = accesses(trace)
        .filter(|(_, access)| access.space == Space::Global && access.class == AccessClass::Load);
    let (_, load) = loads.next().ok_or("the kernel read nothing")?;
    let html = [
        show::verdict(is_right),
        show::global_counts(&report),
        show::picture("Sector map of the warp's load", &SectorMap::of(load).svg()),
    ];
    Ok(Answer {
        is_right,
        sectors: report.counts.global_load_sectors,
        html: html.concat(),
    })
}
