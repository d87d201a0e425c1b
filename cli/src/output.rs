//! Output files: the one way in which this program writes files that a user names.
//!
//! [`OutputFile::open`] tries a file before the work whose results it is for,
//! [`OutputFile::write`] writes the results after it. In between nothing
//! changes, so an interrupted run leaves everything as it was.
//!
//! - `-` and `/dev/stdout` are standard output.
//! - A device or a pipe is written to and never replaced.
//! - A regular file, even behind a symbolic link, is replaced as a whole: the content goes
//!   to a temporary file in the same folder, which then takes its place and its permissions.
//!
//! Left out: the owner, other names (hard links) and attributes of a file that is replaced;
//! dangling links are replaced themselves.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be written: {why}", .path.display())]
pub struct OutputError {
    path: PathBuf,
    why: io::Error,
}

impl OutputError {
    /// Whether its reader has gone away.
    pub fn is_unread(&self) -> bool {
        self.why.kind() == ErrorKind::BrokenPipe
    }
}

/// A file that will be written; its place has been checked.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    place: Place,
}

/// The destination of the content.
#[derive(Debug)]
enum Place {
    Stdout,
    /// A device or a pipe, open.
    Stream(File),
    /// A regular file, existing or not, with symbolic links resolved.
    Regular(PathBuf),
}

impl OutputFile {
    /// Finds out whether `path` can be written, and changes nothing. For a named pipe,
    /// it waits until there is a reader.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn open(path: &Path) -> Result<Self, OutputError> {
        let path = path.to_owned();
        match place(&path) {
            Ok(place) => Ok(Self { path, place }),
            Err(why) => Err(OutputError { path, why }),
        }
    }

    /// Whether the content goes to standard output.
    pub fn is_stdout(&self) -> bool {
        matches!(self.place, Place::Stdout)
    }

    /// Whether both would write the same file, so that one of them is lost.
    pub fn collides_with(&self, other: &Self) -> bool {
        match (&self.place, &other.place) {
            (Place::Stdout, Place::Stdout) => true,
            (Place::Regular(one), Place::Regular(another)) => one == another,
            _ => false,
        }
    }

    /// Whether it would write the file at `path`, which must only be read.
    pub fn would_replace(&self, path: &Path) -> bool {
        matches!(&self.place, Place::Regular(target)
            if fs::canonicalize(path).is_ok_and(|path| path == *target))
    }

    /// Writes the content; a regular file is written whole or not at all.
    ///
    /// # Errors
    ///
    /// It cannot be written now; a regular file is left unchanged.
    pub fn write(self, content: &[u8]) -> Result<(), OutputError> {
        let written = match self.place {
            Place::Stdout => write_all(&mut io::stdout().lock(), content),
            Place::Stream(mut file) => write_all(&mut file, content),
            Place::Regular(target) => replace(&target, content),
        };
        let path = self.path;
        written.map_err(|why| OutputError { path, why })
    }
}

fn write_all(out: &mut impl Write, content: &[u8]) -> io::Result<()> {
    out.write_all(content)?;
    out.flush()
}

fn place(path: &Path) -> io::Result<Place> {
    if [Path::new("-"), Path::new("/dev/stdout")].contains(&path) {
        return Ok(Place::Stdout);
    }
    let kind = match fs::metadata(path) {
        Ok(data) => data.file_type(),
        Err(error) if error.kind() == ErrorKind::NotFound => return new_file(path),
        Err(error) => return Err(error),
    };
    if kind.is_dir() {
        return Err(refusal(ErrorKind::IsADirectory, "it is a folder"));
    }
    if kind.is_block_device() || kind.is_socket() {
        return Err(refusal(ErrorKind::Unsupported, "it is a disk or a socket"));
    }
    let file = OpenOptions::new().write(true).open(path)?;
    if !kind.is_file() {
        return Ok(Place::Stream(file));
    }
    let target = fs::canonicalize(path)?;
    check_folder(folder_of(&target))?;
    Ok(Place::Regular(target))
}

/// The place of a file that does not exist yet.
fn new_file(path: &Path) -> io::Result<Place> {
    let name = match path.file_name() {
        Some(name) if !path.as_os_str().as_encoded_bytes().ends_with(b"/") => name,
        _ => return Err(refusal(ErrorKind::IsADirectory, "that names a folder")),
    };
    let folder = folder_of(path);
    if !folder.is_dir() {
        let why = format!("there is no folder {}", folder.display());
        return Err(refusal(ErrorKind::NotFound, &why));
    }
    check_folder(folder)?;
    Ok(Place::Regular(fs::canonicalize(folder)?.join(name)))
}

/// Creates a file in a folder, and removes it at once.
fn check_folder(folder: &Path) -> io::Result<()> {
    temporary_in(folder).map(drop).map_err(|error| {
        let why = format!("nothing can be created in {}: {error}", folder.display());
        refusal(error.kind(), &why)
    })
}

fn refusal(kind: ErrorKind, why: &str) -> io::Error {
    io::Error::new(kind, why.to_owned())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A new file with the default permissions of new files.
fn temporary_in(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new()
        .prefix(".lockstep-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
}

/// Lets a new file take the target's place.
fn replace(target: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = temporary_in(folder_of(target))?;
    if let Ok(old) = fs::metadata(target) {
        file.as_file().set_permissions(old.permissions())?;
    }
    write_all(&mut file, content)?;
    // Some file systems report only now that they are full.
    file.as_file().sync_all()?;
    file.persist(target)?;
    Ok(())
}
