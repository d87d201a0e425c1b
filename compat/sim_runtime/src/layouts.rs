//! Structures of the runtime, and those of the driver that they become.

use std::ffi::{c_int, c_uint, c_void};

use crate::error::{Error, Outcome};

/// `dim3`
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3 {
    /// Innermost.
    pub x: c_uint,
    /// Middle.
    pub y: c_uint,
    /// Outermost.
    pub z: c_uint,
}

/// `cudaExtent`, and `cudaPos`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    /// In bytes.
    pub width: usize,
    /// In rows.
    pub height: usize,
    /// In slices.
    pub depth: usize,
}

/// `cudaPitchedPtr`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Pitched {
    /// The first byte.
    pub address: u64,
    /// Bytes from row to row.
    pub pitch: usize,
    /// Bytes of a row that are used.
    pub width: usize,
    /// Rows from slice to slice.
    pub height: usize,
}

/// `cudaMemcpy3DParms`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy3D {
    from_array: usize,
    from_at: Extent,
    from: Pitched,
    to_array: usize,
    to_at: Extent,
    to: Pitched,
    extent: Extent,
    kind: c_uint,
}

/// `cudaMemcpy3DPeerParms`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PeerCopy3D {
    from_array: usize,
    from_at: Extent,
    from: Pitched,
    /// The device of the first.
    pub from_device: c_int,
    to_array: usize,
    to_at: Extent,
    to: Pitched,
    /// The device of the second.
    pub to_device: c_int,
    extent: Extent,
}

/// One side of the driver's `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct DriverSide {
    at: [usize; 3],
    level: usize,
    kind: c_uint,
    host: u64,
    device: u64,
    array: usize,
    context: usize,
    pitch: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct DriverCopy {
    from: DriverSide,
    to: DriverSide,
    extent: Extent,
}

/// `CU_MEMORYTYPE_HOST`
const HOST: c_uint = 1;
/// `CU_MEMORYTYPE_UNIFIED`
const UNIFIED: c_uint = 4;
/// `cudaMemcpyDefault`, the last of the kinds
const LAST_KIND: c_uint = 4;

impl DriverSide {
    fn new(pitched: &Pitched, at: &Extent) -> Self {
        Self {
            at: [at.width, at.height, at.depth],
            level: 0,
            kind: UNIFIED,
            host: 0,
            device: pitched.address,
            array: 0,
            context: 0,
            pitch: pitched.pitch,
            height: pitched.height,
        }
    }

    /// As the runtime has it, of rows of which so much is used.
    fn pitched(&self, width: usize) -> Pitched {
        let address = match self.kind {
            HOST => self.host,
            _ => self.device,
        };
        Pitched {
            address,
            pitch: self.pitch,
            width,
            height: self.height,
        }
    }

    fn at(&self) -> Extent {
        let [width, height, depth] = self.at;
        Extent {
            width,
            height,
            depth,
        }
    }
}

/// An error unless there is such a kind of copy.
pub fn check_kind(kind: c_uint) -> Outcome {
    match kind {
        ..=LAST_KIND => Ok(()),
        _ => Err(Error::INVALID_DIRECTION),
    }
}

impl DriverCopy {
    /// Of rows, slices and positions.
    pub fn new(
        (from, from_at): (&Pitched, &Extent),
        (to, to_at): (&Pitched, &Extent),
        extent: Extent,
    ) -> Outcome<Self> {
        let fits = |p: &Pitched, at: &Extent| match extent.width.checked_add(at.width) {
            Some(end) => end <= p.pitch || extent.height <= 1 && extent.depth <= 1,
            None => false,
        };
        if !fits(from, from_at) || !fits(to, to_at) {
            return Err(Error::INVALID_PITCH);
        }
        Ok(Self {
            from: DriverSide::new(from, from_at),
            to: DriverSide::new(to, to_at),
            extent,
        })
    }

    /// Of rows.
    pub fn rows(
        to: (u64, usize),
        from: (u64, usize),
        width: usize,
        height: usize,
    ) -> Outcome<Self> {
        let side = |(address, pitch)| Pitched {
            address,
            pitch,
            width,
            height,
        };
        if width > to.1 || width > from.1 {
            return Err(Error::INVALID_PITCH);
        }
        let (start, depth) = (Extent::default(), 1);
        let extent = Extent {
            width,
            height,
            depth,
        };
        Self::new((&side(from), &start), (&side(to), &start), extent)
    }

    /// As the runtime has it.
    pub fn for_runtime(&self) -> Copy3D {
        let width = self.extent.width;
        Copy3D {
            from_array: 0,
            from_at: self.from.at(),
            from: self.from.pitched(width),
            to_array: 0,
            to_at: self.to.at(),
            to: self.to.pitched(width),
            extent: self.extent,
            kind: LAST_KIND,
        }
    }

    /// Of bytes in a row.
    pub fn linear(to: u64, from: u64, n_bytes: usize) -> Outcome<Self> {
        Self::rows((to, n_bytes), (from, n_bytes), n_bytes, 1)
    }
}

impl Copy3D {
    /// As the driver takes it.
    pub fn for_driver(&self) -> Outcome<DriverCopy> {
        check_kind(self.kind)?;
        if self.from_array != 0 || self.to_array != 0 {
            return Err(Error::NOT_SUPPORTED);
        }
        let (from, to) = ((&self.from, &self.from_at), (&self.to, &self.to_at));
        DriverCopy::new(from, to, self.extent)
    }
}

impl PeerCopy3D {
    /// As the driver takes it: addresses say which device they are of. Whether there are
    /// such devices, the caller has seen to.
    pub fn for_driver(&self) -> Outcome<DriverCopy> {
        if self.from_array != 0 || self.to_array != 0 {
            return Err(Error::NOT_SUPPORTED);
        }
        let (from, to) = ((&self.from, &self.from_at), (&self.to, &self.to_at));
        DriverCopy::new(from, to, self.extent)
    }
}

/// `cudaLaunchConfig_t`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LaunchConfig {
    /// Blocks.
    pub grid: Dim3,
    /// Threads of a block.
    pub block: Dim3,
    shared_bytes: usize,
    /// The stream.
    pub stream: usize,
    attributes: *const c_void,
    n_attributes: c_uint,
}

/// `CUlaunchConfig`, whose attributes are the runtime's
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DriverLaunchConfig {
    grid: Dim3,
    block: Dim3,
    shared_bytes: c_uint,
    stream: usize,
    attributes: *const c_void,
    n_attributes: c_uint,
}

impl LaunchConfig {
    /// As the driver takes it.
    pub fn for_driver(&self) -> Outcome<DriverLaunchConfig> {
        Ok(DriverLaunchConfig {
            grid: self.grid,
            block: self.block,
            shared_bytes: shared_bytes(self.shared_bytes)?,
            stream: self.stream,
            attributes: self.attributes,
            n_attributes: self.n_attributes,
        })
    }
}

/// Dynamic shared memory as the driver takes it.
pub fn shared_bytes(n_bytes: usize) -> Outcome<c_uint> {
    c_uint::try_from(n_bytes).map_err(|_| Error::INVALID_VALUE)
}

/// `cudaKernelNodeParams`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelNode {
    /// The kernel, as the program or as the driver knows it.
    pub kernel: usize,
    grid: Dim3,
    block: Dim3,
    shared_bytes: c_uint,
    params: *const *mut c_void,
    extra: *const *mut c_void,
}

/// `CUDA_KERNEL_NODE_PARAMS_v2`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct DriverKernelNode {
    /// What the runtime has, too.
    pub node: KernelNode,
    /// The kernel, if the node names no function.
    pub kernel: usize,
    context: usize,
}

impl Default for KernelNode {
    fn default() -> Self {
        let none = Dim3 { x: 0, y: 0, z: 0 };
        Self {
            kernel: 0,
            grid: none,
            block: none,
            shared_bytes: 0,
            params: std::ptr::null(),
            extra: std::ptr::null(),
        }
    }
}

impl DriverKernelNode {
    /// Of a function.
    pub fn new(node: KernelNode) -> Self {
        Self {
            node,
            kernel: 0,
            context: 0,
        }
    }
}

impl KernelNode {
    /// The same for another kernel.
    pub fn of(&self, kernel: usize) -> Self {
        Self { kernel, ..*self }
    }
}

/// `cudaFuncAttributes`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FunctionAttributes {
    /// Static shared memory.
    pub shared_bytes: usize,
    /// Constant memory.
    pub const_bytes: usize,
    /// Local memory of a thread.
    pub local_bytes: usize,
    /// From the most threads of a block on, in the driver's order.
    pub others: [c_int; 13],
    pub(crate) reserved: [c_int; 16],
}

/// `cudaPointerAttributes` of version 12; that of 13 has more behind.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PointerAttributes {
    /// Unregistered, the host's, a device's, managed.
    pub kind: c_uint,
    /// The device.
    pub device: c_int,
    /// Its address on the device, or null.
    pub device_pointer: u64,
    /// Its address on the host, or null.
    pub host_pointer: u64,
}

/// `cudaPointerAttributes` of version 13
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct LongPointerAttributes {
    /// As in version 12.
    pub known: PointerAttributes,
    reserved: [i64; 8],
}

impl LongPointerAttributes {
    /// With nothing behind.
    pub fn new(known: PointerAttributes) -> Self {
        Self {
            known,
            reserved: [0; 8],
        }
    }
}

/// `cudaChannelFormatDesc`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ChannelFormat {
    /// Bits of each channel.
    pub bits: [c_int; 4],
    /// Signed, unsigned, floating.
    pub kind: c_uint,
}

const _: () = {
    assert!(size_of::<Copy3D>() == 160);
    assert!(size_of::<PeerCopy3D>() == 168);
    assert!(size_of::<DriverCopy>() == 200);
    assert!(size_of::<LaunchConfig>() == 56);
    assert!(size_of::<KernelNode>() == 56);
    assert!(size_of::<FunctionAttributes>() == 144);
    assert!(size_of::<PointerAttributes>() == 24);
    assert!(size_of::<LongPointerAttributes>() == 88);
};
