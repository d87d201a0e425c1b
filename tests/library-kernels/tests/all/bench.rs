//! A simulated device with the test kernels, and their PTX.

use cuda_builder::toolchain::Lines;
use cuda_builder::{Arch, KernelCrate};
use cuda_std::launch::{DevicePtrMut, DeviceSlice, Kernel, KernelArgs};
use cuda_std::panic::{PanicRecord, SINK_SYMBOL};
use ptx_sim::{Device, Launch, LaunchError, LaunchOptions, LoadedModule, Module, Report};
use std::path::PathBuf;

/// The PTX of one of this crate's modules, compiled if it is not up to date.
pub fn ptx(module: &str) -> String {
    // Asked when a test runs: a checkout may have been moved.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
    let package = PathBuf::from(package);
    let root = package.ancestors().nth(2).expect("it is in a workspace");
    let path = KernelCrate::open(&package, cuda_builder::target_dir_of(root))
        .and_then(|kernels| {
            let progress = Lines::new(std::io::stderr());
            kernels.ptx(Some(module), &Arch::new("sm_80"), &progress)
        })
        .unwrap_or_else(|error| panic!("{error}"));
    std::fs::read_to_string(path).expect("it was just made")
}

/// A simulated device with the test kernels loaded.
pub struct Bench {
    pub device: Device,
    pub module: LoadedModule,
}

impl Bench {
    /// With the kernels of one of this crate's modules.
    pub fn of(module: &str) -> Self {
        let device = Device::new();
        let module = Module::parse(&ptx(module)).expect("rustc's PTX parses");
        let module = device.load(&module).expect("the module fits");
        Self { device, module }
    }

    /// Device memory that holds `bytes`.
    pub fn upload(&mut self, bytes: &[u8]) -> u64 {
        let address = self
            .device
            .alloc(bytes.len() as u64, "input")
            .expect("memory");
        self.device
            .write(address, bytes)
            .expect("it was just allocated");
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
        _kernel: K,
        grid: [u32; 3],
        block: [u32; 3],
        args: K::Args,
    ) -> Result<Report, LaunchError> {
        let mut values = Vec::new();
        args.push_params(&mut |value| values.push(value));
        let params: Vec<_> = values.iter().map(|value| value.as_bytes()).collect();
        let launch = Launch {
            grid,
            block,
            dynamic_shared_bytes: 128,
            params: &params,
            options: LaunchOptions::default(),
        };
        self.device.launch(&self.module, K::NAME, &launch)
    }

    pub fn launch<K: Kernel>(&mut self, kernel: K, grid: u32, block: u32, args: K::Args) -> Report {
        self.try_launch(kernel, [grid, 1, 1], [block, 1, 1], args)
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Launches a kernel that panics: what the launch said, and the record it left.
pub fn panicking<K: Kernel>(
    module: &str,
    kernel: K,
    x: &[u32],
    arguments: impl Fn(DeviceSlice<u32>, DevicePtrMut<u32>) -> K::Args,
) -> (LaunchError, PanicRecord) {
    let mut bench = Bench::of(module);
    let sink = bench.upload(&[0; PanicRecord::SIZE_BYTES]);
    let variable = bench
        .module
        .global_address(SINK_SYMBOL)
        .expect("the module has a sink");
    bench.device.write(variable, &sink.to_le_bytes()).unwrap();
    let (x, out) = (bench.words(x), DevicePtrMut::new(bench.output(4096)));
    let error = bench
        .try_launch(kernel, [4, 1, 1], [64, 1, 1], arguments(x, out))
        .expect_err("the kernel panics");
    let bytes = bench.read::<{ PanicRecord::SIZE_BYTES }>(sink, 1)[0];
    (
        error,
        PanicRecord::from_bytes(&bytes).expect("the panic left a record"),
    )
}
