//! Tiles of tensors, in both directions, against the model.

use proptest::prelude::*;
use ptx_sim::tensor_map::{Element, Fill, Swizzle, TensorMap, TensorSpec};

use super::model::{loaded, stored};
use super::{Bench, INIT, PLAIN, kernel, noise, wait};

/// Bytes of shared memory that are checked, and of the tensor.
const SHARED: usize = 40_960;
const TENSOR: usize = 1 << 18;

/// A tile, and where it is.
#[derive(Debug)]
struct Case {
    element: Element,
    dims: Vec<u64>,
    strides: Vec<u64>,
    box_dims: Vec<u32>,
    element_strides: Vec<u32>,
    swizzle: Swizzle,
    fill: Fill,
    origin: Vec<i32>,
    /// Where in shared memory.
    first: u32,
}

impl Case {
    fn map(&self, address: u64) -> TensorMap {
        TensorMap::new(&TensorSpec {
            element: self.element,
            address,
            dims: &self.dims,
            strides: &self.strides,
            box_dims: &self.box_dims,
            element_strides: &self.element_strides,
            swizzle: self.swizzle,
            fill: self.fill,
            ..PLAIN
        })
        .unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    fn coordinates(&self) -> String {
        let all: Vec<String> = self.origin.iter().map(ToString::to_string).collect();
        all.join(", ")
    }

    /// Copies shared memory to where the buffer has room for it, or from there.
    fn copy_shared(out: bool) -> String {
        let (load, store) = if out {
            ("ld.shared.b32 %r1, [%r2];", "st.global.b32 [%rd1], %r1;")
        } else {
            ("ld.global.b32 %r1, [%rd1];", "st.shared.b32 [%r2], %r1;")
        };
        format!(
            "shl.b32 %r3, %me, 2;
            add.u32 %r2, %tile, %r3;
            cvt.u64.u32 %rd2, %r3;
            add.u64 %rd1, %buf, %rd2;
            add.u64 %rd1, %rd1, {TENSOR};
            mov.u32 %r4, {};
            LOOP:
            {load}
            {store}
            add.u32 %r2, %r2, 512;
            add.u64 %rd1, %rd1, 512;
            sub.u32 %r4, %r4, 1;
            setp.ne.u32 %p1, %r4, 0;
            @%p1 bra LOOP;\n",
            SHARED / 512
        )
    }

    fn load(&self) {
        let mut memory = noise(TENSOR, 7);
        let before = noise(SHARED, 8);
        memory.extend(&before);
        let bench = Bench::new(&memory);
        let map = self.map(bench.buffer.address());
        let body = format!(
            "{INIT}{}
            fence.proxy.async.shared::cta;
            bar.sync 0;
            @!%lead bra WAIT;
            mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {};
            add.u32 %r9, %tile, {};
            cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes \
             [%r9], [%map, {{{}}}], [%bar];
            WAIT: {}",
            Self::copy_shared(false),
            map.tile_bytes(),
            self.first,
            map.rank(),
            self.coordinates(),
            wait(0),
        );
        let out = Self::copy_shared(true).replace("LOOP", "OUT");
        bench.run_both(&kernel(&(body + &out)), Some(&map), 128);
        let expected = loaded(&map, &self.origin, (&memory[..TENSOR], before), self.first);
        let got = bench.bytes();
        assert!(got[TENSOR..] == expected, "{self:?}");
        assert!(got[..TENSOR] == memory[..TENSOR]);
    }

    fn store(&self) {
        let mut memory = noise(TENSOR, 9);
        let shared = noise(SHARED, 10);
        memory.extend(&shared);
        let bench = Bench::new(&memory);
        let map = self.map(bench.buffer.address());
        let body = format!(
            "{}
            fence.proxy.async.shared::cta;
            bar.sync 0;
            @!%lead bra DONE;
            add.u32 %r9, %tile, {};
            cp.async.bulk.tensor.{}d.global.shared::cta.tile.bulk_group [%map, {{{}}}], [%r9];
            cp.async.bulk.commit_group;
            cp.async.bulk.wait_group 0;
            DONE:",
            Self::copy_shared(false),
            self.first,
            map.rank(),
            self.coordinates(),
        );
        bench.run_both(&kernel(&body), Some(&map), 128);
        let expected = stored(
            &map,
            &self.origin,
            (&shared, memory[..TENSOR].to_vec()),
            self.first,
        );
        assert!(bench.bytes()[..TENSOR] == expected, "{self:?}");
    }
}

prop_compose! {
    fn cases()(
        element in prop::sample::select(&Element::ALL[..10]),
        swizzle in prop::sample::select(&Swizzle::ALL[..4]),
        rank in 1..=5_usize,
        order in Just([1_usize, 2, 3, 4]).prop_shuffle(),
        sizes in prop::array::uniform5(1..=9_u64),
        row in 1..=8_u32,
        boxes in prop::array::uniform5(1..=6_u32),
        steps in prop_oneof![Just([1; 5]), prop::array::uniform5(1..=8_u32)],
        nan in any::<bool>(),
        gap in prop::array::uniform5(0..=1_u64),
        places in prop::array::uniform5(-7..=10_i32),
        far in 0..20_usize,
        first in 0..4_u32,
    ) -> Case {
        let bytes = element.bytes();
        let row_bytes = swizzle.span_bytes().map_or(16 * row, |span| (16 * row).min(span));
        let mut dims: Vec<u64> = sizes[..rank].to_vec();
        dims[0] *= 7;
        let mut strides = vec![0; rank - 1];
        let mut next = (dims[0] * u64::from(bytes)).next_multiple_of(16) + 16 * gap[0];
        for d in order.into_iter().filter(|&d| d < rank) {
            strides[d - 1] = next;
            next = next * dims[d] + 16 * gap[d];
        }
        let mut box_dims: Vec<u32> = boxes[..rank].to_vec();
        box_dims[0] = row_bytes / bytes;
        let mut element_strides = steps[..rank].to_vec();
        element_strides[0] = 1;
        let mut origin = places[..rank].to_vec();
        if far < rank {
            origin[far] = if far % 2 == 0 { i32::MAX } else { i32::MIN };
        }
        // A row of a tile begins at a multiple of 16 bytes.
        let chunk = (16 / bytes).cast_signed();
        origin[0] = origin[0].saturating_mul(chunk) / chunk * chunk;
        Case {
            element,
            dims,
            strides,
            box_dims,
            element_strides,
            swizzle,
            fill: if nan && element.is_float() { Fill::Nan } else { Fill::Zeros },
            origin,
            first: 128 * first,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_tile_is_loaded(case in cases().prop_filter("it fits", fits)) {
        case.load();
    }

    #[test]
    fn any_tile_is_stored(mut case in cases().prop_filter("it fits", fits)) {
        // Nor before the tensor's, if it is stored.
        case.origin[0] = case.origin[0].max(0);
        case.store();
    }
}

/// Whether tile and tensor are small enough.
fn fits(case: &Case) -> bool {
    let strides = case.strides.iter().zip(&case.dims[1..]);
    let end: u64 = strides.map(|(stride, dim)| stride * dim).max().unwrap_or(0);
    let map = case.map(0);
    end + 4096 < TENSOR as u64 && map.tile_bytes() + 1024 < SHARED as u64
}

/// A matrix in tiles of 64 × 128 halves, as for wgmma.
#[test]
fn a_tile_for_a_matrix_product() {
    for swizzle in [Swizzle::None, Swizzle::B128] {
        let case = Case {
            element: Element::F16,
            dims: vec![200, 150],
            strides: vec![416],
            box_dims: vec![64, 128],
            element_strides: vec![1, 1],
            swizzle,
            fill: Fill::Zeros,
            origin: vec![152, 60],
            first: 1024,
        };
        case.load();
        case.store();
    }
}
