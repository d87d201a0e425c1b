//! An exercise: a folder.
//!
//! | file | what it is |
//! |---|---|
//! | `exercise.toml` | the exercise's [`Manifest`] |
//! | `exercise.rs` | the kernel with the gap, opening with the task |
//! | `solution.rs` | a kernel that passes |
//! | `reference.rs` | a plainly correct kernel, which gives the expected results |
//! | `cheats.rs`, `cheats_*.rs` | kernels that must not pass; each says how it fails |

use crate::error::{Error, read};
use crate::expression::Variables;
use crate::format::{Contract, Manifest, Role};
use crate::kinds::KINDS;
use ptx::suggest;
use ptx_sim::Counts;
use std::path::{Path, PathBuf};

/// An exercise, read and validated.
#[derive(Clone, Debug)]
pub struct Exercise {
    /// Its folder's name: `07_barrier`.
    pub name: String,
    /// Its folder.
    pub dir: PathBuf,
    /// What its manifest says.
    pub manifest: Manifest,
}

/// How a source must fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The kind of failure.
    pub kind: String,
    /// Words of the message; empty if any will do.
    pub words: String,
}

impl Expected {
    /// Reads `race: words`, or `race` alone.
    ///
    /// # Errors
    ///
    /// The kind is unknown.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (kind, words) = text.split_once(':').unwrap_or((text, ""));
        let kind = kind.trim();
        if !KINDS.contains(&kind) {
            return Err(format!(
                "`{kind}` is not a kind of failure; the kinds are {}",
                KINDS.join(", ")
            ));
        }
        Ok(Self {
            kind: kind.to_owned(),
            words: words.trim().to_owned(),
        })
    }
}

/// A kernel that must not pass.
#[derive(Clone, Debug)]
pub struct Cheat {
    /// Its file.
    pub path: PathBuf,
    /// Its function there.
    pub name: String,
    /// How it must fail.
    pub expected: Expected,
}

/// How a cheat says how it fails.
const FAILS: &str = "/// fails:";

impl Exercise {
    /// The exercise in a folder.
    ///
    /// # Errors
    ///
    /// A file is missing or invalid.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let path = dir.join("exercise.toml");
        if !path.is_file() {
            return Err(Error::format(
                dir,
                "not an exercise: it has no exercise.toml (`cargo xtask learn new DIR` makes one)",
            ));
        }
        let manifest: Manifest =
            toml::from_str(&read(&path)?).map_err(|e| Error::format(&path, e))?;
        let dir = dir.canonicalize().map_err(|e| Error::io("find", dir, e))?;
        let name = check_name(&dir)?;
        let exercise = Self {
            name: name.to_owned(),
            dir: dir.clone(),
            manifest,
        };
        exercise
            .manifest
            .check()
            .map_err(|e| Error::format(&path, e))?;
        for file in [exercise.source(), exercise.solution(), exercise.reference()] {
            if !file.is_file() {
                return Err(Error::format(&file, "the exercise lacks this file"));
            }
        }
        Ok(exercise)
    }

    /// The file with the gap.
    pub fn source(&self) -> PathBuf {
        self.dir.join("exercise.rs")
    }

    /// A kernel that passes.
    pub fn solution(&self) -> PathBuf {
        self.dir.join("solution.rs")
    }

    /// The kernel that gives the expected results.
    pub fn reference(&self) -> PathBuf {
        self.dir.join("reference.rs")
    }

    /// How the file with the gap fails.
    ///
    /// # Errors
    ///
    /// The manifest names an unknown kind.
    pub fn unsolved(&self) -> Result<Expected, Error> {
        Expected::parse(&self.manifest.unsolved.fails)
            .map_err(|e| Error::format(&self.dir.join("exercise.toml"), e))
    }

    /// The kernels that must not pass, file by file.
    ///
    /// # Errors
    ///
    /// One of them does not say how it fails.
    pub fn cheats(&self) -> Result<Vec<Cheat>, Error> {
        let entries = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.retain(|path| {
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            let is_of_cheats = |stem: &str| stem == "cheats" || stem.starts_with("cheats_");
            stem.is_some_and(is_of_cheats) && path.extension().is_some_and(|e| e == "rs")
        });
        paths.sort();
        let mut cheats = Vec::new();
        for path in paths {
            let text = read(&path)?;
            cheats.extend(cheats_of(&path, &text).map_err(|e| Error::format(&path, e))?);
        }
        Ok(cheats)
    }
}

/// The kernels of a file, each with the line above it that says how it fails.
fn cheats_of(path: &Path, text: &str) -> Result<Vec<Cheat>, String> {
    let mut cheats = Vec::new();
    let mut fails = None;
    let mut is_kernel = false;
    for line in text.lines() {
        fails = line.strip_prefix(FAILS).or(fails);
        is_kernel |= line.starts_with("#[kernel");
        let Some((_, function)) = line.split_once("fn ").filter(|_| is_kernel) else {
            continue;
        };
        let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
        let end = function.find(|c| !is_of_name(c)).unwrap_or(function.len());
        let name = function[..end].to_owned();
        let fails = fails.take().ok_or_else(|| {
            format!(
                "a cheat must say how it fails: `{name}` lacks a line \
                 `{FAILS} race: words of the message`"
            )
        })?;
        let expected = Expected::parse(fails).map_err(|e| format!("`{name}`: {e}"))?;
        cheats.push(Cheat {
            path: path.into(),
            name,
            expected,
        });
        is_kernel = false;
    }
    Ok(cheats)
}

/// An exercise's name, which is that of its folder.
pub(crate) fn check_name(dir: &Path) -> Result<&str, Error> {
    let name = dir.file_name().and_then(|name| name.to_str());
    name.filter(|name| is_name(name)).ok_or_else(|| {
        Error::format(
            dir,
            "the name of an exercise's folder has only lower-case letters, digits and `_`",
        )
    })
}

/// Whether it can be a folder's, a file's and a cargo feature's name.
fn is_name(name: &str) -> bool {
    let is_known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    !name.is_empty() && name.chars().all(is_known)
}

impl Manifest {
    /// Checks that the manifest makes sense.
    fn check(&self) -> Result<(), String> {
        if self.case.is_empty() {
            return Err("there is no [[case]]: add one with the inputs of a run".to_owned());
        }
        if self.hints.is_empty() {
            return Err("`hints` is empty: a learner who is stuck needs at least one".to_owned());
        }
        self.check_arguments()?;
        self.check_claims()?;
        Expected::parse(&self.unsolved.fails)?;
        for kind in self.teach.iter().flat_map(|teach| &teach.on) {
            Expected::parse(kind)?;
        }
        for (index, case) in self.case.iter().enumerate() {
            self.check_case(case)
                .map_err(|e| format!("[[case]] {}: {e}", index + 1))?;
        }
        Ok(())
    }

    fn check_arguments(&self) -> Result<(), String> {
        let mut is_compared = false;
        for argument in &self.argument {
            let name = &argument.name;
            let (role, _) = argument.role().ok_or_else(|| {
                format!(
                    "the argument `{name}` needs one of `input`, `output`, `inout`, `scratch` and \
                     `scalar`, with its type: input = \"f32\""
                )
            })?;
            is_compared |= matches!(role, Role::Output | Role::Inout);
            let is_scalar = role == Role::Scalar;
            if is_scalar != argument.value.is_some() || is_scalar == argument.length.is_some() {
                return Err(match is_scalar {
                    true => format!("the number `{name}` needs a `value`, and no `length`"),
                    false => format!("the buffer `{name}` needs a `length`, and no `value`"),
                });
            }
            let is_filled = matches!(role, Role::Input | Role::Inout | Role::Scratch);
            if is_filled != argument.fill.is_some() {
                return Err(match is_filled {
                    true => {
                        format!("the buffer `{name}` needs a `fill`: fill = \"uniform(-1, 1)\"")
                    }
                    false => {
                        format!("`{name}` cannot have a `fill`: it is written before it is read")
                    }
                });
            }
            let is_size = argument.tolerance >= 0.0;
            if !is_size {
                return Err(format!(
                    "the tolerance of `{name}` is not a number of at least 0"
                ));
            }
        }
        match is_compared {
            true => Ok(()),
            false => Err("no argument is `output` or `inout`: what is compared?".to_owned()),
        }
    }

    fn check_claims(&self) -> Result<(), String> {
        let known = Counts::default().entries();
        for claim in &self.claim {
            for name in claim.count.iter().chain(&claim.per) {
                if !known.iter().any(|(known, _)| known == name) {
                    let meant = suggest::nearest(name, known.iter().map(|(known, _)| *known));
                    return Err(format!(
                        "there is no count `{name}`{} (`ptx_sim::Counts` has them all)",
                        suggest::question(meant)
                    ));
                }
            }
            if claim.count.is_empty() || claim.at_most.is_none() && claim.at_least.is_none() {
                return Err("a [[claim]] needs a `count`, and `at_most` or `at_least`".to_owned());
            }
        }
        let is_empty =
            |c: &&Contract| c.uses.is_empty() && c.never.is_empty() && c.shared_bytes.is_none();
        match self.contract.iter().find(is_empty) {
            Some(_) => Err("a [[contract]] needs `uses`, `never` or `shared_bytes`".to_owned()),
            None => Ok(()),
        }
    }

    /// Checks that all expressions have a value for a case.
    fn check_case(&self, case: &Variables) -> Result<(), String> {
        for geometry in std::iter::once(&self.launch).chain(&self.reference) {
            geometry.axes(&geometry.grid, case)?;
            geometry.axes(&geometry.block, case)?;
            geometry.axes(&geometry.cluster, case)?;
            geometry.shared_bytes(case)?;
        }
        for argument in &self.argument {
            argument.elements(case)?;
            let expressions = [&argument.value, &argument.columns];
            for expression in expressions.into_iter().flatten() {
                expression.value(case)?;
            }
        }
        for claim in &self.claim {
            for bound in [&claim.at_most, &claim.at_least].into_iter().flatten() {
                bound.value(case)?;
            }
            if let Some(when) = &claim.when {
                when.value(case)?;
            }
        }
        Ok(())
    }
}
