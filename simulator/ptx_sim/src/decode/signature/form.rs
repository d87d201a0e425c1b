//! The form of an opcode.

use crate::decode::isa::table::{self, Form};
use crate::decode::refusal::Refusal;
use ptx::ir::Type;
use ptx::part::Part;

/// The types and the vector length of an opcode.
pub(super) struct Parts {
    pub types: Vec<Type>,
    /// Elements of a vector; 1 for a scalar.
    pub n_elements: usize,
}

impl Parts {
    pub fn new(parts: &[&str]) -> Self {
        let n_elements = parts.iter().find_map(|part| match *part {
            "v2" => Some(2),
            "v4" => Some(4),
            _ => None,
        });
        Self {
            types: parts
                .iter()
                .filter_map(|part| Type::from_name(part))
                .collect(),
            n_elements: n_elements.unwrap_or(1),
        }
    }
}

/// The form of an opcode, if it can be checked.
pub(super) fn find(
    mnemonic: &str,
    parts: &[&str],
    opcode: &Parts,
) -> Result<Option<&'static Form>, Refusal> {
    let of_name = || {
        let forms = table::forms(mnemonic).iter();
        forms.filter(|form| form.with.iter().all(|part| parts.contains(part)))
    };
    let most_special = of_name().map(|form| form.with.len()).max();
    let candidates = || of_name().filter(|form| Some(form.with.len()) == most_special);
    // A modifier that no candidate lists is the decoder's to judge.
    let listed = |part: &&str| {
        Type::from_name(part).is_some()
            || candidates().any(|form| {
                let needed = form.needs.as_ref().map_or(&[][..], |(_, names)| names);
                [&form.with, needed, &form.modifiers]
                    .iter()
                    .any(|list| list.contains(part))
            })
    };
    if candidates().next().is_none() || !parts.iter().all(listed) {
        return Ok(None);
    }
    let Some(&ty) = opcode.types.first() else {
        if let Some(form) = candidates().find(|form| form.types.is_empty()) {
            return Ok(Some(form));
        }
        let takes = types_of(candidates());
        let reason = format!("`{mnemonic}` needs a type: {takes}");
        return Err(Refusal::invalid(reason));
    };
    let found = candidates().find(|form| form.types.is_empty() || form.types.contains(&ty));
    if found.is_some() {
        return Ok(found);
    }
    let with = candidates().next().map_or(&[][..], |form| &form.with);
    let name = [&[mnemonic], with].concat().join(".");
    let takes = types_of(candidates());
    Err(
        Refusal::invalid(format!("`{name}` has no form for {ty}: it takes {takes}"))
            .at_part(type_part(ty)),
    )
}

/// The types that some forms take.
fn types_of(forms: impl Iterator<Item = &'static Form>) -> String {
    let mut all: Vec<Type> = Vec::new();
    for ty in forms.flat_map(|form| &form.types) {
        if !all.contains(ty) {
            all.push(*ty);
        }
    }
    any_of(all.iter().map(ToString::to_string))
}

/// The modifier that names a type.
pub(super) fn type_part(ty: Type) -> Part {
    Part::Modifier(ty.to_string().trim_start_matches('.').to_owned())
}

/// `a, b or c`
pub(super) fn any_of(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.collect();
    match names.pop() {
        None => String::new(),
        Some(last) if names.is_empty() => last,
        Some(last) => format!("{} or {last}", names.join(", ")),
    }
}
