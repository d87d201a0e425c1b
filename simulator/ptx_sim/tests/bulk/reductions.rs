//! Copies that combine their data with what is in memory.

use ptx_sim::tensor_map::{Element, TensorMap, TensorSpec};

use super::{Bench, INIT, PLAIN, kernel, noise, wait};

const N_BYTES: usize = 512;

/// Operands of which some are interesting.
fn operands(width: usize, seed: u64) -> Vec<u8> {
    let mut bytes = noise(N_BYTES, seed);
    let special: &[u64] = &[
        0,
        1,
        2,
        0x7FFF_FFFF,
        0x8000_0000,
        u64::MAX,
        i64::MAX as u64,
        1 << 63,
    ];
    for (i, &value) in special.iter().enumerate() {
        let at = (i * 3 + seed as usize % 5) * width;
        bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
    }
    bytes
}

fn elements(bytes: &[u8], width: usize) -> Vec<u64> {
    let element = |chunk: &[u8]| chunk.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b));
    bytes.chunks(width).map(element).collect()
}

/// What an integer reduction gives.
fn combined(op: &str, is_signed: bool, width: usize, old: u64, new: u64) -> u64 {
    let mask = u64::MAX >> (64 - 8 * width);
    let signed = |x: u64| (x << (64 - 8 * width)) as i64;
    match op {
        "add" => old.wrapping_add(new) & mask,
        "min" if is_signed && signed(new) < signed(old) => new,
        "max" if is_signed && signed(new) > signed(old) => new,
        "min" | "max" if is_signed => old,
        "min" => old.min(new),
        "max" => old.max(new),
        "inc" if old >= new => 0,
        "inc" => old + 1,
        "dec" if old == 0 || old > new => new,
        "dec" => old - 1,
        "and" => old & new,
        "or" => old | new,
        _ => old ^ new,
    }
}

/// Brings the second half of the buffer to the tile.
fn bring() -> String {
    format!(
        "{INIT}@!%lead bra DONE;
	add.u64 %rd1, %buf, {N_BYTES};
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {N_BYTES};
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%rd1], {N_BYTES}, [%bar];
	{}",
        wait(0)
    )
}

const STORE: &str = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nDONE:";

fn run(width: usize, map: Option<&TensorMap>, reduce: &str) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
    let (old, new) = (operands(width, 3), operands(width, 4));
    let bench = Bench::new(&[old.clone(), new.clone()].concat());
    let moved = map.map(|map| {
        TensorMap::new(&TensorSpec {
            address: bench.buffer.address(),
            ..vector(map.element())
        })
        .expect("a map")
    });
    let map = moved.map_or([0; 128], |map| map.to_bytes());
    let ptx = kernel(&format!("{}{reduce}{STORE}", bring()));
    if let Err(error) = bench.run(&ptx, &map, 32, true) {
        panic!("{reduce}: {error}");
    }
    let bytes = bench.bytes();
    let got = elements(&bytes[..N_BYTES], width);
    (elements(&old, width), elements(&new, width), got)
}

fn vector(element: Element) -> TensorSpec<'static> {
    const DIMS: [u64; 4] = [512, 256, 128, 64];
    const BOXES: [u32; 4] = [256, 256, 128, 64];
    let i = element.bytes().trailing_zeros() as usize;
    TensorSpec {
        element,
        dims: &DIMS[i..=i],
        box_dims: &BOXES[i..=i],
        element_strides: &[1],
        ..PLAIN
    }
}

#[test]
fn integers() {
    for (ty, ops) in [
        ("u32", &["add", "min", "max", "inc", "dec"][..]),
        ("s32", &["add", "min", "max"]),
        ("b32", &["and", "or", "xor"]),
        ("u64", &["add", "min", "max"]),
        ("s64", &["min", "max"]),
        ("b64", &["and", "or", "xor"]),
    ] {
        let width = if ty.ends_with("64") { 8 } else { 4 };
        for op in ops {
            let reduce = format!(
                "cp.reduce.async.bulk.global.shared::cta.bulk_group.{op}.{ty} [%buf], [%tile], {N_BYTES};\n"
            );
            let (old, new, got) = run(width, None, &reduce);
            for ((&old, &new), got) in old.iter().zip(&new).zip(got) {
                let expected = combined(op, ty.starts_with('s'), width, old, new);
                assert_eq!(got, expected, "{op}.{ty} {old:#x} {new:#x}");
            }
        }
    }
}

#[test]
fn tiles() {
    for (element, ops) in [
        (
            Element::U32,
            &["add", "min", "max", "inc", "dec", "and", "or", "xor"][..],
        ),
        (Element::S32, &["add", "min", "max", "and", "or", "xor"]),
        (Element::U64, &["add", "min", "max", "and", "or", "xor"]),
        (Element::S64, &["min", "max"]),
    ] {
        let width = element.bytes() as usize;
        let map = TensorMap::new(&vector(element)).expect("a map");
        for op in ops {
            let reduce = format!(
                "cp.reduce.async.bulk.tensor.1d.global.shared::cta.{op}.tile.bulk_group [%map, {{0}}], [%tile];\n"
            );
            let (old, new, got) = run(width, Some(&map), &reduce);
            let is_signed = matches!(element, Element::S32 | Element::S64);
            for ((&old, &new), got) in old.iter().zip(&new).zip(got) {
                let expected = combined(op, is_signed, width, old, new);
                assert_eq!(got, expected, "{op} of {element:?} {old:#x} {new:#x}");
            }
        }
    }
}

/// The old value, the operand, and the result.
type Sample = (u64, u64, u64);

/// Pairs that an H200 was given (`old`, `new`), and what it left.
#[rustfmt::skip]
const FLOATS: &[(&str, usize, &[Sample])] = &[
    ("add.noftz.f16", 2, &[
        (0x3C00, 0x3C01, 0x4000), (0x1, 0x1, 0x2), (0, 0x7E00, 0x7FFF),
        (0, 0xFE00, 0x7FFF), (0x7C00, 0xFC00, 0x7FFF), (0x7BFF, 0x7BFF, 0x7C00),
    ]),
    ("add.noftz.bf16", 2, &[
        (0x3F80, 0x3F81, 0x4000), (0x1, 0x1, 0x2), (0, 0xFFC0, 0x7FFF),
        (0x7F80, 0xFF80, 0x7FFF),
    ]),
    ("min.f16", 2, &[
        (0, 0x7E00, 0), (0, 0xBC00, 0xBC00), (0x8000, 0, 0x8000),
        (0, 0x8000, 0x8000), (0x7E00, 0xFE00, 0x7FFF),
    ]),
    ("max.f16", 2, &[
        (0, 0xFE00, 0), (0, 0xBC00, 0), (0x8000, 0, 0),
        (0, 0x8000, 0), (0x7E00, 0xFE00, 0x7FFF),
    ]),
    ("min.bf16", 2, &[
        (0, 0x7FC0, 0), (0, 0xBF80, 0xBF80), (0x8000, 0, 0x8000),
    ]),
    ("max.bf16", 2, &[
        (0, 0x7FC0, 0), (0, 0xBF80, 0), (0, 0x8000, 0),
    ]),
    ("add.f32", 4, &[
        (1, 1, 2), (0x3F80_0000, 0xBF80_0000, 0),
        (0, 0x7F80_0001, 0x7FFF_FFFF), (0x7F80_0000, 0xFF80_0000, 0x7FFF_FFFF),
        (0x7F7F_FFFF, 0x7F7F_FFFF, 0x7F80_0000),
    ]),
];

#[test]
fn floats() {
    for (op, width, cases) in FLOATS {
        let n = 16 / width;
        let mut bytes = vec![0; 2 * N_BYTES];
        for (i, (old, new, _)) in cases.iter().enumerate() {
            bytes[i * width..(i + 1) * width].copy_from_slice(&old.to_le_bytes()[..*width]);
            let at = N_BYTES + i * width;
            bytes[at..at + width].copy_from_slice(&new.to_le_bytes()[..*width]);
        }
        assert!(cases.len() <= N_BYTES / n);
        let bench = Bench::new(&bytes);
        let reduce = format!(
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.{op} [%buf], [%tile], {N_BYTES};\n"
        );
        let ptx = kernel(&format!("{}{reduce}{STORE}", bring()));
        bench.run_both(&ptx, None, 32);
        // It has run twice; the first run counts.
        let bench = Bench::new(&bytes);
        bench.run_unchecked(&ptx, 32);
        let got = elements(&bench.bytes()[..N_BYTES], *width);
        for ((old, new, expected), got) in cases.iter().zip(got) {
            assert_eq!(got, *expected, "{op} {old:#x} {new:#x}");
        }
    }
}

#[test]
fn into_shared_memory() {
    let bench = Bench::new(&operands(4, 9));
    let body = format!(
        "{INIT}
	ld.global.b32 %r1, [%buf];
	st.shared.b32 [%tile], %r1;
	st.shared.b32 [%tile+4], %r1;
	st.shared.b64 [%tile+8], %rd1;
	mov.b32 %r2, 5;
	st.shared.b32 [%tile+1024], %r2;
	st.shared.b32 [%tile+1028], %r2;
	st.shared.b64 [%tile+1032], %rd1;
	fence.proxy.async.shared::cta;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 16;
	add.u32 %r3, %tile, 1024;
	cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%tile], [%r3], 16, [%bar];
	{}
	ld.shared.b32 %r4, [%tile+4];
	st.global.b32 [%buf+8], %r4;",
        wait(0)
    );
    bench.run_both(&kernel(&body), None, 1);
    let words = elements(&bench.bytes(), 4);
    assert_eq!(words[2] as u32, (words[0] as u32).wrapping_add(5));
}
