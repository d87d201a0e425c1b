//! Values as text.

use debugger::Debugger;
use debugger::sources::Sources;
use ptx_sim::{Device, Module};

const COPIES: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .f32 %f<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3];
    st.global.f32 [%rd3], %f1;
    ret;
}
";

#[test]
fn floats_have_the_digits_of_their_type_in_all_lanes() {
    let device = Device::new();
    let module = Module::parse(COPIES).unwrap_or_else(|error| panic!("{error}"));
    let loaded = device.load(&module).expect("a module");
    let mut values = [0_f32; 32];
    (values[0], values[1]) = (0.1, 0.7);
    let out = device.upload(&values, "out").expect("room");
    let debugged = device
        .call(&loaded, "k")
        .block(32)
        .arg(out)
        .debug(|session| {
            let debugger = Debugger::new(session, Sources::new([]));
            assert_eq!(debugger.print("out[lane]").as_deref(), Ok("0.1"));
            assert_eq!(debugger.print_in("out[lane]", 1).as_deref(), Ok("0.7"));
            assert!(debugger.print_in("out[32 + lane]", 1).is_err());
        });
    assert!(debugged.is_ok());
}
