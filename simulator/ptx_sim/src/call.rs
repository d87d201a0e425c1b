//! Launches put together step by step.

use bytemuck::Pod;

use crate::buffer::Buffer;
use crate::device::{Device, LoadedModule};
use crate::diagnostics::LaunchError;
use crate::launch::{Launch, LaunchOptions, Member, MemberError, launch_together};
use crate::report::Report;
use crate::schedule::Schedule;

/// What a kernel can be given for a parameter: numbers, arrays of numbers and
/// structures of them (anything that is [`Pod`]) by value, a [`Buffer`] by its
/// address.
pub trait Argument {
    /// Appends the parameter's bytes.
    fn write_to(&self, bytes: &mut Vec<u8>);
}

impl<T: Pod> Argument for T {
    fn write_to(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(bytemuck::bytes_of(self));
    }
}

impl<T> Argument for Buffer<T> {
    fn write_to(&self, bytes: &mut Vec<u8>) {
        self.address().write_to(bytes);
    }
}

/// Sizes along x, y and z. Made from one, two or three numbers; those left out are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim(pub [u32; 3]);

impl From<u32> for Dim {
    fn from(x: u32) -> Self {
        Self([x, 1, 1])
    }
}

impl From<[u32; 2]> for Dim {
    fn from([x, y]: [u32; 2]) -> Self {
        Self([x, y, 1])
    }
}

impl From<[u32; 3]> for Dim {
    fn from(sizes: [u32; 3]) -> Self {
        Self(sizes)
    }
}

impl From<(u32, u32)> for Dim {
    fn from((x, y): (u32, u32)) -> Self {
        Self([x, y, 1])
    }
}

impl From<(u32, u32, u32)> for Dim {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self([x, y, z])
    }
}

/// A launch that is being put together; made by [`Device::call`].
///
/// By default, one block of one thread is run, with counts and without checks for races.
#[must_use = "nothing runs before `run`"]
pub struct Call<'a> {
    device: &'a Device,
    loaded: &'a LoadedModule,
    kernel: &'a str,
    grid: Dim,
    block: Dim,
    dynamic_shared_bytes: u32,
    /// All arguments' bytes, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    options: LaunchOptions,
}

impl Device {
    /// Begins a launch of a kernel.
    pub fn call<'a>(&'a self, loaded: &'a LoadedModule, kernel: &'a str) -> Call<'a> {
        Call {
            device: self,
            loaded,
            kernel,
            grid: Dim::from(1),
            block: Dim::from(1),
            dynamic_shared_bytes: 0,
            bytes: Vec::new(),
            ends: Vec::new(),
            options: LaunchOptions::default(),
        }
    }
}

impl Call<'_> {
    /// Number of blocks.
    pub fn grid(mut self, grid: impl Into<Dim>) -> Self {
        self.grid = grid.into();
        self
    }

    /// Threads of a block.
    pub fn block(mut self, block: impl Into<Dim>) -> Self {
        self.block = block.into();
        self
    }

    /// Blocks of a cluster; see [`LaunchOptions::cluster`].
    pub fn cluster(mut self, cluster: impl Into<Dim>) -> Self {
        self.options.cluster = Some(cluster.into().0);
        self
    }

    /// Bytes of dynamic shared memory that each block gets.
    pub fn dynamic_shared_bytes(mut self, n_bytes: u32) -> Self {
        self.dynamic_shared_bytes = n_bytes;
        self
    }

    /// The next parameter.
    pub fn arg(self, argument: impl Argument) -> Self {
        self.args(&[&argument])
    }

    /// The next parameters, in their order.
    pub fn args(mut self, arguments: &[&dyn Argument]) -> Self {
        for argument in arguments {
            argument.write_to(&mut self.bytes);
            self.ends.push(self.bytes.len());
        }
        self
    }

    /// Looks for races, reads of unwritten memory and similar defects; see
    /// [`LaunchOptions::check`].
    pub fn check(mut self, check: bool) -> Self {
        self.options.check = check;
        self
    }

    /// Whether to count; see [`LaunchOptions::count`].
    pub fn count(mut self, count: bool) -> Self {
        self.options.count = count;
        self
    }

    /// Host threads; see [`LaunchOptions::threads`].
    pub fn threads(mut self, n_threads: usize) -> Self {
        self.options.threads = Some(n_threads);
        self
    }

    /// Runs it in another order; see [`LaunchOptions::schedule`].
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.options.schedule = Some(schedule);
        self
    }

    /// Warp instructions that the launch may execute; see [`LaunchOptions::fuel`].
    pub fn fuel(mut self, warp_instructions: u64) -> Self {
        self.options.fuel = Some(warp_instructions);
        self
    }

    /// All options at once.
    pub fn options(mut self, options: LaunchOptions) -> Self {
        self.options = options;
        self
    }

    /// Runs the kernel and waits for its end.
    ///
    /// # Errors
    /// As [`Device::launch`].
    pub fn run(self) -> Result<Report, LaunchError> {
        let params = self.params();
        let launch = self.launch(&params);
        self.device.launch(self.loaded, self.kernel, &launch)
    }

    /// Runs the kernel under the control of `f`; see [`Device::debug`].
    ///
    /// # Errors
    /// As [`Device::debug`].
    pub fn debug<R>(
        self,
        f: impl FnOnce(&mut crate::debug::Session<'_, '_>) -> R,
    ) -> Result<(R, Result<Report, LaunchError>), LaunchError> {
        let params = self.params();
        let launch = self.launch(&params);
        self.device.debug(self.loaded, self.kernel, &launch, f)
    }

    /// The parameters' bytes.
    fn params(&self) -> Vec<&[u8]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends);
        ranges
            .map(|(start, &end)| &self.bytes[start..end])
            .collect()
    }

    fn launch<'p>(&self, params: &'p [&'p [u8]]) -> Launch<'p> {
        Launch {
            grid: self.grid.0,
            block: self.block.0,
            dynamic_shared_bytes: self.dynamic_shared_bytes,
            params,
            options: self.options.clone(),
        }
    }
}

/// Runs kernels at the same time, mostly each on a device of its own, and waits for the end of all.
///
/// # Errors
/// As [`launch_together`].
pub fn run_together(calls: &[Call<'_>]) -> Result<Vec<Report>, MemberError> {
    let params: Vec<_> = calls.iter().map(Call::params).collect();
    let members = calls.iter().zip(&params).map(|(call, params)| Member {
        device: call.device,
        module: call.loaded,
        kernel: call.kernel,
        launch: call.launch(params),
    });
    let members: Vec<Member<'_>> = members.collect();
    launch_together(&members)
}
