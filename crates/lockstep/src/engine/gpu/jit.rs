//! Loading PTX with the driver's compiler.

use super::super::{EngineError, PtxModule};
use crate::driver::Module;

/// Compiles and loads PTX; an error carries the compiler's own log.
pub(super) fn load(source: &PtxModule) -> Result<Module, EngineError> {
    let text = without_line_tables(source.text()?);
    Module::of_ptx(&text).map_err(|log| EngineError::Module {
        module: source.name.clone(),
        log,
    })
}

/// The module without its line tables, which the driver ignores. The remaining lines keep their
/// numbers, for the driver's log.
fn without_line_tables(module: &str) -> String {
    let mut text = String::with_capacity(module.len());
    let mut in_section = false;
    for line in module.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("}") if in_section => in_section = false,
            Some(".section") => in_section = words.next_back() != Some("}"),
            Some(".loc") => {}
            _ if in_section => {}
            _ => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::without_line_tables;

    #[test]
    fn line_tables_go_and_lines_stay() {
        let module = "\
.local .align 4 .b8 frame[4];
\t.loc\t1 2 3, function_name $L__info_string0, inlined_at 1 7 9
\tret;
}
\t.section\t.debug_str
\t{
$L__info_string0:
.b8 0
\t}
\t.section\t.debug_macinfo\t{\t}
// end
";
        let expected = "\
.local .align 4 .b8 frame[4];

\tret;
}






// end
";
        assert_eq!(without_line_tables(module), expected);
    }
}
