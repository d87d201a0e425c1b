//! Memory that kernels allocate by `malloc` and release by `free`.

use ptx_sim::{
    Device, DeviceConfig, Launch, LaunchError, LaunchOptions, LoadedModule, Module, Report,
};

use common::HEADER;

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

struct Bench {
    device: Device,
    loaded: LoadedModule,
    out: u64,
}

impl Bench {
    fn new(kernel_heap_bytes: u64, n_words: u64) -> Self {
        let module = Module::parse(&format!("{HEADER}{KERNELS}")).unwrap_or_else(|e| panic!("{e}"));
        let device = Device::with_config(DeviceConfig {
            kernel_heap_bytes,
            ..DeviceConfig::default()
        });
        let loaded = device.load(&module).expect("there is memory");
        let out = device.alloc(8 * n_words, "out").expect("there is memory");
        device.fill(out, 8 * n_words, 0).expect("it is there");
        Self {
            device,
            loaded,
            out,
        }
    }

    fn launch_with(
        &self,
        kernel: &str,
        [grid, block]: [u32; 2],
        n: Option<u64>,
        options: LaunchOptions,
    ) -> Result<Report, LaunchError> {
        let params = [self.out.to_le_bytes(), n.unwrap_or(0).to_le_bytes()];
        let params: Vec<&[u8]> = params.iter().map(|p| &p[..]).collect();
        let launch = Launch {
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            dynamic_shared_bytes: 0,
            params: &params[..1 + usize::from(n.is_some())],
            options,
        };
        self.device.launch(&self.loaded, kernel, &launch)
    }

    fn launch(&self, kernel: &str, shape: [u32; 2], n: Option<u64>, check: bool) {
        let options = LaunchOptions {
            check,
            ..LaunchOptions::default()
        };
        self.launch_with(kernel, shape, n, options)
            .unwrap_or_else(|error| panic!("{kernel}: {error}"));
    }

    fn words(&self, n: usize) -> Vec<u64> {
        let mut bytes = vec![0; 8 * n];
        self.device.read(self.out, &mut bytes).expect("it is there");
        let words = bytes.as_chunks().0.iter();
        words.map(|word| u64::from_le_bytes(*word)).collect()
    }

    fn used(&self) -> u64 {
        let heap = self.loaded.kernel_heap().expect("its kernels call malloc");
        heap.used_bytes()
    }
}

/// What one launch allocates, the next ones can read and free.
#[test]
fn memory_outlives_the_launch_that_took_it() {
    for check in [false, true] {
        let bench = Bench::new(8 << 20, 64);
        bench.launch("take", [1, 64], Some(24), check);
        let addresses = bench.words(64);
        assert!(addresses.iter().all(|a| *a != 0 && a.is_multiple_of(16)));
        assert_eq!(bench.used(), 64 * 24);
        bench.launch("sum", [1, 40], None, check);
        let expected: Vec<u64> = (0..40).map(|i| 2 * i).collect();
        assert_eq!(bench.words(40), expected);
        let taken = bench.loaded.kernel_heap().expect("a heap").taken();
        assert_eq!(taken.len(), 64);
        assert_eq!(taken[0].place.function, "take_bytes");
        assert_eq!(taken[0].place.callers[0].function, "take");
        // Only those that were not overwritten by sums.
        let bytes: Vec<u8> = addresses.iter().flat_map(|a| a.to_le_bytes()).collect();
        bench.device.write(bench.out, &bytes).expect("it is there");
        bench.launch("give", [1, 64], None, check);
        assert_eq!(bench.used(), 0);
    }
}

/// Beyond the heap's size there is no address, and no error.
#[test]
fn a_full_heap_gives_nothing() {
    let bench = Bench::new(10 << 10, 128);
    bench.launch("take", [2, 64], Some(100), false);
    let n_given = bench.words(128).iter().filter(|a| **a != 0).count();
    assert!((80..=102).contains(&n_given), "{n_given}");
    assert_eq!(bench.used(), 100 * n_given as u64);
    bench.launch("take", [1, 1], Some(u64::MAX), false);
    assert_eq!(bench.words(1), [0]);
    // Freeing a null pointer frees nothing.
    bench.launch("give", [1, 1], None, false);
    assert_eq!(bench.used(), 100 * n_given as u64);
}

/// Blocks on several host threads allocate and free at the same time, and checks find
/// nothing in memory that moves from thread to thread.
#[test]
fn what_was_freed_is_given_out_again() {
    for (check, threads) in [(false, 1), (false, 2), (true, 1)] {
        let bench = Bench::new(16 << 10, 128);
        let options = LaunchOptions {
            check,
            threads: Some(threads),
            ..LaunchOptions::default()
        };
        let grid = if check { 1 } else { 300 };
        bench
            .launch_with("churn", [grid, 64], Some(40), options)
            .unwrap_or_else(|error| panic!("{error}"));
        let expected: Vec<u64> = (0..64).map(|i| 40 * i).collect();
        assert_eq!(bench.words(64), expected);
        assert_eq!(bench.used(), 0);
    }
}

/// Launches that are tried and undone leave nothing allocated.
#[test]
fn other_orders_and_second_runs_take_nothing() {
    let bench = Bench::new(8 << 20, 128);
    bench.launch("take", [1, 64], Some(8), false);
    let params = [bench.out.to_le_bytes(), 16_u64.to_le_bytes()];
    let params: Vec<&[u8]> = params.iter().map(|p| &p[..]).collect();
    let launch = Launch {
        grid: [2, 1, 1],
        block: [64, 1, 1],
        dynamic_shared_bytes: 0,
        params: &params,
        options: LaunchOptions::default(),
    };
    let orders = bench
        .device
        .search_orders(&bench.loaded, "take", &launch, 0..8)
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(orders.found.is_none(), "{:?}", orders.found);
    assert_eq!(bench.used(), 64 * 8);
    // Checks find the second of two stores to a word; the launch goes on without them.
    let options = LaunchOptions {
        check: true,
        go_on: true,
        ..LaunchOptions::default()
    };
    let report = bench.launch_with("churn", [2, 64], Some(1), options);
    let report = report.unwrap_or_else(|error| panic!("{error}"));
    assert!(report.finding.is_some(), "both blocks write the same words");
    assert_eq!(bench.used(), 64 * 8);
}

/// The host cannot use it.
#[test]
fn the_host_cannot_reach_it() {
    let bench = Bench::new(1 << 20, 1);
    bench.launch("take", [1, 1], Some(16), false);
    let address = bench.words(1)[0];
    let mut bytes = [0; 4];
    assert!(bench.device.read(address, &mut bytes).is_err());
    assert!(bench.device.write(address, &bytes).is_err());
    assert!(bench.device.free(address).is_err());
    assert!(bench.device.allocation_at(address).is_none());
    let page = address & !0x1f_ffff;
    assert!(bench.device.free(page).is_err());
    let before = bench.device.used_bytes();
    let heap = bench.loaded.kernel_heap().expect("a heap").clone();
    bench.device.free_kernel_heap(&heap);
    assert!(before - bench.device.used_bytes() >= 1 << 20);
}
