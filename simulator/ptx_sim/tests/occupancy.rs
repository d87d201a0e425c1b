//! A kernel's attributes as a driver reports them, and its occupancy.
//!
//! The tables are the results of CUDA's occupancy calculator (`cuda_occupancy.h` of CUDA
//! 13.0) for an H200.

use ptx_sim::{BestBlock, BlockNeeds, DeviceConfig, KernelAttributes, Module, RegisterLimits};

fn active(threads: u32, registers: u32, shared_bytes: u32) -> u32 {
    DeviceConfig::default().active_blocks(BlockNeeds {
        threads,
        registers,
        shared_bytes,
    })
}

/// Block sizes of the columns of [`BY_REGISTERS`].
const BLOCKS: [u32; 16] = [
    32, 33, 64, 96, 128, 160, 192, 256, 288, 384, 512, 640, 768, 896, 1000, 1024,
];

/// Registers, and blocks by [`BLOCKS`].
#[rustfmt::skip]
const BY_REGISTERS: [(u32, [u32; 16]); 13] = [
    (16, [32, 32, 32, 21, 16, 12, 10, 8, 7, 5, 4, 3, 2, 2, 2, 2]),
    (32, [32, 32, 32, 21, 16, 12, 10, 8, 7, 5, 4, 3, 2, 2, 2, 2]),
    (40, [32, 24, 24, 16, 12, 9, 8, 6, 5, 4, 3, 2, 2, 1, 1, 1]),
    (48, [32, 20, 20, 13, 10, 8, 6, 5, 4, 3, 2, 2, 1, 1, 1, 1]),
    (56, [32, 18, 18, 12, 9, 7, 6, 4, 4, 3, 2, 1, 1, 1, 1, 1]),
    (64, [32, 16, 16, 10, 8, 6, 5, 4, 3, 2, 2, 1, 1, 1, 1, 1]),
    (72, [28, 14, 14, 9, 7, 5, 4, 3, 3, 2, 1, 1, 1, 1, 0, 0]),
    (80, [24, 12, 12, 8, 6, 4, 4, 3, 2, 2, 1, 1, 1, 0, 0, 0]),
    (96, [20, 10, 10, 6, 5, 4, 3, 2, 2, 1, 1, 1, 0, 0, 0, 0]),
    (128, [16, 8, 8, 5, 4, 3, 2, 2, 1, 1, 1, 0, 0, 0, 0, 0]),
    (168, [12, 6, 6, 4, 3, 2, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0]),
    (200, [8, 4, 4, 2, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
    (255, [8, 4, 4, 2, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
];

/// Bytes of shared memory, and blocks of 32, 128 and 1024 threads of 16 registers.
const BY_SHARED: [(u32, [u32; 3]); 17] = [
    (0, [32, 16, 2]),
    (1, [32, 16, 2]),
    (1024, [32, 16, 2]),
    (4096, [32, 16, 2]),
    (6272, [32, 16, 2]),
    (6273, [31, 16, 2]),
    (8192, [25, 16, 2]),
    (16384, [13, 13, 2]),
    (32768, [6, 6, 2]),
    (49152, [4, 4, 2]),
    (65536, [3, 3, 2]),
    (76800, [3, 3, 2]),
    (100_000, [2, 2, 2]),
    (115_712, [2, 2, 2]),
    (115_713, [1, 1, 1]),
    (116_736, [1, 1, 1]),
    (232_448, [1, 1, 1]),
];

#[test]
fn blocks_are_limited_as_the_calculator_says() {
    for (registers, row) in BY_REGISTERS {
        let found = BLOCKS.map(|threads| active(threads, registers, 0));
        assert_eq!(found, row, "{registers} registers");
    }
    for (shared, row) in BY_SHARED {
        let found = [32, 128, 1024].map(|threads| active(threads, 16, shared));
        assert_eq!(found, row, "{shared} bytes");
    }
    // What cannot be launched at all.
    assert_eq!(active(32, 16, (227 << 10) + 1), 0);
    assert_eq!(active(1025, 16, 0), 0);
    assert_eq!(active(0, 16, 0), 0);
    assert_eq!(active(32, 256, 0), 0);
    assert_eq!(active(32, 0, u32::MAX), 0);
    // An unknown number of registers is not a limit.
    assert_eq!(active(1024, 0, 0), 2);
}

/// Largest block, and shared bytes of a thread, of the columns of [`BEST`].
const KERNELS: [(u32, u32); 6] = [
    (1024, 16),
    (512, 16),
    (1000, 16),
    (1024, 300),
    (512, 300),
    (1000, 300),
];

/// Registers, and threads and blocks of the best by [`KERNELS`].
#[rustfmt::skip]
const BEST: &[(u32, [(u32, u32); 6])] = &[
    (16, [(1024, 2), (512, 4), (512, 4), (768, 1), (384, 2), (768, 1)]),
    (32, [(1024, 2), (512, 4), (512, 4), (768, 1), (384, 2), (768, 1)]),
    (40, [(768, 2), (512, 3), (768, 2), (768, 1), (384, 2), (768, 1)]),
    (48, [(640, 2), (320, 4), (640, 2), (768, 1), (384, 2), (768, 1)]),
    (56, [(576, 2), (384, 3), (576, 2), (768, 1), (384, 2), (768, 1)]),
    (64, [(1024, 1), (512, 2), (512, 2), (768, 1), (384, 2), (768, 1)]),
    (72, [(896, 1), (448, 2), (896, 1), (768, 1), (384, 2), (768, 1)]),
    (80, [(768, 1), (384, 2), (768, 1), (768, 1), (384, 2), (768, 1)]),
    (96, [(640, 1), (320, 2), (640, 1), (640, 1), (320, 2), (640, 1)]),
    (128, [(512, 1), (512, 1), (512, 1), (512, 1), (512, 1), (512, 1)]),
    (168, [(384, 1), (384, 1), (384, 1), (384, 1), (384, 1), (384, 1)]),
    (200, [(256, 1), (256, 1), (256, 1), (256, 1), (256, 1), (256, 1)]),
    (255, [(256, 1), (256, 1), (256, 1), (256, 1), (256, 1), (256, 1)]),
];

#[test]
fn the_best_block_is_the_calculators() {
    for &(registers, best) in BEST {
        for ((most, bytes), (threads, blocks)) in KERNELS.into_iter().zip(best) {
            let found = DeviceConfig::default().best_block(most, registers, |n| n * bytes);
            let expected = BestBlock { threads, blocks };
            assert_eq!(found, expected, "{registers} {most} {bytes}");
        }
    }
    // No block fits.
    let none = DeviceConfig::default().best_block(1024, 16, |_| 1 << 20);
    assert_eq!((none.threads, none.blocks), (0, 0));
}

fn attributes(text: &str) -> KernelAttributes {
    within(text, RegisterLimits::default())
}

fn within(text: &str, limits: RegisterLimits) -> KernelAttributes {
    let header = ".version 8.3 .target sm_90a .address_size 64";
    let module = Module::parse(&format!("{header} {text}")).expect("PTX");
    let found = module.attributes_within("k", limits);
    found.expect("a kernel")
}

/// A kernel that loads this many words, then stores them all.
fn holding(n_words: u32, directives: &str) -> String {
    let mut body = String::new();
    for i in 0..n_words {
        body += &format!("ld.global.u32 %r{i}, [%d+{}];\n", 4 * i);
    }
    for i in 0..n_words {
        body += &format!("st.global.u32 [%d+{}], %r{i};\n", 4 * i);
    }
    format!(
        ".visible .entry k(.param .u64 p) {directives} {{
            .reg .b32 %r<{n_words}>; .reg .b64 %d;
            ld.param.u64 %d, [p];
            {body} ret;
        }}"
    )
}

#[test]
fn registers_are_what_is_needed_at_once() {
    let registers = |text: &str| attributes(text).registers;
    // The address, and the words.
    assert_eq!(registers(&holding(6, "")), 16);
    assert_eq!(registers(&holding(14, "")), 16);
    assert_eq!(registers(&holding(15, "")), 24);
    assert_eq!(registers(&holding(62, "")), 64);
    assert_eq!(registers(&holding(63, "")), 72);
    assert_eq!(registers(&holding(400, "")), 255);
    // Registers that are not needed at the same time share.
    let one_by_one: String = (0..100)
        .map(|i| format!("ld.global.u32 %r{i}, [%d]; st.global.u32 [%d], %r{i};"))
        .collect();
    let text = format!(
        ".visible .entry k(.param .u64 p) {{ .reg .b32 %r<100>; .reg .b64 %d;
         ld.param.u64 %d, [p]; {one_by_one} ret; }}"
    );
    assert_eq!(registers(&text), 16);
}

#[test]
fn what_lives_through_a_loop_counts_in_it() {
    // Twenty words are loaded before a loop that uses four others, and stored after it.
    let each = |f: &dyn Fn(u32) -> String| (0..20).map(f).collect::<String>();
    let loads = each(&|i| format!("ld.global.u32 %r{i}, [%d+{}];", 4 * i));
    let stores = each(&|i| format!("st.global.u32 [%d+{}], %r{i};", 4 * i));
    let text = format!(
        ".visible .entry k(.param .u64 p) {{ .reg .b32 %r<20>, %x<4>; .reg .b64 %d, %e<2>;
         .reg .pred %q;
         ld.param.u64 %d, [p]; {loads} mov.u32 %x0, 0; mov.u64 %e0, %d;
         AGAIN: ld.global.u32 %x1, [%e0]; add.u32 %x2, %x1, %x0; st.global.u32 [%e0], %x2;
         add.u32 %x0, %x0, 1; add.u64 %e0, %e0, 4;
         setp.lt.u32 %q, %x0, 10; @%q bra AGAIN;
         {stores} ret; }}"
    );
    // 20 words, two addresses of two each, the counter, what was loaded and its sum.
    assert_eq!(attributes(&text).registers, 32);
}

#[test]
fn what_a_kernel_declares_limits_registers_and_threads() {
    let of = |directives: &str| {
        let found = attributes(&holding(400, directives));
        (found.registers, found.max_threads)
    };
    assert_eq!(of(""), (255, 256));
    assert_eq!(of(".maxnreg 64"), (64, 1024));
    assert_eq!(of(".maxnreg 40"), (40, 1024));
    assert_eq!(of(".maxntid 1024"), (64, 1024));
    assert_eq!(of(".maxntid 256, 4"), (64, 1024));
    assert_eq!(of(".maxntid 512"), (128, 512));
    assert_eq!(of(".maxntid 128"), (255, 128));
    assert_eq!(of(".reqntid 16, 16, 3"), (80, 768));
    assert_eq!(of(".maxntid 256 .minnctapersm 4"), (64, 256));
    assert_eq!(of(".maxntid 1024 .minnctapersm 2"), (32, 1024));
    // More than can be had.
    assert_eq!(of(".maxntid 1024 .minnctapersm 9"), (16, 1024));
    let few = attributes(&holding(70, ""));
    assert_eq!((few.registers, few.max_threads), (72, 896));
}

#[test]
fn what_a_client_asks_for_limits_registers() {
    let plain = RegisterLimits::default();
    let forty = RegisterLimits {
        most: Some(40),
        ..plain
    };
    let of = |n_words: u32, directives: &str, limits: RegisterLimits| {
        let found = within(&holding(n_words, directives), limits);
        (found.registers, found.max_threads)
    };
    assert_eq!(of(400, "", forty), (40, 1024));
    assert_eq!(of(6, "", forty), (16, 1024));
    // The kernel's declaration takes precedence, unless a client overrides it.
    assert_eq!(of(400, ".maxnreg 64", forty), (64, 1024));
    assert_eq!(of(400, ".maxntid 512", forty), (128, 512));
    let overrides = RegisterLimits {
        overrides: true,
        ..forty
    };
    assert_eq!(of(400, ".maxnreg 64", overrides), (40, 1024));
    assert_eq!(of(400, ".maxntid 512", overrides), (40, 512));
    let two_blocks = RegisterLimits {
        block_threads: Some(512),
        min_blocks: Some(2),
        ..plain
    };
    assert_eq!(of(400, "", two_blocks), (64, 1024));
}

#[test]
fn memory_and_target_are_told() {
    let text = "
        .const .align 4 .b8 a[10]; .visible .const .align 16 .b8 b[20];
        .func callee() { .local .align 8 .b8 own[40]; .param .b64 passed; ret; }
        .visible .entry k(.param .u64 p) {
            .shared .align 16 .b8 s[100]; .local .align 4 .b8 l[6]; .reg .u32 %r;
            mov.u32 %r, s; call callee; ret;
        }
        .visible .entry other() { .shared .b8 t[999]; .local .b8 x[500]; ret; }";
    let found = attributes(text);
    assert_eq!(found.static_shared_bytes, 100);
    assert_eq!(found.const_bytes, 36);
    assert_eq!(found.local_bytes, 48);
    assert_eq!((found.ptx_version, found.target), ((8, 3), 90));
    let header = ".version 8.3 .target sm_90a .address_size 64";
    let module = Module::parse(&format!("{header} {text}")).expect("PTX");
    assert_eq!(module.attributes("callee"), None);
    assert_eq!(module.attributes("nothing"), None);
}

/// Inferred from an H200's 132 SMs, not measured.
#[test]
fn clusters_are_held_by_the_multiprocessors_of_one_group() {
    let device = DeviceConfig::default();
    let needs = |shared_bytes| BlockNeeds {
        threads: 384,
        registers: 168,
        shared_bytes,
    };
    // One block on each SM: six groups of 16 and two of 18.
    let large = needs(200 << 10);
    let clusters = [1, 2, 4, 8, 16].map(|n| device.active_clusters(large, n));
    assert_eq!(clusters, [132, 66, 32, 16, 8]);
    assert_eq!(device.active_clusters(large, 17), 0);
    assert_eq!(device.active_clusters(large, 0), 0);
    assert_eq!(device.active_clusters(needs(228 << 10), 1), 0);
    assert_eq!(device.largest_cluster(large, 8), 8);
    assert_eq!(device.largest_cluster(large, 16), 16);
    assert_eq!(device.largest_cluster(needs(228 << 10), 8), 0);
}
