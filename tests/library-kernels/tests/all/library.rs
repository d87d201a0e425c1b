//! The results of `src/library.rs` with `cuda_std` must be what Rust computes, or what CUDA
//! documents.
//!
//! Left out: the table of atomics, which is a lesson of its own, and the tensor
//! cores.

use crate::bench::{Bench, line_of, panicking, ptx, read};
use cuda_std::launch::DevicePtrMut;
use cuda_std::panic::SINK_SYMBOL;
use cuda_std::view::DeviceCopy;
use half::{bf16, f16};
use library_kernels::library as kernels;
use lockstep::{Buffer, Error};
use ptx_sim::Module;
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};
use std::array::from_fn;

fn random_words(seed: u64, n_words: usize) -> Vec<u32> {
    let mut rng = StdRng::seed_from_u64(seed);
    (0..n_words).map(|_| rng.next_u32()).collect()
}

/// Numbers of all sizes, both signs, the special ones, and halves between whole
/// numbers.
fn odd_floats() -> Vec<f32> {
    let mut rng = StdRng::seed_from_u64(7);
    let mut floats = vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        -0.5,
        -2.5,
        65504.0,
        65519.9,
        65520.0,
        6.0e-8,
        1e-40,
        f32::MAX,
        f32::MIN_POSITIVE,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    floats.extend((0..500).map(|_| f32::from_bits(rng.next_u32())));
    floats.extend((0..500).map(|_| rng.random_range(-1000.0..1000.0f32)));
    floats.truncate(floats.len() / 32 * 32);
    floats
}

/// Equal bits, or both not a number.
fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

#[test]
fn indices_are_those_of_the_launch() {
    let bench = Bench::of("library");
    let (grid, block) = ([3u32, 2, 2], [8u32, 4, 3]);
    let n_threads = (grid.iter().product::<u32>() * block.iter().product::<u32>()) as usize;
    let out = bench.output(n_threads * 8);
    let launched = bench.try_launch(kernels::indices, grid, block, (out.as_mut_ptr(),));
    launched.unwrap();
    // The coordinates of the `i`-th of so many, x first.
    let place = |i: u32, n: [u32; 3]| [i % n[0], i / n[0] % n[1], i / n[0] / n[1]];
    let per_block: u32 = block.iter().product();
    for (index, found) in (0..).zip(read(&out).chunks(8)) {
        let in_block = index % per_block;
        let ([bx, by, bz], [tx, ty, tz]) = (place(index / per_block, grid), place(in_block, block));
        let expected = [
            index,
            bx * block[0] + tx,
            by * block[1] + ty,
            bz * block[2] + tz,
            tx | bx << 16,
            block[1] | grid[1] << 16,
            u32::from(index == 0),
            ((in_block / 32) << 8) | (in_block % 32),
        ];
        assert_eq!(found, expected);
    }
}

#[test]
fn shuffles_read_the_lane_they_name() {
    let bench = Bench::of("library");
    let values = random_words(1, 32).into_iter().map(|word| word >> 1);
    let values: Vec<u32> = values.collect();
    let (x, out) = (bench.input(&values), bench.output(128));
    for width in [1, 2, 4, 8, 16, 32] {
        for delta in 0..=32u32 {
            let args = (x.as_slice(), delta, width, out.as_mut_ptr());
            bench.launch(kernels::shuffles, 1, 32, args);
            let found = read(&out);
            for lane in 0..32u32 {
                let first = lane / width * width;
                let end = first + width;
                let idx = Some(first + delta % width);
                let up = lane.checked_sub(delta).filter(|from| *from >= first);
                let down = Some(lane + delta).filter(|from| *from < end);
                // Only lanes of later segments are out of reach.
                let xor = Some(lane ^ delta).filter(|from| *from < end);
                for (kind, from) in [idx, up, down, xor].into_iter().enumerate() {
                    let value = values[from.unwrap_or(lane) as usize];
                    let expected = value << 1 | u32::from(from.is_some());
                    let found = found[kind * 32 + lane as usize];
                    let case = format!("kind {kind}, lane {lane}, delta {delta}, width {width}");
                    assert_eq!(found, expected, "{case}");
                }
            }
        }
    }
}

#[test]
fn shuffles_carry_wide_and_narrow_values() {
    let bench = Bench::of("library");
    fn reversed<T: DeviceCopy>(values: &[T; 32], bench: &Bench) -> (Buffer<T>, Vec<T>) {
        let reversed = values.iter().rev().copied().collect();
        (bench.input(values), reversed)
    }
    let (wide, wide_reversed) = reversed(&from_fn(|i| i as f64 + 0.1), &bench);
    let (narrow, narrow_reversed) = reversed(&from_fn(|i| f16::from_f32(i as f32)), &bench);
    let (signed, signed_reversed) = reversed(&from_fn(|i| -(i as i64) << 33 | i as i64), &bench);
    let args = (wide.as_mut_ptr(), narrow.as_mut_ptr(), signed.as_mut_ptr());
    bench.launch(kernels::shuffle_types, 1, 32, args);
    assert_eq!(read(&wide), wide_reversed);
    assert_eq!(read(&narrow), narrow_reversed);
    assert_eq!(read(&signed), signed_reversed);
}

#[test]
fn votes_matches_and_reductions_see_every_lane() {
    let bench = Bench::of("library");
    let few = random_words(2, 32).into_iter().map(|word| word % 5);
    let (few, any) = (few.collect(), random_words(3, 32));
    for values in [few, any, vec![7; 32], vec![0x8000_0000; 32]] {
        let (x, out) = (bench.input(&values), bench.output(32 * 16));
        let args = (x.as_slice(), out.as_mut_ptr());
        bench.launch(kernels::votes, 1, 32, args);
        let found = read(&out);
        let mask_of = |holds: &dyn Fn(u32) -> bool| {
            let lanes = (0..32).filter(|lane| holds(*lane));
            lanes.map(|lane| 1 << lane).sum::<u32>()
        };
        let odd = mask_of(&|lane| values[lane as usize] & 1 == 1);
        for lane in 0..32u32 {
            let value = values[lane as usize];
            let same = mask_of(&|other| values[other as usize] == value);
            let expected = [
                u32::from(odd == u32::MAX),
                u32::from(odd != 0),
                u32::from(odd == 0 || odd == u32::MAX),
                odd,
                same,
                same,
                if same == u32::MAX { same } else { 0 },
                values.iter().fold(0, |sum, value| sum.wrapping_add(*value)),
                *values.iter().max().unwrap(),
                *values
                    .iter()
                    .min_by_key(|value| value.cast_signed())
                    .unwrap(),
                values.iter().fold(0, |bits, value| bits ^ value),
                mask_of(&|other| other < lane),
                mask_of(&|other| other <= lane),
                mask_of(&|other| other > lane),
                mask_of(&|other| other >= lane),
                1 << lane,
            ];
            let found = &found[lane as usize * 16..][..16];
            assert_eq!(found, expected, "lane {lane} of {values:?}");
        }
    }
}

#[test]
fn barriers_count_the_whole_block() {
    let bench = Bench::of("library");
    for values in [vec![1; 96], vec![0; 96], (0..96).map(|i| i % 3).collect()] {
        let (x, out) = (bench.input(&values), bench.output(96 * 3));
        let args = (x.as_slice(), out.as_mut_ptr());
        bench.launch(kernels::barriers, 1, 96, args);
        let n_set = values.iter().filter(|value| **value != 0).count() as u32;
        let expected = [n_set, u32::from(n_set == 96), u32::from(n_set > 0)];
        for found in read(&out).chunks(3) {
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn every_half_widens_to_its_number() {
    let bench = Bench::of("library");
    let n = 1 << 16;
    let (a, b) = (bench.output(n), bench.output(n));
    let args = (a.as_mut_ptr(), b.as_mut_ptr());
    bench.launch(kernels::widen_all, 256, 256, args);
    for (bits, (a, b)) in (0..=u16::MAX).zip(read(&a).into_iter().zip(read(&b))) {
        assert!(same(a, f16::from_bits(bits).to_f32()), "f16 {bits:#x}");
        assert!(same(b, bf16::from_bits(bits).to_f32()), "bf16 {bits:#x}");
    }
}

#[test]
fn floats_narrow_to_the_nearest_half() {
    let bench = Bench::of("library");
    let floats = odd_floats();
    let n = floats.len();
    let (x, a, b) = (bench.input(&floats), bench.output(n), bench.output(n));
    let pairs = bench.output::<u32>(n);
    let out_of_pairs = DevicePtrMut::new(pairs.address());
    let args = (x.as_slice(), a.as_mut_ptr(), b.as_mut_ptr(), out_of_pairs);
    bench.launch(kernels::narrow_all, n as u32 / 32, 32, args);
    let (f16s, bf16s, pairs) = (read(&a), read(&b), read(&pairs));
    for (i, float) in floats.into_iter().enumerate() {
        let (a, b) = (f16s[i].to_f32(), bf16s[i].to_f32());
        assert!(same(a, f16::from_f32(float).to_f32()), "f16 of {float:e}");
        assert!(same(b, bf16::from_f32(float).to_f32()), "bf16 of {float:e}");
        let pair = u32::from(f16s[i].to_bits()) << 16 | 0x3C00;
        assert_eq!(pairs[i], pair, "pair of {float:e}");
    }
}

#[test]
fn whole_parts_are_those_of_rust() {
    let bench = Bench::of("library");
    let mut floats = odd_floats();
    floats[..4].copy_from_slice(&[4_294_967_040.0, 4_294_967_296.0, 1e30, 0.999_999_94]);
    let n = floats.len();
    let (x, out) = (bench.input(&floats), bench.output(n));
    let args = (x.as_slice(), out.as_mut_ptr());
    bench.launch(kernels::whole_parts, n as u32 / 32, 32, args);
    for (whole, float) in read(&out).into_iter().zip(floats) {
        assert_eq!(whole, float as u32, "{float:e}");
    }
}

#[test]
fn exact_functions_round_as_rust_does() {
    let bench = Bench::of("library");
    let floats = odd_floats();
    let n = floats.len();
    let (x, out) = (bench.input(&floats), bench.output(n * 7));
    let args = (x.as_slice(), out.as_mut_ptr());
    bench.launch(kernels::exact_functions, n as u32 / 32, 32, args);
    for (x, found) in floats.into_iter().zip(read(&out).chunks(7)) {
        let expected = [
            x.sqrt(),
            x.mul_add(x, -1.0),
            x.floor(),
            x.ceil(),
            x.trunc(),
            x.round_ties_even(),
            1.0 / x,
        ];
        for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert!(
                same(*found, expected),
                "function {i} of {x:e}: {found:e}, expected {expected:e}"
            );
        }
    }
}

#[test]
fn approximate_functions_stay_within_their_bounds() {
    let bench = Bench::of("library");
    let mut rng = StdRng::seed_from_u64(11);
    let floats: Vec<f32> = (0..1024).map(|_| rng.random_range(0.001..3.1f32)).collect();
    let (x, out) = (bench.input(&floats), bench.output(1024 * 8));
    let args = (x.as_slice(), out.as_mut_ptr());
    bench.launch(kernels::approximate_functions, 32, 32, args);
    // Value, absolute bound, relative bound: as `cuda_std::float` documents them,
    // with a little for the rounding of the result.
    let bits = |n: f64| (-n).exp2();
    for (x, found) in floats.into_iter().zip(read(&out).chunks(8)) {
        let x = f64::from(x);
        let expected = [
            (1.0 / x.sqrt(), 0.0, bits(22.0)),
            (x.sqrt(), 0.0, bits(22.0)),
            (1.0 / x, 0.0, bits(22.0)),
            (x.sin(), bits(20.5), 0.0),
            (x.cos(), bits(20.5), 0.0),
            (x.exp2(), 0.0, bits(22.0)),
            (x.log2(), bits(21.0), bits(21.0)),
            (x.tanh(), 0.0, bits(10.9)),
        ];
        for (i, (found, (value, absolute, relative))) in found.iter().zip(expected).enumerate() {
            let error = (f64::from(*found) - value).abs();
            assert!(
                error <= absolute + relative * value.abs(),
                "function {i} of {x:e}: {found:e}, expected {value:e}"
            );
        }
    }
}

#[test]
fn read_only_loads_fetch_all_their_bytes() {
    let bench = Bench::of("library");
    let words = random_words(5, 64 * 4);
    let (on_device, out) = (bench.input(&words), bench.output(64 * 6));
    let args = (on_device.as_ptr(), out.as_mut_ptr());
    bench.launch(kernels::read_only, 2, 32, args);
    for (w, found) in words.chunks(4).zip(read(&out).chunks(6)) {
        let expected = [
            w[0] ^ w[1] ^ w[2] ^ w[3],
            w[0] ^ w[1],
            w[0],
            w[0] ^ w[3],
            w[2] ^ w[3],
            w[2] ^ w[3],
        ];
        assert_eq!(found, expected);
    }
}

#[test]
fn every_shared_array_is_memory_of_its_own() {
    let bench = Bench::of("library");
    let out = bench.output(96);
    let expected = |base: u32| -> Vec<u32> {
        let of_array = |array| (0..32).rev().map(move |lane| base + array + lane);
        [0, 100, 200].into_iter().flat_map(of_array).collect()
    };
    bench.launch(kernels::family_one, 1, 32, (out.as_mut_ptr(),));
    assert_eq!(read(&out), expected(1000));
    bench.launch(kernels::family_two, 1, 32, (out.as_mut_ptr(),));
    assert_eq!(read(&out), expected(2000));

    let variables = Module::parse(&ptx("library")).unwrap();
    let variables = variables.ir().variables.iter();
    // Other kernels of the module have none of this size.
    let arrays = variables.filter(|variable| {
        variable.name.starts_with("library_kernels_shared_") && variable.size_bytes == 128
    });
    let mut alignments: Vec<_> = arrays.map(|array| array.align).collect();
    alignments.sort_unstable();
    assert_eq!(alignments, [4, 4, 256, 256]);
}

#[test]
fn launch_bounds_reach_the_ptx() {
    let module = Module::parse(&ptx("library")).unwrap();
    let bounds = module.kernel("family_one").unwrap().bounds;
    assert_eq!((bounds.max_threads, bounds.min_blocks), (Some(32), Some(2)));
    let bench = Bench::of("library");
    let out = bench.output(1024);
    let args = (out.as_mut_ptr(),);
    let refused = bench.try_launch(kernels::family_one, [1, 1, 1], [64, 1, 1], args);
    assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
}

/// The beginning of the report of a panic at the line `code`, after the thread.
fn at(code: &str) -> String {
    let line = line_of(include_str!("../../src/library.rs"), code);
    format!(" panicked at tests/library-kernels/src/library.rs:{line}:")
}

#[test]
fn panics_tell_file_line_block_and_thread() {
    // Thread 37 of block 2 is the only one that panics.
    let mut x = vec![1; 256];
    x[2 * 64 + 37] = 0;
    let thread = "thread (37, 0, 0) of block (2, 0, 0)";
    let of_assertion = "assert!(x[i] != 0, \"x must not be 0\");";
    let by_assertion = kernels::panics_by_assertion;
    let report = panicking("library", by_assertion, &x, |x, out| (x, out));
    // Without the text, which the module has not asked for, but with the line.
    let told = format!("{thread}{}5\n    {of_assertion}\n", at(of_assertion));
    assert!(report.starts_with(&told), "{report}");

    let of_division = "*out.add(i) = 100 / divisor[i];";
    let by_division = kernels::panics_by_division;
    let report = panicking("library", by_division, &x, |x, out| (x, out));
    let told = format!("{thread}{}", at(of_division));
    assert!(report.starts_with(&told), "{report}");
}

#[test]
fn of_many_panics_one_is_told() {
    let kernel = kernels::panics_out_of_bounds;
    let report = panicking("library", kernel, &[1; 100], |x, out| (x, out));
    assert!(report.contains(&at("*out.add(i) = x[i];")), "{report}");
    let numbers = report.split(|c: char| !c.is_ascii_digit());
    let mut numbers = numbers.filter_map(|number| number.parse::<u32>().ok());
    let mut first = || numbers.next().expect("a number");
    let (thread, _, _, block) = (first(), first(), first(), first());
    assert!(block * 64 + thread >= 100, "{report}");
}

#[test]
fn a_panic_without_a_sink_still_stops_the_grid() {
    // It is not found under another name.
    let text = ptx("library");
    assert!(text.contains(SINK_SYMBOL));
    let bench = Bench::of_text(text.replace(SINK_SYMBOL, "nobodys_sink"));
    let (x, out) = (bench.input(&[0; 256]), bench.output(1024));
    let args = (x.as_slice(), out.as_mut_ptr());
    let launched = bench.try_launch(kernels::panics_by_assertion, [4, 1, 1], [64, 1, 1], args);
    let error = launched.expect_err("it panics");
    assert!(matches!(error, Error::Fault { .. }), "{error}");
    assert!(!error.to_string().contains("panicked at"), "{error}");
}
