//! Results as people read them ([`table`]) and as programs do ([`json`]).

pub mod counters;
pub mod json;
pub mod markdown;
pub mod table;
