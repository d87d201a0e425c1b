//! Programs that must not compile, and the compiler's messages: launches whose arguments do not
//! match, kernels that cannot be kernels, operations that PTX has not, swizzles that are none.
//!
//! After a deliberate change of a message, `TRYBUILD=overwrite cargo test -p
//! gpu-kernels --test compile_fail` writes the `.stderr` files anew; read them.

#[test]
fn what_must_not_compile_does_not() {
    let cases = trybuild::TestCases::new();
    // The counterpart: everything right. It also makes trybuild build, and not
    // only check, which errors in constants need.
    cases.pass("tests/compile_pass/*.rs");
    cases.compile_fail("tests/compile_fail/*.rs");
}
