//! The registry and the PTX agree, both ways: every kernel that is listed
//! exists, and every kernel that exists is listed.

use host::registry::{LESSONS, kernels};
use lockstep_tests::ptx;
use std::collections::BTreeSet;

fn entries() -> BTreeSet<String> {
    ptx::modules()
        .iter()
        .flat_map(|module| {
            let text = module.text().expect("the kernels compile");
            host::ptx::entries(text)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn listed_kernels_exist_and_existing_kernels_are_listed() {
    let mut listed: BTreeSet<_> = kernels()
        .map(|registered| registered.kernel.id.to_owned())
        .collect();
    listed.extend(host::several::kernels().map(str::to_owned));
    let existing = entries();
    let missing: Vec<_> = listed.difference(&existing).collect();
    let unlisted: Vec<_> = existing.difference(&listed).collect();
    assert!(
        missing.is_empty(),
        "listed, but not in the PTX: {missing:?}"
    );
    assert!(
        unlisted.is_empty(),
        "in the PTX, but in no lesson: {unlisted:?}"
    );
}

#[test]
fn every_lesson_is_whole() {
    for lesson in LESSONS {
        let source = ptx::root().join(lesson.source);
        assert!(
            source.is_file(),
            "{}: {} is not a file",
            lesson.id,
            lesson.source
        );
        assert!(!lesson.kernels.is_empty(), "{} has no kernels", lesson.id);
        for text in [lesson.title, lesson.idea] {
            assert!(
                !text.is_empty() && !text.ends_with('.'),
                "{}: {text}",
                lesson.id
            );
        }
    }
}
