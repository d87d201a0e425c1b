//! The program `lockstep`: runs the lessons, and what it can say of their kernels.
//!
//! Reading order: [`choose`] (GPU or simulator), [`report`] (what times mean, and what people
//! see of them) and [`commands`]. Beside them, [`neighbors`]: atoms of the user's own and their
//! neighbour lists; [`profile`]: a kernel's memory work, line by line; [`explain`]: what its
//! accesses touch, as maps; [`web`]: a page of all lessons; [`accesses`]: single memory accesses,
//! on which the counting rules are tried; [`book`]: the book's chapters; and [`sim_bench`]: how
//! fast the simulator is. What a user names is read by [`input`] and written by [`output`].
//!
//! Left out: the lessons and their list (`host`), launching kernels (`lockstep`), the simulation
//! of PTX (`ptx_sim`).

pub mod accesses;
pub mod book;
pub mod choose;
pub mod commands;
pub mod explain;
pub mod input;
pub mod neighbors;
pub mod output;
pub mod profile;
pub mod report;
pub mod sim_bench;
pub mod web;
