//! Names that nothing declares, and what may have been meant.

use super::ParseError;
use super::body::Body;
use super::cursor::Parser;
use super::special;
use crate::lexer::Token;
use crate::suggest::{nearest, question};

impl<'a> Parser<'a> {
    /// A name that nothing declares; `hint` says what it may be instead.
    fn undeclared(&self, name: Token<'a>, hint: &str) -> ParseError {
        self.error_at(
            name.at,
            format!("{} is not declared in this scope{hint}", name.describe()),
        )
    }

    /// A name that nothing at the file's level declares.
    pub fn unknown_name(&self, name: Token<'a>) -> ParseError {
        let known = nearest(name.text, self.names.keys().copied());
        match known {
            None if name.text.starts_with('%') => self.undeclared(name, ": declare it by `.reg`"),
            known => self.undeclared(name, &question(known)),
        }
    }

    /// A function that is called and declared nowhere.
    pub fn unknown_function(&self, name: Token<'a>) -> ParseError {
        let functions = self.module.functions.iter().map(|f| f.name.as_str());
        let hint = match nearest(name.text, functions) {
            None => ": declare it by `.func` or `.extern .func` before".to_owned(),
            known => question(known),
        };
        let message = format!("there is no function {}", name.describe());
        self.error_at(name.at, message + &hint)
    }

    /// A name that nothing declares in a body.
    pub fn unknown_in_body(&self, body: &Body<'a>, name: Token<'a>) -> ParseError {
        if let Some(hint) = body.scopes.near_family(name.text) {
            return self.undeclared(name, &hint);
        }
        let names = body.scopes.visible().chain(self.names.keys().copied());
        let labels = body.scopes.labels.iter().map(|label| label.name.as_str());
        let known = nearest(name.text, names.chain(labels).chain(special::names()));
        self.undeclared(name, &question(known))
    }

    /// A label that is nowhere in its scope.
    pub fn unknown_label(&self, body: &Body<'a>, name: Token<'a>) -> ParseError {
        let labels = body.scopes.labels.iter().map(|label| label.name.as_str());
        let hint = match nearest(name.text, labels) {
            // A label in braces of its own.
            None if body.scopes.labels.iter().any(|l| l.name == name.text) => {
                ": one inside other braces cannot be seen from here".to_owned()
            }
            known => question(known),
        };
        let message = format!("there is no label {} in this scope", name.describe());
        self.error_at(name.at, message + &hint)
    }
}
