//! Modules, their functions and variables; libraries, which are modules of every context.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ptx_sim::ir::LaunchBounds;
use ptx_sim::{
    BlockNeeds, KernelAttributes, KernelInfo, LoadedModule, MAX_CLUSTER, MAX_NON_PORTABLE_CLUSTER,
    Managed, MemoryError, RegisterLimits,
};

use crate::context::Context;
use crate::driver::{SimDevice, driver};
use crate::handles::{Kind, Table};
use crate::host_memory::HostKind;
use crate::image::{Image, STATIC_SHARED_BYTES};
use crate::recorder::recorder;
use crate::status::{Outcome, Status};

/// Shared memory that a kernel may have by default, including the static part.
const SHARED_LIMIT: u32 = STATIC_SHARED_BYTES;

/// `CU_MEM_ATTACH_GLOBAL`
const ATTACH_GLOBAL: u32 = 1;

/// The module in an image. Errors go into the log.
fn read(image: &Image, log: &mut String) -> Outcome<ptx_sim::Module> {
    let (recorder, compute) = (recorder()?, driver()?.settings.compute);
    image.module(compute).map_err(|refusal| {
        let message = &refusal.message;
        recorder.not_loaded(format!("a module cannot be loaded: {message}"));
        log.push_str(message);
        refusal.status
    })
}

/// `CUmodule`
static MODULES: Table<Module> = Table::new(Kind::Module);
/// `CUfunction` and `CUkernel`
static FUNCTIONS: Table<Function> = Table::new(Kind::Function);
/// `CUlibrary`
static LIBRARIES: Table<Library> = Table::new(Kind::Library);

/// Memory of a module's managed variables, by name: all devices have it at the same address.
#[derive(Default)]
struct ManagedMemory(Mutex<HashMap<String, u64>>);

impl ManagedMemory {
    fn all(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place of a variable, created if needed.
    fn place(&self, name: &str, size_bytes: u64) -> Result<Managed, MemoryError> {
        let mut all = self.all();
        if let Some(&address) = all.get(name) {
            return Ok(Managed {
                address,
                is_new: false,
            });
        }
        let size = usize::try_from(size_bytes).map_err(|_| Status::OUT_OF_MEMORY);
        // No context owns it: it lives as long as the module.
        let made = size.and_then(|size| {
            let driver = driver()?;
            driver.allocate_host(HostKind::Variable, size, ATTACH_GLOBAL, 0)
        });
        let address = made.map_err(|_| MemoryError::HostOutOfMemory {
            requested: size_bytes,
            label: name.to_owned(),
        })?;
        all.insert(name.to_owned(), address);
        Ok(Managed {
            address,
            is_new: true,
        })
    }
}

impl Drop for ManagedMemory {
    fn drop(&mut self) {
        let Ok(driver) = driver() else { return };
        for &address in self.all().values() {
            driver.free_host(address, |kind| kind == HostKind::Variable);
        }
    }
}

/// A module on a device.
pub struct Module {
    /// Its handle.
    pub handle: usize,
    /// The handle of its context.
    pub context: usize,
    /// The device that it is on.
    pub device: Arc<SimDevice>,
    /// The simulator's module.
    pub loaded: LoadedModule,
    /// Register limits of its kernels.
    limits: RegisterLimits,
    /// Handles of its functions, by name.
    functions: Mutex<HashMap<String, usize>>,
    /// Its managed variables; a library shares its own with its modules.
    _managed: ManagedMemory,
}

impl Module {
    /// Loads an image into a context. Errors go into the log.
    pub fn load(
        context: &Context,
        image: &Image,
        limits: RegisterLimits,
        log: &mut String,
    ) -> Outcome<Arc<Self>> {
        let module = read(image, log)?;
        Self::place(context, (&module, image.limits(limits)), None)
    }

    /// Places a parsed module in a context, and its managed variables among those of its library,
    /// if it is in one.
    fn place(
        context: &Context,
        (module, limits): (&ptx_sim::Module, RegisterLimits),
        library: Option<&ManagedMemory>,
    ) -> Outcome<Arc<Self>> {
        let recorder = recorder()?;
        let own = ManagedMemory::default();
        let managed = library.unwrap_or(&own);
        let mut place = |name: &str, size_bytes| managed.place(name, size_bytes);
        let heap = match module.takes_memory() {
            true => Some(context.kernel_heap()?),
            false => None,
        };
        let sim = &context.device.sim;
        let loaded = sim.load_with_managed(module, &mut place, heap);
        let loaded = loaded.map_err(|error| match error {
            MemoryError::UndefinedVariable { .. } => {
                recorder.not_loaded(format!("a module cannot be loaded: {error}"));
                Status::SHARED_OBJECT_SYMBOL_NOT_FOUND
            }
            _ => Status::OUT_OF_MEMORY,
        })?;
        let handle = MODULES.reserve();
        let module = Arc::new(Self {
            handle,
            context: context.handle,
            device: Arc::clone(&context.device),
            loaded,
            limits,
            functions: Mutex::default(),
            _managed: own,
        });
        MODULES.insert(handle, Arc::clone(&module));
        Ok(module)
    }

    /// The module with this handle.
    pub fn of(handle: usize) -> Outcome<Arc<Self>> {
        MODULES.get(handle)
    }

    /// The handle of one of its functions.
    pub fn function(self: &Arc<Self>, name: &str) -> Outcome<usize> {
        let module = self.loaded.module();
        module.kernel(name).ok_or(Status::NOT_FOUND)?;
        Function::known(&self.functions, name, || Home::Module(Arc::clone(self)))
    }

    /// Names of its kernels.
    pub fn kernel_names(&self) -> Vec<String> {
        let kernels = self.loaded.module().kernels();
        kernels.map(|kernel| kernel.name.to_owned()).collect()
    }

    /// Unloads all modules of a context that ends.
    pub(crate) fn unload_all(context: usize) {
        let modules = MODULES.all();
        for module in modules.iter().filter(|m| m.context == context) {
            // If it was unloaded in the meantime, that did the same.
            let _ = module.unload();
        }
    }

    /// Unloads it from its device: its handle and those of its functions become invalid.
    pub fn unload(&self) -> Outcome {
        MODULES.remove(self.handle)?;
        let mut functions = self
            .functions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for (_, handle) in functions.drain() {
            let _ = FUNCTIONS.remove(handle);
        }
        self.device.sim.unload(&self.loaded);
        Ok(())
    }
}

/// The origin of a function.
enum Home {
    /// `CUfunction`
    Module(Arc<Module>),
    /// `CUkernel`
    Library(Arc<Library>),
}

/// A kernel that can be launched.
pub struct Function {
    /// Its name.
    pub name: CString,
    home: Home,
    /// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`
    pub dynamic_shared_limit: AtomicU32,
    /// `CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`
    pub is_non_portable: AtomicBool,
    /// `CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH` and so on, as set; 0 if not set.
    set_cluster: Mutex<[u32; 3]>,
}

impl Function {
    /// The handle of a function among those of its home, created if needed.
    fn known(
        all: &Mutex<HashMap<String, usize>>,
        name: &str,
        home: impl FnOnce() -> Home,
    ) -> Outcome<usize> {
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&handle) = all.get(name) {
            return Ok(handle);
        }
        let function = Self {
            name: CString::new(name).map_err(|_| Status::INVALID_VALUE)?,
            home: home(),
            dynamic_shared_limit: AtomicU32::new(SHARED_LIMIT),
            is_non_portable: AtomicBool::new(false),
            set_cluster: Mutex::new([0; 3]),
        };
        let handle = FUNCTIONS.add(Arc::new(function))?;
        all.insert(name.to_owned(), handle);
        Ok(handle)
    }

    /// The function with this handle.
    pub fn of(handle: usize) -> Outcome<Arc<Self>> {
        FUNCTIONS.get(handle)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.name.to_str().unwrap_or_default()
    }

    /// Its module in a context; for a library's kernel, that context's own module.
    pub fn module(&self, context: &Arc<Context>) -> Outcome<Arc<Module>> {
        match &self.home {
            Home::Module(module) if module.context == context.handle => Ok(Arc::clone(module)),
            Home::Module(_) => Err(Status::INVALID_HANDLE),
            Home::Library(library) => library.module(context),
        }
    }

    /// Its module for a node of a graph: its own, whatever context the graph is launched in; for a
    /// library's kernel, that of the context with this handle, or of the current one for 0.
    pub fn module_of_node(&self, context: usize) -> Outcome<Arc<Module>> {
        match (&self.home, context) {
            (Home::Module(module), _) => Ok(Arc::clone(module)),
            (Home::Library(library), 0) => library.module(&Context::current()?),
            (Home::Library(library), handle) => library.module(&Context::of(handle)?),
        }
    }

    /// The module that it is in, unless it is a library's.
    pub fn own_module(&self) -> Option<&Arc<Module>> {
        match &self.home {
            Home::Module(module) => Some(module),
            Home::Library(_) => None,
        }
    }

    /// The library that it is in, unless it is a module's.
    pub fn library(&self) -> Option<&Arc<Library>> {
        match &self.home {
            Home::Module(_) => None,
            Home::Library(library) => Some(library),
        }
    }

    /// Calls a function with information about the kernel.
    pub fn with_info<T>(&self, f: impl FnOnce(&KernelInfo<'_>) -> T) -> Outcome<T> {
        let parsed = match &self.home {
            Home::Module(module) => module.loaded.module(),
            Home::Library(library) => &library.parsed,
        };
        let info = parsed.kernel(self.name()).ok_or(Status::INVALID_HANDLE)?;
        Ok(f(&info))
    }

    /// Its attributes, as a driver reports them.
    pub fn attributes(&self) -> Outcome<KernelAttributes> {
        let (parsed, limits) = match &self.home {
            Home::Module(module) => (module.loaded.module(), module.limits),
            Home::Library(library) => (&library.parsed, library.limits),
        };
        let known = parsed.attributes_within(self.name(), limits);
        known.ok_or(Status::INVALID_HANDLE)
    }

    /// What a block of so many threads, with so much dynamic shared memory, takes of an SM.
    pub fn needs(&self, threads: u32, shared_bytes: usize) -> Outcome<BlockNeeds> {
        let known = self.attributes()?;
        let shared_bytes = u32::try_from(shared_bytes).unwrap_or(u32::MAX);
        Ok(BlockNeeds {
            threads,
            registers: known.registers,
            shared_bytes: known.static_shared_bytes.saturating_add(shared_bytes),
        })
    }

    /// Dynamic shared memory that it may have in addition to this much static: the usual limit
    /// covers both.
    pub fn dynamic_limit(&self, static_bytes: u32) -> u32 {
        match self.dynamic_shared_limit.load(Ordering::Relaxed) {
            SHARED_LIMIT => SHARED_LIMIT.saturating_sub(static_bytes),
            limit => limit,
        }
    }

    /// Number of blocks in the largest cluster that it may be launched with.
    pub fn most_of_cluster(&self) -> u32 {
        match self.is_non_portable.load(Ordering::Relaxed) {
            true => MAX_NON_PORTABLE_CLUSTER,
            false => MAX_CLUSTER,
        }
    }

    /// Blocks per cluster, by axis, as set by the client.
    pub fn set_cluster(&self) -> Option<[u32; 3]> {
        let set = *self.cluster_set();
        set.iter().all(|&n| n > 0).then_some(set)
    }

    /// Blocks per cluster, by axis, that it requires: by its PTX, or as set.
    pub fn required_cluster(&self, bounds: &LaunchBounds) -> Option<[u32; 3]> {
        bounds.required_cluster.or_else(|| self.set_cluster())
    }

    /// What was set, axis by axis.
    pub fn cluster_set(&self) -> MutexGuard<'_, [u32; 3]> {
        let set = self.set_cluster.lock();
        set.unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the limit of its dynamic shared memory.
    pub fn set_dynamic_shared_limit(&self, bytes: i32) -> Outcome {
        let all = driver()?.device(0)?.sim.config().shared_limit;
        let own = self.with_info(|info| info.static_shared_bytes)?;
        let bytes = u32::try_from(bytes).map_err(|_| Status::INVALID_VALUE)?;
        Status::INVALID_VALUE.when(bytes > all.saturating_sub(own))?;
        self.dynamic_shared_limit.store(bytes, Ordering::Relaxed);
        Ok(())
    }
}

/// A library: a module that every context gets when it first uses it.
pub struct Library {
    /// Its handle.
    pub handle: usize,
    parsed: ptx_sim::Module,
    /// Register limits of its kernels.
    limits: RegisterLimits,
    /// Its modules, by context.
    modules: Mutex<HashMap<usize, Arc<Module>>>,
    managed: ManagedMemory,
    /// Handles of its kernels, by name.
    kernels: Mutex<HashMap<String, usize>>,
}

impl Library {
    /// Reads an image. Errors go into the log.
    pub fn load(image: &Image, limits: RegisterLimits, log: &mut String) -> Outcome<Arc<Self>> {
        let parsed = read(image, log)?;
        let handle = LIBRARIES.reserve();
        let library = Arc::new(Self {
            handle,
            parsed,
            limits: image.limits(limits),
            modules: Mutex::default(),
            managed: ManagedMemory::default(),
            kernels: Mutex::default(),
        });
        LIBRARIES.insert(handle, Arc::clone(&library));
        Ok(library)
    }

    /// The library with this handle.
    pub fn of(handle: usize) -> Outcome<Arc<Self>> {
        LIBRARIES.get(handle)
    }

    /// Its module in a context.
    pub fn module(&self, context: &Arc<Context>) -> Outcome<Arc<Module>> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(&context.handle) {
            return Ok(Arc::clone(module));
        }
        let module = Module::place(context, (&self.parsed, self.limits), Some(&self.managed))?;
        modules.insert(context.handle, Arc::clone(&module));
        Ok(module)
    }

    /// Address and size of a managed variable, once the library has a module in a context.
    pub fn managed(&self, name: &str, context: &Arc<Context>) -> Outcome<(u64, u64)> {
        let module = self.module(context)?;
        let is_managed = self.managed.all().contains_key(name);
        let variable = module.loaded.variable(name).filter(|_| is_managed);
        variable.ok_or(Status::NOT_FOUND)
    }

    /// Makes all libraries forget their modules in a context that ends, which unloads those.
    pub(crate) fn leave_all(context: usize) {
        for library in LIBRARIES.all() {
            let modules = library.modules.lock();
            modules
                .unwrap_or_else(PoisonError::into_inner)
                .remove(&context);
        }
    }

    /// The handle of one of its kernels.
    pub fn kernel(self: &Arc<Self>, name: &str) -> Outcome<usize> {
        self.parsed.kernel(name).ok_or(Status::NOT_FOUND)?;
        Function::known(&self.kernels, name, || Home::Library(Arc::clone(self)))
    }

    /// Names of its kernels.
    pub fn kernel_names(&self) -> Vec<String> {
        let kernels = self.parsed.kernels();
        kernels.map(|kernel| kernel.name.to_owned()).collect()
    }

    /// Unloads it from all devices.
    pub fn unload(&self) -> Outcome {
        LIBRARIES.remove(self.handle)?;
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, module) in modules.drain() {
            let _ = module.unload();
        }
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, handle) in kernels.drain() {
            let _ = FUNCTIONS.remove(handle);
        }
        Ok(())
    }
}
