//! Atomic operations: read, change and write back, indivisibly.
//!
//! Two threads that both do `counter = counter + 1` may both read 7 and both
//! write 8: one addition is lost. An *atomic* operation is a single step to all
//! other threads, and it returns the previous value, so that its thread knows which
//! step was its own: of a thousand threads that add 1, each gets a different number
//! from 0 to 999.
//!
//! # The table
//!
//! An atomic instruction has five parts, and this lesson runs every combination
//! that PTX has:
//!
//! ```text
//!   atom.acq_rel.gpu.global.add.u32  old, [address], value;
//!        ───┬─── ─┬─ ──┬─── ─┬─ ─┬─
//!         order scope space  │  type
//!                        operation
//! ```
//!
//! | operation | stores | types |
//! |---|---|---|
//! | add | `old + value` | u32 i32 u64 i64 f32 f64 f16x2 bf16x2 |
//! | sub | `old − value` | the same; PTX has no `sub`: it adds the negative |
//! | exch | `value` | all of these |
//! | cas | `if old == expected { value } else { old }` (same bits) | all of these |
//! | min, max | the smaller, the larger | u32 i32 u64 i64 |
//! | and, or, xor | bit by bit | u32 i32 u64 i64 |
//! | inc | `if old >= value { 0 } else { old + 1 }` | u32 |
//! | dec | `if old == 0 or old > value { value } else { old − 1 }` | u32 |
//!
//! - *Space*: shared memory has its atomic units in the SM, global
//!   memory in the L2 cache, a round trip of about a thousand cycles. In both, operations
//!   at one address are done one after the other.
//! - *Scope*: among which threads the operation is indivisible. A block's threads run on
//!   one SM, so the narrowest scope is the cheapest. A scope that is
//!   too narrow is a race, just as without an atomic.
//! - *Order*: what else becomes visible with it; see [`messages`].
//!
//! [`table`] has one kernel for each type, with all its operations in all spaces,
//! scopes and orders.
//!
//! # Checking the result
//!
//! The order of the threads is not determined, so there is no single right answer to
//! compare with. What must hold is that there is *some* order of the threads in
//! which the operations, done one after the other, give each thread the value it
//! got, and the end result. Draw the values as points, and each operation as an
//! arrow from the value it returned to the value it stored: such an order is a
//! path that starts at the first value, goes along every arrow once, and ends at
//! the last value. By Euler's theorem there is one exactly if
//!
//! - every value has as many arrows out as in, except for one more out at the first
//!   and one more in at the last, and
//! - all arrows are connected.
//!
//! So the check is complete, and fast: it accepts exactly what some sequence of
//! single steps can give. Where the end result does not depend on the
//! order (integer add, sub, min, max, and, or, xor, inc, dec), it is compared
//! with the sequential one as well, exactly.

#[path = "01_table.rs"]
pub mod table;
#[path = "02_messages.rs"]
pub mod messages;
