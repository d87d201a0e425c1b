//! C's format strings: one conversion at a time, as in `printf`.

/// A conversion: the part between `%` and its letter, and the letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    zeros: bool,
    alternative: bool,
    /// Least width; `Some(None)` for `*`.
    pub width: Option<Option<usize>>,
    /// Precision; `Some(None)` for `.*`.
    pub precision: Option<Option<usize>>,
    /// Whether integers have 64 bits.
    pub is_long: bool,
    /// The letter; 0 if the string ended.
    pub letter: u8,
}

/// Widest field and longest fraction, whatever the kernel says.
const MAX_WIDTH: usize = 1024;

/// Reads a conversion, given what follows its `%`; gives the bytes it takes too.
pub(super) fn parse(text: &[u8]) -> (Spec, usize) {
    let mut spec = Spec::default();
    let mut at = 0;
    while let Some(flag) = text.get(at) {
        match flag {
            b'-' => spec.left = true,
            b'+' => spec.plus = true,
            b' ' => spec.space = true,
            b'0' => spec.zeros = true,
            b'#' => spec.alternative = true,
            _ => break,
        }
        at += 1;
    }
    let number = |at: &mut usize| {
        if text.get(*at) == Some(&b'*') {
            *at += 1;
            return None;
        }
        let mut n = 0;
        while let Some(digit) = text.get(*at).filter(|b| b.is_ascii_digit()) {
            n = (n * 10 + usize::from(digit - b'0')).min(MAX_WIDTH);
            *at += 1;
        }
        Some(n)
    };
    if text
        .get(at)
        .is_some_and(|b| b.is_ascii_digit() || *b == b'*')
    {
        spec.width = Some(number(&mut at));
    }
    if text.get(at) == Some(&b'.') {
        at += 1;
        spec.precision = Some(number(&mut at));
    }
    while let Some(b'l' | b'z' | b'j' | b't' | b'h') = text.get(at) {
        spec.is_long |= text[at] != b'h';
        at += 1;
    }
    spec.letter = text.get(at).copied().unwrap_or(0);
    (spec, (at + 1).min(text.len()))
}

impl Spec {
    /// A width or precision that was given as an argument.
    pub fn set_width(&mut self, n: i32) {
        self.left |= n < 0;
        self.width = Some(Some((n.unsigned_abs() as usize).min(MAX_WIDTH)));
    }

    pub fn set_precision(&mut self, n: i32) {
        self.precision = usize::try_from(n).ok().map(|n| Some(n.min(MAX_WIDTH)));
    }

    fn precision(&self) -> Option<usize> {
        self.precision.flatten()
    }

    /// Fills a sign and digits up to the width.
    fn pad(&self, sign: &str, body: &str, zeros: bool) -> String {
        let width = self.width.flatten().unwrap_or(0);
        let missing = width.saturating_sub(sign.len() + body.chars().count());
        if self.left {
            format!("{sign}{body}{:missing$}", "")
        } else if zeros && self.zeros {
            format!("{sign}{}{body}", "0".repeat(missing))
        } else {
            format!("{:missing$}{sign}{body}", "")
        }
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        }
    }

    fn digits(&self, digits: String) -> String {
        let missing = self.precision().unwrap_or(1).saturating_sub(digits.len());
        "0".repeat(missing) + &digits
    }

    /// `%d`, `%i`
    pub fn signed(&self, value: i64) -> String {
        let digits = self.digits(value.unsigned_abs().to_string());
        self.pad(self.sign(value < 0), &digits, self.precision.is_none())
    }

    /// `%u`, `%x`, `%X`, `%o`, `%p`
    pub fn unsigned(&self, value: u64) -> String {
        let (prefix, digits) = match self.letter {
            b'x' => ("0x", format!("{value:x}")),
            b'X' => ("0X", format!("{value:X}")),
            b'o' => ("0", format!("{value:o}")),
            b'p' => return self.pad("0x", &format!("{value:x}"), true),
            _ => ("", value.to_string()),
        };
        let prefix = if self.alternative && value != 0 {
            prefix
        } else {
            ""
        };
        self.pad(prefix, &self.digits(digits), self.precision.is_none())
    }

    /// `%s`, `%c`
    pub fn text(&self, text: &str) -> String {
        let n = self.precision().unwrap_or(usize::MAX);
        let cut: String = text.chars().take(n).collect();
        self.pad("", &cut, false)
    }

    /// `%f`, `%e`, `%g` and their capitals
    pub fn float(&self, value: f64) -> String {
        let is_upper = self.letter.is_ascii_uppercase();
        let magnitude = value.abs();
        let body = if value.is_nan() {
            "nan".to_owned()
        } else if value.is_infinite() {
            "inf".to_owned()
        } else {
            let precision = self.precision().unwrap_or(6);
            match self.letter.to_ascii_lowercase() {
                b'f' => format!("{magnitude:.precision$}"),
                b'e' => exponential(magnitude, precision),
                _ => self.shortest(magnitude, precision.max(1)),
            }
        };
        let body = if is_upper { body.to_uppercase() } else { body };
        let sign = self.sign(value.is_sign_negative() && !value.is_nan());
        self.pad(sign, &body, value.is_finite())
    }

    /// `%g`: `precision` digits, in whichever form is shorter.
    fn shortest(&self, value: f64, precision: usize) -> String {
        let long = exponential(value, precision - 1);
        let (digits, exponent) = long.split_once('e').unwrap_or((&long, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let trim = |digits: &str| {
            if self.alternative || !digits.contains('.') {
                digits.to_owned()
            } else {
                digits
                    .trim_end_matches('0')
                    .trim_end_matches('.')
                    .to_owned()
            }
        };
        if exponent < -4 || exponent >= precision as i32 {
            format!("{}e{}", trim(digits), &long[digits.len() + 1..])
        } else {
            let decimals = (precision as i32 - 1 - exponent) as usize;
            trim(&format!("{value:.decimals$}"))
        }
    }
}

/// `1.5e+00`
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> Spec {
        let (spec, n) = parse(text.as_bytes());
        assert_eq!(n, text.len());
        spec
    }

    #[test]
    fn integers() {
        assert_eq!(spec("5d").signed(-42), "  -42");
        assert_eq!(spec("-5d").signed(42), "42   ");
        assert_eq!(spec("05d").signed(-42), "-0042");
        assert_eq!(spec("+.3d").signed(7), "+007");
        assert_eq!(spec("#06x").unsigned(255), "0x00ff");
        assert_eq!(spec("X").unsigned(255), "FF");
        assert!(spec("lld").is_long && !spec("hd").is_long);
    }

    #[test]
    fn floats() {
        assert_eq!(spec("f").float(1.5), "1.500000");
        assert_eq!(spec("8.2f").float(-1.255), "   -1.25");
        assert_eq!(spec(".3e").float(12345.0), "1.234e+04");
        assert_eq!(spec("E").float(0.0), "0.000000E+00");
        assert_eq!(spec("g").float(0.0001), "0.0001");
        assert_eq!(spec("g").float(1e-5), "1e-05");
        assert_eq!(spec("g").float(1_234_567.0), "1.23457e+06");
        assert_eq!(spec("g").float(100.0), "100");
        assert_eq!(spec("5f").float(f64::INFINITY), "  inf");
    }

    #[test]
    fn strings_and_what_is_left_open() {
        assert_eq!(spec("5.2s").text("abc"), "   ab");
        assert_eq!(spec("*.*f").width, Some(None));
        assert_eq!(parse(b"").0.letter, 0);
        assert_eq!(parse(b"5").0.letter, 0);
    }
}
