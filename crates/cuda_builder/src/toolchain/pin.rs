//! The release that kernels are compiled with.

/// A release, named as rustup names toolchains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// `1.97.1`
    pub channel: String,
}

impl Default for Pin {
    /// The release that everything here was tried with, and the only place where it is
    /// named. It is newer than the host's may be: the nvptx backend and the intrinsics
    /// for shared memory want it.
    fn default() -> Self {
        Self {
            channel: "1.97.1".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MINIMUM, Release};
    use super::Pin;

    #[test]
    fn the_release_serves() {
        assert!(Release::parse(&Pin::default().channel).unwrap() >= MINIMUM);
    }
}
