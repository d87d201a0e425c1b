//! Compiles a crate of kernels, as a build script would: `build-kernels CRATE ARCHITECTURE`.
//! `src/rust_cuda/compile_tests.rs` makes a package of this file.

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().expect("a crate and an architecture");
    let (kernels, arch) = (next(), next());
    cuda_builder::CudaBuilder::new(&kernels)
        .arch(arch.as_str())
        .target_dir(format!("{kernels}/target"))
        .build_or_exit();
}
