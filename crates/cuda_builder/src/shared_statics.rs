//! Static variables in shared memory: from `cuda_std`'s comments to PTX declarations.
//!
//! `#[address_space(shared)]` computes a variable's address in the function that uses it, where
//! assembly cannot declare one for the module. So it leaves the comment
//! `// lockstep.shared_static SYMBOL BYTES ALIGN` at each use, and [`apply`] declares `SYMBOL`.

use crate::comments::{self, UnreadableComment};
use std::collections::BTreeMap;

const MARKER: &str = "// lockstep.shared_static ";

/// The beginning of the name of the static itself, an external variable without a size. Uses of the
/// shared one leave nothing of it in the PTX.
const NAME: &str = "LOCKSTEP_SHARED_STATIC_";

/// A variable that cannot be declared, or one that is used in the wrong way.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SharedStaticError {
    /// The comment is not what this module expects from `cuda_std`.
    #[error(transparent)]
    Unreadable(#[from] UnreadableComment),
    /// The address of the static itself is in the PTX.
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

/// `ptx` with the variables that its comments name.
///
/// The comments stay, and a module without any is returned unchanged.
pub fn apply(ptx: &str) -> Result<String, SharedStaticError> {
    if let Some(name) = ptx.lines().find_map(named) {
        return Err(SharedStaticError::Address { name: name.into() });
    }
    let wanted = comments::read(ptx, MARKER, "shared static", declaration)?;
    let declarations: String = BTreeMap::from_iter(wanted).into_values().collect();
    let mut out = String::with_capacity(ptx.len() + declarations.len());
    for line in ptx.split_inclusive('\n') {
        out.push_str(line);
        if line.starts_with(".address_size") {
            out.push_str(&declarations);
        }
    }
    Ok(out)
}

/// `SYMBOL BYTES ALIGN` as the symbol and the line to write.
fn declaration(variable: &str) -> Option<(&str, String)> {
    let mut words = variable.split_ascii_whitespace();
    let (symbol, bytes, align) = (words.next()?, words.next()?, words.next()?);
    let bytes: u64 = bytes.parse().ok()?;
    let align: u64 = align.parse().ok()?;
    if words.next().is_some() {
        return None;
    }
    // PTX has no arrays without elements.
    let bytes = bytes.max(1);
    let line = format!(".shared .align {align} .b8 {symbol}[{bytes}];\n");
    Some((symbol, line))
}

/// The static that a line names.
fn named(line: &str) -> Option<&str> {
    let (_, name) = line.split_once(NAME)?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
    Some(&name[..end.unwrap_or(name.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
.version 7.8
.target sm_80
.address_size 64

.visible .entry sum()
{
\t// lockstep.shared_static kernels_shared_static_1 1024 4
\tmov.u64 variable, kernels_shared_static_1;
\t// lockstep.shared_static kernels_shared_static_0 0 16
\t// lockstep.shared_static kernels_shared_static_1 1024 4
}
";

    #[test]
    fn a_variable_is_declared_once_and_before_its_uses() {
        let out = apply(MODULE).unwrap();
        let head = ".address_size 64\n\
             .shared .align 16 .b8 kernels_shared_static_0[1];\n\
             .shared .align 4 .b8 kernels_shared_static_1[1024];\n\n";
        assert!(out.contains(head), "{out}");
        let rest = out.lines().filter(|line| !line.starts_with(".shared"));
        assert!(rest.eq(MODULE.lines()), "{out}");
    }

    #[test]
    fn a_module_without_them_is_unchanged() {
        let module = ".version 7.8\n.address_size 64\n";
        assert_eq!(apply(module), Ok(module.to_string()));
    }

    #[test]
    fn the_statics_own_address_is_refused() {
        let line = "\tmov.b64 %rd1, LOCKSTEP_SHARED_STATIC_TILE_2;\n";
        let expected = SharedStaticError::Address {
            name: "TILE_2".into(),
        };
        assert_eq!(apply(line), Err(expected));
    }

    #[test]
    fn a_comment_that_cannot_be_read_is_refused() {
        for line in ["a", "a 4", "a four 4", "a 4 4 4"] {
            let error = apply(&format!("{MARKER}{line}\n")).unwrap_err();
            assert!(
                matches!(error, SharedStaticError::Unreadable { .. }),
                "{line}: {error}"
            );
        }
    }
}
