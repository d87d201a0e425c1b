//! Programs that must not compile, and the compiler's messages: launches whose arguments do not
//! match, kernels that cannot be kernels, operations that PTX lacks, swizzles that are not valid.
//!
//! After a deliberate change of a message, `TRYBUILD=overwrite cargo test -p
//! gpu-kernels --test compile_fail` rewrites the `.stderr` files; read them.

#[test]
fn what_must_not_compile_does_not() {
    let cases = trybuild::TestCases::new();
    // The counterpart: everything right. It also makes trybuild build instead
    // of check, without which errors in constants do not appear.
    cases.pass("tests/compile_pass/*.rs");
    cases.compile_fail("tests/compile_fail/*.rs");
}
