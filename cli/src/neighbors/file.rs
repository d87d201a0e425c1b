//! Atoms from a text file: a line per atom, its two coordinates in Å, with blanks
//! or a comma between them. Empty lines and what follows a `#` are left out, and a
//! byte-order mark.

use crate::input::{self, InputError};
use host::lessons::neighbor::atoms::Atoms;
use std::io::{BufRead, Read};
use std::path::Path;

/// As many as the kernels number.
pub const MOST_ATOMS: u32 = 1 << 30;

/// No line of two numbers is longer.
const MOST_LINE_BYTES: u64 = 1 << 16;

/// Atoms between two questions whether there is room for more.
const ATOMS_AT_ONCE: u32 = 1 << 20;

/// Why a file gave no atoms.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It could not be read.
    #[error(transparent)]
    Read(#[from] InputError),
    /// A line is not two numbers.
    #[error("{path}, line {line}: {what}; a line is `x y`, two numbers in Å")]
    Line {
        /// The file.
        path: String,
        /// The line, counting from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// There is no room for so many.
    #[error("{path} has too many atoms, {n_atoms} or more: {what}")]
    TooMany {
        /// The file.
        path: String,
        /// So many were read.
        n_atoms: u32,
        /// What is lacking.
        what: String,
    },
}

/// Reads the atoms of a file, as long as there is `room` for so many.
///
/// # Errors
///
/// It cannot be read, a line of it is malformed, or there is no room.
pub fn read(path: &Path, room: impl Fn(u32) -> Result<(), String>) -> Result<Atoms, FileError> {
    parse(&input::name(path), input::open(path)?, room)
}

/// The atoms of a text; `path` is what errors call it.
///
/// # Errors
///
/// As [`read`].
pub fn parse(
    path: &str,
    mut text: impl BufRead,
    room: impl Fn(u32) -> Result<(), String>,
) -> Result<Atoms, FileError> {
    let mut atoms = Atoms::default();
    let mut line = Vec::new();
    let check = |n_atoms: u32| {
        let what = match room(n_atoms) {
            Ok(()) if n_atoms <= MOST_ATOMS => return Ok(()),
            Ok(()) => format!("the kernels number {MOST_ATOMS}"),
            Err(what) => what,
        };
        Err(FileError::TooMany {
            path: path.to_owned(),
            n_atoms,
            what,
        })
    };
    for number in 1.. {
        let wrong = |what: String| FileError::Line {
            path: path.to_owned(),
            line: number,
            what,
        };
        line.clear();
        let mut rest = text.by_ref().take(MOST_LINE_BYTES);
        let n_bytes = rest
            .read_until(b'\n', &mut line)
            .map_err(|error| wrong(format!("it cannot be read: {error}")))?;
        if n_bytes == 0 {
            break;
        }
        if let Some([x, y]) = coordinates(&line, number == 1).map_err(wrong)? {
            atoms.push(x, y);
            if atoms.len().is_multiple_of(ATOMS_AT_ONCE) {
                check(atoms.len())?;
            }
        }
    }
    check(atoms.len())?;
    Ok(atoms)
}

/// The coordinates of a line, if it has any.
fn coordinates(line: &[u8], is_first: bool) -> Result<Option<[f32; 2]>, String> {
    if line.len() as u64 == MOST_LINE_BYTES {
        return Err(format!("it has {MOST_LINE_BYTES} bytes or more"));
    }
    if is_first && (line.starts_with(b"\xFF\xFE") || line.starts_with(b"\xFE\xFF")) {
        return Err("it is UTF-16 text, and must be UTF-8".to_owned());
    }
    let text = str::from_utf8(line).map_err(|_| "it is no UTF-8 text")?;
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) if is_first => rest,
        _ => text,
    };
    let text = text.split('#').next().unwrap_or_default();
    let mut words = text
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|word| !word.is_empty());
    let (x, y, n_more) = (words.next(), words.next(), words.count());
    match (x, y, n_more) {
        (None, ..) => Ok(None),
        (Some(x), Some(y), 0) => Ok(Some([coordinate(x)?, coordinate(y)?])),
        (Some(_), None, _) => Err("1 value instead of 2".to_owned()),
        (Some(_), Some(_), n_more) => Err(format!("{} values instead of 2", n_more + 2)),
    }
}

fn coordinate(word: &str) -> Result<f32, String> {
    let value: f32 = word
        .parse()
        .map_err(|_| format!("`{word}` is not a number"))?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(format!("`{word}` is not a finite number"))
    }
}

#[cfg(test)]
mod tests {
    use super::{FileError, parse, read};
    use host::lessons::neighbor::atoms::Atoms;
    use std::path::Path;

    fn parsed(text: impl AsRef<[u8]>) -> Result<Atoms, FileError> {
        parse("atoms.txt", text.as_ref(), |_| Ok(()))
    }

    fn error(text: impl AsRef<[u8]>) -> String {
        parsed(text).expect_err("malformed").to_string()
    }

    #[test]
    fn blanks_commas_comments_and_empty_lines() {
        let atoms = parsed("# x y\n\n 0 0\n1.42\t-2e-1\r\n3, 4 # last\n").expect("fine");
        assert_eq!(
            (atoms.x, atoms.y),
            (vec![0.0, 1.42, 3.0], vec![0.0, -0.2, 4.0])
        );
    }

    #[test]
    fn an_empty_file_has_no_atoms() {
        assert!(parsed("").expect("fine").is_empty());
    }

    #[test]
    fn a_byte_order_mark_is_no_number() {
        let atoms = parsed("\u{feff}1 2\n3 4").expect("fine");
        assert_eq!(atoms.x, [1.0, 3.0]);
        assert_eq!(parsed("\u{feff}# x y\n1 2").expect("fine").len(), 1);
        assert!(error("1 2\n\u{feff}3 4").contains("line 2"));
        assert!(error(b"\xFF\xFE1\0 \x002\0").contains("UTF-16"));
    }

    #[test]
    fn a_malformed_line_is_named_by_its_number() {
        assert_eq!(
            error("0 0\n\n1 two\n"),
            "atoms.txt, line 3: `two` is not a number; a line is `x y`, two numbers in Å"
        );
        assert!(error("1 2 3").contains("line 1: 3 values instead of 2"));
        assert!(error("1 2\n3").contains("line 2: 1 value instead of 2"));
        assert!(error("1 inf").contains("`inf` is not a finite number"));
        assert!(error("1 1e99").contains("not a finite number"));
        assert!(error("NaN 1").contains("not a finite number"));
        assert!(error(b"0 0\n\xC0 1").contains("line 2: it is no UTF-8 text"));
    }

    #[test]
    fn nothing_is_read_without_end() {
        let error = read(Path::new("/dev/zero"), |_| Ok(())).expect_err("no line ends");
        assert!(
            error.to_string().contains("line 1: it has 65536 bytes"),
            "{error}"
        );
        let room = |n: u32| {
            if n > 2 {
                Err("no room".to_owned())
            } else {
                Ok(())
            }
        };
        assert!(parse("atoms.txt", "0 0\n".repeat(2).as_bytes(), room).is_ok());
        let error = parse("atoms.txt", "0 0\n".repeat(3).as_bytes(), room).expect_err("too many");
        assert_eq!(
            error.to_string(),
            "atoms.txt has too many atoms, 3 or more: no room"
        );
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read(Path::new("no/such/file"), |_| Ok(()))
            .expect_err("missing")
            .to_string();
        assert!(
            error.starts_with("no/such/file cannot be read: "),
            "{error}"
        );
    }
}
