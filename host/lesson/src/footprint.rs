//! The memory that a case takes, estimated before it runs, so that a case that does not fit is
//! refused with a message rather than killed by the system.

use crate::memory::{self, Free};
use indicatif::HumanBytes;
use lockstep::engine::EngineKind;
use std::fmt;

/// Memory of a case at its peak, in bytes. Lessons state it; their tests
/// check it against the actual allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Buffers on the device.
    pub device_bytes: u128,
    /// Inputs, results read back and references, on the host.
    pub host_bytes: u128,
}

impl Footprint {
    /// This many bytes for each of `n` elements. Users choose sizes, so
    /// nothing here may overflow.
    pub const fn of(n: u128, device_bytes_each: u128, host_bytes_each: u128) -> Self {
        Self {
            device_bytes: n.saturating_mul(device_bytes_each),
            host_bytes: n.saturating_mul(host_bytes_each),
        }
    }

    /// All of it.
    pub fn bytes(self) -> u128 {
        self.device_bytes.saturating_add(self.host_bytes)
    }

    /// Less than the program takes anyway, whatever the shape.
    pub const SMALL: Self = Self {
        device_bytes: 0,
        host_bytes: 0,
    };

    /// Memory for the checks of this much simulated memory when every access is checked:
    /// a line of 128 bytes takes 32, and up to 1280 more if lanes access its words
    /// irregularly, though only for this many lines; and each byte needs a bit.
    pub fn checks_bytes(self) -> u128 {
        const MOST_SPLIT_LINES: u128 = 1 << 18;
        let n_lines = self.device_bytes.div_ceil(128);
        let irregular = n_lines.min(MOST_SPLIT_LINES) * 1280;
        let bits = self.device_bytes.div_ceil(8);
        n_lines.saturating_mul(32).saturating_add(irregular + bits)
    }
}

/// Memory of the program itself, whatever it runs: parsed PTX, the simulator's threads.
const PROGRAM_BYTES: u128 = 64 << 20;

/// More memory is needed than there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMuch {
    /// The simulated device's; 0 on a GPU, which has its own memory.
    device_bytes: u128,
    host_bytes: u128,
    checks_bytes: u128,
    free: Free,
}

impl TooMuch {
    fn total(&self) -> u128 {
        [self.device_bytes, self.host_bytes, self.checks_bytes]
            .into_iter()
            .fold(PROGRAM_BYTES, u128::saturating_add)
    }
}

/// For people; excessive numbers become the largest possible.
pub(crate) fn human(bytes: u128) -> HumanBytes {
    HumanBytes(u64::try_from(bytes).unwrap_or(u64::MAX))
}

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "about {} of memory are needed", human(self.total()))?;
        if self.device_bytes > 0 {
            write!(f, " ({} simulated", human(self.device_bytes))?;
            if self.checks_bytes > 0 {
                write!(f, ", {} for the checks", human(self.checks_bytes))?;
            }
            let on_host = self.host_bytes.saturating_add(PROGRAM_BYTES);
            write!(f, ", {} on the host)", human(on_host))?;
        }
        write!(
            f,
            ", and {} are free {}",
            HumanBytes(self.free.bytes),
            self.free.limit.place()
        )
    }
}

impl std::error::Error for TooMuch {}

/// Checks that this much memory is free for a run on that engine, with the simulator's
/// checks or without.
///
/// # Errors
///
/// There is not enough. If the system does not report it, it is assumed to be free.
pub fn check(footprint: Footprint, engine: EngineKind, with_checks: bool) -> Result<(), TooMuch> {
    match memory::free() {
        Some(free) => check_in(footprint, engine, with_checks, free),
        None => Ok(()),
    }
}

/// The same with this much free memory.
///
/// # Errors
///
/// It is not enough.
pub fn check_in(
    footprint: Footprint,
    engine: EngineKind,
    with_checks: bool,
    free: Free,
) -> Result<(), TooMuch> {
    let is_simulated = engine == EngineKind::Sim;
    let only_if = |condition: bool, bytes: u128| if condition { bytes } else { 0 };
    let need = TooMuch {
        device_bytes: only_if(is_simulated, footprint.device_bytes),
        host_bytes: footprint.host_bytes,
        checks_bytes: only_if(is_simulated && with_checks, footprint.checks_bytes()),
        free,
    };
    // Less than the program itself needs is never worth refusing.
    let own = footprint.bytes();
    if own > PROGRAM_BYTES && need.total() > u128::from(free.bytes) {
        Err(need)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Footprint, check_in};
    use crate::memory::{Free, Limit};
    use lockstep::engine::EngineKind;

    const FREE: Free = Free {
        bytes: 1 << 30,
        limit: Limit::Machine,
    };

    #[test]
    fn a_gpu_has_memory_of_its_own() {
        let large = Footprint::of(1 << 30, 4, 0);
        assert!(check_in(large, EngineKind::Gpu, false, FREE).is_ok());
        let error = check_in(large, EngineKind::Sim, false, FREE).expect_err("4 GiB");
        assert_eq!(
            error.to_string(),
            "about 4.06 GiB of memory are needed (4.00 GiB simulated, 64.00 MiB on the host), \
             and 1.00 GiB are free on this machine"
        );
    }

    #[test]
    fn checks_need_memory_too() {
        let half = Footprint::of(1 << 29, 1, 0);
        assert!(check_in(half, EngineKind::Sim, false, FREE).is_ok());
        let error = check_in(half, EngineKind::Sim, true, FREE).expect_err("more");
        assert!(error.to_string().contains("for the checks"), "{error}");
    }
}
