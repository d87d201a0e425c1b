//! A parser for Rust's format strings, and the C conversion for each placeholder.
//!
//! The grammar is that of `std::fmt`. Left out: fill characters, centring, `{:?}`,
//! `{:b}`, and widths and precisions that are arguments, each with a message that says
//! what to write.

/// A piece of a format string.
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    /// Text, with `{{` and `}}` resolved.
    Literal(String),
    /// `{…}`.
    Placeholder(Placeholder),
}

/// The argument that a placeholder prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// From 0.
    Position(usize),
    /// A named argument, or a variable.
    Name(String),
}

/// The form in which a value is written; each is a type of that name in `cuda_std::print::form`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `{}`
    Standard,
    /// `{:.3}`
    Precise,
    /// `{:+}`
    Signed,
    /// `{:+.3}`
    SignedPrecise,
    /// `{:x}`
    LowerHex,
    /// `{:X}`
    UpperHex,
    /// `{:o}`
    Octal,
    /// `{:e}`
    LowerExp,
    /// `{:E}`
    UpperExp,
    /// `{:p}`
    Pointer,
}

/// A value's place in the string, as C writes it: `prefix % flags size letters`.
#[derive(Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// The value that is printed.
    pub argument: Argument,
    /// Its form.
    pub form: Form,
    /// The text in front of C's conversion: `0x`.
    pub prefix: String,
    /// C's flags.
    pub flags: String,
    /// Whether text is aligned to the left of the field, and numbers to the right.
    pub is_aligned_by_type: bool,
    /// Width and precision.
    pub size: String,
}

/// Parses a format string.
pub fn parse(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut n_unnamed = 0;
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        literal += &rest[..at];
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            literal += brace;
            rest = after;
            continue;
        }
        if brace == "}" {
            return Err("unmatched `}`: write `}}` to print one".to_owned());
        }
        let (inside, after) = rest
            .split_once('}')
            .ok_or("`{` has no `}`: write `{{` to print one")?;
        rest = after;
        if !literal.is_empty() {
            parts.push(Part::Literal(std::mem::take(&mut literal)));
        }
        parts.push(Part::Placeholder(placeholder(inside, &mut n_unnamed)?));
    }
    literal += rest;
    if !literal.is_empty() {
        parts.push(Part::Literal(literal));
    }
    Ok(parts)
}

/// Parses the text between braces; counts placeholders that name no argument.
fn placeholder(inside: &str, n_unnamed: &mut usize) -> Result<Placeholder, String> {
    let (argument, spec) = inside.split_once(':').unwrap_or((inside, ""));
    let argument = match argument.trim() {
        "" => {
            *n_unnamed += 1;
            Argument::Position(*n_unnamed - 1)
        }
        number if number.starts_with(|c: char| c.is_ascii_digit()) => Argument::Position(
            number
                .parse()
                .map_err(|_| format!("`{number}` is not the number of an argument"))?,
        ),
        name => {
            let is_word = |c: char| c == '_' || c.is_alphanumeric();
            if !name.chars().all(is_word) {
                return Err(format!(
                    "`{{{inside}}}` names no variable: give the expression as an argument of its own"
                ));
            }
            Argument::Name(name.to_owned())
        }
    };
    let refuse = |why: &str| {
        Err(format!(
            "`{{{inside}}}` cannot be printed by a kernel: {why}"
        ))
    };
    let Spec {
        alignment,
        is_signed,
        is_alternate,
        is_zero_filled,
        width,
        precision,
        letter,
    } = match Spec::parse(spec.trim_end()) {
        Ok(spec) => spec,
        Err(why) => return refuse(why),
    };
    let has_precision = precision.is_some();
    let form = match (letter, is_signed, has_precision) {
        ("", false, false) => Form::Standard,
        ("", false, true) => Form::Precise,
        ("", true, false) => Form::Signed,
        ("", true, true) => Form::SignedPrecise,
        ("e", ..) => Form::LowerExp,
        ("E", ..) => Form::UpperExp,
        (_, true, _) => return refuse("a sign is for decimal numbers"),
        (_, _, true) => return refuse("a precision is for decimal numbers and text"),
        ("x", ..) => Form::LowerHex,
        ("X", ..) => Form::UpperHex,
        ("o", ..) => Form::Octal,
        ("p", ..) => Form::Pointer,
        ("?" | "x?" | "X?", ..) => {
            return refuse("there is no `Debug` on the device; print the parts with `{}`");
        }
        ("b", ..) => return refuse("C has no binary numbers; use `{:x}`"),
        _ => return refuse("no such format; there are x, X, o, e, E and p"),
    };
    let mut width = width;
    let mut prefix = "";
    if is_alternate {
        // C's own `#` omits the prefix for 0.
        prefix = match form {
            Form::LowerHex | Form::UpperHex => "0x",
            Form::Octal => return refuse("C's prefix for octal numbers is not Rust's `0o`"),
            _ => return refuse("`#` is for hexadecimal numbers"),
        };
        width = match width {
            None => None,
            Some(width) if is_zero_filled => Some(width.saturating_sub(prefix.len())),
            Some(_) => return refuse("`#` with a width needs zeros: `{:#010x}`"),
        };
    }
    let mut flags = String::new();
    if is_signed {
        flags.push('+');
    }
    // As in Rust, zeros replace an alignment.
    if is_zero_filled {
        flags.push('0');
    } else if alignment == Some('<') {
        flags.push('-');
    }
    let is_aligned_by_type = alignment.is_none() && !is_zero_filled && width.is_some();
    let mut size = width.map(|width| width.to_string()).unwrap_or_default();
    if let Some(precision) = precision {
        size += &format!(".{precision}");
    }
    Ok(Placeholder {
        argument,
        form,
        prefix: prefix.to_owned(),
        flags,
        is_aligned_by_type,
        size,
    })
}

/// The text after the colon.
struct Spec<'a> {
    alignment: Option<char>,
    is_signed: bool,
    is_alternate: bool,
    is_zero_filled: bool,
    width: Option<usize>,
    precision: Option<usize>,
    letter: &'a str,
}

impl<'a> Spec<'a> {
    fn parse(spec: &'a str) -> Result<Self, &'static str> {
        let mut rest = spec;
        let mut characters = spec.chars();
        if let (Some(_), Some('<' | '>' | '^')) = (characters.next(), characters.next()) {
            return Err("C fills with spaces or zeros only; leave the fill character out");
        }
        let alignment = rest.chars().next().filter(|c| "<>^".contains(*c));
        if alignment == Some('^') {
            return Err("C cannot centre text; use `<` or `>`");
        }
        if alignment.is_some() {
            rest = &rest[1..];
        }
        let mut flag = |flag: char| {
            let after = rest.strip_prefix(flag);
            rest = after.unwrap_or(rest);
            after.is_some()
        };
        let is_signed = flag('+');
        let is_alternate = flag('#');
        let is_zero_filled = flag('0');
        let width = number(&mut rest)?;
        let precision = match rest.strip_prefix('.') {
            Some(after) => {
                rest = after;
                let precision = number(&mut rest)?;
                Some(precision.ok_or("a precision is a number; write its digits")?)
            }
            None => None,
        };
        Ok(Self {
            alignment,
            is_signed,
            is_alternate,
            is_zero_filled,
            width,
            precision,
            letter: rest,
        })
    }
}

/// Takes a number off the front, if there is one.
fn number(rest: &mut &str) -> Result<Option<usize>, &'static str> {
    let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    if word.is_some_and(|at| rest[at..].starts_with('$')) {
        return Err("a width or precision is a number here, not an argument");
    }
    let n_digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (digits, after) = rest.split_at(n_digits);
    *rest = after;
    if digits.is_empty() {
        return Ok(None);
    }
    match digits.parse() {
        Ok(number) if number <= MAX_SIZE => Ok(Some(number)),
        _ => Err("a width or precision has at most three digits"),
    }
}

/// Largest width and precision.
const MAX_SIZE: usize = 999;

#[cfg(test)]
mod tests {
    use super::*;

    /// The C string, with `?` for the letters that the type determines, and `~` where it
    /// determines the alignment.
    fn translated(text: &str) -> Result<String, String> {
        let parts = parse(text)?.into_iter().map(|part| match part {
            Part::Literal(text) => text,
            Part::Placeholder(p) => {
                let side = if p.is_aligned_by_type { "~" } else { "" };
                format!("{}%{}{side}{}?", p.prefix, p.flags, p.size)
            }
        });
        Ok(parts.collect())
    }

    #[test]
    fn placeholders_become_conversions() {
        for (rust, c) in [
            ("a {} b", "a %? b"),
            ("{{{}}}", "{%?}"),
            ("{:8}", "%~8?"),
            ("{:>8}|{:<8}", "%8?|%-8?"),
            ("{:08.3}", "%08.3?"),
            ("{:<08}", "%08?"),
            ("{:+}", "%+?"),
            ("{:x}", "%?"),
            ("{:#x}", "0x%?"),
            ("{:#010x}", "0x%08?"),
            ("{:12.4e}", "%~12.4?"),
        ] {
            assert_eq!(translated(rust).as_deref(), Ok(c), "{rust}");
        }
    }

    #[test]
    fn arguments_are_counted_and_named() {
        let arguments = |text: &str| -> Vec<Argument> {
            let of = |part| match part {
                Part::Placeholder(placeholder) => Some(placeholder.argument),
                Part::Literal(_) => None,
            };
            parse(text).unwrap().into_iter().filter_map(of).collect()
        };
        use Argument::{Name, Position};
        assert_eq!(
            arguments("{} {1} {} {x:3}"),
            [Position(0), Position(1), Position(1), Name("x".to_owned())]
        );
    }

    #[test]
    fn what_c_cannot_write_is_refused() {
        for (rust, why) in [
            ("{", "has no `}`"),
            ("}", "unmatched `}`"),
            ("{:?}", "`Debug`"),
            ("{:#?}", "`Debug`"),
            ("{:b}", "binary"),
            ("{:^8}", "centre"),
            ("{:*>8}", "fill"),
            ("{:width$}", "not an argument"),
            ("{:.prec$}", "not an argument"),
            ("{:.*}", "digits"),
            ("{:#8x}", "needs zeros"),
            ("{:#o}", "octal"),
            ("{:#}", "hexadecimal"),
            ("{:.3x}", "precision"),
            ("{:+x}", "sign"),
            ("{:1000}", "three digits"),
            ("{:q}", "no such format"),
            ("{a.b}", "expression"),
        ] {
            let refused = translated(rust).expect_err(rust);
            assert!(refused.contains(why), "{rust}: {refused}");
        }
    }
}
