//! Structures that cannot be kernel arguments: their layout is not the device's.
use cuda_std::KernelArg;

#[derive(Clone, Copy, KernelArg)]
pub struct RustLayout {
    pub n: u32,
}

#[derive(Clone, Copy, KernelArg)]
#[repr(C, packed)]
pub struct Packed {
    pub n: u32,
}

#[derive(Clone, Copy, KernelArg)]
#[repr(C)]
pub struct WithPointer {
    pub x: *const f32,
}

#[derive(Clone, Copy, KernelArg)]
#[repr(C, align(64))]
pub struct Aligned {
    pub n: u32,
}

#[derive(Clone, Copy, KernelArg)]
#[repr(C)]
pub struct Generic<T> {
    pub x: T,
}

#[derive(Clone, Copy, KernelArg)]
pub enum Choice {
    A,
}

#[derive(KernelArg)]
#[repr(C)]
pub struct NotCopy {
    pub n: u32,
}

fn main() {}
