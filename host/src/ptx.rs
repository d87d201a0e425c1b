//! The kernels' PTX, compiled by `build.rs` and part of the program.

use crate::engine::PtxModule;

/// The architecture that the base module is compiled for: 80 for sm_80.
pub const BASE_SM: u32 = 80;

/// The kernels for sm_80 and everything later.
pub const BASE: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"));

/// The embedded modules, in the order in which an engine looks for an entry.
pub fn modules() -> Vec<PtxModule> {
    vec![PtxModule {
        name: "kernels.ptx (sm_80)".into(),
        text: BASE.into(),
    }]
}

/// The text of one kernel in `module`, from its entry's comments to its closing brace.
pub fn kernel_text<'m>(module: &'m str, entry: &str) -> Option<&'m str> {
    let start = entry_offset(module, entry)?;
    let end = module[start..].find("\n}")? + start + 2;
    Some(&module[start..end])
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
    use super::{entries, header, kernel_text};

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
\tret;
}
";

    #[test]
    fn finds_entries() {
        assert_eq!(entries(MODULE).collect::<Vec<_>>(), ["first", "second"]);
    }

    #[test]
    fn cuts_out_one_kernel() {
        let second = kernel_text(MODULE, "second").expect("it is there");
        assert_eq!(
            second,
            ".visible .entry second()\n.maxntid 256\n{\n\tret;\n}"
        );
        assert_eq!(kernel_text(MODULE, "secon"), None);
    }

    #[test]
    fn header_ends_before_functions() {
        assert!(header(MODULE).starts_with(".version") && !header(MODULE).contains("first"));
    }
}
