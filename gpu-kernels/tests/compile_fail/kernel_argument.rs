//! Structures that cannot be kernel arguments, or elements of buffers: their layout is not the
//! device's, or they have bytes without a value.
use cuda_std::view::{Disjoint, Global};
use cuda_std::{DeviceCopy, KernelArg, kernel};

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

#[derive(Clone, Copy, DeviceCopy)]
pub struct ElementInRustLayout {
    pub n: u32,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub struct Padded {
    pub n: u32,
    pub x: f64,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub struct WithBool {
    pub is_on: bool,
}

#[derive(Clone, Copy, DeviceCopy)]
pub union Either {
    pub n: u32,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Underived {
    pub n: u32,
}

#[kernel]
pub fn holds_underived(x: Global<[Underived; n]>, y: Disjoint<[bool; n]>, n: u32) {}

fn main() {}
