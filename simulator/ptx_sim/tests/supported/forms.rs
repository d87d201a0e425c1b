//! The forms of instructions: patterns, their expansions, and the decoder's answers.

use ptx_sim::Module;

/// All expansions of a pattern.
pub fn expand(pattern: &str) -> Vec<String> {
    let Some(start) = innermost(pattern) else {
        return vec![pattern.to_owned()];
    };
    let end = start + pattern[start..].find('}').expect("a closing brace");
    pattern[start + 1..end]
        .split('|')
        .flat_map(|choice| {
            expand(&format!(
                "{}{choice}{}",
                &pattern[..start],
                &pattern[end + 1..]
            ))
        })
        .collect()
}

/// The first brace of a choice; that of a vector of registers has no bar in it.
fn innermost(pattern: &str) -> Option<usize> {
    let mut open = None;
    for (i, c) in pattern.char_indices() {
        match c {
            '{' => open = Some(i),
            '}' => {
                if let Some(start) = open
                    && pattern[start..i].contains('|')
                    && !pattern[start..i].contains(',')
                {
                    return Some(start);
                }
                open = None;
            }
            _ => {}
        }
    }
    None
}

/// Why an instruction is not known, if it is not.
pub fn reason(instruction: &str) -> Option<String> {
    let text = format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n.global .align 16 .b8 data[256];\n\
         .entry k(.param .u64 param)\n{{\n.reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<40>;\n\
         .reg .b64 %d<9>;\n.reg .b128 %q<3>;\n.shared .align 16 .b8 shared[64];\n\
         .local .align 16 .b8 local[64];\n{instruction};\nEND: ret;\n}}\n"
    );
    match Module::parse(&text) {
        Ok(module) => {
            let unknown = module.unsupported();
            unknown.first().map(|u| u.reason.to_owned())
        }
        Err(error) => Some(error.message),
    }
}

/// A pattern without its operands.
pub fn opcode(pattern: &str) -> &str {
    let mut depth = 0;
    for (i, c) in pattern.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ' ' if depth == 0 => return &pattern[..i],
            _ => {}
        }
    }
    pattern
}
