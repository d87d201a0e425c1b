//! Bulk copies and tensor maps.

mod groups;
mod model;
mod multicast;
mod plain;
pub mod random;
mod reductions;
mod refusals;
mod tiles;
mod corrected;
mod waits;

use common::module;
use common::numbers::Numbers;
use ptx_sim::tensor_map::{Element, Fill, Interleave, L2Promotion, Swizzle, TensorMap, TensorSpec};
use ptx_sim::{Buffer, Call, Device, LaunchError, Report};

/// A kernel `k(map, buffer)` around a body. Provided: `%map` (the tensor map's generic
/// address), `%buf` (the buffer's address), `%me` (x), `%lead` (whether this is thread 0),
/// `%tile` and `%bar` (addresses of 40 KiB of shared memory at a multiple of 1024, and of
/// eight barriers), plenty of registers.
pub fn kernel(body: &str) -> String {
    format!(
        ".version 8.6
.target sm_90a
.address_size 64
.shared .align 1024 .b8 tile[40960];
.shared .align 8 .b8 bars[64];
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 buffer)
{{
	.reg .pred %p<16>, %lead;
	.reg .b16 %h<16>;
	.reg .b32 %r<64>, %me, %tile, %bar;
	.reg .b64 %rd<32>, %buf, %map;
	mov.b64 %map, map;
	cvta.param.u64 %map, %map;
	ld.param.u64 %buf, [buffer];
	cvta.to.global.u64 %buf, %buf;
	mov.u32 %me, %tid.x;
	setp.eq.u32 %lead, %me, 0;
	mov.u32 %tile, tile;
	mov.u32 %bar, bars;
{body}
	ret;
}}
"
    )
}

/// Waits for a phase of the first barrier by its parity.
pub fn wait(parity: u32) -> String {
    format!(
        "{{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%bar], {parity};\n\
         @!done bra AGAIN;\n}}\n"
    )
}

/// Thread 0 initialises the first barrier for one arrival; all threads know.
pub const INIT: &str = "@%lead mbarrier.init.shared::cta.b64 [%bar], 1;
	fence.proxy.async;
	bar.sync 0;
";

/// A device with a buffer.
pub struct Bench {
    /// The device.
    pub device: Device,
    /// The buffer.
    pub buffer: Buffer<u8>,
}

impl Bench {
    /// With these bytes in the buffer.
    pub fn new(bytes: &[u8]) -> Self {
        let device = Device::new();
        let buffer = device.upload(bytes, "buffer").expect("memory");
        Self { device, buffer }
    }

    /// What is in the buffer.
    pub fn bytes(&self) -> Vec<u8> {
        self.device.download(self.buffer).expect("the buffer")
    }

    /// Runs a kernel with a map and the buffer, as `shape` says.
    pub fn launch(
        &self,
        ptx: &str,
        map: &[u8; 128],
        shape: impl for<'a> FnOnce(Call<'a>) -> Call<'a>,
    ) -> Result<Report, LaunchError> {
        let loaded = self.device.load(&module(ptx)).expect("a module");
        let call = self.device.call(&loaded, "k").fuel(1 << 22);
        shape(call.args(&[map, &self.buffer])).run()
    }

    /// Runs a kernel with one block and a map.
    pub fn run(
        &self,
        ptx: &str,
        map: &[u8; 128],
        n_threads: u32,
        check: bool,
    ) -> Result<Report, LaunchError> {
        self.launch(ptx, map, |call| call.block(n_threads).check(check))
    }

    /// Runs a kernel without a map, with one block and without checks, which must succeed.
    pub fn run_unchecked(&self, ptx: &str, n_threads: u32) -> Report {
        let run = self.run(ptx, &[0; 128], n_threads, false);
        run.expect("no checks")
    }

    /// Runs a kernel with a map, which must succeed with checks and without.
    pub fn run_both(&self, ptx: &str, map: Option<&TensorMap>, n_threads: u32) {
        let map = map.map_or([0; 128], TensorMap::to_bytes);
        for check in [false, true] {
            if let Err(error) = self.run(ptx, &map, n_threads, check) {
                panic!("check {check}: {error}");
            }
        }
    }
}

/// Bytes that look random.
pub fn noise(n_bytes: usize, seed: u64) -> Vec<u8> {
    Numbers(seed).map(|r| r as u8).take(n_bytes).collect()
}

/// A tensor map's specification without anything special, of which the rest is to be filled in.
pub const PLAIN: TensorSpec<'static> = TensorSpec {
    element: Element::F16,
    address: 0,
    dims: &[],
    strides: &[],
    box_dims: &[],
    element_strides: &[1, 1],
    interleave: Interleave::None,
    swizzle: Swizzle::None,
    l2_promotion: L2Promotion::None,
    fill: Fill::Zeros,
};
