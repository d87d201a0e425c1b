//! Refusals: why an instruction was refused, and where in it the fault lies.
//!
//! A decoder that cannot go on returns a text ([`Decoded`](super::decoder::Decoded)):
//! the instruction is not simulated. Whether an instruction is invalid is decided
//! separately from the decoders.

use ptx::ir::Operand;
use ptx::part::Part;

/// Who has to change something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Not PTX: ptxas refuses it as well, and so does loading the module.
    Invalid,
    /// PTX that is not simulated: reported when it is reached.
    Unsupported,
    /// Not known: perhaps newer than the simulator. Reported when it is reached.
    Unknown,
}

/// Why an instruction was refused.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub class: Class,
    /// What is wrong.
    pub reason: String,
    place: Place,
}

/// What is at fault.
#[derive(Clone, Debug)]
enum Place {
    /// A part identified by its kind.
    Part(Part),
    /// An operand, identified by its address. It is compared with those of the instruction,
    /// and never read.
    Operand(*const Operand),
}

impl Refusal {
    fn new(class: Class, reason: impl Into<String>) -> Self {
        Self {
            class,
            reason: reason.into(),
            place: Place::Part(Part::Opcode),
        }
    }

    /// Not PTX.
    pub fn invalid(reason: impl Into<String>) -> Self {
        Self::new(Class::Invalid, reason)
    }

    /// PTX that is not simulated.
    pub fn unsupported(reason: impl Into<String>) -> Self {
        Self::new(Class::Unsupported, reason)
    }

    /// Unknown.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self::new(Class::Unknown, reason)
    }

    /// It is this operand of the instruction, or this element of one.
    pub fn at(mut self, operand: *const Operand) -> Self {
        self.place = Place::Operand(operand);
        self
    }

    /// It is this part.
    pub fn at_part(mut self, part: Part) -> Self {
        self.place = Place::Part(part);
        self
    }

    /// The part of an instruction with these operands that is at fault.
    pub fn part(&self, operands: &[Operand]) -> Part {
        match &self.place {
            Place::Part(part) => part.clone(),
            Place::Operand(operand) => path(operands, *operand).map_or(Part::Opcode, Part::Operand),
        }
    }
}

/// The way to an operand: its number, and the numbers of elements in it.
fn path(operands: &[Operand], wanted: *const Operand) -> Option<Vec<usize>> {
    for (i, operand) in operands.iter().enumerate() {
        if std::ptr::eq(operand, wanted) {
            return Some(vec![i]);
        }
        let (inner, skipped) = match operand {
            Operand::Vector(elements) | Operand::List(elements) => (path(elements, wanted), 0),
            // The address itself comes first in the text.
            Operand::IndexedAddress(_, elements) => (path(elements, wanted), 1),
            Operand::Pair(first, second) => {
                let of = |operand: &Operand, n| std::ptr::eq(operand, wanted).then(|| vec![n]);
                (of(first, 0).or_else(|| of(second, 1)), 0)
            }
            _ => (None, 0),
        };
        if let Some(mut inner) = inner {
            inner[0] += skipped;
            inner.insert(0, i);
            return Some(inner);
        }
    }
    None
}
