//! Lessons reach a GPU through `cust`: our own declarations of what every launch needs are in one
//! file, which is not compiled if `lockstep`'s feature `cust` is on.

use crate::repository::{rust_files, text};

/// Our own objects, in place of `cust`'s.
const OWN: &str = "crates/lockstep/src/driver/objects/own.rs";

/// What `cust` has: contexts, streams, events, modules, memory, and launches without attributes.
const OF_CUST: [&str; 14] = [
    "cuCtxSetCurrent",
    "cuDevicePrimaryCtxRetain",
    "cuStreamCreateWithPriority",
    "cuStreamSynchronize",
    "cuEventCreate",
    "cuEventRecord",
    "cuEventElapsedTime",
    "cuModuleLoadData",
    "cuModuleGetFunction",
    "cuLaunchKernel",
    "cuMemAlloc_v2",
    "cuMemcpyHtoD_v2",
    "cuMemcpyDtoH_v2",
    "cuMemsetD8Async",
];

/// The functions of `cust`'s that a text declares itself, as the driver's.
fn declared(text: &str) -> Vec<&'static str> {
    let mut blocks = text.split("unsafe extern \"C\" {").skip(1);
    let mut found = Vec::new();
    for block in &mut blocks {
        let block = block.split("\n}").next().unwrap_or(block);
        let is_declared = |name: &&str| block.contains(&format!("fn {name}("));
        found.extend(OF_CUST.into_iter().filter(is_declared));
    }
    found
}

#[test]
fn launches_of_lessons_are_those_of_cust() {
    let all = declared(&text(OWN));
    assert_eq!(all.len(), OF_CUST.len(), "{OWN} is our own: {all:?}");
    let users = "host/ cli/ xtask/ crates/lockstep/src/ gpu-kernels/";
    let is_user = |file: &str| users.split(' ').any(|user| file.starts_with(user));
    let aside: Vec<String> = rust_files()
        .into_iter()
        .filter(|file| is_user(file) && file != OWN)
        .flat_map(|file| {
            let found = declared(&text(&file)).into_iter();
            found.map(move |name| format!("{file} declares {name}: use `crate::driver`'s objects"))
        })
        .collect();
    assert!(aside.is_empty(), "{aside:#?}");
    let manifest = text("host/Cargo.toml");
    let mut lines = manifest.lines();
    let line = lines.find(|line| line.starts_with("lockstep = "));
    let has_feature = line.is_some_and(|line| line.contains("\"cust\""));
    assert!(has_feature, "{line:?}");
}

#[test]
fn a_declaration_aside_is_found() {
    let text = "unsafe extern \"C\" {\n    fn cuLaunchKernel(\n    );\n}\nfn cuMemAlloc_v2() {}";
    assert_eq!(declared(text), ["cuLaunchKernel"]);
    let other = "unsafe extern \"C\" {\n fn cuLaunchKernelEx();\n}";
    assert_eq!(declared(other), [""; 0]);
}
