//! Statements of a body: declarations, labels, scopes and instructions.

use super::cursor::{Parser, Result};
use super::directives::Directives;
use super::names::{Entity, LabelEntity, Place, Scope, Scopes, Unresolved};
use super::pending::PendingOperand;
use super::variables::Element;
use crate::ir::{
    CallSiteId, FuncId, Guard, Instruction, Label, LabelId, Local, LocalId, Operand, Param,
    ParseError, RegId, SourceLoc, Space, Type,
};
use crate::lexer::{Kind, Token};

use std::collections::HashMap;

/// Nested `{ }` beyond this many are refused.
const MAX_SCOPES: usize = 256;

/// Most local memory a thread can have, in bytes.
const MAX_LOCAL_BYTES: u64 = 512 << 10;

/// A body as it is read.
pub(super) struct Body<'a> {
    pub function: FuncId,
    pub scopes: Scopes<'a>,
    pub instructions: Vec<Instruction>,
    /// Return values that are in registers.
    pub register_returns: Vec<RegisterReturn>,
    /// Additions that compute operands of the current instruction.
    pub sums: Vec<Instruction>,
    /// The bytes that the next vector load needs, a bit each.
    used_bytes: Option<u64>,
    pub locals: Vec<Local>,
    /// Bytes of `.local` variables so far.
    local_bytes: u64,
    branch_targets: Vec<Vec<LabelId>>,
    pub loc: Option<SourceLoc>,
    /// The call that each place was inlined at when it was last named.
    inlined: HashMap<(u32, u32, u32), CallSiteId>,
}

/// A return value in a register.
pub(super) struct RegisterReturn {
    pub register: RegId,
    pub ty: Type,
    pub index: u32,
}

impl<'a> Parser<'a> {
    /// A body, from its `{` on, and the function's share of the module.
    pub fn body(
        &mut self,
        function: FuncId,
        params: &[(Token<'a>, Param)],
        returns: &[(Token<'a>, Param)],
    ) -> Result<()> {
        let mut body = Body {
            function,
            scopes: Scopes::default(),
            instructions: Vec::new(),
            register_returns: Vec::new(),
            sums: Vec::new(),
            used_bytes: None,
            locals: Vec::new(),
            local_bytes: 0,
            branch_targets: Vec::new(),
            loc: None,
            inlined: HashMap::new(),
        };
        self.expect("{")?;
        body.scopes.open();
        for (index, (name, param)) in (0..).zip(params) {
            if param.in_register {
                self.register_param(&mut body, *name, (index, param))?;
            } else {
                self.declare(&mut body, *name, Entity::Param(index))?;
            }
        }
        for (index, (name, param)) in (0..).zip(returns) {
            if param.in_register {
                self.register_return(&mut body, *name, (index, param))?;
            } else {
                self.declare(&mut body, *name, Entity::Return(index))?;
            }
        }
        while body.scopes.depth() > 0 {
            self.statement(&mut body)?;
        }
        self.write_register_returns(&mut body, None);
        let function = &mut self.module.functions[function.0 as usize];
        function.registers = body.scopes.registers;
        function.labels = body.scopes.labels;
        function.locals = body.locals;
        function.branch_targets = body.branch_targets;
        function.body = Some(body.instructions);
        Ok(())
    }

    fn declare(&mut self, body: &mut Body<'a>, name: Token<'a>, entity: Entity) -> Result<()> {
        // `_` names parameters that nothing refers to.
        if name.text == "_" || body.scopes.declare(name.text, entity) {
            return Ok(());
        }
        Err(self.declared_twice(name))
    }

    fn statement(&mut self, body: &mut Body<'a>) -> Result<()> {
        let token = self.token;
        match token.kind {
            Kind::Word => {
                self.take()?;
                if self.token.is(":") {
                    self.take()?;
                    return self.label(body, token);
                }
                self.instruction(body, None, token)
            }
            Kind::Modifier => self.body_directive(body),
            Kind::Punctuation => match token.text {
                "{" => {
                    if body.scopes.depth() >= MAX_SCOPES {
                        let what = format!("scopes nested more than {MAX_SCOPES} deep");
                        return Err(self.error_at(token.at, what));
                    }
                    body.scopes.open();
                    self.take().map(|_| ())
                }
                "}" => {
                    // Close first: an error in what follows the body is not
                    // inside it.
                    if let Some(scope) = body.scopes.close() {
                        self.settle_scope(body, scope)?;
                    }
                    self.take().map(|_| ())
                }
                "@" => {
                    self.take()?;
                    let guard = self.guard(body)?;
                    let opcode = self.expect_word("an instruction")?;
                    self.instruction(body, Some(guard), opcode)
                }
                ";" => self.take().map(|_| ()),
                _ => Err(self.unexpected("an instruction, a label or a directive")),
            },
            _ => Err(self.unexpected("an instruction or `}`")),
        }
    }

    /// `p` or `!p` after `@`.
    fn guard(&mut self, body: &mut Body<'a>) -> Result<Guard> {
        let negated = self.accept("!")?;
        let name = self.expect_word("a predicate register")?;
        let register = self.predicate(body, name)?;
        match body.scopes.registers[register.0 as usize].ty {
            Type::Pred => Ok(Guard { register, negated }),
            _ => Err(self.no_predicate(name)),
        }
    }

    /// The register of one component that a name stands for, which may be a predicate.
    pub fn predicate(&self, body: &mut Body<'a>, name: Token<'a>) -> Result<RegId> {
        match body.scopes.lookup(name.text) {
            Some(Entity::Register(register, 1)) => Ok(register),
            Some(_) => Err(self.no_predicate(name)),
            None => Err(self.unknown_in_body(body, name)),
        }
    }

    fn no_predicate(&self, name: Token<'a>) -> ParseError {
        let what = format!("{} is not a predicate register", name.describe());
        self.error_at(name.at, what)
    }

    /// The rest of an instruction, its opcode's first word taken.
    fn instruction(
        &mut self,
        body: &mut Body<'a>,
        guard: Option<Guard>,
        first: Token<'a>,
    ) -> Result<()> {
        let mut opcode = first.text.to_owned();
        while self.token.kind == Kind::Modifier {
            opcode.push_str(self.take()?.text);
        }
        let is_call = opcode == "call" || opcode.starts_with("call.");
        let mut operands = Vec::with_capacity(4);
        let mut unresolved = Vec::new();
        if !self.token.is(";") {
            loop {
                let start = self.token;
                let operand = if is_call && start.is("(") {
                    self.argument_list(body)?
                } else {
                    self.operand(body)?
                };
                let operand = without_single_braces(operand);
                if operands.is_empty() && !body.sums.is_empty() && has_destination(&opcode) {
                    return Err(self.error_at(start.at, "a sum cannot be a destination"));
                }
                match &operand {
                    Operand::External(_) => unresolved.push((start, operands.len())),
                    Operand::Function(function) => {
                        self.pending.first_uses.entry(*function).or_insert(start.at);
                    }
                    _ => {}
                }
                operands.push(operand);
                // `call (ret) f (args)` may omit commas; other operands not.
                if self.accept(",")? || (is_call && !self.token.is(";")) {
                    if self.token.kind == Kind::End {
                        return Err(self.unexpected("`;`"));
                    }
                    continue;
                }
                break;
            }
        }
        if !self.token.is(";") {
            return Err(self.unexpected("`,` or `;`"));
        }
        if opcode == "ret" || opcode.starts_with("ret.") {
            self.write_register_returns(body, guard);
        }
        self.place_sums(body, guard);
        self.take()?;
        if let Some(scope) = body.scopes.innermost() {
            let instruction = body.instructions.len();
            for (name, operand) in unresolved {
                let place = Place::Operand {
                    instruction,
                    operand,
                };
                scope.unresolved.push(Unresolved { name, place });
            }
        }
        let used_bytes = body.used_bytes.take();
        body.instructions.push(Instruction {
            opcode,
            guard,
            operands,
            line: first.at.line,
            offset: first.at.offset as u32,
            loc: body.loc,
            used_bytes,
        });
        Ok(())
    }

    /// A label, its `:` taken.
    fn label(&mut self, body: &mut Body<'a>, name: Token<'a>) -> Result<()> {
        let entity = match self.token.text {
            ".branchtargets" => {
                self.take()?;
                let list = body.branch_targets.len();
                body.branch_targets.push(Vec::new());
                self.branch_targets(body, list)?;
                LabelEntity::Targets(list as u32)
            }
            ".callprototype" | ".calltargets" => {
                self.skip_statement()?;
                LabelEntity::Prototype
            }
            _ => {
                let id = LabelId(body.scopes.labels.len() as u32);
                let target = body.instructions.len() as u32;
                body.scopes.labels.push(Label {
                    name: name.text.to_owned(),
                    target,
                });
                LabelEntity::Label(id)
            }
        };
        let scope = body.scopes.innermost();
        if scope.is_some_and(|scope| scope.labels.insert(name.text, entity).is_none()) {
            return Ok(());
        }
        let what = format!(
            "the label {} is defined twice in these braces",
            name.describe()
        );
        Err(self.error_at(name.at, what + ": rename one of the two"))
    }

    /// `L0, L1, L2;` after `.branchtargets`.
    fn branch_targets(&mut self, body: &mut Body<'a>, list: usize) -> Result<()> {
        self.several(|parser| {
            let name = parser.expect_word("a label")?;
            let entries = &mut body.branch_targets[list];
            let entry = entries.len();
            // Replaced once the scope has ended.
            entries.push(LabelId(u32::MAX));
            if let Some(scope) = body.scopes.innermost() {
                let place = Place::Target { list, entry };
                scope.unresolved.push(Unresolved { name, place });
            }
            Ok(())
        })
    }

    /// Gives the names that a scope left open their labels, or hands them to
    /// the scope around it.
    fn settle_scope(&mut self, body: &mut Body<'a>, scope: Scope<'a>) -> Result<()> {
        let mut remaining = Vec::new();
        for unresolved in scope.unresolved {
            match (scope.labels.get(unresolved.name.text), unresolved.place) {
                (None, _) => remaining.push(unresolved),
                (
                    Some(&entity),
                    Place::Operand {
                        instruction,
                        operand,
                    },
                ) => {
                    let slot = &mut body.instructions[instruction].operands[operand];
                    match entity {
                        LabelEntity::Label(id) => *slot = Operand::Label(id),
                        LabelEntity::Targets(list) => *slot = Operand::BranchTargets(list),
                        LabelEntity::Prototype => {}
                    }
                }
                (Some(LabelEntity::Label(id)), Place::Target { list, entry }) => {
                    body.branch_targets[list][entry] = *id;
                }
                (Some(_), Place::Target { .. }) => {
                    let name = unresolved.name;
                    return Err(
                        self.error_at(name.at, format!("{} is not a label", name.describe()))
                    );
                }
            }
        }
        match body.scopes.innermost() {
            Some(outer) => outer.unresolved.append(&mut remaining),
            None => self.leave_to_file(body, &remaining)?,
        }
        Ok(())
    }

    /// Names that no scope of the body knows may be functions further down.
    fn leave_to_file(&mut self, body: &Body<'a>, names: &[Unresolved<'a>]) -> Result<()> {
        for unresolved in names {
            let Place::Operand {
                instruction,
                operand,
            } = unresolved.place
            else {
                return Err(self.unknown_label(body, unresolved.name));
            };
            let opcode = &body.instructions[instruction].opcode;
            let mnemonic = opcode.split('.').next().unwrap_or("");
            if matches!(mnemonic, "bra" | "brx") {
                return Err(self.unknown_label(body, unresolved.name));
            }
            self.pending.operands.push(PendingOperand {
                name: unresolved.name,
                function: body.function,
                instruction,
                operand,
                is_call: mnemonic == "call",
            });
        }
        Ok(())
    }

    /// A directive inside a body.
    fn body_directive(&mut self, body: &mut Body<'a>) -> Result<()> {
        match self.token.text {
            ".loc" => self.loc(Some(body)),
            ".file" => self.file_directive(),
            ".pragma" => self.pragma(body),
            ".reg" => {
                self.take()?;
                self.registers(body)
            }
            ".local" | ".param" => self.locals(body),
            _ => {
                let directives = self.linkage()?;
                if matches!(self.token.text, ".global" | ".const" | ".shared") {
                    return self.body_variables(body, directives);
                }
                Err(self.mistyped(
                    &[
                        ".reg", ".local", ".param", ".shared", ".global", ".const", ".loc",
                        ".pragma", ".file",
                    ],
                    "`.reg`, `.local`, `.param`, `.shared`, `.loc` or `.pragma`",
                ))
            }
        }
    }

    /// `.pragma "TEXT", …;`: one of them says which bytes of the next load matter.
    fn pragma(&mut self, body: &mut Body<'a>) -> Result<()> {
        self.take()?;
        self.several(|parser| {
            let at = parser.token.at;
            let text = parser.expect_text("a pragma in quotes")?;
            let Some(mask) = text.strip_prefix("used_bytes_mask ") else {
                return Ok(());
            };
            let mask = mask.trim();
            let number = match mask.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16),
                None => mask.parse(),
            };
            let wrong = || parser.error_at(at, format!("`{mask}` is not a mask of bytes"));
            body.used_bytes = Some(number.map_err(|_| wrong())?);
            Ok(())
        })
    }

    /// `.loc FILE LINE COLUMN [, function_name NAME, inlined_at FILE LINE COLUMN]`
    ///
    /// Line 0 means no line: what LLVM makes one instruction of several lines' has none. If all of
    /// them were inlined by one call, it stands there. A file index without a `.file` is not an error:
    /// no place is reported then. (ptxas warns of it.) A call that was itself inlined was named by an
    /// earlier `.loc` of its own, which says where.
    pub fn loc(&mut self, body: Option<&mut Body<'a>>) -> Result<()> {
        self.take()?;
        let file = self.expect_u32("a file index")?;
        let line = self.expect_u32("a line")?;
        let column = self.expect_u32("a column")?;
        let mut call = None;
        while self.accept(",")? {
            match self.expect_word("`function_name` or `inlined_at`")?.text {
                "function_name" => {
                    self.expect_word("the name's label")?;
                    self.offsets()?;
                }
                _ => {
                    let file = self.expect_u32("a file index")?;
                    let line = self.expect_u32("a line")?;
                    call = Some((file, line, self.expect_u32("a column")?));
                }
            }
        }
        let Some(body) = body else { return Ok(()) };
        let place = (file, line, column);
        let inlined_at = call.map(|(file, line, column)| {
            let inlined_at = body.inlined.get(&(file, line, column)).copied();
            self.call_site(SourceLoc {
                file,
                line,
                column,
                inlined_at,
            })
        });
        match inlined_at {
            Some(call) => body.inlined.insert(place, call),
            None => body.inlined.remove(&place),
        };
        body.loc = match line {
            0 => inlined_at.map(|CallSiteId(site)| self.module.call_sites[site as usize]),
            line => Some(SourceLoc {
                file,
                line,
                column,
                inlined_at,
            }),
        };
        Ok(())
    }

    /// The number of a call; equal ones have the same.
    fn call_site(&mut self, call: SourceLoc) -> CallSiteId {
        let sites = &mut self.module.call_sites;
        *self.pending.call_sites.entry(call).or_insert_with(|| {
            sites.push(call);
            CallSiteId(sites.len() as u32 - 1)
        })
    }

    /// `.reg .b32 %r<11>, %x;`, the directive taken.
    fn registers(&mut self, body: &mut Body<'a>) -> Result<()> {
        let Element { ty, width, .. } = self.element()?;
        if width > 4 {
            return Err(self.error_at(self.token.at, "a vector register has 2 or 4 components"));
        }
        self.several(|parser| {
            let name = parser.expect_word("a register's name")?;
            let is_new = if parser.accept("<")? {
                let Kind::Int { value: count, .. } = parser.token.kind else {
                    return Err(parser.unexpected("a number of registers"));
                };
                parser.take()?;
                parser.expect(">")?;
                body.scopes.declare_family(name.text, count, ty, width)
            } else {
                body.scopes.declare(name.text, Entity::Unused(ty, width))
            };
            match is_new {
                true => Ok(()),
                false => Err(parser.declared_twice(name)),
            }
        })
    }

    /// `.local` variables and call parameters.
    fn locals(&mut self, body: &mut Body<'a>) -> Result<()> {
        let space = if self.take()?.text == ".local" {
            Space::Local
        } else {
            Space::Param
        };
        let element = self.element()?;
        self.several(|parser| {
            let declared = parser.declared(element)?;
            let name = declared.name;
            let earlier = match space {
                Space::Local => body.local_bytes,
                _ => 0,
            };
            let total = earlier.saturating_add(declared.size_bytes);
            if total > MAX_LOCAL_BYTES {
                let with = match earlier {
                    0 => "",
                    _ => "with the local variables before it, ",
                };
                let what = format!("{with}`{}` takes {total} bytes", name.text);
                let most = format!("{what}, but a thread has at most {MAX_LOCAL_BYTES}");
                return Err(parser.error_at(name.at, most));
            }
            if space == Space::Local {
                body.local_bytes = total;
            }
            let id = LocalId(body.locals.len() as u32);
            body.locals.push(Local {
                name: name.text.to_owned(),
                space,
                size_bytes: declared.size_bytes as u32,
                align: element.align,
                array_element: declared.array_element(),
            });
            parser.declare(body, name, Entity::Local(id))
        })
    }

    /// `.shared`, `.global` and `.const` variables of a body.
    fn body_variables(&mut self, body: &mut Body<'a>, directives: Directives) -> Result<()> {
        let space = self.storage_space()?;
        let element = self.element()?;
        self.several(|parser| {
            let (id, name) = parser.variable(space, directives, element, Some(body.function))?;
            parser.declare(body, name, Entity::Variable(id))
        })
    }
}

/// Whether an instruction's first operand, if it is a register, is written.
fn has_destination(opcode: &str) -> bool {
    let name = opcode.split('.').next().unwrap_or("");
    !matches!(
        name,
        "st" | "red" | "bar" | "barrier" | "brx" | "nanosleep" | "call"
    )
}

/// `{ %r1 }` is `%r1`: inline assembly writes vectors of one element.
fn without_single_braces(operand: Operand) -> Operand {
    match operand {
        Operand::Vector(mut elements) if elements.len() == 1 => {
            elements.pop().unwrap_or(Operand::Sink)
        }
        other => other,
    }
}
