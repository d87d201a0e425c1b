//! A simulated device with the test kernels, and their PTX.

use cuda_builder::toolchain::Lines;
use cuda_builder::{Arch, KernelCrate};
use cuda_std::launch::{DevicePtrMut, DeviceSlice, Kernel};
use cuda_std::view::DeviceCopy;
use lockstep::{Buffer, Device, Error, LaunchConfig, Module, PtxModule, Report, Simulator};
use std::path::PathBuf;

/// This package's folder, determined when a test runs: a checkout may have been moved.
fn package() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
    PathBuf::from(package)
}

/// The workspace's root.
fn root() -> PathBuf {
    package().join("../..")
}

/// The PTX of one of this crate's modules, compiled if it is not up to date.
pub fn ptx(module: &str) -> String {
    let path = KernelCrate::open(package(), cuda_builder::target_dir_of(&root()))
        .and_then(|kernels| {
            let progress = Lines::new(std::io::stderr());
            kernels.ptx(Some(module), &Arch::new("sm_80"), &progress)
        })
        .unwrap_or_else(|error| panic!("{error}"));
    std::fs::read_to_string(path).expect("it was just made")
}

/// The opcodes of an entry.
pub fn opcodes(ptx: &str, entry: &str) -> Vec<String> {
    let module = ptx_sim::Module::parse(ptx).unwrap_or_else(|error| panic!("{error}"));
    let mut functions = module.ir().functions.iter();
    let function = functions.find(|function| function.name == entry);
    let body = function.and_then(|function| function.body.as_ref());
    let instructions = body.expect("it is there").iter();
    instructions.map(|one| one.opcode.clone()).collect()
}

/// How many of them begin like this.
pub fn count(opcodes: &[String], start: &str) -> usize {
    let counted = opcodes.iter().filter(|opcode| opcode.starts_with(start));
    counted.count()
}

/// A simulated device with the test kernels loaded.
pub struct Bench {
    device: Device,
    module: Module,
}

impl Bench {
    /// With the kernels of one of this crate's modules.
    pub fn of(module: &str) -> Self {
        Self::of_text(ptx(module))
    }

    /// With the kernels of this PTX.
    pub fn of_text(text: String) -> Self {
        Self::on(Device::simulator(), text)
    }

    /// With the kernels of one of this crate's modules, whose launches are checked for races.
    pub fn checked(module: &str) -> Self {
        let settings = Simulator {
            check: true,
            ..Simulator::default()
        };
        Self::on(Device::simulator_with(settings), ptx(module))
    }

    fn on(device: Device, text: String) -> Self {
        let module = PtxModule::of_text("kernels.ptx", text).with_sources(root());
        let module = device.load(module).expect("rustc's PTX loads");
        Self { device, module }
    }

    /// Device memory with these values.
    pub fn input<T: DeviceCopy>(&self, values: &[T]) -> Buffer<T> {
        self.device.upload("input", values).expect("there is room")
    }

    /// Device memory for so many values, filled with a pattern.
    pub fn output<T: DeviceCopy>(&self, n_values: usize) -> Buffer<T> {
        self.device
            .alloc("output", n_values)
            .expect("there is room")
    }

    pub fn try_launch<K: Kernel>(
        &self,
        kernel: K,
        grid: [u32; 3],
        block: [u32; 3],
        args: K::Args,
    ) -> Result<Report, Error> {
        let config = LaunchConfig::new(grid, block).with_shared(128);
        // SAFETY: the simulator checks every access.
        unsafe { self.module.launch(kernel, config, args) }
    }

    pub fn launch<K: Kernel>(&self, kernel: K, grid: u32, block: u32, args: K::Args) -> Report {
        self.try_launch(kernel, [grid, 1, 1], [block, 1, 1], args)
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

/// The values in device memory.
pub fn read<T: DeviceCopy>(buffer: &Buffer<T>) -> Vec<T> {
    buffer.read().expect("it was allocated")
}

/// Launches a kernel that panics: the fault's report, which begins with the thread that panicked,
/// where, why, and the line.
pub fn panicking<K: Kernel>(
    module: &str,
    kernel: K,
    x: &[u32],
    arguments: impl Fn(DeviceSlice<u32>, DevicePtrMut<u32>) -> K::Args,
) -> String {
    let bench = Bench::of(module);
    let (x, out) = (bench.input(x), bench.output(1024));
    let args = arguments(x.as_slice(), out.as_mut_ptr());
    let error = bench
        .try_launch(kernel, [4, 1, 1], [64, 1, 1], args)
        .expect_err("the kernel panics");
    match error {
        Error::Fault { report, .. } => report,
        other => panic!("{other}"),
    }
}

/// The first line of a source that is `code`.
pub fn line_of(source: &str, code: &str) -> usize {
    let line = source.lines().position(|line| line.trim() == code);
    1 + line.unwrap_or_else(|| panic!("no line `{code}`"))
}
