//! Runs PTX on the CPU, checks every access and counts memory work.

pub mod ir;
pub mod numeric;
pub mod parse;
