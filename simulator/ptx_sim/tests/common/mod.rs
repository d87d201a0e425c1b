//! The common part of the integration tests.

pub mod accesses;
pub mod defect;
pub mod expected;
pub mod lanewise;
pub mod plainly;

use ptx_sim::{Device, Launch, LaunchError, LaunchOptions, Module, Report};

/// A PTX file's beginning.
pub const HEADER: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// A device with a module and buffers of 64-bit words.
pub struct Bench {
    /// With as much memory as it asks for.
    pub device: Device,
    /// What is loaded into it.
    pub module: Module,
}

/// Runs kernel `k` of a module on one buffer of 64-bit words, passed by its
/// address; gives the buffer and the report.
pub fn run_on(
    ptx: &str,
    grid: [u32; 3],
    block: [u32; 3],
    buffer: &[u64],
) -> Result<(Vec<u64>, Report), LaunchError> {
    run_with(ptx, grid, block, 0, buffer, LaunchOptions::default())
}

/// As [`run_on`], with dynamic shared memory and options.
pub fn run_with(
    ptx: &str,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared_bytes: u32,
    buffer: &[u64],
    options: LaunchOptions,
) -> Result<(Vec<u64>, Report), LaunchError> {
    let text = if ptx.contains(".version") {
        ptx.to_owned()
    } else {
        format!("{HEADER}{ptx}")
    };
    let module = Module::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let device = Device::new();
    let loaded = device.load(&module).unwrap();
    let address = device.alloc(8 * buffer.len() as u64, "buffer").unwrap();
    let bytes: Vec<u8> = buffer.iter().flat_map(|w| w.to_le_bytes()).collect();
    device.write(address, &bytes).unwrap();
    let launch = Launch {
        grid,
        block,
        dynamic_shared_bytes,
        params: &[&address.to_le_bytes()],
        options,
    };
    let report = device.launch(&loaded, "k", &launch)?;
    let mut out = vec![0; bytes.len()];
    device.read(address, &mut out).unwrap();
    let words = out
        .as_chunks()
        .0
        .iter()
        .map(|c| u64::from_le_bytes(*c))
        .collect();
    Ok((words, report))
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
