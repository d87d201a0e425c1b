//! Timing of work on a GPU: contenders in turn ([`timing`]) or each alone ([`alone`]).

use super::super::timing::{Alone, Clocked, Conditions, Contender, Timed, Timing};
use super::super::{BaselineModule, EngineError, Library, LibraryCall};
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

    fn load_baselines(&self, baselines: &[BaselineModule]) -> Result<(), EngineError> {
        self.with_session(|session| session.load_baselines(baselines))
    }

    fn has_baseline(&self, entry: &str) -> bool {
        self.with_session(|session| Ok(session.has_baseline(entry)))
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
