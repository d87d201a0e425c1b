//! The parser's state and its small steps: look at a token, take it, or say
//! what was expected in its place.

use super::names::Names;
use super::pending::Pending;
use crate::ir::{Module, ParseError};
use crate::lexer::{Kind, Lexer, Position, Token};
use crate::suggest::{nearest, question};

/// Nested parentheses, braces and brackets beyond this many are refused, so
/// that hostile input cannot exhaust the stack.
pub(super) const MAX_DEPTH: u32 = 64;

/// The parser: one token of look-ahead over the lexer, and the module so far.
pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The token not yet taken.
    pub token: Token<'a>,
    /// What has been read.
    pub module: Module,
    /// Names at module scope.
    pub names: Names<'a>,
    /// What can only be settled at the end of the file.
    pub pending: Pending<'a>,
    /// For messages: what the parser is inside, e.g. "the body of `add`".
    pub inside: String,
    depth: u32,
}

pub(super) type Result<T> = std::result::Result<T, ParseError>;

impl<'a> Parser<'a> {
    pub fn new(source: &'a str) -> Result<Self> {
        let mut lexer = Lexer::new(source);
        let token = lexer.next_token()?;
        Ok(Self {
            lexer,
            token,
            module: Module::default(),
            names: Names::default(),
            pending: Pending::default(),
            inside: String::new(),
            depth: 0,
        })
    }

    /// Takes the current token.
    pub fn take(&mut self) -> Result<Token<'a>> {
        let next = self.lexer.next_token()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    /// An error at a place.
    pub fn error_at(&self, at: Position, message: impl Into<String>) -> ParseError {
        self.lexer.error(at, message)
    }

    /// The error for a token that is not what was expected.
    pub fn unexpected(&self, expected: &str) -> ParseError {
        let message = if self.token.kind == Kind::End {
            let inside = if self.inside.is_empty() {
                "a declaration"
            } else {
                &self.inside
            };
            format!("the file ends inside {inside}: is it truncated? ({expected} was expected)")
        } else {
            format!("found {}, expected {expected}", self.token.describe())
        };
        self.error_at(self.token.at, message)
    }

    /// The error for a directive that is not one of those `known`.
    pub fn mistyped(&self, known: &[&str], expected: &str) -> ParseError {
        match nearest(self.token.text, known.iter().copied()) {
            Some(name) if self.token.kind == Kind::Modifier => {
                let message = format!("{} is not a directive", self.token.describe());
                self.error_at(self.token.at, message + &question(Some(name)))
            }
            _ => self.unexpected(expected),
        }
    }

    /// Takes this punctuation if it is next.
    pub fn accept(&mut self, punctuation: &str) -> Result<bool> {
        let found = self.token.is(punctuation);
        if found {
            self.take()?;
        }
        Ok(found)
    }

    /// Takes this modifier if it is next.
    pub fn accept_modifier(&mut self, name: &str) -> Result<bool> {
        let found = self.token.is_modifier(name);
        if found {
            self.take()?;
        }
        Ok(found)
    }

    /// Takes this punctuation or fails.
    pub fn expect(&mut self, punctuation: &str) -> Result<Token<'a>> {
        if self.token.is(punctuation) {
            return self.take();
        }
        Err(self.unexpected(&format!("`{punctuation}`")))
    }

    /// Takes a word or fails, saying what the word would have been.
    pub fn expect_word(&mut self, what: &str) -> Result<Token<'a>> {
        if self.token.kind == Kind::Word {
            return self.take();
        }
        Err(self.unexpected(what))
    }

    /// Takes `ONE, ONE, …;`.
    pub fn several(&mut self, mut one: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        one(self)?;
        while self.accept(",")? {
            one(self)?;
        }
        self.expect(";").map(drop)
    }

    /// Takes a plain integer that fits 32 bits.
    pub fn expect_u32(&mut self, what: &str) -> Result<u32> {
        let Kind::Int { value, .. } = self.token.kind else {
            return Err(self.unexpected(what));
        };
        let Ok(value) = u32::try_from(value) else {
            return Err(self.error_at(
                self.token.at,
                format!(
                    "{} is too large: {what} has at most 32 bits",
                    self.token.text
                ),
            ));
        };
        self.take()?;
        Ok(value)
    }

    /// Takes a string and gives its contents as written between the quotes.
    pub fn expect_text(&mut self, what: &str) -> Result<&'a str> {
        if self.token.kind != Kind::Text {
            return Err(self.unexpected(what));
        }
        let text = self.take()?.text;
        Ok(text.get(1..text.len() - 1).unwrap_or(""))
    }

    /// Runs a step one level deeper; refuses excessive depths.
    pub fn nested<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error_at(
                self.token.at,
                format!("nested more than {MAX_DEPTH} levels deep"),
            ));
        }
        self.depth += 1;
        let result = step(self);
        self.depth -= 1;
        result
    }

    /// Skips a balanced `( … )` or `{ … }` that starts here.
    pub fn skip_balanced(&mut self, open: &str, close: &str) -> Result<()> {
        self.expect(open)?;
        let mut n_open = 1_u64;
        while n_open > 0 {
            if self.token.kind == Kind::End {
                return Err(self.unexpected(&format!("`{close}`")));
            }
            let token = self.take()?;
            if token.is(open) {
                n_open += 1;
            } else if token.is(close) {
                n_open -= 1;
            }
        }
        Ok(())
    }

    /// Skips up to and including the next `;`.
    pub fn skip_statement(&mut self) -> Result<()> {
        while !self.token.is(";") {
            if self.token.kind == Kind::End {
                return Err(self.unexpected("`;`"));
            }
            self.take()?;
        }
        self.take()?;
        Ok(())
    }
}
