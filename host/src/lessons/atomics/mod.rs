//! Atomics: every operation, type, space, scope and order, contended; and
//! messages between blocks and warps.

mod sequence;
mod value;

use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::atomics::messages::{self, message, pass_between_blocks, pass_between_warps};
use gpu_kernels::atomics::table::{
    self, CELLS, Cell, N_BLOCKS, N_CELLS, N_THREADS, Operation, atomic_bf16x2, atomic_f16x2,
    atomic_f32, atomic_f64, atomic_i32, atomic_i64, atomic_u32, atomic_u64, place, returned_index,
};
use lesson::verify::{Tolerance, Verified, compare};
use lesson::{CaseError, Footprint, KnownAlarm, Lesson, Shape, Trial, Work};
use lockstep::engine::{Buffer, LaunchConfig, Prepared};
use sequence::{Step, check_sequence};
use value::AtomicValue;

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "atomics",
    title: "Atomics",
    idea: "an indivisible step: among which threads, and what else becomes visible with it",
    source: "gpu-kernels/src/07_atomics/mod.rs",
    kernels: KERNELS,
    // Threads of the grid. The geometry is the kernel's, and speed does not matter.
    shapes: |_, _| vec![Shape::of(&[N_THREADS])],
    work: |_| Work::new(0, 0),
    memory: |_| Footprint::SMALL,
    expects_at: |_| true,
    targets: &[],
};

lesson::kernels! {
    atomic_u32: "11 operations on u32", run_table();
    atomic_i32: "9 operations on i32", run_table();
    atomic_u64: "9 operations on u64", run_table();
    atomic_i64: "9 operations on i64", run_table();
    atomic_f32: "add, sub, exch, cas on f32", run_table();
    atomic_f64: "add, sub, exch, cas on f64", run_table();
    atomic_f16x2: "add, sub, exch, cas on two f16", run_table();
    atomic_bf16x2: "add, sub, exch, cas on two bf16", run_table();
    pass_between_blocks: "a message from block to block, by a flag with release and acquire",
        run_between_blocks();
    pass_between_warps: "a message from warp to warp, in shared memory",
        run_between_warps(),
        alarming(&[ORDERED_BY_FLAGS]);
}

const ORDERED_BY_FLAGS: KnownAlarm = KnownAlarm {
    tool: "racecheck",
    reason: "its warps are ordered by flags with release and acquire, but racecheck only knows \
             barriers",
};

// ---------------------------------------------------------------------------
// The table
// ---------------------------------------------------------------------------

/// A kernel of the table with its type and operations.
trait Table:
    Kernel<
    Args = (
        DevicePtrMut<Self::Value>,
        DevicePtr<Self::Value>,
        DevicePtr<Self::Value>,
        DevicePtrMut<Self::Value>,
    ),
>
{
    type Value: AtomicValue;
    const OPERATIONS: &'static [Operation];
}

macro_rules! tables {
    ($($kernel:ident: $value:ty, $operations:ident;)*) => { $(
        impl Table for $kernel {
            type Value = $value;
            const OPERATIONS: &'static [Operation] = table::$operations;
        }
    )* };
}
tables! {
    atomic_u32: u32, OPERATIONS_U32;
    atomic_i32: i32, OPERATIONS_I32;
    atomic_u64: u64, OPERATIONS_U64;
    atomic_i64: i64, OPERATIONS_I64;
    atomic_f32: f32, OPERATIONS_F32;
    atomic_f64: f64, OPERATIONS_F64;
    atomic_f16x2: cuda_std::vector::F16x2, OPERATIONS_F16X2;
    atomic_bf16x2: cuda_std::vector::Bf16x2, OPERATIONS_BF16X2;
}

fn run_table<K: Table>(trial: &mut Trial<'_>, _kernel: K) -> Result<(), CaseError> {
    let n_operations = K::OPERATIONS.len() as u32;
    let initial = |operation: Operation| K::Value::initial(operation);

    let mut places = Vec::new();
    let mut operands = Vec::new();
    for &operation in K::OPERATIONS {
        places.extend((0..N_CELLS * N_BLOCKS).map(|_| initial(operation)));
        operands.extend((0..N_THREADS).map(|thread| K::Value::operand(operation, thread)));
    }
    let expected: Vec<_> = (0..N_THREADS).map(K::Value::cas_expected).collect();

    let engine = trial.engine();
    let places = Buffer::of(engine, "places", &places)?;
    let operands = Buffer::of(engine, "operands", &operands)?;
    let expected = Buffer::of(engine, "expected", &expected)?;
    let n_returned = n_operations * N_CELLS * N_THREADS;
    let returned = Buffer::poisoned(engine, "returned", n_returned as usize)?;
    // SAFETY: the buffers have the lengths that the kernel asks for, for its own
    // list of operations, and its own geometry.
    let launch = unsafe {
        Prepared::of::<K>(
            LaunchConfig::new(table::GRID, table::BLOCK),
            (
                places.as_mut_ptr(),
                operands.as_ptr(),
                expected.as_ptr(),
                returned.as_mut_ptr(),
            ),
        )
    }?;
    trial.launch(&launch)?;

    let (places, returned) = (places.read()?, returned.read()?);
    for (i, &operation) in K::OPERATIONS.iter().enumerate() {
        for (c, cell) in CELLS.iter().enumerate() {
            let (i, c) = (i as u32, c as u32);
            let at = |block| places[place(i, c, block)];
            let got = |thread| returned[returned_index(i, c, thread)];
            check_cell(operation, cell, at, got)
                .map_err(|what| CaseError::wrong(what).at(name(operation, cell)))?;
        }
    }
    trial.verdict(Ok(Verified::exact(n_returned as usize)))
}

/// The cell in PTX's spelling.
fn name(operation: Operation, cell: &Cell) -> String {
    format!(
        "{operation:?} with .{}.{}.{:?}",
        cell.order, cell.scope, cell.space
    )
    .to_lowercase()
}

/// Checks the values that the threads returned in a cell, and the values in its places.
fn check_cell<V: AtomicValue>(
    operation: Operation,
    cell: &Cell,
    place: impl Fn(u32) -> V,
    returned: impl Fn(u32) -> V,
) -> Result<(), String> {
    let block_threads = table::BLOCK_THREADS;
    let groups: Vec<(u32, std::ops::Range<u32>)> = if cell.spans_grid() {
        vec![(0, 0..N_THREADS)]
    } else {
        (0..N_BLOCKS)
            .map(|block| (block, block * block_threads..(block + 1) * block_threads))
            .collect()
    };
    let initial = V::initial(operation);
    for (place_of, threads) in &groups {
        check_group(
            operation,
            initial,
            place(*place_of),
            threads.clone(),
            &returned,
        )?;
    }
    // Unused places must be unchanged.
    for block in groups.len() as u32..N_BLOCKS {
        let found = place(block);
        if !found.same(initial) {
            return Err(format!(
                "block {block}'s unused place became {}",
                found.words()
            ));
        }
    }
    Ok(())
}

/// Checks one place and the threads that contended for it.
fn check_group<V: AtomicValue>(
    operation: Operation,
    initial: V,
    last: V,
    threads: std::ops::Range<u32>,
    returned: &impl Fn(u32) -> V,
) -> Result<(), String> {
    for part in 0..V::N_PARTS {
        let steps: Vec<Step> = threads
            .clone()
            .map(|thread| {
                let from = returned(thread);
                let operand = V::operand(operation, thread);
                let to = from.after(operation, operand, V::cas_expected(thread));
                Step {
                    thread,
                    from: from.part(part),
                    to: to.part(part),
                }
            })
            .collect();
        check_sequence(initial.part(part), last.part(part), &steps)
            .map_err(|wrong| wrong.describe(V::part_name(part), |bits| V::part_words(bits)))?;
    }
    if V::order_is_free(operation) {
        let expected = threads.clone().fold(initial, |value, thread| {
            let operand = V::operand(operation, thread);
            value.after(operation, operand, V::cas_expected(thread))
        });
        if !last.same(expected) {
            return Err(format!(
                "threads {threads:?} left {}, but one after another they leave {}",
                last.words(),
                expected.words()
            ));
        }
    }
    Ok(())
}

// ---------------------------------------------------------------------------
// Messages
// ---------------------------------------------------------------------------

fn run_between_blocks(trial: &mut Trial<'_>, _: pass_between_blocks) -> Result<(), CaseError> {
    let engine = trial.engine();
    let n_links = messages::N_LINKS as usize;
    let n_threads = messages::BLOCK_THREADS as usize;
    let data = Buffer::of(engine, "message", &vec![0u32; n_threads])?;
    let flags = Buffer::of(engine, "flags", &vec![0u32; n_links])?;
    let received = Buffer::<u32>::poisoned(engine, "received", n_links * n_threads)?;
    // SAFETY: the buffers have the lengths and zeros that the kernel asks for.
    let launch = unsafe {
        Prepared::of::<pass_between_blocks>(
            LaunchConfig::new(messages::GRID, messages::BLOCK),
            (data.as_mut_ptr(), flags.as_mut_ptr(), received.as_mut_ptr()),
        )
    }?;
    trial.launch(&launch)?;
    let expected = |index: usize| message((index % n_threads) as u32, (index / n_threads) as u32);
    trial.verdict(compare(&received.read()?, expected, Tolerance::Exact))?;
    let passed_on = |index: usize| message(index as u32, messages::N_LINKS);
    trial.verdict(compare(&data.read()?, passed_on, Tolerance::Exact))
}

fn run_between_warps(trial: &mut Trial<'_>, _: pass_between_warps) -> Result<(), CaseError> {
    const WARP_LANES: usize = 32;
    let n_threads = messages::BLOCK_THREADS as usize;
    let received = Buffer::<u32>::poisoned(trial.engine(), "received", n_threads)?;
    // SAFETY: `received` holds an element for each thread of the block.
    let launch = unsafe {
        Prepared::of::<pass_between_warps>(
            LaunchConfig::new([1; 3], messages::BLOCK),
            (received.as_mut_ptr(),),
        )
    }?;
    trial.launch(&launch)?;
    let expected = |index: usize| message((index % WARP_LANES) as u32, (index / WARP_LANES) as u32);
    trial.verdict(compare(&received.read()?, expected, Tolerance::Exact))
}

#[cfg(test)]
mod tests {
    use super::value::AtomicValue;
    use super::{CELLS, N_BLOCKS, N_THREADS, Operation, check_cell, name, table};
    use gpu_kernels::atomics::table::Cell;

    /// The content of a cell after its threads ran one after another, in an order
    /// chosen by `turn`.
    struct Outcome<V> {
        places: Vec<V>,
        returned: Vec<V>,
    }

    impl<V: AtomicValue> Outcome<V> {
        fn of(operation: Operation, cell: &Cell, turn: impl Fn(u32) -> u32) -> Self {
            let mut places = vec![V::initial(operation); N_BLOCKS as usize];
            let mut returned = vec![V::initial(operation); N_THREADS as usize];
            for i in 0..N_THREADS {
                let thread = turn(i);
                let block = if cell.spans_grid() {
                    0
                } else {
                    thread / table::BLOCK_THREADS
                };
                let place = &mut places[block as usize];
                returned[thread as usize] = *place;
                let operand = V::operand(operation, thread);
                *place = place.after(operation, operand, V::cas_expected(thread));
            }
            Self { places, returned }
        }

        fn check(&self, operation: Operation, cell: &Cell) -> Result<(), String> {
            check_cell(
                operation,
                cell,
                |block| self.places[block as usize],
                |thread| self.returned[thread as usize],
            )
        }
    }

    /// Sequential outcomes pass in any order; outcomes with an error do not.
    fn every_operation_is_checked<V: AtomicValue>(operations: &[Operation]) {
        for &operation in operations {
            for cell in &CELLS {
                let what = name(operation, cell);
                // 37 has no factor in common with the number of threads.
                for turn in [|i| i, |i| N_THREADS - 1 - i, |i| i * 37 % N_THREADS] {
                    let outcome = Outcome::<V>::of(operation, cell, turn);
                    assert_eq!(outcome.check(operation, cell), Ok(()), "{what}");
                }
                let mut lost = Outcome::<V>::of(operation, cell, |i| i);
                // As if the last step had been overwritten.
                let last = lost.places[0];
                lost.places[0] = V::other_than(last);
                assert!(lost.check(operation, cell).is_err(), "{what}: lost result");
                let mut stray = Outcome::<V>::of(operation, cell, |i| i);
                stray.returned[5] = V::other_than(stray.returned[5]);
                assert!(
                    stray.check(operation, cell).is_err(),
                    "{what}: stray return"
                );
            }
        }
    }

    #[test]
    fn integers() {
        every_operation_is_checked::<u32>(table::OPERATIONS_U32);
        every_operation_is_checked::<i32>(table::OPERATIONS_I32);
        every_operation_is_checked::<u64>(table::OPERATIONS_U64);
        every_operation_is_checked::<i64>(table::OPERATIONS_I64);
    }

    #[test]
    fn floats() {
        every_operation_is_checked::<f32>(table::OPERATIONS_F32);
        every_operation_is_checked::<f64>(table::OPERATIONS_F64);
    }

    #[test]
    fn packed_halves() {
        every_operation_is_checked::<cuda_std::vector::F16x2>(table::OPERATIONS_F16X2);
        every_operation_is_checked::<cuda_std::vector::Bf16x2>(table::OPERATIONS_BF16X2);
    }

    #[test]
    fn a_lost_update_is_found() {
        // Two threads both read the first value and add to it.
        let cell = &CELLS[4];
        let mut outcome = Outcome::<u32>::of(Operation::Add, cell, |i| i);
        outcome.returned[1] = outcome.returned[0];
        let error = outcome
            .check(Operation::Add, cell)
            .expect_err("lost update");
        assert!(error.contains("threads 0 and 1"), "{error}");
    }

    #[test]
    fn a_use_of_another_blocks_place_is_found() {
        let cell = &CELLS[4];
        assert!(cell.spans_grid());
        let mut outcome = Outcome::<u32>::of(Operation::Max, cell, |i| i);
        outcome.places[2] = 77;
        let error = outcome
            .check(Operation::Max, cell)
            .expect_err("stray write");
        assert!(error.contains("block 2's unused place"), "{error}");
    }
}
