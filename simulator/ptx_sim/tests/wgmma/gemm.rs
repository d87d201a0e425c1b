//! A product of matrices by `m64n256k16`: tiles of 64×64 and 256×64 in shared memory, swizzled
//! by 128 bytes, stored by threads.

use std::time::Instant;

use common::Bench;
use common::numbers::Numbers;
use half::f16;

/// Rows and columns of a block's part, and the depth of its tiles.
const TILE: [usize; 3] = [64, 256, 64];

/// The kernel: `c[m][n] = Σ a[m][k] · b[n][k]`, all in rows.
fn kernel() -> String {
    let sums: Vec<String> = (0..128).map(|i| format!("%c{i}")).collect();
    let sums = format!("{{{}}}", sums.join(", "));
    let products: String = (0..4)
        .map(|i| {
            format!(
                "add.u64 %x, %da, {};\nadd.u64 %y, %db, {};\nsetp.ne.u32 %keeps, %k, {};\n\
                 wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {sums}, %x, %y, %keeps, 1, 1, 0, 0;\n",
                2 * i,
                2 * i,
                if i == 0 { "0" } else { "0xffffffff" }
            )
        })
        .collect();
    let stores: String = (0..32)
        .flat_map(|block| (0..2).map(move |half| (block, half)))
        .map(|(block, half)| {
            let first = 4 * block + 2 * half;
            format!(
                "st.global.v2.f32 [%to{half} + {}], {{%c{first}, %c{}}};\n",
                32 * block,
                first + 1
            )
        })
        .collect();
    // Each thread moves 16 bytes at a time: row `at / 8`, chunk `at mod 8`, which the swizzle
    // puts at `chunk XOR (row mod 8)`.
    let load = |name: &str, n_chunks: usize, offset: usize| {
        format!(
            "mov.u32 %at, %t;\n{name}: shr.u32 %row, %at, 3;\nand.b32 %chunk, %at, 7;\n\
             mul.lo.u32 %o, %row, %depth;\nadd.u32 %o, %o, %k;\nshl.b32 %o, %o, 1;\n\
             mad.lo.u32 %o, %chunk, 16, %o;\ncvt.u64.u32 %x, %o;\nadd.u64 %x, %x, %from_{name};\n\
             ld.global.v4.b32 {{%w0, %w1, %w2, %w3}}, [%x];\nand.b32 %o, %row, 7;\n\
             xor.b32 %chunk, %chunk, %o;\nshl.b32 %o, %row, 7;\nmad.lo.u32 %o, %chunk, 16, %o;\n\
             add.u32 %o, %o, %tiles;\nst.shared.v4.b32 [%o+{offset}], {{%w0, %w1, %w2, %w3}};\n\
             add.u32 %at, %at, 128;\nsetp.lt.u32 %more, %at, {n_chunks};\n@%more bra {name};\n"
        )
    };
    format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 tiles[40960];\n\
         .visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n, .param .u32 depth) {{\n\
         .reg .pred %keeps, %more;\n.reg .f32 %c<128>;\n\
         .reg .b32 %t, %k, %n, %depth, %at, %row, %chunk, %o, %w<4>, %tiles, %bx, %by;\n\
         .reg .b64 %x, %y, %da, %db, %from_A, %from_B, %to<2>;\n\
         mov.u32 %t, %tid.x;\nmov.u32 %bx, %ctaid.x;\nmov.u32 %by, %ctaid.y;\nmov.u32 %tiles, tiles;\n\
         ld.param.u32 %n, [n];\nld.param.u32 %depth, [depth];\nld.param.u64 %from_A, [a];\nld.param.u64 %from_B, [b];\n\
         mul.lo.u32 %o, %by, 128;\nmul.wide.u32 %x, %o, %depth;\nadd.u64 %from_A, %from_A, %x;\n\
         mul.lo.u32 %o, %bx, 512;\nmul.wide.u32 %x, %o, %depth;\nadd.u64 %from_B, %from_B, %x;\n\
         cvt.u64.u32 %da, %tiles;\nshr.u64 %da, %da, 4;\nadd.u64 %da, %da, 0x4000004000010000;\nadd.u64 %db, %da, 512;\n\
         mov.u32 %k, 0;\nSTEP:\n{}{}fence.proxy.async.shared::cta;\nbar.sync 0;\n\
         wgmma.fence.sync.aligned;\n{products}wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n\
         bar.sync 0;\nadd.u32 %k, %k, 64;\nsetp.lt.u32 %more, %k, %depth;\n@%more bra STEP;\n\
         ld.param.u64 %to0, [c];\nshr.u32 %row, %t, 5;\nmul.lo.u32 %row, %row, 16;\nbfe.u32 %o, %t, 2, 3;\n\
         add.u32 %row, %row, %o;\nmad.lo.u32 %row, %by, 64, %row;\nand.b32 %o, %t, 3;\nshl.b32 %o, %o, 1;\n\
         mad.lo.u32 %o, %bx, 256, %o;\nmad.lo.u32 %o, %row, %n, %o;\nmad.wide.u32 %to0, %o, 4, %to0;\n\
         shl.b32 %o, %n, 5;\ncvt.u64.u32 %x, %o;\nadd.u64 %to1, %to0, %x;\n{stores}ret;\n}}",
        load("A", 512, 0),
        load("B", 2048, 8192)
    )
}

/// Multiplies matrices of small whole numbers, and compares every sum with the reference.
fn multiply([m, n, k]: [usize; 3], check: bool) {
    let mut numbers = Numbers(7).map(|r| f16::from_f32((r >> 60) as f32 - 8.0));
    let a: Vec<f16> = numbers.by_ref().take(m * k).collect();
    let b: Vec<f16> = numbers.take(n * k).collect();
    let bench = Bench::new(&kernel());
    let (to_a, to_b) = (bench.upload(&a, "a"), bench.upload(&b, "b"));
    let to_c = bench.zeros::<f32>(m * n, "c");
    let call = bench.call("k").block(128).check(check).threads(1);
    let call = call.grid([(n / TILE[1]) as u32, (m / TILE[0]) as u32]);
    let call = call.args(&[&to_a, &to_b, &to_c, &(n as u32), &(k as u32)]);
    let start = Instant::now();
    call.run().unwrap_or_else(|e| panic!("{e}"));
    println!("{m}×{n}×{k}, check {check}: {:?}", start.elapsed());
    let found = bench.download(to_c);
    let [a, b] = [a, b].map(|x| x.into_iter().map(f32::from).collect::<Vec<f32>>());
    for (row, a) in a.chunks(k).enumerate() {
        for (column, b) in b.chunks(k).enumerate() {
            let sum: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            assert_eq!(found[row * n + column], sum, "{row}, {column}");
        }
    }
}

#[test]
fn gemm_is_right_and_clean() {
    multiply([128, 512, 192], true);
}

#[test]
#[ignore = "to be timed"]
fn gemm_of_512() {
    multiply([512, 512, 512], false);
    multiply([512, 512, 512], true);
}
