//! Linking: a kernel in one text, and what it calls in another.

use cust::link::Linker;
use cust::memory::DeviceBuffer;
use cust::module::Module;

use crate::{Program, values};

const CALLER: &str = "
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 result) twice(.param .b32 value);
.visible .entry double_all(.param .u64 data)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [data];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd1, %rd1, %rd2;
	ld.global.u32 %r1, [%rd1];
	{
	.param .b32 value;
	.param .b32 result;
	st.param.b32 [value], %r1;
	call (result), twice, (value);
	ld.param.b32 %r2, [result];
	}
	st.global.u32 [%rd1], %r2;
	ret;
}
";

const CALLED: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b32 result) twice(.param .b32 value)
{
	.reg .b32 %r<2>;
	ld.param.b32 %r1, [value];
	add.u32 %r1, %r1, %r1;
	st.param.b32 [result], %r1;
	ret;
}
";

/// Adds a text. Drivers look for its null byte; `cust` passes it on as it is.
fn add(linker: &mut Linker, text: &str) {
    linker.add_ptx(format!("{text}\0")).expect("it is right");
}

#[test]
fn two_texts_become_one_module() {
    let program = Program::new();
    let mut linker = Linker::new().expect("a linker");
    add(&mut linker, CALLER);
    add(&mut linker, CALLED);
    let image = linker.complete().expect("nothing is missing");
    let module = Module::from_cubin(&image, &[]).expect("it loads");
    let kernel = module.get_function("double_all").expect("it is there");
    let data = DeviceBuffer::from_slice(&[1_u32, 2, 3, 4]).expect("room");
    let stream = &program.stream;
    // SAFETY: there are as many elements as threads.
    unsafe { cust::launch!(kernel<<<1, 4, 0, stream>>>(data.as_device_ptr())) }.expect("launched");
    stream.synchronize().expect("done");
    assert_eq!(values(&data), [2, 4, 6, 8]);
}

#[test]
fn what_is_missing_is_an_error() {
    let _program = Program::new();
    let mut linker = Linker::new().expect("a linker");
    add(&mut linker, CALLER);
    assert!(linker.complete().is_err());
}
