//! The values of the source's variables at a moment of a launch.

use std::sync::{Arc, Mutex, PoisonError};

use ptx::ir::Space;
use ptx_sim::debug::{Known, Moment, Session};

use crate::element::{Element, Number, number};
use crate::expression::NoValue;
use crate::variables::{Location, Piece, Place, Type, Variable, Variables};

/// The variables of a launch's module. They are read once for launches one after the other.
pub fn of(session: &Session<'_, '_>) -> Arc<Variables> {
    static LAST: Mutex<Option<(Arc<str>, Arc<Variables>)>> = Mutex::new(None);
    let Some(text) = session.text() else {
        return Arc::default();
    };
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, variables)) = &*last
        && Arc::ptr_eq(known, text)
    {
        return Arc::clone(variables);
    }
    let variables = Arc::new(Variables::of(text, session.module()));
    *last = Some((Arc::clone(text), Arc::clone(&variables)));
    variables
}

/// A call of a thread, as far as its variables' bytes can be read.
pub trait Call {
    /// A register of the function, by its name.
    fn register(&self, name: &str) -> Option<u128>;
    /// Bytes of memory that the function knows by a name.
    fn memory(&self, space: Space, name: &str, offset: u64, n_bytes: u64) -> Option<Vec<u8>>;
}

/// The bytes of a piece of a variable.
pub fn bytes(call: &impl Call, piece: &Piece) -> Option<Vec<u8>> {
    match &piece.place {
        Place::Register(name) => {
            let bits = call.register(name)?.to_le_bytes();
            Some(bits.get(..piece.size as usize)?.to_vec())
        }
        Place::Constant(bytes) => Some(bytes.clone()),
        Place::Memory {
            space,
            name,
            offset,
        } => call.memory(*space, name, *offset, piece.size),
        Place::Lost(_) => None,
    }
}

/// A variable's value as a number, if it is one.
pub fn value(call: &impl Call, variable: &Variable) -> Result<Number, NoValue> {
    let no = |why: String| NoValue(format!("`{}`: {why}", variable.name));
    let element = match &*variable.ty {
        Type::Bool => Element::Unsigned(1),
        Type::Char => Element::Unsigned(4),
        Type::Integer { is_signed, size } if *size <= 8 => match is_signed {
            true => Element::Signed(*size as u8),
            false => Element::Unsigned(*size as u8),
        },
        Type::Float { size: 4 } => Element::F32,
        Type::Float { size: 8 } => Element::F64,
        Type::Pointer { size, .. } if *size <= 8 => Element::Unsigned(*size as u8),
        other => return Err(no(format!("a {} is not a number", other.name()))),
    };
    let pieces = match &variable.location {
        Location::Pieces(pieces) => pieces,
        Location::Lost(reason) => return Err(no(reason.to_string())),
    };
    let mut all = vec![0; element.bytes() as usize];
    for piece in pieces {
        let bytes = bytes(call, piece).ok_or_else(|| match &piece.place {
            Place::Lost(reason) => no(reason.to_string()),
            _ => no("no longer kept".to_owned()),
        })?;
        for (to, from) in all.iter_mut().skip(piece.offset as usize).zip(bytes) {
            *to = from;
        }
    }
    Ok(number(element, &all))
}

/// The innermost call of a thread at a moment.
pub struct Now<'a> {
    pub at: &'a Moment<'a>,
    pub lane: u32,
    /// Its registers, by name.
    pub program: &'a crate::program::Program,
}

impl Call for Now<'_> {
    fn register(&self, name: &str) -> Option<u128> {
        let register = self.program.register(self.at.function(), name)?;
        match self.at.register(register, self.lane) {
            Known::Is(value) => Some(value.bits),
            _ => None,
        }
    }

    fn memory(&self, space: Space, name: &str, offset: u64, n_bytes: u64) -> Option<Vec<u8>> {
        let address = self.at.address_of(space, name)?.checked_add(offset)?;
        match space {
            Space::Local => {
                let address = u64::from(self.at.local_base()).checked_add(address)?;
                let address = u32::try_from(address).ok()?;
                self.at
                    .local(self.lane, address, u32::try_from(n_bytes).ok()?)
            }
            Space::Shared => self.at.shared(address, n_bytes),
            Space::Param => part(&self.at.parameters(), address, n_bytes),
            _ => self.at.global(address, n_bytes),
        }
    }
}

/// A part of some bytes; none if not all of it is there.
pub fn part(bytes: &[u8], address: u64, n_bytes: u64) -> Option<Vec<u8>> {
    let start = usize::try_from(address).ok()?;
    let end = start.checked_add(usize::try_from(n_bytes).ok()?)?;
    Some(bytes.get(start..end)?.to_vec())
}
