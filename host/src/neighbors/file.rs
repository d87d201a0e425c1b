//! Atoms from a text file: a line an atom, its two coordinates in Å, with blanks
//! or a comma between them. Empty lines and what follows a `#` are left out.

use super::Atoms;
use std::path::Path;

/// Why a file gave no atoms.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It could not be read.
    #[error("could not read {path}: {cause}")]
    Read {
        /// The file.
        path: String,
        /// What the system says.
        cause: std::io::Error,
    },
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
}

/// Reads the atoms of a file.
///
/// # Errors
///
/// It cannot be read, or a line of it is malformed.
pub fn read(path: &Path) -> Result<Atoms, FileError> {
    let name = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => parse(&name, &text),
        Err(cause) => Err(FileError::Read { path: name, cause }),
    }
}

/// The atoms of a text; `path` is what errors call it.
///
/// # Errors
///
/// A line is malformed.
pub fn parse(path: &str, text: &str) -> Result<Atoms, FileError> {
    let mut atoms = Atoms::default();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        let [x, y] = coordinates(text).map_err(|what| FileError::Line {
            path: path.to_owned(),
            line,
            what,
        })?;
        atoms.push(x, y);
    }
    Ok(atoms)
}

fn coordinates(text: &str) -> Result<[f32; 2], String> {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|word| !word.is_empty())
        .collect();
    let [x, y] = words[..] else {
        let n = words.len();
        return Err(format!(
            "{n} value{} instead of 2",
            if n == 1 { "" } else { "s" }
        ));
    };
    Ok([coordinate(x)?, coordinate(y)?])
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
    use super::{parse, read};
    use std::path::Path;

    fn error(text: &str) -> String {
        parse("atoms.txt", text).expect_err("malformed").to_string()
    }

    #[test]
    fn blanks_commas_comments_and_empty_lines() {
        let atoms =
            parse("atoms.txt", "# x y\n\n 0 0\n1.42\t-2e-1\r\n3, 4 # last\n").expect("fine");
        assert_eq!(
            (atoms.x, atoms.y),
            (vec![0.0, 1.42, 3.0], vec![0.0, -0.2, 4.0])
        );
    }

    #[test]
    fn an_empty_file_has_no_atoms() {
        assert!(parse("atoms.txt", "").expect("fine").is_empty());
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
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read(Path::new("no/such/file"))
            .expect_err("missing")
            .to_string();
        assert!(
            error.starts_with("could not read no/such/file: "),
            "{error}"
        );
    }
}
