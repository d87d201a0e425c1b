//! The place of an instruction's part in the text.
//!
//! Instructions store only where they begin: their parts are located when a message has to
//! point at one.

use std::ops::Range;

use crate::lexer::{Kind, Lexer, Token};

/// A part of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Mnemonic and modifiers.
    Opcode,
    /// The mnemonic alone.
    Mnemonic,
    /// A modifier, without its dot.
    Modifier(String),
    /// An operand by its number, and the element of it by its numbers.
    Operand(Vec<usize>),
    /// The `;`, where something is missing.
    End,
}

/// The bytes of a part of the instruction at `offset`; of the whole opcode where
/// there is no such part.
pub fn place(source: &str, offset: usize, part: &Part) -> Range<usize> {
    let tokens = instruction(source, offset);
    let n_opcode = 1 + tokens
        .iter()
        .skip(1)
        .take_while(|token| token.kind == Kind::Modifier)
        .count();
    let (opcode, operands) = tokens.split_at(n_opcode.min(tokens.len()));
    let found = match part {
        Part::Opcode => None,
        Part::Mnemonic => opcode.first().map(range),
        Part::Modifier(name) => opcode
            .iter()
            .find(|token| token.text.strip_prefix('.') == Some(name))
            .map(range),
        Part::Operand(path) => operand(operands, path),
        Part::End => tokens.last().map(range),
    };
    found.or_else(|| span(opcode)).unwrap_or(offset..offset + 1)
}

/// The tokens of an instruction, its `;` included.
fn instruction(source: &str, offset: usize) -> Vec<Token<'_>> {
    let mut lexer = Lexer::from_offset(source, offset);
    let mut tokens = Vec::new();
    while let Ok(token) = lexer.next_token() {
        if token.kind == Kind::End {
            break;
        }
        tokens.push(token);
        if token.is(";") {
            break;
        }
    }
    tokens
}

fn range(token: &Token<'_>) -> Range<usize> {
    token.at.offset..token.at.offset + token.text.len()
}

fn span(tokens: &[Token<'_>]) -> Option<Range<usize>> {
    Some(range(tokens.first()?).start..range(tokens.last()?).end)
}

/// The place of an operand, or of an element of one.
fn operand(tokens: &[Token<'_>], path: &[usize]) -> Option<Range<usize>> {
    let (&index, elements) = path.split_first()?;
    let mut tokens = *pieces(tokens, ",").get(index)?;
    for &index in elements {
        let is_bracketed = tokens
            .first()
            .is_some_and(|first| ["{", "(", "["].iter().any(|open| first.is(open)));
        tokens = if is_bracketed {
            let inside = tokens.get(1..tokens.len() - 1)?;
            pieces(inside, ",").get(index).copied()?
        } else {
            pieces(tokens, "|").get(index).copied()?
        };
    }
    span(tokens)
}

/// Tokens between separators outside of brackets. What follows `)` is a piece of its own
/// (`call (r) f (a)` needs no commas).
fn pieces<'s, 'a>(tokens: &'s [Token<'a>], separator: &str) -> Vec<&'s [Token<'a>]> {
    let mut pieces = Vec::new();
    let mut depth = 0_u32;
    let mut start = 0;
    for (i, token) in tokens.iter().enumerate() {
        match token.text {
            "{" | "(" | "[" if token.kind == Kind::Punctuation => depth += 1,
            "}" | ")" | "]" if token.kind == Kind::Punctuation => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (token.is(separator) || token.is(";")) {
            pieces.push(&tokens[start..i]);
            start = i + 1;
        }
    }
    if start < tokens.len() {
        pieces.push(&tokens[start..]);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &str, part: &Part) -> String {
        let padded = format!("ret; {text} ret;");
        padded[place(&padded, 5, part)].to_owned()
    }

    #[test]
    fn parts_are_found() {
        let text = "wmma.load.a.sync {%r1, %r2 + 1}, [%rd1 + 4], p|q, -3;";
        let at = |path: &[usize]| part(text, &Part::Operand(path.to_vec()));
        assert_eq!(at(&[0]), "{%r1, %r2 + 1}");
        assert_eq!(at(&[0, 1]), "%r2 + 1");
        assert_eq!(at(&[1]), "[%rd1 + 4]");
        assert_eq!(at(&[2]), "p|q");
        assert_eq!(at(&[2, 1]), "q");
        assert_eq!(at(&[3]), "-3");
        assert_eq!(at(&[4]), "wmma.load.a.sync");
        assert_eq!(part(text, &Part::Modifier("load".into())), ".load");
        assert_eq!(part(text, &Part::Opcode), "wmma.load.a.sync");
        assert_eq!(part(text, &Part::Mnemonic), "wmma");
        assert_eq!(part(text, &Part::End), ";");
    }
}
