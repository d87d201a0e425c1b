//! The one list of lessons. `run-all`, `list`, the tests and the README's table
//! all walk it; nothing else names a lesson.
//!
//! A lesson is data with two functions: which shapes to run, and how to run one
//! kernel on one shape. To add one, write `lessons/<id>.rs` with a
//! `pub static LESSON: Lesson` and name it in `lessons/mod.rs`.

use crate::footprint::Footprint;
use crate::hints;
use crate::trial::{CaseError, Trial};
use crate::verify::Tolerance;
use cuda_std::launch::{Kernel, KernelArgs, LaunchBounds};
use lockstep::counts::Expectation;
use lockstep::engine::EngineKind;
use lockstep::engine::launch::topic_of;
use std::fmt;

pub use crate::lessons::LESSONS;

/// An idea of shared-memory programming and the kernels that show it.
pub struct Lesson {
    /// Short and unique: `transpose`.
    pub id: &'static str,
    /// As a heading.
    pub title: &'static str,
    /// What one learns, in one line.
    pub idea: &'static str,
    /// The file with the kernels, relative to the repository.
    pub source: &'static str,
    /// From the simplest kernel to the fastest.
    pub kernels: &'static [KernelEntry],
    /// What to run on which engine.
    pub shapes: fn(EngineKind, Effort) -> Vec<Shape>,
    /// What one launch on a shape moves and computes.
    pub work: fn(&Shape) -> Work,
    /// What a case on a shape takes of memory.
    pub memory: fn(&Shape) -> Footprint,
    /// Whether the kernels' [`KernelEntry::expected`] holds for a shape.
    pub expects_at: fn(&Shape) -> bool,
}

/// How much to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Effort {
    /// Seconds, for a first look.
    Quick,
    /// One shape a lesson, enough work to time the simulator by.
    Sample,
    /// Everything that the catalogue claims, at sizes that suit the engine.
    #[default]
    Default,
    /// The catalogue's sizes, whatever the engine.
    Full,
}

/// Device memory read and written by a perfect kernel, and its arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Bytes read and written, each once.
    pub bytes: u64,
    /// Floating-point operations.
    pub flops: u64,
}

/// A kernel as its lesson describes it.
pub struct KernelEntry {
    /// Entry name in the PTX; unique.
    pub id: &'static str,
    /// The topic of `gpu-kernels` that it belongs to, and with it the PTX module.
    pub topic: Option<&'static str>,
    /// What it does differently, in one line.
    pub technique: &'static str,
    /// Its parameters' names, as in the Rust source.
    pub param_names: &'static [&'static str],
    /// Sizes in bytes of its PTX parameters.
    pub param_sizes: fn() -> Vec<u32>,
    /// Its launch limits.
    pub bounds: Option<LaunchBounds>,
    /// Whether a launch may start before the one before it has ended; see
    /// `cuda_std::grid`.
    pub is_early: bool,
    /// The oldest architecture it runs on: 80 for sm_80.
    pub min_sm: u32,
    /// How near its results must be to the reference.
    pub tolerance: Tolerance,
    /// What the catalogue claims about its counts.
    pub expected: &'static [Expectation],
    /// Times that others published for the same kernel.
    pub published: &'static [Published],
    /// Extents of the shapes that it is timed at when speed is the point. Without
    /// any, the largest that its lesson runs on a GPU.
    pub timed_at: &'static [&'static [u32]],
    /// What NVIDIA's tools report of it although it is right.
    pub known_alarms: &'static [KnownAlarm],
    /// Runs it on one shape: uploads, launches, verifies, measures.
    pub run: fn(&mut Trial<'_>) -> Result<(), CaseError>,
}

/// A tool's reports on a kernel that is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownAlarm {
    /// One of compute-sanitizer's tools.
    pub tool: &'static str,
    /// Why it is wrong.
    pub reason: &'static str,
}

/// A time that others measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// On what, and compiled how.
    pub machine: &'static str,
    /// The shape's name.
    pub shape: &'static str,
    /// Milliseconds a launch.
    pub time_ms: f64,
}

impl KernelEntry {
    /// The entry of `_kernel`, exact and without claims.
    pub const fn of<K: Kernel>(
        _kernel: K,
        technique: &'static str,
        run: fn(&mut Trial<'_>) -> Result<(), CaseError>,
    ) -> Self {
        Self {
            id: K::NAME,
            topic: topic_of(K::MODULE_PATH),
            technique,
            param_names: K::PARAM_NAMES,
            param_sizes: param_sizes::<K>,
            bounds: K::LAUNCH_BOUNDS,
            is_early: K::IS_EARLY,
            min_sm: crate::ptx::BASE_SM,
            tolerance: Tolerance::Exact,
            expected: &[],
            published: &[],
            timed_at: &[],
            known_alarms: &[],
            run,
        }
    }

    /// With claims about its counts.
    pub const fn expecting(self, expected: &'static [Expectation]) -> Self {
        Self { expected, ..self }
    }

    /// With times that others published.
    pub const fn published(self, published: &'static [Published]) -> Self {
        Self { published, ..self }
    }

    /// With shapes to time it at.
    pub const fn timed_at(self, timed_at: &'static [&'static [u32]]) -> Self {
        Self { timed_at, ..self }
    }

    /// With another tolerance than none.
    pub const fn within(self, tolerance: Tolerance) -> Self {
        Self { tolerance, ..self }
    }

    /// With what NVIDIA's tools report of it although it is right.
    pub const fn alarming(self, known_alarms: &'static [KnownAlarm]) -> Self {
        Self {
            known_alarms,
            ..self
        }
    }

    /// Needing a newer architecture than the rest.
    pub const fn since_sm(self, min_sm: u32) -> Self {
        Self { min_sm, ..self }
    }
}

fn param_sizes<K: Kernel>() -> Vec<u32> {
    K::Args::param_sizes().collect()
}

/// The size of a problem, or all sizes up to one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    dims: Vec<u32>,
    sweep: bool,
}

impl Shape {
    /// One size.
    pub fn of(dims: &[u32]) -> Self {
        Self {
            dims: dims.to_vec(),
            sweep: false,
        }
    }

    /// Every size from 1 to this, along every axis.
    pub fn every(dims: &[u32]) -> Self {
        Self {
            dims: dims.to_vec(),
            sweep: true,
        }
    }

    /// The extents, or the largest ones of a sweep.
    pub fn dims(&self) -> &[u32] {
        &self.dims
    }

    /// The product of the extents. Sizes are the user's to choose, so it is wide.
    pub fn n_elements(&self) -> u128 {
        let extents = self.dims.iter().map(|&dim| u128::from(dim));
        extents.fold(1, u128::saturating_mul)
    }

    /// Rows and columns of a matrix.
    ///
    /// # Panics
    ///
    /// If it has not two axes, which is a mistake in the lesson.
    pub fn matrix(&self) -> (u32, u32) {
        match self.dims[..] {
            [rows, columns] => (rows, columns),
            _ => panic!("the shape {self} is no matrix"),
        }
    }

    /// Whether it stands for every size up to its own.
    pub fn is_sweep(&self) -> bool {
        self.sweep
    }

    /// Its name in results: `8192x8192`, or `1..=64x1..=64` for a sweep.
    pub fn name(&self) -> String {
        self.joined("x")
    }

    fn joined(&self, by: &str) -> String {
        let range = if self.sweep { "1..=" } else { "" };
        let dims: Vec<_> = self
            .dims
            .iter()
            .map(|dim| format!("{range}{dim}"))
            .collect();
        dims.join(by)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.joined(if self.sweep { " × " } else { "×" }))
    }
}

/// A kernel of the registry with its lesson.
#[derive(Clone, Copy)]
pub struct Registered {
    /// The lesson.
    pub lesson: &'static Lesson,
    /// One of its kernels.
    pub kernel: &'static KernelEntry,
}

impl Registered {
    /// The shapes that it is timed at when speed is the point.
    pub fn timed_shapes(&self) -> Vec<Shape> {
        if !self.kernel.timed_at.is_empty() {
            return self
                .kernel
                .timed_at
                .iter()
                .map(|dims| Shape::of(dims))
                .collect();
        }
        (self.lesson.shapes)(EngineKind::Gpu, Effort::Default)
            .into_iter()
            .filter(|shape| !shape.is_sweep())
            .max_by_key(|shape| (self.lesson.work)(shape).bytes)
            .into_iter()
            .collect()
    }
}

/// Every kernel of every lesson, in reading order.
pub fn kernels() -> impl Iterator<Item = Registered> {
    LESSONS.iter().flat_map(|&lesson| {
        lesson
            .kernels
            .iter()
            .map(move |kernel| Registered { lesson, kernel })
    })
}

/// No lesson and no kernel has such a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no lesson or kernel matches `{wanted}`; {}", suggestion(.near))]
pub struct NoMatch {
    /// What was asked for.
    pub wanted: String,
    /// Names like it, best first.
    pub near: Vec<&'static str>,
}

/// A name that is not that of one kernel.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NotOne {
    /// It is nobody's name.
    #[error(transparent)]
    NoMatch(#[from] NoMatch),
    /// It is the name of a lesson with several kernels.
    #[error("`{lesson}` is a lesson; name one of its kernels:{}", listed(.kernels))]
    Lesson {
        /// The lesson's name.
        lesson: &'static str,
        /// Its kernels, and what each does differently.
        kernels: Vec<(&'static str, &'static str)>,
    },
}

/// A line for each kernel: its name, and what it does differently.
fn listed(kernels: &[(&str, &str)]) -> String {
    let widest = kernels.iter().map(|(name, _)| name.len()).max();
    let widest = widest.unwrap_or(0);
    let lines = kernels.iter();
    let lines = lines.map(|(name, technique)| format!("\n  {name:widest$}  {technique}"));
    lines.collect()
}

fn suggestion(near: &[&str]) -> String {
    if near.is_empty() {
        return format!("`{}` shows all names", hints::command("list"));
    }
    let names: Vec<_> = near.iter().map(|name| format!("`{name}`")).collect();
    format!("near names: {}", names.join(", "))
}

/// The kernels whose own or whose lesson's name contains one of `filters`; all
/// of them if there is none.
///
/// # Errors
///
/// A filter that matches nothing.
pub fn matching(filters: &[String]) -> Result<Vec<Registered>, NoMatch> {
    let matches = |registered: &Registered, filter: &str| {
        registered.kernel.id.contains(filter) || registered.lesson.id.contains(filter)
    };
    for filter in filters {
        if !kernels().any(|registered| matches(&registered, filter)) {
            return Err(NoMatch {
                wanted: filter.clone(),
                near: near_names(filter),
            });
        }
    }
    Ok(kernels()
        .filter(|registered| {
            filters.is_empty() || filters.iter().any(|filter| matches(registered, filter))
        })
        .collect())
}

/// The kernel of that name, or the only one of the lesson of that name.
///
/// # Errors
///
/// There is none, or the lesson has several.
pub fn kernel(name: &str) -> Result<Registered, NotOne> {
    if let Some(registered) = kernels().find(|registered| registered.kernel.id == name) {
        return Ok(registered);
    }
    let Some(&lesson) = LESSONS.iter().find(|lesson| lesson.id == name) else {
        return Err(NotOne::NoMatch(NoMatch {
            wanted: name.to_owned(),
            near: near_names(name),
        }));
    };
    match lesson.kernels {
        [kernel] => Ok(Registered { lesson, kernel }),
        kernels => Err(NotOne::Lesson {
            lesson: lesson.id,
            kernels: kernels.iter().map(|k| (k.id, k.technique)).collect(),
        }),
    }
}

/// The names that hold what was wanted; if none does, some that are spelt like it.
fn near_names(wanted: &str) -> Vec<&'static str> {
    const MOST_PARTS: usize = 12;
    const MOST: usize = 3;
    const LEAST_LIKENESS: f64 = 0.7;
    let likeness = |name: &str| match name.contains(wanted) {
        true => 1.0 + strsim::jaro_winkler(wanted, name),
        false => strsim::jaro_winkler(wanted, name),
    };
    let mut names: Vec<(f64, &'static str)> = Vec::new();
    let ids = kernels().map(|registered| registered.kernel.id);
    for name in LESSONS.iter().map(|lesson| lesson.id).chain(ids) {
        // A lesson and its kernel may have one name.
        if likeness(name) > LEAST_LIKENESS && !names.iter().any(|(_, other)| *other == name) {
            names.push((likeness(name), name));
        }
    }
    names.sort_by(|a, b| b.0.total_cmp(&a.0));
    let has_parts = names.first().is_some_and(|(likeness, _)| *likeness > 1.0);
    if has_parts {
        names.retain(|(likeness, _)| *likeness > 1.0);
    }
    names.truncate(if has_parts { MOST_PARTS } else { MOST });
    names.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::{LESSONS, NotOne, Shape, kernel, kernels, matching};
    use std::collections::HashSet;

    #[test]
    fn names_are_unique() {
        let mut seen = HashSet::new();
        for registered in kernels() {
            assert!(
                seen.insert(registered.kernel.id),
                "{} twice",
                registered.kernel.id
            );
        }
    }

    #[test]
    fn shapes_have_names() {
        assert_eq!(Shape::of(&[8192, 8192]).name(), "8192x8192");
        assert_eq!(Shape::every(&[64, 64]).name(), "1..=64x1..=64");
        assert_eq!(Shape::of(&[3, 5]).to_string(), "3×5");
    }

    #[test]
    fn filters_match_lessons_and_kernels() {
        let count = |filter: &str| matching(&[filter.to_owned()]).map(|found| found.len());
        assert_eq!(count("transpose"), Ok(7));
        assert_eq!(count("transpose_padded"), Ok(1));
        assert_eq!(
            matching(&[]).map(|found| found.len()),
            Ok(kernels().count())
        );
    }

    #[test]
    fn a_lessons_name_stands_for_its_only_kernel() {
        for lesson in LESSONS {
            let is_kernel = kernels().any(|registered| registered.kernel.id == lesson.id);
            match kernel(lesson.id) {
                Ok(found) => assert!(
                    is_kernel || lesson.kernels.len() == 1,
                    "{}",
                    found.kernel.id
                ),
                Err(NotOne::Lesson { kernels, .. }) => {
                    assert!(!is_kernel && kernels.len() > 1, "{}", lesson.id);
                }
                Err(NotOne::NoMatch(error)) => panic!("{error}"),
            }
        }
        let error = kernel("transpose").err().expect("it has seven").to_string();
        assert!(error.starts_with("`transpose` is a lesson; name one of its kernels:\n"));
        assert!(
            error.contains("  transpose_padded               tile row padded by one element"),
            "{error}"
        );
    }

    #[test]
    fn parts_of_names_find_them() {
        let error = kernel("swizzled").err().expect("a part").to_string();
        assert!(error.contains("`transpose_swizzled`"), "{error}");
    }

    #[test]
    fn a_wrong_filter_suggests_names() {
        let error = matching(&["transpose_swizled".to_owned()])
            .err()
            .expect("no such kernel");
        assert_eq!(error.near[0], "transpose_swizzled");
        assert!(
            error
                .to_string()
                .contains("near names: `transpose_swizzled`")
        );
        let error = matching(&["qqq".to_owned()])
            .err()
            .expect("nothing like it");
        let words = format!("`{}`", crate::hints::command("list"));
        assert!(error.to_string().contains(&words), "{error}");
    }
}
