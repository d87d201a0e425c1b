//! Expressions over what a thread sees: `tile[3][5]`, `output[tid.x] > 2.5`, `%r7 == 3 && lane < 4`.
//!
//! Names are registers (`%r7`), the source's variables, memory with a name and an index, the thread
//! itself (`tid.x`, `ctaid.y`, `ntid.x`, `nctaid.x`, `lane`, `warp`, `block`), and addresses with a
//! type: `f32@0x7f00`, `shared:u32@128`.

use std::cmp::Ordering;
use std::fmt;

use ptx::ir::Space;

use crate::element::{Element, Number, number};
use crate::names::{Named, Names};

/// An expression, read, its memory found.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number.
    Number(Number),
    /// A register, by its name with `%`.
    Register(String),
    /// A variable of the source.
    Variable(String),
    /// Something of the thread.
    Of(Quantity),
    /// An element of memory with a name: its row and column, or its index alone.
    Element(Box<Named>, Box<Expression>, Option<Box<Expression>>),
    /// An element by its address.
    At(Space, Element, Box<Expression>),
    /// `-a`, `!a`
    Negated(Box<Expression>),
    /// `!a`
    Not(Box<Expression>),
    /// Two numbers and what is done with them.
    Both(Operator, Box<Expression>, Box<Expression>),
}

/// What a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// `%tid`, by axis.
    Tid(usize),
    /// `%ctaid`
    Ctaid(usize),
    /// `%ntid`
    Ntid(usize),
    /// `%nctaid`
    Nctaid(usize),
    /// The lane.
    Lane,
    /// The warp's number in the block.
    Warp,
    /// The block's number in the grid.
    Block,
}

/// Where a thread is in its launch.
pub struct ThreadPlace {
    /// The grid's size in blocks, and a block's in threads.
    pub shape: ([u32; 3], [u32; 3]),
    /// `%ctaid` and `%tid`.
    pub indices: ([u32; 3], [u32; 3]),
    /// The block's number in the grid.
    pub block: u64,
    /// The warp's number in the block.
    pub warp: u32,
    /// The lane.
    pub lane: u32,
}

impl ThreadPlace {
    fn quantity(&self, quantity: Quantity) -> i128 {
        let (grid, block) = self.shape;
        let (ctaid, tid) = self.indices;
        i128::from(match quantity {
            Quantity::Tid(axis) => u64::from(tid[axis]),
            Quantity::Ctaid(axis) => u64::from(ctaid[axis]),
            Quantity::Ntid(axis) => u64::from(block[axis]),
            Quantity::Nctaid(axis) => u64::from(grid[axis]),
            Quantity::Lane => u64::from(self.lane),
            Quantity::Warp => u64::from(self.warp),
            Quantity::Block => self.block,
        })
    }
}

/// What is done with two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `&`
    BitAnd,
}

const OPERATORS: [(&str, Operator, u8); 14] = [
    ("||", Operator::Or, 1),
    ("&&", Operator::And, 2),
    ("==", Operator::Equal, 3),
    ("!=", Operator::NotEqual, 3),
    ("<=", Operator::LessOrEqual, 3),
    (">=", Operator::GreaterOrEqual, 3),
    ("<", Operator::Less, 3),
    (">", Operator::Greater, 3),
    ("&", Operator::BitAnd, 4),
    ("+", Operator::Add, 5),
    ("-", Operator::Subtract, 5),
    ("*", Operator::Multiply, 6),
    ("/", Operator::Divide, 6),
    ("%", Operator::Remainder, 6),
];

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoValue(pub String);

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoValue {}

fn no<T>(why: impl Into<String>) -> Result<T, NoValue> {
    Err(NoValue(why.into()))
}

/// A thread, as expressions see it.
pub trait Thread {
    /// A register of the function that it is in.
    fn register(&self, name: &str) -> Result<Number, NoValue>;
    /// A variable of the source.
    fn variable(&self, name: &str) -> Result<Number, NoValue>;
    /// Where it is.
    fn place(&self) -> ThreadPlace;
    /// Bytes of memory.
    fn memory(&self, space: Space, address: u64, n_bytes: u64) -> Result<Vec<u8>, NoValue>;
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str, names: &Names) -> Result<Self, NoValue> {
        let mut reader = Reader {
            text,
            rest: text.trim_start(),
            names,
        };
        let expression = reader.all(0)?;
        match reader.rest {
            "" => Ok(expression),
            rest if rest.starts_with('=') => {
                no(format!("`{text}`: `==` asks whether two are equal"))
            }
            rest => no(format!("`{rest}` is too much in `{text}`")),
        }
    }

    /// Whether it names a variable of the source.
    pub fn names_variables(&self) -> bool {
        match self {
            Self::Variable(_) => true,
            Self::Number(_) | Self::Register(_) | Self::Of(_) => false,
            Self::Element(_, index, column) => {
                index.names_variables() || column.as_ref().is_some_and(|c| c.names_variables())
            }
            Self::At(_, _, of) | Self::Negated(of) | Self::Not(of) => of.names_variables(),
            Self::Both(_, a, b) => a.names_variables() || b.names_variables(),
        }
    }

    /// Its value for a thread.
    ///
    /// # Errors
    /// Why it has none.
    pub fn value(&self, thread: &impl Thread) -> Result<Number, NoValue> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Register(name) => thread.register(name),
            Self::Variable(name) => thread.variable(name),
            Self::Of(quantity) => Ok(Number::Integer(thread.place().quantity(*quantity))),
            Self::Element(..) | Self::At(..) => {
                let place = self.place(thread)?;
                let bytes = place.element.bytes();
                let bytes = thread.memory(place.space, place.address, bytes)?;
                Ok(number(place.element, &bytes))
            }
            Self::Negated(of) => Ok(match of.value(thread)? {
                Number::Integer(value) => Number::Integer(-value),
                Number::Float(value) => Number::Float(-value),
            }),
            Self::Not(of) => Ok(Number::Integer((!of.value(thread)?.is_true()).into())),
            Self::Both(operator, a, b) => {
                let a = a.value(thread)?;
                match (operator, a.is_true()) {
                    (Operator::And, false) => Ok(Number::Integer(0)),
                    (Operator::Or, true) => Ok(Number::Integer(1)),
                    _ => operator.of(a, b.value(thread)?),
                }
            }
        }
    }

    /// The memory that it names.
    ///
    /// # Errors
    /// That it names none, or nothing that is there.
    pub fn place(&self, thread: &impl Thread) -> Result<Place, NoValue> {
        match self {
            Self::Element(named, index, column) => {
                let index = whole(index.value(thread)?)?;
                let index = match column {
                    None => index,
                    Some(column) => {
                        let column = whole(column.value(thread)?)?;
                        if column >= named.row() {
                            return no(format!("`{}` has {} columns", named.name, named.row()));
                        }
                        index * named.row() + column
                    }
                };
                if index >= named.len() {
                    return no(format!(
                        "`{}` has {} elements ({})",
                        named.name,
                        named.len(),
                        named.element
                    ));
                }
                Ok(Place {
                    space: named.space,
                    address: named.address_of(index),
                    element: named.element,
                })
            }
            Self::At(space, element, address) => Ok(Place {
                space: *space,
                address: whole(address.value(thread)?)?,
                element: *element,
            }),
            _ => no("it is not memory: give an element, such as `out[3]` or `f32@0x10000`"),
        }
    }
}

/// An element of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Global or shared.
    pub space: Space,
    /// Its address.
    pub address: u64,
    /// Its type.
    pub element: Element,
}

fn whole(number: Number) -> Result<u64, NoValue> {
    match number {
        Number::Integer(value) => {
            u64::try_from(value).or_else(|_| no(format!("{value} is not an index")))
        }
        Number::Float(value) => no(format!("{value} is not an index")),
    }
}

impl Operator {
    fn of(self, a: Number, b: Number) -> Result<Number, NoValue> {
        let order = match (a, b) {
            (Number::Integer(a), Number::Integer(b)) => Some(a.cmp(&b)),
            _ => a.float().partial_cmp(&b.float()),
        };
        let holds = match self {
            Self::Or => a.is_true() || b.is_true(),
            Self::And => a.is_true() && b.is_true(),
            Self::Equal => order.is_some_and(Ordering::is_eq),
            // Also of what is not a number.
            Self::NotEqual => order.is_none_or(Ordering::is_ne),
            Self::Less => order.is_some_and(Ordering::is_lt),
            Self::LessOrEqual => order.is_some_and(Ordering::is_le),
            Self::Greater => order.is_some_and(Ordering::is_gt),
            Self::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
            _ => return self.computed(a, b),
        };
        Ok(Number::Integer(holds.into()))
    }

    /// What an operator of arithmetic gives.
    fn computed(self, a: Number, b: Number) -> Result<Number, NoValue> {
        let (Number::Integer(x), Number::Integer(y)) = (a, b) else {
            let (a, b) = (a.float(), b.float());
            return Ok(Number::Float(match self {
                Self::Add => a + b,
                Self::Subtract => a - b,
                Self::Multiply => a * b,
                Self::Divide => a / b,
                Self::Remainder => a % b,
                _ => return no("`&` is for integers"),
            }));
        };
        let value = match self {
            Self::Add => x.checked_add(y),
            Self::Subtract => x.checked_sub(y),
            Self::Multiply => x.checked_mul(y),
            Self::Divide => x.checked_div(y),
            Self::Remainder => x.checked_rem(y),
            _ => Some(x & y),
        };
        match value {
            Some(value) => Ok(Number::Integer(value)),
            None => no("a division by zero, or a number that is too large"),
        }
    }
}

/// Reads an expression from left to right.
struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    names: &'a Names,
}

impl<'a> Reader<'a> {
    fn skip(&mut self, n: usize) {
        self.rest = self.rest[n..].trim_start();
    }

    fn take(&mut self, token: &str) -> bool {
        let is_next = self.rest.starts_with(token);
        if is_next {
            self.skip(token.len());
        }
        is_next
    }

    fn expect(&mut self, token: &str) -> Result<(), NoValue> {
        match self.take(token) {
            true => Ok(()),
            false => no(format!("`{token}` is missing in `{}`", self.text)),
        }
    }

    /// Operands and operators that bind more tightly than `level`.
    fn all(&mut self, level: u8) -> Result<Expression, NoValue> {
        let mut left = self.one()?;
        loop {
            let next = OPERATORS
                .iter()
                .find(|(token, _, _)| self.rest.starts_with(token));
            let Some(&(token, operator, own)) = next.filter(|(_, _, own)| *own > level) else {
                return Ok(left);
            };
            self.skip(token.len());
            let right = self.all(own)?;
            left = Expression::Both(operator, Box::new(left), Box::new(right));
        }
    }

    fn one(&mut self) -> Result<Expression, NoValue> {
        if self.take("(") {
            let inner = self.all(0)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.take("-") {
            return Ok(Expression::Negated(Box::new(self.one()?)));
        }
        if self.take("!") {
            return Ok(Expression::Not(Box::new(self.one()?)));
        }
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '#');
        let start = usize::from(self.rest.starts_with('%'));
        let n = self.rest[start..]
            .find(|c| !is_part(c))
            .map_or(self.rest.len(), |n| n + start);
        let word = &self.rest[..n];
        if word.len() == start {
            return match self.rest {
                "" if self.text.trim().is_empty() => {
                    no("an expression is missing, such as `x`, `x[3]` or `%r1`".to_owned())
                }
                "" => no(format!("`{}` ends too early", self.text)),
                rest => no(format!("what is `{rest}` in `{}`?", self.text)),
            };
        }
        self.skip(n);
        match word.starts_with(|c: char| c.is_ascii_digit()) {
            true => constant(word),
            false => self.named(word),
        }
    }

    fn named(&mut self, word: &'a str) -> Result<Expression, NoValue> {
        if word.starts_with('%') {
            return Ok(Expression::Register(word.to_owned()));
        }
        if word == "shared" && self.take(":") {
            let n = self.rest.find('@').unwrap_or(self.rest.len());
            let element = self.rest[..n].trim();
            self.skip(n);
            return self.at(Space::Shared, element);
        }
        if Element::named(word).is_some() && self.rest.starts_with('@') {
            return self.at(Space::Global, word);
        }
        if let Some(quantity) = quantity(word) {
            return Ok(Expression::Of(quantity));
        }
        let Some(named) = self.names.find(word) else {
            return match self.rest.starts_with('[') {
                true => no(format!(
                    "there is no memory `{word}`; there is {}",
                    self.known()
                )),
                false => Ok(Expression::Variable(word.to_owned())),
            };
        };
        let named = Box::new(named.clone());
        if !self.take("[") {
            return match named.len() {
                1 => Ok(Expression::Element(named, Box::new(zero()), None)),
                n => no(format!(
                    "`{word}` has {n} elements: which one, as `{word}[0]`?"
                )),
            };
        }
        let index = Box::new(self.all(0)?);
        self.expect("]")?;
        let mut column = None;
        if self.take("[") {
            column = Some(Box::new(self.all(0)?));
            self.expect("]")?;
        }
        Ok(Expression::Element(named, index, column))
    }

    fn at(&mut self, space: Space, element: &str) -> Result<Expression, NoValue> {
        let Some(known) = Element::named(element) else {
            return no(format!("`{element}` is not a type, such as `f32` or `u32`"));
        };
        self.expect("@")?;
        Ok(Expression::At(space, known, Box::new(self.one()?)))
    }

    fn known(&self) -> String {
        let names: Vec<&str> = self.names.all().iter().map(|n| n.name.as_str()).collect();
        match names.is_empty() {
            true => "none".to_owned(),
            false => names.join(", "),
        }
    }
}

fn zero() -> Expression {
    Expression::Number(Number::Integer(0))
}

fn constant(word: &str) -> Result<Expression, NoValue> {
    let number = match word.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok().map(Number::Integer),
        None => {
            let integer = word.parse().map(Number::Integer).ok();
            integer.or_else(|| word.parse().map(Number::Float).ok())
        }
    };
    match number {
        Some(number) => Ok(Expression::Number(number)),
        None => no(format!("`{word}` is not a number")),
    }
}

fn quantity(word: &str) -> Option<Quantity> {
    let (name, axis) = word.split_once('.').unwrap_or((word, "x"));
    let axis = ["x", "y", "z"].iter().position(|&known| known == axis)?;
    Some(match name {
        "tid" => Quantity::Tid(axis),
        "ctaid" => Quantity::Ctaid(axis),
        "ntid" => Quantity::Ntid(axis),
        "nctaid" => Quantity::Nctaid(axis),
        "lane" => Quantity::Lane,
        "warp" => Quantity::Warp,
        "block" => Quantity::Block,
        _ => return None,
    })
}
