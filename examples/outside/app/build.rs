//! Compiles the kernels of `../kernels` for the device.

fn main() {
    cuda_builder::CudaBuilder::new("../kernels").build_or_exit();
}
