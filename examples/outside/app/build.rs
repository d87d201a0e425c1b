//! Compiles the kernels of `../kernels` for the device.

fn main() {
    cuda_builder::CudaBuilder::new("../kernels")
        // Loops over arrays are unrolled, as nvcc does, so that the arrays are in registers.
        .build_args(&[
            "-Cllvm-args=-unroll-threshold=4000",
            "-Cllvm-args=-unroll-full-max-count=128",
            "-Zinline-mir-hint-threshold=110",
        ])
        .build_or_exit();
}
