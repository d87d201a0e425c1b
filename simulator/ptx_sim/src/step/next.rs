//! The end of a block, for a path.

/// What a path does after a block.
pub(super) enum Next {
    /// It is in another block of the same call.
    Block,
    /// It is in another call.
    Frame,
    /// Its lanes wait at a join or have ended.
    Gone,
    /// It waits.
    Wait,
}
