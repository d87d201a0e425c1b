//! Sizes and bounds as `exercise.toml` has them: `div_ceil(n, 256)`, `4 * rows + 1`.
//!
//! Whole numbers, the variables of a case, `+ - * / %`, comparisons (1 or 0), parentheses,
//! and `min`, `max`, `div_ceil`, `round_up` of two numbers.
//!
//! Left out: fractions. A bound that is one is written as a number, not as text.

use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// The variables of a case, by name.
pub type Variables = BTreeMap<String, i64>;

/// An expression, as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    root: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(i64),
    Variable(String),
    Binary(Operator, Box<[Node; 2]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Min,
    Max,
    DivideUp,
    RoundUp,
}

/// By how it is written, the binding strength, and the meaning.
const OPERATORS: [(&str, u8, Operator); 11] = [
    ("==", 1, Operator::Equal),
    ("!=", 1, Operator::NotEqual),
    ("<=", 1, Operator::AtMost),
    (">=", 1, Operator::AtLeast),
    ("<", 1, Operator::Less),
    (">", 1, Operator::Greater),
    ("+", 2, Operator::Add),
    ("-", 2, Operator::Subtract),
    ("*", 3, Operator::Multiply),
    ("/", 3, Operator::Divide),
    ("%", 3, Operator::Remainder),
];

const FUNCTIONS: [(&str, Operator); 4] = [
    ("min", Operator::Min),
    ("max", Operator::Max),
    ("div_ceil", Operator::DivideUp),
    ("round_up", Operator::RoundUp),
];

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    ///
    /// What of the text cannot be read.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { rest: text };
        let root = parser.binary(0);
        let root = root.and_then(|root| match parser.rest.trim() {
            "" => Ok(root),
            rest => Err(format!("`{rest}` is left over")),
        });
        let root = root.map_err(|what| {
            format!(
                "`{text}` is no expression: {what} (whole numbers, variables of the case, + - * / %, \
                 comparisons, min, max, div_ceil, round_up)"
            )
        })?;
        Ok(Self {
            text: text.to_owned(),
            root,
        })
    }

    /// Its value.
    ///
    /// # Errors
    ///
    /// A variable that the case has not, a division by zero, or a number that is too large.
    pub fn value(&self, variables: &Variables) -> Result<i64, String> {
        evaluate(&self.root, variables).map_err(|what| format!("`{}`: {what}", self.text))
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a whole number, or an expression as text")]
        enum Written {
            Number(i64),
            Text(String),
        }
        let text = match Written::deserialize(deserializer)? {
            Written::Number(number) => number.to_string(),
            Written::Text(text) => text,
        };
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    /// Takes `token` if it comes next.
    fn takes(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        let after = self.rest.strip_prefix(token);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// Operators that bind more strongly than `least`, from the left.
    fn binary(&mut self, least: u8) -> Result<Node, String> {
        let mut left = self.single()?;
        loop {
            self.rest = self.rest.trim_start();
            let next = OPERATORS
                .iter()
                .find(|(token, ..)| self.rest.starts_with(token));
            let Some(&(token, strength, operator)) = next.filter(|(_, s, _)| *s > least) else {
                return Ok(left);
            };
            self.takes(token);
            let right = self.binary(strength)?;
            left = Node::Binary(operator, Box::new([left, right]));
        }
    }

    /// A number, a variable, a function of two numbers, or something in parentheses.
    fn single(&mut self) -> Result<Node, String> {
        if self.takes("(") {
            let inner = self.binary(0)?;
            return match self.takes(")") {
                true => Ok(inner),
                false => Err("a `)` is missing".to_owned()),
            };
        }
        if self.takes("-") {
            let operand = self.single()?;
            return Ok(Node::Binary(
                Operator::Subtract,
                Box::new([Node::Number(0), operand]),
            ));
        }
        self.rest = self.rest.trim_start();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return Err(match rest.chars().next() {
                Some(c) => format!("a number or a name is missing before `{c}`"),
                None => "a number or a name is missing at its end".to_owned(),
            });
        }
        self.rest = rest;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let number = word.replace('_', "").parse();
            return number
                .map(Node::Number)
                .map_err(|_| format!("`{word}` is no number"));
        }
        if !self.takes("(") {
            return Ok(Node::Variable(word.to_owned()));
        }
        let known = FUNCTIONS.iter().find(|(name, _)| *name == word);
        let &(_, operator) = known.ok_or_else(|| format!("there is no function `{word}`"))?;
        let first = self.binary(0)?;
        let comma = self.takes(",");
        let second = if comma {
            self.binary(0)?
        } else {
            Node::Number(0)
        };
        if !comma || !self.takes(")") {
            return Err(format!("`{word}` takes two numbers: `{word}(n, 256)`"));
        }
        Ok(Node::Binary(operator, Box::new([first, second])))
    }
}

fn evaluate(node: &Node, variables: &Variables) -> Result<i64, String> {
    let (operator, operands) = match node {
        Node::Number(number) => return Ok(*number),
        Node::Variable(name) => {
            let value = variables.get(name).copied();
            let names: Vec<&str> = variables.keys().map(String::as_str).collect();
            return value
                .ok_or_else(|| format!("the case has no `{name}`; it has {}", names.join(", ")));
        }
        Node::Binary(operator, operands) => (operator, operands),
    };
    let a = evaluate(&operands[0], variables)?;
    let b = evaluate(&operands[1], variables)?;
    let up = || {
        let quotient = a.checked_div_euclid(b)?;
        let rest = a.checked_rem_euclid(b)?;
        quotient.checked_add(i64::from(rest != 0))
    };
    let value = match operator {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        Operator::Divide => a.checked_div(b),
        Operator::Remainder => a.checked_rem(b),
        Operator::Equal => Some(i64::from(a == b)),
        Operator::NotEqual => Some(i64::from(a != b)),
        Operator::Less => Some(i64::from(a < b)),
        Operator::AtMost => Some(i64::from(a <= b)),
        Operator::Greater => Some(i64::from(a > b)),
        Operator::AtLeast => Some(i64::from(a >= b)),
        Operator::Min => Some(a.min(b)),
        Operator::Max => Some(a.max(b)),
        Operator::DivideUp => up(),
        Operator::RoundUp => up().and_then(|quotient| quotient.checked_mul(b)),
    };
    value.ok_or_else(|| "a division by zero, or a number that is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Expression, Variables};

    fn value(text: &str) -> Result<i64, String> {
        let variables = Variables::from([("n".to_owned(), 1000), ("rows".to_owned(), 7)]);
        Expression::parse(text)?.value(&variables)
    }

    #[test]
    fn values_are_those_of_arithmetic() {
        for (text, expected) in [
            ("12", 12),
            ("1_000", 1000),
            ("n", 1000),
            ("div_ceil(n, 256)", 4),
            ("round_up(rows, 4) * 2", 16),
            ("1 + 2 * 3 - 4 - 1", 2),
            ("(1 + 2) * 3", 9),
            ("n / rows % 5", 2),
            ("-rows + 10", 3),
            ("min(n, 8) + max(rows, 9)", 17),
            ("n % 256 == 0", 0),
            ("n >= 1000", 1),
            ("n > rows + 1", 1),
            ("n < rows", 0),
            ("rows <= 7", 1),
            ("rows != 7", 0),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for (text, word) in [
            ("", "at its end"),
            ("n +", "at its end"),
            ("(n", "`)`"),
            ("n n", "`n` is left over"),
            ("sqrt(n, 2)", "no function `sqrt`"),
            ("div_ceil(n)", "takes two numbers"),
            ("m + 1", "has no `m`; it has n, rows"),
            ("n / (rows - 7)", "division by zero"),
            ("n * 9223372036854775807", "too large"),
            ("7x", "`7x` is no number"),
            ("* 2", "before `*`"),
        ] {
            let error = value(text).expect_err(text);
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
