//! Instructions for which the simulator follows a rule of its own: PTX or the hardware leaves open
//! what happens, or nothing in the simulator could show it.

use super::probe::{special, unwritten};

/// A rule, and the instructions that it covers, each by one of its opcodes.
pub struct Rule {
    pub opcodes: &'static [&'static str],
    /// Whether everything that these instructions do is modelled, not only what the text
    /// says.
    pub is_all: bool,
    pub text: String,
}

fn rule(opcodes: &'static [&'static str], is_all: bool, text: impl Into<String>) -> Rule {
    Rule {
        opcodes,
        is_all,
        text: text.into(),
    }
}

/// All rules.
pub fn rules() -> Vec<Rule> {
    let mut all = open_results();
    all.extend(together());
    all.extend(memory());
    all.extend(time_and_place());
    all
}

fn open_results() -> Vec<Rule> {
    vec![
        rule(
            &["div.u32", "rem.u32"],
            false,
            "An integer division by zero gives all ones, as the hardware does.",
        ),
        rule(
            &["bfe", "bfi"],
            false,
            "A position past the register is treated as the instruction treats it at run time; \
             ptxas treats constants otherwise.",
        ),
        rule(
            &["abs.s32", "neg.s32", "neg.f32", "cvt"],
            false,
            "Each instruction is executed as written. Where ptxas optimises, it may fuse two \
             (conversions, `.ftz` with the next instruction), and bounds and NaNs differ then.",
        ),
        rule(
            &["add.f32", "sub.f32", "mul.f32", "mad.f64"],
            false,
            "Without a rounding modifier they round to the nearest and stay two instructions; ptxas may \
             fuse them.",
        ),
        rule(
            &["set"],
            false,
            "As documented, even for floating-point types, for which ptxas 13.0 gives other \
             values.",
        ),
        rule(
            &["mma", "wmma"],
            false,
            "PTX leaves the order of sums open. Here products are exact, cut off below the largest \
             exponent of a group and rounded once, with Hopper's widths (`src/numeric/mma.rs`); \
             `f16` and `bf16` were compared by the lesson `tensor_instructions`.",
        ),
        rule(
            &["wgmma"],
            false,
            "Compared with an H200 in every type, shape, layout and swizzle, bit for bit \
             (`tests/wgmma`). The four warps wait for each other at each product, as they do \
             there. Operands are read when it is issued, and sums reach the registers at the \
             wait; hardware may do both at any time in between. A descriptor with reserved \
             bits, or that leaves the block's memory, is a fault. Its reads of shared memory \
             are not counted: neither requests nor wavefronts. (There are no conflicts: \
             operands come in cores of 128 bytes, each of which has every bank once, and no \
             layout took an H200 longer than another.)",
        ),
        rule(
            &["wmma"],
            false,
            "Which lane holds which element of a fragment is the simulator's own choice, and so are the \
             sectors that `wmma.load` and `wmma.store` count.",
        ),
    ]
}

fn together() -> Vec<Rule> {
    vec![
        rule(
            &["activemask"],
            true,
            "The lanes that are together: those that took the same path, and all again where a \
             branch's paths join. Hardware may show fewer.",
        ),
        rule(&["elect"], true, "The lowest lane of the mask."),
        rule(
            &["atom", "red"],
            false,
            "Lanes of a warp follow one another in lane order; on hardware in any. Every order \
             and scope is treated as the strongest.",
        ),
        rule(
            &["membar", "fence"],
            true,
            "No effect, as every access is visible at once; the checks know what they order.",
        ),
        rule(
            &["mbarrier"],
            true,
            "The phases and counts that PTX documents; the layout of the word and of states is the \
             simulator's own. `try_wait` does not sleep: it lets other warps go first.",
        ),
        rule(
            &["barrier.cluster.arrive"],
            true,
            "Threads that have ended count as arrived. Arriving twice, or waiting without \
             having arrived, ends the launch; PTX leaves it open.",
        ),
        rule(
            &["cp.bulk"],
            true,
            "A copy to shared memory moves its bytes when its mbarrier is tested, one to global memory \
             when its group is awaited or the block ends; one between shared memories reads its source at \
             once. Which bytes go where follows the manual. As observed on an H200: which tensor maps the \
             driver takes; loads of `tf32` round to the nearest even and keep denormals, and so does \
             `f32` with `FTZ`; reductions of halves and `f32` keep denormals and give one NaN; minima and \
             maxima prefer numbers and treat -0 as less than 0. Sources and sizes that are not multiples \
             of 16 bytes, and byte counts out of range, end the launch; a GPU allows some of that.",
        ),
        rule(
            &["nanosleep"],
            true,
            "Lets other warps go first, once; no time passes.",
        ),
        rule(
            &[
                "griddepcontrol",
                "pmevent",
                "prefetch",
                "prefetchu",
                "applypriority",
            ],
            true,
            "No effect: nothing in the simulator would show one.",
        ),
        rule(
            &["setmaxnreg"],
            true,
            "A warp that takes registers waits until others have given them back. A thread has \
             all registers that its kernel names in any case; how many it begins with follows \
             from the kernel's limits, as an assembler decides.",
        ),
        rule(
            &["discard"],
            true,
            "No effect: memory keeps what it holds, which on hardware is lost.",
        ),
        rule(
            &["createpolicy"],
            true,
            "Gives 0: there are no caches to have policies.",
        ),
        rule(
            &["brkpt"],
            true,
            "Ends the launch, as `trap` does: there is no debugger.",
        ),
    ]
}

fn memory() -> Vec<Rule> {
    let [global, shared, local] = ["global", "shared", "local"].map(unwritten);
    vec![
        rule(
            &["ld"],
            false,
            format!(
                "Memory that was never written holds {global:#x} (global), {shared:#x} (shared) \
                 and {local:#x} (local); on hardware it holds anything. `check` reports such \
                 reads."
            ),
        ),
        rule(
            &["ld", "ldu", "st"],
            false,
            "Orders, scopes and cache hints change no result: each access is executed at once, \
             in the launch's order.",
        ),
        rule(
            &["st.async", "red.async"],
            true,
            "Done at once, and counted by the barrier at once; on hardware some time later. The \
             checks assume that what follows in the thread comes after it, even if the barrier \
             is not waited for.",
        ),
        rule(
            &["mapa", "getctarank"],
            true,
            "An address of another block's shared memory is that block's own address with the \
             rank, plus one, in bits 24 to 31; on hardware these bits differ. An access by an \
             address that no block of the cluster has, or whose block has ended, ends the \
             launch.",
        ),
        rule(
            &["cp"],
            true,
            "`cp.async` reads its source when it starts; the bytes arrive at the wait for their \
             group (or at `mbarrier.arrive`), never before, and never without a wait. Hardware \
             may copy at any time in between.",
        ),
    ]
}

fn time_and_place() -> Vec<Rule> {
    let [sm, n_sm, n_warps, grid, env] =
        ["%smid", "%nsmid", "%nwarpid", "%gridid", "%envreg3"].map(special);
    vec![rule(
        &["mov"],
        false,
        format!(
            "`%clock`, `%clock64` and `%globaltimer` are the host's nanoseconds since the launch began; `%smid` is {sm}, \
             `%nsmid` {n_sm}, `%nwarpid` {n_warps}, `%gridid` {grid}, `%envreg` {env} (but 1 and 2 of a \
             cooperative launch, the address of its barrier); `%warpid` numbers warps in the order of \
             their threads."
        ),
    )]
}
