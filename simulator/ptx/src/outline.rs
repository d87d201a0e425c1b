//! The outline of a file: each top-level item with its text, for cutting out, showing or finding
//! something in any PTX, even PTX that [`parse`](crate::parse) refuses. The inside of an item is
//! not read; where no more tokens can be read, the text is taken to end.

use crate::lexer::{Kind, Lexer, Token};

/// Directives that end with their line rather than with `;`.
const LINES: [&str; 5] = [".version", ".target", ".address_size", ".file", ".loc"];

/// A directive, a variable, a function or a section.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// As written, from its first token to its last.
    pub text: &'a str,
    /// The tokens outside of all brackets; of a body or section, only the braces.
    tokens: Vec<Token<'a>>,
}

impl<'a> Item<'a> {
    /// Whether it is an entry.
    pub fn is_entry(&self) -> bool {
        self.has(".entry")
    }

    /// Whether it is an entry or another function.
    pub fn is_function(&self) -> bool {
        self.is_entry() || self.has(".func")
    }

    /// The directive that it begins with: `.target`, `.section`, `.visible`.
    pub fn directive(&self) -> &'a str {
        self.tokens.first().map_or("", |token| token.text)
    }

    /// The name of a function or variable; of other items, what follows the directive.
    pub fn name(&self) -> Option<&'a str> {
        let mut names = self
            .tokens
            .iter()
            .take_while(|token| !["[", "=", "{", ";"].iter().any(|end| token.is(end)))
            .filter(|token| token.kind == Kind::Word);
        let name = match self.is_function() {
            true => names.next(),
            false => names.last(),
        };
        let name = match LINES.contains(&self.directive()) {
            true => self.tokens.get(1),
            false => name.or(self.tokens.get(1)),
        };
        name.map(|name| name.text)
    }

    /// Whether it ends with a brace rather than with `;`.
    fn has_body(&self) -> bool {
        self.is_function() || self.directive() == ".section"
    }

    fn has(&self, modifier: &str) -> bool {
        self.tokens.iter().any(|token| token.is_modifier(modifier))
    }
}

/// The tokens of a text, as far as it has any.
pub fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut lexer = Lexer::new(text);
    std::iter::from_fn(move || lexer.next_token().ok().filter(|t| t.kind != Kind::End))
}

/// The top-level items of a file.
pub fn items(text: &str) -> impl Iterator<Item = Item<'_>> {
    let mut left = tokens(text).peekable();
    std::iter::from_fn(move || {
        let first = left.next()?;
        let is_line = LINES.contains(&first.text);
        let start = first.at.offset;
        let mut end = start + first.text.len();
        let mut depth = 0_usize;
        let mut item = Item {
            text: "",
            tokens: vec![first],
        };
        while let Some(token) = left.next_if(|token| !(is_line && token.kind == Kind::Modifier)) {
            end = token.at.offset + token.text.len();
            let closes = ["}", ")", "]"].iter().any(|close| token.is(close));
            depth = depth.saturating_sub(usize::from(closes));
            if depth == 0 {
                item.tokens.push(token);
                if token.is(";") || token.is("}") && item.has_body() {
                    break;
                }
            }
            let opens = ["{", "(", "["].iter().any(|open| token.is(open));
            depth += usize::from(opens);
        }
        item.text = &text[start..end];
        Some(item)
    })
}

/// The architecture that the `.target` of a file names: `sm_90a`.
pub fn target(text: &str) -> Option<&str> {
    let target = items(text).find(|item| item.directive() == ".target")?;
    target.name()
}

/// Names of the entries of a file, in its order.
pub fn entries(text: &str) -> impl Iterator<Item = &str> {
    items(text)
        .filter(Item::is_entry)
        .filter_map(|item| item.name())
}

/// The text of one entry, to its closing brace.
pub fn kernel_text<'a>(text: &'a str, entry: &str) -> Option<&'a str> {
    items(text)
        .find(|item| item.is_entry() && item.name() == Some(entry))
        .map(|item| item.text)
}

#[cfg(test)]
mod tests {
    use super::{entries, items, kernel_text, target};

    const MODULE: &str = "\
.version 8.6
.target sm_90a, debug
.address_size 64
.file 3 \"a.rs\"
.shared .align 4 .b8 tile[64];
.global .align 8 .u64 table[2] = {tile, second};
// .entry not_this(
.func inner() { ret; }
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 list);
.visible .entry first(
\t.param .u64 first_param_0
)
{
\t.loc\t1 10 0
\tmov.u32 %r1, tile;
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
\t.section\t.debug_str
\t{
$L__info_string0:
.b8 108
\t}
\t.file\t1 \"a.rs\"
";

    #[test]
    fn items_have_their_names() {
        let found: Vec<_> = items(MODULE)
            .map(|item| (item.directive(), item.name().expect("a name")))
            .collect();
        let expected = [
            (".version", "8.6"),
            (".target", "sm_90a"),
            (".address_size", "64"),
            (".file", "3"),
            (".shared", "tile"),
            (".global", "table"),
            (".func", "inner"),
            (".extern", "vprintf"),
            (".visible", "first"),
            (".visible", "second"),
            (".section", ".debug_str"),
            (".file", "1"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_target_is_read() {
        assert_eq!(target(MODULE), Some("sm_90a"));
        assert_eq!(target("nothing"), None);
    }

    #[test]
    fn entries_are_found() {
        assert_eq!(entries(MODULE).collect::<Vec<_>>(), ["first", "second"]);
    }

    #[test]
    fn one_kernel_is_cut_out() {
        let second = kernel_text(MODULE, "second").expect("it is there");
        assert!(
            second.starts_with(".visible .entry second()\n.maxntid 256\n{"),
            "{second}"
        );
        assert!(second.ends_with("\tret;\n}"), "{second}");
        assert_eq!(kernel_text(MODULE, "secon"), None);
    }
}
