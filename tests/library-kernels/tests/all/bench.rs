//! A simulated device with the test kernels, and their PTX.

use cuda_builder::toolchain::Lines;
use cuda_builder::{Arch, KernelCrate};
use cuda_std::launch::{DevicePtrMut, DeviceSlice, Kernel};
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

/// A simulated device with the test kernels loaded.
pub struct Bench {
    device: Device,
    module: Module,
    /// Uploads, kept as long as the device.
    buffers: Vec<Buffer<u8>>,
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
        Self {
            device,
            module,
            buffers: Vec::new(),
        }
    }

    /// Device memory that holds `bytes`.
    pub fn upload(&mut self, bytes: &[u8]) -> u64 {
        let buffer = self.device.upload("input", bytes).expect("memory");
        let address = buffer.address();
        self.buffers.push(buffer);
        address
    }

    pub fn words(&mut self, words: &[u32]) -> DeviceSlice<u32> {
        let bytes: Vec<_> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        DeviceSlice::new(self.upload(&bytes), words.len() as u64)
    }

    pub fn floats(&mut self, floats: &[f32]) -> DeviceSlice<f32> {
        let bytes: Vec<_> = floats
            .iter()
            .flat_map(|float| float.to_le_bytes())
            .collect();
        DeviceSlice::new(self.upload(&bytes), floats.len() as u64)
    }

    /// Device memory for `n_bytes` of output, filled with a pattern.
    pub fn output(&mut self, n_bytes: usize) -> u64 {
        self.upload(&vec![0xA5; n_bytes])
    }

    pub fn read<const N: usize>(&self, address: u64, n_values: usize) -> Vec<[u8; N]> {
        let mut bytes = vec![0; n_values * N];
        self.device
            .engine()
            .read(address, &mut bytes)
            .expect("it was allocated with that size");
        bytes.as_chunks::<N>().0.to_vec()
    }

    pub fn read_words(&self, address: u64, n_words: usize) -> Vec<u32> {
        self.read(address, n_words)
            .into_iter()
            .map(u32::from_le_bytes)
            .collect()
    }

    pub fn read_floats(&self, address: u64, n_floats: usize) -> Vec<f32> {
        self.read(address, n_floats)
            .into_iter()
            .map(f32::from_le_bytes)
            .collect()
    }

    pub fn try_launch<K: Kernel>(
        &mut self,
        kernel: K,
        grid: [u32; 3],
        block: [u32; 3],
        args: K::Args,
    ) -> Result<Report, Error> {
        let config = LaunchConfig::new(grid, block).with_shared(128);
        // SAFETY: the simulator checks every access.
        unsafe { self.module.launch(kernel, config, args) }
    }

    pub fn launch<K: Kernel>(&mut self, kernel: K, grid: u32, block: u32, args: K::Args) -> Report {
        self.try_launch(kernel, [grid, 1, 1], [block, 1, 1], args)
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Launches a kernel that panics: the fault's report, which begins with the thread that panicked,
/// where, why, and the line.
pub fn panicking<K: Kernel>(
    module: &str,
    kernel: K,
    x: &[u32],
    arguments: impl Fn(DeviceSlice<u32>, DevicePtrMut<u32>) -> K::Args,
) -> String {
    let mut bench = Bench::of(module);
    let (x, out) = (bench.words(x), DevicePtrMut::new(bench.output(4096)));
    let error = bench
        .try_launch(kernel, [4, 1, 1], [64, 1, 1], arguments(x, out))
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
