//! Sizes and bounds as `exercise.toml` has them: `div_ceil(n, 256)`, `4 * rows + 1`.
//!
//! Whole numbers, the variables of a case, `+ - * / %`, comparisons (1 or 0), parentheses,
//! and `min`, `max`, `div_ceil`, `round_up` of two numbers. They are written as in Rust, and parsed
//! as Rust.
//!
//! Left out: fractions. A bound with a fraction is written as a number, not as text.

use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use syn::{BinOp, Expr, ExprCall, Lit, UnOp};

/// The variables of a case, by name.
pub type Variables = BTreeMap<String, i64>;

/// An expression, as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    ///
    /// The text is not such an expression.
    pub fn parse(text: &str) -> Result<Self, String> {
        let read = read(text).and_then(|expression| evaluate(&expression, None));
        read.map_err(|what| {
            format!(
                "`{text}` is not an expression: {what} (whole numbers, variables of the case, + - * / %, \
                 comparisons, min, max, div_ceil, round_up)"
            )
        })?;
        Ok(Self {
            text: text.to_owned(),
        })
    }

    /// Its value.
    ///
    /// # Errors
    ///
    /// A variable that the case does not have, a division by zero, or a number that is too large.
    pub fn value(&self, variables: &Variables) -> Result<i64, String> {
        let value = read(&self.text).and_then(|root| evaluate(&root, Some(variables)));
        let too_large = || "a division by zero, or a number that is too large".to_owned();
        let value = value.and_then(|value| value.ok_or_else(too_large));
        value.map_err(|what| format!("`{}`: {what}", self.text))
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

fn read(text: &str) -> Result<Expr, String> {
    syn::parse_str(text).map_err(|error| match error.to_string() {
        what if what.starts_with("cannot parse") => "its parentheses do not match".to_owned(),
        what => what,
    })
}

/// The value; none if it is undefined or too large. Without variables, any numbers stand for them.
///
/// # Errors
///
/// It is none of these expressions, or the case lacks a variable.
fn evaluate(expression: &Expr, variables: Option<&Variables>) -> Result<Option<i64>, String> {
    let value = |expression: &Expr| evaluate(expression, variables);
    match expression {
        Expr::Paren(inner) => value(&inner.expr),
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) if number.suffix().is_empty() => Ok(number.base10_parse().ok()),
            Lit::Int(number) => Err(format!("`{number}` is not a number")),
            _ => Err("it contains something other than whole numbers".to_owned()),
        },
        Expr::Path(path) if let Some(name) = path.path.get_ident() => {
            let Some(variables) = variables else {
                return Ok(Some(1));
            };
            let names: Vec<&str> = variables.keys().map(String::as_str).collect();
            let missing = || format!("the case has no `{name}`; it has {}", names.join(", "));
            let found = variables.get(&name.to_string()).copied();
            found.map(Some).ok_or_else(missing)
        }
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
            Ok(value(&unary.expr)?.and_then(i64::checked_neg))
        }
        Expr::Binary(binary) => combine(&binary.op, value(&binary.left)?, value(&binary.right)?),
        Expr::Call(call) => apply(call, value),
        _ => Err("it contains something else".to_owned()),
    }
}

fn combine(operator: &BinOp, a: Option<i64>, b: Option<i64>) -> Result<Option<i64>, String> {
    let (Some(a), Some(b)) = (a, b) else {
        return Ok(None);
    };
    Ok(match operator {
        BinOp::Add(_) => a.checked_add(b),
        BinOp::Sub(_) => a.checked_sub(b),
        BinOp::Mul(_) => a.checked_mul(b),
        BinOp::Div(_) => a.checked_div(b),
        BinOp::Rem(_) => a.checked_rem(b),
        BinOp::Eq(_) => Some(i64::from(a == b)),
        BinOp::Ne(_) => Some(i64::from(a != b)),
        BinOp::Lt(_) => Some(i64::from(a < b)),
        BinOp::Le(_) => Some(i64::from(a <= b)),
        BinOp::Gt(_) => Some(i64::from(a > b)),
        BinOp::Ge(_) => Some(i64::from(a >= b)),
        _ => return Err("there is no such operator".to_owned()),
    })
}

/// A function of two numbers.
fn apply(
    call: &ExprCall,
    value: impl Fn(&Expr) -> Result<Option<i64>, String>,
) -> Result<Option<i64>, String> {
    let name = match &*call.func {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    };
    let name = name.ok_or("it calls something without a name")?;
    let up = |a: i64, b: i64| {
        let (quotient, rest) = (a.checked_div_euclid(b)?, a.checked_rem_euclid(b)?);
        quotient.checked_add(i64::from(rest != 0))
    };
    let function: &dyn Fn(i64, i64) -> Option<i64> = match &*name {
        "min" => &|a, b| Some(a.min(b)),
        "max" => &|a, b| Some(a.max(b)),
        "div_ceil" => &up,
        "round_up" => &|a, b| up(a, b)?.checked_mul(b),
        _ => return Err(format!("there is no function `{name}`")),
    };
    if call.args.len() != 2 {
        return Err(format!("`{name}` takes two numbers: `{name}(n, 256)`"));
    }
    let (a, b) = (value(&call.args[0])?, value(&call.args[1])?);
    Ok(a.zip(b).and_then(|(a, b)| function(a, b)))
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
            ("", "end of input"),
            ("n +", "end of input"),
            ("(n", "parentheses"),
            ("n n", "unexpected token"),
            ("n && n", "no such operator"),
            ("n + true", "other than whole numbers"),
            ("n.m", "something else"),
            ("99999999999999999999", "too large"),
            ("sqrt(n, 2)", "no function `sqrt`"),
            ("div_ceil(n)", "takes two numbers"),
            ("m + 1", "has no `m`; it has n, rows"),
            ("n / (rows - 7)", "division by zero"),
            ("n * 9223372036854775807", "too large"),
            ("7x", "`7x` is not a number"),
            ("* 2", "something else"),
        ] {
            let error = value(text).expect_err(text);
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
