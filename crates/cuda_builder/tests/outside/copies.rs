//! Two copies of a project that share a target folder, as git worktrees may. Both are written before
//! either is built: the times of their files tell cargo nothing.

use crate::{Project, target};
use cuda_builder::toolchain::Progress;
use cuda_builder::{Arch, KernelCrate};
use std::fs;
use std::sync::{Mutex, PoisonError};

/// A workspace whose kernel stores a number of a second package plus one of its own.
fn workspace(own: u32, of_helper: u32) -> Project {
    let project = Project::new();
    project.write(
        "Cargo.toml",
        "[workspace]\nresolver = \"3\"\nmembers = [\"kernels\", \"app\", \"helper\"]\n",
    );
    project.write(
        "helper/Cargo.toml",
        "[package]\nname = \"copied-helper\"\nedition = \"2024\"\n",
    );
    project.write(
        "helper/src/lib.rs",
        &format!("#![no_std]\n/// A number.\npub fn number() -> u32 {{\n    {of_helper}\n}}\n"),
    );
    project.write(
        "kernels/Cargo.toml",
        "[package]\nname = \"copied-kernels\"\nedition = \"2024\"\n\
         [dependencies]\ncopied-helper = { path = \"../helper\" }\n\
         cuda_std = { package = \"lockstep-cuda-std\", path = \"CRATES/cuda_std\" }\n",
    );
    project.write(
        "kernels/src/lib.rs",
        &format!(
            "//! A kernel.\nuse cuda_std::prelude::*;\n/// Stores.\n///\n/// # Safety\n///\n\
             /// `out` has a number.\n#[kernel]\npub unsafe fn put(out: *mut u32) {{\n    \
             *out = copied_helper::number() + {own};\n}}\n"
        ),
    );
    project.write(
        "app/Cargo.toml",
        "[package]\nname = \"copied-app\"\nedition = \"2024\"\n\
         [dependencies]\ncopied-kernels = { path = \"../kernels\" }\n\
         [build-dependencies]\ncuda_builder = { package = \"lockstep-cuda-builder\", path = \"CRATES/cuda_builder\" }\n",
    );
    project.write(
        "app/build.rs",
        "fn main() {\n    cuda_builder::CudaBuilder::new(\"../kernels\").build_or_exit();\n}\n",
    );
    project.write(
        "app/src/main.rs",
        "fn main() {\n    println!(\"{}\", include_str!(env!(\"KERNELS_PTX\")));\n}\n",
    );
    project
}

/// The number that the kernel of some PTX stores.
fn stored(ptx: &str) -> &str {
    let mut words = ptx.lines().filter(|line| line.contains("st.global"));
    let store = words.next().unwrap_or_else(|| panic!("{ptx}"));
    store
        .rsplit([' ', ';'])
        .find(|word| !word.is_empty())
        .unwrap()
}

/// Held by the tests that use [`workspace`]: the target folder remembers the last copy.
static IN_TURN: Mutex<()> = Mutex::new(());

#[test]
fn each_copy_of_a_workspace_has_its_own_kernels() {
    let _turn = IN_TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let copies = [workspace(1, 100), workspace(2, 200)];
    let turns = [(0, "101"), (1, "202"), (0, "101"), (1, "202")];
    for (turn, (copy, number)) in turns.into_iter().enumerate() {
        let (printed, said) = copies[copy].build_and_run().unwrap();
        assert_eq!(stored(&printed), number, "{printed}");
        let other = copies[1 - copy].0.path().canonicalize().unwrap();
        let warning = format!("this target folder was last used for {}", other.display());
        // Before, the folder may have been that of an earlier test.
        let is_others = turn >= copies.len();
        assert!(!is_others || said.contains(&warning), "{said}");
        assert!(!is_others || said.contains("kernels/src/lib.rs"), "{said}");
        let (_, said) = copies[copy].build_and_run().unwrap();
        assert!(!said.contains("Compiling"), "nothing has changed: {said}");
    }
}

#[test]
fn each_copy_of_a_package_is_compiled() {
    let package = |number: u32| {
        let project = Project::new();
        project.write(
            "Cargo.toml",
            "[package]\nname = \"copied-single\"\nedition = \"2024\"\n\
             [dependencies]\ncuda_std = { package = \"lockstep-cuda-std\", path = \"CRATES/cuda_std\" }\n\
             [build-dependencies]\ncuda_builder = { package = \"lockstep-cuda-builder\", path = \"CRATES/cuda_builder\" }\n",
        );
        project.write(
            "build.rs",
            "fn main() {\n    cuda_builder::CudaBuilder::new(\".\").build_or_exit();\n}\n",
        );
        project.write(
            "src/lib.rs",
            &format!(
                "//! A kernel.\nuse cuda_std::prelude::*;\n/// Both sides' number.\n\
                 pub const NUMBER: u32 = {number};\n/// Stores.\n///\n/// # Safety\n///\n\
                 /// `out` has a number.\n#[kernel]\npub unsafe fn put(out: *mut u32) {{\n    \
                 *out = NUMBER;\n}}\n"
            ),
        );
        project.write(
            "src/main.rs",
            "fn main() {\n    println!(\"{}\", copied_single::NUMBER);\n    \
             println!(\"{}\", include_str!(env!(\"KERNELS_PTX\")));\n}\n",
        );
        project
    };
    let copies = [package(11), package(22)];
    for (copy, number) in [(1, "22"), (0, "11"), (1, "22"), (0, "11")] {
        let (printed, said) = copies[copy].build_and_run().unwrap();
        assert_eq!(printed.lines().next(), Some(number), "{printed}");
        assert_eq!(stored(&printed), number, "{printed}");
        assert!(!said.contains("warning"), "{said}");
    }
}

/// Counts steps.
#[derive(Default)]
struct Steps(Mutex<usize>);

impl Progress for Steps {
    fn step(&self, _: &str) {
        *self.0.lock().unwrap() += 1;
    }

    fn bytes(&self, _: u64, _: u64) {}
}

#[test]
fn each_copy_of_a_kernel_crate_keeps_its_ptx() {
    let _turn = IN_TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let copies = [workspace(3, 300), workspace(4, 400)];
    let steps = Steps::default();
    let compiled = |copy: usize| {
        let kernels = copies[copy].0.path().join("kernels");
        let kernels = KernelCrate::open(kernels, target().join("lockstep-kernels")).unwrap();
        let ptx = kernels.ptx(None, &Arch::new("sm_80"), &steps).unwrap();
        stored(&fs::read_to_string(ptx).unwrap()).to_owned()
    };
    assert_eq!([0, 1].map(&compiled), ["303", "404"]);
    let before = *steps.0.lock().unwrap();
    assert_eq!([0, 1, 0].map(&compiled), ["303", "404", "303"]);
    assert_eq!(*steps.0.lock().unwrap(), before, "nothing has changed");

    copies[0].write(
        "helper/src/lib.rs",
        "#![no_std]\npub fn number() -> u32 {\n    5000\n}\n",
    );
    assert_eq!([1, 0, 1].map(&compiled), ["404", "5003", "404"]);
}
