//! The modifiers of PTX.

use super::is_newer;
use crate::decode::refusal::Refusal;
use ptx::part::Part;
use ptx::suggest::{distance, nearest, question};

/// Types and lengths of vectors.
const TYPES: &str = "
    pred b1 b2 b4 b8 b16 b32 b64 b128 u2 u4 u8 u16 u32 u64 s2 s4 s8 s16 s32 s64 f16 f16x2 bf16
    bf16x2 tf32 f32 f32x2 f64 u16x2 s16x2 b16x2 u8x4 s8x4 e4m3 e5m2 e3m2 e2m3 e2m1 e4m3x2 e5m2x2
    e2m3x2 e3m2x2 e2m1x2 e4m3x4 e5m2x4 e2m3x4 e3m2x4 e2m1x4 ue8m0 ue8m0x2 ue4m3 s2f6x2 v2 v4 v8
    b4x16 b4x16_p64 b6x16_p32 b6p2x16 texref samplerref surfref f8f6f4 mxf4 mxf4nvf4 mxf8f6f4 i8";

/// The other modifiers, by topic.
const OTHERS: &str = "
    # State spaces
    global shared shared::cta shared::cluster local const param param::entry param::func to tex
    reg sreg
    # Rounding, ranges, comparison
    rn rz rm rp rna rs rni rzi rmi rpi ftz sat satfinite relu approx full noftz nan NaN xorsign
    abs scaled oob eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num finite infinite
    number notanumber normal subnormal wide cc shiftamt clamp wrap l r pack f4e b4e rc8 ecl ecr
    rc16 BOOL
    # Memory: order, scope, caches, operations
    weak volatile relaxed acquire release acq_rel sc mmio cta cluster gpu gl sys alias async
    generic proxy sync_restrict proxy::alias proxy::async proxy::async::generic proxy::tensormap
    proxy::tensormap::generic sync_restrict::shared::cta sync_restrict::shared::cluster ca cg cs
    cv lu wb wt nc unified L1 L2 level L1::evict_normal L1::evict_unchanged L1::evict_first
    L1::evict_last L1::no_allocate L2::evict_normal L2::evict_unchanged L2::evict_first
    L2::evict_last L2::cache_hint L2::64B L2::128B L2::256B evict_normal evict_last fractional
    range add sub min max inc dec and or xor not popc cas exch ld_reduce st red noinc acc
    acc::f16 acc::f32
    # Warps, barriers, copies
    sync aligned warp arrive wait all any uni ballot up down bfly idx expect_tx complete_tx init
    inval arrive_drop test_wait try_wait parity pending_count noComplete commit_group wait_group
    wait_all bulk commit reduce tensor prefetch im2col im2col_no_offs im2col::w im2col::w::128
    tile tile::gather4 tile::scatter4 read multicast multicast::cluster mbarrier
    mbarrier::complete_tx::bytes mbarrier::arrive::one mbarrier::arrive bulk_group cp_mask
    ignore_src launch_dependents try_cancel query_cancel is_canceled get_first_ctaid
    explicitcluster mbarrier_init no_inc cp_fenceproxy replace b1024 global_address rank box_dim
    global_dim global_stride element_stride elemtype interleave_layout swizzle_mode
    swizzle_atomicity fill_mode
    # Matrices
    load store mma mma_async fence a b c d row col trans sp sp::ordered_metadata block_scale
    scale_vec::1X scale_vec::2X scale_vec::4X block16 block32 kind kind::f16 kind::tf32
    kind::f8f6f4 kind::i8 kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4 ws alloc dealloc
    relinquish_alloc_permit shift cp cta_group::1 cta_group::2 before_thread_sync
    after_thread_sync collector::a::fill collector::a::use collector::a::lastuse
    collector::a::discard unpack unpack::16b pack::16b warpx2::02_13 warpx2::01_23 warpx4 down
    spcompress
    # Textures and surfaces, video, others
    1d 2d 3d 4d 5d a1d a2d cube acube 2dms a2dms base grad trap zero p width height depth
    channel_data_type channel_order normalized_coords force_unnormalized_coords filter_mode
    addr_mode_0 addr_mode_1 addr_mode_2 array_size num_mipmap_levels num_samples memory_layout
    po shr7 shr15 mask u asel bsel dsel h0 h1 h10 h32 b0 b1 b2 b3 x y z w m g
";

/// All modifiers, without their dots.
fn all() -> impl Iterator<Item = &'static str> {
    let lines = TYPES.lines().chain(OTHERS.lines());
    lines
        .filter(|line| !line.trim_start().starts_with('#'))
        .flat_map(str::split_whitespace)
}

/// Whether PTX has this modifier somewhere.
pub(super) fn is_known(name: &str) -> bool {
    all().any(|known| known == name) || is_shape(name)
}

/// `m16n8k16`, `32x32b`, `x4`, `B128`, `b8x16.b6x16_p32`.
fn is_shape(name: &str) -> bool {
    let bare = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    name.len() - bare.len() <= 1
        && !bare.is_empty()
        && bare.contains(['x', 'n', 'k'])
        && bare
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, 'n' | 'k' | 'x' | 'b' | 'p' | '_'))
        || name
            .strip_prefix('x')
            .is_some_and(|n| n.parse::<u32>().is_ok())
        || name
            .strip_prefix('m')
            .is_some_and(|n| n.parse::<u32>().is_ok())
}

/// `i32` and other names from other languages.
fn integer(name: &str) -> Option<String> {
    let bits = name.strip_prefix("int").or(name.strip_prefix('i'))?;
    matches!(bits, "8" | "16" | "32" | "64").then(|| format!("s{bits}"))
}

/// The first of some modifiers that names a type.
pub(crate) fn first_type<'a>(parts: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    parts
        .into_iter()
        .find(|part| !part.starts_with('v') && TYPES.split_whitespace().any(|ty| ty == *part))
}

/// The refusal of an opcode with a modifier that PTX does not have.
pub(crate) fn unknown(opcode: &str, version: (u32, u32)) -> Option<Refusal> {
    let name = opcode.split('.').skip(1).find(|part| !is_known(part))?;
    let near = nearest(name, all());
    // Types and shapes of new versions may differ in one letter; words do not.
    let is_word = name.len() > 4 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    let is_mistyped =
        is_word && !is_newer(version) && near.is_some_and(|near| distance(name, near) == 1);
    let suggestion = integer(name)
        .or_else(|| near.map(str::to_owned))
        .map(|name| format!(".{name}"));
    let reason = format!(
        "`.{name}` is not a known modifier{}",
        question(suggestion.as_deref())
    );
    let refusal = if is_mistyped {
        Refusal::invalid(reason)
    } else {
        Refusal::unknown(reason)
    };
    Some(refusal.at_part(Part::Modifier(name.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::refusal::Class;

    #[test]
    fn unknown_modifiers_are_named() {
        let reason = |opcode| unknown(opcode, (8, 8)).map(|refusal| refusal.reason);
        assert_eq!(
            reason("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"),
            None
        );
        assert_eq!(reason("ld.global.nc.L2::128B.v4.f32"), None);
        assert_eq!(
            reason("ld.gloabl.f32").unwrap(),
            "`.gloabl` is not a known modifier: did you mean `.global`?"
        );
        assert!(
            reason("add.sideways.u32")
                .unwrap()
                .starts_with("`.sideways` is not")
        );
        let class = |opcode| unknown(opcode, (8, 8)).map(|refusal| refusal.class);
        assert_eq!(class("ld.gloabl.f32"), Some(Class::Invalid));
        assert_eq!(class("cvt.rn.f16x2.e4m3x3"), Some(Class::Unknown));
    }
}
