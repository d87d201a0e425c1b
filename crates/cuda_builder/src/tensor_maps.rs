//! Tensor maps as parameters: their alignment.
//!
//! The copy engine accepts a map only at an address that is a multiple of 64. rustc 1.97 rejects
//! parameters that are aligned to more than 16 bytes, so `#[kernel]` declares a map of `NAME` as
//! aligned to 16, leaves the comment `// lockstep.tensor_map NAME INDEX` in the module, and
//! [`apply`] writes `.align 64` into the head of `NAME`'s entry. Parameters of other types are
//! unchanged.

use crate::comments::{self, UnreadableComment};
use crate::launch_bounds::entry_name;
use std::collections::BTreeSet;

const MARKER: &str = "// lockstep.tensor_map ";

/// A tensor map that is not a parameter in the PTX, or that cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TensorMapError {
    /// The comment is not what this module expects from `cuda_std`.
    #[error(transparent)]
    Unreadable(#[from] UnreadableComment),
    /// The module lacks the entry or its parameter, or has it in another form than rustc's.
    #[error(
        "parameter {index} of kernel `{kernel}` is a tensor map, \
         but the PTX has no such parameter of 128 bytes: \
         do cuda_std and cuda_builder have the same version?"
    )]
    NoParameter {
        /// The kernel's name.
        kernel: String,
        /// The parameter's number, from 0.
        index: u32,
    },
}

/// `ptx` with the alignment that its tensor maps need.
///
/// The comments stay, and a module without any is returned unchanged.
pub fn apply(ptx: &str) -> Result<String, TensorMapError> {
    let wanted = comments::read(ptx, MARKER, "tensor map", kernel_and_index)?;
    let mut wanted = BTreeSet::from_iter(wanted);
    if wanted.is_empty() {
        return Ok(ptx.to_string());
    }

    let mut out = String::with_capacity(ptx.len());
    let mut entry = "";
    for line in ptx.split_inclusive('\n') {
        entry = entry_name(line).unwrap_or(entry);
        match aligned(line, entry) {
            Some((index, aligned)) if wanted.remove(&(entry, index)) => out.push_str(&aligned),
            _ => out.push_str(line),
        }
    }
    match wanted.pop_first() {
        Some((kernel, index)) => Err(TensorMapError::NoParameter {
            kernel: kernel.to_string(),
            index,
        }),
        None => Ok(out),
    }
}

/// `NAME INDEX`.
fn kernel_and_index(map: &str) -> Option<(&str, u32)> {
    let mut words = map.split_ascii_whitespace();
    let (kernel, index) = (words.next()?, words.next()?.parse().ok()?);
    words.next().is_none().then_some((kernel, index))
}

/// The parameter of `entry` that a line declares, if it may be a map, and the line with a
/// map's alignment: `.param .align 16 .b8 NAME_param_0[128]`.
fn aligned(line: &str, entry: &str) -> Option<(u32, String)> {
    let before = line.find(".param .align 16 .b8 ")?;
    let (head, declared) = line.split_at(before);
    let name = declared.strip_prefix(".param .align 16 .b8 ")?;
    let index = name.strip_prefix(entry)?.strip_prefix("_param_")?;
    let (index, rest) = index.split_once("[128]")?;
    let aligned = format!("{head}.param .align 64 .b8 {entry}_param_{index}[128]{rest}");
    Some((index.parse().ok()?, aligned))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
.version 8.6
// lockstep.tensor_map gemm 0
// lockstep.tensor_map gemm 2
// lockstep.tensor_map gemm_small 0

.visible .entry gemm(
\t.param .align 16 .b8 gemm_param_0[128],
\t.param .align 16 .b8 gemm_param_1[128],
\t.param .align 16 .b8 gemm_param_2[128],
\t.param .u64 .ptr .global .align 4 gemm_param_3
)
{
\tmov.b64 own, gemm_param_0;
\tret;
}
.visible .entry gemm_small(
\t.param .align 16 .b8 gemm_small_param_0[128]
)
{
\tret;
}
.visible .entry other(
\t.param .align 16 .b8 other_param_0[128]
)
{
\tret;
}
";

    #[test]
    fn maps_are_aligned_and_nothing_else_is() {
        let out = apply(MODULE).unwrap();
        let changed: Vec<_> = out
            .lines()
            .zip(MODULE.lines())
            .filter(|(now, before)| now != before)
            .map(|(now, _)| now)
            .collect();
        let expected = [
            "\t.param .align 64 .b8 gemm_param_0[128],",
            "\t.param .align 64 .b8 gemm_param_2[128],",
            "\t.param .align 64 .b8 gemm_small_param_0[128]",
        ];
        assert_eq!(changed, expected);
        assert_eq!(out.lines().count(), MODULE.lines().count());
        assert_eq!(apply(".version 8.6\n"), Ok(".version 8.6\n".to_string()));
    }

    #[test]
    fn a_map_that_is_no_parameter_is_refused() {
        for (map, kernel, index) in [("gone 0", "gone", 0), ("gemm 3", "gemm", 3)] {
            let error = apply(&format!("{MARKER}{map}\n{MODULE}")).unwrap_err();
            let kernel = kernel.to_string();
            assert_eq!(error, TensorMapError::NoParameter { kernel, index });
        }
    }

    #[test]
    fn a_comment_that_cannot_be_read_is_refused() {
        for line in ["gemm", "gemm many", "gemm 0 0", "gemm -1"] {
            let error = apply(&format!("{MARKER}{line}\n")).unwrap_err();
            assert!(
                matches!(error, TensorMapError::Unreadable { .. }),
                "{line}: {error}"
            );
        }
    }
}
