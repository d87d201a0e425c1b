//! Structures of the runtime, and the driver's structures that they are converted to.

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
    /// Bytes from one row to the next.
    pub pitch: usize,
    /// Bytes used per row.
    pub width: usize,
    /// Rows from one slice to the next.
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
    /// The device of `from`.
    pub from_device: c_int,
    to_array: usize,
    to_at: Extent,
    to: Pitched,
    /// The device of `to`.
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

    /// In the runtime's form, for rows of which `width` is used.
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
    /// A copy with rows, slices and positions.
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

    /// A copy of rows.
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

    /// In the runtime's form.
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

    /// A copy of consecutive bytes.
    pub fn linear(to: u64, from: u64, n_bytes: usize) -> Outcome<Self> {
        Self::rows((to, n_bytes), (from, n_bytes), n_bytes, 1)
    }
}

impl Copy3D {
    /// In the driver's form.
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
    /// In the driver's form: addresses imply their devices. The caller has checked that these
    /// exist.
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
    /// Blocks in the grid.
    pub grid: Dim3,
    /// Threads per block.
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
    /// In the driver's form.
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

/// Dynamic shared memory in the driver's form.
pub fn shared_bytes(n_bytes: usize) -> Outcome<c_uint> {
    c_uint::try_from(n_bytes).map_err(|_| Error::INVALID_VALUE)
}

/// `cudaLaunchParams`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LaunchParams {
    kernel: usize,
    grid: Dim3,
    block: Dim3,
    params: *const *mut c_void,
    shared_bytes: usize,
    stream: usize,
}

/// `CUDA_LAUNCH_PARAMS`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DriverLaunchParams {
    kernel: usize,
    grid: Dim3,
    block: Dim3,
    shared_bytes: c_uint,
    stream: usize,
    params: *const *mut c_void,
}

impl LaunchParams {
    /// In the driver's form, with the driver's kernel for an address.
    pub fn for_driver(
        &self,
        kernel: impl Fn(usize) -> Outcome<usize>,
    ) -> Outcome<DriverLaunchParams> {
        Ok(DriverLaunchParams {
            kernel: kernel(self.kernel)?,
            grid: self.grid,
            block: self.block,
            shared_bytes: shared_bytes(self.shared_bytes)?,
            stream: self.stream,
            params: self.params,
        })
    }
}

/// `cudaKernelNodeParams`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelNode {
    /// The kernel, as the program or the driver identifies it.
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
    /// The part that the runtime has too.
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
    /// A node for a function.
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
    /// Local memory per thread.
    pub local_bytes: usize,
    /// The rest, from the maximum number of threads per block on, in the driver's order.
    pub others: [c_int; 13],
    pub(crate) reserved: [c_int; 16],
}

/// `cudaPointerAttributes` of version 12; version 13 has more fields at the end.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PointerAttributes {
    /// Unregistered, host, device, managed.
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
    /// With zeros at the end.
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
