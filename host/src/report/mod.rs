//! Results as people read them ([`table`], [`bench_table`], [`markdown`]) and as
//! programs do ([`json`], [`bench`]).

pub mod bench;
pub mod bench_table;
pub mod counters;
pub mod json;
pub mod markdown;
pub mod metrics;
pub mod ncu;
pub mod table;
