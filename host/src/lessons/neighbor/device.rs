//! Neighbour lists from an engine: the needs of each kernel, its launches, and
//! reading its answer back.

use super::atoms::{Atoms, Lists, TooManyNeighbors};
use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use cuda_std::vector::Float2;
use gpu_kernels::neighbor::{
    self, BLOCK, BUILD_BLOCK, CellGrid, MAX_NEIGHBORS, NO_OVERFLOW, SCAN_BLOCK, SCAN_TILE,
    neighbor_cells_build, neighbor_cells_count, neighbor_cells_scan, neighbor_cells_scatter,
    place_by_atom, place_by_place,
};
use lesson::Footprint;
use lockstep::engine::buffer::POISON;
use lockstep::engine::{Buffer, Engine, EngineError, Fill, LaunchConfig, Prepared, Timed};

// `Problem::reset` sets every byte of it.
const _: () = assert!(NO_OVERFLOW == u32::MAX);

/// The order of a list's places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// An atom's neighbours together.
    ByAtom,
    /// The `k`-th neighbours of all atoms together.
    ByPlace,
}

/// Atoms on the device, and room for an answer.
pub struct Problem<'e> {
    /// Number of atoms.
    pub n_atoms: u32,
    /// The square of the cut-off.
    pub cutoff_squared: f32,
    x: Buffer<'e, f32>,
    y: Buffer<'e, f32>,
    n_neighbors: Buffer<'e, u32>,
    list: Buffer<'e, u32>,
    overflow: Buffer<'e, u32>,
}

/// The memory that [`lists`] takes for this many atoms; `tests/footprint.rs` checks it
/// against the actual allocations.
pub fn footprint(n_atoms: u32) -> Footprint {
    Footprint::of(n_atoms.into(), 88, 150)
}

/// A device array is never empty: it gets a value that no kernel reads instead.
fn some<'v, T>(values: &'v [T], instead: &'v [T]) -> &'v [T] {
    if values.is_empty() { instead } else { values }
}

impl<'e> Problem<'e> {
    /// Copies the atoms to the device, and poisons the lists. The counts are 0,
    /// as the kernels with atomics require.
    pub fn new(
        engine: &'e dyn Engine,
        atoms: &Atoms,
        cutoff_squared: f32,
    ) -> Result<Self, EngineError> {
        let n_atoms = atoms.len();
        let n = n_atoms.max(1) as usize;
        Ok(Self {
            n_atoms,
            cutoff_squared,
            x: Buffer::of(engine, "x", some(&atoms.x, &[f32::NAN]))?,
            y: Buffer::of(engine, "y", some(&atoms.y, &[f32::NAN]))?,
            n_neighbors: Buffer::of(engine, "number of neighbours", &vec![0; n])?,
            list: Buffer::poisoned(engine, "lists", n * MAX_NEIGHBORS as usize)?,
            overflow: Buffer::of(engine, "overflow", &[NO_OVERFLOW])?,
        })
    }

    /// A launch of a kernel that tests all pairs, in its own geometry.
    pub fn pairs<K: PairsKernel>(&self, config: LaunchConfig) -> Result<Prepared, EngineError> {
        let args = (
            self.x.as_ptr(),
            self.y.as_ptr(),
            self.n_atoms,
            self.cutoff_squared,
            self.n_neighbors.as_mut_ptr(),
            self.list.as_mut_ptr(),
            self.overflow.as_mut_ptr(),
        );
        // SAFETY: the buffers hold what `new` put there, for n_atoms atoms; the
        // geometry is the kernel's own.
        unsafe { Prepared::of::<K>(config, args) }
    }

    /// Resets the answer to its state before any launch.
    pub fn reset(&self) -> Timed<'static> {
        let set = |address, size_bytes, value| Fill {
            address,
            size_bytes,
            value,
        };
        Timed::Fills(
            vec![
                set(self.n_neighbors.address(), self.n_neighbors.size_bytes(), 0),
                set(self.list.address(), self.list.size_bytes(), POISON),
                set(self.overflow.address(), self.overflow.size_bytes(), 0xFF),
            ]
            .into(),
        )
    }

    /// Clears the answer: counts and lists.
    pub fn clearing(&self) -> Vec<Fill> {
        let cleared = |buffer: &Buffer<'_, u32>| Fill {
            address: buffer.address(),
            size_bytes: buffer.size_bytes(),
            value: 0,
        };
        vec![cleared(&self.n_neighbors), cleared(&self.list)]
    }

    /// The answer of a kernel with that layout, after its launch.
    pub fn answer(&self, layout: Layout) -> Result<Answer, EngineError> {
        let mut n_neighbors = self.n_neighbors.read()?;
        n_neighbors.truncate(self.n_atoms as usize);
        Ok(Answer {
            n_neighbors,
            // An atom's list has room for more than it has.
            list: self.list.read_with_gaps()?,
            overflow: self.overflow.read()?[0],
            layout,
        })
    }
}

/// The arguments of kernels that test all pairs: positions, number of atoms, square
/// of the cut-off, counts, lists, overflow.
pub type PairsArgs = (
    DevicePtr<f32>,
    DevicePtr<f32>,
    u32,
    f32,
    DevicePtrMut<u32>,
    DevicePtrMut<u32>,
    DevicePtrMut<u32>,
);

/// A kernel that tests all pairs.
pub trait PairsKernel: Kernel<Args = PairsArgs> {}
impl<K: Kernel<Args = PairsArgs>> PairsKernel for K {}

/// Geometry of [`neighbor::neighbor_atomic`] and
/// [`neighbor::neighbor_no_atomic`].
pub fn pair_config(n_atoms: u32) -> LaunchConfig {
    LaunchConfig::new(neighbor::pair_grid(n_atoms), neighbor::PAIR_BLOCK)
}

/// Geometry of [`neighbor::neighbor_tiles`].
pub fn tile_config(n_atoms: u32) -> LaunchConfig {
    LaunchConfig::new(neighbor::tile_grid(n_atoms), neighbor::TILE_BLOCK)
}

/// The output of a kernel.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Neighbours of each atom, including those that found no place.
    pub n_neighbors: Vec<u32>,
    list: Vec<u32>,
    /// The first atom with too many neighbours, or [`NO_OVERFLOW`].
    pub overflow: u32,
    layout: Layout,
}

impl Answer {
    /// The content of place `k` of an atom.
    pub fn place(&self, atom: u32, k: u32) -> u32 {
        let n_atoms = self.n_neighbors.len() as u32;
        self.list[match self.layout {
            Layout::ByAtom => place_by_atom(atom, k),
            Layout::ByPlace => place_by_place(atom, k, n_atoms),
        }]
    }

    /// An atom's places that are filled, as the kernel filled them.
    pub fn places(&self, atom: u32) -> impl Iterator<Item = u32> {
        let n = self.n_neighbors[atom as usize].min(MAX_NEIGHBORS);
        (0..n).map(move |k| self.place(atom, k))
    }

    /// The lists.
    ///
    /// # Errors
    ///
    /// An atom has too many neighbours.
    pub fn lists(&self) -> Result<Lists, TooManyNeighbors> {
        if self.overflow != NO_OVERFLOW {
            // Below the number of atoms, unless the kernel is broken.
            let n_neighbors = self.n_neighbors.get(self.overflow as usize).copied();
            return Err(TooManyNeighbors {
                atom: self.overflow,
                n_neighbors: n_neighbors.unwrap_or(u32::MAX),
            });
        }
        let n_atoms = self.n_neighbors.len() as u32;
        Ok(Lists::of(
            (0..n_atoms)
                .map(|atom| self.places(atom).collect())
                .collect(),
        ))
    }
}

/// The cell list's four launches, and the data that they pass on.
pub struct Cells<'e> {
    /// The cells.
    pub grid: CellGrid,
    /// A counter per cell: 0 before and after all launches.
    pub counts: Buffer<'e, u32>,
    /// Each atom's rank in its cell.
    pub ranks: Buffer<'e, u32>,
    /// Where each cell's atoms start.
    pub starts: Buffer<'e, u32>,
    /// The scan's words between blocks: 0 before and after all launches.
    pub tile_states: Buffer<'e, u64>,
    /// The scan's counter of tiles: 0 before and after all launches.
    pub n_tiles: Buffer<'e, u32>,
    /// Positions in the order of cells.
    pub sorted: Buffer<'e, Float2>,
    /// Their atoms' indices.
    pub sorted_atoms: Buffer<'e, u32>,
}

impl<'e> Cells<'e> {
    /// Cells over the atoms, for a cut-off of `cutoff` (not squared).
    pub fn new(engine: &'e dyn Engine, atoms: &Atoms, cutoff: f32) -> Result<Self, EngineError> {
        let (min, max) = atoms.bounds();
        let grid = CellGrid::over(min, max, cutoff, atoms.len());
        let n = atoms.len().max(1) as usize;
        let padded = grid.padded_len() as usize;
        Ok(Self {
            grid,
            counts: Buffer::of(engine, "counts", &vec![0; padded])?,
            ranks: Buffer::poisoned(engine, "ranks", n)?,
            starts: Buffer::poisoned(engine, "starts", padded)?,
            tile_states: Buffer::of(engine, "tile states", &vec![0; padded / SCAN_TILE as usize])?,
            n_tiles: Buffer::of(engine, "number of tiles", &[0])?,
            sorted: Buffer::poisoned(engine, "sorted positions", n)?,
            sorted_atoms: Buffer::poisoned(engine, "sorted atoms", n)?,
        })
    }

    /// The launches: count, scan, scatter, build.
    pub fn launches(&self, problem: &Problem<'e>) -> Result<[Prepared; 4], EngineError> {
        let CellGrid {
            origin_x,
            origin_y,
            cells_per_length,
            n_columns,
            n_rows,
        } = self.grid;
        let n_atoms = problem.n_atoms;
        let over_atoms = LaunchConfig::new(neighbor::atom_grid(n_atoms), BLOCK);
        let over_pairs_of_atoms = LaunchConfig::new(neighbor::count_grid(n_atoms), BLOCK);
        let over_sorted = LaunchConfig::new(neighbor::build_grid(n_atoms), BUILD_BLOCK);
        let over_cells = LaunchConfig::new(neighbor::scan_grid(&self.grid), SCAN_BLOCK);
        // SAFETY: for all four. The buffers have the lengths and zeros that `new`
        // gave them, for this grid and the problem's atoms; each launch finds
        // what the one before it wrote.
        unsafe {
            Ok([
                Prepared::of::<neighbor_cells_count>(
                    over_pairs_of_atoms,
                    (
                        problem.x.as_ptr(),
                        problem.y.as_ptr(),
                        n_atoms,
                        origin_x,
                        origin_y,
                        cells_per_length,
                        n_columns,
                        n_rows,
                        self.counts.as_mut_ptr(),
                        self.ranks.as_mut_ptr(),
                    ),
                )?,
                Prepared::of::<neighbor_cells_scan>(
                    over_cells,
                    (
                        self.counts.as_mut_ptr(),
                        self.starts.as_mut_ptr(),
                        self.tile_states.as_mut_ptr(),
                        self.n_tiles.as_mut_ptr(),
                    ),
                )?,
                Prepared::of::<neighbor_cells_scatter>(
                    over_atoms,
                    (
                        problem.x.as_ptr(),
                        problem.y.as_ptr(),
                        n_atoms,
                        origin_x,
                        origin_y,
                        cells_per_length,
                        n_columns,
                        n_rows,
                        self.ranks.as_ptr(),
                        self.starts.as_ptr(),
                        self.sorted.as_mut_ptr(),
                        self.sorted_atoms.as_mut_ptr(),
                        self.tile_states.as_mut_ptr(),
                        self.n_tiles.as_mut_ptr(),
                    ),
                )?,
                Prepared::of::<neighbor_cells_build>(
                    over_sorted,
                    (
                        self.sorted.as_ptr(),
                        self.sorted_atoms.as_ptr(),
                        n_atoms,
                        origin_x,
                        origin_y,
                        cells_per_length,
                        n_columns,
                        n_rows,
                        self.starts.as_ptr(),
                        problem.cutoff_squared,
                        problem.n_neighbors.as_mut_ptr(),
                        problem.list.as_mut_ptr(),
                        problem.overflow.as_mut_ptr(),
                    ),
                )?,
            ])
        }
    }
}

/// The reason why there are no lists.
#[derive(Debug, thiserror::Error)]
pub enum NeighborError {
    /// The engine could not run the kernels.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// An atom has more neighbours than a list has places.
    #[error(transparent)]
    TooMany(#[from] TooManyNeighbors),
}

/// The neighbours of each atom within `cutoff`, by the cell list on `engine`.
///
/// # Errors
///
/// The engine failed, or an atom has too many neighbours.
pub fn lists(engine: &dyn Engine, atoms: &Atoms, cutoff: f32) -> Result<Lists, NeighborError> {
    let problem = Problem::new(engine, atoms, cutoff * cutoff)?;
    let cells = Cells::new(engine, atoms, cutoff)?;
    for launch in &cells.launches(&problem)? {
        engine.launch(launch, lockstep::engine::Observe::Nothing)?;
    }
    Ok(problem.answer(Layout::ByPlace)?.lists()?)
}
