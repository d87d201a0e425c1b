//! The catalogue's figures of bank conflicts: 992 and 0, the law of the greatest
//! common divisor, and the 32×16 tile.

use crate::support::{Simulator, count, entry, instructions};
use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::bank_conflicts::{
    BLOCK, COLUMNS, ELEMENTS, GRID, MAX_WIDTH, ROWS, bank_load_columns, bank_load_rows,
    bank_load_width, bank_store_columns, bank_store_rows, bank_store_width, bank_warm_up,
    strip_words,
};
use gpu_kernels::swizzled_tile::{
    self, tile_column_plain, tile_column_swizzled_lines, tile_column_swizzled_rows,
};
use ptx_sim::Report;

type Args = (DevicePtr<f32>, DevicePtrMut<f32>);

/// The report, the input and the output of a kernel that moves `n_elements`.
fn run<K: Kernel<Args = Args>>(
    kernel: K,
    grid: [u32; 3],
    block: [u32; 3],
    n_elements: u32,
) -> (Report, Vec<f32>, Vec<f32>) {
    let mut simulator = Simulator::new();
    let values = lesson::inputs::distinct(n_elements as usize);
    let input = simulator.input("input", &values);
    let output = simulator.output("output", values.len());
    let report = simulator.launch(kernel, grid, block, (input, output.as_mut_ptr()));
    (report, values, simulator.read(&output))
}

/// Conflicts and n-way of the store and of the load of a kernel that has one
/// each, and that puts `input[source(row, column)]` at `(row, column)`.
fn one_store_and_load<K: Kernel<Args = Args>>(
    kernel: K,
    source: impl Fn(u32, u32) -> (u32, u32),
) -> [(u64, u32); 2] {
    let (report, input, output) = run(kernel, GRID, BLOCK, ELEMENTS);
    for row in 0..ROWS {
        for column in 0..COLUMNS {
            let (from_row, from_column) = source(row, column);
            let at = |row, column| (row * COLUMNS + column) as usize;
            assert_eq!(
                output[at(row, column)],
                input[at(from_row, from_column)],
                "{}",
                K::NAME
            );
        }
    }
    ["st.shared", "ld.shared"].map(|opcode| {
        let accesses = instructions(&report, opcode);
        // If the load had been forwarded from the store, it would not be here.
        assert_eq!(accesses.len(), 1, "{opcode} in {}", K::NAME);
        assert_eq!(accesses[0].requests, u64::from(COLUMNS));
        (accesses[0].conflicts, accesses[0].max_way)
    })
}

fn upside_down(row: u32, column: u32) -> (u32, u32) {
    (ROWS - 1 - row, column)
}

fn transposed(row: u32, column: u32) -> (u32, u32) {
    (column, row)
}

#[test]
fn rows_have_no_conflicts() {
    assert_eq!(
        one_store_and_load(bank_warm_up, upside_down),
        [(0, 1), (0, 1)]
    );
    assert_eq!(
        one_store_and_load(bank_store_rows, upside_down),
        [(0, 1), (0, 1)]
    );
    assert_eq!(
        one_store_and_load(bank_load_rows, upside_down),
        [(0, 1), (0, 1)]
    );
}

#[test]
fn stores_along_columns_have_992_conflicts() {
    assert_eq!(
        one_store_and_load(bank_store_columns, transposed),
        [(992, 32), (0, 1)]
    );
}

#[test]
fn loads_along_columns_have_992_conflicts() {
    assert_eq!(
        one_store_and_load(bank_load_columns, transposed),
        [(0, 1), (992, 32)]
    );
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[test]
fn conflicts_follow_the_greatest_common_divisor_of_the_width_and_32() {
    const ROUNDS: u32 = 3;
    let mut simulator = Simulator::new();
    for width in 1..=MAX_WIDTH {
        let n_way = gcd(width, 32);
        let expected = u64::from(ROUNDS * COLUMNS * (n_way - 1));
        let n_words = strip_words(width) as usize;
        let columns = lesson::inputs::distinct(ELEMENTS as usize);
        let columns = simulator.input("columns", &columns);
        let strips = simulator.output("strips", n_words);
        let args = (columns, strips.as_mut_ptr(), width, ROUNDS);
        let stores = simulator.launch(bank_store_width, GRID, BLOCK, args).counts;
        assert_eq!(
            stores.shared_store_conflicts, expected,
            "stores, width {width}"
        );
        assert_eq!(stores.shared_load_conflicts, 0, "width {width}");

        let back = simulator.output("back", ELEMENTS as usize);
        let args = (
            strips.as_mut_ptr().as_const(),
            back.as_mut_ptr(),
            width,
            ROUNDS,
        );
        let loads = simulator.launch(bank_load_width, GRID, BLOCK, args).counts;
        assert_eq!(
            loads.shared_load_conflicts, expected,
            "loads, width {width}"
        );
        assert_eq!(loads.shared_store_conflicts, 0, "width {width}");
        assert_eq!(
            expected == 0,
            width % 2 == 1,
            "odd widths, and only they, are free"
        );

        let sums = lesson::inputs::distinct(ELEMENTS as usize);
        let sums = sums
            .iter()
            .map(|&x| (0..ROUNDS).fold(0.0, |sum, _| sum + x));
        assert!(simulator.read(&back).into_iter().eq(sums), "width {width}");
    }
}

#[test]
fn repeated_accesses_are_repeated() {
    let accesses = |kernel_rounds| {
        let mut simulator = Simulator::new();
        let input = simulator.input("input", &lesson::inputs::distinct(ELEMENTS as usize));
        let output = simulator.output("output", ELEMENTS as usize);
        let args = (input, output.as_mut_ptr(), COLUMNS, kernel_rounds);
        let stores = simulator.launch(bank_store_width, GRID, BLOCK, args).counts;
        let loads = simulator.launch(bank_load_width, GRID, BLOCK, args).counts;
        (stores.shared_store_requests, loads.shared_load_requests)
    };
    for rounds in [1, 2, 100] {
        let n_accesses = u64::from(rounds * COLUMNS);
        assert_eq!(accesses(rounds), (n_accesses, n_accesses));
    }
}

#[test]
fn no_kernel_of_these_divides_by_a_width_that_may_be_zero() {
    for name in ["bank_store_width", "bank_load_width"] {
        assert_eq!(count(&entry(name), "call"), 0, "`{name}` may panic");
        assert_eq!(count(&entry(name), "trap"), 0, "`{name}` may panic");
    }
}

#[test]
fn a_column_of_the_32_by_16_tile_is_16_way_2_way_and_free() {
    fn check<K: Kernel<Args = Args>>(kernel: K, n_way: u32) {
        let (report, input, output) = run(
            kernel,
            swizzled_tile::GRID,
            swizzled_tile::BLOCK,
            swizzled_tile::ELEMENTS,
        );
        let rows = swizzled_tile::ROWS as usize;
        let columns = swizzled_tile::COLUMNS as usize;
        assert_eq!(output.len(), rows * columns);
        for (index, &turned) in output.iter().enumerate() {
            let (column, row) = (index / rows, index % rows);
            assert_eq!(turned, input[row * columns + column], "{}", K::NAME);
        }
        let (stores, loads) = (
            instructions(&report, "st.shared"),
            instructions(&report, "ld.shared"),
        );
        assert_eq!((stores.len(), loads.len()), (1, 1), "{}", K::NAME);
        assert_eq!(
            (stores[0].max_way, stores[0].conflicts),
            (1, 0),
            "{}",
            K::NAME
        );
        assert_eq!(loads[0].max_way, n_way, "{}", K::NAME);
        let n_warps = u64::from(swizzled_tile::COLUMNS);
        assert_eq!(
            loads[0].conflicts,
            n_warps * u64::from(n_way - 1),
            "{}",
            K::NAME
        );
    }
    check(tile_column_plain, 16);
    check(tile_column_swizzled_rows, 2);
    check(tile_column_swizzled_lines, 1);
}
