//! Compiles `src/kernels.rs` for the device.

fn main() {
    cuda_builder::CudaBuilder::new(".").build_or_exit();
}
