//! Device functions: frames, parameters, return values, recursion, pointers.

use common::{Bench, kernel, launch, run};

/// A module with functions before the kernel.
fn module(functions: &str, body: &str) -> String {
    format!("{functions}\n{}", kernel(body))
}

const ADD_MUL: &str = "
.func (.param .b64 out) add_mul(.param .b64 a, .param .b32 b)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [a];
	ld.param.u32 %r1, [b];
	mul.wide.u32 %rd2, %r1, 10;
	add.u64 %rd3, %rd1, %rd2;
	st.param.b64 [out], %rd3;
	ret;
}
";

#[test]
fn arguments_and_results_are_per_lane() {
    let body = "
	cvt.u64.u32 %rd1, %me;
	{
	.param .b64 p0;
	.param .b32 p1;
	.param .b64 result;
	st.param.b64 [p0], %rd1;
	st.param.b32 [p1], %me;
	call.uni (result), add_mul, (p0, p1);
	ld.param.b64 %rd2, [result];
	}
	st.global.u64 [%slot], %rd2;";
    let out = run(&module(ADD_MUL, body), 64, |call| call.block(64));
    for (tid, got) in out.into_iter().enumerate() {
        assert_eq!(got, 11 * tid as u64);
    }
}

#[test]
fn a_call_in_divergent_code() {
    let body = "
	mov.u64 %rd2, 5;
	and.b32 %r1, %me, 1;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra JOIN;
	cvt.u64.u32 %rd1, %me;
	{
	.param .b64 p0;
	.param .b32 p1;
	.param .b64 result;
	st.param.b64 [p0], %rd1;
	st.param.b32 [p1], 3;
	call.uni (result), add_mul, (p0, p1);
	ld.param.b64 %rd2, [result];
	}
JOIN:
	st.global.u64 [%slot], %rd2;";
    let (out, report) = launch(&module(ADD_MUL, body), &[0; 32], |call| call.block(32)).unwrap();
    for (tid, got) in out.into_iter().enumerate() {
        assert_eq!(got, if tid % 2 == 1 { tid as u64 + 30 } else { 5 });
    }
    let store = report
        .instructions()
        .into_iter()
        .find(|i| i.opcode == "st.global.u64")
        .unwrap();
    assert_eq!(store.executions, 1, "the lanes met again");
}

#[test]
fn recursion_and_divergent_returns() {
    // fib(tid % 12), by the book: lanes return at different depths.
    let functions = "
.func (.param .b64 out) fib(.param .b64 n)
{
	.reg .pred %p<2>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [n];
	setp.lt.u64 %p1, %rd1, 2;
	@!%p1 bra DEEPER;
	st.param.b64 [out], %rd1;
	ret;
DEEPER:
	sub.u64 %rd2, %rd1, 1;
	sub.u64 %rd3, %rd1, 2;
	{
	.param .b64 p; .param .b64 r;
	st.param.b64 [p], %rd2;
	call (r), fib, (p);
	ld.param.b64 %rd4, [r];
	}
	{
	.param .b64 p; .param .b64 r;
	st.param.b64 [p], %rd3;
	call (r), fib, (p);
	ld.param.b64 %rd5, [r];
	}
	add.u64 %rd6, %rd4, %rd5;
	st.param.b64 [out], %rd6;
	ret;
}
";
    let body = "
	rem.u32 %r1, %me, 12;
	cvt.u64.u32 %rd1, %r1;
	{
	.param .b64 p; .param .b64 r;
	st.param.b64 [p], %rd1;
	call (r), fib, (p);
	ld.param.b64 %rd2, [r];
	}
	st.global.u64 [%slot], %rd2;";
    let out = run(&module(functions, body), 64, |call| call.block(64));
    let fib = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89];
    for (tid, got) in out.into_iter().enumerate() {
        assert_eq!(got, fib[tid % 12], "thread {tid}");
    }
}

#[test]
fn calls_through_pointers_that_differ_by_lane() {
    let functions = "
.func (.param .b64 out) one(.param .b64 a)
{
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [a];
	add.u64 %rd2, %rd1, 1;
	st.param.b64 [out], %rd2;
	ret;
}
.func (.param .b64 out) two(.param .b64 a)
{
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [a];
	mul.lo.u64 %rd2, %rd1, 2;
	st.param.b64 [out], %rd2;
	ret;
}
";
    let body = "
	mov.u64 %rd1, one;
	mov.u64 %rd2, two;
	and.b32 %r1, %me, 1;
	setp.eq.u32 %p1, %r1, 0;
	selp.b64 %rd3, %rd1, %rd2, %p1;
	cvt.u64.u32 %rd4, %me;
	// Once, however many calls are made of the one below.
	red.global.add.u64 [%slot], 1000;
	{
	.param .b64 p; .param .b64 r;
	st.param.b64 [p], %rd4;
	proto: .callprototype (.param .b64 _) _ (.param .b64 _);
	call (r), %rd3, (p), proto;
	ld.param.b64 %rd5, [r];
	}
	red.global.add.u64 [%slot], %rd5;";
    let (out, report) = launch(&module(functions, body), &[0; 32], |call| call.block(32)).unwrap();
    for (tid, got) in out.into_iter().enumerate() {
        let tid = tid as u64;
        assert_eq!(
            got - 1000,
            if tid.is_multiple_of(2) {
                tid + 1
            } else {
                2 * tid
            }
        );
    }
    let is_sum = |i: &ptx_sim::InstructionCounts| i.opcode == "red.global.add.u64";
    let sums: Vec<u64> = report
        .instructions()
        .into_iter()
        .filter(is_sum)
        .map(|i| i.executions)
        .collect();
    assert_eq!(sums, [1, 1], "the lanes met again");
}

/// Objects with a table of functions are often made by one kernel and used by others.
#[test]
fn a_pointer_that_another_kernel_made_is_called() {
    let function = |name: &str, factor: u32| {
        format!(
            ".func (.param .b32 out) {name}(.param .b32 a)
{{
	.reg .b32 %r<2>;
	ld.param.u32 %r0, [a];
	mul.lo.u32 %r1, %r0, {factor};
	st.param.b32 [out], %r1;
	ret;
}}
"
        )
    };
    let text = format!(
        "{}{}
.global .align 8 .u64 table[1] = {{thrice}};
.visible .entry make(.param .u64 at)
{{
	.reg .b64 %rd<3>;
	ld.param.u64 %rd0, [at];
	mov.u64 %rd1, twice;
	st.global.u64 [%rd0], %rd1;
	ld.global.u64 %rd2, [table];
	st.global.u64 [%rd0+8], %rd2;
	ret;
}}
.visible .entry use(.param .u64 at)
{{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd0, [at];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd1, %r0, 8;
	add.u64 %rd0, %rd0, %rd1;
	ld.global.u64 %rd2, [%rd0];
	{{
	.param .b32 p; .param .b32 r;
	st.param.b32 [p], 100;
	proto: .callprototype (.param .b32 _) _ (.param .b32 _);
	call (r), %rd2, (p), proto;
	ld.param.b32 %r1, [r];
	}}
	cvt.u64.u32 %rd3, %r1;
	st.global.u64 [%rd0], %rd3;
	ret;
}}
",
        function("twice", 2),
        function("thrice", 3)
    );
    let bench = Bench::new(&text);
    let objects = bench.zeros::<u64>(2, "objects");
    let call = |kernel| bench.call(kernel).arg(objects).check(true);
    call("make").run().expect("no fault");
    call("use").block(2).run().expect("no fault");
    assert_eq!(bench.download(objects), [200, 300]);
}

#[test]
fn structs_by_value_and_their_addresses() {
    // The callee reads the second half of a 16-byte struct by its address.
    let functions = "
.func (.param .b64 out) second(.param .align 16 .b8 s[16])
{
	.reg .b64 %rd<4>;
	mov.b64 %rd1, s;
	ld.param.b64 %rd2, [%rd1+8];
	st.param.b64 [out], %rd2;
	ret;
}
";
    let body = "
	cvt.u64.u32 %rd1, %me;
	add.u64 %rd2, %rd1, 1000;
	{
	.param .align 16 .b8 p[16];
	.param .b64 r;
	st.param.v2.b64 [p], {%rd1, %rd2};
	call (r), second, (p);
	ld.param.b64 %rd3, [r];
	}
	st.global.u64 [%slot], %rd3;";
    let out = run(&module(functions, body), 32, |call| call.block(32));
    for (tid, got) in out.into_iter().enumerate() {
        assert_eq!(got, 1000 + tid as u64);
    }
}

const VPRINTF: &str = "
.extern .func (.param .b32 out) vprintf(.param .b64 format, .param .b64 args);
.global .align 1 .b8 text[12] = {116, 105, 100, 32, 37, 100, 33, 37, 37, 10, 0, 0};
";

/// Each thread prints its number.
const PRINTS: &str = "
	.local .align 8 .b8 args[8];
	.reg .b64 %SP;
	mov.u64 %SP, args;
	cvta.local.u64 %SP, %SP;
	st.u32 [%SP], %me;
	mov.u64 %rd1, text;
	cvta.global.u64 %rd2, %rd1;
	{
	.param .b64 p0; .param .b64 p1; .param .b32 r;
	st.param.b64 [p0], %rd2;
	st.param.b64 [p1], %SP;
	call.uni (r), vprintf, (p0, p1);
	}";

#[test]
fn what_threads_print() {
    let ptx = module(VPRINTF, PRINTS);
    let (_, report) = launch(&ptx, &[0; 2], |call| call.block(2)).unwrap();
    assert_eq!(report.printed, ["tid 0!%\n", "tid 1!%\n"]);
}

#[test]
fn what_threads_print_before_a_launch_fails() {
    let body = format!("{PRINTS}\n\tsetp.eq.u32 %p1, %me, 1;\n\t@%p1 trap;");
    let bench = Bench::new(&module(VPRINTF, &body));
    let buffer = bench.upload(&[0u64; 3], "buffer");
    for check in [false, true] {
        let call = bench.call("k").arg(buffer).block(3).check(check);
        let error = call.run().expect_err("a trap").to_string();
        assert!(
            error.contains("; its thread last printed: tid 1!%\n"),
            "{error}"
        );
        let printed = bench.device.printed_before_failure();
        assert_eq!(printed, ["tid 0!%\n", "tid 1!%\n", "tid 2!%\n"]);
        assert!(bench.device.printed_before_failure().is_empty());
    }
}

#[test]
fn lanes_that_come_to_a_call_in_turns_vote_in_the_function() {
    // Lanes 0 to 7 come to the call at once, 8 to 23 after a detour, the others not at all:
    // they all meet again only after the call.
    let functions = "
.func (.param .b32 out) present(.param .b32 members)
{
	.reg .b32 %r<3>;
	ld.param.b32 %r1, [members];
	vote.sync.ballot.b32 %r2, 1, %r1;
	st.param.b32 [out], %r2;
	ret;
}
";
    let body = "
	mov.u32 %r1, 0;
	setp.lt.u32 %p1, %me, 8;
	@%p1 bra CALL;
	setp.ge.u32 %p2, %me, 24;
	@%p2 bra AFTER;
CALL:
	{
	.param .b32 p; .param .b32 r;
	st.param.b32 [p], 0x00ffffff;
	call (r), present, (p);
	ld.param.b32 %r1, [r];
	}
AFTER:
	cvt.u64.u32 %rd1, %r1;
	st.global.u64 [%slot], %rd1;";
    let out = run(&module(functions, body), 32, |call| call.block(32));
    for (tid, got) in out.into_iter().enumerate() {
        assert_eq!(got, if tid < 24 { 0x00ff_ffff } else { 0 }, "thread {tid}");
    }
}
