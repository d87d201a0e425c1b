//! A device: memory that outlives launches, and modules loaded into it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ir::{RelocationTarget, Space};
use crate::memory::address::{SHARED_WINDOW, function_address};
use crate::memory::global::{GlobalMemory, Purpose};
use crate::module::Module;

/// What a device has; by default what an H200 has.
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
    /// Bytes of shared memory that the blocks on one of them have together, the one
    /// KiB of each block's that the system takes included.
    pub multiprocessor_shared_bytes: u32,
    /// Host threads for a launch that does not say; all cores if not given.
    pub threads: Option<usize>,
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
            threads: None,
        }
    }
}

/// Shared memory that the system takes of each block's.
const SYSTEM_SHARED_BYTES: u32 = 1 << 10;

impl DeviceConfig {
    /// How many blocks of one launch the device can hold at once, at most: others
    /// begin only when some of them end. Registers, which are not known before the
    /// PTX is assembled for a GPU, may allow for less.
    pub fn resident_blocks(&self, block_threads: u32, shared_bytes: u32) -> u64 {
        let warps = (self.multiprocessor_threads / 32) / block_threads.div_ceil(32).max(1);
        let shared = self.multiprocessor_shared_bytes / (shared_bytes + SYSTEM_SHARED_BYTES);
        let blocks = self.multiprocessor_blocks.min(warps).min(shared).max(1);
        u64::from(self.n_multiprocessors.max(1)) * u64::from(blocks)
    }
}

/// Why device memory could not be allocated, read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// More than there is.
    #[error("out of device memory: {requested} bytes for `{label}`, {free} of {total} are free")]
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
    /// More than the host has to simulate it with.
    #[error("the host has no {requested} bytes for `{label}`")]
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
    memory: GlobalMemory,
}

/// A module on a device: its variables have addresses.
#[derive(Clone)]
pub struct LoadedModule {
    device: u64,
    module: Module,
    /// By `VarId`; 0 for shared variables.
    addresses: Arc<[u64]>,
}

impl LoadedModule {
    /// The module.
    pub fn module(&self) -> &Module {
        &self.module
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

    /// A device of one's own making.
    pub fn with_config(config: DeviceConfig) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            id,
            config,
            memory: GlobalMemory::default(),
        }
    }

    /// What it has.
    pub fn config(&self) -> &DeviceConfig {
        &self.config
    }

    pub(crate) fn memory(&self) -> &GlobalMemory {
        &self.memory
    }

    pub(crate) fn memory_mut(&mut self) -> &mut GlobalMemory {
        &mut self.memory
    }

    pub(crate) fn owns(&self, loaded: &LoadedModule) -> bool {
        self.id == loaded.device
    }

    /// Bytes of memory in use.
    pub fn used_bytes(&self) -> u64 {
        self.memory.live_bytes()
    }

    /// Places a module's variables in memory.
    ///
    /// # Errors
    /// If there is not enough memory, or a variable is only declared.
    pub fn load(&mut self, module: &Module) -> Result<LoadedModule, MemoryError> {
        let variables = &module.ir().variables;
        let mut addresses = Vec::with_capacity(variables.len());
        for variable in variables {
            let purpose = match variable.space {
                Space::Const => Purpose::Constant,
                _ => Purpose::Variable,
            };
            if variable.space == Space::Shared {
                addresses.push(0);
                continue;
            }
            if variable.is_extern {
                return Err(MemoryError::UndefinedVariable {
                    name: variable.name.clone(),
                });
            }
            let address = self.place(variable.size_bytes, &variable.name, purpose)?;
            addresses.push(address);
            let init = &variable.init[..variable.init.len().min(variable.size_bytes as usize)];
            self.write(address, init)?;
            // The rest is zero, which a kernel may rely on.
            self.mark(address, variable.size_bytes);
        }
        for (variable, &address) in variables.iter().zip(&addresses) {
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
        }
        Ok(LoadedModule {
            device: self.id,
            module: module.clone(),
            addresses: addresses.into(),
        })
    }

    /// Allocates memory. `label` names it in reports. It is zeroed, but a kernel
    /// must not rely on that: on a GPU it is not, and a launch with
    /// [`LaunchOptions::check`](crate::LaunchOptions::check) reports the reading
    /// of bytes that neither the host nor a kernel has written.
    ///
    /// # Errors
    /// If there is not enough.
    pub fn alloc(&mut self, size_bytes: u64, label: &str) -> Result<u64, MemoryError> {
        self.place(size_bytes, label, Purpose::Buffer)
    }

    fn place(
        &mut self,
        size_bytes: u64,
        label: &str,
        purpose: Purpose,
    ) -> Result<u64, MemoryError> {
        let total = self.config.memory_bytes;
        let free = total - self.memory.live_bytes().min(total);
        if size_bytes > free {
            let label = label.to_owned();
            return Err(MemoryError::OutOfMemory {
                requested: size_bytes,
                label,
                free,
                total,
            });
        }
        let allocated = self.memory.allocate(size_bytes, label, purpose);
        allocated.ok_or_else(|| MemoryError::HostOutOfMemory {
            requested: size_bytes,
            label: label.to_owned(),
        })
    }

    /// Frees an allocation by its first address.
    ///
    /// # Errors
    /// If there is none, or it was freed already.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        if self.memory.free(address) {
            Ok(())
        } else {
            Err(MemoryError::NotAllocated {
                address,
                n_bytes: 0,
            })
        }
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// If they do not lie within an allocation.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        self.slice(address, bytes.len() as u64)?
            .copy_from_slice(bytes);
        self.mark(address, bytes.len() as u64);
        Ok(())
    }

    /// Notes that the host has written bytes of an allocation.
    fn mark(&mut self, address: u64, n_bytes: u64) {
        if let Some((start, written)) = self.memory.written_mut(address) {
            written.mark(start, start + n_bytes);
        }
    }

    /// Lets bytes count as never written, whatever they hold: a launch with
    /// [`LaunchOptions::check`] reports a kernel that reads them before it writes
    /// them. For outputs that were filled with a pattern, to see afterwards what
    /// a kernel left out. Memory just allocated counts as never written anyway.
    ///
    /// # Errors
    /// If they do not lie within an allocation.
    ///
    /// [`LaunchOptions::check`]: crate::LaunchOptions::check
    pub fn mark_unwritten(&mut self, address: u64, n_bytes: u64) -> Result<(), MemoryError> {
        self.slice(address, n_bytes)?;
        if let Some((start, written)) = self.memory.written_mut(address) {
            written.forget(start, start + n_bytes);
        }
        Ok(())
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// If they do not lie within an allocation.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), MemoryError> {
        let n_bytes = out.len() as u64;
        let bytes = self.memory.bytes(address, n_bytes);
        let bytes = bytes.ok_or(MemoryError::NotAllocated { address, n_bytes })?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    /// Sets `n_bytes` bytes to one value.
    ///
    /// # Errors
    /// If they do not lie within an allocation.
    pub fn fill(&mut self, address: u64, n_bytes: u64, value: u8) -> Result<(), MemoryError> {
        self.slice(address, n_bytes)?.fill(value);
        self.mark(address, n_bytes);
        Ok(())
    }

    /// Copies bytes from one place to another.
    ///
    /// # Errors
    /// If either does not lie within an allocation.
    pub fn copy(&mut self, from: u64, to: u64, n_bytes: u64) -> Result<(), MemoryError> {
        let bytes = self.memory.bytes(from, n_bytes);
        let bytes = bytes
            .ok_or(MemoryError::NotAllocated {
                address: from,
                n_bytes,
            })?
            .to_vec();
        self.write(to, &bytes)
    }

    fn slice(&mut self, address: u64, n_bytes: u64) -> Result<&mut [u8], MemoryError> {
        self.memory
            .bytes_mut(address, n_bytes)
            .ok_or(MemoryError::NotAllocated { address, n_bytes })
    }
}
