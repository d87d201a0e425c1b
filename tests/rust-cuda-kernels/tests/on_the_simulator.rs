//! The results of kernels as programs of Rust-CUDA have them. As those programs do, the tests
//! launch by name: a kernel is not a type on the host.

use cuda_builder::toolchain::Lines;
use cuda_builder::{Arch, CudaBuilder, DebugInfo, KernelCrate, NvvmArch};
use ptx_sim::{Device, LoadedModule, Module};
use rust_cuda_kernels::SIDE;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

fn package() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests"))
}

fn target_dir() -> PathBuf {
    cuda_builder::target_dir_of(&package().join("../.."))
}

static MODULE: LazyLock<Module> = LazyLock::new(|| {
    let path = KernelCrate::open(package(), target_dir())
        .and_then(|kernels| {
            let progress = Lines::new(std::io::stderr());
            kernels.ptx(None, &Arch::new("sm_80"), &progress)
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let text = std::fs::read_to_string(path).expect("it was just made");
    Module::parse(&text).expect("rustc's PTX is read")
});

fn device() -> (Device, LoadedModule) {
    let device = Device::new();
    let loaded = device.load(&MODULE).expect("it is small");
    (device, loaded)
}

#[test]
fn a_static_in_shared_memory_has_a_size_from_the_function() {
    let (device, loaded) = device();
    let numbers: Vec<f32> = (0..SIDE * SIDE).map(|i| i as f32).collect();
    let from = device.upload(&numbers, "from").unwrap();
    let to = device.zeros::<f32>(SIDE * SIDE, "to").unwrap();
    let call = device.call(&loaded, "transposed");
    let call = call.block([SIDE as u32, SIDE as u32, 1]).check(true);
    let report = call.arg(from).arg(from.len() as u64).arg(to).run().unwrap();
    let transposed: Vec<f32> = (0..SIDE * SIDE)
        .map(|i| numbers[i % SIDE * SIDE + i / SIDE])
        .collect();
    assert_eq!(device.download(to).unwrap(), transposed);
    // The compiler knows that it is shared memory: no access is generic.
    assert!(
        report.counts.shared_load_requests > 0,
        "{:?}",
        report.counts
    );
}

#[test]
fn a_static_of_a_module_is_used_by_safe_functions() {
    let (device, loaded) = device();
    let to = device.zeros::<u32>(128, "to").unwrap();
    let call = device
        .call(&loaded, "neighbors")
        .grid(2)
        .block(64)
        .check(true);
    call.arg(to).run().unwrap();
    let next = |i: u32| i / 64 * 64 + (i + 1) % 64;
    assert!(
        device
            .download(to)
            .unwrap()
            .into_iter()
            .eq((0..128).map(next))
    );
}

#[test]
fn indices_are_vectors() {
    let (device, loaded) = device();
    let (grid, block) = ([2, 3, 2], [4, 2, 3]);
    let n_threads = 12 * 24;
    let to = device.zeros::<[u32; 3]>(n_threads, "to").unwrap();
    let call = device.call(&loaded, "indices").grid(grid).block(block);
    call.arg(to).run().unwrap();
    let mut found = device.download(to).unwrap();
    found.sort_by_key(|[x, y, z]| [*z, *y, *x]);
    let all = (0..6).flat_map(|z| (0..6).flat_map(move |y| (0..8).map(move |x| [x, y, z])));
    assert!(found.into_iter().eq(all));
}

#[test]
fn matrices_and_vectors_are_arguments() {
    let (device, loaded) = device();
    let to = device.zeros::<[f32; 3]>(1, "to").unwrap();
    let columns: [f32; 9] = [0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 2.0];
    let call = device
        .call(&loaded, "turned")
        .arg(columns)
        .arg([3.0f32, 4.0, 5.0]);
    call.arg(to).run().unwrap();
    assert_eq!(device.download(to).unwrap(), [[-4.0, 3.0, 10.0]]);
}

#[test]
fn atomics_add_in_their_scopes() {
    let (device, loaded) = device();
    // An `f32`, padding, an `f64`, an `f32`.
    let sums = device.zeros::<[u32; 6]>(1, "sums").unwrap();
    let of_blocks = device.zeros::<f32>(2, "of blocks").unwrap();
    let call = device.call(&loaded, "summed").grid(2).block(64).check(true);
    call.arg(sums).arg(of_blocks).run().unwrap();
    let words = device.download(sums).unwrap()[0];
    let wide = f64::from_bits(u64::from(words[3]) << 32 | u64::from(words[2]));
    let found = (f32::from_bits(words[0]), wide, f32::from_bits(words[4]));
    assert_eq!(found, (8128.0, -8128.0, 128.0));
    assert_eq!(device.download(of_blocks).unwrap(), [2016.5, 6112.5]);
}

#[test]
fn atomics_change_bits() {
    let (device, loaded) = device();
    let value = device.upload(&[0x1234_5678u32], "value").unwrap();
    let olds = device.zeros::<u32>(5, "olds").unwrap();
    device
        .call(&loaded, "bits")
        .arg(value)
        .arg(olds)
        .run()
        .unwrap();
    let stored = 2.5f32.to_bits();
    let expected = [0x1234_5678, 0x1234_0000, 0x1234_00ff, 0x1234_00f0, stored];
    assert_eq!(device.download(olds).unwrap(), expected);
    assert_eq!(device.download(value).unwrap(), [stored]);
}

#[test]
fn spaces_sizes_clock_and_capabilities_are_told() {
    let (device, loaded) = device();
    let to = device.zeros::<u32>(8, "to").unwrap();
    let call = device.call(&loaded, "environment").dynamic_shared_bytes(96);
    call.arg(to).run().unwrap();
    let found = device.download(to).unwrap();
    assert_eq!(found[..4], [1, 0, 1, 96]);
    assert!((128 + 96..1024).contains(&found[4]), "{}", found[4]);
    assert_eq!(found[5..], [1, 1, 0], "sm_80 is above 7.5 and below 9.0");
}

#[test]
fn a_kernel_may_have_its_modules_name() {
    let (device, loaded) = device();
    let numbers: Vec<u128> = (0..5).map(|i| 1 << (30 * i)).collect();
    let from = device.upload(&numbers, "from").unwrap();
    let to = device.zeros::<u128>(5, "to").unwrap();
    let call = device.call(&loaded, "reversed").block(32);
    call.arg(from).arg(5u64).arg(to).run().unwrap();
    assert!(device.download(to).unwrap().iter().eq(numbers.iter().rev()));
    // On the host it is a function.
    let _: unsafe fn(&[u128], *mut u128) = rust_cuda_kernels::reversed;
}

#[test]
fn floats_have_the_devices_functions() {
    let (device, loaded) = device();
    let from = device.upload(&[5.0f32, -5.0, 8.0], "from").unwrap();
    let to = device.zeros::<f32>(3, "to").unwrap();
    let call = device.call(&loaded, "halves").block(32);
    call.arg(from).arg(3u64).arg(to).run().unwrap();
    assert_eq!(device.download(to).unwrap(), [2.0, -3.0, 4.0]);
}

/// A package of kernels on Rust-CUDA's names, with these sources.
struct Project(tempfile::TempDir);

impl Project {
    fn new(kernels: &str) -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        let library = package().join("../../crates/rust_cuda_std");
        let manifest = format!(
            "[workspace]\n[package]\nname = \"kernels\"\nedition = \"2024\"\n[dependencies]\n\
             cuda_std = {{ package = \"lockstep-rust-cuda-std\", path = {library:?} }}\n\
             helper = {{ path = \"helper\" }}\n"
        );
        project.write("Cargo.toml", &manifest);
        project.write("src/lib.rs", kernels);
        project.write(
            "helper/Cargo.toml",
            "[package]\nname = \"helper\"\nedition = \"2024\"\n",
        );
        project.write("helper/src/lib.rs", HELPER);
        // The versions that the repository was tested with; these are compiled already.
        let lock = package().join("../../Cargo.lock");
        std::fs::copy(lock, project.path().join("Cargo.lock")).unwrap();
        project
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn builder(&self) -> CudaBuilder {
        CudaBuilder::new(self.path())
            .target_dir(target_dir())
            .copy_to(self.path().join("kernels.ptx"))
    }

    /// The PTX that a builder makes.
    fn built(&self, builder: CudaBuilder) -> String {
        let built = builder.build().unwrap_or_else(|error| panic!("{error}"));
        std::fs::read_to_string(built.ptx_path).unwrap()
    }
}

/// A library that says nothing of `no_std`.
const HELPER: &str = "pub fn scaled(x: f32, y: f32) -> f32 {\n    x * 3.0 + y\n}\n";

const SCALES: &str = "use cuda_std::prelude::*;\n\
    #[kernel]\npub unsafe fn scales(x: f32, y: f32, to: *mut f32) {\n\
    \x20   unsafe { *to = helper::scaled(x, y) };\n}\n";

#[test]
fn the_builders_methods_do_what_they_say() {
    let project = Project::new(SCALES);
    let plain = project.built(project.builder());
    assert!(
        plain.contains("mul.rn.f32") && !plain.contains("fma.rn.f32"),
        "{plain}"
    );
    assert!(plain.contains(".loc"), "{plain}");

    let ir = project.path().join("module.ll");
    // What leaves the libraries as they are compiled already.
    let changed = project.builder().arch(NvvmArch::Compute80).ftz(false);
    let changed = changed.debug(DebugInfo::LineTables).fma_contraction(true);
    let ptx = project.built(changed.final_module_path(&ir));
    assert!(ptx.contains(".target sm_80"), "{ptx}");
    assert!(ptx.contains("fma.rn.f32") && ptx.contains(".loc"), "{ptx}");
    let ir = std::fs::read_to_string(ir).unwrap();
    assert!(ir.contains("define") && ir.contains("@scales("), "{ir}");
}

#[test]
fn wrong_uses_of_shared_statics_are_refused() {
    let kernel = |statics: &str, body: &str| {
        format!(
            "use core::mem::MaybeUninit;\nuse cuda_std::prelude::*;\nuse cuda_std::address_space;\n\
             #[kernel]\npub unsafe fn fills(to: *mut u32) {{\n{statics}\nunsafe {{ {body} }}\n}}\n"
        )
    };
    let tile = "#[address_space(shared)]\n\
        static mut TILE: [MaybeUninit<u32>; 4] = [MaybeUninit::uninit(); 4];";
    for (statics, body, words) in [
        (
            tile,
            "*to = *(&raw mut TILE).cast::<u32>()",
            "the address of `TILE`, which is `#[address_space(shared)]`",
        ),
        (
            "#[address_space(shared)]\nstatic mut TILE: [u32; 4] = [0; 4];",
            "*to = TILE[0]",
            "a static in shared memory cannot be a `u32`",
        ),
        (
            "#[address_space(shared)]\nstatic TILE: MaybeUninit<u32> = MaybeUninit::uninit();",
            "*to = 0",
            "so it has to be written: `static mut`",
        ),
        (
            "#[address_space(local)]\nstatic mut OWN: u32 = 0;",
            "*to = 0",
            "a static cannot be in local memory",
        ),
    ] {
        let project = Project::new(&kernel(statics, body));
        let error = project.builder().build().expect_err(words).to_string();
        assert!(error.contains(words), "`{words}` is missing in: {error}");
    }
    let pointer =
        "let tile = (*(&raw mut TILE)).as_mut_ptr().cast::<u32>(); *tile = 7; *to = *tile";
    let project = Project::new(&kernel(tile, pointer));
    let ptx = project.built(project.builder());
    assert!(ptx.contains("st.shared"), "{ptx}");
}
