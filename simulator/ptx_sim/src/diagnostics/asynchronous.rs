//! Error messages about asynchronous units: products of warpgroups, and accesses that bypass the
//! threads' own path to memory (the async proxy).

use std::fmt;

use super::text::{of_bytes, space_name};
use super::{AccessKind, AccessSide, AsyncFault};

impl fmt::Display for AsyncFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |f: &mut fmt::Formatter<'_>, side: &AccessSide, name: &str, this: &str| {
            let AccessSide { place, thread, .. } = side;
            write!(f, "\n  the {name}: {place}\n    {thread}\n  the {this}:")
        };
        match self {
            Self::BadWarpgroup { message } => write!(f, "bad warpgroup instruction: {message}"),
            Self::RegisterInFlight { writes, product } => {
                let what = if *writes {
                    "writes a register that a product of its warpgroup, which has not been waited \
                     for, may still read or write"
                } else {
                    "reads a sum of a product of its warpgroup that it has not waited for"
                };
                write!(f, "wgmma in flight: the instruction {what}")?;
                side(f, product, "product", "instruction")
            }
            Self::MissingProductFence { write: Some(write) } => {
                write!(
                    f,
                    "missing wgmma.fence: a product works on a register that was written after the \
                     warp's last fence"
                )?;
                side(f, write, "write", "product")
            }
            Self::MissingProductFence { write: None } => write!(
                f,
                "missing wgmma.fence: the warp has executed none before its first product"
            ),
            Self::OtherShape { product } => {
                write!(
                    f,
                    "wgmma in flight: a product adds to the sums of one of another shape, which \
                     has not been waited for"
                )?;
                side(f, product, "first", "second")
            }
            Self::MissingProxyFence { store, .. } => {
                write!(
                    f,
                    "missing proxy fence: {} through the async proxy, which may not see what a \
                     thread stored there",
                    self.place()
                )?;
                side(f, store, "store", "access")
            }
            Self::UnpublishedBarrier { init } => {
                write!(
                    f,
                    "missing fence: a bulk copy is counted by an mbarrier whose initialisation the \
                     async proxy may not see"
                )?;
                side(f, init, "initialisation", "copy")
            }
            Self::InFlight {
                operation,
                operation_writes,
                ..
            } => {
                let verb = ["reading", "writing"][usize::from(*operation_writes)];
                let kind = operation.kind;
                write!(
                    f,
                    "{kind} not waited for: {}, which it may still be {verb}",
                    self.place()
                )?;
                side(f, operation, "operation", "access")
            }
            Self::UnknownRegisters => write!(
                f,
                "setmaxnreg without effect: the kernel does not declare how many registers its \
                 threads begin with"
            ),
        }
    }
}

impl AsyncFault {
    /// What was accessed, and where.
    fn place(&self) -> String {
        match self {
            Self::MissingProxyFence {
                access,
                space,
                address,
                bytes,
                relation,
                ..
            }
            | Self::InFlight {
                access,
                space,
                address,
                bytes,
                relation,
                ..
            } => format!(
                "{} at {} address {address:#x} ({})",
                of_bytes(*access, *bytes),
                space_name(*space),
                relation.describe(*bytes)
            ),
            _ => String::new(),
        }
    }

    /// What to do about it.
    pub(super) fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::BadWarpgroup { .. } => return None,
            Self::RegisterInFlight { writes: true, .. } => {
                "write it after the wait for the product (wgmma.wait_group), or use other \
                 registers"
            }
            Self::RegisterInFlight { writes: false, .. } => {
                "commit the product (wgmma.commit_group) and wait for its group (wgmma.wait_group) \
                 first"
            }
            Self::MissingProductFence { .. } => {
                "execute wgmma.fence between the writes to the registers and the product"
            }
            Self::OtherShape { .. } => {
                "wait for the first product's group (wgmma.wait_group) first"
            }
            Self::MissingProxyFence { .. } => {
                "let the threads that store execute fence.proxy.async after their stores and \
                 before the barrier that the reader passes"
            }
            Self::UnpublishedBarrier { .. } => {
                "let the thread execute fence.mbarrier_init (or fence.proxy.async) after the \
                 initialisation, and before the barrier that other threads pass"
            }
            Self::InFlight { operation, .. } => match operation.kind {
                AccessKind::Product => {
                    "wait for the product's group (wgmma.wait_group), then put a barrier for the \
                     other threads"
                }
                _ => "wait for the operation to complete, then put a barrier for the other threads",
            },
            Self::UnknownRegisters => {
                "declare the block's size (launch bounds, `.maxntid`) or `.maxnreg`: without \
                 either, the assembler drops setmaxnreg"
            }
        })
    }
}
