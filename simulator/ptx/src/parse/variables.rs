//! Variables: `.global`, `.const`, `.shared`, `.local`, and `.param` inside a
//! body.

use super::cursor::{Parser, Result};
use super::directives::Directives;
use super::names::Entity;
use crate::ir::{FuncId, MAX_CONST_BYTES, Space, Type, VarId, Variable};
use crate::lexer::{Kind, Token};
use crate::suggest::{nearest, question};

/// Largest alignment accepted, in bytes. No memory is aligned to more than a
/// page.
const MAX_ALIGN: u32 = 4096;

/// More dimensions than any compiler writes; a bound on nesting.
const MAX_DIMENSIONS: usize = 16;

/// Largest variable accepted: more than any GPU's memory.
const MAX_SIZE_BYTES: u64 = 1 << 40;

/// Types as they are written, to guess at mistyped ones.
const TYPES: &[&str] = &[
    ".pred", ".b8", ".b16", ".b32", ".b64", ".b128", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16",
    ".s32", ".s64", ".f16", ".f16x2", ".bf16", ".bf16x2", ".f32", ".f64",
];

/// What stands before the name in a declaration: `.align 16 .v4 .f32`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    pub ty: Type,
    /// 1, or 2, 4 or 8 for a vector type.
    pub width: u8,
    /// Alignment in bytes, as given or by the type.
    pub align: u32,
    /// `.attribute(.managed)`
    pub is_managed: bool,
}

/// One declared object.
#[derive(Clone, Debug)]
pub(super) struct Declared<'a> {
    pub name: Token<'a>,
    pub element: Element,
    /// Lengths of the dimensions, outermost first, the vector's last; the
    /// first is 0 where the declaration leaves it open.
    pub dimensions: Vec<u64>,
    /// Size in bytes; 0 where the first dimension is open.
    pub size_bytes: u64,
}

impl Declared<'_> {
    /// The type of an array's elements.
    pub fn array_element(&self) -> Option<Type> {
        let is_array = self.dimensions.len() > usize::from(self.element.width > 1);
        is_array.then_some(self.element.ty)
    }
}

impl<'a> Parser<'a> {
    /// Attributes and type of a declaration, up to the name.
    pub fn element(&mut self) -> Result<Element> {
        let mut align = None;
        let mut width = 1_u8;
        let mut is_managed = false;
        loop {
            let token = self.token;
            if token.kind != Kind::Modifier {
                return Err(self.unexpected("a type such as `.b32`"));
            }
            self.take()?;
            match token.text {
                ".align" => align = Some(self.alignment()?),
                ".attribute" => is_managed |= self.managed_attribute()?,
                ".v2" => width = 2,
                ".v4" => width = 4,
                ".v8" => width = 8,
                name => {
                    let Some(ty) = name.get(1..).and_then(Type::from_name) else {
                        return Err(self.not_a_type(token));
                    };
                    let natural = ty.size_bytes() * u32::from(width);
                    return Ok(Element {
                        ty,
                        width,
                        align: align.unwrap_or(natural),
                        is_managed,
                    });
                }
            }
        }
    }

    /// The list after `.attribute`: whether `.managed` is in it. Other attributes say nothing
    /// that a simulator needs.
    fn managed_attribute(&mut self) -> Result<bool> {
        self.expect("(")?;
        let mut is_managed = false;
        while !self.accept(")")? {
            if self.token.kind == Kind::End {
                return Err(self.unexpected("`)`"));
            }
            if self.token.is("(") {
                self.skip_balanced("(", ")")?;
            } else {
                is_managed |= self.take()?.is_modifier(".managed");
            }
        }
        Ok(is_managed)
    }

    fn not_a_type(&self, token: Token<'a>) -> super::ParseError {
        let name = token.text;
        let message = match name {
            ".texref" | ".samplerref" | ".surfref" => format!(
                "`{name}`: textures and surfaces are PTX, but not simulated: pass a pointer to \
                 global memory and read through it instead"
            ),
            _ => format!(
                "found `{name}`, expected a type such as `.b32`{}",
                question(nearest(name, TYPES.iter().copied()))
            ),
        };
        self.error_at(token.at, message)
    }

    /// The number after `.align`.
    pub fn alignment(&mut self) -> Result<u32> {
        let at = self.token.at;
        let align = self.expect_u32("an alignment in bytes")?;
        if !align.is_power_of_two() || align > MAX_ALIGN {
            let expected = format!("a power of two up to {MAX_ALIGN} was expected");
            let what = format!("{align} is not a valid alignment: {expected}");
            return Err(self.error_at(at, what));
        }
        Ok(align)
    }

    /// A name and its dimensions.
    pub fn declared(&mut self, element: Element) -> Result<Declared<'a>> {
        let name = self.expect_word("a name")?;
        let mut dimensions = Vec::new();
        while self.accept("[")? {
            if self.token.is("]") {
                if !dimensions.is_empty() {
                    return Err(self.unexpected("a length: only the first may be left open"));
                }
                dimensions.push(0);
            } else {
                let at = self.token.at;
                let length = self.integer_constant()?;
                if length == 0 && !dimensions.is_empty() || length > MAX_SIZE_BYTES {
                    return Err(self.error_at(at, format!("{length} is not a valid array length")));
                }
                dimensions.push(length);
            }
            self.expect("]")?;
            if dimensions.len() > MAX_DIMENSIONS {
                return Err(
                    self.error_at(name.at, format!("more than {MAX_DIMENSIONS} dimensions"))
                );
            }
        }
        if element.width > 1 {
            dimensions.push(u64::from(element.width));
        }
        let size_bytes = dimensions
            .iter()
            .try_fold(u64::from(element.ty.size_bytes()), |size, &length| {
                size.checked_mul(length)
            })
            .filter(|&size| size <= MAX_SIZE_BYTES);
        let Some(size_bytes) = size_bytes else {
            let what = format!("`{}` is larger than {MAX_SIZE_BYTES} bytes", name.text);
            return Err(self.error_at(name.at, what));
        };
        Ok(Declared {
            name,
            element,
            dimensions,
            size_bytes,
        })
    }

    /// Variables at module scope; the state space is the current token.
    pub fn module_variables(&mut self, directives: Directives) -> Result<()> {
        let space = self.storage_space()?;
        let element = self.element()?;
        self.several(|parser| {
            let (variable, name) = parser.variable(space, directives, element, None)?;
            parser.module_name(variable, name)
        })
    }

    /// Takes `.global`, `.const` or `.shared`.
    pub fn storage_space(&mut self) -> Result<Space> {
        let space = match self.token.text {
            ".global" => Space::Global,
            ".const" => Space::Const,
            ".shared" => Space::Shared,
            _ => return Err(self.unexpected("`.global`, `.const` or `.shared`")),
        };
        self.take()?;
        if space == Space::Const && self.token.is("[") {
            return Err(self.error_at(
                self.token.at,
                "numbered constant banks are not simulated: write `.const` without `[ ]`",
            ));
        }
        Ok(space)
    }

    /// One variable with storage, initialiser included. It is added to the
    /// module, but not yet to any scope.
    pub fn variable(
        &mut self,
        space: Space,
        directives: Directives,
        element: Element,
        scope: Option<FuncId>,
    ) -> Result<(VarId, Token<'a>)> {
        let mut declared = self.declared(element)?;
        let name = declared.name;
        self.check_size(&declared, space, directives)?;
        if element.is_managed && space != Space::Global {
            let name = name.text;
            return Err(self.error_at(
                declared.name.at,
                format!("`{name}` cannot be `.managed`: only `.global` variables are"),
            ));
        }
        let id = VarId(self.module.variables.len() as u32);
        let mut init = Vec::new();
        if self.accept("=")? {
            if space == Space::Shared || directives.is_extern {
                let why = match directives.is_extern {
                    true => "`.extern`",
                    false => "in shared memory",
                };
                let what = format!("`{}` cannot have an initialiser: it is {why}", name.text);
                return Err(self.error_at(name.at, what));
            }
            init = self.initialiser(&mut declared, id)?;
        }
        self.module.variables.push(Variable {
            name: name.text.to_owned(),
            space,
            align: element.align,
            size_bytes: declared.size_bytes,
            is_extern: directives.is_extern,
            is_managed: element.is_managed,
            linkage: directives.linkage,
            init,
            relocations: Vec::new(),
            scope,
            line: name.at.line,
            array_element: declared.array_element(),
        });
        Ok((id, name))
    }

    /// What no GPU has room for.
    fn check_size(
        &mut self,
        declared: &Declared<'a>,
        space: Space,
        directives: Directives,
    ) -> Result<()> {
        let (name, n_bytes) = (declared.name, declared.size_bytes);
        let message = match space {
            Space::Shared if u32::try_from(n_bytes).is_err() => format!(
                "`{}` takes {n_bytes} bytes, more than shared memory has addresses",
                name.text
            ),
            Space::Const if !directives.is_extern => {
                let start = self.pending.const_bytes;
                let start = start.next_multiple_of(u64::from(declared.element.align.max(1)));
                let end = start.saturating_add(n_bytes);
                self.pending.const_bytes = end;
                if end <= MAX_CONST_BYTES {
                    return Ok(());
                }
                format!(
                    "with `{}` the constants take {end} bytes, but a module has at most \
                     {MAX_CONST_BYTES}: put large tables in `.global`",
                    name.text
                )
            }
            _ => return Ok(()),
        };
        Err(self.error_at(name.at, message))
    }

    /// Enters the variable just added under its name at module scope. An
    /// `.extern` declaration and its definition become one variable.
    fn module_name(&mut self, id: VarId, name: Token<'a>) -> Result<()> {
        let earlier = match self.names.get(name.text) {
            None => {
                self.names.insert(name.text, Entity::Variable(id));
                return Ok(());
            }
            Some(&Entity::Variable(earlier)) => earlier,
            Some(_) => return Err(self.declared_twice(name)),
        };
        let Some(new) = self.module.variables.pop() else {
            return Ok(());
        };
        let Some(old) = self.module.variables.get_mut(earlier.0 as usize) else {
            return Ok(());
        };
        if old.space != new.space || !(old.is_extern || new.is_extern) {
            return Err(self.declared_twice(name));
        }
        if old.is_extern {
            *old = new;
            for relocation in &mut self.pending.relocations {
                if relocation.variable == id {
                    relocation.variable = earlier;
                }
            }
        }
        Ok(())
    }

    /// A name that its scope has already.
    pub fn declared_twice(&self, name: Token<'a>) -> super::ParseError {
        self.error_at(name.at, format!("{} is declared twice", name.describe()))
    }
}
