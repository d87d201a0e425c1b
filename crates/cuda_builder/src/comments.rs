//! Comments in PTX by which `cuda_std`'s macros ask for what rustc cannot express:
//! `// lockstep.SUBJECT WORDS`.

/// A comment that is not what this crate expects from `cuda_std`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot read the {subject} in `{line}`: \
     do cuda_std and cuda_builder have the same version?"
)]
pub struct UnreadableComment {
    subject: &'static str,
    line: String,
}

/// What the comments that begin with `marker` ask for, in the module's order. `parse` reads the rest
/// of one, and `subject` is what people read about one that it cannot.
pub(crate) fn read<'a, T>(
    ptx: &'a str,
    marker: &str,
    subject: &'static str,
    parse: impl Fn(&'a str) -> Option<T>,
) -> Result<Vec<T>, UnreadableComment> {
    let comments = ptx
        .lines()
        .filter_map(|line| Some((line, line.trim_start().strip_prefix(marker)?)));
    comments
        .map(|(line, words)| {
            parse(words).ok_or_else(|| UnreadableComment {
                subject,
                line: line.trim().to_owned(),
            })
        })
        .collect()
}
