//! NVIDIA's libraries, as far as our kernels are timed against them.
//!
//! A call is data, like a launch, so that it can be repeated on other buffers. The GPU engine loads
//! the libraries and makes the calls.

use super::product::Matmul;
use serde::Serialize;

/// A library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Library {
    /// CUB, whose templates are compiled into a shared library of ours.
    Cub,
    /// cuBLAS.
    Cublas,
    /// cuBLASLt, cuBLAS's library for products with a choice of algorithms.
    CublasLt,
}

impl Library {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cub => "CUB",
            Self::Cublas => "cuBLAS",
            Self::CublasLt => "cuBLASLt",
        }
    }
}

/// How cuBLAS may compute a product of `f32`. Neither mode rounds its operands to TF32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum SgemmMath {
    /// `CUBLAS_DEFAULT_MATH`.
    Default,
    /// `CUBLAS_PEDANTIC_MATH`: every step as written.
    Pedantic,
}

/// A call of a library, with device addresses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LibraryCall {
    /// `cub::DeviceReduce::Sum` of `n` values of `f32`.
    CubSum {
        /// Address of the values.
        input: u64,
        /// How many.
        n: u64,
        /// Address of their sum.
        output: u64,
    },
    /// `cublasSgemm`: C = A·B, all row-major without gaps.
    Sgemm {
        /// Address of A, `m` rows of `k`.
        a: u64,
        /// Address of B, `k` rows of `n`.
        b: u64,
        /// Address of C, `m` rows of `n`.
        c: u64,
        /// Rows of A and C.
        m: u32,
        /// Columns of B and C.
        n: u32,
        /// Columns of A, rows of B.
        k: u32,
        /// How it may compute.
        math: SgemmMath,
    },
    /// `cublasLtMatmul`, with the fastest of the algorithms that its heuristic suggests: they are
    /// timed when the product is first prepared.
    Matmul(Matmul),
}

impl LibraryCall {
    /// The library that the call belongs to.
    pub const fn library(&self) -> Library {
        match self {
            Self::CubSum { .. } => Library::Cub,
            Self::Sgemm { .. } => Library::Cublas,
            Self::Matmul(_) => Library::CublasLt,
        }
    }

    /// Its usual name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::CubSum { .. } => "CUB",
            Self::Sgemm {
                math: SgemmMath::Default,
                ..
            } => "cuBLAS",
            Self::Sgemm {
                math: SgemmMath::Pedantic,
                ..
            } => "cuBLAS, pedantic",
            Self::Matmul(_) => "cuBLASLt",
        }
    }

    /// Its addresses, with the number of bytes that it uses at each.
    pub fn addresses(&self) -> [(u64, u64); 3] {
        const F32: u64 = size_of::<f32>() as u64;
        match *self {
            Self::CubSum { input, n, output } => [(input, n * F32), (output, F32), (output, F32)],
            Self::Sgemm {
                a, b, c, m, n, k, ..
            } => {
                let bytes = |rows: u32, columns: u32| u64::from(rows) * u64::from(columns) * F32;
                [(a, bytes(m, k)), (b, bytes(k, n)), (c, bytes(m, n))]
            }
            Self::Matmul(product) => product.addresses(),
        }
    }

    /// The same call on other memory.
    #[must_use]
    pub fn relocated(self, to: &dyn Fn(u64) -> u64) -> Self {
        match self {
            Self::CubSum { input, n, output } => Self::CubSum {
                input: to(input),
                n,
                output: to(output),
            },
            Self::Sgemm {
                a,
                b,
                c,
                m,
                n,
                k,
                math,
            } => Self::Sgemm {
                a: to(a),
                b: to(b),
                c: to(c),
                m,
                n,
                k,
                math,
            },
            Self::Matmul(product) => Self::Matmul(product.relocated(to)),
        }
    }
}
