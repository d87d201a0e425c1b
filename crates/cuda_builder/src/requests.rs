//! Requests of `cuda_std`'s macros that rustc cannot express. They are comments in the PTX, and
//! [`apply`] writes what each asks for:
//!
//! | comment | written |
//! |---|---|
//! | `// lockstep.launch_bounds NAME THREADS BLOCKS` | `.maxntid` and, unless `BLOCKS` is 0, `.minnctapersm` in the head of `NAME`'s entry |
//! | `// lockstep.tensor_map NAME INDEX` | `.align 64` for a parameter of `NAME`'s entry: TMA accepts a map only there, and rustc 1.97 rejects parameters that are aligned to more than 16 bytes |
//! | `// lockstep.shared_static SYMBOL BYTES ALIGN` | a variable in shared memory: assembly in a function, where its address is computed, cannot declare one for the module |
//!
//! The comments stay, and PTX without any is returned unchanged.

use std::collections::{BTreeMap, BTreeSet};

/// The beginning of the name of a static in shared memory, an external variable without a size. Uses
/// of the shared one leave nothing of it in the PTX.
const STATIC: &str = "LOCKSTEP_SHARED_STATIC_";

/// A request that cannot be met.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The comment is not what this crate expects from `cuda_std`.
    #[error(
        "cannot read the {subject} in `{line}`: \
         do cuda_std and cuda_builder have the same version?"
    )]
    Unreadable {
        /// What it is about.
        subject: &'static str,
        /// The comment.
        line: String,
    },
    /// The module has no entry of that name.
    #[error("launch bounds are given for kernel `{kernel}`, which is not in the PTX")]
    NoEntry {
        /// The kernel's name.
        kernel: String,
    },
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
    /// The address of a static itself is in the PTX.
    #[error(
        "the address of `{name}`, which is `#[address_space(shared)]`, is cast to another pointer \
         type: it is not in shared memory. Take the array's pointer instead: \
         `(*(&raw mut {name})).as_mut_ptr()`"
    )]
    Address {
        /// The static's name.
        name: String,
    },
}

/// `ptx` with what its comments ask for.
pub fn apply(ptx: &str) -> Result<String, RequestError> {
    if let Some(name) = ptx.lines().find_map(shared_static) {
        return Err(RequestError::Address { name: name.into() });
    }
    let bounds = read(ptx, "launch_bounds", "launch bounds", directives)?;
    let mut bounds = BTreeMap::from_iter(bounds);
    let mut maps = BTreeSet::from_iter(read(ptx, "tensor_map", "tensor map", |words| {
        let [kernel, index] = words;
        Some((kernel, index.parse::<u32>().ok()?))
    })?);
    let statics = read(ptx, "shared_static", "shared static", declaration)?;
    let statics: String = BTreeMap::from_iter(statics).into_values().collect();

    let mut out = String::with_capacity(ptx.len() + 64 * bounds.len() + statics.len());
    let mut entry = "";
    for line in ptx.split_inclusive('\n') {
        entry = entry_name(line).unwrap_or(entry);
        if line.starts_with('{') {
            out.extend(bounds.remove(entry));
        }
        match aligned(line, entry) {
            Some((index, aligned)) if maps.remove(&(entry, index)) => out.push_str(&aligned),
            _ => out.push_str(line),
        }
        if line.starts_with(".address_size") {
            out.push_str(&statics);
        }
    }
    if let Some(kernel) = bounds.into_keys().next() {
        let kernel = kernel.to_owned();
        return Err(RequestError::NoEntry { kernel });
    }
    if let Some((kernel, index)) = maps.pop_first() {
        let kernel = kernel.to_owned();
        return Err(RequestError::NoParameter { kernel, index });
    }
    Ok(out)
}

/// What the comments by this name ask for, in the module's order. `parse` gets the words of one.
fn read<'a, T, const N: usize>(
    ptx: &'a str,
    name: &str,
    subject: &'static str,
    parse: impl Fn([&'a str; N]) -> Option<T>,
) -> Result<Vec<T>, RequestError> {
    let marker = format!("// lockstep.{name} ");
    let comments = ptx.lines().map(str::trim);
    let comments = comments.filter_map(|line| Some((line, line.strip_prefix(&marker)?)));
    let requests = comments.map(|(line, words)| {
        let words: Vec<_> = words.split_ascii_whitespace().collect();
        let request = words.try_into().ok().and_then(&parse);
        let line = line.to_owned();
        request.ok_or(RequestError::Unreadable { subject, line })
    });
    requests.collect()
}

/// `NAME THREADS BLOCKS` as the kernel's name and the lines to write.
fn directives([kernel, max_threads, min_blocks]: [&str; 3]) -> Option<(&str, String)> {
    let (max_threads, min_blocks): (u32, u32) =
        (max_threads.parse().ok()?, min_blocks.parse().ok()?);
    let mut lines = format!(".maxntid {max_threads}\n");
    if min_blocks > 0 {
        lines += &format!(".minnctapersm {min_blocks}\n");
    }
    Some((kernel, lines))
}

/// `SYMBOL BYTES ALIGN` as the symbol and the line to write.
fn declaration([symbol, bytes, align]: [&str; 3]) -> Option<(&str, String)> {
    let (bytes, align): (u64, u64) = (bytes.parse().ok()?, align.parse().ok()?);
    // PTX has no arrays without elements.
    let bytes = bytes.max(1);
    let line = format!(".shared .align {align} .b8 {symbol}[{bytes}];\n");
    Some((symbol, line))
}

/// The entry that a line begins: `.visible .entry NAME(`.
pub(crate) fn entry_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once(".entry ")?;
    if before.contains("//") {
        return None;
    }
    after.split_once('(').map(|(name, _)| name.trim())
}

/// The parameter of `entry` that a line declares, if it may be a map, and the line with a
/// map's alignment: `.param .align 16 .b8 NAME_param_0[128]`.
fn aligned(line: &str, entry: &str) -> Option<(u32, String)> {
    let (head, declared) = line.split_once(".param .align 16 .b8 ")?;
    let index = declared.strip_prefix(entry)?.strip_prefix("_param_")?;
    let (index, _) = index.split_once("[128]")?;
    let aligned = format!("{head}.param .align 64 .b8 {declared}");
    Some((index.parse().ok()?, aligned))
}

/// The static in shared memory that a line names.
fn shared_static(line: &str) -> Option<&str> {
    let (_, name) = line.split_once(STATIC)?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
    Some(&name[..end.unwrap_or(name.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
.version 8.6
.target sm_90
.address_size 64
// lockstep.launch_bounds gemm 256 2
// lockstep.launch_bounds go 1024 0
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
\t// lockstep.shared_static kernels_shared_static_1 1024 4
\tmov.u64 variable, kernels_shared_static_1;
\t// lockstep.shared_static kernels_shared_static_0 0 16
\t// lockstep.shared_static kernels_shared_static_1 1024 4
\tret;
}
.visible .entry gemm_small(
\t.param .align 16 .b8 gemm_small_param_0[128]
)
{
\tret;
}
.visible .entry go()
{
\tret;
}
.visible .entry other(
\t.param .align 16 .b8 other_param_0[128]
)
{
}
";

    #[test]
    fn requests_are_met_and_nothing_else_changes() {
        let mut expected = MODULE.to_owned();
        for (before, after) in [
            (
                ".address_size 64\n",
                ".address_size 64\n\
                 .shared .align 16 .b8 kernels_shared_static_0[1];\n\
                 .shared .align 4 .b8 kernels_shared_static_1[1024];\n",
            ),
            (".align 16 .b8 gemm_param_0", ".align 64 .b8 gemm_param_0"),
            (".align 16 .b8 gemm_param_2", ".align 64 .b8 gemm_param_2"),
            (".align 16 .b8 gemm_small", ".align 64 .b8 gemm_small"),
            (
                "gemm_param_3\n)\n",
                "gemm_param_3\n)\n.maxntid 256\n.minnctapersm 2\n",
            ),
            (".entry go()\n", ".entry go()\n.maxntid 1024\n"),
        ] {
            expected = expected.replacen(before, after, 1);
        }
        assert_eq!(apply(MODULE), Ok(expected));
        let without = ".version 8.6\n.address_size 64\n";
        assert_eq!(apply(without), Ok(without.to_owned()));
    }

    #[test]
    fn what_cannot_be_met_is_refused() {
        let kernel = |name: &str| name.to_owned();
        for (line, expected) in [
            (
                "// lockstep.launch_bounds gone 32 0",
                RequestError::NoEntry {
                    kernel: kernel("gone"),
                },
            ),
            (
                "// lockstep.tensor_map gone 0",
                RequestError::NoParameter {
                    kernel: kernel("gone"),
                    index: 0,
                },
            ),
            (
                "// lockstep.tensor_map gemm 3",
                RequestError::NoParameter {
                    kernel: kernel("gemm"),
                    index: 3,
                },
            ),
            (
                "\tmov.b64 %rd1, LOCKSTEP_SHARED_STATIC_TILE_2;",
                RequestError::Address {
                    name: "TILE_2".into(),
                },
            ),
        ] {
            assert_eq!(apply(&format!("{line}\n{MODULE}")), Err(expected), "{line}");
        }
    }

    #[test]
    fn a_comment_that_cannot_be_read_is_refused() {
        for (name, words) in [
            (
                "launch_bounds",
                &["go", "go 32", "go many 0", "go 32 0 0", "go -1 0"][..],
            ),
            ("tensor_map", &["gemm", "gemm many", "gemm 0 0", "gemm -1"]),
            ("shared_static", &["a", "a 4", "a four 4", "a 4 4 4"]),
        ] {
            for words in words {
                let line = format!("// lockstep.{name} {words}");
                let error = apply(&format!("{line}\n")).unwrap_err();
                let is_unreadable = matches!(error, RequestError::Unreadable { .. });
                assert!(is_unreadable, "{line}: {error}");
            }
        }
    }
}
