//! A device: memory that outlives launches, and modules loaded into it.
//!
//! Several host threads may use it at once; [`DeviceConfig::concurrent`] says what they
//! wait for.

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};
use std::time::Duration;

use crate::checks::prefilter::Pool;
use crate::clock::Started;
use crate::gaps::{Gaps, Omission};
use crate::machine::Machine;
use crate::memory::address::{SHARED_WINDOW, function_address, space_of};
use crate::memory::allocation::{Allocation, Purpose};
use crate::memory::global::ADDRESS_END;
use crate::memory::heap::{Heap, Seat};
use crate::memory::kernel_heap::KernelHeap;
use crate::memory::transfer;
use crate::module::Module;
use crate::spare::SpareBlocks;
use ptx::ir::{self, RelocationTarget, Space};

/// The properties of a device; by default those of an H200.
#[derive(Clone, Debug)]
pub struct DeviceConfig {
    /// Bytes of global memory.
    pub memory_bytes: u64,
    /// Bytes of shared memory that a block can have.
    pub shared_limit: u32,
    /// Bytes of those that can be static.
    pub static_shared_limit: u32,
    /// Multiprocessors.
    pub n_multiprocessors: u32,
    /// Threads that one of them can hold at once.
    pub multiprocessor_threads: u32,
    /// Blocks that one of them can hold at once.
    pub multiprocessor_blocks: u32,
    /// Bytes of shared memory that the blocks on one of them have in total, including the
    /// one KiB of each block that the system takes.
    pub multiprocessor_shared_bytes: u32,
    /// Bytes that kernels can allocate by `malloc`, unless a module is loaded with a heap of
    /// its own.
    pub kernel_heap_bytes: u64,
    /// Host threads for a launch that does not specify them; see
    /// [`LaunchOptions::threads`](crate::LaunchOptions::threads).
    pub threads: Option<usize>,
    /// Which device it is: of the first eight, no two have addresses in common.
    pub ordinal: u32,
    /// Whether launches and copies by several host threads run at the same time. Otherwise
    /// one waits for the other, and a launch on one host thread is faster. A launch with
    /// checks is alone with the device in any case, even with regard to allocations. Of a machine
    /// with several devices, this concerns all of them.
    pub concurrent: bool,
}

impl Default for DeviceConfig {
    fn default() -> Self {
        Self {
            memory_bytes: 64 << 30,
            shared_limit: 227 << 10,
            static_shared_limit: 48 << 10,
            n_multiprocessors: 132,
            multiprocessor_threads: 2048,
            multiprocessor_blocks: 32,
            multiprocessor_shared_bytes: 228 << 10,
            kernel_heap_bytes: 8 << 20,
            threads: None,
            ordinal: 0,
            concurrent: false,
        }
    }
}

/// Why device memory could not be allocated, read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// More than is free.
    #[error(
        "out of device memory: {requested} bytes for `{label}`, but only {free} of {total} \
             are free"
    )]
    OutOfMemory {
        /// Bytes asked for.
        requested: u64,
        /// For what.
        label: String,
        /// Bytes free.
        free: u64,
        /// Bytes in all.
        total: u64,
    },
    /// More than the host has memory to simulate.
    #[error("the host does not have {requested} bytes for `{label}`")]
    HostOutOfMemory {
        /// Bytes asked for.
        requested: u64,
        /// For what.
        label: String,
    },
    /// Not in an allocation.
    #[error("{n_bytes} bytes at {address:#x} do not lie within an allocation")]
    NotAllocated {
        /// The address.
        address: u64,
        /// The number of bytes.
        n_bytes: u64,
    },
    /// Memory of the host that the device cannot use.
    #[error("{n_bytes} bytes of the host at {address:#x} cannot be mapped: {reason}")]
    NotMappable {
        /// The address.
        address: u64,
        /// The number of bytes.
        n_bytes: u64,
        /// Why not.
        reason: &'static str,
    },
    /// More elements than the array has.
    #[error("{given} elements do not fit in an array of {n_elements}")]
    TooLong {
        /// Elements given.
        given: usize,
        /// Elements that the array has.
        n_elements: usize,
    },
    /// A variable of the module that is declared elsewhere.
    #[error("the variable `{name}` is declared but not defined")]
    UndefinedVariable {
        /// Its name.
        name: String,
    },
}

/// A simulated device.
pub struct Device {
    id: u64,
    config: DeviceConfig,
    heap: Arc<Mutex<Heap>>,
    /// The devices that it shares a machine with.
    pub(crate) machine: Machine,
    /// The heap that kernels allocate from, once one does.
    kernel_heap: OnceLock<KernelHeap>,
    /// What launches with checks reuse.
    pool: Pool,
    /// What all launches reuse.
    spare: Arc<SpareBlocks>,
    /// What launches with checks have left unwritten.
    gaps: Mutex<Gaps>,
    /// What the threads of the last launch printed, if it failed.
    printed: Mutex<Vec<String>>,
}

/// An allocation, as [`Device::allocation_at`] finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationInfo {
    /// Its first address.
    pub address: u64,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Which of the process's allocations it is: no other one ever has the same number.
    pub number: u64,
    /// What it is called in reports.
    pub label: String,
    /// Whether the host reaches it at the same address.
    pub is_the_hosts: bool,
}

impl AllocationInfo {
    fn of(allocation: &Allocation) -> Self {
        Self {
            address: allocation.base,
            number: allocation.number,
            size_bytes: allocation.size_bytes,
            label: allocation.label.clone(),
            is_the_hosts: allocation.is_the_hosts,
        }
    }
}

/// The lock that a launch or a copy holds on the memory's contents.
pub(crate) enum Turn<'a> {
    Alone(#[allow(dead_code)] RwLockWriteGuard<'a, ()>),
    Together(#[allow(dead_code)] RwLockReadGuard<'a, ()>),
}

/// Where a managed variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Managed {
    /// Its address; the memory is zero.
    pub address: u64,
    /// Whether its initial contents are yet to be written.
    pub is_new: bool,
}

/// Finds the place of a managed variable by its name and size.
pub type PlaceManaged<'a> = dyn FnMut(&str, u64) -> Result<Managed, MemoryError> + 'a;

/// A module on a device: its variables have addresses.
#[derive(Clone)]
pub struct LoadedModule {
    device: u64,
    module: Module,
    /// By `VarId`; 0 for shared variables.
    addresses: Arc<[u64]>,
    /// The heap that its kernels allocate from, if one does.
    kernel_heap: Option<KernelHeap>,
}

impl LoadedModule {
    /// The module.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The heap that its kernels allocate from by `malloc`; none if they do not.
    pub fn kernel_heap(&self) -> Option<&KernelHeap> {
        self.kernel_heap.as_ref()
    }

    pub(crate) fn addresses(&self) -> &[u64] {
        &self.addresses
    }

    /// Address of a `.global` or `.const` variable.
    pub fn global_address(&self, name: &str) -> Option<u64> {
        self.variable(name).map(|(address, _)| address)
    }

    /// Address and size in bytes of a `.global` or `.const` variable.
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        let index = self
            .module
            .ir()
            .variables
            .iter()
            .position(|v| v.name == name && v.space != Space::Shared)?;
        Some((
            self.addresses[index],
            self.module.ir().variables[index].size_bytes,
        ))
    }
}

impl Default for Device {
    fn default() -> Self {
        Self::new()
    }
}

impl Device {
    /// A device with the limits of a data-centre GPU.
    pub fn new() -> Self {
        Self::with_config(DeviceConfig::default())
    }

    /// A device with these properties, the only one of its machine.
    pub fn with_config(config: DeviceConfig) -> Self {
        let heap = Arc::new(Mutex::new(Heap::new(Seat::alone(config.ordinal))));
        let machine = Machine::of_one(config.ordinal);
        Self::with_heap(config, heap, machine)
    }

    pub(crate) fn with_heap(
        config: DeviceConfig,
        heap: Arc<Mutex<Heap>>,
        machine: Machine,
    ) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            id,
            heap,
            machine,
            kernel_heap: OnceLock::new(),
            config,
            pool: Pool::default(),
            spare: Arc::default(),
            gaps: Mutex::default(),
            printed: Mutex::default(),
        }
    }

    /// What the threads of the last launch had printed before it failed, one entry per call; what
    /// others print is in their [`Report`](crate::Report). It is taken: a second call gives nothing.
    pub fn printed_before_failure(&self) -> Vec<String> {
        std::mem::take(&mut *self.printed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn keep_printed(&self, lines: Vec<String>) {
        *self.printed.lock().unwrap_or_else(PoisonError::into_inner) = lines;
    }

    /// Its properties.
    pub fn config(&self) -> &DeviceConfig {
        &self.config
    }

    /// What is allocated.
    pub(crate) fn heap(&self) -> MutexGuard<'_, Heap> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until others let a launch begin.
    pub(crate) fn turn(&self, checks: bool) -> Turn<'_> {
        if self.config.concurrent && !checks {
            return Turn::Together(self.copying());
        }
        let guard = self.machine.contents().write();
        Turn::Alone(guard.unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits, for this long at most, until it is alone. Others may begin meanwhile: running
    /// launches may wait for them.
    pub(crate) fn turn_alone_within(&self, limit: Duration) -> Option<Turn<'_>> {
        let started = Started::now();
        loop {
            match self.machine.contents().try_write() {
                Ok(guard) => return Some(Turn::Alone(guard)),
                Err(TryLockError::Poisoned(poisoned)) => {
                    return Some(Turn::Alone(poisoned.into_inner()));
                }
                Err(TryLockError::WouldBlock) if started.elapsed() > limit => return None,
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    pub(crate) fn spare(&self) -> Arc<SpareBlocks> {
        Arc::clone(&self.spare)
    }

    pub(crate) fn gaps(&self) -> MutexGuard<'_, Gaps> {
        self.gaps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until others let a copy begin.
    fn copying(&self) -> RwLockReadGuard<'_, ()> {
        self.machine.progress().fetch_add(1, Ordering::Relaxed);
        let guard = self.machine.contents().read();
        guard.unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn owns(&self, loaded: &LoadedModule) -> bool {
        self.id == loaded.device
    }

    /// Bytes of memory in use.
    pub fn used_bytes(&self) -> u64 {
        self.heap().live_bytes()
    }

    /// Places a module's variables in memory.
    ///
    /// # Errors
    /// If there is not enough memory, or a variable is only declared.
    pub fn load(&self, module: &Module) -> Result<LoadedModule, MemoryError> {
        let mut managed = |name: &str, size_bytes: u64| {
            let address = self.place(size_bytes, name, Purpose::Variable)?;
            Ok(Managed {
                address,
                is_new: true,
            })
        };
        let heap = match module.takes_memory() {
            true => Some(self.own_kernel_heap()?),
            false => None,
        };
        self.load_with_managed(module, &mut managed, heap)
    }

    /// The heap for modules that are loaded without one.
    fn own_kernel_heap(&self) -> Result<KernelHeap, MemoryError> {
        if let Some(heap) = self.kernel_heap.get() {
            return Ok(heap.clone());
        }
        let made = self.new_kernel_heap(self.config.kernel_heap_bytes)?;
        let heap = self.kernel_heap.get_or_init(|| made.clone());
        // Another thread was quicker.
        if !heap.is(&made) {
            self.free_kernel_heap(&made);
        }
        Ok(heap.clone())
    }

    /// Makes a heap from which kernels can allocate this much by `malloc`.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new_kernel_heap(&self, size_bytes: u64) -> Result<KernelHeap, MemoryError> {
        let mut heap = self.heap();
        let label = "the kernels' heap";
        self.check_room(&heap, size_bytes, label)?;
        let made = heap.allocate_kernel_heap(size_bytes);
        made.ok_or_else(|| MemoryError::HostOutOfMemory {
            requested: size_bytes,
            label: label.to_owned(),
        })
    }

    /// Gives a heap back, with everything that kernels have allocated on it and not freed.
    pub fn free_kernel_heap(&self, heap: &KernelHeap) {
        self.heap().free_kernel_heap(heap);
    }

    /// [`Device::load`], with the memory of variables that are `.managed` given by a function
    /// of their name and size: the host has mapped it, and keeps it when the module is
    /// unloaded; and with a heap, if its kernels [allocate memory](Module::takes_memory).
    /// Without one, every `malloc` fails.
    ///
    /// # Errors
    /// Those of [`Device::load`], and those of the function.
    pub fn load_with_managed(
        &self,
        module: &Module,
        managed: &mut PlaceManaged<'_>,
        kernel_heap: Option<KernelHeap>,
    ) -> Result<LoadedModule, MemoryError> {
        let mut addresses = Vec::with_capacity(module.ir().variables.len());
        if let Err(error) = self.place_variables(module, managed, &mut addresses) {
            self.free_variables(&addresses);
            return Err(error);
        }
        Ok(LoadedModule {
            device: self.id,
            module: module.clone(),
            addresses: addresses.into(),
            kernel_heap,
        })
    }

    /// Finds a place for every variable, in order, and writes its initial contents.
    fn place_variables(
        &self,
        module: &Module,
        managed: &mut PlaceManaged<'_>,
        addresses: &mut Vec<u64>,
    ) -> Result<(), MemoryError> {
        let variables = &module.ir().variables;
        let mut new = Vec::with_capacity(variables.len());
        for variable in variables {
            if variable.is_extern && variable.space != Space::Shared {
                return Err(MemoryError::UndefinedVariable {
                    name: variable.name.clone(),
                });
            }
            let (name, size_bytes) = (&variable.name, variable.size_bytes);
            let (address, is_new) = match variable.space {
                Space::Shared => (0, false),
                Space::Const => (self.place(size_bytes, name, Purpose::Constant)?, true),
                _ if variable.is_managed => {
                    let placed = managed(name, size_bytes)?;
                    (placed.address, placed.is_new)
                }
                _ => (self.place(size_bytes, name, Purpose::Variable)?, true),
            };
            addresses.push(address);
            new.push(is_new);
        }
        for (i, variable) in variables.iter().enumerate().filter(|&(i, _)| new[i]) {
            self.initialise(variable, addresses[i], variables, addresses)?;
        }
        Ok(())
    }

    /// Writes a variable's initial contents.
    fn initialise(
        &self,
        variable: &ir::Variable,
        address: u64,
        variables: &[ir::Variable],
        addresses: &[u64],
    ) -> Result<(), MemoryError> {
        let init = &variable.init[..variable.init.len().min(variable.size_bytes as usize)];
        self.write(address, init)?;
        // The rest is zero, which a kernel may rely on.
        to_write(&mut self.heap(), address, variable.size_bytes)?;
        for relocation in &variable.relocations {
            let base = match relocation.target {
                RelocationTarget::Function(id) => function_address(id),
                RelocationTarget::Variable(id) => {
                    let window = match variables[id.0 as usize].space {
                        Space::Shared if relocation.generic => SHARED_WINDOW,
                        _ => 0,
                    };
                    window + addresses[id.0 as usize]
                }
            };
            let value = base.wrapping_add(relocation.addend as u64) >> relocation.shift;
            let bytes = &value.to_le_bytes()[..relocation.n_bytes.min(8) as usize];
            self.write(address + relocation.offset, bytes)?;
        }
        Ok(())
    }

    /// Allocates memory. `label` names it in reports. It is zeroed, but a kernel must not
    /// rely on that: on a GPU it is not, and a launch with
    /// [`LaunchOptions::check`](crate::LaunchOptions::check) reports reads of bytes that
    /// neither the host nor a kernel has written.
    ///
    /// # Errors
    /// If there is not enough.
    pub fn alloc(&self, size_bytes: u64, label: &str) -> Result<u64, MemoryError> {
        self.place(size_bytes, label, Purpose::Buffer)
    }

    fn place(&self, size_bytes: u64, label: &str, purpose: Purpose) -> Result<u64, MemoryError> {
        let mut heap = self.heap();
        self.check_room(&heap, size_bytes, label)?;
        let allocated = heap.allocate(size_bytes, label, purpose);
        allocated.ok_or_else(|| MemoryError::HostOutOfMemory {
            requested: size_bytes,
            label: label.to_owned(),
        })
    }

    /// Whether this much is free.
    fn check_room(&self, heap: &Heap, size_bytes: u64, label: &str) -> Result<(), MemoryError> {
        let total = self.config.memory_bytes;
        let free = total - heap.live_bytes().min(total);
        if size_bytes <= free {
            return Ok(());
        }
        Err(MemoryError::OutOfMemory {
            requested: size_bytes,
            label: label.to_owned(),
            free,
            total,
        })
    }

    /// Lets kernels use memory of the host, at the host's own address, until
    /// [`Device::free`] is given that address. It does not count as device memory.
    ///
    /// # Errors
    /// If some of it is an allocation already, or it lies where other state spaces have
    /// their addresses.
    ///
    /// # Safety
    /// The memory can be read and written until it is freed here and every launch begun
    /// before has ended. All other users must expect that launches and copies of this
    /// device may change it, by atomic operations, at any time.
    pub unsafe fn map_host(
        &self,
        host: NonNull<u8>,
        size_bytes: u64,
        label: &str,
    ) -> Result<u64, MemoryError> {
        let address = host.addr().get() as u64;
        let refused = |reason| MemoryError::NotMappable {
            address,
            n_bytes: size_bytes,
            reason,
        };
        let end = address.checked_add(size_bytes);
        let in_space = |at| space_of(at) == Space::Global;
        if end.is_none_or(|end| end > ADDRESS_END || !in_space(address) || !in_space(end)) {
            return Err(refused("other memory has such addresses on the device"));
        }
        if !self.heap().adopt(host, size_bytes, label) {
            return Err(refused("some of it already belongs to the device"));
        }
        Ok(address)
    }

    /// Whether an address is in the range of this device's allocations, used or not.
    pub fn owns_address(&self, address: u64) -> bool {
        Heap::owns_address(self.config.ordinal, address)
    }

    /// The allocation that an address lies in, if it has not been freed.
    pub fn allocation_at(&self, address: u64) -> Option<AllocationInfo> {
        let heap = self.heap();
        let allocation = heap.memory().find(address)?;
        let is_there = allocation.host().is_some() && allocation.is_open(address, 1);
        is_there.then(|| AllocationInfo::of(allocation))
    }

    /// Everything that is allocated, by address.
    pub fn allocations(&self) -> Vec<AllocationInfo> {
        let heap = self.heap();
        let mut all: Vec<AllocationInfo> = Vec::new();
        for allocation in heap.memory().all() {
            let is_known = all.last().is_some_and(|a| a.address == allocation.base);
            if allocation.host().is_some() && !is_known {
                all.push(AllocationInfo::of(allocation));
            }
        }
        all.sort_by_key(|a| a.address);
        all
    }

    /// Frees an allocation by its first address. Launches that have begun keep it.
    ///
    /// # Errors
    /// If there is none, or it was freed already.
    pub fn free(&self, address: u64) -> Result<(), MemoryError> {
        let mut heap = self.heap();
        if !heap.is_kernel_heap(address) && heap.free(address) {
            self.gaps().forget(address);
            Ok(())
        } else {
            Err(MemoryError::NotAllocated {
                address,
                n_bytes: 0,
            })
        }
    }

    /// Frees the variables of a module: its kernels can no longer use them.
    pub fn unload(&self, loaded: &LoadedModule) {
        if !self.owns(loaded) {
            return;
        }
        self.free_variables(loaded.addresses());
    }

    /// Frees variables that are in the device's own memory.
    fn free_variables(&self, addresses: &[u64]) {
        let mut heap = self.heap();
        for &address in addresses {
            if self.owns_address(address) {
                heap.free(address);
            }
        }
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// If they do not lie within an allocation.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        let n_bytes = bytes.len() as u64;
        let (_allocation, host) = to_write(&mut self.heap(), address, n_bytes)?;
        let _turn = self.copying();
        // SAFETY: In range of an allocation that is held.
        unsafe { transfer::write(host, bytes) }
        Ok(())
    }

    /// Marks bytes as never written, whatever they hold: a launch with
    /// [`LaunchOptions::check`] reports a kernel that reads them before writing them. This
    /// is for outputs filled with a pattern that shows afterwards what a kernel left out.
    /// Newly allocated memory counts as never written anyway.
    ///
    /// # Errors
    /// If they do not lie within an allocation.
    ///
    /// [`LaunchOptions::check`]: crate::LaunchOptions::check
    pub fn mark_unwritten(&self, address: u64, n_bytes: u64) -> Result<(), MemoryError> {
        let mut heap = self.heap();
        found(&heap, address, n_bytes)?;
        if let Some((start, written)) = heap.written_mut(address) {
            written.forget(start, start + n_bytes);
            self.gaps().forget(address - start);
        }
        Ok(())
    }

    /// The bytes of a range that neither the host nor a kernel has written, as ranges of
    /// addresses, in order. A launch without [`LaunchOptions::check`] may have written
    /// anything: after it there are none.
    ///
    /// # Errors
    /// If they do not lie within an allocation.
    ///
    /// [`LaunchOptions::check`]: crate::LaunchOptions::check
    pub fn unwritten(&self, address: u64, n_bytes: u64) -> Result<Vec<Range<u64>>, MemoryError> {
        let mut heap = self.heap();
        found(&heap, address, n_bytes)?;
        let Some((start, written)) = heap.written_mut(address) else {
            return Ok(Vec::new());
        };
        let base = address - start;
        let ranges = written.missing(start, start + n_bytes).into_iter();
        Ok(ranges
            .map(|range| base + range.start..base + range.end)
            .collect())
    }

    /// The thread that would have written at an address that [`Device::unwritten`] gives, if the
    /// other threads' stores are a pattern that leaves no choice: the address is linear in the
    /// coordinates of block and thread.
    pub fn omission(&self, address: u64) -> Option<Omission> {
        let base = self.heap().memory().find(address)?.base;
        self.gaps().omission(base, address)
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// If they do not lie within an allocation.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), MemoryError> {
        let (_allocation, host) = found(&self.heap(), address, out.len() as u64)?;
        let _turn = self.copying();
        // SAFETY: In range of an allocation that is held.
        unsafe { transfer::read(host, out) }
        Ok(())
    }

    /// Sets `n_bytes` bytes to one value.
    ///
    /// # Errors
    /// If they do not lie within an allocation.
    pub fn fill(&self, address: u64, n_bytes: u64, value: u8) -> Result<(), MemoryError> {
        let (_allocation, host) = to_write(&mut self.heap(), address, n_bytes)?;
        let _turn = self.copying();
        // SAFETY: In range of an allocation that is held.
        unsafe { transfer::fill(host, n_bytes as usize, value) }
        Ok(())
    }

    /// Copies bytes from one place to another, also on other devices of its machine: a copy by the
    /// host needs no access of one device to the other.
    ///
    /// # Errors
    /// If either does not lie within an allocation.
    pub fn copy(&self, from: u64, to: u64, n_bytes: u64) -> Result<(), MemoryError> {
        const PIECE: u64 = 1 << 20;
        let (_source, source) = found(&self.heap_at(from), from, n_bytes)?;
        let (_target, target) = to_write(&mut self.heap_at(to), to, n_bytes)?;
        let _turn = self.copying();
        let overlaps = from.abs_diff(to) < n_bytes;
        let piece = if overlaps {
            n_bytes
        } else {
            PIECE.min(n_bytes)
        };
        let mut bytes = vec![0; piece as usize];
        let mut done = 0;
        while done < n_bytes {
            let bytes = &mut bytes[..piece.min(n_bytes - done) as usize];
            // SAFETY: In range of allocations that are held.
            unsafe {
                transfer::read(source.wrapping_add(done as usize), bytes);
                transfer::write(target.wrapping_add(done as usize), bytes);
            }
            done += bytes.len() as u64;
        }
        Ok(())
    }

    /// The heap that an address belongs to: its own, unless another device of its machine has it.
    fn heap_at(&self, address: u64) -> MutexGuard<'_, Heap> {
        let heap = self.machine.heap_at(address).unwrap_or(&self.heap);
        heap.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that the host is about to write, and their allocation.
fn to_write(
    heap: &mut Heap,
    address: u64,
    n_bytes: u64,
) -> Result<(Arc<Allocation>, *mut u8), MemoryError> {
    let found = found(heap, address, n_bytes)?;
    if let Some((start, written)) = heap.written_mut(address) {
        written.mark(start, start + n_bytes);
    }
    Ok(found)
}

/// The allocation that contains these bytes, and where they are on the host.
fn found(
    heap: &Heap,
    address: u64,
    n_bytes: u64,
) -> Result<(Arc<Allocation>, *mut u8), MemoryError> {
    let allocation = heap.holds(address, n_bytes);
    let found = allocation.and_then(|allocation| {
        let offset = (address - allocation.base) as usize;
        let host = allocation.host()?.as_ptr().wrapping_add(offset);
        Some((allocation, host))
    });
    found.ok_or(MemoryError::NotAllocated { address, n_bytes })
}
