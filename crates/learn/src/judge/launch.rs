//! One launch: arguments made, the kernel run, its buffers read back.

use crate::format::{Argument, Geometry, Manifest, Role};
use crate::values::Number;
use crate::workshop::Built;
use ptx_sim::{
    Device, Launch, LaunchError, LaunchOptions, MemoryError, Omission, Report, Schedule,
};
use std::num::NonZeroU64;
use std::ops::Range;

/// Warp instructions that a launch may take by default: far more than any case needs, and about a
/// second's worth.
const FUEL: u64 = 2_000_000;

/// The result of a launch.
pub(super) struct Run {
    pub report: Report,
    /// Before and after, by argument; none for numbers.
    pub buffers: Vec<Option<Contents>>,
}

/// A buffer's contents.
pub(super) struct Contents {
    pub number: Number,
    pub before: Vec<u8>,
    pub after: Vec<u8>,
    /// Bytes of an output that nobody has written.
    pub unwritten: Vec<Range<usize>>,
    /// The thread that the first of them is left to, where the other threads' stores tell.
    pub omission: Option<Omission>,
}

impl Contents {
    /// Whether nobody has written all of an element.
    pub fn is_unwritten(&self, index: usize) -> bool {
        let size = self.number.size_bytes();
        let (start, end) = (index * size, (index + 1) * size);
        let next = self.unwritten.partition_point(|gap| gap.end <= start);
        let gap = self.unwritten.get(next);
        gap.is_some_and(|gap| gap.start < end)
    }
}

/// Why there was no launch.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoRun {
    /// It ended badly, or could not begin.
    #[error("{error}")]
    Launch {
        error: LaunchError,
        /// What its threads had printed.
        printed: Vec<String>,
    },
    /// The case needs more memory than there is.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The exercise is invalid.
    #[error("{0}")]
    Exercise(String),
    /// The file has no such kernel.
    #[error("the file has no kernel `{0}`")]
    NoKernel(String),
}

/// Runs a kernel on memory of its own, in the usual order or in another one.
pub(super) fn run(
    manifest: &Manifest,
    geometry: &Geometry,
    case: usize,
    built: &Built,
    schedule: Option<Schedule>,
) -> Result<Run, NoRun> {
    let variables = &manifest.case[case];
    let mut functions = built.ir.functions.iter();
    if !functions.any(|f| f.is_entry && f.name == built.entry) {
        return Err(NoRun::NoKernel(manifest.kernel.clone()));
    }
    let device = Device::new();
    let loaded = device.load(&built.module)?;
    let arguments = arguments(manifest, case, &device)?;
    let params: Vec<&[u8]> = arguments.iter().map(|a| a.param.as_slice()).collect();
    let axes = |sizes| geometry.axes(sizes, variables).map_err(NoRun::Exercise);
    let shared_bytes = geometry.shared_bytes(variables).map_err(NoRun::Exercise)?;
    let launch = Launch {
        grid: axes(&geometry.grid)?,
        block: axes(&geometry.block)?,
        dynamic_shared_bytes: shared_bytes,
        params: &params,
        options: LaunchOptions {
            fuel: Some(manifest.checks.fuel.map_or(FUEL, NonZeroU64::get)),
            check: true,
            schedule,
            cluster: match geometry.cluster.is_empty() {
                true => None,
                false => Some(axes(&geometry.cluster)?),
            },
            ..LaunchOptions::default()
        },
    };
    let report = device.launch(&loaded, &built.entry, &launch);
    let report = report.map_err(|error| NoRun::Launch {
        error,
        printed: device.printed_before_failure(),
    })?;
    let read = |argument: Placed| -> Result<Option<Contents>, NoRun> {
        let Some((address, number, before)) = argument.buffer else {
            return Ok(None);
        };
        let mut after = vec![0; before.len()];
        device.read(address, &mut after)?;
        let unwritten = device.unwritten(address, before.len() as u64)?;
        let omission = unwritten
            .first()
            .and_then(|first| device.omission(first.start));
        let offset = |at: u64| (at - address) as usize;
        Ok(Some(Contents {
            number,
            before,
            after,
            unwritten: unwritten
                .into_iter()
                .map(|range| offset(range.start)..offset(range.end))
                .collect(),
            omission,
        }))
    };
    let buffers = arguments.into_iter().map(read).collect::<Result<_, _>>()?;
    Ok(Run { report, buffers })
}

/// An argument, ready to be handed over.
struct Placed {
    /// The parameter's bytes.
    param: Vec<u8>,
    /// A buffer's address, the type of its elements, and what it was filled with.
    buffer: Option<(u64, Number, Vec<u8>)>,
}

/// Makes the arguments of a case.
fn arguments(manifest: &Manifest, case: usize, device: &Device) -> Result<Vec<Placed>, NoRun> {
    let variables = &manifest.case[case];
    let place = |(place, argument): (usize, &Argument)| {
        let no_role = || NoRun::Exercise(format!("`{}` has no role", argument.name));
        let (role, number) = argument.role().ok_or_else(no_role)?;
        if let Some(value) = &argument.value {
            let value = value.value(variables).map_err(NoRun::Exercise)?;
            return Ok(Placed {
                param: number.bytes_of(value as f64),
                buffer: None,
            });
        }
        let length = argument.elements(variables).map_err(NoRun::Exercise)?;
        let before = match argument.fill {
            Some(fill) => fill.bytes(number, length, seed(case, place)),
            None => vec![number.poison(); length * number.size_bytes()],
        };
        let address = device.alloc(before.len() as u64, &argument.name)?;
        device.write(address, &before)?;
        if role == Role::Output {
            device.mark_unwritten(address, before.len() as u64)?;
        }
        Ok(Placed {
            param: address.to_le_bytes().to_vec(),
            buffer: Some((address, number, before)),
        })
    };
    manifest.argument.iter().enumerate().map(place).collect()
}

/// Random numbers differ from case to case and from buffer to buffer, and are the same in every
/// run.
fn seed(case: usize, argument: usize) -> u64 {
    1 + 1000 * case as u64 + argument as u64
}
