//! One kernel on one shape: launches, verdicts, figures.

use crate::inputs;
use crate::lessons::copy;
use crate::measure::{Side, Times, Timings};
use crate::profile::differences::{self, Difference, differences};
use crate::registry::{KernelEntry, Lesson, Shape, Work};
use crate::verify::{Mismatch, Verified};
use cuda_std::launch::{DevicePtr, DevicePtrMut};
use lockstep::counts::{Counts, Expectation, Report};
use lockstep::engine::{
    Buffer, Conditions, Contender, Engine, EngineError, EngineKind, Fill, LibraryCall, Observe,
    Prepared, SgemmMath, Timed, Timing,
};
use serde::{Deserialize, Serialize};

/// Why a case did not pass.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CaseError {
    /// It could not be run to its end.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// It ran, and its result is wrong.
    #[error("{0}")]
    Wrong(String),
    /// Its result is right, but not what it cost.
    #[error("{at}{}", differences::told(.differences))]
    Counts {
        /// The size of a sweep that it happened at, or nothing.
        at: String,
        /// What differs from the catalogue.
        differences: Vec<Difference>,
    },
}

impl CaseError {
    /// Whether the kernel was never given a chance: neither passed nor failed.
    pub fn is_not_run(&self) -> bool {
        matches!(self, Self::Engine(error) if error.is_not_run())
    }

    /// Whether a profile of the same case shows more of it: what it cost, or the
    /// lines that are at fault.
    pub fn can_be_profiled(&self) -> bool {
        matches!(
            self,
            Self::Wrong(_) | Self::Counts { .. } | Self::Engine(EngineError::Fault { .. })
        )
    }

    /// The same error, with the size of a sweep that it happened at.
    #[must_use]
    pub fn at(self, size: impl std::fmt::Display) -> Self {
        match self {
            Self::Wrong(what) => Self::Wrong(format!("size {size}: {what}")),
            Self::Counts { at, differences } => Self::Counts {
                at: format!("size {size}: {at}"),
                differences,
            },
            other => other,
        }
    }
}

impl From<Mismatch> for CaseError {
    fn from(mismatch: Mismatch) -> Self {
        Self::Wrong(mismatch.to_string())
    }
}

/// What a case measured.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Elements compared with the reference.
    pub n_checked: usize,
    /// Largest difference from the reference.
    pub max_abs_error: Option<f64>,
    /// Times of the kernel and of what took turns with it, from a GPU.
    pub timings: Timings,
    /// Bytes and operations of one launch.
    pub work: Option<Work>,
    /// Counts of one launch, from the simulator.
    pub counts: Option<Counts>,
    /// What was launched, in order; no timed launches.
    pub launches: Vec<LaunchRun>,
    /// Which of these launches [`Figures::counts`] are of, from 0.
    pub counted_launch: Option<usize>,
    /// Remarks, for people.
    pub notes: Vec<String>,
}

/// Launches of one kernel that followed each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRun {
    /// Its entry.
    pub entry: String,
    /// How many.
    pub n: usize,
}

impl Figures {
    /// Notes a launch. Returns its number, from 0.
    fn note_launch(&mut self, entry: &str) -> usize {
        let number = self.launches.iter().map(|run| run.n).sum();
        match self.launches.last_mut() {
            Some(run) if run.entry == entry => run.n += 1,
            _ => self.launches.push(LaunchRun {
                entry: entry.to_owned(),
                n: 1,
            }),
        }
        number
    }

    /// Times of the kernel.
    pub fn times(&self) -> Option<Times> {
        self.timings.of(Side::Kernel)
    }

    /// Times of a device-to-device copy that moves as many bytes.
    pub fn copy_times(&self) -> Option<Times> {
        self.timings.of(Side::Copy)
    }

    /// Times of the kernel's CUDA C++ twin.
    pub fn peer_times(&self) -> Option<Times> {
        self.timings.of(Side::Twin)
    }
}

/// How cases are timed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clocking {
    /// How often.
    pub conditions: Conditions,
    /// Whether also our own copy kernel, libraries, and clearing take turns.
    pub references: bool,
}

impl Clocking {
    /// For a run whose point is the results: a hundred runs, fewer if they are long.
    pub const BRIEF: Self = Self {
        conditions: Conditions {
            n_runs: 100,
            fewest_runs: 10,
            longest_ms: 2000.0,
            touched_bytes: None,
            row_below_ms: 0.0,
        },
        references: false,
    };

    /// For a run whose point is the times: at least thirty runs, or what is asked for.
    pub const fn thorough(n_runs: u32) -> Self {
        Self {
            conditions: Conditions {
                n_runs,
                fewest_runs: 30,
                longest_ms: 3000.0,
                touched_bytes: None,
                row_below_ms: 0.0,
            },
            references: true,
        }
    }

    /// The same, and what takes less than `ms` milliseconds is also timed many times
    /// in a row.
    #[must_use]
    pub const fn with_rows_below(self, ms: f32) -> Self {
        Self {
            conditions: Conditions {
                row_below_ms: ms,
                ..self.conditions
            },
            ..self
        }
    }
}

/// One kernel, one shape, one engine.
pub struct Trial<'e> {
    engine: &'e dyn Timing,
    lesson: &'static Lesson,
    kernel: &'static KernelEntry,
    shape: &'e Shape,
    clocking: Option<Clocking>,
    beside: Vec<(Side, Timed<'static>)>,
    figures: Figures,
    /// Of the last launch that was counted.
    report: Option<Report>,
}

impl<'e> Trial<'e> {
    /// For one case of a run; without a `clocking`, [`Trial::time`] and its like
    /// do nothing.
    pub fn new(
        engine: &'e dyn Timing,
        lesson: &'static Lesson,
        kernel: &'static KernelEntry,
        shape: &'e Shape,
        clocking: Option<Clocking>,
    ) -> Self {
        Self {
            engine,
            lesson,
            kernel,
            shape,
            clocking,
            beside: Vec::new(),
            figures: Figures::default(),
            report: None,
        }
    }

    /// What runs the kernel.
    pub fn engine(&self) -> &'e dyn Engine {
        self.engine
    }

    /// The shape to run it on.
    pub fn shape(&self) -> &'e Shape {
        self.shape
    }

    /// The kernel's description.
    pub fn kernel(&self) -> &'static KernelEntry {
        self.kernel
    }

    /// What was measured so far.
    pub fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Launches once and keeps the counts as the case's.
    pub fn launch(&mut self, launch: &Prepared) -> Result<(), CaseError> {
        let number = self.figures.note_launch(launch.entry());
        self.report = self.engine.launch(launch, Observe::Counts)?;
        let counts = self.report.as_ref().map(|report| report.counts);
        self.figures.counted_launch = counts.is_some().then_some(number);
        self.figures.counts = counts;
        self.figures.work = Some((self.lesson.work)(self.shape));
        Ok(())
    }

    /// Launches once without counting: one of many shapes of a sweep.
    pub fn launch_uncounted(&mut self, launch: &Prepared) -> Result<(), CaseError> {
        self.figures.note_launch(launch.entry());
        self.engine.launch(launch, Observe::Nothing)?;
        Ok(())
    }

    /// Takes the verdict on (a part of) the output.
    pub fn verdict(&mut self, compared: Result<Verified, Mismatch>) -> Result<(), CaseError> {
        let verified = match compared {
            Ok(verified) => verified,
            Err(mismatch) => {
                self.figures.max_abs_error = Some(mismatch.max_abs_error);
                return Err(mismatch.into());
            }
        };
        self.figures.n_checked += verified.n_checked;
        let so_far = self.figures.max_abs_error.unwrap_or(0.0);
        self.figures.max_abs_error = Some(so_far.max(verified.max_abs_error));
        Ok(())
    }

    /// Checks the catalogue's claims about the counts of the last
    /// [`Trial::launch`], where there are counts and claims.
    pub fn check_counts(&self) -> Result<(), CaseError> {
        if !(self.lesson.expects_at)(self.shape) {
            return Ok(());
        }
        self.check_claims(self.kernel.expected)
    }

    /// Checks claims about the counts of the last [`Trial::launch`], where there
    /// are counts.
    pub fn check_claims(&self, claims: &[Expectation]) -> Result<(), CaseError> {
        let Some(report) = &self.report else {
            return Ok(());
        };
        // Almost always, and instructions are many.
        if claims.iter().all(|claim| claim.holds(&report.counts)) {
            return Ok(());
        }
        let instructions = report.instructions();
        let source = self.lesson.source;
        Err(CaseError::Counts {
            at: String::new(),
            differences: differences(claims, &report.counts, &instructions, source),
        })
    }

    /// Takes the verdict on one number: it must be within `bound` of `expected`.
    pub fn verdict_within(&mut self, got: f64, expected: f64, bound: f64) -> Result<(), CaseError> {
        let error = (got - expected).abs();
        self.figures.n_checked += 1;
        let so_far = self.figures.max_abs_error.unwrap_or(0.0);
        if error.is_nan() || error > so_far || self.figures.max_abs_error.is_none() {
            self.figures.max_abs_error = Some(error);
        }
        // So that a NaN is wrong.
        if error <= bound {
            return Ok(());
        }
        Err(CaseError::Wrong(format!(
            "expected {expected} within {bound}, got {got}"
        )))
    }

    /// A remark on the result, for people.
    pub fn note(&mut self, note: String) {
        self.figures.notes.push(note);
    }

    /// Whether the case is timed here.
    pub fn is_timed(&self) -> bool {
        self.clocking.is_some() && self.engine.kind() == EngineKind::Gpu
    }

    /// Whether the case is timed beside all that there is to compare it with.
    fn has_references(&self) -> bool {
        self.is_timed() && self.clocking.is_some_and(|clocking| clocking.references)
    }

    /// Does once what may be timed later.
    pub fn perform(&self, work: &Timed<'_>) -> Result<(), EngineError> {
        self.engine.perform(work)
    }

    /// Makes a library's call once, and times it in turn with the kernel later.
    /// False where that is not wanted or the library was not loaded; else the
    /// caller checks what the call left.
    pub fn beside_library(&mut self, call: LibraryCall) -> Result<bool, CaseError> {
        let is_there = self.engine.library_version(call.library()).is_some();
        if !self.has_references() || !is_there {
            return Ok(false);
        }
        let side = match call {
            LibraryCall::CubSum { .. } => Side::Cub,
            LibraryCall::Sgemm {
                math: SgemmMath::Default,
                ..
            } => Side::Cublas,
            LibraryCall::Sgemm {
                math: SgemmMath::Pedantic,
                ..
            } => Side::CublasPedantic,
        };
        let call = Timed::Library(call);
        self.engine.perform(&call)?;
        self.beside.push((side, call));
        Ok(true)
    }

    /// Times clearing these bytes in turn with the kernel later.
    pub fn beside_clearing(&mut self, output: Vec<Fill>) {
        if self.has_references() {
            self.beside.push((Side::Clear, Timed::Fills(output.into())));
        }
    }

    /// Times the launch in turn with a copy of as many bytes, with its CUDA C++
    /// twin if there is one, and with whatever was put beside it, where the engine
    /// has a clock that means something.
    pub fn time(&mut self, launch: &Prepared) -> Result<(), CaseError> {
        self.time_all(std::slice::from_ref(launch))
    }

    /// [`Trial::time`] of launches that do one thing together.
    pub fn time_all(&mut self, launches: &[Prepared]) -> Result<(), CaseError> {
        self.time_from(launches, &[])
    }

    /// [`Trial::time_all`] of launches that do something else the second time,
    /// unless `before` is done first, which is not timed.
    pub fn time_from(
        &mut self,
        launches: &[Prepared],
        before: &[Timed<'_>],
    ) -> Result<(), CaseError> {
        let Some(clocking) = self.clocking.filter(|_| self.is_timed()) else {
            return Ok(());
        };
        if launches.is_empty() {
            return Ok(());
        }
        let bytes = (self.lesson.work)(self.shape).bytes;
        let copied = CopyBuffers::new(self.engine, bytes / 2)?;
        let mut sides: Vec<(Side, Timed<'_>)> =
            vec![(Side::Kernel, Timed::Launches(launches.into()))];
        if let Some(copied) = &copied {
            sides.push((Side::Copy, copied.by_driver()));
        }
        if launches
            .iter()
            .all(|launch| self.engine.has_peer(launch.entry()))
        {
            sides.push((Side::Twin, Timed::Peers(launches.into())));
        }
        if let Some(copied) = copied.as_ref().filter(|_| clocking.references) {
            sides.push((Side::CopyKernel, copied.by_kernel()?));
        }
        sides.extend(std::mem::take(&mut self.beside));
        let (sides, contenders): (Vec<_>, Vec<_>) = sides
            .into_iter()
            .map(|(side, timed)| {
                // The others do the same the second time, and more is not asked of them.
                let needs_reset = matches!(side, Side::Kernel | Side::Twin);
                let before = if needs_reset {
                    before.to_vec()
                } else {
                    Vec::new()
                };
                (side, Contender { before, timed })
            })
            .unzip();
        let conditions = Conditions {
            touched_bytes: Some(bytes).filter(|&bytes| bytes != 0),
            ..clocking.conditions
        };
        let Some(clocked) = self.engine.time(&contenders, &conditions)? else {
            return Ok(());
        };
        let times_of = |runs_ms: &[Vec<f32>]| {
            let times = runs_ms.iter().map(|runs| Times::of(runs));
            let sides = sides.iter().copied().zip(times);
            sides
                .filter_map(|(side, times)| Some((side, times?)))
                .collect()
        };
        self.figures.timings = Timings {
            sides: times_of(&clocked.runs_ms),
            in_row: times_of(&clocked.rows_ms),
            n_in_row: clocked.n_in_row,
            n_sets: clocked.n_sets,
            set_bytes: clocked.set_bytes,
            out_of_cache: clocked.out_of_cache,
            n_late: clocked.n_late,
            sensors: clocked.sensors,
        };
        Ok(())
    }

    /// What was measured, at the end.
    pub fn into_figures(self) -> Figures {
        self.figures
    }
}

/// Source and target of a copy, to be timed beside a kernel.
struct CopyBuffers<'e> {
    from: Buffer<'e, u8>,
    to: Buffer<'e, u8>,
}

impl<'e> CopyBuffers<'e> {
    /// Of a copy that reads about so many bytes and writes as many; `None` of none.
    fn new(engine: &'e dyn Timing, size_bytes: u64) -> Result<Option<Self>, EngineError> {
        /// The kernel moves whole chunks.
        const CHUNK: u64 = 16;
        if size_bytes == 0 {
            return Ok(None);
        }
        let size_bytes = size_bytes.next_multiple_of(CHUNK) as usize;
        Ok(Some(Self {
            from: random_bytes(engine, "copy source", size_bytes)?,
            to: Buffer::poisoned(engine, "copy target", size_bytes)?,
        }))
    }

    fn by_driver(&self) -> Timed<'static> {
        Timed::Copy {
            to: self.to.address(),
            from: self.from.address(),
            size_bytes: self.from.size_bytes(),
        }
    }

    fn by_kernel(&self) -> Result<Timed<'static>, EngineError> {
        let n_elements = (self.from.size_bytes() / size_of::<f32>() as u64) as u32;
        // SAFETY: both buffers hold as many elements, are aligned to 256 bytes, and
        // live as long as the launch.
        let launch = unsafe {
            copy::best(
                DevicePtr::new(self.from.address()),
                DevicePtrMut::new(self.to.address()),
                n_elements,
            )
        }?;
        Ok(Timed::Launches(vec![launch].into()))
    }
}

/// Random bytes on the device: a block of them, again and again.
fn random_bytes<'e>(
    engine: &'e dyn Timing,
    label: &str,
    size_bytes: usize,
) -> Result<Buffer<'e, u8>, EngineError> {
    const BLOCK_BYTES: usize = 16 << 20;
    const SEED: u64 = 99;
    let buffer = Buffer::poisoned(engine, label, size_bytes)?;
    let block = inputs::bytes(SEED, BLOCK_BYTES.min(size_bytes));
    engine.write(buffer.address(), &block)?;
    let mut n_written = block.len();
    while n_written < size_bytes {
        let n = n_written.min(size_bytes - n_written);
        engine.perform(&Timed::Copy {
            to: buffer.address() + n_written as u64,
            from: buffer.address(),
            size_bytes: n as u64,
        })?;
        n_written += n;
    }
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use super::random_bytes;
    use lockstep::engine::sim::Sim;

    #[test]
    fn random_bytes_fill_the_buffer_beyond_their_block() {
        let engine = Sim::new(Vec::new());
        const N: usize = (40 << 20) + 5;
        let bytes = random_bytes(&engine, "bytes", N).and_then(|buffer| buffer.read());
        let bytes = bytes.expect("memory enough");
        assert_eq!(bytes.len(), N);
        // Poison would be a run of equal bytes.
        let has_runs = bytes
            .windows(8)
            .any(|run| run.iter().all(|&byte| byte == 0xFF));
        assert!(!has_runs);
        assert_eq!(bytes[32 << 20], bytes[0]);
    }
}
