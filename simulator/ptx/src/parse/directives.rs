//! The top level of a file: everything outside of functions.

use super::cursor::{Parser, Result};
use super::names::Entity;
use super::pending::{PendingOperand, PendingRelocation};
use crate::ir::{FuncId, Linkage, Operand, Relocation, RelocationTarget};
use crate::lexer::Kind;

/// Linkage directives before a declaration.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Directives {
    /// `.extern`: defined elsewhere.
    pub is_extern: bool,
    /// What the others say.
    pub linkage: Linkage,
}

/// `sm_` or `compute_`, a number, and perhaps a letter.
fn is_target(name: &str) -> bool {
    let number = name
        .strip_prefix("sm_")
        .or_else(|| name.strip_prefix("compute_"))
        .unwrap_or("");
    let digits = number.trim_end_matches(['a', 'f']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// What may appear outside of functions.
const MODULE_DIRECTIVES: &[&str] = &[
    ".entry", ".func", ".global", ".const", ".shared", ".file", ".section", ".pragma", ".alias",
    ".visible", ".extern", ".weak", ".common", ".loc",
];

impl<'a> Parser<'a> {
    /// A whole file.
    pub fn file(&mut self) -> Result<()> {
        self.header()?;
        while self.token.kind != Kind::End {
            self.item()?;
            self.inside.clear();
        }
        self.check_bodies()?;
        self.settle_operands()?;
        self.settle_relocations()?;
        self.check_functions_defined()
    }

    /// `.version`, which must come first, and `.target`.
    fn header(&mut self) -> Result<()> {
        self.inside = "the header".into();
        if !self.token.is_modifier(".version") {
            return Err(if self.token.kind == Kind::End {
                self.error_at(self.token.at, "the file is empty: `.version` was expected")
            } else {
                self.unexpected("`.version`, with which every PTX file starts")
            });
        }
        self.take()?;
        let at = self.token.at;
        let text = self.token.text;
        let version = match self.token.kind {
            Kind::F64(_) => text.split_once('.').and_then(|(major, minor)| {
                Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
            }),
            _ => None,
        };
        let Some(version) = version else {
            return Err(self.unexpected("a version such as `8.6`"));
        };
        self.take()?;
        if version.0 > 15 || version.0 == 0 {
            return Err(self.error_at(at, format!("there is no PTX version {text}")));
        }
        self.module.version = version;
        if !self.accept_modifier(".target")? {
            return Err(
                self.unexpected("`.target`, the GPU that it is for, such as `.target sm_80`")
            );
        }
        let target = self.expect_word("a target such as `sm_80`")?;
        if !is_target(target.text) {
            let what = "is not a GPU: a target such as `sm_80` was expected";
            return Err(self.error_at(target.at, format!("{} {what}", target.describe())));
        }
        self.module.target = target.text.to_owned();
        while self.accept(",")? {
            self.expect_word("a target option such as `debug`")?;
        }
        if self.accept_modifier(".address_size")? {
            let at = self.token.at;
            if self.expect_u32("64")? != 64 {
                let what = "only `.address_size 64` is supported: compile for 64 bits";
                return Err(self.error_at(at, what));
            }
        }
        Ok(())
    }

    /// One top-level item.
    fn item(&mut self) -> Result<()> {
        self.inside = "a declaration".into();
        if self.token.kind != Kind::Modifier {
            return Err(self.unexpected("a directive such as `.visible .entry` or `.global`"));
        }
        match self.token.text {
            ".file" => self.file_directive(),
            ".section" => self.section(),
            ".loc" => self.loc(None),
            ".pragma" => {
                self.take()?;
                self.skip_statement()
            }
            ".alias" => self.alias(),
            _ => {
                let linkage = self.linkage()?;
                match self.token.text {
                    ".entry" | ".func" => self.function(linkage),
                    ".global" | ".const" | ".shared" => self.module_variables(linkage),
                    _ => Err(self.mistyped(
                        MODULE_DIRECTIVES,
                        "`.entry`, `.func`, `.global`, `.const`, `.shared` or a `.file`, \
                         `.section`, `.pragma` or `.alias` directive",
                    )),
                }
            }
        }
    }

    /// Any of `.visible`, `.hidden`, `.extern`, `.weak`, `.common`.
    pub fn linkage(&mut self) -> Result<Directives> {
        let mut found = Directives::default();
        loop {
            match self.token.text {
                ".visible" | ".hidden" => found.linkage = Linkage::Visible,
                ".extern" => {
                    found.is_extern = true;
                    found.linkage = Linkage::Visible;
                }
                ".weak" => found.linkage = Linkage::Weak,
                ".common" => found.linkage = Linkage::Common,
                _ => return Ok(found),
            }
            self.take()?;
        }
    }

    /// `.file INDEX "PATH" [, TIME, SIZE]`
    pub fn file_directive(&mut self) -> Result<()> {
        self.take()?;
        let index = self.expect_u32("the file's index")?;
        let path = self.expect_text("the file's path in quotes")?.to_owned();
        while self.accept(",")? {
            self.constant()?;
        }
        self.module.files.push((index, path));
        Ok(())
    }

    /// `.section NAME { … }`, skipped.
    fn section(&mut self) -> Result<()> {
        self.take()?;
        self.inside = "a `.section`".into();
        if !matches!(self.token.kind, Kind::Modifier | Kind::Word) {
            return Err(self.unexpected("the section's name"));
        }
        self.take()?;
        self.skip_balanced("{", "}")
    }

    /// `.alias NAME, FUNCTION;`
    fn alias(&mut self) -> Result<()> {
        self.take()?;
        let name = self.expect_word("the new name")?;
        self.expect(",")?;
        let target = self.expect_word("the function it stands for")?;
        self.expect(";")?;
        let Some(&Entity::Function(function)) = self.names.get(target.text) else {
            let what = format!("{} is not a function declared before", target.describe());
            return Err(self.error_at(target.at, what));
        };
        // The alias itself may have been declared as a function first; uses
        // from here on mean the function it stands for.
        self.names.insert(name.text, Entity::Function(function));
        self.module.aliases.push((name.text.to_owned(), function));
        Ok(())
    }

    /// Operands whose name no scope knew: functions declared further down, or
    /// calls of functions that are declared nowhere.
    fn settle_operands(&mut self) -> Result<()> {
        let pending = std::mem::take(&mut self.pending.operands);
        for PendingOperand {
            name,
            function,
            instruction,
            operand,
            is_call,
        } in pending
        {
            let resolved = match self.names.get(name.text) {
                Some(&Entity::Function(target)) => {
                    self.pending.first_uses.entry(target).or_insert(name.at);
                    Operand::Function(target)
                }
                _ if is_call => return Err(self.unknown_function(name)),
                _ => return Err(self.unknown_name(name)),
            };
            let function = &mut self.module.functions[function.0 as usize];
            if let Some(body) = &mut function.body {
                body[instruction].operands[operand] = resolved;
            }
        }
        Ok(())
    }

    fn settle_relocations(&mut self) -> Result<()> {
        let pending = std::mem::take(&mut self.pending.relocations);
        for PendingRelocation {
            name,
            variable,
            offset,
            addend,
            generic,
            n_bytes,
            shift,
        } in pending
        {
            let target = match self.names.get(name.text) {
                Some(&Entity::Variable(target)) => RelocationTarget::Variable(target),
                Some(&Entity::Function(target)) => {
                    self.pending.first_uses.entry(target).or_insert(name.at);
                    RelocationTarget::Function(target)
                }
                _ => return Err(self.unknown_name(name)),
            };
            let variable = &mut self.module.variables[variable.0 as usize];
            variable.relocations.push(Relocation {
                offset,
                target,
                addend,
                generic,
                n_bytes,
                shift,
            });
        }
        Ok(())
    }

    /// Functions are declared, but none has a body: a file cut short.
    fn check_bodies(&self) -> Result<()> {
        let functions = &self.module.functions;
        let is_announced = |i: usize| !self.pending.extern_functions.contains(&FuncId(i as u32));
        if functions.iter().any(|function| function.body.is_some())
            || !(0..functions.len()).any(is_announced)
        {
            return Ok(());
        }
        Err(self.error_at(
            self.token.at,
            "the file ends without the body of any kernel or function: is it truncated?",
        ))
    }

    /// Every function that is used must have a body, unless it is `.extern`.
    fn check_functions_defined(&self) -> Result<()> {
        let function = |id: &FuncId| &self.module.functions[id.0 as usize];
        let uses = self.pending.first_uses.iter();
        let missing = uses.filter(|(id, _)| {
            function(id).body.is_none() && !self.pending.extern_functions.contains(id)
        });
        let Some((id, at)) = missing.min_by_key(|(_, at)| at.offset) else {
            return Ok(());
        };
        let what = format!(
            "`{}` is declared, but its body is nowhere in the file",
            function(id).name
        );
        Err(self.error_at(*at, what + ": is the file truncated?"))
    }
}
