//! A PTX module, parsed and decoded.

use std::sync::Arc;

use crate::decode::{self, layout::SharedLayout};
use crate::ir;
use crate::program::Program;

/// A PTX module. Cheap to clone.
#[derive(Clone)]
pub struct Module {
    inner: Arc<Inner>,
}

struct Inner {
    ir: ir::Module,
    program: Program,
}

/// What a host needs to know of a kernel.
#[derive(Clone, Debug)]
pub struct KernelInfo<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its parameters, in order.
    pub params: &'a [ir::Param],
    /// The launch limits that it declares.
    pub bounds: ir::LaunchBounds,
    /// Static shared memory of a block, in bytes.
    pub static_shared_bytes: u32,
    /// Local memory of a thread, in bytes, without what it calls.
    pub local_bytes: u32,
    /// Whether it names dynamic shared memory.
    pub uses_dynamic_shared: bool,
}

impl Module {
    /// Parses and decodes PTX text. Instructions that the simulator does not
    /// know are no error until they are executed.
    ///
    /// # Errors
    /// The first place that is not PTX.
    pub fn parse(source: &str) -> Result<Self, ir::ParseError> {
        let ir = crate::parse::parse(source)?;
        let program = decode::decode(&ir);
        Ok(Self {
            inner: Arc::new(Inner { ir, program }),
        })
    }

    /// Its kernels, in order of appearance.
    pub fn kernels(&self) -> impl Iterator<Item = KernelInfo<'_>> {
        self.ir().entries().filter_map(|f| self.kernel(&f.name))
    }

    /// The kernel of a name.
    pub fn kernel(&self, name: &str) -> Option<KernelInfo<'_>> {
        let (id, function) = self.ir().function(name)?;
        if !function.is_entry {
            return None;
        }
        let shared = SharedLayout::of(self.ir(), self.program(), id);
        let decoded = self.program().functions[id.0 as usize].as_ref()?;
        Some(KernelInfo {
            name: &function.name,
            params: &function.params,
            bounds: function.bounds,
            static_shared_bytes: shared.static_bytes,
            local_bytes: decoded.local_bytes,
            uses_dynamic_shared: shared.is_dynamic,
        })
    }

    /// The parsed text.
    pub fn ir(&self) -> &ir::Module {
        &self.inner.ir
    }

    pub(crate) fn program(&self) -> &Program {
        &self.inner.program
    }
}
