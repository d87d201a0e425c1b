//! Input files: a file that a user names is read whole, up to a limit.
//!
//! `-` is standard input. The limit is there because a device or a pipe may never
//! end.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Longer than any PTX, CSV or JSON file that this program reads.
const MOST_BYTES: u64 = 256 << 20;

/// A file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path} cannot be read: {why}")]
pub struct InputError {
    path: String,
    why: String,
}

/// The file's name in messages.
pub fn name(path: &Path) -> String {
    if is_stdin(path) {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn error(path: &Path, why: impl ToString) -> InputError {
    InputError {
        path: name(path),
        why: why.to_string(),
    }
}

/// Opens a file, or standard input.
///
/// # Errors
///
/// It cannot be opened, or is a folder.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>, InputError> {
    if is_stdin(path) {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    if path.is_dir() {
        return Err(error(path, "it is a folder"));
    }
    match File::open(path) {
        Ok(file) => Ok(Box::new(BufReader::new(file))),
        Err(why) => Err(error(path, why)),
    }
}

/// The bytes of a file.
///
/// # Errors
///
/// It cannot be read, or it is longer than the limit.
pub fn bytes(path: &Path) -> Result<Vec<u8>, InputError> {
    at_most(path, MOST_BYTES)
}

fn at_most(path: &Path, most_bytes: u64) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    let read = open(path)?.take(most_bytes + 1).read_to_end(&mut bytes);
    read.map_err(|why| error(path, why))?;
    if bytes.len() as u64 > most_bytes {
        let why = format!(
            "it has more than {} MiB; no such file is that large",
            most_bytes >> 20
        );
        return Err(error(path, why));
    }
    Ok(bytes)
}

/// The text of a file, without a byte-order mark.
///
/// # Errors
///
/// As [`bytes`], and if it is not UTF-8.
pub fn text(path: &Path) -> Result<String, InputError> {
    let text = String::from_utf8(bytes(path)?).map_err(|_| error(path, "it is not UTF-8 text"))?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

#[cfg(test)]
mod tests {
    use super::{at_most, bytes, text};
    use std::path::Path;

    #[test]
    fn a_byte_order_mark_is_no_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        std::fs::write(&file, "\u{feff}text").expect("written");
        assert_eq!(text(&file).expect("it is text"), "text");
        std::fs::write(&file, [0xFF, 0xFE, b'x', 0]).expect("written");
        let error = text(&file).expect_err("UTF-16").to_string();
        assert!(error.ends_with("it is not UTF-8 text"), "{error}");
    }

    #[test]
    fn nothing_is_read_without_end() {
        let error = at_most(Path::new("/dev/zero"), 1 << 20).expect_err("endless");
        assert!(error.to_string().contains("more than 1 MiB"), "{error}");
    }

    #[test]
    fn a_folder_is_no_file() {
        let error = bytes(Path::new("/")).expect_err("a folder").to_string();
        assert_eq!(error, "/ cannot be read: it is a folder");
    }
}
