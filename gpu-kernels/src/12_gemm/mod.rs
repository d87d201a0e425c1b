//! GEMM by tensor cores: C = alpha·A·B + beta·C, factors of 16 bits, sums of 32.
//!
//! # Arithmetic and memory
//!
//! A product does m·n·k multiply-adds, and should move 2·(m·k + n·k + m·n) bytes. An H200's
//! tensor cores do 4.9·10¹⁴ multiply-adds per second, and its memory moves 4.8·10¹² bytes: at
//! 8192³ the arithmetic takes fourteen times as long as the memory. Between them are the
//! second-level cache, shared memory, the registers, and instructions to be issued; each step
//! of the ladder relieves one of them.
//!
//! | | |
//! |---|---|
//! | [`mma`] | steps 1 to 4: `mma.sync`, which multiplies out of registers |
//! | [`hopper`] | steps 5 to 16: `wgmma`, which multiplies out of shared memory, and copies by TMA; and what `mma.sync` reaches with these copies |

#[path = "01_mma/mod.rs"]
pub mod mma;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90a"))]
#[path = "02_hopper/mod.rs"]
pub mod hopper;
