//! The instructions on an accumulator's registers, which they name one by one. The numbers are
//! written out, because a macro cannot count.

/// Passes a macro the numbers from 0 to `N` - 1 in brackets, before its other arguments.
#[cfg(target_arch = "nvptx64")]
macro_rules! with_registers {
    (4, $then:ident!($($arguments:tt)*)) => {
        $then!([
            0 1 2 3
        ] $($arguments)*)
    };
    (8, $then:ident!($($arguments:tt)*)) => {
        $then!([
            0 1 2 3 4 5 6 7
        ] $($arguments)*)
    };
    (16, $then:ident!($($arguments:tt)*)) => {
        $then!([
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
        ] $($arguments)*)
    };
    (32, $then:ident!($($arguments:tt)*)) => {
        $then!([
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30
            31
        ] $($arguments)*)
    };
    (48, $then:ident!($($arguments:tt)*)) => {
        $then!([
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30
            31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47
        ] $($arguments)*)
    };
    (64, $then:ident!($($arguments:tt)*)) => {
        $then!([
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30
            31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58
            59 60 61 62 63
        ] $($arguments)*)
    };
    (96, $then:ident!($($arguments:tt)*)) => {
        $then!([
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30
            31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58
            59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86
            87 88 89 90 91 92 93 94 95
        ] $($arguments)*)
    };
    (128, $then:ident!($($arguments:tt)*)) => {
        $then!([
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30
            31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58
            59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86
            87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110
            111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126 127
        ] $($arguments)*)
    };
}
#[cfg(target_arch = "nvptx64")]
pub(super) use with_registers;

/// The same numbers in two halves.
#[cfg(target_arch = "nvptx64")]
macro_rules! with_halves {
    (64, $then:ident!($($arguments:tt)*)) => {
        $then!([
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30
            31
        ] [
            32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59
            60 61 62 63
        ] $($arguments)*)
    };
    (96, $then:ident!($($arguments:tt)*)) => {
        $then!([
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30
            31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47
        ] [
            48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75
            76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95
        ] $($arguments)*)
    };
    (128, $then:ident!($($arguments:tt)*)) => {
        $then!([
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30
            31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58
            59 60 61 62 63
        ] [
            64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91
            92 93 94 95 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114
            115 116 117 118 119 120 121 122 123 124 125 126 127
        ] $($arguments)*)
    };
}
#[cfg(target_arch = "nvptx64")]
pub(super) use with_halves;

/// Four instructions along k for each 64 rows of A, as one group. In one piece of assembly, so that
/// the compiler cannot move a register between them.
///
/// First the registers of each 64 rows, then the name and the operand of the rows of A that go into
/// them.
#[cfg(target_arch = "nvptx64")]
macro_rules! products {
    (
        $([$first:literal $($i:literal)*])+ of $shape:expr, $end:literal, $sums:ident,
        [$($name:ident $a:ident)+], $b:ident, $keep:ident, [$($operands:tt)*]
    ) => {
        core::arch::asm!(
            "{{",
            ".reg .pred keep;",
            concat!(".reg .b64 ", $(stringify!($name), ", ",)+ "b;"),
            "setp.ne.u32 keep, {keep}, 0;",
            "wgmma.fence.sync.aligned;",
            $(concat!("wgmma.mma_async.sync.aligned.", $shape, " {{{", $first, "}", $(", {", $i, "}",)* "}}, {", stringify!($name), "}, {b}, keep", $end, ";"),)+
            "setp.eq.u32 keep, 0, 0;",
            $(concat!("add.s64 ", stringify!($name), ", {", stringify!($name), "}, {step_a};"),)+
            "add.s64 b, {b}, {step_b};",
            $(concat!("wgmma.mma_async.sync.aligned.", $shape, " {{{", $first, "}", $(", {", $i, "}",)* "}}, ", stringify!($name), ", b, keep", $end, ";"),)+
            $(concat!("add.s64 ", stringify!($name), ", {", stringify!($name), "}, 2 * {step_a};"),)+
            "add.s64 b, {b}, 2 * {step_b};",
            $(concat!("wgmma.mma_async.sync.aligned.", $shape, " {{{", $first, "}", $(", {", $i, "}",)* "}}, ", stringify!($name), ", b, keep", $end, ";"),)+
            $(concat!("add.s64 ", stringify!($name), ", {", stringify!($name), "}, 3 * {step_a};"),)+
            "add.s64 b, {b}, 3 * {step_b};",
            $(concat!("wgmma.mma_async.sync.aligned.", $shape, " {{{", $first, "}", $(", {", $i, "}",)* "}}, ", stringify!($name), ", b, keep", $end, ";"),)+
            "wgmma.commit_group.sync.aligned;",
            "}}",
            $(
                inout(reg32) $sums[$first],
                $(inout(reg32) $sums[$i],)*
            )+
            $($name = in(reg64) $a.descriptor(),)+
            b = in(reg64) $b.descriptor(),
            keep = in(reg32) $keep as u32,
            step_a = const A::STEP,
            step_b = const B::STEP,
            $($operands)*
            options(nostack, preserves_flags)
        )
    };
}
#[cfg(target_arch = "nvptx64")]
pub(super) use products;

/// The wait names every register, so that nothing reads one before it.
#[cfg(target_arch = "nvptx64")]
macro_rules! finish {
    ($([$($i:literal)*])+ $sums:ident) => {
        core::arch::asm!(
            "wgmma.wait_group.sync.aligned 0;",
            concat!("//", $($(" {", $i, "}",)*)+),
            $($(inout(reg32) $sums[$i],)*)+
            options(nostack, preserves_flags)
        )
    };
}
#[cfg(target_arch = "nvptx64")]
pub(super) use finish;
