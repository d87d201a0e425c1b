//! Contexts: owners of streams, memory and modules; and which one a thread uses.

use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ptx_sim::{KernelHeap, Taken};

use crate::driver::{SimDevice, driver};
use crate::each::Each;
use crate::handles::{Kind, Table};
use crate::pool::Share;
use crate::status::{Outcome, Status};

/// `CU_LIMIT_MALLOC_HEAP_SIZE`
const HEAP_BYTES: u32 = 2;

/// A limit's value if it was not set.
fn usual_limit(limit: u32) -> Option<usize> {
    Some(match limit {
        0 => 1024,
        1 => 1 << 20,
        HEAP_BYTES => 8 << 20,
        3 => 2,
        4 => 2048,
        5 => 128,
        6 => 0,
        7 => 0,
        8 => 0,
        _ => return None,
    })
}

/// An allocation.
pub struct Allocated {
    /// Size in bytes.
    pub n_bytes: u64,
    /// Where the client made it, if that is to be reported.
    pub made: Option<Backtrace>,
    /// Its share of a pool, if it is from one.
    pub share: Option<Share>,
}

/// A context.
pub struct Context {
    /// Its handle.
    pub handle: usize,
    /// The device that it is on.
    pub device: Arc<SimDevice>,
    /// `CU_CTX_…`
    pub flags: AtomicU32,
    /// Whether it is its device's primary one.
    pub is_primary: bool,
    /// `CU_LIMIT_…`, as set.
    limits: Mutex<HashMap<u32, usize>>,
    /// The heap of kernels, once a module that uses it is loaded.
    kernel_heap: Mutex<Option<KernelHeap>>,
    /// Allocations made in it, by address.
    allocations: Mutex<BTreeMap<u64, Allocated>>,
    is_destroyed: AtomicBool,
}

/// A device's primary context, if it has been retained.
#[derive(Default)]
pub struct Primary {
    /// The context.
    pub context: Option<Arc<Context>>,
    /// Number of times it was retained and not released.
    pub n_retained: u32,
    /// `CU_CTX_…`
    pub flags: u32,
}

impl Primary {
    /// That of a device.
    pub fn of(device: &SimDevice) -> Arc<Mutex<Self>> {
        PRIMARY.of(device.ordinal as usize)
    }
}

/// `CUcontext`
static CONTEXTS: Table<Context> = Table::new(Kind::Context);
/// By device.
static PRIMARY: Each<Mutex<Primary>> = Each::new();

thread_local! {
    /// The contexts that a thread has made current, the one in use last.
    static STACK: RefCell<Vec<Arc<Context>>> = const { RefCell::new(Vec::new()) };
}

impl Context {
    /// A context on a device, not current anywhere.
    pub fn new(device: &Arc<SimDevice>, flags: u32, is_primary: bool) -> Outcome<Arc<Self>> {
        driver()?;
        device.check()?;
        let context = Arc::new(Self {
            handle: CONTEXTS.reserve(),
            device: Arc::clone(device),
            flags: AtomicU32::new(flags),
            is_primary,
            limits: Mutex::default(),
            kernel_heap: Mutex::default(),
            allocations: Mutex::default(),
            is_destroyed: AtomicBool::new(false),
        });
        CONTEXTS.insert(context.handle, Arc::clone(&context));
        Ok(context)
    }

    /// The context with this handle.
    pub fn of(handle: usize) -> Outcome<Arc<Self>> {
        match CONTEXTS.get(handle) {
            Err(Status::INVALID_CONTEXT) if CONTEXTS.was(handle) => {
                Err(Status::CONTEXT_IS_DESTROYED)
            }
            found => found,
        }
    }

    /// All contexts of all devices.
    pub fn all() -> Vec<Arc<Self>> {
        CONTEXTS.all()
    }

    /// The one that this thread uses, if it is usable.
    pub fn current() -> Outcome<Arc<Self>> {
        let top = STACK.try_with(|stack| stack.borrow().last().map(Arc::clone));
        // This may be a destructor of the program's that runs after its thread has ended.
        let top = top.map_err(|_| Status::DEINITIALIZED)?;
        let context = top.ok_or(Status::INVALID_CONTEXT)?;
        context.check()?;
        Ok(context)
    }

    /// The one that this thread uses, usable or not.
    pub fn top() -> Option<Arc<Self>> {
        let top = STACK.try_with(|stack| stack.borrow().last().map(Arc::clone));
        top.ok().flatten()
    }

    /// Makes it the current one, above the previous one.
    pub fn push(context: Arc<Self>) {
        let _ = STACK.try_with(|stack| stack.borrow_mut().push(context));
    }

    /// Returns to the previous one.
    pub fn pop() -> Option<Arc<Self>> {
        STACK.try_with(|stack| stack.borrow_mut().pop()).ok()?
    }

    /// Replaces the current one; `None` removes it.
    pub fn set_current(context: Option<Arc<Self>>) {
        let _ = STACK.try_with(|stack| {
            let mut stack = stack.borrow_mut();
            stack.pop();
            stack.extend(context);
        });
    }

    /// Whether it is usable: not destroyed, and its device has not failed.
    pub fn check(&self) -> Outcome {
        Status::CONTEXT_IS_DESTROYED.when(self.is_destroyed.load(Ordering::Acquire))?;
        self.device.check()
    }

    /// `CU_LIMIT_…`
    pub fn limit(&self, limit: u32) -> Outcome<usize> {
        let usual = usual_limit(limit).ok_or(Status::INVALID_VALUE)?;
        let limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(limits.get(&limit).copied().unwrap_or(usual))
    }

    /// Sets `CU_LIMIT_…`; that of the kernels' heap only while there is no heap.
    pub fn set_limit(&self, limit: u32, value: usize) -> Outcome {
        usual_limit(limit).ok_or(Status::INVALID_VALUE)?;
        Status::INVALID_VALUE.when(limit == HEAP_BYTES && self.kernel_heap_now().is_some())?;
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        limits.insert(limit, value);
        Ok(())
    }

    fn kernel_heap_now(&self) -> MutexGuard<'_, Option<KernelHeap>> {
        let heap = self.kernel_heap.lock();
        heap.unwrap_or_else(PoisonError::into_inner)
    }

    /// The kernels' heap, created if needed.
    pub fn kernel_heap(&self) -> Outcome<KernelHeap> {
        let n_bytes = self.limit(HEAP_BYTES)? as u64;
        let mut heap = self.kernel_heap_now();
        if let Some(heap) = &*heap {
            return Ok(heap.clone());
        }
        let made = self.device.sim.new_kernel_heap(n_bytes);
        let made = made.map_err(|_| Status::OUT_OF_MEMORY)?;
        Ok(heap.insert(made).clone())
    }

    /// What kernels have allocated from it and not freed.
    pub fn taken(&self) -> Vec<Taken> {
        let heap = self.kernel_heap_now();
        heap.as_ref().map(KernelHeap::taken).unwrap_or_default()
    }

    /// Its allocations, by address.
    pub fn allocations(&self) -> MutexGuard<'_, BTreeMap<u64, Allocated>> {
        self.allocations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The one that an allocation was made in.
    pub fn owner_of(address: u64) -> Option<Arc<Self>> {
        let has = |context: &Arc<Self>| context.allocations().contains_key(&address);
        if let Some(context) = Self::top().filter(has) {
            return Some(context);
        }
        Self::all().into_iter().find(has)
    }

    /// Takes its handle, which is the first step of ending it; an error if that has already been
    /// done.
    pub(crate) fn begin_end(&self) -> Outcome {
        driver()?;
        Status::CONTEXT_IS_DESTROYED.when(self.is_destroyed.swap(true, Ordering::AcqRel))?;
        CONTEXTS.remove(self.handle).map(drop)
    }

    /// Frees what was allocated in it.
    pub(crate) fn free_allocations(&self) {
        for (address, _) in std::mem::take(&mut *self.allocations()) {
            // From a pool, it may be on another device.
            if let Some(device) = driver().ok().and_then(|d| d.device_of_address(address)) {
                let _ = device.sim.free(address);
            }
        }
    }

    /// Frees the heap of its kernels.
    pub(crate) fn free_kernel_heap(&self) {
        if let Some(heap) = self.kernel_heap_now().take() {
            self.device.sim.free_kernel_heap(&heap);
        }
    }
}

/// Removes a context from this thread's stack, if it is the current one.
pub fn forget_current(context: &Arc<Context>) {
    STACK.with_borrow_mut(|stack| {
        if stack.last().is_some_and(|top| Arc::ptr_eq(top, context)) {
            stack.pop();
        }
    });
}
