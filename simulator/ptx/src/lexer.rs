//! PTX text to tokens.
//!
//! Tokens borrow from the text. A modifier such as `.global` or
//! `.L2::cache_hint` is one token, dot included; `%tid.x` is a word and a
//! modifier. Comments and `#` lines are skipped here.

use crate::excerpt::ParseError;

/// A place in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// In bytes from the start.
    pub offset: usize,
    /// From 1.
    pub line: u32,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// An identifier: a name, a register, an opcode's first part.
    Word,
    /// `.name`, with `::` parts where it has them.
    Modifier,
    /// An integer; `unsigned` where it ends in `U` or does not fit a signed
    /// one.
    Int {
        /// Its value.
        value: u64,
        /// See above.
        unsigned: bool,
    },
    /// `0fXXXXXXXX`.
    F32(u32),
    /// `0dXXXXXXXXXXXXXXXX` or decimal.
    F64(u64),
    /// A string, quotes included.
    Text,
    /// Punctuation of one or two characters.
    Punctuation,
    /// The end of the file.
    End,
}

/// One token.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    /// What it is.
    pub kind: Kind,
    /// As written.
    pub text: &'a str,
    /// Where it starts.
    pub at: Position,
}

impl Token<'_> {
    /// Whether it is this punctuation.
    pub fn is(&self, punctuation: &str) -> bool {
        self.kind == Kind::Punctuation && self.text == punctuation
    }

    /// Whether it is this modifier, given with its dot.
    pub fn is_modifier(&self, name: &str) -> bool {
        self.kind == Kind::Modifier && self.text == name
    }

    /// For messages: the token as the reader sees it.
    pub fn describe(&self) -> String {
        const SHOWN: usize = 40;
        if self.kind == Kind::End {
            return "the end of the file".into();
        }
        if self.text.chars().count() > SHOWN {
            let start: String = self.text.chars().take(SHOWN).collect();
            return format!("`{start}…`");
        }
        format!("`{}`", self.text)
    }
}

/// Reads tokens one after the other.
pub struct Lexer<'a> {
    source: &'a str,
    offset: usize,
    line: u32,
}

/// Whether a byte can stand inside an identifier.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// Operators of two characters in constant expressions.
const TWO_BYTE_OPERATORS: [&[u8; 2]; 8] = [b"<<", b">>", b"<=", b">=", b"==", b"!=", b"&&", b"||"];

impl<'a> Lexer<'a> {
    /// The tokens of a text, after its byte order mark if it has one.
    pub fn new(source: &'a str) -> Self {
        let mark = '\u{feff}';
        Self {
            source,
            offset: if source.starts_with(mark) {
                mark.len_utf8()
            } else {
                0
            },
            line: 1,
        }
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.source.as_bytes().get(self.offset + ahead).copied()
    }

    fn position(&self) -> Position {
        Position {
            offset: self.offset,
            line: self.line,
        }
    }

    /// The tokens from a place inside the text onwards.
    pub fn from_offset(source: &'a str, offset: usize) -> Self {
        Self {
            source,
            offset: offset.min(source.len()),
            line: 1,
        }
    }

    /// An error at the token that starts at `at`.
    pub fn error(&self, at: Position, message: impl Into<String>) -> ParseError {
        let rest = self.source.as_bytes().get(at.offset..).unwrap_or(&[]);
        let is_name = |byte: &u8| is_word_byte(*byte) || matches!(byte, b'.' | b'%');
        let length = match rest.first() {
            Some(first) if is_name(first) => rest.iter().take_while(|byte| is_name(byte)).count(),
            first => usize::from(first.is_some()),
        };
        ParseError::new(self.source, at.offset..at.offset + length, message)
    }

    /// The text from `start` up to the current place.
    fn slice_from(&self, start: usize) -> &'a str {
        self.source.get(start..self.offset).unwrap_or("")
    }

    fn skip_while(&mut self, keep: impl Fn(u8) -> bool) {
        while self.byte(0).is_some_and(&keep) {
            self.offset += 1;
        }
    }

    /// Skips blanks and comments.
    fn skip_blank(&mut self) -> Result<(), ParseError> {
        loop {
            match self.byte(0) {
                Some(b'\n') => {
                    self.line += 1;
                    self.offset += 1;
                }
                Some(b' ' | b'\t' | b'\r' | 0x0b | 0x0c) => self.offset += 1,
                Some(b'/') if self.byte(1) == Some(b'/') => self.skip_while(|byte| byte != b'\n'),
                Some(b'#') => self.skip_while(|byte| byte != b'\n'),
                Some(b'/') if self.byte(1) == Some(b'*') => self.skip_block_comment()?,
                // Text that came from a C string may end in NULs.
                Some(0) if self.is_padding() => self.offset = self.source.len(),
                _ => return Ok(()),
            }
        }
    }

    /// Whether nothing but NULs and blanks is left.
    fn is_padding(&self) -> bool {
        let rest = self.source.as_bytes().get(self.offset..).unwrap_or(&[]);
        rest.iter()
            .all(|byte| *byte == 0 || byte.is_ascii_whitespace())
    }

    fn skip_block_comment(&mut self) -> Result<(), ParseError> {
        let start = self.position();
        let rest = self
            .source
            .as_bytes()
            .get(start.offset + 2..)
            .unwrap_or(&[]);
        let Some(length) = rest.windows(2).position(|pair| pair == b"*/") else {
            return Err(self.error(
                start,
                "this comment is never closed with `*/`: is the file truncated?",
            ));
        };
        let lines = rest[..length].iter().filter(|&&byte| byte == b'\n').count();
        self.line = self
            .line
            .saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        self.offset = start.offset + 2 + length + 2;
        Ok(())
    }

    /// The next token; at the end of the text, `End` forever.
    pub fn next_token(&mut self) -> Result<Token<'a>, ParseError> {
        self.skip_blank()?;
        let at = self.position();
        let Some(first) = self.byte(0) else {
            return Ok(Token {
                kind: Kind::End,
                text: "",
                at,
            });
        };
        let kind = match first {
            b'0'..=b'9' => self.number(at)?,
            b'"' => self.string(at)?,
            b'.' if self.byte(1).is_some_and(is_word_byte) => {
                self.modifier();
                Kind::Modifier
            }
            b'%' if !self.byte(1).is_some_and(is_word_byte) => self.punctuation(),
            b'%' | b'_' | b'$' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.offset += 1;
                self.skip_while(is_word_byte);
                Kind::Word
            }
            b'!'..=b'~' => self.punctuation(),
            _ => {
                let found = self.source[at.offset..]
                    .chars()
                    .next()
                    .unwrap_or('\u{fffd}');
                return Err(self.error(at, format!("{found:?} has no place in PTX")));
            }
        };
        Ok(Token {
            kind,
            text: self.slice_from(at.offset),
            at,
        })
    }

    fn punctuation(&mut self) -> Kind {
        let rest = self.source.as_bytes().get(self.offset..).unwrap_or(&[]);
        let is_two = TWO_BYTE_OPERATORS
            .iter()
            .any(|operator| rest.starts_with(*operator));
        self.offset += if is_two { 2 } else { 1 };
        Kind::Punctuation
    }

    fn modifier(&mut self) {
        self.offset += 1;
        self.skip_while(is_word_byte);
        while self.byte(0) == Some(b':')
            && self.byte(1) == Some(b':')
            && self.byte(2).is_some_and(is_word_byte)
        {
            self.offset += 2;
            self.skip_while(is_word_byte);
        }
    }

    fn string(&mut self, at: Position) -> Result<Kind, ParseError> {
        self.offset += 1;
        loop {
            match self.byte(0) {
                Some(b'"') => {
                    self.offset += 1;
                    return Ok(Kind::Text);
                }
                Some(b'\\') if self.byte(1).is_some_and(|byte| byte != b'\n') => self.offset += 2,
                None | Some(b'\n') => {
                    return Err(self.error(
                        at,
                        "this string is not closed on its line: is the file truncated?",
                    ));
                }
                Some(_) => self.offset += 1,
            }
        }
    }

    fn number(&mut self, at: Position) -> Result<Kind, ParseError> {
        let start = self.offset;
        match (self.byte(0), self.byte(1)) {
            (Some(b'0'), Some(b'f' | b'F')) => {
                let bits = self.float_bits(at, 8)?;
                Ok(Kind::F32(bits as u32))
            }
            (Some(b'0'), Some(b'd' | b'D')) => Ok(Kind::F64(self.float_bits(at, 16)?)),
            (Some(b'0'), Some(b'x' | b'X')) => {
                self.offset += 2;
                self.integer(at, self.offset, 16)
            }
            (Some(b'0'), Some(b'b' | b'B')) => {
                self.offset += 2;
                self.integer(at, self.offset, 2)
            }
            _ => {
                self.skip_while(|byte| byte.is_ascii_digit());
                if self.at_float_part() {
                    return self.decimal_float(at, start);
                }
                self.offset = start;
                let is_octal = self.byte(0) == Some(b'0')
                    && self.byte(1).is_some_and(|byte| byte.is_ascii_digit());
                self.integer(at, start, if is_octal { 8 } else { 10 })
            }
        }
    }

    /// Whether a fraction or an exponent follows the digits just read.
    fn at_float_part(&self) -> bool {
        match self.byte(0) {
            Some(b'.') => !self.byte(1).is_some_and(|byte| byte.is_ascii_alphabetic()),
            Some(b'e' | b'E') => true,
            _ => false,
        }
    }

    fn decimal_float(&mut self, at: Position, start: usize) -> Result<Kind, ParseError> {
        if self.byte(0) == Some(b'.') {
            self.offset += 1;
            self.skip_while(|byte| byte.is_ascii_digit());
        }
        if matches!(self.byte(0), Some(b'e' | b'E')) {
            self.offset += 1;
            if matches!(self.byte(0), Some(b'+' | b'-')) {
                self.offset += 1;
            }
            self.skip_while(|byte| byte.is_ascii_digit());
        }
        let text = self.slice_from(start);
        match text.parse::<f64>() {
            Ok(value) if !self.byte(0).is_some_and(is_word_byte) => Ok(Kind::F64(value.to_bits())),
            _ => Err(self.error(at, format!("`{text}` is not a floating-point number"))),
        }
    }

    /// The bits of `0f…` or `0d…`.
    fn float_bits(&mut self, at: Position, n_digits: usize) -> Result<u64, ParseError> {
        self.offset += 2;
        let start = self.offset;
        self.skip_while(is_word_byte);
        let digits = self.slice_from(start);
        if digits.len() != n_digits || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let text = self.slice_from(at.offset);
            return Err(self.error(
                at,
                format!("`{text}` is not a number: `0f` takes 8 hexadecimal digits, `0d` takes 16"),
            ));
        }
        u64::from_str_radix(digits, 16)
            .map_err(|_| self.error(at, format!("`{digits}` is not hexadecimal")))
    }

    fn integer(&mut self, at: Position, start: usize, radix: u32) -> Result<Kind, ParseError> {
        self.offset = start;
        self.skip_while(is_word_byte);
        let written = self.slice_from(start);
        let digits = written.strip_suffix(['U', 'u']).unwrap_or(written);
        match u64::from_str_radix(digits, radix) {
            Ok(value) => Ok(Kind::Int {
                value,
                unsigned: digits.len() != written.len() || value > i64::MAX as u64,
            }),
            Err(_) => {
                let text = self.slice_from(at.offset);
                Err(self.error(at, format!("`{text}` is not an integer of at most 64 bits")))
            }
        }
    }
}
