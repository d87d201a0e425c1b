//! Values that the host reads and nobody has written.

use ptx_sim::Omission;
use std::fmt;

/// Values of a buffer that were read, and that neither the host nor a kernel has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritten {
    /// The buffer's name.
    pub buffer: String,
    /// The first such value, counted from the buffer's first.
    pub first: u64,
    /// How many there are.
    pub n_unwritten: u64,
    /// How many values were read.
    pub n_read: u64,
    /// The thread that would have written the first one, as the others wrote theirs; `None` if the
    /// addresses of their stores do not tell.
    pub omission: Option<Omission>,
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            buffer,
            first,
            n_unwritten,
            n_read,
            ..
        } = self;
        write!(
            f,
            "`{buffer}`: of {n_read} values read, {n_unwritten} were never written, value {first} first"
        )?;
        let cure = match &self.omission {
            Some(omission) => {
                write!(f, "\n  {omission}")?;
                match omission.was_launched() {
                    true => "have that thread store",
                    false => "launch more blocks",
                }
            }
            None => "have a thread store each value",
        };
        write!(
            f,
            "\n  what to do: {cure}; if values are left out on purpose, read the others by `read_of`, \
             all by `read_with_gaps`, or give them a value before the launch (`zeroed`, `upload`)"
        )
    }
}
