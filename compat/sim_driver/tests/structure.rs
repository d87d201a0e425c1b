//! The shape of the source: what imports what.

use std::collections::BTreeSet;
use std::path::Path;

use structure::Graph;

/// The objects that a program has handles of, and the one place that has them all: each
/// refers to others by what it is, so that these files import each other. It may become
/// smaller.
const OBJECTS: [&str; 16] = [
    "capture.rs",
    "context.rs",
    "copies.rs",
    "driver.rs",
    "event.rs",
    "graph.rs",
    "host_memory.rs",
    "image.rs",
    "launch.rs",
    "module.rs",
    "operation.rs",
    "orders.rs",
    "pool.rs",
    "recorder.rs",
    "stream.rs",
    "user_object.rs",
];

fn imports() -> Graph {
    structure::imports_of(Path::new("src"), (40, 120))
}

/// The graph with the objects as one.
fn with_objects_as_one(graph: &Graph) -> Graph {
    let whole = |file: &String| match OBJECTS.contains(&file.as_str()) {
        true => "objects".to_owned(),
        false => file.clone(),
    };
    let mut folded = Graph::new();
    for (file, targets) in graph {
        let own = whole(file);
        let others = targets.iter().map(whole).filter(|other| *other != own);
        folded.entry(own.clone()).or_default().extend(others);
    }
    folded
}

#[test]
fn no_files_but_the_objects_import_each_other_in_a_circle() {
    let files = imports();
    structure::assert_no_circles(&with_objects_as_one(&files));
    let known: BTreeSet<&str> = files.keys().map(String::as_str).collect();
    for file in OBJECTS {
        assert!(
            known.contains(file),
            "there is no {file}: take it off the list"
        );
    }
}

#[test]
fn nothing_imports_the_functions_but_the_library_itself() {
    for (file, targets) in imports() {
        let is_below = !file.starts_with("api/") && file != "lib.rs";
        let above = targets.iter().find(|target| target.starts_with("api/"));
        assert!(!(is_below && above.is_some()), "{file} imports {above:?}");
    }
}
