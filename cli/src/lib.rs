//! The program `lockstep`: runs the lessons, and reports on their kernels.
//!
//! Reading order: [`choose`] (GPU or simulator), [`report`] (what times mean, and their
//! display) and [`commands`]. In addition, [`neighbors`]: the user's own atoms and their
//! neighbour lists; [`profile`]: a kernel's memory work, line by line; [`explain`]: what its
//! accesses touch, as maps; [`web`]: a page of all lessons; [`accesses`]: single memory accesses,
//! with which the counting rules are checked; [`book`]: the book's chapters; and [`sim_bench`]:
//! the simulator's speed. Files that a user names are read by [`input`] and written by [`output`],
//! sizes by [`shape`].
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
pub mod shape;
pub mod sim_bench;
pub mod web;
