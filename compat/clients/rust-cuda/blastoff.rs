//! Products of matrices for one of Rust-CUDA's examples, under the names of its crate `blastoff`,
//! which calls cuBLAS. cuBLAS is machine code without PTX, which the simulator does not run: here
//! the host multiplies. `src/rust_cuda/examples.rs` makes a package of this file.
//!
//! Left out: all that the example does not call, above all transposed matrices.

use cust::error::CudaResult;
use cust::memory::{CopyDestination, DeviceBox, DeviceBuffer, DeviceCopy};
use cust::stream::Stream;
use std::ops::{Add, Mul};

/// In place of a context of cuBLAS.
pub struct CublasContext;

/// How a matrix is read.
pub enum MatrixOp {
    /// As it is.
    None,
}

impl CublasContext {
    /// The context.
    pub fn new() -> CudaResult<Self> {
        Ok(Self)
    }

    /// `c = alpha a b + beta c`, for matrices by columns: `a` is `m` × `k`, `b` is `k` × `n`, and
    /// columns begin `lda`, `ldb` and `ldc` numbers apart.
    #[allow(clippy::too_many_arguments)]
    pub fn gemm<T>(
        &mut self,
        stream: &Stream,
        m: usize,
        n: usize,
        k: usize,
        alpha: &DeviceBox<T>,
        a: &DeviceBuffer<T>,
        lda: usize,
        MatrixOp::None: MatrixOp,
        beta: &DeviceBox<T>,
        b: &DeviceBuffer<T>,
        ldb: usize,
        MatrixOp::None: MatrixOp,
        c: &mut DeviceBuffer<T>,
        ldc: usize,
    ) -> CudaResult<()>
    where
        T: DeviceCopy + Default + PartialEq + Add<Output = T> + Mul<Output = T>,
    {
        stream.synchronize()?;
        let (alpha, beta) = (alpha.as_host_value()?, beta.as_host_value()?);
        let (a, b, mut sums) = (a.as_host_vec()?, b.as_host_vec()?, c.as_host_vec()?);
        for column in 0..n {
            let sums = &mut sums[column * ldc..][..m];
            for sum in &mut *sums {
                // What was there may be no number; 0 times that is 0 to cuBLAS.
                *sum = if beta == T::default() {
                    beta
                } else {
                    beta * *sum
                };
            }
            for place in 0..k {
                let factor = alpha * b[column * ldb + place];
                for (sum, value) in sums.iter_mut().zip(&a[place * lda..][..m]) {
                    *sum = *sum + factor * *value;
                }
            }
        }
        c.copy_from(&sums)
    }
}
