//! Several devices: kernels that use each other's memory.
//!
//! Each device has a memory of its own. Its kernels may use the others' too, over a link (NVLink, or
//! PCI Express), once the host has enabled *peer access*: a pointer says which device it belongs to,
//! and loads and stores through it are the same instructions. A link moves a tenth of what the own
//! memory does, so each of these kernels is about what crosses it, and when.
//!
//! Devices run on their own. What one has stored is visible to another only after a release and an
//! acquire of *system* scope ([`flags`]): device scope orders nothing between devices.
//!
//! # Reading order
//!
//! | file | subject |
//! |---|---|
//! | `01_jacobi.rs` | a solver whose devices need the edge of their neighbours' bands in every step: copied by the host, stored or loaded by kernels, or handed over by flags without the host |
//! | `02_all_reduce.rs` | a sum over all devices: in one shot, in two, around a ring |
//! | `03_transpose.rs` | a transpose in which every device sends a part to every other one |
//! | `04_gemm.rs` | a product whose second factor is spread over all devices, and fetched while the first parts are multiplied |
//! | `05_ping_pong.rs` | how long a flag takes, within a device and between two |
//!
//! Left out: links that combine values on their way (NVLink multicast), and devices of several
//! machines, which have no memory in common: those use NCCL (`lockstep::collectives`).

#[path = "parts/flags.rs"]
pub mod flags;

#[path = "01_jacobi.rs"]
pub mod jacobi;
#[path = "02_all_reduce.rs"]
pub mod all_reduce;
#[path = "03_transpose.rs"]
pub mod transpose;
#[path = "04_gemm.rs"]
pub mod gemm;
#[path = "05_ping_pong.rs"]
pub mod ping_pong;

pub use all_reduce::{all_reduce_one_shot, all_reduce_ring, all_reduce_two_shot};
pub use gemm::gemm_add;
pub use jacobi::{jacobi_flags, jacobi_loads, jacobi_rows, jacobi_stores};
pub use ping_pong::{ping_pong_device, ping_pong_link, ping_pong_system};
pub use transpose::transpose_to_all;
