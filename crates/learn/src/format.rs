//! The form of `exercise.toml`.
//!
//! Unknown names are errors: otherwise a misspelt claim would never fail.

use crate::expression::{Expression, Variables};
use crate::values::{Fill, Number};
use serde::Deserialize;
use std::num::NonZeroU64;

/// What an exercise's file says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// What it is called in lists.
    pub title: String,
    /// One sentence: what the learner can do afterwards.
    pub goal: String,
    /// Where to read on: lessons, files, chapters.
    #[serde(default)]
    pub read: Vec<String>,
    /// The kernel's name.
    pub kernel: String,
    /// The architecture that it is compiled for.
    #[serde(default = "oldest_arch")]
    pub arch: String,
    /// The launch.
    pub launch: Geometry,
    /// The launch of `reference.rs`, if not one thread.
    pub reference: Option<Geometry>,
    /// The kernel's parameters, in order.
    pub argument: Vec<Argument>,
    /// Inputs to run it with, by their variables.
    pub case: Vec<Variables>,
    /// What it may cost.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// What its PTX must hold, and must not.
    #[serde(default)]
    pub contract: Vec<Contract>,
    /// How it is run.
    #[serde(default)]
    pub checks: Checks,
    /// What to say of a failure, by its kind.
    #[serde(default)]
    pub teach: Vec<Teach>,
    /// How the unsolved `exercise.rs` fails.
    pub unsolved: Unsolved,
    /// Hints, each giving away more than the one before.
    pub hints: Vec<String>,
    /// What to say once it is solved.
    pub solved: String,
}

fn oldest_arch() -> String {
    "sm_80".to_owned()
}

/// Grid, block and what goes with them. Axes that are left out are 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Geometry {
    /// Blocks in the grid.
    pub grid: Vec<Expression>,
    /// Threads in a block.
    pub block: Vec<Expression>,
    /// Dynamic shared memory of a block.
    pub shared_bytes: Option<Expression>,
    /// Blocks in a cluster.
    #[serde(default)]
    pub cluster: Vec<Expression>,
}

impl Geometry {
    /// The three sizes of a grid, a block or a cluster.
    ///
    /// # Errors
    ///
    /// One has no value, or is not a size; there are more than three.
    pub fn axes(&self, sizes: &[Expression], case: &Variables) -> Result<[u32; 3], String> {
        let mut axes = [1; 3];
        if sizes.len() > axes.len() {
            return Err("a grid, a block or a cluster has three axes at most".to_owned());
        }
        for (axis, size) in axes.iter_mut().zip(sizes) {
            let value = size.value(case)?;
            let value = u32::try_from(value).ok().filter(|value| *value > 0);
            *axis = value.ok_or_else(|| format!("`{}` is not a size", size.text()))?;
        }
        Ok(axes)
    }

    /// Dynamic shared memory of a block.
    ///
    /// # Errors
    ///
    /// It has no value, or is not a size.
    pub fn shared_bytes(&self, case: &Variables) -> Result<u32, String> {
        let Some(bytes) = &self.shared_bytes else {
            return Ok(0);
        };
        let value = u32::try_from(bytes.value(case)?);
        value.map_err(|_| format!("`{}` is not a number of bytes", bytes.text()))
    }
}

/// A parameter of the kernel: a buffer, or a number.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// Its name in messages; the kernel's own is best.
    pub name: String,
    /// A buffer that the kernel reads: an element's type. It must be left as it was.
    pub input: Option<Number>,
    /// A buffer that the kernel writes, and that is unwritten before.
    pub output: Option<Number>,
    /// A buffer that is filled, and that the kernel changes.
    pub inout: Option<Number>,
    /// A buffer that is filled, and not compared afterwards.
    pub scratch: Option<Number>,
    /// A number by value.
    pub scalar: Option<Number>,
    /// Elements of a buffer.
    pub length: Option<Expression>,
    /// How a buffer is filled.
    pub fill: Option<Fill>,
    /// The value of a number.
    pub value: Option<Expression>,
    /// How far a result may be off, relative to the expected value or to 1, whichever is
    /// larger; 0 by default.
    #[serde(default)]
    pub tolerance: f64,
    /// Columns of a matrix: results are then named by row and column.
    pub columns: Option<Expression>,
}

/// Most elements of a buffer: more take longer to simulate than a learner waits.
const MAX_LENGTH: usize = 1 << 24;

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Read only.
    Input,
    /// Written only.
    Output,
    /// Read and written.
    Inout,
    /// Read and written, and not compared afterwards.
    Scratch,
    /// By value.
    Scalar,
}

impl Argument {
    /// Its role, and the type of its elements; none unless it has exactly one role.
    pub fn role(&self) -> Option<(Role, Number)> {
        let roles = [
            (Role::Input, self.input),
            (Role::Output, self.output),
            (Role::Inout, self.inout),
            (Role::Scratch, self.scratch),
            (Role::Scalar, self.scalar),
        ];
        let mut said = roles.into_iter().filter_map(|(role, ty)| Some((role, ty?)));
        said.next().filter(|_| said.next().is_none())
    }

    /// Elements of a buffer in a case.
    ///
    /// # Errors
    ///
    /// The length has no value, or is out of range.
    pub fn elements(&self, case: &Variables) -> Result<usize, String> {
        let Some(length) = &self.length else {
            return Ok(0);
        };
        let value = usize::try_from(length.value(case)?).ok();
        value
            .filter(|value| *value <= MAX_LENGTH)
            .ok_or_else(|| format!("`{}` is not a length from 0 to {MAX_LENGTH}", length.text()))
    }
}

/// A bound on counts of a launch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Names of counts, which are added up.
    pub count: Vec<String>,
    /// Counts that the sum is divided by; without them, the claim is about the whole launch.
    #[serde(default)]
    pub per: Vec<String>,
    /// The sum is no larger.
    pub at_most: Option<Bound>,
    /// The sum is no smaller.
    pub at_least: Option<Bound>,
    /// The cases that it is about: those for which this is not 0.
    pub when: Option<Expression>,
    /// What it teaches if it is not met.
    pub why: String,
}

/// A number, or an expression in the case's variables.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a number, or an expression as text")]
pub enum Bound {
    /// A number with a fraction.
    Fraction(f64),
    /// A whole number.
    Whole(Expression),
}

impl Bound {
    /// Its value for a case.
    ///
    /// # Errors
    ///
    /// As [`Expression::value`].
    pub fn value(&self, variables: &Variables) -> Result<f64, String> {
        match self {
            Self::Fraction(number) => Ok(*number),
            Self::Whole(expression) => expression.value(variables).map(|value| value as f64),
        }
    }
}

/// What a kernel's PTX must hold, or must not.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// At least one instruction begins with one of these, in whole words: an opcode, with its first
    /// operand if that is a number (`cp.async.wait_group 1`).
    #[serde(default)]
    pub uses: Vec<String>,
    /// No instruction begins with one of these.
    #[serde(default)]
    pub never: Vec<String>,
    /// The kernel's static shared memory is no larger, in bytes.
    pub shared_bytes: Option<u32>,
    /// What it teaches if it is not met.
    pub why: String,
}

/// How a kernel is run, in addition to the simulator's checks, which are always on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checks {
    /// Other orders of blocks, warps and lanes to try.
    #[serde(default)]
    pub schedules: u64,
    /// Warp instructions that a launch may take; two million by default.
    pub fuel: Option<NonZeroU64>,
}

/// What to say of a kind of failure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Teach {
    /// Kinds of failure, which verdicts begin with.
    pub on: Vec<String>,
    /// The text for the learner.
    pub say: String,
}

/// How the file with the gap fails.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unsolved {
    /// The kind of failure, and words of its message: `race: tile`.
    pub fails: String,
}
