//! Output files: the one way in which this program writes what a user named.
//!
//! [`OutputFile::open`] tries a file before the work whose results it is for,
//! [`OutputFile::write`] writes the results behind it. In between nothing is
//! changed, so an interrupted run leaves everything as it was.
//!
//! - Nothing, or a regular file: the content goes to a temporary file in the same
//!   folder, which then takes the place of the old one. A file that has other names
//!   (hard links), or another owner, or a folder that may not be written, is
//!   overwritten in place instead.
//! - A symbolic link stays, and what it points to is written.
//! - A device, a pipe or an open descriptor (`/dev/stdout`, `/dev/fd/3`) is written
//!   into and never replaced. A disk is refused.
//! - `-` is standard output.
//!
//! Left out: access control lists and other attributes of a file that is replaced.
//! Only a file overwritten in place can be left half written, and only by a crash in
//! that very moment.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

/// A file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be written: {why}", .path.display())]
pub struct OutputError {
    path: PathBuf,
    why: io::Error,
}

impl OutputError {
    /// Whether it was to be read by somebody who has gone away.
    pub fn is_unread(&self) -> bool {
        self.why.kind() == ErrorKind::BrokenPipe
    }
}

/// A file that will be written; its place has been tried.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    place: Place,
}

/// Where the content goes.
#[derive(Debug)]
enum Place {
    Stdout,
    /// A device, a pipe or a descriptor, open.
    Stream(File),
    /// A regular file, open, or none yet.
    Regular {
        target: PathBuf,
        existing: Option<File>,
    },
}

impl OutputFile {
    /// Finds out whether `path` can be written, and changes nothing. A named pipe
    /// is waited for until it has a reader; `say` tells that.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn open(path: &Path, say: impl Fn(&str)) -> Result<Self, OutputError> {
        match place(path, say) {
            Ok(place) => Ok(Self {
                path: path.to_owned(),
                place,
            }),
            Err(why) => Err(OutputError {
                path: path.to_owned(),
                why,
            }),
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
            (
                Place::Regular { target: one, .. },
                Place::Regular {
                    target: another, ..
                },
            ) => one == another || is_same_file(one, another),
            _ => false,
        }
    }

    /// Whether it would write the file at `path`, which is only to be read.
    pub fn would_replace(&self, path: &Path) -> bool {
        matches!(&self.place, Place::Regular { target, .. } if is_same_file(target, path))
    }

    /// Writes the content, whole or not at all where that is possible.
    ///
    /// # Errors
    ///
    /// It cannot be written now; a regular file is as it was.
    pub fn write(self, content: &[u8]) -> Result<(), OutputError> {
        let written = match self.place {
            Place::Stdout => write_all(&mut io::stdout().lock(), content),
            Place::Stream(mut file) => write_all(&mut file, content),
            Place::Regular { target, existing } => write_regular(&target, existing, content),
        };
        written.map_err(|why| OutputError {
            path: self.path,
            why,
        })
    }
}

/// Whether both names lead to one existing file.
fn is_same_file(one: &Path, another: &Path) -> bool {
    let identity = |path| fs::metadata(path).map(|data| (data.dev(), data.ino())).ok();
    identity(one).is_some_and(|one| Some(one) == identity(another))
}

fn write_all(out: &mut impl Write, content: &[u8]) -> io::Result<()> {
    out.write_all(content)?;
    out.flush()
}

// ---------------------------------------------------------------------------
// Before the work
// ---------------------------------------------------------------------------

fn refusal(kind: ErrorKind, why: &str) -> io::Error {
    io::Error::new(kind, why.to_owned())
}

fn place(path: &Path, say: impl Fn(&str)) -> io::Result<Place> {
    if path == Path::new("-") {
        return Ok(Place::Stdout);
    }
    let target = match followed(path)? {
        Followed::Descriptor(1) => return Ok(Place::Stdout),
        Followed::Descriptor(number) => return Ok(Place::Stream(descriptor(number)?)),
        Followed::Path(target) => target,
    };
    match fs::metadata(&target) {
        Ok(data) => existing_place(target, &data, say),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            check_folder(&target)?;
            Ok(Place::Regular {
                target,
                existing: None,
            })
        }
        Err(error) => Err(error),
    }
}

/// What is there decides how it is written.
fn existing_place(target: PathBuf, data: &Metadata, say: impl Fn(&str)) -> io::Result<Place> {
    let kind = data.file_type();
    if kind.is_dir() {
        return Err(refusal(ErrorKind::IsADirectory, "it is a folder"));
    }
    if kind.is_block_device() {
        return Err(refusal(ErrorKind::PermissionDenied, "it is a disk"));
    }
    if kind.is_socket() {
        let why = "it is a socket, which only programs that know of it can write to";
        return Err(refusal(ErrorKind::Unsupported, why));
    }
    if kind.is_fifo() {
        say(&format!(
            "{} is a pipe: waiting until it is read",
            target.display()
        ));
    }
    if !kind.is_file() {
        return Ok(Place::Stream(OpenOptions::new().write(true).open(target)?));
    }
    Ok(Place::Regular {
        existing: Some(writable(&target)?),
        target,
    })
}

/// An existing file, open for writing and, if that is allowed, for reading.
fn writable(target: &Path) -> io::Result<File> {
    let both = OpenOptions::new().read(true).write(true).open(target);
    match both {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            OpenOptions::new().write(true).open(target)
        }
        both => both,
    }
}

/// Makes a file beside a file that is not there yet, and removes it at once.
fn check_folder(target: &Path) -> io::Result<()> {
    if target.as_os_str().as_bytes().ends_with(b"/") {
        return Err(refusal(ErrorKind::IsADirectory, "that names a folder"));
    }
    let folder = folder_of(target);
    if !folder.is_dir() {
        let why = format!("there is no folder {}", folder.display());
        return Err(refusal(ErrorKind::NotFound, &why));
    }
    temporary_beside(target).map(drop).map_err(|error| {
        let why = format!("nothing can be made in {}: {error}", folder.display());
        io::Error::new(error.kind(), why)
    })
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Where a path leads.
enum Followed {
    /// To an open descriptor of this process.
    Descriptor(RawFd),
    /// To a file or a place for one; no symbolic link.
    Path(PathBuf),
}

/// Follows symbolic links, also to what does not exist yet.
fn followed(path: &Path) -> io::Result<Followed> {
    /// As many as Linux follows.
    const MOST: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MOST {
        if let Some(number) = descriptor_number(&path) {
            return Ok(Followed::Descriptor(number));
        }
        match fs::read_link(&path) {
            Ok(link) => {
                let link = folder_of(&path).join(link);
                // Another process's descriptor is a link to no path.
                if !link.exists() && path.exists() {
                    return Ok(Followed::Path(path));
                }
                path = link;
            }
            Err(_) => return Ok(Followed::Path(path)),
        }
    }
    Err(refusal(
        ErrorKind::InvalidInput,
        "its symbolic links lead nowhere",
    ))
}

/// The number of a descriptor of this process: `/dev/stdout`, `/dev/fd/3`.
fn descriptor_number(path: &Path) -> Option<RawFd> {
    let text = path.to_str()?;
    match text {
        "/dev/stdin" => return Some(0),
        "/dev/stdout" => return Some(1),
        "/dev/stderr" => return Some(2),
        _ => {}
    }
    let number = ["/dev/fd/", "/proc/self/fd/"]
        .into_iter()
        .find_map(|folder| text.strip_prefix(folder))?;
    number.parse().ok().filter(|number| *number >= 0)
}

/// The same open file once more: opening its path anew would start at its
/// beginning, and fails for sockets.
fn descriptor(number: RawFd) -> io::Result<File> {
    // SAFETY: the number is not negative. Nothing of this process is closed
    // through it: it is only duplicated, which fails if it is not open.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    Ok(File::from(descriptor.as_fd().try_clone_to_owned()?))
}

// ---------------------------------------------------------------------------
// After the work
// ---------------------------------------------------------------------------

fn write_regular(target: &Path, existing: Option<File>, content: &[u8]) -> io::Result<()> {
    let Some(file) = existing else {
        check_still_nothing(target)?;
        return replace(target, None, content).map(drop);
    };
    let old = file.metadata()?;
    // Other names of the file would keep the old content.
    if old.nlink() <= 1 && replace(target, Some(&old), content)? {
        return Ok(());
    }
    overwrite(file, content)
}

/// Where nothing was before the work, there may be something now; a regular file
/// may be replaced.
fn check_still_nothing(target: &Path) -> io::Result<()> {
    match fs::symlink_metadata(target) {
        Ok(data) if !data.is_file() => {
            let why = "something that is no file has come into being there";
            Err(refusal(ErrorKind::AlreadyExists, why))
        }
        _ => Ok(()),
    }
}

/// Lets a new file take the target's place; `false` where the old one has to stay.
fn replace(target: &Path, old: Option<&Metadata>, content: &[u8]) -> io::Result<bool> {
    let may_stay = |error: &io::Error| old.is_some() && forbids_replacing(error);
    let mut file = match temporary_beside(target) {
        Ok(file) => file,
        Err(error) if may_stay(&error) => return Ok(false),
        Err(error) => return Err(error),
    };
    if let Some(old) = old {
        let new = file.as_file().metadata()?;
        let is_owned_alike = (new.uid(), new.gid()) == (old.uid(), old.gid());
        if !is_owned_alike && fchown(file.as_file(), Some(old.uid()), Some(old.gid())).is_err() {
            return Ok(false);
        }
        file.as_file().set_permissions(old.permissions())?;
    }
    write_all(&mut file, content)?;
    // Some file systems say only now that there is no room.
    file.as_file().sync_all()?;
    match file.persist(target) {
        Ok(_) => Ok(true),
        Err(error) if may_stay(&error.error) => Ok(false),
        Err(error) => Err(error.error),
    }
}

/// A new file in the target's folder, with the rights of any new file.
fn temporary_beside(target: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new()
        .prefix(".lockstep-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder_of(target))
}

/// Whether the folder keeps a file from being replaced that may be written.
fn forbids_replacing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::ResourceBusy
    )
}

/// Writes over an existing file; what it held comes back if that fails.
fn overwrite(mut file: File, content: &[u8]) -> io::Result<()> {
    let mut old = Vec::new();
    let is_kept = file.read_to_end(&mut old).is_ok();
    let Err(error) = set_content(&mut file, content) else {
        return Ok(());
    };
    if is_kept {
        // There was room for it a moment ago.
        set_content(&mut file, &old)?;
    }
    Err(error)
}

fn set_content(file: &mut File, content: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(content)?;
    file.set_len(content.len() as u64)?;
    file.sync_all()
}
