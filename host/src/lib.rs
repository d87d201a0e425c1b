//! The lessons: inputs, shapes, references, launches, and claims about the costs of their
//! kernels.
//!
//! Reading order: [`registry`] (the list of lessons), [`lessons`] (the lessons
//! themselves, built from the parts that `lesson` defines), [`several`] (those of several devices), [`kernels`] (the kernels' PTX) with
//! [`home`] (its source) and [`ptx`] (one
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
pub mod several;
