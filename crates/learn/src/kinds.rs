//! Kinds of failure, as exercises and cheats name them. Verdicts begin with them.
//!
//! | kind | what was seen |
//! |---|---|
//! | `compile` | the compiler refuses it |
//! | `launch` | there is no such kernel, or it takes other arguments |
//! | `out-of-bounds`, `misaligned` | an access to unallocated memory, or at a wrong address |
//! | `race` | two accesses in no order |
//! | `unwritten` | a read of unwritten memory |
//! | `barrier`, `deadlock` | a barrier that not all threads reach |
//! | `endless` | a kernel that does not end |
//! | `warp` | a warp-wide instruction some of whose lanes are missing |
//! | `in-flight` | an access to what a copy may still be working on |
//! | `panic` | a panic, or a trap |
//! | `fault` | anything else that stops a kernel |
//! | `result` | wrong results |
//! | `order` | wrong results in another order than the usual one |
//! | `contract` | instructions other than those the exercise is about |
//! | `count` | a claim about counts that is not met |

/// All of them.
pub const KINDS: [&str; 17] = [
    "compile",
    "launch",
    "out-of-bounds",
    "misaligned",
    "race",
    "unwritten",
    "barrier",
    "deadlock",
    "endless",
    "warp",
    "in-flight",
    "panic",
    "fault",
    "result",
    "order",
    "contract",
    "count",
];
