//! One launch: arguments made, the kernel run, its buffers read back.

use crate::format::{Geometry, Manifest, Role};
use crate::values::Number;
use crate::workshop::Built;
use ptx_sim::{Device, Launch, LaunchError, LaunchOptions, MemoryError, Report, Schedule};

/// Warp instructions that a launch may take where the exercise does not say: far more than any
/// case needs, and about a second.
const FUEL: u64 = 2_000_000;

/// What a launch left.
pub(super) struct Run {
    pub report: Report,
    /// Before and after, by argument; none of numbers.
    pub buffers: Vec<Option<Contents>>,
}

/// A buffer's contents.
pub(super) struct Contents {
    pub number: Number,
    pub before: Vec<u8>,
    pub after: Vec<u8>,
}

/// Why there was no launch.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoRun {
    /// It ended badly, or could not begin.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The case needs more memory than there is.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The exercise says something that cannot be.
    #[error("{0}")]
    Exercise(String),
    /// The file has no such kernel.
    #[error("the file has no kernel `{0}`")]
    NoKernel(String),
}

/// What an output holds before the launch, in each byte: as no result does.
pub(super) const POISON: u8 = 0xFF;

/// Runs a kernel on memory of its own, in the usual order or in another one.
pub(super) fn run(
    manifest: &Manifest,
    geometry: &Geometry,
    case: usize,
    built: &Built,
    schedule: Option<Schedule>,
) -> Result<Run, NoRun> {
    let variables = &manifest.case[case];
    if !built
        .ir
        .functions
        .iter()
        .any(|f| f.is_entry && f.name == built.entry)
    {
        return Err(NoRun::NoKernel(manifest.kernel.clone()));
    }
    let device = Device::new();
    let loaded = device.load(&built.module)?;
    let mut params = Vec::new();
    let mut buffers = Vec::new();
    for (place, argument) in manifest.argument.iter().enumerate() {
        let (role, number) = argument
            .role()
            .ok_or_else(|| NoRun::Exercise(argument.name.clone()))?;
        if let Some(value) = &argument.value {
            let value = value.value(variables).map_err(NoRun::Exercise)?;
            params.push(number.bytes_of(value as f64));
            buffers.push(None);
            continue;
        }
        let length = argument
            .length
            .as_ref()
            .map_or(Ok(0), |n| n.value(variables));
        let length = usize::try_from(length.map_err(NoRun::Exercise)?).unwrap_or_default();
        let before = match argument.fill {
            Some(fill) => fill.bytes(number, length, seed(case, place)),
            None => vec![POISON; length * number.size_bytes()],
        };
        let address = device.alloc(before.len() as u64, &argument.name)?;
        device.write(address, &before)?;
        if role == Role::Output {
            device.mark_unwritten(address, before.len() as u64)?;
        }
        params.push(address.to_le_bytes().to_vec());
        buffers.push(Some((address, number, before)));
    }
    let axes = |sizes| geometry.axes(sizes, variables).map_err(NoRun::Exercise);
    let shared = geometry
        .shared_bytes
        .as_ref()
        .map_or(Ok(0), |n| n.value(variables));
    let launch = Launch {
        grid: axes(&geometry.grid)?,
        block: axes(&geometry.block)?,
        dynamic_shared_bytes: u32::try_from(shared.map_err(NoRun::Exercise)?).unwrap_or_default(),
        params: &params.iter().map(Vec::as_slice).collect::<Vec<_>>(),
        options: LaunchOptions {
            fuel: Some(manifest.checks.fuel.unwrap_or(FUEL)),
            check: true,
            schedule,
            cluster: match geometry.cluster.is_empty() {
                true => None,
                false => Some(axes(&geometry.cluster)?),
            },
            ..LaunchOptions::default()
        },
    };
    let report = device.launch(&loaded, &built.entry, &launch)?;
    let read = |buffer: Option<(u64, Number, Vec<u8>)>| -> Result<_, NoRun> {
        let Some((address, number, before)) = buffer else {
            return Ok(None);
        };
        let mut after = vec![0; before.len()];
        device.read(address, &mut after)?;
        Ok(Some(Contents {
            number,
            before,
            after,
        }))
    };
    let buffers = buffers.into_iter().map(read).collect::<Result<_, _>>()?;
    Ok(Run { report, buffers })
}

/// Random numbers differ from case to case and from buffer to buffer, and are the same in every
/// run.
fn seed(case: usize, argument: usize) -> u64 {
    1 + 1000 * case as u64 + argument as u64
}
