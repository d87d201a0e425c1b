//! What holds of the repository's files as files: their order, their heads, what they name.
//!
//! Each check is a function of texts and gives what is wrong; beside the test of the
//! repository stands one that proves, on a made-up input, that the check finds it.

mod order;
mod repository;
