//! Several PTX texts made one module, as `cuLinkAddData` and `cuLinkComplete` do.
//!
//! What is undefined in one text (`.extern`) is looked up among the global definitions of
//! others (`.visible`, `.weak`, `.common`); local names stay separate, even if they are the
//! same. Errors are the same as nvlink's, and so is the rule that the first of several
//! `.weak` definitions counts. In reading order: `error`; `symbols` finds what each name
//! stands for; `references` visits what an instruction names; `merge` renumbers everything.
//!
//! Left out: libraries, machine code, and code that nothing uses, which stays.

mod error;
mod merge;
mod references;
mod symbols;

pub use error::{Definition, LinkError, UndefinedSymbol};

use crate::decode;
use crate::module::Module;
use ptx::ir;
use symbols::Symbols;

/// Puts PTX texts together. Each is parsed as it is added.
///
/// ```
/// use ptx_sim::Linker;
///
/// let header = ".version 8.0\n.target sm_90\n.address_size 64\n";
/// let mut linker = Linker::new();
/// linker
///     .add("kernel.ptx", &format!("{header}.extern .func f(); .visible .entry k() {{ call f; ret; }}"))?
///     .add("f.ptx", &format!("{header}.visible .func f() {{ ret; }}"))?;
/// let module = linker.link()?;
/// assert!(module.kernel("k").is_some());
/// # Ok::<(), ptx_sim::LinkError>(())
/// ```
#[derive(Clone, Default)]
pub struct Linker {
    inputs: Vec<Input>,
}

/// A text that is linked.
#[derive(Clone)]
struct Input {
    name: String,
    text: String,
    module: ir::Module,
}

impl Linker {
    /// A linker without inputs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text; its name is for messages and reports.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn add(&mut self, name: &str, ptx: &str) -> Result<&mut Self, LinkError> {
        let module = ptx::parse::parse(ptx).map_err(|error| LinkError::Ptx {
            input: name.to_owned(),
            error,
        })?;
        self.inputs.push(Input {
            name: name.to_owned(),
            text: ptx.to_owned(),
            module,
        });
        Ok(self)
    }

    /// Makes them one module: names are resolved, lines stay those of each text.
    ///
    /// # Errors
    /// If a name is defined twice, differently or not at all, or a text is not PTX.
    pub fn link(self) -> Result<Module, LinkError> {
        let modules: Vec<&ir::Module> = self.inputs.iter().map(|input| &input.module).collect();
        let names: Vec<&str> = self.inputs.iter().map(|input| &*input.name).collect();
        if modules.is_empty() {
            return Err(LinkError::Empty);
        }
        let symbols = Symbols::of(&modules, &names)?;
        let (mut inputs, mut texts) = (Vec::new(), Vec::new());
        for input in self.inputs {
            inputs.push((input.name, input.module));
            texts.push(input.text);
        }
        let ir = merge::merge(inputs, &symbols)?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        match decode::decode(&ir, &texts) {
            Ok(program) => Ok(Module::new(ir, program)),
            Err(error) => Err(LinkError::Ptx {
                input: ir.inputs[error.input as usize].clone(),
                error: error.error,
            }),
        }
    }
}
