//! GEMM.

#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90a"))]
pub mod hopper;
