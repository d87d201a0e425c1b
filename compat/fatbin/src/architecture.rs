//! The architecture that a piece of code was compiled for.

use std::fmt;

/// The devices other than its own that code runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variant {
    /// PTX runs on every later device.
    Portable,
    /// `f`: PTX runs on later devices of the same generation.
    Family,
    /// `a`: runs only on this architecture.
    Specific,
}

/// An architecture such as `sm_90a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Architecture {
    /// Compute capability times ten: 90.
    pub number: u32,
    /// The other devices that the code runs on.
    pub variant: Variant,
}

impl Architecture {
    /// Whether PTX for this architecture can be compiled for a device with that number.
    pub fn ptx_runs_on(self, device: u32) -> bool {
        match self.variant {
            Variant::Portable => self.number <= device,
            Variant::Family => self.number / 10 == device / 10 && self.number <= device,
            Variant::Specific => self.number == device,
        }
    }
}

/// The number and the letter, without `sm_` or `compute_`.
impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.variant {
            Variant::Portable => "",
            Variant::Family => "f",
            Variant::Specific => "a",
        };
        write!(f, "{}{letter}", self.number)
    }
}
