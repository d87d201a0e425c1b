//! cuBLASLt, loaded at run time: products with an algorithm chosen by trial.
//!
//! cuBLASLt's heuristic suggests some algorithms for a product, the most promising first. Each is
//! timed once, when a product of these sizes, types and layouts is first prepared, and the fastest
//! is used from then on: that is the library at its best.

mod api;

use super::super::super::{EngineError, Library, Major, Matmul, MatrixType};
use super::super::memory;
use super::failure::failed;
use super::file::dotted;
use crate::driver::{self, Event, Stream};
use api::{Api, Heuristic};
use std::ffi::c_int;
use std::path::Path;

/// Bytes that an algorithm may use in addition to the matrices.
const WORKSPACE_BYTES: usize = 64 << 20;
/// Number of algorithms requested from the heuristic.
const MOST_ALGORITHMS: usize = 16;
/// Timed runs of each.
const N_SAMPLES: usize = 7;
/// Duration of a sample of short runs.
const SAMPLE_MS: f32 = 0.8;
/// Maximum number of runs in a sample.
const MOST_RUNS: usize = 50;

/// The library, and the algorithms chosen.
pub(super) struct CublasLt {
    api: Api,
    workspace: u64,
    chosen: Vec<Chosen>,
}

/// How products of one kind are computed.
struct Chosen {
    kind: Kind,
    operation: Operation,
    /// The heuristic's algorithms.
    found: Vec<Heuristic>,
    /// Which of them can be used, the fastest first.
    ranked: Vec<usize>,
    /// Which of these is used.
    way: usize,
}

/// What an algorithm is chosen for: all of a product except its addresses.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Kind(Matmul);

impl Kind {
    fn of(product: &Matmul) -> Self {
        Self(product.relocated(&|_| 0))
    }
}

/// cuBLASLt's descriptions of a product and of its matrices; they live as long as the
/// library.
///
/// cuBLASLt is column-major: for it, the product of our rows is Cᵀ = Bᵀ·Aᵀ. So its left matrix is
/// our B and its right one our A. A factor whose rows run along k has, for cuBLASLt, columns along
/// k: as the left matrix it is transposed, as the right one it is not.
struct Operation {
    product: api::Handle,
    left: api::Handle,
    right: api::Handle,
    result: api::Handle,
}

/// `CUBLAS_OP_N`, `CUBLAS_OP_T`.
const PLAIN: c_int = 0;
const TRANSPOSED: c_int = 1;

/// A matrix as cuBLASLt sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Columns {
    rows: u64,
    columns: u64,
    pitch: i64,
}

/// cuBLASLt's description of the left or right matrix of a product: its layout, and whether to
/// transpose it. `edge` is the dimension other than k.
fn described(pitch: u32, major: Major, edge: u32, k: u32, is_left: bool) -> (Columns, c_int) {
    let (rows, columns) = match major {
        Major::K => (k, edge),
        Major::Mn => (edge, k),
    };
    let matrix = Columns {
        rows: rows.into(),
        columns: columns.into(),
        pitch: pitch.into(),
    };
    let operation = match (major, is_left) {
        (Major::K, true) | (Major::Mn, false) => TRANSPOSED,
        (Major::Mn, true) | (Major::K, false) => PLAIN,
    };
    (matrix, operation)
}

/// Values of `cudaDataType`.
const fn data_type(of: MatrixType) -> c_int {
    match of {
        MatrixType::F32 => 0,
        MatrixType::F16 => 2,
        MatrixType::Bf16 => 14,
    }
}

impl CublasLt {
    pub(super) fn load(file: &Path) -> Result<Self, EngineError> {
        let api = Api::load(file)?;
        let workspace = memory::alloc(WORKSPACE_BYTES as u64, "cuBLASLt's own")?;
        Ok(Self {
            api,
            workspace,
            chosen: Vec::new(),
        })
    }

    pub(super) fn version(&self) -> String {
        dotted(self.api.version())
    }

    fn chosen(&self, product: &Matmul) -> Option<&Chosen> {
        let kind = Kind::of(product);
        self.chosen.iter().find(|chosen| chosen.kind == kind)
    }

    /// The algorithm that was chosen.
    pub(super) fn choice(&self, product: &Matmul) -> Option<String> {
        let chosen = self.chosen(product)?;
        let (place, n_found) = (chosen.ranked[chosen.way], chosen.found.len());
        let id = match self.api.algorithm_id(&chosen.found[place]) {
            Some(id) => format!(" (id {id})"),
            None => String::new(),
        };
        Some(format!(
            "algorithm {} of {n_found}{id}, the fastest of its heuristic's",
            place + 1
        ))
    }

    /// Chooses an algorithm for products of this kind, unless there is one. C is unchanged.
    pub(super) fn prepare(&mut self, product: &Matmul, stream: &Stream) -> Result<(), EngineError> {
        if self.chosen(product).is_some() {
            return Ok(());
        }
        let operation = self.describe(product)?;
        let found = self.api.heuristic(
            [
                operation.product,
                operation.left,
                operation.right,
                operation.result,
            ],
            WORKSPACE_BYTES,
            MOST_ALGORITHMS,
        )?;
        let (_, c_bytes) = product.addresses()[2];
        let trial = memory::alloc(c_bytes.max(1), "results of cuBLASLt's algorithms")?;
        let ranked = self.ranked(product, &operation, &found, trial, stream);
        let freed = driver::memory::free(trial);
        let ranked = ranked?;
        freed?;
        self.chosen.push(Chosen {
            kind: Kind::of(product),
            operation,
            found,
            ranked,
            way: 0,
        });
        Ok(())
    }

    /// The number of algorithms that can be used for the product; 0 before it is prepared.
    pub(super) fn n_ways(&self, product: &Matmul) -> usize {
        self.chosen(product).map_or(0, |chosen| chosen.ranked.len())
    }

    /// Uses that algorithm from now on; 0 is the one that was fastest when all were tried.
    pub(super) fn take_way(&mut self, product: &Matmul, way: usize) {
        let kind = Kind::of(product);
        let mut chosen = self.chosen.iter_mut();
        if let Some(chosen) = chosen.find(|chosen| chosen.kind == kind)
            && way < chosen.ranked.len()
        {
            chosen.way = way;
        }
    }

    /// The algorithms that can be used, the fastest first.
    fn ranked(
        &self,
        product: &Matmul,
        operation: &Operation,
        found: &[Heuristic],
        trial: u64,
        stream: &Stream,
    ) -> Result<Vec<usize>, EngineError> {
        let mut timed = Vec::new();
        let mut refusal = None;
        for (place, algorithm) in found.iter().enumerate() {
            let run = || self.run(product, operation, algorithm, trial, stream);
            // A suggested algorithm may still be refused; the others remain.
            if let Err(error) = run() {
                refusal = Some(error);
                continue;
            }
            let once = sample(&run, 1, stream)?;
            let n_runs = ((SAMPLE_MS / once.max(1e-6)).ceil() as usize).clamp(1, MOST_RUNS);
            let samples = (0..N_SAMPLES).map(|_| sample(&run, n_runs, stream));
            let mut samples = samples.collect::<Result<Vec<_>, _>>()?;
            samples.sort_by(f32::total_cmp);
            timed.push((samples[N_SAMPLES / 2], place));
        }
        timed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        match (timed.is_empty(), refusal) {
            (false, _) => Ok(timed.into_iter().map(|(_, place)| place).collect()),
            (true, Some(error)) => Err(error),
            (true, None) => Err(failed(
                Library::CublasLt,
                "its heuristic suggests no algorithm for this product",
            )),
        }
    }

    fn describe(&self, product: &Matmul) -> Result<Operation, EngineError> {
        let &Matmul { m, n, k, .. } = product;
        let (left, left_is) = described(product.b.0.pitch, product.b.1, n, k, true);
        let (right, right_is) = described(product.a.0.pitch, product.a.1, m, k, false);
        let result = Columns {
            rows: n.into(),
            columns: m.into(),
            pitch: product.c.pitch.into(),
        };
        let of_factors = data_type(product.factors);
        let layout = |of: c_int, matrix: Columns| {
            self.api
                .layout(of, matrix.rows, matrix.columns, matrix.pitch)
        };
        Ok(Operation {
            product: self.api.product(left_is, right_is)?,
            left: layout(of_factors, left)?,
            right: layout(of_factors, right)?,
            result: layout(data_type(product.result), result)?,
        })
    }

    fn run(
        &self,
        product: &Matmul,
        operation: &Operation,
        algorithm: &Heuristic,
        output: u64,
        stream: &Stream,
    ) -> Result<(), EngineError> {
        let call = api::Call {
            product: operation.product,
            left: (product.b.0.address, operation.left),
            right: (product.a.0.address, operation.right),
            before: product.c.address,
            output,
            result: operation.result,
            scale: (product.alpha, product.beta),
            workspace: (self.workspace, WORKSPACE_BYTES),
        };
        self.api.matmul(&call, algorithm, stream)
    }

    /// Enqueues the prepared product.
    pub(super) fn enqueue(&self, product: &Matmul, stream: &Stream) -> Result<(), EngineError> {
        let chosen = self.chosen(product).ok_or_else(|| {
            failed(
                Library::CublasLt,
                "no algorithm was chosen for this product",
            )
        })?;
        let output = product.c.address;
        self.run(
            product,
            &chosen.operation,
            &chosen.found[chosen.ranked[chosen.way]],
            output,
            stream,
        )
    }
}

/// Milliseconds per run, for `n_runs` consecutive runs.
fn sample(
    run: &dyn Fn() -> Result<(), EngineError>,
    n_runs: usize,
    stream: &Stream,
) -> Result<f32, EngineError> {
    let (start, end) = (Event::timed()?, Event::timed()?);
    stream.mark(&start)?;
    (0..n_runs).try_for_each(|_| run())?;
    stream.mark(&end)?;
    stream.synchronize()?;
    Ok(end.ms_since(&start)? / n_runs as f32)
}

#[cfg(test)]
mod tests {
    use super::super::super::super::{Major, Matmul, MatrixType, Stored};
    use super::{Columns, Kind, PLAIN, TRANSPOSED, described};

    #[test]
    fn rows_along_k_are_columns_along_k() {
        // B has n = 5 rows of k = 7: for cuBLASLt it is 7×5, column-major, to be transposed.
        let (matrix, operation) = described(8, Major::K, 5, 7, true);
        let expected = Columns {
            rows: 7,
            columns: 5,
            pitch: 8,
        };
        assert_eq!((matrix, operation), (expected, TRANSPOSED));
        // A has m = 5 rows of k = 7. It is the right matrix and already has the right layout: k×m.
        assert_eq!(
            described(8, Major::K, 5, 7, false),
            (expected, PLAIN),
            "the right one"
        );
        // Stored as 7 rows of 5: for cuBLASLt 5×7, column-major.
        let expected = Columns {
            rows: 5,
            columns: 7,
            pitch: 8,
        };
        assert_eq!(described(8, Major::Mn, 5, 7, true), (expected, PLAIN));
        assert_eq!(described(8, Major::Mn, 5, 7, false), (expected, TRANSPOSED));
    }

    #[test]
    fn a_kind_has_no_addresses() {
        let stored = |address| Stored { address, pitch: 8 };
        let product = |a, b, c| Matmul {
            m: 1,
            n: 2,
            k: 3,
            a: (stored(a), Major::K),
            b: (stored(b), Major::Mn),
            c: stored(c),
            factors: MatrixType::F16,
            result: MatrixType::F16,
            alpha: 1.0,
            beta: 0.0,
        };
        assert_eq!(Kind::of(&product(1, 2, 3)), Kind::of(&product(4, 5, 6)));
        let scaled = Matmul {
            beta: 1.0,
            ..product(1, 2, 3)
        };
        assert_ne!(Kind::of(&product(1, 2, 3)), Kind::of(&scaled));
    }
}
