//! The meaning of names, at module scope and in the nested scopes of a body.
//!
//! A register gets its number when an instruction first names it: `%r<100>` declares a
//! family of names, which cost nothing until they are used.

use std::collections::HashMap;

use crate::ir::{FuncId, Label, LabelId, LocalId, RegId, Register, Type, VarId};
use crate::suggest::{nearest, question};

/// Names at module scope.
pub(super) type Names<'a> = HashMap<&'a str, Entity>;

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entity {
    /// A register; a vector register is `width` registers in a row.
    Register(RegId, u8),
    /// A register declared but not yet named by an instruction.
    Unused(Type, u8),
    Variable(VarId),
    Function(FuncId),
    Param(u32),
    Return(u32),
    Local(LocalId),
}

/// What a label stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum LabelEntity {
    /// A place in the body.
    Label(LabelId),
    /// A `.branchtargets` list.
    Targets(u32),
    /// A `.callprototype` or `.calltargets`, which carry no meaning here.
    Prototype,
}

/// A family of registers, `%r<count>`.
#[derive(Clone, Copy, Debug)]
struct Family {
    count: u64,
    ty: Type,
    width: u8,
}

/// The names declared between one `{` and its `}`.
#[derive(Debug, Default)]
pub(super) struct Scope<'a> {
    names: HashMap<&'a str, Entity>,
    families: HashMap<&'a str, Family>,
    /// Labels, which may be used before they stand.
    pub labels: HashMap<&'a str, LabelEntity>,
    /// Uses of names that may turn out to be labels of this scope.
    pub unresolved: Vec<Unresolved<'a>>,
}

/// A name used before it is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unresolved<'a> {
    pub name: crate::lexer::Token<'a>,
    pub place: Place,
}

/// Where an unresolved name is used.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// Operand number `operand` of instruction number `instruction`.
    Operand { instruction: usize, operand: usize },
    /// Entry `entry` of branch target list `list`.
    Target { list: usize, entry: usize },
}

/// The scopes open at a point of a body, and the registers and labels that
/// they have given numbers to.
#[derive(Debug, Default)]
pub(super) struct Scopes<'a> {
    stack: Vec<Scope<'a>>,
    pub registers: Vec<Register>,
    pub labels: Vec<Label>,
}

/// The components of a vector register, in order.
const COMPONENTS: [&str; 4] = [".x", ".y", ".z", ".w"];

/// Index of a vector component, named by place or by colour.
pub(super) fn component_index(name: &str) -> Option<u8> {
    Some(match name {
        ".x" | ".r" => 0,
        ".y" | ".g" => 1,
        ".z" | ".b" => 2,
        ".w" | ".a" => 3,
        _ => return None,
    })
}

impl<'a> Scopes<'a> {
    pub fn open(&mut self) {
        self.stack.push(Scope::default());
    }

    /// Closes the innermost scope and gives what it left unresolved, with its
    /// labels.
    pub fn close(&mut self) -> Option<Scope<'a>> {
        self.stack.pop()
    }

    pub fn depth(&self) -> usize {
        self.stack.len()
    }

    pub fn innermost(&mut self) -> Option<&mut Scope<'a>> {
        self.stack.last_mut()
    }

    /// Declares a name in the innermost scope; `false` if it has one already.
    #[must_use]
    pub fn declare(&mut self, name: &'a str, entity: Entity) -> bool {
        let Some(scope) = self.stack.last_mut() else {
            return false;
        };
        scope.names.insert(name, entity).is_none()
    }

    /// Declares `prefix0` … `prefix(count-1)`; `false` if the innermost scope
    /// has that family already.
    #[must_use]
    pub fn declare_family(&mut self, prefix: &'a str, count: u64, ty: Type, width: u8) -> bool {
        let Some(scope) = self.stack.last_mut() else {
            return false;
        };
        scope
            .families
            .insert(prefix, Family { count, ty, width })
            .is_none()
    }

    /// What `name` means here; the innermost declaration wins. A register is
    /// given its number.
    pub fn lookup(&mut self, name: &'a str) -> Option<Entity> {
        for depth in (0..self.stack.len()).rev() {
            let scope = &mut self.stack[depth];
            let declared = match scope.names.get(name) {
                Some(Entity::Unused(ty, width)) => Some((*ty, *width)),
                Some(entity) => return Some(*entity),
                None => family_member(&scope.families, name),
            };
            if let Some((ty, width)) = declared {
                let entity = self.number_register(name, ty, width);
                self.stack[depth].names.insert(name, entity);
                return Some(entity);
            }
        }
        None
    }

    /// A register that no name stands for.
    pub fn unnamed_register(&mut self, ty: Type) -> RegId {
        let id = RegId(self.registers.len() as u32);
        let name = format!("(sum {})", id.0);
        self.registers.push(Register { name, ty });
        id
    }

    /// All names that a lookup here would find. Of a family, only the first name.
    pub fn visible(&self) -> impl Iterator<Item = &str> {
        self.stack
            .iter()
            .flat_map(|scope| scope.names.keys().copied())
    }

    /// What is wrong with `name` if it is near a family such as `%r<5>`.
    pub fn near_family(&self, name: &str) -> Option<String> {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        if prefix.len() == name.len() {
            return None;
        }
        let families = || self.stack.iter().rev().flat_map(|scope| &scope.families);
        if let Some((_, family)) = families().find(|(known, _)| **known == prefix) {
            return Some(match family.count {
                0 => format!(": `{prefix}<0>` declares none"),
                count => format!(
                    ": `{prefix}<{count}>` declares `{prefix}0` to `{prefix}{}`",
                    count - 1
                ),
            });
        }
        let known = nearest(prefix, families().map(|(known, _)| *known))?;
        let number = &name[prefix.len()..];
        Some(question(Some(&format!("{known}{number}"))))
    }

    fn number_register(&mut self, name: &str, ty: Type, width: u8) -> Entity {
        let id = RegId(self.registers.len() as u32);
        if width == 1 {
            self.registers.push(Register {
                name: name.to_owned(),
                ty,
            });
        } else {
            for component in COMPONENTS.iter().take(usize::from(width)) {
                self.registers.push(Register {
                    name: format!("{name}{component}"),
                    ty,
                });
            }
        }
        Entity::Register(id, width)
    }
}

/// The type and width of `name` if it belongs to a family such as `%r<11>`.
fn family_member(families: &HashMap<&str, Family>, name: &str) -> Option<(Type, u8)> {
    if families.is_empty() {
        return None;
    }
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
    // A prefix may itself end in digits: `%x1<4>` has the member `%x12`.
    for (split, _) in name.char_indices().skip(prefix.len()) {
        let (prefix, digits) = name.split_at(split);
        let has_leading_zero = digits.len() > 1 && digits.starts_with('0');
        if has_leading_zero || digits.len() > 19 {
            continue;
        }
        if let Some(family) = families.get(prefix)
            && digits
                .parse::<u64>()
                .is_ok_and(|number| number < family.count)
        {
            return Some((family.ty, family.width));
        }
    }
    None
}
