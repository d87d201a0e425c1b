//! A kernel's PTX as a listing: each line with its number in the module, without what says
//! where instructions come from.

use lockstep::ptx::kernel_text;
use std::fmt::Write;

/// The listing of an entry of a module; none if it has no such entry.
pub fn of(module: &str, entry: &str) -> Option<String> {
    let text = kernel_text(module, entry)?;
    let start = text.as_ptr() as usize - module.as_ptr() as usize;
    let first = module[..start].matches('\n').count() + 1;
    let mut listing = String::new();
    for (number, line) in (first..).zip(text.lines()) {
        let code = line.trim();
        let is_shown = !code.is_empty()
            && !code.starts_with(".loc")
            && !code.starts_with("$L__tmp")
            && !code.starts_with("// begin inline asm")
            && !code.starts_with("// end inline asm");
        if is_shown {
            let indent = if line.starts_with(char::is_whitespace) { "  " } else { "" };
            let code = code.replace('\t', " ");
            // Writing to a string never fails.
            let _ = writeln!(listing, "{number:>5}  {indent}{code}");
        }
    }
    Some(listing)
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn lines_keep_the_modules_numbers() {
        let module = ".version 7.0\n\n.visible .entry k()\n{\n\t.loc\t1 2 3\n\tmov.u32 \t%r1, 0;\n\tret;\n}\n";
        let listing = of(module, "k").expect("it has one");
        assert_eq!(
            listing,
            "    3  .visible .entry k()\n    4  {\n    6    mov.u32  %r1, 0;\n    7    ret;\n    8  }\n"
        );
        assert_eq!(of(module, "other"), None);
    }
}
