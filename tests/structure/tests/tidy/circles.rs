//! In no crate do files, or the modules at its top, import each other in a circle. Circles that
//! are there are listed, and the list may only shrink.

use crate::repository::{root, rust_files};
use std::collections::BTreeSet;
use structure::{Graph, groups, imports, module_of, of_modules, read};

/// Files or modules that import each other.
struct Circle {
    /// The crate's folder.
    krate: &'static str,
    /// All that are in it.
    members: &'static [&'static str],
}

const fn circle(krate: &'static str, members: &'static [&'static str]) -> Circle {
    Circle { krate, members }
}

/// Nothing is added here: who needs something from both sides finds it a third place.
const KNOWN: &[Circle] = &[
    circle("compat/fatbin", &["compression.rs", "error.rs"]),
    circle(
        "compat/fatbin",
        &[
            "container.rs",
            "elf.rs",
            "entry.rs",
            "extent.rs",
            "image.rs",
        ],
    ),
    // The objects that a program has handles of, and the one place that has them all.
    circle(
        "compat/sim_driver",
        &[
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
        ],
    ),
    circle(
        "compat/sim_runtime",
        &[
            "current.rs",
            "driver.rs",
            "layouts.rs",
            "linking.rs",
            "registry.rs",
        ],
    ),
    circle(
        "gpu-kernels",
        &[
            "09_neighbor/03_cells/02_scan.rs",
            "09_neighbor/03_cells/parts/grid.rs",
        ],
    ),
    circle(
        "simulator/live",
        &["launch.rs", "lib.rs", "stride.rs", "tile.rs"],
    ),
    circle("simulator/ptx_sim", &["attributes", "launch", "occupancy"]),
    circle("simulator/ptx_sim", &["checks", "trace"]),
    circle("simulator/ptx_sim", &["lanes", "numeric"]),
    // The list of the simulator's tests, which takes its type from the one that includes it.
    circle(
        "simulator/ptx_sim/fuzz",
        &["../../tests/supported/lists.rs", "forms.rs"],
    ),
];

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

/// A crate's circles: those of its files, and of its modules those that no circle of files makes.
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

/// What is wrong with a crate's circles: one is new, or larger or smaller than it is known to be.
fn wrong(krate: &str, graph: &Graph, known: &[Circle]) -> Vec<String> {
    let own = known.iter().filter(|circle| circle.krate == krate);
    let own: Vec<&[&str]> = own.map(|circle| circle.members).collect();
    let found = found(graph);
    let new = found
        .iter()
        .filter(|group| !own.iter().any(|one| one == group));
    let gone = own
        .iter()
        .filter(|one| !found.iter().any(|group| *one == group));
    let new = new.map(|group| format!("{krate}: {group:?} import each other"));
    let gone = gone.map(|group| format!("{krate}: {group:?} are not this circle any more"));
    new.chain(gone).collect()
}

#[test]
fn nothing_imports_itself_by_way_of_others() {
    let (mut n_files, mut n_imports, mut all) = (0, 0, Vec::new());
    let crates = crates();
    for krate in &crates {
        let graph = imports(&read(&root().join(krate).join("src")));
        n_files += graph.len();
        n_imports += graph.values().map(BTreeSet::len).sum::<usize>();
        all.extend(wrong(krate, &graph, KNOWN));
    }
    // What is not read has no circles either.
    assert!(
        crates.len() > 25 && n_files > 800 && n_imports > 2500,
        "only {} crates, {n_files} files and {n_imports} imports",
        crates.len()
    );
    assert!(all.is_empty(), "{all:#?}");
}

#[test]
fn circles_that_are_new_gone_or_smaller_are_found() {
    let graph = |edges: &[(&str, &str)]| {
        let mut graph = Graph::new();
        for (from, to) in edges {
            graph
                .entry((*from).to_owned())
                .or_default()
                .insert((*to).to_owned());
        }
        graph
    };
    let circle = graph(&[("a.rs", "b.rs"), ("b.rs", "a.rs")]);
    let known = |members| {
        [Circle {
            krate: "x",
            members,
        }]
    };
    let files = known(&["a.rs", "b.rs"]);
    assert_eq!(wrong("x", &graph(&[("a.rs", "b.rs")]), &[]), [""; 0]);
    assert_eq!(wrong("x", &circle, &files), [""; 0]);
    let told = ["x: [\"a.rs\", \"b.rs\"] import each other"];
    assert_eq!(wrong("x", &circle, &[]), told);
    assert_eq!(wrong("y", &circle, &files).len(), 1);
    assert_eq!(
        wrong("x", &graph(&[("a.rs", "b.rs")]), &files),
        ["x: [\"a.rs\", \"b.rs\"] are not this circle any more"]
    );
    let larger = known(&["a.rs", "b.rs", "c.rs"]);
    assert_eq!(wrong("x", &circle, &larger).len(), 2);
    let of_modules = graph(&[("p/a.rs", "q.rs"), ("q.rs", "p/b.rs")]);
    let told = ["x: [\"p\", \"q\"] import each other"];
    assert_eq!(wrong("x", &of_modules, &[]), told);
}
