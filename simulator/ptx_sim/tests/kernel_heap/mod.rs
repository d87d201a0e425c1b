//! Memory that kernels allocate by `malloc` and release by `free`.

use common::{Bench, module};
use ptx_sim::{Buffer, Call, DeviceConfig, Launch, LaunchOptions};

/// `take(out, n_bytes)`: each thread takes so much, writes its number to all words of it,
/// and its address to `out`. `sum(out)`: each thread puts the sum of the first two words at
/// the address in `out` there. `give(out)`: each thread frees the address in `out`.
/// `churn(out, n)`: each thread takes and frees again `n` times, and adds up what it reads.
const KERNELS: &str = "
.extern .func (.param .b64 retval) malloc(.param .b64 n_bytes);
.extern .func free(.param .b64 address);

.func (.reg .b64 %taken) take_bytes(.reg .b64 %n_bytes)
{
	{
	.param .b64 n;
	.param .b64 retval;
	st.param.b64 [n], %n_bytes;
	call (retval), malloc, (n);
	ld.param.b64 %taken, [retval];
	}
	ret;
}
.visible .entry take(.param .u64 out, .param .u64 n_bytes)
{
	.reg .pred %p;
	.reg .b32 %me;
	.reg .b64 %out, %n, %taken, %at, %end;
	ld.param.u64 %out, [out];
	ld.param.u64 %n, [n_bytes];
	mov.u32 %me, %ctaid.x;
	mad.lo.u32 %me, %me, 64, 0;
	.reg .b32 %thread;
	mov.u32 %thread, %tid.x;
	add.u32 %me, %me, %thread;
	mad.wide.u32 %out, %me, 8, %out;
	call (%taken), take_bytes, (%n);
	st.global.u64 [%out], %taken;
	setp.eq.u64 %p, %taken, 0;
	@%p ret;
	mov.u64 %at, %taken;
	add.u64 %end, %taken, %n;
NEXT:
	setp.ge.u64 %p, %at, %end;
	@%p ret;
	st.u32 [%at], %me;
	add.u64 %at, %at, 4;
	bra NEXT;
}
.visible .entry sum(.param .u64 out)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mad.wide.u32 %rd1, %r1, 8, %rd1;
	ld.global.u64 %rd2, [%rd1];
	ld.global.v2.u32 {%r2, %r3}, [%rd2];
	add.u32 %r2, %r2, %r3;
	cvt.u64.u32 %rd3, %r2;
	st.global.u64 [%rd1], %rd3;
	ret;
}
.visible .entry give(.param .u64 out)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mad.wide.u32 %rd1, %r1, 8, %rd1;
	ld.global.u64 %rd2, [%rd1];
	{
	.param .b64 address;
	st.param.b64 [address], %rd2;
	call free, (address);
	}
	ret;
}
.visible .entry churn(.param .u64 out, .param .u64 n)
{
	.reg .pred %p;
	.reg .b32 %me, %i, %r;
	.reg .b64 %out, %n, %taken, %sum, %x;
	ld.param.u64 %out, [out];
	ld.param.u64 %n, [n];
	mov.u32 %me, %tid.x;
	mad.wide.u32 %out, %me, 8, %out;
	mov.u64 %sum, 0;
NEXT:
	add.u32 %r, %me, 8;
	cvt.u64.u32 %x, %r;
	call (%taken), take_bytes, (%x);
	st.u32 [%taken], %me;
	ld.u32 %r, [%taken];
	cvt.u64.u32 %x, %r;
	add.u64 %sum, %sum, %x;
	{
	.param .b64 address;
	st.param.b64 [address], %taken;
	call free, (address);
	}
	sub.u64 %n, %n, 1;
	setp.ne.u64 %p, %n, 0;
	@%p bra NEXT;
	st.global.u64 [%out], %sum;
	ret;
}";

/// A device whose kernels have a heap, with the results of one.
struct Heaped {
    bench: Bench,
    out: Buffer<u64>,
}

impl Heaped {
    fn new(kernel_heap_bytes: u64, n_words: usize) -> Self {
        let config = DeviceConfig {
            kernel_heap_bytes,
            ..DeviceConfig::default()
        };
        let bench = Bench::of(&module(KERNELS), config);
        let out = bench.zeros(n_words, "out");
        Self { bench, out }
    }

    fn call<'a>(&'a self, kernel: &'a str, [grid, block]: [u32; 2], n: Option<u64>) -> Call<'a> {
        let call = self.bench.call(kernel).grid(grid).block(block);
        n.into_iter().fold(call.arg(self.out), Call::arg)
    }

    fn launch(&self, kernel: &str, shape: [u32; 2], n: Option<u64>, check: bool) {
        let run = self.call(kernel, shape, n).check(check).run();
        run.unwrap_or_else(|error| panic!("{kernel}: {error}"));
    }

    fn words(&self, n: usize) -> Vec<u64> {
        self.bench.download(self.out.slice(0..n))
    }

    fn used(&self) -> u64 {
        let heap = self.bench.loaded.kernel_heap();
        heap.expect("its kernels call malloc").used_bytes()
    }
}

/// What one launch allocates, the next ones can read and free.
#[test]
fn memory_outlives_the_launch_that_took_it() {
    for check in [false, true] {
        let heaped = Heaped::new(8 << 20, 64);
        heaped.launch("take", [1, 64], Some(24), check);
        let addresses = heaped.words(64);
        assert!(addresses.iter().all(|a| *a != 0 && a.is_multiple_of(16)));
        assert_eq!(heaped.used(), 64 * 24);
        heaped.launch("sum", [1, 40], None, check);
        let expected: Vec<u64> = (0..40).map(|i| 2 * i).collect();
        assert_eq!(heaped.words(40), expected);
        let taken = heaped.bench.loaded.kernel_heap().expect("a heap").taken();
        assert_eq!(taken.len(), 64);
        assert_eq!(taken[0].place.function, "take_bytes");
        assert_eq!(taken[0].place.callers[0].function, "take");
        // Only those that were not overwritten by sums.
        let device = &heaped.bench.device;
        device.overwrite(heaped.out, &addresses).expect("as many");
        heaped.launch("give", [1, 64], None, check);
        assert_eq!(heaped.used(), 0);
    }
}

/// Beyond the heap's size there is no address, and no error.
#[test]
fn a_full_heap_gives_nothing() {
    let heaped = Heaped::new(10 << 10, 128);
    heaped.launch("take", [2, 64], Some(100), false);
    let n_given = heaped.words(128).iter().filter(|a| **a != 0).count();
    assert!((80..=102).contains(&n_given), "{n_given}");
    assert_eq!(heaped.used(), 100 * n_given as u64);
    heaped.launch("take", [1, 1], Some(u64::MAX), false);
    assert_eq!(heaped.words(1), [0]);
    // Freeing a null pointer frees nothing.
    heaped.launch("give", [1, 1], None, false);
    assert_eq!(heaped.used(), 100 * n_given as u64);
}

/// Blocks on several host threads allocate and free at the same time, and checks find
/// nothing in memory that moves from thread to thread.
#[test]
fn what_was_freed_is_given_out_again() {
    for (check, threads) in [(false, 1), (false, 2), (true, 1)] {
        let heaped = Heaped::new(16 << 10, 128);
        let grid = if check { 1 } else { 300 };
        let call = heaped.call("churn", [grid, 64], Some(40));
        let run = call.check(check).threads(threads).run();
        run.unwrap_or_else(|error| panic!("{error}"));
        let expected: Vec<u64> = (0..64).map(|i| 40 * i).collect();
        assert_eq!(heaped.words(64), expected);
        assert_eq!(heaped.used(), 0);
    }
}

/// Launches that are tried and undone leave nothing allocated.
#[test]
fn other_orders_and_second_runs_take_nothing() {
    let heaped = Heaped::new(8 << 20, 128);
    heaped.launch("take", [1, 64], Some(8), false);
    let launch = Launch {
        grid: [2, 1, 1],
        block: [64, 1, 1],
        dynamic_shared_bytes: 0,
        params: &[&heaped.out.address().to_le_bytes(), &16_u64.to_le_bytes()],
        options: LaunchOptions::default(),
    };
    let Bench { device, loaded } = &heaped.bench;
    let orders = device.search_orders(loaded, "take", &launch, 0..8);
    let orders = orders.unwrap_or_else(|error| panic!("{error}"));
    assert!(orders.found.is_none(), "{:?}", orders.found);
    assert_eq!(heaped.used(), 64 * 8);
    // Checks find the second of two stores to a word; the launch goes on without them.
    let options = LaunchOptions {
        check: true,
        go_on: true,
        ..LaunchOptions::default()
    };
    let call = heaped.call("churn", [2, 64], Some(1));
    let report = call.options(options).run();
    let report = report.unwrap_or_else(|error| panic!("{error}"));
    assert!(report.finding.is_some(), "both blocks write the same words");
    assert_eq!(heaped.used(), 64 * 8);
}

/// The host cannot use it.
#[test]
fn the_host_cannot_reach_it() {
    let heaped = Heaped::new(1 << 20, 1);
    heaped.launch("take", [1, 1], Some(16), false);
    let address = heaped.words(1)[0];
    let device = &heaped.bench.device;
    let mut bytes = [0; 4];
    assert!(device.read(address, &mut bytes).is_err());
    assert!(device.write(address, &bytes).is_err());
    assert!(device.free(address).is_err());
    assert!(device.allocation_at(address).is_none());
    let page = address & !0x1f_ffff;
    assert!(device.free(page).is_err());
    let before = device.used_bytes();
    let heap = heaped.bench.loaded.kernel_heap().expect("a heap").clone();
    device.free_kernel_heap(&heap);
    assert!(before - device.used_bytes() >= 1 << 20);
}
