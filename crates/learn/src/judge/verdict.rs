//! The verdict that a learner reads.

use crate::format::Manifest;
use crate::kinds::KINDS;

/// The judge's verdict on a kernel.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Everything is as it should be.
    Passed(Passed),
    /// Something is not.
    Failed(Failure),
}

/// A kernel that passed.
#[derive(Clone, Debug)]
pub struct Passed {
    /// Cases that it was run with.
    pub n_cases: usize,
    /// Other orders that each of them was run in.
    pub n_orders: u64,
    /// The inputs of the last case, by their variables.
    pub case: Option<String>,
    /// What was claimed, and counted, in the last case.
    pub counts: Vec<String>,
    /// What its threads printed.
    pub printed: Vec<String>,
}

/// The first failed check.
#[derive(Clone, Debug)]
pub struct Failure {
    /// One of [`KINDS`].
    pub kind: &'static str,
    /// The inputs with which it shows, by their variables.
    pub case: Option<String>,
    /// What was seen, and what was expected.
    pub message: String,
    /// The learner's lines that it is about.
    pub excerpt: Option<String>,
    /// What there is to learn from it.
    pub why: Option<String>,
    /// What the threads of that case had printed.
    pub printed: Vec<String>,
}

impl From<Failure> for Verdict {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// The inputs of a case, by their variables.
pub(crate) fn case_of(manifest: &Manifest, case: usize) -> Option<String> {
    let variables = manifest.case[case].iter();
    let words: Vec<String> = variables
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    // A case without variables differs from others by its random numbers alone.
    Some(words.join(", ")).filter(|words| !words.is_empty())
}

impl Failure {
    /// A failure of a kind, with what was seen.
    pub(crate) fn new(kind: &'static str, message: impl Into<String>) -> Self {
        debug_assert!(KINDS.contains(&kind), "{kind}");
        Self {
            kind,
            case: None,
            message: message.into(),
            excerpt: None,
            why: None,
            printed: Vec::new(),
        }
    }

    /// The failure of sources that do not compile.
    pub fn compile(rendered: String, manifest: &Manifest) -> Self {
        Self::new("compile", rendered.trim_end()).taught(manifest)
    }

    /// Adds the inputs with which it shows.
    pub(crate) fn in_case(mut self, manifest: &Manifest, case: usize) -> Self {
        self.case = case_of(manifest, case);
        self
    }

    /// Adds what the threads had printed.
    pub(crate) fn after_printing(mut self, printed: &[String]) -> Self {
        self.printed = printed.to_vec();
        self
    }

    /// Adds what the exercise says about such failures, unless it is there already.
    pub(crate) fn taught(mut self, manifest: &Manifest) -> Self {
        let mut teach = manifest.teach.iter();
        let meant = teach.find(|teach| teach.on.iter().any(|kind| kind == self.kind));
        self.why = self
            .why
            .or_else(|| meant.map(|teach| teach.say.trim().to_owned()));
        self
    }

    /// The whole verdict in one text.
    pub fn text(&self) -> String {
        let parts = [
            Some(&self.message),
            self.excerpt.as_ref(),
            self.why.as_ref(),
        ];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        parts.join("\n\n")
    }
}
