//! Results as people read them ([`table`], [`bench_table`], [`markdown`], [`tuning`]) and as
//! programs do ([`json`], [`mod@bench`]). What times mean: beside baselines ([`baselines`]), beside
//! targets ([`scoreboard`]), beside another run ([`compare`]). What people read fits their
//! terminal ([`width`], [`grid`]).

pub mod bench;
pub mod bench_table;
pub mod compare;
pub mod counters;
pub mod grid;
pub mod json;
pub mod ladder;
pub mod markdown;
pub mod metrics;
pub mod ncu;
pub mod scoreboard;
pub mod style;
pub mod table;
pub mod tuning;
pub mod baselines;
pub mod width;
