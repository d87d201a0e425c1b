//! An opcode split into parts, such as `ld.global.nc.v4.f32`.
//!
//! A decoder takes the parts that it understands. If any part is left at the end, the
//! instruction is not supported: a modifier is never silently ignored.

use super::isa::modifiers::first_type;
use ptx::ir::Type;

/// An opcode's mnemonic and modifiers.
pub(crate) struct Opcode<'a> {
    /// The first part, e.g. `ld`.
    pub name: &'a str,
    parts: Vec<Option<&'a str>>,
}

impl<'a> Opcode<'a> {
    /// Splits an opcode as written.
    pub fn new(text: &'a str) -> Self {
        let mut parts = text.split('.');
        let name = parts.next().unwrap_or("");
        Self {
            name,
            parts: parts.map(Some).collect(),
        }
    }

    /// Takes a modifier; gives whether it was there.
    pub fn take(&mut self, name: &str) -> bool {
        self.take_if(|part| (part == name).then_some(())).is_some()
    }

    /// Takes any of some modifiers that have no meaning here.
    pub fn ignore(&mut self, names: &[&str]) {
        for part in &mut self.parts {
            if part.is_some_and(|p| names.contains(&p)) {
                *part = None;
            }
        }
    }

    /// Takes the first modifier for which `f` gives something.
    pub fn take_if<T>(&mut self, f: impl Fn(&str) -> Option<T>) -> Option<T> {
        for part in &mut self.parts {
            if let Some(value) = part.and_then(&f) {
                *part = None;
                return Some(value);
            }
        }
        None
    }

    /// Takes the first modifier that has one of these names; gives what the name stands for.
    pub fn choose<T: Copy>(&mut self, names: &[(&str, T)]) -> Option<T> {
        self.take_if(|part| {
            let mut names = names.iter();
            names.find_map(|(name, value)| (*name == part).then_some(*value))
        })
    }

    /// Takes the first type.
    pub fn take_type(&mut self) -> Option<Type> {
        self.take_if(Type::from_name)
    }

    /// Takes the first type, which must be there.
    pub fn ty(&mut self) -> Result<Type, String> {
        if let Some(ty) = self.take_type() {
            return Ok(ty);
        }
        Err(match first_type(self.parts.iter().copied().flatten()) {
            Some(name) => format!("the type .{name} is not supported here"),
            None => "no type given".to_owned(),
        })
    }

    /// Which of some modifiers comes first.
    pub fn first_of<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        let mut parts = self.parts.iter().flatten();
        parts.find_map(|part| names.iter().copied().find(|name| name == part))
    }

    /// Whether a modifier is (still) there.
    pub fn has(&self, name: &str) -> bool {
        self.parts.iter().flatten().any(|p| *p == name)
    }

    /// An error if anything has not been taken.
    pub fn finish(&self) -> Result<(), String> {
        let left: Vec<String> = self
            .parts
            .iter()
            .flatten()
            .map(|p| format!(".{p}"))
            .collect();
        if left.is_empty() {
            Ok(())
        } else {
            Err(format!("{} is not known here", left.join("")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_taken_is_reported() {
        let mut op = Opcode::new("ld.global.nc.v4.f32");
        assert_eq!(op.name, "ld");
        assert!(op.take("global"));
        assert!(!op.take("global"));
        assert_eq!(op.take_type(), Some(Type::F32));
        assert!(op.finish().unwrap_err().starts_with(".nc.v4"));
        op.ignore(&["nc", "v4"]);
        assert!(op.finish().is_ok());
    }
}
