//! The kernels' PTX, compiled by `build.rs` and part of the program.

use crate::engine::PtxModule;

/// The architecture that the base module is compiled for: 80 for sm_80.
pub const BASE_SM: u32 = 80;

/// The kernels for sm_80 and everything later.
pub const BASE: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"));

/// The same compiled for sm_90a, with the kernels that only Hopper can run.
pub const HOPPER: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.sm_90a.ptx"));

/// The embedded modules, in the order in which an engine looks for an entry.
pub fn modules() -> Vec<PtxModule> {
    vec![
        PtxModule {
            name: "kernels.ptx".into(),
            text: BASE.into(),
        },
        PtxModule {
            name: "kernels.sm_90a.ptx".into(),
            text: HOPPER.into(),
        },
    ]
}

/// The architecture that a module's `.target` names: its number, and whether it
/// runs on that one alone (`sm_90a`) or on all later ones too (`sm_90`).
pub fn target(module: &str) -> Option<(u32, bool)> {
    let line = module
        .lines()
        .find_map(|line| line.trim().strip_prefix(".target"))?;
    let name = line.trim().split([',', ' ']).next()?.strip_prefix("sm_")?;
    let digits = name.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    Some((digits.parse().ok()?, digits.len() != name.len()))
}

/// The text of one kernel in `module`, from its entry's comments to its closing brace.
pub fn kernel_text<'m>(module: &'m str, entry: &str) -> Option<&'m str> {
    let start = entry_offset(module, entry)?;
    let end = start + body_end(&module[start..])?;
    Some(&module[start..end])
}

/// Offset after the brace that closes the first one. Inline assembly and vector
/// operands bring braces of their own.
fn body_end(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let code = line.split("//").next().unwrap_or(line);
        for (index, character) in code.char_indices() {
            match character {
                '{' => depth += 1,
                '}' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(offset + index + 1);
                    }
                }
                _ => {}
            }
        }
        offset += line.len();
    }
    None
}

/// What stands before the first function: version, target, variables.
pub fn header(module: &str) -> &str {
    let first = [".func", ".entry"]
        .iter()
        .flat_map(|directive| module.find(directive))
        .min()
        .unwrap_or(module.len());
    // Back to the start of that line.
    let end = module[..first].rfind('\n').map_or(0, |newline| newline + 1);
    &module[..end]
}

/// Names of the entries of `module`, in its order.
pub fn entries(module: &str) -> impl Iterator<Item = &str> {
    module.lines().filter_map(|line| {
        let code = line.split("//").next().unwrap_or(line);
        let (_, after) = code.split_once(".entry ")?;
        let name = after.trim_start();
        let end = name
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'))
            .unwrap_or(name.len());
        Some(&name[..end])
    })
}

/// Where the line of the entry starts.
fn entry_offset(module: &str, entry: &str) -> Option<usize> {
    let mut offset = 0;
    for line in module.split_inclusive('\n') {
        if entries(line).next() == Some(entry) {
            return Some(offset);
        }
        offset += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{entries, header, kernel_text, target};

    const MODULE: &str = "\
.version 8.6
.target sm_80
.address_size 64

// .entry not_this(
.visible .entry first(
\t.param .u64 first_param_0
)
{
\tret;
}
.visible .entry second()
.maxntid 256
{
\t{ // inline assembly, with a brace } in a comment
mov.b64 {%r1, %r2}, %rd1;
}
\tret;
}
";

    #[test]
    fn reads_the_target() {
        assert_eq!(target(MODULE), Some((80, false)));
        assert_eq!(target(".target sm_90a, debug"), Some((90, true)));
        assert_eq!(target("nothing"), None);
    }

    #[test]
    fn finds_entries() {
        assert_eq!(entries(MODULE).collect::<Vec<_>>(), ["first", "second"]);
    }

    #[test]
    fn cuts_out_one_kernel() {
        let second = kernel_text(MODULE, "second").expect("it is there");
        assert!(
            second.starts_with(".visible .entry second()\n.maxntid 256\n{"),
            "{second}"
        );
        assert!(second.ends_with("\tret;\n}"), "{second}");
        assert_eq!(kernel_text(MODULE, "secon"), None);
    }

    #[test]
    fn header_ends_before_functions() {
        assert!(header(MODULE).starts_with(".version") && !header(MODULE).contains("first"));
    }
}
