//! Contexts: whose streams, memory and modules they are; and which one a thread uses.

use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ptx_sim::{KernelHeap, Taken};

use crate::driver::{SimDevice, driver};
use crate::operation::Operation;
use crate::status::{Outcome, Status};
use crate::stream::{Stream, StreamKind};
use crate::tasks::Task;

/// `CU_LIMIT_MALLOC_HEAP_SIZE`
const HEAP_BYTES: u32 = 2;

/// A limit's answer if nobody has set it.
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
    /// The legacy default stream.
    pub legacy: Arc<Stream>,
    /// `CU_LIMIT_…`, as set.
    limits: Mutex<HashMap<u32, usize>>,
    /// What kernels take memory from, once a module is loaded that does.
    kernel_heap: Mutex<Option<KernelHeap>>,
    /// All other streams, also those that are destroyed and have work left.
    streams: Mutex<Vec<Arc<Stream>>>,
    /// Allocations made in it, by address.
    allocations: Mutex<BTreeMap<u64, Allocated>>,
    is_destroyed: AtomicBool,
}

thread_local! {
    /// The contexts that a thread has made current, the one in use last.
    static STACK: RefCell<Vec<Arc<Context>>> = const { RefCell::new(Vec::new()) };
    /// The thread's own default streams, by context.
    static PER_THREAD: RefCell<HashMap<usize, Arc<Stream>>> = RefCell::default();
}

impl Context {
    /// On a device; not current anywhere.
    pub fn new(device: &Arc<SimDevice>, flags: u32, is_primary: bool) -> Outcome<Arc<Self>> {
        let contexts = &driver()?.contexts;
        device.check()?;
        let context = Arc::new(Self {
            handle: contexts.reserve(),
            device: Arc::clone(device),
            flags: AtomicU32::new(flags),
            is_primary,
            legacy: Arc::new(Stream::new(0, StreamKind::Legacy, 0)),
            limits: Mutex::default(),
            kernel_heap: Mutex::default(),
            streams: Mutex::default(),
            allocations: Mutex::default(),
            is_destroyed: AtomicBool::new(false),
        });
        contexts.insert(context.handle, Arc::clone(&context));
        Ok(context)
    }

    /// The context of a handle.
    pub fn of(handle: usize) -> Outcome<Arc<Self>> {
        let contexts = &driver()?.contexts;
        contexts
            .get(handle)
            .ok_or_else(|| match contexts.was(handle) {
                true => Status::CONTEXT_IS_DESTROYED,
                false => Status::INVALID_CONTEXT,
            })
    }

    /// The one that this thread uses, if it can be used.
    pub fn current() -> Outcome<Arc<Self>> {
        let top = STACK.try_with(|stack| stack.borrow().last().map(Arc::clone));
        // Destructors of a program's own that run when its thread has ended.
        let top = top.map_err(|_| Status::DEINITIALIZED)?;
        let context = top.ok_or(Status::INVALID_CONTEXT)?;
        context.check()?;
        Ok(context)
    }

    /// The one that this thread uses, whatever its state.
    pub fn top() -> Option<Arc<Self>> {
        let top = STACK.try_with(|stack| stack.borrow().last().map(Arc::clone));
        top.ok().flatten()
    }

    /// Makes it the one in use, and remembers the one before.
    pub fn push(context: Arc<Self>) {
        let _ = STACK.try_with(|stack| stack.borrow_mut().push(context));
    }

    /// Goes back to the one before.
    pub fn pop() -> Option<Arc<Self>> {
        STACK.try_with(|stack| stack.borrow_mut().pop()).ok()?
    }

    /// Puts it in the place of the one in use; without one, forgets that.
    pub fn set_current(context: Option<Arc<Self>>) {
        let _ = STACK.try_with(|stack| {
            let mut stack = stack.borrow_mut();
            stack.pop();
            stack.extend(context);
        });
    }

    /// Whether it can be used: neither destroyed, nor has its device failed.
    pub fn check(&self) -> Outcome {
        if self.is_destroyed.load(Ordering::Acquire) {
            return Err(Status::CONTEXT_IS_DESTROYED);
        }
        self.device.check()
    }

    fn streams(&self) -> MutexGuard<'_, Vec<Arc<Stream>>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a stream; forgets those that are destroyed and have no work left.
    pub fn add_stream(&self, stream: &Arc<Stream>) {
        let mut streams = self.streams();
        if streams.len() == streams.capacity() {
            streams.retain(|stream| Arc::strong_count(stream) > 1 || !stream.is_idle());
        }
        streams.push(Arc::clone(stream));
    }

    /// All streams but the legacy one.
    pub fn all_streams(&self) -> Vec<Arc<Stream>> {
        self.streams().clone()
    }

    /// The default stream of this thread; that of all threads for one that has ended.
    pub fn per_thread(&self) -> Arc<Stream> {
        let own = PER_THREAD.try_with(|streams| {
            let mut streams = streams.borrow_mut();
            let stream = streams.entry(self.handle).or_insert_with(|| {
                let stream = Arc::new(Stream::new(self.handle, StreamKind::Blocking, 0));
                self.add_stream(&stream);
                stream
            });
            Arc::clone(stream)
        });
        own.unwrap_or_else(|_| Arc::clone(&self.legacy))
    }

    /// Done once all is that its legacy stream would wait for now.
    pub fn fence(self: &Arc<Self>) -> Arc<Task> {
        self.legacy.submit(self, Operation::Nothing)
    }

    /// Has its legacy stream, and with that all blocking ones, wait for a task.
    pub fn wait_for(self: &Arc<Self>, task: &Arc<Task>) {
        self.legacy.wait_for(Arc::clone(task));
        self.fence();
    }

    /// Waits for all that has been submitted, and tells whether it went well.
    pub fn synchronize(&self) -> Outcome {
        for stream in self.all_streams() {
            stream.wait();
        }
        self.legacy.wait();
        self.check()
    }

    /// `CU_LIMIT_…`
    pub fn limit(&self, limit: u32) -> Outcome<usize> {
        let usual = usual_limit(limit).ok_or(Status::INVALID_VALUE)?;
        let limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(limits.get(&limit).copied().unwrap_or(usual))
    }

    /// Sets `CU_LIMIT_…`; that of the kernels' heap only as long as there is none.
    pub fn set_limit(&self, limit: u32, value: usize) -> Outcome {
        usual_limit(limit).ok_or(Status::INVALID_VALUE)?;
        if limit == HEAP_BYTES && self.kernel_heap_now().is_some() {
            return Err(Status::INVALID_VALUE);
        }
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        limits.insert(limit, value);
        Ok(())
    }

    fn kernel_heap_now(&self) -> MutexGuard<'_, Option<KernelHeap>> {
        let heap = self.kernel_heap.lock();
        heap.unwrap_or_else(PoisonError::into_inner)
    }

    /// What kernels take memory from, made if need be.
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

    /// What kernels have taken of it and not freed.
    pub fn taken(&self) -> Vec<Taken> {
        let heap = self.kernel_heap_now();
        heap.as_ref().map(KernelHeap::taken).unwrap_or_default()
    }

    /// What has been allocated in it, by address.
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
        driver().ok()?.contexts.all().into_iter().find(has)
    }

    /// Ends it: waits for its work, and frees what was allocated in it and the variables of
    /// its modules.
    pub fn destroy(&self) -> Outcome {
        let driver = driver()?;
        if self.is_destroyed.swap(true, Ordering::AcqRel) {
            return Err(Status::CONTEXT_IS_DESTROYED);
        }
        driver.contexts.remove(self.handle);
        for stream in self.all_streams() {
            stream.wait();
        }
        self.legacy.wait();
        for (address, _) in std::mem::take(&mut *self.allocations()) {
            let _ = self.device.sim.free(address);
        }
        for base in driver.host.of_context(self.handle) {
            driver.free_host(base, |_| true);
        }
        for library in driver.libraries.all() {
            library.leave(self.handle);
        }
        let modules = driver.modules.all();
        for module in modules.iter().filter(|m| m.context == self.handle) {
            // Who has unloaded it meanwhile has done the same.
            let _ = module.unload();
        }
        if let Some(heap) = self.kernel_heap_now().take() {
            self.device.sim.free_kernel_heap(&heap);
        }
        driver
            .streams
            .retain(|stream| stream.context != self.handle);
        driver.events.retain(|event| event.context != self.handle);
        Ok(())
    }
}

/// Takes a context off this thread's stack, if it is the one in use.
pub fn forget_current(context: &Arc<Context>) {
    STACK.with_borrow_mut(|stack| {
        if stack.last().is_some_and(|top| Arc::ptr_eq(top, context)) {
            stack.pop();
        }
    });
}
