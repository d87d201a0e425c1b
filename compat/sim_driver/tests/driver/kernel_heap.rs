//! Memory that kernels allocate themselves, with `malloc`.

use std::ffi::CString;

use sim_driver::api::context::*;
use sim_driver::api::copy::*;
use sim_driver::api::memory::*;

use crate::client::{Client, load_module};
use crate::under_test::{fails, got, ok};

const HEAP_BYTES: u32 = 2;

/// `take(out, n_bytes)`: each thread stores the result of `malloc` in `out`, and its own number in
/// that memory. `back(out)`: each thread stores what is there in `out`, and frees it.
const KERNELS: &str = "
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 retval) malloc(.param .b64 n_bytes);
.extern .func free(.param .b64 address);
.visible .entry take(.param .u64 out, .param .u64 n_bytes)
{
	.reg .pred %p;
	.reg .b32 %r;
	.reg .b64 %out, %n;
	ld.param.u64 %out, [out];
	ld.param.u64 %n, [n_bytes];
	mov.u32 %r, %tid.x;
	mad.wide.u32 %out, %r, 8, %out;
	{
	.param .b64 n_bytes;
	.param .b64 retval;
	st.param.b64 [n_bytes], %n;
	call.uni (retval), malloc, (n_bytes);
	ld.param.b64 %n, [retval];
	}
	st.global.u64 [%out], %n;
	setp.ne.u64 %p, %n, 0;
	@%p st.u32 [%n], %r;
	ret;
}
.visible .entry back(.param .u64 out)
{
	.reg .b32 %r;
	.reg .b64 %out, %at;
	ld.param.u64 %out, [out];
	mov.u32 %r, %tid.x;
	mad.wide.u32 %out, %r, 8, %out;
	ld.global.u64 %at, [%out];
	ld.u32 %r, [%at];
	st.global.v2.u32 [%out], {%r, 0};
	{
	.param .b64 address;
	st.param.b64 [address], %at;
	call.uni free, (address);
	}
	ret;
}";

/// A context with these kernels as its module.
fn client(n_bytes: Option<usize>) -> Client {
    let mut client = Client::new();
    let text = CString::new(KERNELS).expect("no nul");
    if let Some(n_bytes) = n_bytes {
        ok!(cuCtxSetLimit(HEAP_BYTES, n_bytes));
    }
    client.module = load_module(&text);
    client
}

fn addresses(client: &Client, out: u64, n: usize) -> Vec<u64> {
    let words = client.download(out, 2 * n);
    let pairs = words.chunks_exact(2);
    pairs
        .map(|pair| u64::from(pair[1]) << 32 | u64::from(pair[0]))
        .collect()
}

#[test]
fn memory_is_taken_and_freed_by_different_launches() {
    let client = client(None);
    let out = client.alloc(8 * 64);
    for _ in 0..3 {
        client.launch("take", 1, 64, &[&out, &24_u64]);
        let mut taken = addresses(&client, out, 64);
        assert!(
            taken
                .iter()
                .all(|&address| address != 0 && address % 8 == 0)
        );
        client.launch("back", 1, 64, &[&out]);
        let numbers = addresses(&client, out, 64);
        assert_eq!(numbers, (0..64).collect::<Vec<u64>>());
        taken.sort_unstable();
        assert!(taken.windows(2).all(|pair| pair[0] + 24 <= pair[1]));
    }
}

#[test]
fn the_heap_is_as_large_as_its_context_says() {
    let client = client(Some(64 << 20));
    let out = client.alloc(8 * 64);
    let limit = got!(limit of cuCtxGetLimit(&mut limit, HEAP_BYTES));
    assert!(limit >= 64 << 20, "{limit}");
    let n_bytes = 1_u64 << 20;
    client.launch("take", 1, 64, &[&out, &n_bytes]);
    let n_given = |out| {
        let given = addresses(&client, out, 64).into_iter();
        given.filter(|&address| address != 0).count()
    };
    assert!(n_given(out) >= 48, "{}", n_given(out));
    client.launch("take", 1, 64, &[&out, &n_bytes]);
    assert!(n_given(out) <= 16, "{}", n_given(out));
    fails!(cuCtxSetLimit(HEAP_BYTES, 1 << 20) with INVALID_VALUE);
}

#[test]
fn the_host_cannot_use_what_kernels_take() {
    let client = client(None);
    let out = client.alloc(8);
    client.launch("take", 1, 1, &[&out, &64_u64]);
    let address = addresses(&client, out, 1)[0];
    let mut bytes = [0_u8; 4];
    fails!(cuMemcpyDtoH_v2(bytes.as_mut_ptr() as u64, address, 4) with INVALID_VALUE);
    fails!(cuMemFree_v2(address) with INVALID_VALUE);
}
