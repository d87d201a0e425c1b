//! Launches: what is gathered when they are submitted.

use std::ffi::c_void;
use std::sync::{Arc, OnceLock};

use ptx_sim::ir::LaunchBounds;
use ptx_sim::{Launch, LaunchError, LaunchOptions, MAX_BLOCK, MAX_BLOCK_THREADS, MAX_GRID, Report};

use crate::driver::driver;
use crate::module::{Function, Module};
use crate::status::{Outcome, Status};

/// `CU_LAUNCH_PARAM_END`, `…_BUFFER_POINTER` and `…_BUFFER_SIZE`
const EXTRA_END: usize = 0;
const EXTRA_POINTER: usize = 1;
const EXTRA_SIZE: usize = 2;

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks in the grid, by axis.
    pub grid: [u32; 3],
    /// Threads per block, by axis.
    pub block: [u32; 3],
    /// Dynamic shared memory per block.
    pub shared_bytes: u32,
    /// Whether all blocks must run at the same time.
    pub cooperative: bool,
    /// Blocks per cluster, by axis, if the launch specifies it.
    pub cluster: Option<[u32; 3]>,
}

impl Shape {
    /// A launch whose blocks need not run at the same time, without clusters.
    pub fn new(grid: [u32; 3], block: [u32; 3], shared_bytes: u32) -> Self {
        Self {
            grid,
            block,
            shared_bytes,
            cooperative: false,
            cluster: None,
        }
    }
}

/// A kernel with its parameters, ready to run.
pub struct KernelLaunch {
    function: Arc<Function>,
    /// The function's handle.
    pub handle: usize,
    /// The function's module in the context that it runs in.
    module: Arc<Module>,
    shape: Shape,
    /// The parameters' bytes, in order.
    params: Vec<Vec<u8>>,
    /// Their addresses, in the form that clients use.
    addresses: OnceLock<Box<[usize]>>,
}

impl KernelLaunch {
    /// Copies the parameters from the client. The function runs in the context of the module, which
    /// is its module there.
    ///
    /// # Safety
    /// `params` is null, or has a pointer for every parameter of the kernel to as many bytes as the
    /// parameter has; `extra` is null, or a list as `cuLaunchKernel` takes it.
    pub unsafe fn gather(
        (handle, module): (usize, Arc<Module>),
        shape: Shape,
        params: *const *mut c_void,
        extra: *const *mut c_void,
    ) -> Outcome<Self> {
        let function = Function::of(handle)?;
        // SAFETY: the caller's promise.
        let params = unsafe { gather(&function, params, extra)? };
        let launch = Self {
            function,
            handle,
            module,
            shape,
            params,
            addresses: OnceLock::new(),
        };
        launch.check()?;
        Ok(launch)
    }

    /// Checks what a driver refuses before it submits anything.
    fn check(&self) -> Outcome {
        let Shape {
            grid,
            block,
            shared_bytes,
            cooperative,
            ..
        } = self.shape;
        let fits = |sizes: [u32; 3], most: [u32; 3]| {
            let mut axes = sizes.into_iter().zip(most);
            axes.all(|(n, most)| (1..=most).contains(&n))
        };
        // Within these limits, the product fits in 32 bits.
        let axes = block.into_iter().zip(MAX_BLOCK);
        let n_threads: u32 = axes.map(|(n, most)| n.min(most)).product();
        Status::INVALID_VALUE.when(
            !fits(grid, MAX_GRID) || !fits(block, MAX_BLOCK) || n_threads > MAX_BLOCK_THREADS,
        )?;
        let (own, bounds) = self
            .function
            .with_info(|info| (info.static_shared_bytes, info.bounds))?;
        let too_large = match cooperative {
            true => Status::COOPERATIVE_LAUNCH_TOO_LARGE,
            false => Status::INVALID_VALUE,
        };
        too_large.when(shared_bytes > self.function.dynamic_limit(own))?;
        let limit = driver()?.device(0)?.sim.config().shared_limit;
        Status::INVALID_VALUE.when(own.saturating_add(shared_bytes) > limit)?;
        Status::INVALID_VALUE.when(bounds.max_threads.is_some_and(|most| n_threads > most))?;
        Status::INVALID_VALUE.when(bounds.required_block.is_some_and(|only| block != only))?;
        self.check_cluster(&bounds)?;
        let n_blocks: u64 = grid.iter().map(|&n| u64::from(n)).product();
        too_large.when(cooperative && n_blocks > self.resident_blocks()?)
    }

    /// Blocks that the device holds at once.
    fn resident_blocks(&self) -> Outcome<u64> {
        let n_threads = self.shape.block.iter().product();
        let needs = self
            .function
            .needs(n_threads, self.shape.shared_bytes as usize)?;
        let config = driver()?.device(0)?.sim.config();
        Ok(u64::from(config.n_multiprocessors) * u64::from(config.active_blocks(needs)))
    }

    /// Checks that an SM has room for a block, which a driver does when it is to run.
    pub fn check_room(&self) -> Outcome {
        let n_threads: u32 = self.shape.block.iter().product();
        // There are registers for so many threads in any case.
        let is_small = n_threads <= 256;
        Status::LAUNCH_OUT_OF_RESOURCES.when(!is_small && self.resident_blocks()? == 0)
    }

    /// The same for its clusters.
    fn check_cluster(&self, bounds: &LaunchBounds) -> Outcome {
        let named = self.shape.cluster;
        let required = self.function.required_cluster(bounds);
        Status::INVALID_CLUSTER_SIZE.when(bounds.needs_cluster && named.or(required).is_none())?;
        let Some(cluster) = named.or(required) else {
            return Ok(());
        };
        let axes = cluster.iter().map(|&n| u64::from(n));
        let n_blocks = axes.fold(1, u64::saturating_mul);
        let most = self.function.most_of_cluster();
        let most = bounds
            .max_cluster
            .map_or(most, |declared| most.min(declared));
        let is_multiple = |(n, of): (&u32, &u32)| n.is_multiple_of(*of);
        let fits = (1..=u64::from(most)).contains(&n_blocks)
            && required.is_none_or(|required| required == cluster)
            && self.shape.grid.iter().zip(&cluster).all(is_multiple);
        if fits {
            Ok(())
        } else {
            Err(Status::INVALID_CLUSTER_SIZE)
        }
    }

    /// The same launch with another's attributes: a graph's node keeps them when it gets other
    /// parameters, which do not include them.
    pub fn with_attributes_of(&self, other: &Self) -> Outcome<Self> {
        let launch = Self {
            function: Arc::clone(&self.function),
            handle: self.handle,
            module: Arc::clone(&self.module),
            shape: Shape {
                cooperative: other.shape.cooperative,
                cluster: other.shape.cluster,
                ..self.shape
            },
            params: self.params.clone(),
            addresses: OnceLock::new(),
        };
        launch.check()?;
        Ok(launch)
    }

    /// The kernel.
    pub fn function(&self) -> &Arc<Function> {
        &self.function
    }

    /// Its shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// A pointer to every parameter's bytes, as `cuLaunchKernel` takes them; valid as long as this
    /// launch.
    pub fn pointers(&self) -> *const *mut c_void {
        let addresses = || self.params.iter().map(|bytes| bytes.as_ptr().addr());
        let all = self.addresses.get_or_init(|| addresses().collect());
        all.as_ptr().cast()
    }

    /// Its module, in the context that it runs in.
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// The parameters' bytes.
    pub(crate) fn params(&self) -> Vec<&[u8]> {
        self.params.iter().map(Vec::as_slice).collect()
    }

    /// Runs it on its device, and waits for its end.
    pub(crate) fn run_with(&self, options: &LaunchOptions) -> Result<Report, LaunchError> {
        let params = self.params();
        let launch = self.in_simulator(&params, options);
        let Module { device, loaded, .. } = &*self.module;
        device.sim.launch(loaded, self.function.name(), &launch)
    }

    /// The same in the debugger. Its order is that of checked launches.
    #[cfg(feature = "debug")]
    pub(crate) fn debug(&self, options: &LaunchOptions) -> Result<Report, LaunchError> {
        let options = LaunchOptions {
            check: true,
            ..options.clone()
        };
        let params = self.params();
        let launch = self.in_simulator(&params, &options);
        let Module { device, loaded, .. } = &*self.module;
        let name = self.function.name();
        let debugged = device.sim.debug(loaded, name, &launch, |session| {
            if let Err(error) = debugger::front::control(session, &[]) {
                eprintln!("lockstep: the debugger: {error}");
            }
        });
        debugged?.1
    }

    /// The launch in the simulator's form.
    pub(crate) fn in_simulator<'a>(
        &self,
        params: &'a [&'a [u8]],
        options: &LaunchOptions,
    ) -> Launch<'a> {
        Launch {
            grid: self.shape.grid,
            block: self.shape.block,
            dynamic_shared_bytes: self.shape.shared_bytes,
            params,
            options: LaunchOptions {
                cluster: self.shape.cluster.or(self.function.set_cluster()),
                // Whether it is allowed has already been checked.
                non_portable_cluster: true,
                cooperative: self.shape.cooperative,
                ..options.clone()
            },
        }
    }
}

/// The parameters' bytes.
///
/// # Safety
/// As for [`KernelLaunch::gather`].
unsafe fn gather(
    function: &Function,
    params: *const *mut c_void,
    extra: *const *mut c_void,
) -> Outcome<Vec<Vec<u8>>> {
    let declared: Vec<(usize, usize)> = function.with_info(|info| {
        let params = info.params.iter();
        params
            .map(|p| (p.offset as usize, p.size_bytes as usize))
            .collect()
    })?;
    if declared.is_empty() {
        return Ok(Vec::new());
    }
    if !params.is_null() {
        // SAFETY: the caller's promise.
        let one = |(i, &(_, size)): (usize, &(usize, usize))| unsafe {
            let bytes = (*params.add(i)).cast::<u8>().cast_const();
            Status::INVALID_VALUE.when(bytes.is_null())?;
            Ok(std::slice::from_raw_parts(bytes, size).to_vec())
        };
        return declared.iter().enumerate().map(one).collect();
    }
    // SAFETY: the caller's promise.
    let buffer = unsafe { extra_buffer(extra)? };
    // A real driver accepts a buffer that is too short; what is missing is zero here.
    let one = |&(offset, size): &(usize, usize)| {
        let from = buffer.get(offset..).unwrap_or_default();
        let mut bytes = from[..size.min(from.len())].to_vec();
        bytes.resize(size, 0);
        bytes
    };
    Ok(declared.iter().map(one).collect())
}

/// The buffer that `extra` names.
///
/// # Safety
/// It is null, or a terminated list of names and values.
unsafe fn extra_buffer<'a>(extra: *const *mut c_void) -> Outcome<&'a [u8]> {
    Status::INVALID_VALUE.when(extra.is_null())?;
    let (mut pointer, mut size) = (std::ptr::null::<u8>(), 0);
    let mut i = 0;
    // SAFETY: the caller's promise.
    unsafe {
        loop {
            let value = || *extra.add(i + 1);
            match (*extra.add(i)).addr() {
                EXTRA_END => break,
                EXTRA_POINTER => pointer = value().cast(),
                EXTRA_SIZE => size = *value().cast::<usize>(),
                _ => return Err(Status::INVALID_VALUE),
            }
            i += 2;
        }
        Status::INVALID_VALUE.when(pointer.is_null())?;
        Ok(std::slice::from_raw_parts(pointer, size))
    }
}
