//! No circles of imports: neither a crate's files nor the modules at its top import each other.
//! What both sides need gets a third place.

use crate::repository::{root, rust_files};
use std::collections::BTreeSet;
use structure::{Graph, groups, imports, module_of, of_modules, read};

/// The folders of all crates: those with `src/lib.rs` or `src/main.rs`.
fn crates() -> BTreeSet<String> {
    let files = rust_files().into_iter();
    let of_root = |file: String| {
        let folder = file
            .strip_suffix("/src/lib.rs")
            .or(file.strip_suffix("/src/main.rs"))?;
        Some(folder.to_owned())
    };
    files.filter_map(of_root).collect()
}

/// A crate's circles: those of its files, and those of its modules that no circle of files causes.
fn found(graph: &Graph) -> Vec<Vec<String>> {
    let owned = |groups: Vec<Vec<&str>>| -> Vec<Vec<String>> {
        let own = |group: Vec<&str>| group.into_iter().map(str::to_owned).collect();
        groups.into_iter().map(own).collect()
    };
    let mut found = owned(groups(graph));
    let spanned: Vec<BTreeSet<String>> = found
        .iter()
        .map(|group| group.iter().map(|file| module_of(file)).collect())
        .collect();
    let mut modules = owned(groups(&of_modules(graph)));
    modules.retain(|group| !spanned.contains(&group.iter().cloned().collect()));
    found.extend(modules);
    found
}

#[test]
fn nothing_imports_itself_by_way_of_others() {
    let (mut n_files, mut n_imports, mut all) = (0, 0, Vec::new());
    let crates = crates();
    for krate in &crates {
        let graph = imports(&read(&root().join(krate).join("src")));
        n_files += graph.len();
        n_imports += graph.values().map(BTreeSet::len).sum::<usize>();
        let circles = found(&graph).into_iter();
        all.extend(circles.map(|group| format!("{krate}: {group:?} import each other")));
    }
    // Files that were not read would have no circles either.
    assert!(
        crates.len() > 25 && n_files > 800 && n_imports > 2500,
        "only {} crates, {n_files} files and {n_imports} imports",
        crates.len()
    );
    assert!(all.is_empty(), "{all:#?}");
}

#[test]
fn nothing_in_the_driver_imports_its_functions_but_the_library_itself() {
    let graph = imports(&read(&root().join("compat/sim_driver/src")));
    assert!(graph.contains_key("api/device.rs") && graph.contains_key("lib.rs"));
    for (file, targets) in graph {
        let is_below = !file.starts_with("api/") && file != "lib.rs";
        let above = targets.iter().find(|target| target.starts_with("api/"));
        assert!(!(is_below && above.is_some()), "{file} imports {above:?}");
    }
}

#[test]
fn circles_of_files_and_of_modules_are_found() {
    let found = |edges: &[(&str, &str)]| {
        let mut graph = Graph::new();
        for (from, to) in edges {
            let targets = graph.entry((*from).to_owned()).or_default();
            targets.insert((*to).to_owned());
        }
        found(&graph)
    };
    assert!(found(&[("a.rs", "b.rs")]).is_empty());
    let files = [("a.rs", "b.rs"), ("b.rs", "a.rs")];
    assert_eq!(found(&files), [["a.rs", "b.rs"]]);
    let modules = [("p/a.rs", "q.rs"), ("q.rs", "p/b.rs")];
    assert_eq!(found(&modules), [["p", "q"]]);
}
