//! The sizes at which products are checked and timed.

use lesson::{Effort, Footprint, Shape, Work};
use lockstep::engine::EngineKind;

/// Shapes to check a kernel on: odd ones, and one of whole tiles for the claims about counts.
pub fn shapes(engine: EngineKind, effort: Effort) -> Vec<Shape> {
    if effort == Effort::Sample {
        return vec![Shape::of(&[256, 256, 128])];
    }
    let shapes: &[[u32; 3]] = match (effort, engine) {
        (Effort::Quick | Effort::Sample, _) => &[[33, 31, 29], [128, 256, 64]],
        (Effort::Default, EngineKind::Sim) => &[
            [1, 1, 1],
            [17, 260, 40],
            [129, 257, 72],
            [130, 5, 201],
            [128, 256, 128],
        ],
        (Effort::Default, EngineKind::Gpu) | (Effort::Full, _) => &[
            [1, 1, 1],
            [129, 257, 72],
            [257, 130, 4099],
            [1000, 1003, 515],
            [2048, 2048, 2048],
        ],
    };
    let sweep = match (effort, engine) {
        (Effort::Quick | Effort::Sample, _) => 2,
        (Effort::Default, EngineKind::Sim) => 3,
        (Effort::Default, EngineKind::Gpu) | (Effort::Full, _) => 10,
    };
    std::iter::once(Shape::every(&[sweep; 3]))
        .chain(shapes.iter().map(|dims| Shape::of(dims)))
        .collect()
}

/// The counts are whole-warp figures: no tile may extend past the edge.
pub fn expects_at(shape: &Shape) -> bool {
    let [m, n, k] = shape.product();
    !shape.is_sweep() && m.is_multiple_of(128) && n.is_multiple_of(256) && k.is_multiple_of(64)
}

/// Each matrix once, 16 bits per element.
pub fn work(shape: &Shape) -> Work {
    let [m, n, k] = shape.product().map(u64::from);
    Work::new(2 * (m * k + k * n + m * n), 2 * m * n * k)
}

/// On the device, 16 bits per element of A and B and up to 32 of C; on the host, copies of them,
/// and the numbers that they were made from.
pub fn memory(shape: &Shape) -> Footprint {
    let [m, n, k] = shape.product().map(u128::from);
    // Rows are whole chunks of 8 elements.
    let padded = |rows: u128, columns: u128| rows.saturating_mul(columns.saturating_add(7));
    let factors = padded(m, k)
        .saturating_add(padded(n, k))
        .saturating_add(padded(k, m.saturating_add(n)));
    let of_factors = Footprint::of(factors, 2, 6);
    let of_c = Footprint::of(padded(m, n), 4, 8);
    Footprint {
        device_bytes: of_factors.device_bytes.saturating_add(of_c.device_bytes),
        host_bytes: of_factors.host_bytes.saturating_add(of_c.host_bytes),
    }
}

/// The shapes at which the steps by `mma.sync` are timed.
pub const OF_MMA: &[&[u32]] = &[&[4096, 4096, 4096], &[8192, 8192, 8192]];

/// The same for pairs of blocks with large tiles: including sizes whose rows begin anywhere in a
/// line, where the cache's bandwidth is scarce.
pub const OF_PAIRS: &[&[u32]] = &[
    &[4096, 4096, 4096],
    &[8192, 8192, 8192],
    &[3000, 5000, 7000],
];

/// The same for kernels of all types and layouts.
pub const OF_FAMILY: &[&[u32]] = &[&[4096, 4096, 4096]];

/// The same for tiles of other widths: sizes that tiles of 128×128 and 128×256 do not fill evenly,
/// and sizes whose rows begin anywhere in a line.
pub const OF_WIDTHS: &[&[u32]] = &[
    &[2048; 3],
    &[3072; 3],
    &[4096; 3],
    &[3000, 5000, 7000],
    &[4096, 4800, 1600],
    &[4096, 6400, 1600],
];

/// The same for bf16.
pub const OF_BF16_WIDTHS: &[&[u32]] = &[&[2048; 3], &[3072; 3], &[4096; 3]];

/// The same for kernels among the last steps that others beat: cubes of three sizes.
pub const OF_OTHERS: &[&[u32]] = &[&[2048; 3], &[4096; 3], &[8192; 3]];

/// Arrays of shapes, and the same as slices of slices.
macro_rules! timed {
    (
        cubes: $($side:literal)*;
        few: $([$few_m:literal, $few_n:literal, $few_k:literal],)*;
        many: $([$m:literal, $n:literal, $k:literal],)*
    ) => {
        /// Products from real models: m is tokens, or rows of a batch; n and k are a model's.
        pub const OF_PEOPLE: [[u32; 3]; 24] =
            [$([$few_m, $few_n, $few_k],)* $([$m, $n, $k]),*];

        /// The shapes of bf16: the cubes.
        pub const OF_BF16: &[&[u32]] = &[$(&[$side; 3]),*];

        /// What people have of few tiles.
        pub const OF_SPLIT_K: &[&[u32]] = &[$(&[$few_m, $few_n, $few_k]),*];

        /// The shapes of the last steps: the cubes, and products from real models.
        pub const OF_WGMMA: &[&[u32]] = &[
            $(&[$side; 3],)*
            $(&[$few_m, $few_n, $few_k],)*
            $(&[$m, $n, $k]),*
        ];
    };
}

timed! {
    cubes: 2048 3072 4096 5120 6144 7168 8192 9216 10240 11264 12288 13312 14336 15360 16384;
    few:
    // Few tokens: a layer of a model while it answers.
    [16, 4096, 4096],
    [32, 8192, 8192],
    [64, 14336, 4096],
    [128, 4096, 14336],
    [256, 12288, 4096],
    // Few columns.
    [4096, 16, 4096],
    [8192, 64, 8192],
    [16384, 128, 4096],
    [8192, 256, 1024],
    // Long sums: gradients of weights.
    [512, 512, 65536],
    [1024, 1024, 32768],
    [2048, 1024, 16384],
    // Odd sizes.
    [1000, 1000, 1000],
    [129, 8191, 2047],
    ;
    many:
    [4095, 4097, 4093],
    [3000, 5000, 7000],
    // GPT-2 XL: attention and MLP, 4096 tokens.
    [4096, 4800, 1600],
    [4096, 6400, 1600],
    // Llama 3 8B: queries, keys and values; MLP up and down.
    [8192, 6144, 4096],
    [8192, 28672, 4096],
    [8192, 4096, 14336],
    // Llama 3 70B: queries, keys and values; MLP up and down.
    [4096, 10240, 8192],
    [4096, 57344, 8192],
    [4096, 8192, 28672],
}
