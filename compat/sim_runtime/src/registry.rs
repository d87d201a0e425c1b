//! The program's kernels and variables, as registered by the code that nvcc puts into it.
//!
//! A fat binary is one library of the driver, which has a module for each context; it is loaded
//! when something in it is first used. The program identifies a kernel or variable by an address in
//! its own memory.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use crate::current;
use crate::driver;
use crate::error::{Error, Outcome, told_as};
use crate::layouts::{Dim3, DriverKernelNode, KernelNode};
use crate::linking;

/// A fat binary of the program.
pub struct FatBinary {
    /// Address of the structure that the program registers.
    image: usize,
    /// The driver's library, or why there is none.
    library: OnceLock<Outcome<usize>>,
}

impl FatBinary {
    /// The driver's library, loaded if necessary.
    fn library(&self) -> Outcome<usize> {
        *self.library.get_or_init(|| {
            current::ready()?;
            let image = std::ptr::with_exposed_provenance::<c_void>(self.image);
            // SAFETY: the program vouches for what it registers.
            unsafe { linking::load(image) }
        })
    }
}

/// A kernel or a variable.
struct Entity {
    fat: Arc<FatBinary>,
    name: CString,
    /// The driver's kernel, once it is known.
    kernel: OnceLock<usize>,
}

/// Everything that is registered, by address.
#[derive(Default)]
struct Registry {
    fats: HashMap<usize, Arc<FatBinary>>,
    kernels: HashMap<usize, Arc<Entity>>,
    variables: HashMap<usize, Arc<Entity>>,
}

static REGISTRY: RwLock<Option<Registry>> = RwLock::new(None);

/// Changes the registry.
fn change<T>(change: impl FnOnce(&mut Registry) -> T) -> T {
    let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
    change(registry.get_or_insert_default())
}

/// Looks something up in the registry.
fn look<T>(look: impl FnOnce(&Registry) -> Option<T>) -> Option<T> {
    let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
    registry.as_ref().and_then(look)
}

/// Registers a fat binary; returns its handle.
pub fn add_fat_binary(image: usize) -> usize {
    let fat = Arc::new(FatBinary {
        image,
        library: OnceLock::new(),
    });
    let handle = Arc::as_ptr(&fat).expose_provenance();
    change(|registry| registry.fats.insert(handle, fat));
    handle
}

/// Removes a fat binary and unloads it.
pub fn remove_fat_binary(handle: usize) {
    let removed = change(|registry| {
        let fat = registry.fats.remove(&handle)?;
        let others = |_: &usize, entity: &mut Arc<Entity>| !Arc::ptr_eq(&entity.fat, &fat);
        registry.kernels.retain(others);
        registry.variables.retain(others);
        Some(fat)
    });
    let library = removed.and_then(|fat| fat.library.get().copied());
    if let Some(Ok(library)) = library {
        // SAFETY: it takes no pointers.
        let _ = unsafe { driver::cuLibraryUnload(library) };
    }
}

/// Loads a fat binary.
pub fn load_fat_binary(handle: usize) -> Outcome {
    let fat = look(|registry| registry.fats.get(&handle).cloned());
    fat.ok_or(Error::INVALID_VALUE)?.library().map(drop)
}

fn entity(fat: usize, name: CString) -> Option<Arc<Entity>> {
    let fat = look(|registry| registry.fats.get(&fat).cloned())?;
    Some(Arc::new(Entity {
        fat,
        name,
        kernel: OnceLock::new(),
    }))
}

/// Registers a kernel of a fat binary under an address.
pub fn add_kernel(fat: usize, host: usize, name: CString) {
    if let Some(entity) = entity(fat, name) {
        change(|registry| registry.kernels.insert(host, entity));
    }
}

/// Registers a variable of a fat binary under an address.
pub fn add_variable(fat: usize, host: usize, name: CString) {
    if let Some(entity) = entity(fat, name) {
        change(|registry| registry.variables.insert(host, entity));
    }
}

/// The driver's kernel for an address, or the kernel that the address itself is.
pub fn kernel(host: usize) -> Outcome<usize> {
    let Some(entity) = look(|registry| registry.kernels.get(&host).cloned()) else {
        // What `cudaGetKernel` returned is the driver's own.
        return match host {
            0 => Err(Error::INVALID_DEVICE_FUNCTION),
            kernel => Ok(kernel),
        };
    };
    if let Some(&kernel) = entity.kernel.get() {
        return Ok(kernel);
    }
    let library = entity.fat.library()?;
    let mut kernel = 0;
    // SAFETY: the pointers are valid for the call.
    let found = unsafe { driver::cuLibraryGetKernel(&mut kernel, library, entity.name.as_ptr()) };
    told_as(
        found,
        Error::SYMBOL_NOT_FOUND,
        Error::INVALID_DEVICE_FUNCTION,
    )?;
    Ok(*entity.kernel.get_or_init(|| kernel))
}

/// The address that one of the driver's kernels is registered under, if any.
pub fn host_of(kernel: usize) -> Option<usize> {
    look(|registry| {
        let mut kernels = registry.kernels.iter();
        let found = kernels.find(|(_, entity)| entity.kernel.get() == Some(&kernel));
        found.map(|(&host, _)| host)
    })
}

impl DriverKernelNode {
    /// In the runtime's form: a kernel of the program is identified by its address there.
    pub fn for_runtime(&self) -> KernelNode {
        let kernel = match self.node.kernel {
            0 => self.kernel,
            function => function,
        };
        self.node.of(host_of(kernel).unwrap_or(kernel))
    }
}

impl KernelNode {
    /// In the driver's form.
    pub fn for_driver(&self) -> Outcome<DriverKernelNode> {
        Ok(DriverKernelNode::new(self.of(kernel(self.kernel)?)))
    }
}

/// Whether an address is that of a registered kernel.
pub fn is_kernel(host: usize) -> bool {
    look(|registry| registry.kernels.get(&host).map(drop)).is_some()
}

/// Address and size of a variable on the thread's device.
pub fn variable(host: usize) -> Outcome<(u64, usize)> {
    let entity = look(|registry| registry.variables.get(&host).cloned());
    let entity = entity.ok_or(Error::INVALID_SYMBOL)?;
    current::ready()?;
    let library = entity.fat.library()?;
    let (mut address, mut n_bytes) = (0, 0);
    // SAFETY: the pointers are valid for the call.
    let found = unsafe {
        driver::cuLibraryGetGlobal(&mut address, &mut n_bytes, library, entity.name.as_ptr())
    };
    told_as(found, Error::SYMBOL_NOT_FOUND, Error::INVALID_SYMBOL)?;
    Ok((address, n_bytes))
}

/// A managed variable of the program.
struct Managed {
    fat: Arc<FatBinary>,
    /// Where the program expects its address.
    slot: usize,
    name: CString,
}

fn managed() -> MutexGuard<'static, Vec<Managed>> {
    static MANAGED: Mutex<Vec<Managed>> = Mutex::new(Vec::new());
    MANAGED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers a managed variable, whose address will be stored in `slot`.
pub fn add_managed(fat: usize, slot: usize, name: CString) {
    if let Some(fat) = look(|registry| registry.fats.get(&fat).cloned()) {
        managed().push(Managed { fat, slot, name });
    }
}

/// Gives the program the addresses of its managed variables.
pub fn place_managed(handle: usize) -> Outcome {
    let all = managed();
    let mut own = all
        .iter()
        .filter(|variable| Arc::as_ptr(&variable.fat).addr() == handle);
    own.try_for_each(|variable| {
        current::ready()?;
        let (library, mut address, mut n_bytes) = (variable.fat.library()?, 0, 0);
        let name = variable.name.as_ptr();
        // SAFETY: the pointers are valid for the call, and the slot is the program's.
        unsafe {
            driver::cuLibraryGetManaged(&mut address, &mut n_bytes, library, name)?;
            std::ptr::with_exposed_provenance_mut::<u64>(variable.slot).write(address);
        }
        Ok(())
    })
}

/// What is between `<<<` and `>>>`.
#[derive(Clone, Copy, Debug)]
pub struct Configuration {
    /// Blocks.
    pub grid: Dim3,
    /// Threads per block.
    pub block: Dim3,
    /// Dynamic shared memory per block.
    pub shared_bytes: usize,
    /// The stream.
    pub stream: usize,
}

thread_local! {
    static CONFIGURATIONS: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a configuration for its launch.
pub fn push_configuration(configuration: Configuration) {
    let _ = CONFIGURATIONS.try_with(|all| all.borrow_mut().push(configuration));
}

/// The configuration that was kept last.
pub fn pop_configuration() -> Outcome<Configuration> {
    let last = CONFIGURATIONS.try_with(|all| all.borrow_mut().pop());
    last.ok().flatten().ok_or(Error::MISSING_CONFIGURATION)
}
