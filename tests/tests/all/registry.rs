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
    assert_eq!(missing, [""; 0], "listed, but not in the PTX");
    assert_eq!(unlisted, [""; 0], "in the PTX, but in no lesson");
}

#[test]
fn every_lesson_is_whole() {
    for lesson in LESSONS {
        let (id, source) = (lesson.id, lesson.source);
        assert!(
            ptx::root().join(source).is_file(),
            "{id}: {source} is not a file"
        );
        assert!(!lesson.kernels.is_empty(), "{id} has no kernels");
        for text in [lesson.title, lesson.idea] {
            let is_title = !text.is_empty() && !text.ends_with('.');
            assert!(is_title, "{id}: {text}");
        }
    }
}
