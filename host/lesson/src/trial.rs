//! One kernel on one shape: launches, verdicts, figures.

use crate::clocking::Clocking;
use crate::copies::CopyBuffers;
use crate::differences::differences;
use crate::error::CaseError;
use crate::figures::Figures;
use crate::measure::{Alone, Ratio, Side, Times, Timings};
use crate::shape::{Shape, Work};
use crate::verify::{Mismatch, Tolerance, Verified};
use cuda_std::launch::SafeKernel;
use lockstep::counts::Expectation;
use lockstep::engine::{
    Conditions, Contender, Engine, EngineError, EngineKind, Fill, LaunchConfig, LibraryCall,
    Observe, Prepared, SgemmMath, Timed, Timing,
};
use ptx_sim::Report;

/// A trial's data about the kernel and its lesson.
#[derive(Clone, Copy)]
pub struct Subject {
    /// The file with the kernel, relative to the repository.
    pub source: &'static str,
    /// The bytes and operations of one launch on a shape.
    pub work: fn(&Shape) -> Work,
    /// The tolerance of results.
    pub tolerance: Tolerance,
    /// The catalogue's claims about the counts at the shape.
    pub expected: &'static [Expectation],
}

/// The purpose of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// [`Trial::launch_uncounted`].
    Verified,
    /// [`Trial::launch`].
    Counted,
    /// [`Trial::time`].
    Timed,
}

/// One kernel, one shape, one engine.
pub struct Trial<'e> {
    engine: &'e dyn Timing,
    subject: Subject,
    shape: &'e Shape,
    clocking: Option<Clocking>,
    beside: Vec<(Side, Timed<'static>)>,
    /// The choices of the libraries among them.
    choices: Vec<(Side, String)>,
    figures: Figures,
    /// From the last launch that was counted.
    report: Option<Report>,
}

impl<'e> Trial<'e> {
    /// A trial for one case of a run; without a `clocking`, [`Trial::time`] and the related
    /// functions do nothing.
    pub fn new(
        engine: &'e dyn Timing,
        subject: Subject,
        shape: &'e Shape,
        clocking: Option<Clocking>,
    ) -> Self {
        Self {
            engine,
            subject,
            shape,
            clocking,
            beside: Vec::new(),
            choices: Vec::new(),
            figures: Figures::default(),
            report: None,
        }
    }

    /// The engine that runs the kernel.
    pub fn engine(&self) -> &'e dyn Engine {
        self.engine
    }

    /// The shape to run it on.
    pub fn shape(&self) -> &'e Shape {
        self.shape
    }

    /// The tolerance of results.
    pub fn tolerance(&self) -> Tolerance {
        self.subject.tolerance
    }

    /// The measurements so far.
    pub fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Launches once; the counts become the case's.
    pub fn launch(&mut self, launch: &Prepared) -> Result<(), CaseError> {
        let number = self.figures.note_launch(launch.entry());
        self.report = self.engine.launch(launch, Observe::Counts)?;
        let counts = self.report.as_ref().map(|report| report.counts);
        self.figures.counted_launch = counts.is_some().then_some(number);
        self.figures.counts = counts;
        self.figures.work = Some((self.subject.work)(self.shape));
        Ok(())
    }

    /// Launches once without counting: one of many shapes of a sweep.
    pub fn launch_uncounted(&mut self, launch: &Prepared) -> Result<(), CaseError> {
        self.figures.note_launch(launch.entry());
        self.engine.launch(launch, Observe::Nothing)?;
        Ok(())
    }

    /// Launches verified, counted or timed.
    pub fn act(&mut self, act: Act, launch: &Prepared) -> Result<(), CaseError> {
        match act {
            Act::Verified => self.launch_uncounted(launch),
            Act::Counted => self.launch(launch),
            Act::Timed => self.time(launch),
        }
    }

    /// [`Trial::act`] on a launch of a safe kernel, whose buffers and geometry are checked.
    pub fn act_safely<K: SafeKernel>(
        &mut self,
        act: Act,
        _kernel: K,
        config: LaunchConfig,
        views: K::Views<'_>,
    ) -> Result<(), CaseError> {
        // SAFETY: the views' borrows last until this returns, and all launches have ended by then.
        let launch = unsafe { Prepared::admitted::<K>(config, self.engine.memory(), views) }?;
        self.act(act, &launch)
    }

    /// Accepts the verdict on (a part of) the output.
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
        self.check_claims(self.subject.expected)
    }

    /// Checks claims about the counts of the last [`Trial::launch`], where there
    /// are counts.
    pub fn check_claims(&self, claims: &[Expectation]) -> Result<(), CaseError> {
        let Some(report) = &self.report else {
            return Ok(());
        };
        // This is the usual case, and there are many instructions.
        if claims.iter().all(|claim| claim.holds(&report.counts)) {
            return Ok(());
        }
        let instructions = report.instructions();
        Err(CaseError::Counts {
            at: String::new(),
            differences: differences(claims, &report.counts, &instructions, self.subject.source),
        })
    }

    /// Accepts the verdict on one number: it must be within `bound` of `expected`.
    pub fn verdict_within(&mut self, got: f64, expected: f64, bound: f64) -> Result<(), CaseError> {
        let error = (got - expected).abs();
        self.figures.n_checked += 1;
        let so_far = self.figures.max_abs_error.unwrap_or(0.0);
        if error.is_nan() || error > so_far || self.figures.max_abs_error.is_none() {
            self.figures.max_abs_error = Some(error);
        }
        // Written so that a NaN is wrong.
        if error <= bound {
            return Ok(());
        }
        Err(CaseError::wrong(format!(
            "expected {expected} within {bound}, got {got}"
        )))
    }

    /// Adds a remark on the result, for people.
    pub fn note(&mut self, note: String) {
        self.figures.notes.push(note);
    }

    /// Whether the case is timed here.
    pub fn is_timed(&self) -> bool {
        self.clocking.is_some() && self.engine.kind() == EngineKind::Gpu
    }

    /// Whether the case is timed alongside everything that there is to compare it with.
    fn has_references(&self) -> bool {
        self.is_timed()
            && self
                .clocking
                .is_some_and(|clocking| clocking.yardstick.is_some())
    }

    /// Does once what may be timed later.
    pub fn perform(&self, work: &Timed<'_>) -> Result<(), EngineError> {
        self.engine.perform(work)
    }

    /// Makes a library's call once, and times it later in alternation with the kernel.
    /// Returns false if that is not wanted or the library was not loaded; otherwise the
    /// caller checks the call's results.
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
            LibraryCall::Matmul(_) => Side::CublasLt,
        };
        let work = Timed::Library(call);
        self.engine.perform(&work)?;
        if let Some(choice) = self.engine.library_choice(&call) {
            self.choices.push((side, choice));
        }
        self.beside.push((side, work));
        Ok(true)
    }

    /// Later times clearing these bytes, in alternation with the kernel.
    pub fn beside_clearing(&mut self, output: Vec<Fill>) {
        if self.has_references() {
            self.beside.push((Side::Clear, Timed::Fills(output.into())));
        }
    }

    /// Checks every product of a sweep: m, n, k.
    pub fn each_product(
        &mut self,
        mut check: impl FnMut(&mut Self, [u32; 3]) -> Result<(), CaseError>,
    ) -> Result<(), CaseError> {
        let [max_m, max_n, max_k] = self.shape.product();
        for m in 1..=max_m {
            for n in 1..=max_n {
                for k in 1..=max_k {
                    check(self, [m, n, k]).map_err(|error| error.of_size(&[m, n, k]))?;
                }
            }
        }
        Ok(())
    }

    /// The end of a case whose result is right: its counts are checked, and it is timed. Nothing
    /// more is done for one of many sizes.
    pub fn finish(&mut self, launch: &Prepared) -> Result<(), CaseError> {
        if self.shape.is_sweep() {
            return Ok(());
        }
        self.check_counts()?;
        self.time(launch)
    }

    /// Times the launch in alternation with a copy of as many bytes, with its CUDA C++
    /// baseline if there is one, and with whatever was added for comparison, if the engine
    /// has a meaningful clock.
    pub fn time(&mut self, launch: &Prepared) -> Result<(), CaseError> {
        self.time_all(std::slice::from_ref(launch))
    }

    /// [`Trial::time`] for launches that do one thing together.
    pub fn time_all(&mut self, launches: &[Prepared]) -> Result<(), CaseError> {
        self.time_from(launches, &[])
    }

    /// [`Trial::time_all`] for launches that would do something else the second time,
    /// unless `before`, which is not timed, is done first.
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
        let bytes = (self.subject.work)(self.shape).bytes;
        let copied = CopyBuffers::new(self.engine, bytes / 2)?;
        let mut sides: Vec<(Side, Timed<'_>)> =
            vec![(Side::Kernel, Timed::Launches(launches.into()))];
        if let Some(copied) = &copied {
            sides.push((Side::Copy, copied.by_driver()));
        }
        if launches
            .iter()
            .all(|launch| self.engine.has_baseline(launch.entry()))
        {
            sides.push((Side::Baseline, Timed::Baselines(launches.into())));
        }
        if let (Some(copied), Some(yardstick)) = (&copied, clocking.yardstick) {
            sides.push((Side::CopyKernel, copied.by_kernel(yardstick)?));
        }
        sides.extend(std::mem::take(&mut self.beside));
        let (sides, contenders): (Vec<_>, Vec<_>) = sides
            .into_iter()
            .map(|(side, timed)| {
                // The others do the same the second time, which is enough for them.
                let needs_reset = matches!(side, Side::Kernel | Side::Baseline);
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
        let alone = match clocking.is_alone {
            true => self.time_alone(&sides, &contenders, &conditions)?,
            false => Vec::new(),
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
        let others = sides.iter().copied().zip(&clocked.runs_ms).skip(1);
        let ratios = others
            .filter_map(|(side, runs_ms)| Some((side, Ratio::of(&clocked.runs_ms[0], runs_ms)?)));
        self.figures.timings = Timings {
            ratios: ratios.collect(),
            choices: std::mem::take(&mut self.choices),
            sides: times_of(&clocked.runs_ms),
            in_row: times_of(&clocked.rows_ms),
            n_in_row: clocked.n_in_row,
            n_sets: clocked.n_sets,
            set_bytes: clocked.set_bytes,
            out_of_cache: clocked.out_of_cache,
            n_late: clocked.n_late,
            sensors: clocked.sensors,
            alone,
        };
        Ok(())
    }

    /// Times the kernel and the libraries, each with the device to itself.
    fn time_alone(
        &self,
        sides: &[Side],
        contenders: &[Contender<'_>],
        conditions: &Conditions,
    ) -> Result<Vec<(Side, Alone)>, CaseError> {
        let mut found = Vec::new();
        for (&side, contender) in sides.iter().zip(contenders) {
            if side != Side::Kernel && !side.is_library() {
                continue;
            }
            let alone = self.engine.time_alone(contender, conditions)?;
            found.extend(alone.and_then(|alone| Some((side, Alone::of(&alone)?))));
        }
        Ok(found)
    }

    /// The measurements, at the end.
    pub fn into_figures(self) -> Figures {
        self.figures
    }
}
