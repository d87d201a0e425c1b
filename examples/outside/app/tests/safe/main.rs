//! Results and cost of the safe kernels: some here, next to the same with pointers.

mod attention;
mod blur;
mod sort;

use lockstep::{Device, LaunchConfig, Module, Report, Simulator};
use outside_kernels::histogram::{self, BINS, count_bytes, count_bytes_by_pointers};
use outside_kernels::softmax::{self, softmax_rows, softmax_rows_by_pointers};
use outside_kernels::stencil::{COLUMNS, ROWS, diffuse, diffuse_by_pointers};

/// A simulator with all checks on, and the kernels.
fn checked() -> (Device, Module) {
    let device = Device::simulator_with(Simulator {
        check: true,
        ..Simulator::default()
    });
    let kernels = device.load(lockstep::kernels!()).unwrap();
    (device, kernels)
}

/// Numbers without a pattern.
fn noise(n: u32) -> Vec<u32> {
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(1), next)
        .map(|state| state >> 8 ^ state << 16)
        .take(n as usize)
        .collect()
}

fn floats(n: u32) -> Vec<f32> {
    noise(n)
        .into_iter()
        .map(|word| (word % 1000) as f32 / 100.0 - 5.0)
        .collect()
}

/// Panics unless the launch was checked, and had no local memory and no bank conflicts.
#[track_caller]
fn expect_clean(report: &Report) {
    report.expect_no_race();
    report.expect_no_local_memory();
    report.expect_bank_conflicts(0);
}

/// What the safe kernel gives, and both reports: its own first. The other gives the same bits.
fn diffused(old: &[f32], n_rows: u32, n_columns: u32) -> (Vec<f32>, [Report; 2]) {
    let (device, kernels) = checked();
    let old = device.upload("old", old).unwrap();
    let mut new = device.alloc::<f32>("new", old.len()).unwrap();
    let grid = [n_columns.div_ceil(COLUMNS), n_rows.div_ceil(ROWS), 1];
    let config = LaunchConfig::new(grid, [COLUMNS, ROWS, 1]);

    let views = (old.input(), new.output(), n_rows, n_columns, 0.125);
    let safe = kernels.run(diffuse, config, views).unwrap();
    let result = new.read().unwrap();

    new.poison().unwrap();
    let args = (old.as_ptr(), new.as_mut_ptr(), n_rows, n_columns, 0.125);
    // SAFETY: both hold the grid, and a block has a thread per cell.
    let plain = unsafe { kernels.launch(diffuse_by_pointers, config, args) }.unwrap();
    assert_eq!(new.read().unwrap(), result);
    (result, [safe, plain])
}

fn softmax_of(x: &[f32], n_rows: u32, n_columns: u32) -> (Vec<f32>, [Report; 2]) {
    let (device, kernels) = checked();
    let x = device.upload("x", x).unwrap();
    let mut y = device.alloc::<f32>("y", x.len()).unwrap();
    let config = LaunchConfig::new([n_rows, 1, 1], [softmax::THREADS, 1, 1]);

    let views = (x.input(), y.output(), n_rows, n_columns);
    let safe = kernels.run(softmax_rows, config, views).unwrap();
    let result = y.read().unwrap();

    y.poison().unwrap();
    let args = (x.as_ptr(), y.as_mut_ptr(), n_rows, n_columns);
    // SAFETY: both hold the matrix, and the block is as large as it must be.
    let plain = unsafe { kernels.launch(softmax_rows_by_pointers, config, args) }.unwrap();
    assert_eq!(y.read().unwrap(), result);
    (result, [safe, plain])
}

fn counted(words: &[u32], n_blocks: u32) -> (Vec<u32>, [Report; 2]) {
    let (device, kernels) = checked();
    let n = words.len() as u32;
    let words = device.upload("words", words).unwrap();
    let mut counts = device.zeroed::<u32>("counts", BINS as usize).unwrap();
    let config = LaunchConfig::new([n_blocks, 1, 1], [histogram::THREADS, 1, 1]);

    let safe = kernels
        .run(count_bytes, config, (words.input(), counts.output(), n))
        .unwrap();
    let result = counts.read().unwrap();

    counts.fill(0).unwrap();
    let args = (words.as_ptr(), counts.as_mut_ptr(), n);
    // SAFETY: there are `n` words and a count for each byte.
    let plain = unsafe { kernels.launch(count_bytes_by_pointers, config, args) }.unwrap();
    assert_eq!(counts.read().unwrap(), result);
    (result, [safe, plain])
}

#[test]
fn cells_move_towards_their_neighbours() {
    for (n_rows, n_columns) in [(1, 1), (8, 32), (9, 33), (40, 7), (30, 100)] {
        let old = floats(n_rows * n_columns);
        let (new, [report, _]) = diffused(&old, n_rows, n_columns);
        expect_clean(&report);
        let cell = |row: u32, column: u32| match row < n_rows && column < n_columns {
            true => old[(row * n_columns + column) as usize],
            false => 0.0,
        };
        for row in 0..n_rows {
            for column in 0..n_columns {
                let own = cell(row, column);
                let around = cell(row.wrapping_sub(1), column)
                    + cell(row + 1, column)
                    + cell(row, column.wrapping_sub(1))
                    + cell(row, column + 1);
                let expected = own + 0.125 * (around - 4.0 * own);
                let found = new[(row * n_columns + column) as usize];
                assert_eq!(
                    found, expected,
                    "({row}, {column}) of {n_rows} × {n_columns}"
                );
            }
        }
    }
}

#[test]
fn rows_become_shares_of_one() {
    for (n_rows, n_columns) in [(1, 1), (3, 255), (2, 256), (4, 1000)] {
        let x = floats(n_rows * n_columns);
        let (y, [report, _]) = softmax_of(&x, n_rows, n_columns);
        expect_clean(&report);
        for (x, y) in x
            .chunks(n_columns as usize)
            .zip(y.chunks(n_columns as usize))
        {
            let max = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let powers: Vec<f64> = x.iter().map(|x| f64::from(x - max).exp()).collect();
            let sum: f64 = powers.iter().sum();
            for (power, &found) in powers.iter().zip(y) {
                let expected = power / sum;
                let error = (f64::from(found) - expected).abs();
                assert!(error <= 2e-6 * expected, "{found} is not {expected}");
            }
        }
    }
}

#[test]
fn bytes_are_counted() {
    for (n_words, n_blocks) in [(0, 1), (1, 1), (1000, 3), (5000, 4)] {
        let words = noise(n_words);
        let (counts, [report, _]) = counted(&words, n_blocks);
        report.expect_no_local_memory();
        // Only the data decide whether lanes that count meet in a bank.
        for line in report.lines().iter().filter(|line| line.conflicts > 0) {
            let text = line.text.as_deref().unwrap_or_default();
            assert!(text.contains("bins.add("), "{line:?}");
        }
        let mut expected = [0; BINS as usize];
        for byte in words.iter().flat_map(|word| word.to_le_bytes()) {
            expected[usize::from(byte)] += 1;
        }
        assert_eq!(counts, expected, "{n_words} words");
    }
}

#[test]
fn safety_costs_next_to_nothing() {
    let (_, diffused) = diffused(&floats(64 * 96), 64, 96);
    let (_, softmax) = softmax_of(&floats(4 * 1024), 4, 1024);
    // Neighbouring lanes count in neighbouring bins.
    let ramp: Vec<u32> = (0..4096).map(|i| 0x0101_0101 * (i % BINS)).collect();
    let (_, counted) = counted(&ramp, 2);
    for reports in [diffused, softmax, counted] {
        reports.iter().for_each(expect_clean);
        let [mut safe, plain] = reports.map(|report| *report.counts().unwrap());
        let [n_safe, n_plain] = [safe, plain].map(|counts| counts.warp_instructions);
        assert!(
            100 * n_safe <= 105 * n_plain,
            "{n_safe} instead of {n_plain} instructions"
        );
        // Whatever they do to memory is the same.
        safe.warp_instructions = plain.warp_instructions;
        safe.thread_instructions = plain.thread_instructions;
        assert_eq!(safe, plain);
    }
}

#[test]
fn launches_that_do_not_fit_are_refused() {
    let (device, kernels) = checked();
    let grid = device.upload("grid", &[0.0; 1024]).unwrap();
    let mut new = device.alloc::<f32>("new", 1024).unwrap();
    let mut run = |block, n_columns| {
        let config = LaunchConfig::new([1, 4, 1], block);
        let views = (grid.input(), new.output(), 32, n_columns, 0.5);
        kernels
            .run(diffuse, config, views)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    assert_eq!(run([COLUMNS, ROWS, 1], 32), Ok(()));
    for (refused, reason) in [
        (
            run([COLUMNS, ROWS, 1], 33),
            "`old` has 1024 elements, but the kernel's other arguments say 1056",
        ),
        (
            run([16, 16, 1], 32),
            "`new` does not fit 1×4×1 blocks of 16×16×1 threads",
        ),
    ] {
        let error = refused.unwrap_err();
        assert!(
            error.contains("diffuse") && error.contains(reason),
            "{error}"
        );
    }
}
