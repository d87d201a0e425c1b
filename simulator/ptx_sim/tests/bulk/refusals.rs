//! Copies that are refused, and their messages.

use common::says;
use ptx_sim::tensor_map::{Interleave, Swizzle, TensorMap, TensorSpec};

use super::{Bench, INIT, PLAIN, kernel, noise};

const MATRIX: TensorSpec<'static> = TensorSpec {
    dims: &[64, 16],
    strides: &[128],
    box_dims: &[64, 8],
    swizzle: Swizzle::B128,
    ..PLAIN
};

/// The first line of the message about an instruction, with a map of a matrix.
fn refused(change: impl FnOnce(&mut TensorSpec<'static>), instruction: &str) -> String {
    let bench = Bench::new(&noise(4096, 31));
    let start = bench.buffer.address();
    let mut spec = TensorSpec {
        address: start,
        ..MATRIX
    };
    change(&mut spec);
    let map = TensorMap::new(&spec).expect("a map");
    let ptx = kernel(&format!("{INIT}{instruction}"));
    let error = bench
        .run(&ptx, &map.to_bytes(), 1, false)
        .expect_err("it cannot be done");
    let message = error.to_string();
    let first = message.lines().next().unwrap_or_default();
    let end = start + 4096;
    first
        .replace(&format!("{start:#x}"), "BUFFER")
        .replace(&format!("{end:#x}"), "END")
}

fn load(tile: &str, map: &str, coordinates: &str) -> String {
    let rank = coordinates.split(',').count();
    format!(
        "cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes \
         [{tile}], [{map}, {{{coordinates}}}], [%bar];"
    )
}

#[test]
fn what_is_said_of_wrong_tiles() {
    let plain = |_: &mut TensorSpec<'static>| {};
    let all = [
        refused(plain, &load("%tile", "%map", "0, 0, 0")),
        refused(plain, &load("%tile", "%map", "0")),
        refused(plain, &load("%tile+64", "%map", "0, 0")),
        refused(plain, &load("%tile+40832", "%map", "0, 0")),
        refused(plain, &load("%tile", "%map+16", "0, 0")),
        refused(plain, &load("%tile", "%buf", "0, 0")),
        refused(
            |spec| spec.dims = &[64, 40],
            &load("%tile", "%map", "0, 30"),
        ),
        refused(
            |spec| {
                spec.interleave = Interleave::B16;
                spec.dims = &[64, 4, 4];
                spec.strides = &[128, 512];
                spec.box_dims = &[64, 2, 2];
                spec.element_strides = &[1, 1, 1];
            },
            &load("%tile", "%map", "0, 0, 0"),
        ),
        refused(
            plain,
            "cp.reduce.async.bulk.tensor.2d.global.shared::cta.xor.tile.bulk_group [%map, {0, 0}], [%tile];",
        ),
        refused(
            plain,
            "cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%map, {0}];",
        ),
    ];
    insta::assert_snapshot!(all.join("\n"), @r"
    bad bulk copy: the instruction gives 3 coordinates, but the tensor map has 2 dimensions
    bad bulk copy: the instruction gives 1 coordinate, but the tensor map has 2 dimensions
    bad bulk copy: the target starts at shared address 0x40, which is 64 past a multiple of 128: it must be a multiple of 128
    out of bounds: store of 16 bytes at shared address 0xa040: just past the end of `bars` (64 bytes)
    out of bounds: load of 1 byte at parameter address 0x88: just past the end of the kernel's parameters (136 bytes)
    bad bulk copy: the 128 bytes are not a tensor map that was made for the simulator: make it by cuTensorMapEncodeTiled of the simulated driver, or by ptx_sim::tensor_map::TensorMap, and pass it by value, or copy all 128 bytes of it
    out of bounds: load of 16 bytes at global address END: just past the end of `buffer` (4096 bytes)
    unsupported instruction `cp.async.bulk.tensor` (tensor maps of interleaved layouts are not simulated)
    bad bulk copy: a reduction by Xor has no form for elements of F16
    bad bulk copy: the instruction gives 1 coordinate, but the tensor map has 2 dimensions
    ");
}

/// What ptxas would refuse, or the simulator does not know.
#[test]
fn what_is_said_of_wrong_instructions() {
    let said = |instruction: &str| {
        let module = ptx_sim::Module::parse(&kernel(instruction));
        match module {
            Ok(module) => module
                .unsupported()
                .first()
                .map_or("nothing".to_owned(), |u| u.reason.to_string()),
            Err(error) => error.message,
        }
    };
    let all = [
        said(
            "cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%tile], [%map, {0, 0}], [%bar];",
        ),
        said(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%tile], [%map, {0, 0, 0}], [%bar];",
        ),
        said("cp.async.bulk.shared::cluster.global [%tile], [%buf], 16, [%bar];"),
        said("cp.async.bulk.global.shared::cta [%buf], [%tile], 16;"),
        said("cp.async.bulk.global.global.bulk_group [%buf], [%buf], 16;"),
        said("cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.s32 [%buf], [%tile], 16;"),
        said("cp.reduce.async.bulk.global.shared::cta.bulk_group.max.f32 [%buf], [%tile], 16;"),
        said("st.bulk.weak.shared::cta [%tile], 16, 1;"),
        said("tensormap.replace.tile.global_address.global.b1024.b64 [%buf], %rd1;"),
    ];
    insta::assert_snapshot!(all.join("\n"), @r"
    of the modes of tensor copies, only .tile is simulated, not .im2col
    3 coordinates for 2 dimensions
    to shared memory it needs .mbarrier::complete_tx::bytes
    to .global it needs .bulk_group
    to .global it copies from .shared::cta
    this operation has no form for .s32
    this operation has no form for .f32
    it can only store 0
    tensor maps are not changed by kernels here: have the host make one for each tensor
    ");
}

/// As an H200 refuses them, by an illegal instruction.
#[test]
fn tiles_begin_at_chunks_of_rows() {
    let plain = |_: &mut TensorSpec<'static>| {};
    let store = |first: &str| {
        format!(
            "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map, {{{first}, 0}}], [%tile];"
        )
    };
    for instruction in [load("%tile", "%map", "4, 0"), store("4"), store("-7")] {
        let message = refused(plain, &instruction);
        says(&message, &["must be a multiple of 16 bytes"]);
    }
    let message = refused(plain, &store("-8"));
    says(&message, &["must not begin before the rows"]);
}
