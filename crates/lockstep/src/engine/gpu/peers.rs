//! GPUs that use each other's memory.

use super::device::Gpu;
use crate::driver::peers;
use crate::engine::EngineError;

impl Gpu {
    /// Whether its kernels can be given access to the memory of another one.
    pub(crate) fn can_access_peer(&self, peer: &Self) -> Result<bool, EngineError> {
        Ok(peers::can_access(self.ordinal, peer.ordinal)?)
    }

    /// Gives it to them, or takes it away.
    pub(crate) fn set_peer(&self, peer: &Self, may: bool) -> Result<(), EngineError> {
        /// `CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED`: by another library.
        const ALREADY: i32 = 704;
        if may && self.peers.borrow().contains(&peer.ordinal) {
            return Ok(());
        }
        // The peer's context is borrowed first: taking it makes it the current one.
        peer.with_session(|other| {
            self.with_session(|_| match may {
                true => match peers::enable(other.context()) {
                    Err(error) if error.code == ALREADY => Ok(()),
                    done => Ok(done?),
                },
                false => Ok(peers::disable(other.context())?),
            })
        })?;
        match may {
            true => self.peers.borrow_mut().insert(peer.ordinal),
            false => self.peers.borrow_mut().remove(&peer.ordinal),
        };
        Ok(())
    }
}
