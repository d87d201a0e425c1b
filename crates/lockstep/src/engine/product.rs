//! A matrix product as a call of cuBLASLt: the matrices and their layouts.

use serde::Serialize;

/// The element type of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum MatrixType {
    /// 16 bits, IEEE.
    F16,
    /// 16 bits, with `f32`'s range.
    Bf16,
    /// 32 bits.
    F32,
}

impl MatrixType {
    /// Bytes of an element.
    pub const fn size_bytes(self) -> u64 {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
        }
    }
}

/// The dimension that a factor's rows, as stored, run along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Major {
    /// Along k: A is m rows of k, B is n rows of k.
    K,
    /// Along the other dimension: A is k rows of m, B is k rows of n.
    Mn,
}

/// A matrix in device memory, stored by rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stored {
    /// Address of the first element.
    pub address: u64,
    /// Elements from one row to the next.
    pub pitch: u32,
}

/// `cublasLtMatmul`: C = alpha·A·B + beta·C, sums in `f32`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matmul {
    /// Rows of C.
    pub m: u32,
    /// Columns of C.
    pub n: u32,
    /// Length of the sums.
    pub k: u32,
    /// A, and the dimension that its rows run along.
    pub a: (Stored, Major),
    /// B, and the dimension that its rows run along.
    pub b: (Stored, Major),
    /// C, `m` rows of `n`.
    pub c: Stored,
    /// Element type of A and B.
    pub factors: MatrixType,
    /// Element type of C.
    pub result: MatrixType,
    /// Factor of the product.
    pub alpha: f32,
    /// Factor of the old C, which is not read if this is 0.
    pub beta: f32,
}

impl Matmul {
    /// The addresses of A, B and C, with the bytes from first row to last.
    pub fn addresses(&self) -> [(u64, u64); 3] {
        let bytes = |stored: Stored, rows: u32, columns: u32, element: MatrixType| {
            let before_last = u64::from(rows.saturating_sub(1)) * u64::from(stored.pitch);
            let elements = if rows == 0 {
                0
            } else {
                before_last + u64::from(columns)
            };
            (stored.address, elements * element.size_bytes())
        };
        let factor = |(stored, major): (Stored, Major), edge: u32| match major {
            Major::K => bytes(stored, edge, self.k, self.factors),
            Major::Mn => bytes(stored, self.k, edge, self.factors),
        };
        [
            factor(self.a, self.m),
            factor(self.b, self.n),
            bytes(self.c, self.m, self.n, self.result),
        ]
    }

    /// The same product on other memory.
    #[must_use]
    pub fn relocated(self, to: &dyn Fn(u64) -> u64) -> Self {
        let there = |stored: Stored| Stored {
            address: to(stored.address),
            ..stored
        };
        Self {
            a: (there(self.a.0), self.a.1),
            b: (there(self.b.0), self.b.1),
            c: there(self.c),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Major, Matmul, MatrixType, Stored};

    fn product() -> Matmul {
        let stored = |address, pitch| Stored { address, pitch };
        Matmul {
            m: 3,
            n: 5,
            k: 7,
            a: (stored(1000, 8), Major::K),
            b: (stored(2000, 8), Major::Mn),
            c: stored(3000, 16),
            factors: MatrixType::Bf16,
            result: MatrixType::F32,
            alpha: 1.0,
            beta: 0.0,
        }
    }

    #[test]
    fn ranges_end_with_the_last_row() {
        // A: 3 rows of 7; B: 7 rows of 5; C: 3 rows of 5.
        let expected = [
            (1000, 2 * (2 * 8 + 7)),
            (2000, 2 * (6 * 8 + 5)),
            (3000, 4 * (2 * 16 + 5)),
        ];
        assert_eq!(product().addresses(), expected);
        let empty = Matmul { m: 0, ..product() };
        assert_eq!(empty.addresses()[0], (1000, 0));
        assert_eq!(empty.addresses()[2], (3000, 0));
    }

    #[test]
    fn it_moves_with_its_matrices() {
        let moved = product().relocated(&|address| address + 1);
        assert_eq!(moved.a.0.address, 1001);
        assert_eq!(moved.b.0.address, 2001);
        assert_eq!(moved.c.address, 3001);
        assert_eq!(moved.a.1, Major::K);
    }
}
