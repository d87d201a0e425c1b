//! Launch bounds: from `cuda_std`'s comments to PTX directives.
//!
//! rustc has no attribute that LLVM would turn into `.maxntid` and
//! `.minnctapersm`. So `#[kernel(launch_bounds(256, 2))]` leaves the comment
//! `// lockstep.launch_bounds NAME 256 2` in the module (0 blocks: not given),
//! and [`apply`] writes the directives into the head of `NAME`'s entry.

use crate::comments::{self, UnreadableComment};
use std::collections::BTreeMap;

const MARKER: &str = "// lockstep.launch_bounds ";

/// A launch bound without an entry, or one that cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchBoundsError {
    /// The comment is not what this module expects from `cuda_std`.
    #[error(transparent)]
    Unreadable(#[from] UnreadableComment),
    /// The module has no entry of that name.
    #[error("launch bounds are given for kernel `{kernel}`, which is not in the PTX")]
    NoEntry {
        /// The kernel's name.
        kernel: String,
    },
}

/// `ptx` with the directives that its launch bound comments ask for.
///
/// The comments stay, and a module without any is returned unchanged.
pub fn apply(ptx: &str) -> Result<String, LaunchBoundsError> {
    let wanted = comments::read(ptx, MARKER, "launch bounds", directives)?;
    let mut wanted = BTreeMap::from_iter(wanted);
    let mut out = String::with_capacity(ptx.len() + 64 * wanted.len());
    // The directives of the entry whose head is being read.
    let mut pending = None;
    for line in ptx.split_inclusive('\n') {
        if let Some(kernel) = entry_name(line) {
            pending = wanted.remove(kernel);
        }
        if line.starts_with('{')
            && let Some(directives) = pending.take()
        {
            out.push_str(&directives);
        }
        out.push_str(line);
    }
    match wanted.into_keys().next() {
        Some(kernel) => Err(LaunchBoundsError::NoEntry {
            kernel: kernel.to_string(),
        }),
        None => Ok(out),
    }
}

/// `NAME THREADS BLOCKS` as the kernel's name and the lines to write.
fn directives(bounds: &str) -> Option<(&str, String)> {
    let mut words = bounds.split_ascii_whitespace();
    let (kernel, max_threads, min_blocks) = (words.next()?, words.next()?, words.next()?);
    let max_threads: u32 = max_threads.parse().ok()?;
    let min_blocks: u32 = min_blocks.parse().ok()?;
    if words.next().is_some() {
        return None;
    }
    let mut lines = format!(".maxntid {max_threads}\n");
    if min_blocks > 0 {
        lines += &format!(".minnctapersm {min_blocks}\n");
    }
    Some((kernel, lines))
}

/// The entry that a line begins: `.visible .entry NAME(`.
pub(crate) fn entry_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once(".entry ")?;
    if before.contains("//") {
        return None;
    }
    after.split_once('(').map(|(name, _)| name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
.version 8.6
// lockstep.launch_bounds sum 256 2
// lockstep.launch_bounds go 1024 0

.visible .entry sum(
\t.param .u64 sum_param_0
)
{
\tret;
}
.visible .entry go()
{
\tret;
}
.visible .entry sum_all()
{
}
";

    #[test]
    fn directives_stand_between_parameters_and_body() {
        let out = apply(MODULE).unwrap();
        assert!(out.contains(")\n.maxntid 256\n.minnctapersm 2\n{"), "{out}");
        assert!(out.contains(".entry go()\n.maxntid 1024\n{"), "{out}");
        assert!(out.contains(".entry sum_all()\n{"), "{out}");
    }

    #[test]
    fn nothing_else_changes() {
        let added = [".maxntid", ".minnctapersm"];
        let out = apply(MODULE).unwrap();
        let rest: Vec<_> = out
            .lines()
            .filter(|line| !added.iter().any(|a| line.starts_with(a)))
            .collect();
        assert_eq!(rest, MODULE.lines().collect::<Vec<_>>());
        assert_eq!(apply(".version 8.6\n"), Ok(".version 8.6\n".to_string()));
    }

    #[test]
    fn a_bound_without_entry_is_refused() {
        let error = apply("// lockstep.launch_bounds gone 32 0\n").unwrap_err();
        assert_eq!(
            error,
            LaunchBoundsError::NoEntry {
                kernel: "gone".to_string()
            }
        );
    }

    #[test]
    fn a_comment_that_cannot_be_read_is_refused() {
        for line in ["sum", "sum 32", "sum many 0", "sum 32 0 0", "sum -1 0"] {
            let error = apply(&format!("{MARKER}{line}\n")).unwrap_err();
            assert!(
                matches!(error, LaunchBoundsError::Unreadable { .. }),
                "{line}: {error}"
            );
        }
    }
}
