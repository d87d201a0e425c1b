//! The lessons: of each its inputs, shapes, references, launches, and claims about what its
//! kernels cost.
//!
//! Reading order: [`registry`] (what there is to run), [`lessons`] (the lessons
//! themselves, made of what `lesson` defines), [`kernels`] (the kernels' PTX) with [`home`] (where it comes from) and [`ptx`] (one
//! kernel of it), and [`hints`] (what to type).
//!
//! Left out: what a lesson is, and one walk over them (`lesson`); kernels
//! (`gpu-kernels`), their compilation (`cuda_builder`), launching them (`lockstep`), the
//! simulation of PTX (`ptx_sim`); instruments, reports and commands (`cli`).

pub mod hints;
pub mod home;
pub mod kernels;
pub mod lessons;
pub mod ptx;
pub mod registry;
