//! Launches the kernels on a GPU or on the simulator and checks them.
//!
//! Reading order: [`registry`] (what there is to run), [`lessons`] (the
//! lessons themselves), [`trial`] (one kernel on one shape), [`choose`] (GPU or
//! simulator), [`verify`] and [`measure`] (verdicts and figures), [`run`] (one
//! walk over the registry; [`schedules`]: again in other orders), [`scoreboard`] and [`compare`] (what times mean),
//! [`report`] and [`cli`] (what people see). Beside them, [`neighbors`]: atoms of
//! the user's own and their neighbour lists; [`profile`]: a kernel's memory work,
//! line by line; [`accesses`]: single memory accesses, on which the counting rules
//! are tried; and [`sim_bench`]: how fast the
//! simulator is. What a user names is read by [`input`] and written by [`output`];
//! [`footprint`] and [`memory`] refuse what does not fit.
//!
//! Left out: kernels (`gpu-kernels`), their compilation (`cuda_builder`), launching them
//! (`lockstep`), the simulation of PTX (`ptx_sim`).

pub mod accesses;
pub mod choose;
pub mod cli;
pub mod compare;
pub mod footprint;
pub mod guarded;
pub mod half_matrices;
pub mod hints;
pub mod home;
pub mod input;
pub mod inputs;
pub mod kernels;
pub mod lessons;
pub mod measure;
pub mod memory;
pub mod neighbors;
pub mod output;
pub mod profile;
pub mod ptx;
pub mod registry;
pub mod report;
pub mod run;
pub mod schedules;
pub mod scoreboard;
pub mod sim_bench;
pub mod trial;
pub mod verify;
