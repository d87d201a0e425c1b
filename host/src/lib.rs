//! Launches the kernels on a GPU or on the simulator and checks them.
//!
//! Reading order: [`registry`] (what there is to run), [`lessons`] (the lessons
//! themselves, made of what `lesson` defines), [`choose`] (GPU or simulator), [`report`]
//! (what times mean, and what people see of them) and [`cli`]. Beside them,
//! [`neighbors`]: atoms of the user's own and their neighbour lists; [`profile`]: a
//! kernel's memory work, line by line; [`explain`]: what its accesses touch, as maps; [`accesses`]:
//! single memory accesses, on which the counting rules are tried; [`book`]: the book's chapters;
//! and [`sim_bench`]: how fast the simulator is. What a user
//! names is read by [`input`] and written by [`output`].
//!
//! Left out: what a lesson is, and one walk over them (`lesson`); kernels
//! (`gpu-kernels`), their compilation (`cuda_builder`), launching them (`lockstep`), the
//! simulation of PTX (`ptx_sim`).

pub mod accesses;
pub mod book;
pub mod choose;
pub mod cli;
pub mod explain;
pub mod half_matrices;
pub mod hints;
pub mod home;
pub mod input;
pub mod kernels;
pub mod lessons;
pub mod neighbors;
pub mod output;
pub mod profile;
pub mod ptx;
pub mod registry;
pub mod report;
pub mod sim_bench;
pub mod web;
