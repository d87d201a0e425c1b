//! The common part of the integration tests.

pub mod accesses;
pub mod defect;
pub mod expected;
pub mod lanewise;
pub mod numbers;
pub mod plainly;

use ptx_sim::{
    Argument, Buffer, Call, Device, DeviceConfig, Dim, LaunchError, LoadedModule, Module, Pod,
    Report,
};

/// A PTX file's beginning.
pub const HEADER: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// A module from a text, before which [`HEADER`] is put if it has no header of its own.
///
/// # Panics
///
/// It is not PTX.
pub fn module(ptx: &str) -> Module {
    let header = if ptx.contains(".version") { "" } else { HEADER };
    let text = format!("{header}{ptx}");
    Module::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// A device of its own with a module on it. Whatever is asked of it must succeed.
pub struct Bench {
    /// The device.
    pub device: Device,
    /// What is loaded into it.
    pub loaded: LoadedModule,
}

impl Bench {
    /// With the module of a text, as [`module`] reads it.
    pub fn new(ptx: &str) -> Self {
        Self::of(&module(ptx), DeviceConfig::default())
    }

    /// With a module on such a device.
    pub fn of(module: &Module, config: DeviceConfig) -> Self {
        let device = Device::with_config(config);
        let loaded = device.load(module).expect("room for its variables");
        Self { device, loaded }
    }

    /// Begins a launch of a kernel.
    pub fn call<'a>(&'a self, kernel: &'a str) -> Call<'a> {
        self.device.call(&self.loaded, kernel)
    }

    /// Runs a kernel with every check.
    pub fn check(
        &self,
        kernel: &str,
        grid: impl Into<Dim>,
        block: impl Into<Dim>,
        arguments: &[&dyn Argument],
    ) -> Report {
        let call = self.call(kernel).grid(grid).block(block).args(arguments);
        call.check(true)
            .run()
            .unwrap_or_else(|e| panic!("{kernel}: {e}"))
    }

    /// Allocates an array with these elements.
    pub fn upload<T: Pod>(&self, data: &[T], label: &str) -> Buffer<T> {
        self.device.upload(data, label).expect("room for it")
    }

    /// Allocates an array of zeros.
    pub fn zeros<T: Pod>(&self, n_elements: usize, label: &str) -> Buffer<T> {
        self.device.zeros(n_elements, label).expect("room for it")
    }

    /// What an array holds.
    pub fn download<T: Pod>(&self, buffer: Buffer<T>) -> Vec<T> {
        self.device
            .download(buffer)
            .expect("an array of the device")
    }
}

/// Words whose bytes these are.
pub fn words(bytes: &[u8]) -> Vec<u64> {
    let words = bytes.as_chunks().0.iter();
    words.map(|&word| u64::from_le_bytes(word)).collect()
}

/// Asserts that a message has all of these parts.
#[track_caller]
pub fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "no `{part}` in\n{message}");
    }
}

/// Runs kernel `k` of a text on one buffer of 64-bit words, passed by its address, as `shape`
/// says; gives the buffer and the report.
pub fn launch(
    ptx: &str,
    words: &[u64],
    shape: impl for<'a> FnOnce(Call<'a>) -> Call<'a>,
) -> Result<(Vec<u64>, Report), LaunchError> {
    let bench = Bench::new(ptx);
    let buffer = bench.upload(words, "buffer");
    let report = shape(bench.call("k").arg(buffer)).run()?;
    Ok((bench.download(buffer), report))
}

/// As [`launch`], on so many zeros, which must succeed; gives the buffer.
///
/// # Panics
///
/// It does not.
#[track_caller]
pub fn run(
    ptx: &str,
    n_words: usize,
    shape: impl for<'a> FnOnce(Call<'a>) -> Call<'a>,
) -> Vec<u64> {
    match launch(ptx, &vec![0; n_words], shape) {
        Ok((words, _)) => words,
        Err(error) => panic!("{error}\n{ptx}"),
    }
}

/// [`kernel`], with 4 KiB of shared memory `tile`.
pub fn with_tile(body: &str) -> String {
    format!(".shared .align 16 .b8 tile[4096];\n{}", kernel(body))
}

/// A kernel `k(buffer)` around a body. Provided: `%me` (x, 32 bits), `%buf`
/// (the buffer's global address), `%slot` (the address of the thread's own
/// word, by its number in the grid) and plenty of registers.
pub fn kernel(body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 buffer)
{{
	.reg .pred %p<16>;
	.reg .b16 %h<16>;
	.reg .b32 %r<64>, %me, %blk, %dim, %global_id;
	.reg .b64 %rd<64>, %buf, %slot;
	.reg .f32 %f<16>;
	.reg .f64 %fd<16>;
	ld.param.u64 %buf, [buffer];
	cvta.to.global.u64 %buf, %buf;
	mov.u32 %me, %tid.x;
	mov.u32 %blk, %ctaid.x;
	mov.u32 %dim, %ntid.x;
	mad.lo.u32 %global_id, %blk, %dim, %me;
	mul.wide.u32 %slot, %global_id, 8;
	add.u64 %slot, %buf, %slot;
{body}
	ret;
}}
"
    )
}
