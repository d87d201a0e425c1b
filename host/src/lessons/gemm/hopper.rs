//! The steps by `wgmma`: maps of the matrices, geometry, launches.

use super::elements::Number;
use super::run::{Contract, Majors, Matrices, Plan, run};
use super::shapes;
use cuda_std::launch::{DevicePtr, DevicePtrMut, DeviceTensorMap as Map, Kernel};
use cuda_std::wgmma::{AcrossK, AlongK};
use gpu_kernels::gemm::hopper::operand::Layout;
use gpu_kernels::gemm::hopper::split_k::{self, Tile};
use gpu_kernels::gemm::hopper::stream_k::StreamK;
use gpu_kernels::gemm::hopper::{
    by_mma, ping_pong, small, split_k_grid, tma, warp_specialized, wgmma,
};
use gpu_kernels::gemm::mma::matrices::{Scale, Sizes};
use half::{bf16, f16};
use lesson::{KernelEntry, exactly};
use lockstep::counts::Expectation;
use lockstep::counts::Metric::{
    GlobalStoreSectorsPerRequest as StoreSectors, LdmatrixConflicts, LocalSectors,
    SharedLoadConflictsPerRequest as LoadConflicts,
    SharedStoreConflictsPerRequest as StoreConflicts, StmatrixConflicts,
};
use lockstep::engine::{
    Buffer, Engine, EngineError, EngineKind, LaunchConfig, Major, Prepared, TensorElement,
    TensorMap,
};
use lockstep::tensor_map::{L2Promotion, Swizzle};

/// The architecture that has `wgmma`.
pub const HOPPER: u32 = 90;
/// Blocks at once on the simulator: few, so that small products have several waves of tiles.
const SIM_BLOCKS: u32 = 4;
/// Rows of tiles in a group for single blocks; pairs have half as many.
pub const GROUP: u32 = 16;

/// A prepared launch.
pub type Made<'e> = Result<Plan<'e>, EngineError>;

/// A map of `rows` rows of `columns` elements, `pitch` apart, in boxes as `wgmma` expects them.
pub fn map<T: TensorElement>(
    buffer: &Buffer<'_, T>,
    [columns, rows]: [u32; 2],
    pitch: u32,
    tile: [u32; 2],
) -> Result<Map, EngineError> {
    let map = TensorMap::tiled(buffer, [columns as usize, rows as usize], tile)
        .strides(&[pitch as usize])
        .swizzle(Swizzle::B128)
        // With more, sectors would be fetched twice where rows do not begin at multiples of it.
        .l2_promotion(L2Promotion::B128)
        .build()?;
    Ok(map.as_arg())
}

/// Blocks that a launch may have at once.
pub fn most_blocks(engine: &dyn Engine) -> u32 {
    match engine.kind() {
        EngineKind::Gpu => engine.device().n_multiprocessors,
        EngineKind::Sim => SIM_BLOCKS,
    }
}

/// SMs; for the simulator, as many as an H200 has.
fn n_multiprocessors(engine: &dyn Engine) -> u32 {
    match engine.kind() {
        EngineKind::Gpu => engine.device().n_multiprocessors,
        EngineKind::Sim => 132,
    }
}

/// The maps of A and B for these boxes.
pub fn factor_maps<T: Number + TensorElement, O: Number>(
    matrices: &Matrices<'_, T, O>,
    boxes: [[u32; 2]; 2],
) -> Result<[Map; 2], EngineError> {
    let Sizes {
        m,
        n,
        k,
        a_pitch,
        b_pitch,
        ..
    } = matrices.sizes;
    let extents = |major: Major, edge: u32| match major {
        Major::K => [k, edge],
        Major::Mn => [edge, k],
    };
    let majors = matrices.majors;
    Ok([
        map(&matrices.a, extents(majors.a, m), a_pitch, boxes[0])?,
        map(&matrices.b, extents(majors.b, n), b_pitch, boxes[1])?,
    ])
}

/// The map of C.
pub fn c_map<T: Number, O: Number + TensorElement>(
    matrices: &Matrices<'_, T, O>,
    tile: [u32; 2],
) -> Result<Map, EngineError> {
    let Sizes { m, n, c_pitch, .. } = matrices.sizes;
    map(&matrices.c, [n, m], c_pitch, tile)
}

/// The launch of a kernel that needs nothing else to be kept.
pub fn launch<'e, K: Kernel>(config: LaunchConfig, args: K::Args) -> Made<'e> {
    // SAFETY: callers make the arguments from the matrices, which outlive the
    // launches, and the geometry is the kernel's own.
    let launch = unsafe { Prepared::of::<K>(config, args) }?;
    Ok(Plan {
        launch,
        flags: None,
        scratch: None,
    })
}

fn wgmma<'e>(_: &dyn Engine, matrices: &Matrices<'e, f16, f16>, _: wgmma::gemm_wgmma) -> Made<'e> {
    let Matrices { a, b, c, sizes, .. } = matrices;
    let config = LaunchConfig::new(wgmma::grid(sizes.m, sizes.n), wgmma::BLOCK)
        .with_shared(wgmma::SHARED_BYTES);
    let args = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr(), *sizes);
    launch::<wgmma::gemm_wgmma>(config, args)
}

fn copied<'e>(_: &dyn Engine, matrices: &Matrices<'e, f16, f16>, _: tma::gemm_tma) -> Made<'e> {
    let Sizes {
        m, n, k, c_pitch, ..
    } = matrices.sizes;
    let config = LaunchConfig::new(tma::grid(m, n), tma::BLOCK).with_shared(tma::SHARED_BYTES);
    let [a, b] = factor_maps(matrices, tma::BOXES)?;
    launch::<tma::gemm_tma>(config, (a, b, matrices.c.as_mut_ptr(), m, n, k, c_pitch))
}

/// The result in memory, and what blocks leave each other there.
type Elements = DevicePtrMut<f16>;
type Sums = DevicePtrMut<f32>;
type Flags = DevicePtrMut<u32>;

/// Arguments of warp-specialized kernels with results from registers.
type FromRegisters = (Map, Map, Elements, u32, u32, u32, u32, u32);

fn from_registers<'e, K: Kernel<Args = FromRegisters>>(
    engine: &dyn Engine,
    matrices: &Matrices<'e, f16, f16>,
    _kernel: K,
    is_persistent: bool,
) -> Made<'e> {
    let Sizes {
        m, n, k, c_pitch, ..
    } = matrices.sizes;
    let (grid, group) = match is_persistent {
        true => (warp_specialized::grid(m, n, 1, most_blocks(engine)), GROUP),
        false => ([warp_specialized::n_tiles(m, n), 1, 1], 1),
    };
    let config = LaunchConfig::new(grid, warp_specialized::BLOCK)
        .with_shared(warp_specialized::SHARED_BYTES);
    let [a, b] = factor_maps(matrices, warp_specialized::boxes(DEPTH, 1))?;
    let c = matrices.c.as_mut_ptr();
    launch::<K>(config, (a, b, c, m, n, k, c_pitch, group))
}

/// Depth of a step, in elements of 16 bits.
const DEPTH: u32 = gpu_kernels::gemm::hopper::depth::<f16>();

/// Arguments of kernels that store through TMA.
pub type TmaEpilogueArgs = (Map, Map, Map, u32, u32, u32, u32);

/// Rows of tiles in a group: fewer where all tiles are computed in two waves, and the parts of B
/// that each row of tiles needs are in the cache anyway.
pub fn group(engine: &dyn Engine, n_tiles: u32, n_blocks: u32) -> u32 {
    if n_tiles * n_blocks <= 2 * most_blocks(engine) {
        GROUP / 2 / n_blocks
    } else {
        GROUP / n_blocks
    }
}

/// With this many blocks in a cluster.
pub fn clustered(config: LaunchConfig, n_blocks: u32) -> LaunchConfig {
    match n_blocks {
        1 => config,
        _ => config.with_cluster([n_blocks as u8, 1, 1]),
    }
}

fn tma_epilogue<'e, K: Kernel<Args = TmaEpilogueArgs>>(
    engine: &dyn Engine,
    matrices: &Matrices<'e, f16, f16>,
    _kernel: K,
    n_blocks: u32,
) -> Made<'e> {
    let Sizes { m, n, k, .. } = matrices.sizes;
    let grid = warp_specialized::grid(m, n, n_blocks, most_blocks(engine));
    let config = LaunchConfig::new(grid, warp_specialized::BLOCK)
        .with_shared(warp_specialized::TMA_EPILOGUE_BYTES);
    let [a, b] = factor_maps(matrices, warp_specialized::boxes(DEPTH, n_blocks))?;
    let c = c_map(matrices, warp_specialized::C_BOX)?;
    let args = (a, b, c, m, n, k, GROUP / n_blocks);
    launch::<K>(clustered(config, n_blocks), args)
}

/// The launch of ping-pong kernels.
pub fn ping_pong_config(engine: &dyn Engine, m: u32, n: u32, n_blocks: u32) -> LaunchConfig {
    let grid = ping_pong::grid(m, n, n_blocks, most_blocks(engine));
    let config = LaunchConfig::new(grid, ping_pong::BLOCK).with_shared(ping_pong::SHARED_BYTES);
    clustered(config, n_blocks)
}

fn ping_pong<'e, K: Kernel<Args = TmaEpilogueArgs>, T: Number + TensorElement>(
    engine: &dyn Engine,
    matrices: &Matrices<'e, T, T>,
    _kernel: K,
    n_blocks: u32,
) -> Made<'e> {
    let Sizes { m, n, k, .. } = matrices.sizes;
    let [a, b] = factor_maps(matrices, ping_pong::boxes::<AlongK, AlongK>(n_blocks))?;
    let c = c_map(matrices, ping_pong::C_BOX)?;
    let n_tiles = ping_pong::n_tiles(m, n, n_blocks);
    let group = group(engine, n_tiles, n_blocks);
    launch::<K>(
        ping_pong_config(engine, m, n, n_blocks),
        (a, b, c, m, n, k, group),
    )
}

/// Room for the sums that blocks leave each other.
struct Left<'e> {
    sums: Buffer<'e, f32>,
    flags: Buffer<'e, u32>,
}

impl<'e> Left<'e> {
    fn of(engine: &'e dyn Engine, n_sums: usize, n_flags: usize) -> Result<Self, EngineError> {
        Ok(Self {
            sums: Buffer::poisoned(engine, "sums left", n_sums)?,
            flags: Buffer::of(engine, "flags", &vec![0; n_flags])?,
        })
    }

    /// For ping-pong kernels: of every block.
    fn of_ping_pong(engine: &'e dyn Engine, config: LaunchConfig) -> Result<Self, EngineError> {
        let n_blocks = config.grid[0] as usize;
        Self::of(engine, n_blocks * ping_pong::LEFT_SUMS as usize, n_blocks)
    }

    fn keep(self, plan: Plan<'e>) -> Plan<'e> {
        Plan {
            flags: Some(self.flags),
            scratch: Some(self.sums),
            ..plan
        }
    }
}

/// Arguments of stream-K kernels.
type StreamKArgs = (Map, Map, Map, u32, u32, u32, u32, Sums, Flags);

fn stream_k<'e, K: Kernel<Args = StreamKArgs>>(
    engine: &'e dyn Engine,
    matrices: &Matrices<'e, f16, f16>,
    _kernel: K,
    n_blocks: u32,
) -> Made<'e> {
    let Sizes { m, n, k, .. } = matrices.sizes;
    let config = ping_pong_config(engine, m, n, n_blocks);
    let left = Left::of_ping_pong(engine, config)?;
    let [a, b] = factor_maps(matrices, ping_pong::boxes::<AlongK, AlongK>(n_blocks))?;
    let c = c_map(matrices, ping_pong::C_BOX)?;
    let (sums, flags) = (left.sums.as_mut_ptr(), left.flags.as_mut_ptr());
    let args = (a, b, c, m, n, k, GROUP / n_blocks, sums, flags);
    Ok(left.keep(launch::<K>(config, args)?))
}

/// Arguments of split-K kernels by clusters.
type SplitKArgs = (Map, Map, Elements, u32, u32, u32, u32);

fn split_k<'e, K: Kernel<Args = SplitKArgs>>(
    engine: &dyn Engine,
    matrices: &Matrices<'e, f16, f16>,
    _kernel: K,
    tile: Tile,
) -> Made<'e> {
    let Sizes {
        m, n, k, c_pitch, ..
    } = matrices.sizes;
    let n_parts = tile.n_parts(m, n, k, n_multiprocessors(engine));
    let config = LaunchConfig::new(tile.grid(m, n, n_parts), split_k::BLOCK)
        .with_shared(tile.shared_bytes());
    let [a, b] = factor_maps(matrices, tile.boxes())?;
    let c = matrices.c.as_mut_ptr();
    launch::<K>(clustered(config, n_parts), (a, b, c, m, n, k, c_pitch))
}

fn small<'e>(_: &dyn Engine, matrices: &Matrices<'e, f16, f16>, _: small::gemm_small) -> Made<'e> {
    let Sizes { m, n, k, .. } = matrices.sizes;
    let config = LaunchConfig::new(small::grid(m, n), split_k::BLOCK)
        .with_shared(small::SHARED_BYTES)
        .with_cluster(small::CLUSTER);
    let [a, b] = factor_maps(matrices, small::boxes())?;
    let c = c_map(matrices, warp_specialized::C_BOX)?;
    launch::<small::gemm_small>(config, (a, b, c, k))
}

fn split_k_grid<'e>(
    engine: &'e dyn Engine,
    matrices: &Matrices<'e, f16, f16>,
    _: split_k_grid::gemm_split_k_grid,
) -> Made<'e> {
    let Sizes {
        m, n, k, c_pitch, ..
    } = matrices.sizes;
    let tile = split_k_grid::TILE;
    let n_parts = split_k_grid::n_parts(m, n, k, n_multiprocessors(engine));
    let grid = tile.grid(m, n, n_parts);
    let config = LaunchConfig::new(grid, split_k::BLOCK)
        .with_shared(tile.shared_bytes())
        .with_cluster(split_k_grid::cluster(grid));
    let n_tiles = (grid[1] * grid[2]) as usize;
    let n_left = match n_parts {
        // Nothing is left.
        1 => 1,
        _ => n_tiles * n_parts as usize * split_k_grid::LEFT_SUMS as usize,
    };
    let n_counters = n_tiles * split_k_grid::COUNTERS as usize;
    let left = Left::of(engine, n_left, n_counters)?;
    let [a, b] = factor_maps(matrices, tile.boxes())?;
    let c = matrices.c.as_mut_ptr();
    let (sums, counters) = (left.sums.as_mut_ptr(), left.flags.as_mut_ptr());
    let args = (a, b, c, m, n, k, c_pitch, sums, counters);
    Ok(left.keep(launch::<split_k_grid::gemm_split_k_grid>(config, args)?))
}

/// Rows of tiles in a group, where a block's eight warps load their own fragments.
const GROUP_BY_MMA: u32 = 8;

fn by_mma<'e>(engine: &dyn Engine, matrices: &Matrices<'e, f16, f16>, scale: Scale) -> Made<'e> {
    let Sizes { m, n, .. } = matrices.sizes;
    let grid = warp_specialized::grid(m, n, 1, most_blocks(engine));
    let config = LaunchConfig::new(grid, warp_specialized::BLOCK).with_shared(by_mma::SHARED_BYTES);
    let [a, b] = factor_maps(matrices, warp_specialized::boxes(DEPTH, 1))?;
    let c = matrices.c.as_mut_ptr();
    launch::<by_mma::gemm_by_mma>(config, (a, b, c, matrices.sizes, scale, GROUP_BY_MMA))
}

/// Blocks of a cluster in kernels of all types and layouts.
const PAIR: u32 = 2;

/// Whether tiles should be cut: where it pays, and always on the simulator, whose products are too
/// small for that.
fn is_cut(engine: &dyn Engine, sizes: &Sizes, config: LaunchConfig) -> bool {
    let n_tiles = ping_pong::n_tiles(sizes.m, sizes.n, PAIR);
    let n_steps = sizes.k.div_ceil(DEPTH);
    engine.kind() == EngineKind::Sim
        || StreamK::is_worth_it(n_tiles, n_steps, config.grid[0] / PAIR)
}

/// Arguments of kernels whose C has the element type of A and B.
type Halves<T> = (
    Map,
    Map,
    Map,
    DevicePtr<T>,
    u32,
    u32,
    u32,
    u32,
    f32,
    f32,
    u32,
    u32,
    Sums,
    Flags,
);

fn halves<'e, K, T, A, B>(
    engine: &'e dyn Engine,
    matrices: &Matrices<'e, T, T>,
    scale: Scale,
) -> Made<'e>
where
    T: Number + TensorElement,
    K: Kernel<Args = Halves<T>>,
    A: Layout,
    B: Layout,
{
    let Sizes {
        m, n, k, c_pitch, ..
    } = matrices.sizes;
    let config = ping_pong_config(engine, m, n, PAIR);
    let left = Left::of_ping_pong(engine, config)?;
    let [a, b] = factor_maps(matrices, ping_pong::boxes::<A, B>(PAIR))?;
    let c = c_map(matrices, ping_pong::C_BOX)?;
    let args = (
        a,
        b,
        c,
        matrices.c.as_ptr(),
        m,
        n,
        k,
        c_pitch,
        scale.alpha,
        scale.beta,
        GROUP / PAIR,
        u32::from(is_cut(engine, &matrices.sizes, config)),
        left.sums.as_mut_ptr(),
        left.flags.as_mut_ptr(),
    );
    Ok(left.keep(launch::<K>(config, args)?))
}

/// Arguments of kernels whose C is of `f32`.
type Floats = (
    Map,
    Map,
    DevicePtrMut<f32>,
    u32,
    u32,
    u32,
    u32,
    f32,
    f32,
    u32,
    u32,
    Sums,
    Flags,
);

fn floats<'e, K, T, A, B>(
    engine: &'e dyn Engine,
    matrices: &Matrices<'e, T, f32>,
    scale: Scale,
) -> Made<'e>
where
    T: Number + TensorElement,
    K: Kernel<Args = Floats>,
    A: Layout,
    B: Layout,
{
    let Sizes {
        m, n, k, c_pitch, ..
    } = matrices.sizes;
    let config = ping_pong_config(engine, m, n, PAIR);
    let left = Left::of_ping_pong(engine, config)?;
    let [a, b] = factor_maps(matrices, ping_pong::boxes::<A, B>(PAIR))?;
    let args = (
        a,
        b,
        matrices.c.as_mut_ptr(),
        m,
        n,
        k,
        c_pitch,
        scale.alpha,
        scale.beta,
        GROUP / PAIR,
        u32::from(is_cut(engine, &matrices.sizes, config)),
        left.sums.as_mut_ptr(),
        left.flags.as_mut_ptr(),
    );
    Ok(left.keep(launch::<K>(config, args)?))
}

const NO_LOCAL: Expectation = exactly(LocalSectors, 0.0);
/// Of kernels whose results go through shared memory.
pub const OF_TMA_EPILOGUE: [Expectation; 2] = [NO_LOCAL, exactly(StmatrixConflicts, 0.0)];

/// Entries of kernels that compute only the product, of factors and results of one type along k.
macro_rules! products {
    ($($kernel:path: $t:ident, $technique:literal, $make:ident($($argument:expr),*), $expected:expr, $shapes:expr;)*) => {
        [$(
            KernelEntry::of($kernel, $technique, |trial| {
                let contract = Contract {
                    fills_chunks: $expected.len() == OF_TMA_EPILOGUE.len(),
                    ..Contract::PRODUCT
                };
                run::<$t, $t>(trial, contract, &|engine, matrices, _| {
                    $make(engine, matrices, $kernel $(, $argument)*)
                })
            })
            .expecting($expected)
            .timed_at($shapes)
            .since_sm(HOPPER)
        ),*]
    };
}
pub(super) use products;

/// Steps 5 to 14.
pub const STEPS: [KernelEntry; 10] = products! {
    wgmma::gemm_wgmma: f16, "wgmma: a warpgroup multiplies out of shared memory",
        wgmma(), &[NO_LOCAL], shapes::OF_MMA;
    tma::gemm_tma: f16, "TMA: tiles by tensor copies, four stages ahead",
        copied(), &[NO_LOCAL], shapes::OF_MMA;
    warp_specialized::gemm_warp_specialized: f16,
        "warp-specialized: one warpgroup copies, two multiply, with the registers of all",
        from_registers(false), &[NO_LOCAL], shapes::OF_MMA;
    warp_specialized::gemm_persistent: f16,
        "persistent blocks, and a tile scheduler that suits the cache",
        from_registers(true), &[NO_LOCAL], shapes::OF_MMA;
    warp_specialized::gemm_epilogue: f16, "epilogue through shared memory and TMA",
        tma_epilogue(1), &OF_TMA_EPILOGUE, shapes::OF_MMA;
    warp_specialized::gemm_cluster: f16, "a pair of blocks shares what it copies",
        tma_epilogue(2), &OF_TMA_EPILOGUE, shapes::OF_PAIRS;
    ping_pong::gemm_ping_pong: f16, "ping-pong: while one warpgroup stores, the other multiplies",
        ping_pong(1), &OF_TMA_EPILOGUE, shapes::OF_WGMMA;
    ping_pong::gemm_ping_pong_pairs: f16, "the same by pairs of blocks",
        ping_pong(2), &OF_TMA_EPILOGUE, shapes::OF_OTHERS;
    ping_pong::gemm_stream_k: f16,
        "stream-K: tiles of the partial last wave are cut into equal shares",
        stream_k(1), &OF_TMA_EPILOGUE, shapes::OF_OTHERS;
    ping_pong::gemm_stream_k_pairs: f16, "the same by pairs of blocks",
        stream_k(2), &OF_TMA_EPILOGUE, shapes::OF_WGMMA;
};

/// Ping-pong, of bf16.
pub const BF16_PING_PONG: [KernelEntry; 1] = products! {
    ping_pong::gemm_bf16_ping_pong: bf16, "bf16, ping-pong",
        ping_pong(1), &OF_TMA_EPILOGUE, shapes::OF_BF16_WIDTHS;
};

/// The best that `mma.sync` reaches with the same techniques.
pub const BY_MMA: KernelEntry = KernelEntry::of(
    by_mma::gemm_by_mma,
    "mma.sync again, fed by TMA: warp-specialized, persistent blocks, C in whole sectors",
    |trial| run::<f16, f16>(trial, Contract::SCALED, &by_mma),
)
.expecting(&[
    exactly(LdmatrixConflicts, 0.0),
    exactly(LoadConflicts, 0.0),
    exactly(StoreConflicts, 0.0),
    exactly(StoreSectors, 16.0),
    NO_LOCAL,
])
.timed_at(shapes::OF_MMA)
.since_sm(HOPPER);

/// Few tiles.
pub const SPLIT_K: [KernelEntry; 7] = products! {
    split_k::gemm_split_k_64x128: f16,
        "split-K: a cluster shares the steps of each tile, and adds up in shared memory; for few rows",
        split_k(Tile::FEW_ROWS), &[NO_LOCAL], shapes::OF_SPLIT_K;
    split_k::gemm_split_k_128x64: f16, "the same, for few columns",
        split_k(Tile::FEW_COLUMNS), &[NO_LOCAL], shapes::OF_SPLIT_K;
    split_k::gemm_split_k_128x128: f16, "the same, for small products",
        split_k(Tile::SMALL), &[NO_LOCAL], shapes::OF_SPLIT_K;
    split_k::gemm_split_k_128x192: f16, "the same, where larger tiles would leave SMs idle",
        split_k(Tile::MIDDLE), &[NO_LOCAL], shapes::OF_SPLIT_K;
    split_k::gemm_split_k_128x256: f16, "the same, for long sums",
        split_k(Tile::LARGE), &[NO_LOCAL], shapes::OF_SPLIT_K;
    small::gemm_small: f16,
        "small products: a warpgroup multiplies every other step, pairs share what they copy",
        small(), &OF_TMA_EPILOGUE, shapes::OF_SPLIT_K;
    split_k_grid::gemm_split_k_grid: f16,
        "split-K over the grid: blocks anywhere share the steps of each tile, and add up in global memory",
        split_k_grid(), &[NO_LOCAL], shapes::OF_SPLIT_K;
};

/// The order of rows in memory, in terms of the kernels' layouts.
trait LiesAs: Layout {
    const MAJOR: Major;
}
impl LiesAs for AlongK {
    const MAJOR: Major = Major::K;
}
impl LiesAs for AcrossK {
    const MAJOR: Major = Major::Mn;
}

const fn contract<A: LiesAs, B: LiesAs>() -> Contract {
    Contract {
        majors: Majors {
            a: A::MAJOR,
            b: B::MAJOR,
        },
        is_scaled: true,
        fills_chunks: true,
    }
}

macro_rules! family {
    ($($kernel:ident = $make:ident::<$t:ident, $o:ident, $a:ident, $b:ident>, $technique:literal, $shapes:expr;)*) => {
        [$(
            KernelEntry::of(ping_pong::$kernel, $technique, |trial| {
                run::<$t, $o>(trial, contract::<$a, $b>(), &|engine, matrices, scale| {
                    $make::<ping_pong::$kernel, $t, $a, $b>(engine, matrices, scale)
                })
            })
            .expecting(&OF_TMA_EPILOGUE)
            .timed_at($shapes)
            .since_sm(HOPPER)
        ),*]
    };
}

/// Both types, all layouts, results of 16 and 32 bits, with alpha and beta.
pub const FAMILY: [KernelEntry; 16] = family! {
    gemm_f16_nn = halves::<f16, f16, AlongK, AcrossK>, "f16, A by rows, B by rows", shapes::OF_FAMILY;
    gemm_f16_nt = halves::<f16, f16, AlongK, AlongK>, "f16, A by rows, B by columns", shapes::OF_FAMILY;
    gemm_f16_tn = halves::<f16, f16, AcrossK, AcrossK>, "f16, A by columns, B by rows", shapes::OF_FAMILY;
    gemm_f16_tt = halves::<f16, f16, AcrossK, AlongK>, "f16, A and B by columns", shapes::OF_FAMILY;
    gemm_bf16_nn = halves::<bf16, bf16, AlongK, AcrossK>, "bf16, A by rows, B by rows", shapes::OF_FAMILY;
    gemm_bf16_nt = halves::<bf16, bf16, AlongK, AlongK>, "bf16, A by rows, B by columns", shapes::OF_BF16;
    gemm_bf16_tn = halves::<bf16, bf16, AcrossK, AcrossK>, "bf16, A by columns, B by rows", shapes::OF_FAMILY;
    gemm_bf16_tt = halves::<bf16, bf16, AcrossK, AlongK>, "bf16, A and B by columns", shapes::OF_FAMILY;
    gemm_f16_f32_nn = floats::<f16, f32, AlongK, AcrossK>, "f16 to f32, A by rows, B by rows", shapes::OF_FAMILY;
    gemm_f16_f32_nt = floats::<f16, f32, AlongK, AlongK>, "f16 to f32, A by rows, B by columns", shapes::OF_FAMILY;
    gemm_f16_f32_tn = floats::<f16, f32, AcrossK, AcrossK>, "f16 to f32, A by columns, B by rows", shapes::OF_FAMILY;
    gemm_f16_f32_tt = floats::<f16, f32, AcrossK, AlongK>, "f16 to f32, A and B by columns", shapes::OF_FAMILY;
    gemm_bf16_f32_nn = floats::<bf16, f32, AlongK, AcrossK>, "bf16 to f32, A by rows, B by rows", shapes::OF_FAMILY;
    gemm_bf16_f32_nt = floats::<bf16, f32, AlongK, AlongK>, "bf16 to f32, A by rows, B by columns", shapes::OF_FAMILY;
    gemm_bf16_f32_tn = floats::<bf16, f32, AcrossK, AcrossK>, "bf16 to f32, A by columns, B by rows", shapes::OF_FAMILY;
    gemm_bf16_f32_tt = floats::<bf16, f32, AcrossK, AlongK>, "bf16 to f32, A and B by columns", shapes::OF_FAMILY;
};
