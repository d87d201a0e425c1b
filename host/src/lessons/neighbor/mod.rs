//! Neighbour list: all pairs with atomics and without, by tiles, and by cells.
//!
//! Inputs are sheets of graphene, and in the sweep random points of every number
//! up to the shape's, no atoms, one atom, and atoms in too small a place. Every
//! kernel is checked against the CPU's lists as sets, the cell list also for its order.
//!
//! Reading order: [`atoms`] (atoms and lists), [`sheet`] (graphene), [`reference`](mod@reference)
//! (lists from the CPU), [`device`] (lists from an engine), this file (the lesson).

pub mod atoms;
pub mod device;
pub mod reference;
pub mod sheet;

use atoms::{Atoms, CUTOFF, CUTOFF_SQUARED, Lists};
use cuda_std::launch::Kernel;
use device::{Answer, Cells, Layout, PairsKernel, Problem, pair_config, tile_config};
use gpu_kernels::neighbor::{
    MAX_NEIGHBORS, NO_OVERFLOW, cell_index, neighbor_atomic, neighbor_cells_build,
    neighbor_cells_count, neighbor_cells_scan, neighbor_cells_scatter, neighbor_no_atomic,
    neighbor_tiles,
};
use lesson::measure::Side;
use lesson::target::most;
use lesson::verify::{Tolerance, Verified, compare_slices};
use lesson::{
    CaseError, Effort, Footprint, Found, Lesson, Measurement, Published, Shape, Target, Trial,
    Work, exactly,
};
use lockstep::counts::Expectation;
use lockstep::counts::Metric::LocalSectors;
use lockstep::engine::{EngineKind, LaunchConfig};
use reference::{all_neighbors, first_overflow, neighbors_by_squares};
use sheet::sheet_of;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "neighbor",
    title: "Neighbour list",
    idea: "which atoms are near each other: all pairs with and without atomics, and a cell list that searches only adjacent cells",
    source: "gpu-kernels/src/09_neighbor/mod.rs",
    kernels: KERNELS,
    shapes,
    // Positions in, counts and three neighbours per atom out; one test per pair.
    work: |shape| Work::new(u64::from(shape.n()) * (2 * 4 + 4 + 3 * 4), 0),
    memory: |shape| Footprint::of(shape.n_elements(), 80, 95),
    expects_at: |shape| !shape.is_sweep(),
    targets: &TARGETS,
};

static TARGETS: [Target; 2] = [
    Target::at_most(
        "neighbour cells, 1,000,000 atoms",
        "time of clearing its output",
        3.0,
        cells_beside_clearing,
    ),
    Target::at_least(
        "neighbours by brute force",
        "pairs tested per second, each pair once",
        2e12,
        pairs_per_second,
    ),
];

fn cells_beside_clearing(measured: &[Measurement]) -> Option<Found> {
    let cells = measured.iter().filter(|one| {
        one.kernel == neighbor_cells_build::NAME && one.dims() == [u64::from(N_LARGE)]
    });
    let mut speeds = cells.filter_map(|one| Found::speed(one, Side::Clear));
    speeds.next().map(Found::inverse)
}

/// The highest rate of any kernel that tests all pairs.
fn pairs_per_second(measured: &[Measurement]) -> Option<Found> {
    let is_meant = |one: &&Measurement| !one.kernel.contains("cells");
    most(measured.iter().filter(is_meant).filter_map(|one| {
        let n_atoms = *one.dims().first()? as f64;
        let n_pairs = n_atoms * (n_atoms - 1.0) / 2.0;
        Some(Found::of(one, n_pairs / (one.median_ms()? / 1e3)))
    }))
}

/// Atoms of the catalogue's sheet.
const N_FULL: u32 = 22_000;
/// Atoms of the sheet for speed.
const N_LARGE: u32 = 1_000_000;
/// Atoms of the sheet that all pairs are timed on: enough to fill any GPU, and few
/// enough for many runs.
const N_PAIRS: u32 = 250_000;
/// The most random points in a sweep.
const N_SWEEP: u32 = 70;

const NO_LOCAL: &[Expectation] = &[exactly(LocalSectors, 0.0)];

const fn published(time_ms: f64) -> Published {
    Published {
        machine: "as published, with another GPU",
        shape: "22000",
        time_ms,
    }
}

lesson::kernels! {
    neighbor_atomic: "each pair once, atomics for both atoms",
        run_pairs_of(Layout::ByAtom, pair_config), expecting(NO_LOCAL), timed_at(&[&[N_FULL], &[N_PAIRS]]),
        published(&[published(1.68)]);
    neighbor_no_atomic: "each pair twice, coalesced lists, no atomics",
        run_pairs_of(Layout::ByPlace, pair_config), expecting(NO_LOCAL), timed_at(&[&[N_FULL], &[N_PAIRS]]),
        published(&[published(1.91)]);
    neighbor_tiles: "each pair twice, tiles in shared memory, one vote for 128 tests",
        run_pairs_of(Layout::ByAtom, tile_config), expecting(NO_LOCAL), timed_at(&[&[N_FULL], &[N_PAIRS]]);
    neighbor_cells_count: "cell list, 1 of 4: count the atoms of each cell",
        run_cells(), expecting(NO_LOCAL);
    neighbor_cells_scan: "cell list, 2 of 4: where each cell's atoms start, in one pass",
        run_cells(), expecting(NO_LOCAL);
    neighbor_cells_scatter: "cell list, 3 of 4: the atoms in the order of cells",
        run_cells(), expecting(NO_LOCAL);
    neighbor_cells_build: "cell list, 4 of 4: neighbours from nine cells (time: all four)",
        run_cells(), expecting(NO_LOCAL);
}

fn shapes(engine: EngineKind, effort: Effort) -> Vec<Shape> {
    let sheets: &[u32] = match (effort, engine) {
        (Effort::Quick, _) => &[2_000],
        (Effort::Sample, _) => return vec![Shape::of(&[6_000])],
        (Effort::Default, EngineKind::Sim) => &[1_000, N_FULL],
        (Effort::Default, EngineKind::Gpu) => &[1_000, N_FULL, N_LARGE],
        (Effort::Full, _) => &[1_000, 6_000, N_FULL],
    };
    let sheets = sheets.iter().map(|&n_atoms| Shape::of(&[n_atoms]));
    std::iter::once(Shape::every(&[N_SWEEP]))
        .chain(sheets)
        .collect()
}

// ---------------------------------------------------------------------------
// Inputs and their references
// ---------------------------------------------------------------------------

/// Atoms and their neighbours by the CPU.
struct Input {
    atoms: Atoms,
    expected: Lists,
}

impl Input {
    fn of(atoms: Atoms) -> Self {
        let expected = all_neighbors(&atoms, CUTOFF_SQUARED);
        Self { atoms, expected }
    }

    /// A sheet of graphene; the reference of a large one takes a while and is
    /// kept for the other kernels.
    fn sheet(n_atoms: u32) -> Arc<Self> {
        static KNOWN: Mutex<Option<HashMap<u32, Arc<Input>>>> = Mutex::new(None);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(
            known
                .get_or_insert_default()
                .entry(n_atoms)
                .or_insert_with(|| {
                    let atoms = sheet_of(n_atoms);
                    Arc::new(if n_atoms <= N_FULL {
                        Self::of(atoms)
                    } else {
                        let expected = neighbors_by_squares(&atoms, CUTOFF);
                        Self { atoms, expected }
                    })
                }),
        )
    }
}

/// `n_atoms` random points, with about four near ones for each.
fn random_points(n_atoms: u32, seed: u64) -> Atoms {
    let mut state = seed;
    let mut uniform = || {
        // A linear congruential generator; its high bits are random enough for points.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u32 << 24) as f32
    };
    let side = CUTOFF * (f32::from(u16::try_from(n_atoms).unwrap_or(u16::MAX)) * 0.75).sqrt();
    let mut atoms = Atoms::default();
    for _ in 0..n_atoms {
        let (x, y) = (uniform(), uniform());
        atoms.push(x * side - 5.0, y * side + 3.0);
    }
    atoms
}

/// Atoms `4..4 + n_piled` of a sheet lie on top of each other.
fn pile_in_a_sheet(n_piled: u32) -> Atoms {
    let mut atoms = sheet_of(100);
    for atom in 4..4 + n_piled as usize {
        atoms.x[atom] = 100.0;
        atoms.y[atom] = -50.0;
    }
    atoms
}

/// The inputs of a sweep: every number of random points from none, and piles that
/// just fit and that do not.
fn sweep_inputs(n_most: u32) -> Vec<(String, Input)> {
    let random = (0..=n_most).map(|n| {
        (
            format!("{n} random points"),
            random_points(n, u64::from(n) + 1),
        )
    });
    let full = MAX_NEIGHBORS + 1;
    let piles = [full, full + 1, full + 30]
        .map(|n| (format!("{n} atoms in one place"), pile_in_a_sheet(n)));
    random
        .chain(piles)
        .map(|(name, atoms)| (name, Input::of(atoms)))
        .collect()
}

// ---------------------------------------------------------------------------
// Verdicts
// ---------------------------------------------------------------------------

/// Compares a kernel's answer with the reference: counts, lists as sets, and the
/// report of an overflow.
fn check_answer(answer: &Answer, expected: &Lists) -> Result<Verified, CaseError> {
    let first_overflow = first_overflow(expected).map_or(NO_OVERFLOW, |overflow| overflow.atom);
    if answer.overflow != first_overflow {
        let words = |atom: u32| match atom {
            NO_OVERFLOW => "no atom".to_owned(),
            atom => format!("atom {atom}"),
        };
        return Err(CaseError::wrong(format!(
            "it reports {} as the first with too many neighbours, but it is {}",
            words(answer.overflow),
            words(first_overflow)
        )));
    }
    let mut n_checked = 0;
    for (atom, expected) in (0..).zip(expected.iter()) {
        let n_neighbors = answer.n_neighbors[atom as usize];
        if n_neighbors as usize != expected.len() {
            return Err(CaseError::wrong(format!(
                "atom {atom} has {} neighbours, {expected:?}, but it counted {n_neighbors}",
                expected.len()
            )));
        }
        let mut found: Vec<u32> = answer.places(atom).collect();
        found.sort_unstable();
        // If there are too many, it is open which of them found a place.
        let is_right = if n_neighbors <= MAX_NEIGHBORS {
            found == expected
        } else {
            found.windows(2).all(|pair| pair[0] < pair[1])
                && found
                    .iter()
                    .all(|neighbor| expected.binary_search(neighbor).is_ok())
        };
        if !is_right {
            return Err(CaseError::wrong(format!(
                "the neighbours of atom {atom} are {expected:?}, but its list is {found:?}"
            )));
        }
        if let Some(k) = (n_neighbors.min(MAX_NEIGHBORS)..MAX_NEIGHBORS)
            .find(|&k| answer.place(atom, k) != POISONED)
        {
            return Err(CaseError::wrong(format!(
                "atom {atom} has {n_neighbors} neighbours, but its place {k} was written too"
            )));
        }
        n_checked += 1 + found.len();
    }
    Ok(Verified::exact(n_checked))
}

/// A place that was never written.
const POISONED: u32 = u32::from_ne_bytes([lockstep::engine::buffer::POISON; 4]);

/// Whether each list is ascending, as the kernels without atomics promise.
fn check_ascending(answer: &Answer) -> Result<(), CaseError> {
    for atom in 0..answer.n_neighbors.len() as u32 {
        let places: Vec<u32> = answer.places(atom).collect();
        if !places.is_sorted() {
            return Err(CaseError::wrong(format!(
                "the list of atom {atom} is {places:?}, not ascending"
            )));
        }
    }
    Ok(())
}

// ---------------------------------------------------------------------------
// All pairs
// ---------------------------------------------------------------------------

/// Runs a case of a kernel that tests all pairs.
pub fn run_pairs_of<K: PairsKernel>(
    trial: &mut Trial<'_>,
    _kernel: K,
    layout: Layout,
    config: fn(u32) -> LaunchConfig,
) -> Result<(), CaseError> {
    let n_atoms = trial.shape().n();
    if trial.shape().is_sweep() {
        for (name, input) in sweep_inputs(n_atoms) {
            let problem = Problem::new(trial.engine(), &input.atoms, CUTOFF_SQUARED)?;
            let launch = problem.pairs::<K>(config(problem.n_atoms))?;
            trial.launch_uncounted(&launch)?;
            check_pairs(trial, &problem, &input, layout, &name)?;
        }
        return Ok(());
    }
    let input = Input::sheet(n_atoms);
    let problem = Problem::new(trial.engine(), &input.atoms, CUTOFF_SQUARED)?;
    let launch = problem.pairs::<K>(config(n_atoms))?;
    trial.launch(&launch)?;
    check_pairs(trial, &problem, &input, layout, "graphene")?;
    trial.check_counts()?;
    // Counts that kept rising would leave no place for any further
    // neighbour, so each run is timed from a reset.
    trial.time_from(&[launch], &[problem.reset()])
}

fn check_pairs(
    trial: &mut Trial<'_>,
    problem: &Problem<'_>,
    input: &Input,
    layout: Layout,
    name: &str,
) -> Result<(), CaseError> {
    let answer = problem.answer(layout)?;
    let verified = check_answer(&answer, &input.expected).map_err(|error| error.at(name))?;
    if layout == Layout::ByPlace {
        check_ascending(&answer).map_err(|error| error.at(name))?;
    }
    trial.verdict(Ok(verified))
}

// ---------------------------------------------------------------------------
// The cell list
// ---------------------------------------------------------------------------

/// One of the four launches, with the check of its results.
trait Stage: Kernel {
    /// Its place among the four.
    const INDEX: usize;
    /// Checks its results; the launches before it are done.
    fn check(
        cells: &Cells<'_>,
        problem: &Problem<'_>,
        input: &Input,
    ) -> Result<Verified, CaseError>;
}

/// The cell of each atom.
fn cells_of(cells: &Cells<'_>, atoms: &Atoms) -> Vec<usize> {
    atoms
        .x
        .iter()
        .zip(&atoms.y)
        .map(|(&x, &y)| cell_index(&cells.grid, x, y) as usize)
        .collect()
}

/// Number of atoms in each cell.
fn counts_of(cells: &Cells<'_>, atoms: &Atoms) -> Vec<u32> {
    let mut counts = vec![0; cells.counts.len()];
    for cell in cells_of(cells, atoms) {
        counts[cell] += 1;
    }
    counts
}

impl Stage for neighbor_cells_count {
    const INDEX: usize = 0;

    fn check(cells: &Cells<'_>, _: &Problem<'_>, input: &Input) -> Result<Verified, CaseError> {
        let (ranks, counts) = (cells.ranks.read_with_gaps()?, cells.counts.read()?);
        let expected = counts_of(cells, &input.atoms);
        let verified = compare_slices(&counts, &expected, Tolerance::Exact)?;
        // The ranks in a cell are 0, 1, … in some order.
        let mut taken: Vec<Vec<bool>> = expected.iter().map(|&n| vec![false; n as usize]).collect();
        for (atom, cell) in cells_of(cells, &input.atoms).into_iter().enumerate() {
            let place = taken[cell].get_mut(ranks[atom] as usize);
            if place.is_none_or(|taken| std::mem::replace(taken, true)) {
                return Err(CaseError::wrong(format!(
                    "atom {atom} has rank {} in cell {cell} of {} atoms, which is taken or out of range",
                    ranks[atom], expected[cell]
                )));
            }
        }
        Ok(verified)
    }
}

impl Stage for neighbor_cells_scan {
    const INDEX: usize = 1;

    fn check(cells: &Cells<'_>, _: &Problem<'_>, input: &Input) -> Result<Verified, CaseError> {
        let mut sum = 0;
        let expected: Vec<u32> = counts_of(cells, &input.atoms)
            .into_iter()
            .map(|count| {
                let before = sum;
                sum += count;
                before
            })
            .collect();
        let (counts, starts) = (cells.counts.read()?, cells.starts.read()?);
        let verified = compare_slices(&starts, &expected, Tolerance::Exact)?;
        match counts.iter().position(|&count| count != 0) {
            None => Ok(verified),
            Some(cell) => Err(CaseError::wrong(format!(
                "the count of cell {cell} is not 0 after the scan"
            ))),
        }
    }
}

impl Stage for neighbor_cells_scatter {
    const INDEX: usize = 2;

    fn check(cells: &Cells<'_>, _: &Problem<'_>, input: &Input) -> Result<Verified, CaseError> {
        let atoms = &input.atoms;
        let n_atoms = atoms.len() as usize;
        let (sorted, sorted_atoms) = (
            cells.sorted.read_with_gaps()?,
            cells.sorted_atoms.read_with_gaps()?,
        );
        let cell_of = cells_of(cells, atoms);
        let states = cells.tile_states.read()?;
        let n_tiles = cells.n_tiles.read()?[0];
        let mut seen = vec![false; n_atoms];
        let mut last_cell = 0;
        for place in 0..n_atoms {
            let atom = sorted_atoms[place] as usize;
            let holds =
                |what: &str| CaseError::wrong(format!("place {place} holds atom {atom}{what}"));
            if atom >= n_atoms || std::mem::replace(&mut seen[atom], true) {
                return Err(holds(", which does not exist or is there twice"));
            }
            let at = sorted[place];
            if (at.x, at.y) != (atoms.x[atom], atoms.y[atom]) {
                return Err(holds(&format!(" at {at:?}, which is elsewhere")));
            }
            if cell_of[atom] < last_cell {
                return Err(holds(" of an earlier cell"));
            }
            last_cell = cell_of[atom];
        }
        if n_tiles != 0 || states.iter().any(|&state| state != 0) {
            return Err(CaseError::wrong(
                "the scan's words between blocks are not 0 again",
            ));
        }
        // Without atoms, only the words.
        Ok(Verified::exact(n_atoms + states.len()))
    }
}

impl Stage for neighbor_cells_build {
    const INDEX: usize = 3;

    fn check(_: &Cells<'_>, problem: &Problem<'_>, input: &Input) -> Result<Verified, CaseError> {
        let answer = problem.answer(Layout::ByPlace)?;
        let verified = check_answer(&answer, &input.expected)?;
        check_ascending(&answer)?;
        Ok(verified)
    }
}

fn run_cells<K: Stage>(trial: &mut Trial<'_>, _kernel: K) -> Result<(), CaseError> {
    let n_atoms = trial.shape().n();
    if trial.shape().is_sweep() {
        for (name, input) in sweep_inputs(n_atoms) {
            run_stage::<K>(trial, &input, &name)?;
        }
        return Ok(());
    }
    run_stage::<K>(trial, &Input::sheet(n_atoms), "graphene")
}

fn run_stage<K: Stage>(trial: &mut Trial<'_>, input: &Input, name: &str) -> Result<(), CaseError> {
    let problem = Problem::new(trial.engine(), &input.atoms, CUTOFF_SQUARED)?;
    let cells = Cells::new(trial.engine(), &input.atoms, CUTOFF)?;
    let launches = cells.launches(&problem)?;
    // Twice, because a launch must leave the counters as it found them; the
    // first time only if all four are run.
    let is_last = K::INDEX + 1 == launches.len();
    for _ in 0..1 + usize::from(is_last) {
        for (i, launch) in launches[..=K::INDEX].iter().enumerate() {
            if i == K::INDEX && !trial.shape().is_sweep() {
                trial.launch(launch)?;
            } else {
                trial.launch_uncounted(launch)?;
            }
        }
    }
    let checked = K::check(&cells, &problem, input).map_err(|error| error.at(name))?;
    trial.verdict(Ok(checked))?;
    if trial.shape().is_sweep() {
        return Ok(());
    }
    trial.check_counts()?;
    if is_last {
        trial.beside_clearing(problem.clearing());
        trial.time_all(&launches)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::reference::first_overflow;
    use super::{N_SWEEP, sweep_inputs};
    use gpu_kernels::neighbor::MAX_NEIGHBORS;

    #[test]
    fn a_sweep_has_no_atoms_one_atom_and_atoms_with_too_many_neighbours() {
        let inputs = sweep_inputs(N_SWEEP);
        assert!(inputs[0].1.atoms.is_empty());
        assert_eq!(inputs[1].1.atoms.len(), 1);
        let overflows: Vec<_> = inputs
            .iter()
            .filter_map(|(name, input)| Some((name, first_overflow(&input.expected)?)))
            .collect();
        assert!(
            overflows.iter().any(|(_, overflow)| overflow.atom == 4),
            "{overflows:?}"
        );
        // And lists that are exactly full.
        assert!(inputs.iter().any(|(_, input)| {
            first_overflow(&input.expected).is_none()
                && input
                    .expected
                    .iter()
                    .any(|list| list.len() == MAX_NEIGHBORS as usize)
        }));
    }

    #[test]
    fn random_points_have_some_neighbours_and_not_all() {
        let inputs = sweep_inputs(N_SWEEP);
        let (_, input) = &inputs[N_SWEEP as usize];
        let n_pairs = input.expected.pairs().count();
        assert!((50..400).contains(&n_pairs), "{n_pairs}");
    }
}
