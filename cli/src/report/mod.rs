//! Results for people ([`table`], [`bench_table`], [`markdown`], [`tuning`]) and for
//! programs ([`json`], [`mod@bench`]). What times mean: against baselines ([`baselines`]), against
//! targets ([`scoreboard`]), against another run ([`compare`]). Text for people fits their
//! terminal ([`width`], [`grid`]).

pub mod bench;
pub mod bench_table;
pub mod compare;
pub mod devices;
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
