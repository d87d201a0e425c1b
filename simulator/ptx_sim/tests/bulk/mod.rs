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

use ptx_sim::tensor_map::TensorMap;
use ptx_sim::{Device, Launch, LaunchError, LaunchOptions, Module, Report};

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
    /// The buffer's address.
    pub buffer: u64,
    n_bytes: usize,
}

impl Bench {
    /// With these bytes in the buffer.
    pub fn new(bytes: &[u8]) -> Self {
        let device = Device::new();
        let buffer = device.alloc(bytes.len() as u64, "buffer").expect("memory");
        device.write(buffer, bytes).expect("the buffer");
        Self {
            device,
            buffer,
            n_bytes: bytes.len(),
        }
    }

    /// What is in the buffer.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.n_bytes];
        self.device
            .read(self.buffer, &mut bytes)
            .expect("the buffer");
        bytes
    }

    /// Runs a kernel with one block.
    pub fn run(
        &self,
        ptx: &str,
        map: &[u8; 128],
        n_threads: u32,
        check: bool,
    ) -> Result<Report, LaunchError> {
        let module = Module::parse(ptx).unwrap_or_else(|e| panic!("{e}\n{ptx}"));
        let loaded = self.device.load(&module).expect("a module");
        let launch = Launch {
            grid: [1, 1, 1],
            block: [n_threads, 1, 1],
            dynamic_shared_bytes: 0,
            params: &[map, &self.buffer.to_le_bytes()],
            options: LaunchOptions {
                check,
                fuel: Some(1 << 22),
                ..Default::default()
            },
        };
        self.device.launch(&loaded, "k", &launch)
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

/// Bytes that are all different from their neighbours.
pub fn noise(n_bytes: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..n_bytes)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect()
}
