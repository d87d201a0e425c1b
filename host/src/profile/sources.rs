//! The sources that the kernels were compiled from, as they were then.

include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// The text of a file of the repository, if it is one that kernels are made of.
pub fn text(path: &str) -> Option<&'static str> {
    SOURCES
        .iter()
        .find(|(known, _)| *known == path)
        .map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn every_lessons_source_is_here() {
        for lesson in crate::registry::LESSONS {
            assert!(text(lesson.source).is_some(), "{}", lesson.source);
        }
        assert!(text("crates/cuda_std/src/thread.rs").is_some());
        assert!(text("core/src/option.rs").is_none());
    }
}
