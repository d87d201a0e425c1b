//! Headers of entries and device functions.

use super::cursor::{Parser, Result};
use super::directives::Directives;
use super::names::Entity;
use crate::ir::{FuncId, Function, LaunchBounds, Linkage, Param, Type};
use crate::lexer::{Kind, Token};
use crate::suggest::{nearest, question};

/// Most bytes of parameters: what a kernel may have is 32,764.
const MAX_PARAM_BYTES: u64 = 32_764;

/// What ptxas allows before PTX 8.1.
const OLD_PARAM_BYTES: u64 = 4352;

/// What may appear between the parameters and the body.
const FUNCTION_DIRECTIVES: &[&str] = &[
    ".noreturn",
    ".maxntid",
    ".reqntid",
    ".minnctapersm",
    ".maxnctapersm",
    ".maxnreg",
    ".reqnctapercluster",
    ".maxclusterrank",
    ".explicitcluster",
    ".blocksareclusters",
    ".abi_preserve_control",
    ".abi_preserve",
    ".attribute",
    ".pragma",
];

/// Everything before a body.
struct Header<'a> {
    name: Token<'a>,
    is_entry: bool,
    params: Vec<(Token<'a>, Param)>,
    returns: Vec<(Token<'a>, Param)>,
    no_return: bool,
    bounds: LaunchBounds,
}

impl<'a> Parser<'a> {
    /// `.entry …` or `.func …`, with its body where it has one.
    pub fn function(&mut self, directives: Directives) -> Result<()> {
        let header = self.function_header()?;
        let name = header.name;
        self.check_params(&header)?;
        let id = self.declare_function(&header)?;
        self.set_linkage(id, directives.linkage);
        if directives.is_extern {
            self.pending.extern_functions.insert(id);
        }
        if self.accept(";")? {
            if header.is_entry && !directives.is_extern {
                // Its launch is a use.
                self.pending.first_uses.entry(id).or_insert(name.at);
            }
            return Ok(());
        }
        if !self.token.is("{") {
            return Err(self.unexpected("`{`, `;` or a directive such as `.maxntid`"));
        }
        let function = &mut self.module.functions[id.0 as usize];
        if function.body.is_some() {
            return Err(self.error_at(name.at, format!("`{}` has two bodies", name.text)));
        }
        // The definition's names count, not those of a declaration.
        function.params = without_names(&header.params);
        function.returns = without_names(&header.returns);
        function.bounds = header.bounds;
        function.line = name.at.line;
        self.inside = format!("the body of `{}`", name.text);
        self.body(id, &header.params, &header.returns)
    }

    /// The last directive of a function's declarations counts.
    fn set_linkage(&mut self, id: FuncId, linkage: Linkage) {
        if linkage != Linkage::Local {
            self.module.functions[id.0 as usize].linkage = linkage;
        }
    }

    fn function_header(&mut self) -> Result<Header<'a>> {
        let is_entry = self.take()?.text == ".entry";
        self.skip_function_attributes()?;
        let returns = if self.token.is("(") && !is_entry {
            self.params(is_entry)?
        } else {
            Vec::new()
        };
        let name = self.expect_word("the function's name")?;
        self.inside = format!("the header of `{}`", name.text);
        let params = if self.token.is("(") {
            self.params(is_entry)?
        } else {
            Vec::new()
        };
        let mut header = Header {
            name,
            is_entry,
            params,
            returns,
            no_return: false,
            bounds: LaunchBounds::default(),
        };
        while self.token.kind == Kind::Modifier {
            self.function_directive(&mut header)?;
        }
        Ok(header)
    }

    /// The parameters of a kernel, which the launch has to pass.
    fn check_params(&self, header: &Header<'a>) -> Result<()> {
        let end = header.params.last().map_or(0, |(_, last)| {
            u64::from(last.offset) + u64::from(last.size_bytes)
        });
        if header.is_entry && end > OLD_PARAM_BYTES && self.module.version < (8, 1) {
            let most = format!("before `.version 8.1` a kernel has at most {OLD_PARAM_BYTES}");
            let what = format!("the parameters take {end} bytes; {most}");
            return Err(self.error_at(header.name.at, what));
        }
        Ok(())
    }

    fn skip_function_attributes(&mut self) -> Result<()> {
        while self.accept_modifier(".attribute")? {
            self.skip_balanced("(", ")")?;
        }
        Ok(())
    }

    /// One directive between the parameters and the body.
    fn function_directive(&mut self, header: &mut Header<'a>) -> Result<()> {
        let directive = self.take()?;
        match directive.text {
            ".noreturn" => header.no_return = true,
            ".maxntid" => {
                let at = self.token.at;
                let block = self.extent()?;
                let n_threads = block.iter().try_fold(1_u32, |all, &n| all.checked_mul(n));
                let Some(n_threads) = n_threads else {
                    return Err(self.error_at(at, "no block has that many threads"));
                };
                header.bounds.max_threads = Some(n_threads);
            }
            ".reqntid" => header.bounds.required_block = Some(self.extent()?),
            ".minnctapersm" | ".maxnctapersm" => {
                let n_blocks = self.expect_u32("a number of blocks")?;
                if directive.text == ".minnctapersm" {
                    header.bounds.min_blocks = Some(n_blocks);
                }
            }
            ".maxnreg" => {
                header.bounds.max_registers = Some(self.expect_u32("a number of registers")?);
            }
            ".reqnctapercluster" => header.bounds.required_cluster = Some(self.extent()?),
            ".maxclusterrank" => {
                header.bounds.max_cluster = Some(self.expect_u32("a number of blocks")?);
            }
            ".explicitcluster" => header.bounds.needs_cluster = true,
            ".blocksareclusters" => header.bounds.blocks_are_clusters = true,
            ".abi_preserve_control" | ".abi_preserve" => {
                if matches!(self.token.kind, Kind::Int { .. }) {
                    self.take()?;
                }
            }
            ".attribute" => self.skip_balanced("(", ")")?,
            ".pragma" => self.skip_statement()?,
            name => {
                let known = question(nearest(name, FUNCTION_DIRECTIVES.iter().copied()));
                let what = format!("`{name}` is not a directive of a function{known}");
                return Err(self.error_at(directive.at, what));
            }
        }
        Ok(())
    }

    /// One to three numbers: an extent along x, y and z.
    fn extent(&mut self) -> Result<[u32; 3]> {
        let mut extent = [1; 3];
        for (axis, slot) in extent.iter_mut().enumerate() {
            if axis > 0 && !self.accept(",")? {
                break;
            }
            *slot = self.expect_u32("a number of threads or blocks")?;
        }
        Ok(extent)
    }

    /// `( .param …, .param … )`
    fn params(&mut self, is_entry: bool) -> Result<Vec<(Token<'a>, Param)>> {
        self.expect("(")?;
        let mut params: Vec<(Token<'a>, Param)> = Vec::new();
        let mut end = 0_u64;
        while !self.token.is(")") {
            let name_token = self.param(&mut end, is_entry)?;
            params.push(name_token);
            if !self.accept(",")? {
                break;
            }
        }
        if !self.token.is(")") {
            return Err(self.unexpected("`,` or `)`"));
        }
        self.take()?;
        Ok(params)
    }

    /// One parameter; `end` is where the parameters before it end.
    fn param(&mut self, end: &mut u64, is_entry: bool) -> Result<(Token<'a>, Param)> {
        self.linkage()?;
        let at = self.token.at;
        let in_register = self.accept_modifier(".reg")?;
        if in_register && is_entry {
            return Err(self.error_at(
                at,
                "a kernel has no parameters in registers: `.param` was expected",
            ));
        }
        if !in_register && !self.accept_modifier(".param")? {
            return Err(self.unexpected("`.param`"));
        }
        let mut element = self.element()?;
        if in_register && (element.ty == Type::Pred || element.width > 1) {
            return Err(self.error_at(at, "predicates and vectors cannot be passed in registers"));
        }
        self.pointer_attributes()?;
        // `.align` may also follow the type.
        if self.accept_modifier(".align")? {
            element.align = self.alignment()?;
        }
        let declared = self.declared(element)?;
        let align = u64::from(element.align);
        let offset = end.div_ceil(align) * align;
        *end = offset.saturating_add(declared.size_bytes);
        if *end > MAX_PARAM_BYTES {
            let what = format!("the parameters take more than {MAX_PARAM_BYTES} bytes");
            return Err(self.error_at(declared.name.at, what));
        }
        let param = Param {
            name: declared.name.text.to_owned(),
            ty: element.ty,
            size_bytes: declared.size_bytes as u32,
            align: element.align,
            offset: offset as u32,
            in_register,
        };
        Ok((declared.name, param))
    }

    /// `.ptr .global .align 16`: what a pointer points to, which only helps a
    /// compiler.
    fn pointer_attributes(&mut self) -> Result<()> {
        if !self.accept_modifier(".ptr")? {
            return Ok(());
        }
        if matches!(
            self.token.text,
            ".global" | ".const" | ".shared" | ".local" | ".param"
        ) {
            self.take()?;
        }
        if self.accept_modifier(".align")? {
            self.alignment()?;
        }
        Ok(())
    }

    /// The function of that name, declared before or now.
    fn declare_function(&mut self, header: &Header<'a>) -> Result<FuncId> {
        let name = header.name;
        match self.names.get(name.text) {
            Some(&Entity::Function(id)) => {
                let known = &mut self.module.functions[id.0 as usize];
                let same = known.is_entry == header.is_entry
                    && same_shape(&known.params, &header.params)
                    && same_shape(&known.returns, &header.returns);
                known.no_return |= header.no_return;
                if !same {
                    let before = format!("`{}` was declared on line {}", name.text, known.line);
                    return Err(self.error_at(name.at, before + " with other parameters"));
                }
                Ok(id)
            }
            Some(_) => Err(self.declared_twice(name)),
            None => {
                let id = FuncId(self.module.functions.len() as u32);
                self.names.insert(name.text, Entity::Function(id));
                self.module.functions.push(Function {
                    name: name.text.to_owned(),
                    is_entry: header.is_entry,
                    linkage: Linkage::Local,
                    input: 0,
                    no_return: header.no_return,
                    params: without_names(&header.params),
                    returns: without_names(&header.returns),
                    bounds: header.bounds,
                    registers: Vec::new(),
                    locals: Vec::new(),
                    labels: Vec::new(),
                    branch_targets: Vec::new(),
                    body: None,
                    line: name.at.line,
                });
                Ok(id)
            }
        }
    }
}

/// Whether two parameter lists take the same bytes.
fn same_shape(known: &[Param], new: &[(Token<'_>, Param)]) -> bool {
    known.len() == new.len() && known.iter().zip(new).all(|(a, (_, b))| a.has_shape_of(b))
}

/// Parameters without the places of their names.
fn without_names(params: &[(Token<'_>, Param)]) -> Vec<Param> {
    params.iter().map(|(_, param)| param.clone()).collect()
}
