//! Rules for the repository's files as files: their order, their heads, what they name.
//!
//! Each check is a function of texts that returns what is wrong. Next to the test of the
//! repository is one that proves, on a made-up input, that the check can fail.

mod circles;
mod cust;
mod documents;
mod functions;
mod heads;
mod order;
mod paths;
mod repository;
mod results;
mod targets;
mod times;
mod words;
