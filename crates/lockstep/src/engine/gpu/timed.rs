//! A GPU as what work is timed on: in turn ([`timing`]) or each piece alone ([`alone`]).

use super::super::timing::{Alone, Clocked, Conditions, Contender, Timed, Timing};
use super::super::{EngineError, Library, LibraryCall, PeerModule};
use super::device::Gpu;
use super::{alone, timing};
use std::path::Path;

impl Timing for Gpu {
    fn time(
        &self,
        contenders: &[Contender<'_>],
        conditions: &Conditions,
    ) -> Result<Option<Clocked>, EngineError> {
        timing::time(self, contenders, conditions).map(Some)
    }

    fn time_alone(
        &self,
        contender: &Contender<'_>,
        conditions: &Conditions,
    ) -> Result<Option<Alone>, EngineError> {
        alone::time(self, contender, conditions).map(Some)
    }

    fn perform(&self, work: &Timed<'_>) -> Result<(), EngineError> {
        timing::perform(self, work)
    }

    fn load_peers(&self, peers: &[PeerModule]) -> Result<(), EngineError> {
        self.with_session(|session| session.load_peers(peers))
    }

    fn has_peer(&self, entry: &str) -> bool {
        self.with_session(|session| Ok(session.has_peer(entry)))
            .unwrap_or(false)
    }

    fn load_library(&self, library: Library, file: &Path) -> Result<(), EngineError> {
        self.with_session(|session| session.libraries().load(library, file))
    }

    fn library_version(&self, library: Library) -> Option<String> {
        self.with_session(|session| Ok(session.libraries().version(library)))
            .ok()
            .flatten()
    }

    fn library_choice(&self, call: &LibraryCall) -> Option<String> {
        self.with_session(|session| Ok(session.libraries().choice(call)))
            .ok()
            .flatten()
    }
}
