//! Tensor maps: made of buffers, refused with a reason, and handed to kernels.

use super::{kernels, loaded};
use cuda_std::half::{bf16, f16};
use lockstep::tensor_map::{Element, Fill, L2Promotion, Swizzle};
use lockstep::{Buffer, Device, LaunchConfig, TensorMap};

/// Nearly all the shared memory that a kernel can have on an H200: far more than without opting in.
const MUCH_SHARED: u32 = 230_528;

/// A device, if it has TMA.
fn device() -> Option<Device> {
    let device = crate::device();
    if device.properties().sm < 90 {
        eprintln!("not run: {} has no TMA", device.why());
        return None;
    }
    Some(device)
}

fn zeros(device: &Device, n: usize) -> Buffer<f16> {
    device.zeroed("rows", n).expect("there is room")
}

#[test]
fn maps_arrive_beside_other_arguments() {
    let (device, module) = loaded();
    if device.properties().sm < 90 {
        return;
    }
    let rows = zeros(&device, 512 * 256);
    let a = TensorMap::tiled(&rows, [512, 256], [64, 128])
        .swizzle(Swizzle::B128)
        .build()
        .expect("it is a map");
    let numbers = device.upload("numbers", &[1.0f32; 4096]).expect("room");
    let b = TensorMap::tiled(&numbers, [16, 16, 16], [8, 4, 4])
        .build()
        .expect("it is a map");
    assert_eq!(
        (a.tile_bytes(), b.tile_bytes()),
        (64 * 128 * 2, 8 * 4 * 4 * 4)
    );
    let out = device.alloc::<u64>("out", 32).expect("there is room");
    let config = LaunchConfig::new([1; 3], [32, 1, 1]).with_shared(MUCH_SHARED);
    let args = (7, a.as_arg(), b.as_arg(), out.as_mut_ptr(), MUCH_SHARED - 8);
    // SAFETY: `out` has a word for each thread.
    unsafe { module.launch(kernels::read_maps, config, args) }.expect("it runs");
    let words = |map: &TensorMap<'_>| {
        let map = map.as_arg();
        let (words, _) = map.as_bytes().as_chunks::<8>();
        words
            .iter()
            .map(|word| u64::from_le_bytes(*word))
            .collect::<Vec<_>>()
    };
    let expected = [words(&a), words(&b)].concat();
    assert_eq!(out.read().expect("it is read"), expected);
}

#[test]
fn a_box_is_copied_and_filled_up_at_the_edges() {
    let Some(device) = device() else { return };
    let module = device.load(kernels::CLUSTERS).expect("it loads");
    // 10 rows of 20 numbers, 24 apart, from number 8 on.
    let numbers: Vec<f32> = (0..250).map(|i| i as f32).collect();
    let buffer = device.upload("numbers", &numbers).expect("there is room");
    let map = TensorMap::tiled(&buffer, [20, 10], [8, 4])
        .strides(&[24])
        .offset(8)
        .build()
        .expect("it is a map");
    assert_eq!(map.tile_bytes(), 128);
    let out = device.alloc::<f32>("out", 32).expect("there is room");
    for (x, y) in [(0, 0), (8, 3), (16, 8), (-4, -2), (20, 0)] {
        let config = LaunchConfig::new([1; 3], [32, 1, 1]);
        let args = (map.as_arg(), x, y, out.as_mut_ptr());
        // SAFETY: `out` has a number for each thread.
        unsafe { module.launch(kernels::copy_box, config, args) }.expect("it runs");
        let number = |i: i32| {
            let (row, column) = (y + i / 8, x + i % 8);
            let is_inside = (0..10).contains(&row) && (0..20).contains(&column);
            if is_inside {
                (8 + row * 24 + column) as f32
            } else {
                0.0
            }
        };
        let expected: Vec<f32> = (0..32).map(number).collect();
        assert_eq!(out.read().expect("it is read"), expected, "from {x}, {y}");
    }
}

#[test]
fn a_map_follows_its_array() {
    let Some(device) = device() else { return };
    let rows = zeros(&device, 2 * 64 * 32);
    let map = |offset| {
        let described = TensorMap::tiled(&rows, [64, 32], [64, 8]);
        described
            .offset(offset)
            .build()
            .expect("it is a map")
            .as_arg()
    };
    let (first, second) = (map(0), map(64 * 32));
    assert_eq!(second.address() - first.address(), 64 * 32 * 2);
    let mut params = Vec::new();
    cuda_std::launch::KernelArg::push_params(&first, &mut |param| params.push(param));
    assert_eq!(params[0].address(), Some(first.address()));
    let moved = params[0].relocated(&|address| address + 64 * 32 * 2);
    let moved = moved.expect("it is aligned there as well");
    assert_eq!(moved.as_bytes(), second.as_bytes());
    let nowhere = params[0].relocated(&|address| address + 1);
    nowhere.expect_err("it is not aligned there");
}

#[test]
fn elements_and_choices_are_as_asked() {
    let Some(device) = device() else { return };
    fn of<T: lockstep::tensor_map::TensorElement>(device: &Device) {
        let values: Buffer<T> = device.zeroed("values", 4096).expect("there is room");
        let map = TensorMap::tiled(&values, [64, 32], [16, 4]);
        map.strides(&[128]).build().expect("it is a map");
    }
    of::<u8>(&device);
    of::<u16>(&device);
    of::<u32>(&device);
    of::<i32>(&device);
    of::<u64>(&device);
    of::<i64>(&device);
    of::<f16>(&device);
    of::<bf16>(&device);
    of::<f32>(&device);
    of::<f64>(&device);
    let bits: Buffer<u16> = device.zeroed("bits", 1024).expect("there is room");
    let plain = TensorMap::tiled(&bits, [1024], [64]);
    let of_bf16 = || plain.element(Element::Bf16);
    let chosen = [
        plain,
        of_bf16(),
        of_bf16().fill(Fill::Nan),
        of_bf16().l2_promotion(L2Promotion::B256),
        of_bf16().swizzle(Swizzle::B128),
        of_bf16().element_strides([2]),
    ];
    for (i, one) in chosen.into_iter().enumerate() {
        one.build()
            .unwrap_or_else(|error| panic!("choice {i}: {error}"));
    }
}

#[test]
fn what_cannot_be_says_why() {
    let Some(device) = device() else { return };
    let rows = zeros(&device, 1000);
    let all = || TensorMap::tiled(&rows, [1000], [64]);
    let wrong_sizes = [
        TensorMap::tiled(&rows, [100, 10], [64, 8]).build(),
        TensorMap::tiled(&rows, [8, 126], [8, 8]).build(),
        TensorMap::tiled(&rows, [8, 8], [8, 8])
            .strides(&[132])
            .build(),
        TensorMap::tiled(&rows, [8, 8], [8, 8])
            .strides(&[8, 8])
            .build(),
        TensorMap::tiled(&rows, [64, 10], [8, 300]).build(),
        TensorMap::tiled(&rows, [usize::MAX, 2], [8, 2]).build(),
    ];
    let wrong_choices = [
        all().offset(1).build(),
        all().offset(8).build(),
        all().element(Element::F32).build(),
        all().element(Element::U16).fill(Fill::Nan).build(),
        TensorMap::tiled(&rows, [1000], [128])
            .swizzle(Swizzle::B128)
            .build(),
    ];
    let told: Vec<String> = wrong_sizes
        .into_iter()
        .chain(wrong_choices)
        .map(|map| map.expect_err("it breaks a rule").to_string())
        .collect();
    let says = [
        "stride of dimension 1 is 200 bytes",
        "would be value 1007 of the buffer, which has 1000",
        "stride of dimension 1 is 264 bytes",
        "2 strides are given for a tensor of 2 dimensions, which takes 1",
        "300",
        "18446744073709551615",
        "address must be a multiple of 16",
        "would be value 1007 of the buffer, which has 1000",
        "have 16 bits, but F32 has 32",
        "NaN",
        "128",
    ];
    assert_eq!(told.len(), says.len());
    for (told, say) in told.iter().zip(says) {
        assert!(told.starts_with("tensor map of `rows`: "), "{told}");
        assert!(told.contains(say), "{told:?} does not say {say:?}");
    }
}
