//! Programs that must not compile, and the compiler's messages: launches whose arguments do not
//! match, kernels that cannot be kernels, operations that PTX lacks, swizzles that are not valid.
//!
//! After a deliberate change of a message, `TRYBUILD=overwrite cargo test -p
//! gpu-kernels --test compile_fail` rewrites the `.stderr` files; read them.

use std::path::Path;
use std::process::Command;

#[test]
fn what_must_not_compile_does_not() {
    let cases = trybuild::TestCases::new();
    // The counterpart: everything right. It also makes trybuild build instead
    // of check, without which errors in constants do not appear.
    cases.pass("tests/compile_pass/*.rs");
    cases.compile_fail("tests/compile_fail/*.rs");
    if has_sources_of_core() {
        println!("not compared, because rustc shows lines of `core`: tests/compile_fail/in_core");
    } else {
        cases.compile_fail("tests/compile_fail/in_core/*.rs");
    }
}

/// Whether rustup's component `rust-src` is there, which rust-analyzer brings along: then messages
/// about `core`'s macros and functions have its lines in them, whose numbers change with each version.
fn has_sources_of_core() -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let told = Command::new(rustc).args(["--print", "sysroot"]).output();
    let sysroot = String::from_utf8(told.expect("rustc runs").stdout).expect("a path in UTF-8");
    let sources = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/core");
    sources.is_dir()
}
