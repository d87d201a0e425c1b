//! Video instructions.

use super::slot::Slot;
use crate::numeric::video::Video;

/// A video instruction on words.
pub(crate) struct VideoOp {
    pub video: Video,
    pub d: Slot,
    pub a: Slot,
    pub b: Slot,
    pub c: Slot,
}
