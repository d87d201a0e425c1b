//! Errors of linking texts.

use std::fmt;

use ptx::excerpt::ParseError;

/// Why texts cannot be linked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// There is nothing to link.
    #[error("there is nothing to link")]
    Empty,
    /// A text that is not PTX.
    #[error("{input}: {error}")]
    Ptx {
        /// The text's name.
        input: String,
        /// What is wrong with it.
        error: ParseError,
    },
    /// Two texts define a global name.
    #[error("`{symbol}` is defined twice: in {} and in {}", .places[0], .places[1])]
    DefinedTwice {
        /// The name.
        symbol: String,
        /// Where it is defined.
        places: Box<[Definition; 2]>,
    },
    /// Two texts mean different things by a name.
    #[error(
        "`{symbol}` is {} in {}, and {} in {}",
        .places[0].what, .places[0], .places[1].what, .places[1]
    )]
    Unlike {
        /// The name.
        symbol: String,
        /// Where it is declared or defined.
        places: Box<[Definition; 2]>,
    },
    /// Names that no text defines.
    #[error("{}", lines(.0))]
    Undefined(Vec<UndefinedSymbol>),
    /// More constants than a module can have.
    #[error("the constants take {bytes} bytes together, but a module has at most {limit}")]
    TooManyConstants {
        /// Bytes of all.
        bytes: u64,
        /// Bytes allowed.
        limit: u64,
    },
}

/// Where a name is declared or defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The text's name.
    pub input: String,
    /// Line of that text, from 1.
    pub line: u32,
    /// What it is: `16 bytes of global memory`.
    pub what: String,
}

/// A name that no text defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndefinedSymbol {
    /// The name.
    pub symbol: String,
    /// The function or variable that uses it first; `None` if it is only declared.
    pub user: Option<String>,
    /// The text of the user, or else of the declaration.
    pub input: String,
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {})", self.input, self.line)
    }
}

impl fmt::Display for UndefinedSymbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { symbol, input, .. } = self;
        match &self.user {
            Some(user) => write!(
                f,
                "`{symbol}` is not defined anywhere; `{user}` in {input} uses it"
            ),
            None => write!(f, "`{symbol}` is not defined anywhere; {input} declares it"),
        }
    }
}

fn lines(undefined: &[UndefinedSymbol]) -> String {
    let lines: Vec<String> = undefined.iter().map(ToString::to_string).collect();
    lines.join("\n")
}
