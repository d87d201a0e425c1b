//! Imports between files.
//!
//! An edge from one file to another stands for
//!
//! - a `use` of something that the other defines;
//! - a path to it in code, macros included: one that begins with `crate`, `self` or
//!   `super`, with the name of a child module, or with a name that a `use` gives.
//!
//! A name is followed through the modules that only pass it on: importing
//! `program::Slot` is an edge to the file that defines `Slot`, not to
//! `program/mod.rs`. So a file that declares modules (`mod a;`) or exports their
//! names (`pub use a::A;`) does not import them by that; if its own code uses the
//! name, it does.
//!
//! Methods are not seen: `impl` blocks of one type may lie in several files, and a
//! call does not say which.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::source::{Source, Use};

/// By file, the files that it imports.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// The graph of a crate's files.
pub fn imports(sources: &[Source]) -> Graph {
    let names = Names::new(sources);
    let mut graph = Graph::new();
    for source in sources {
        let mut targets = BTreeSet::new();
        for used in &source.uses {
            let passes_on = used.is_export && !source.names.contains(&used.name);
            if !passes_on {
                targets.extend(names.file(&used.module, &used.path));
            }
        }
        for (module, path) in &source.paths {
            targets.extend(names.file(module, path));
        }
        targets.remove(&source.file);
        graph.insert(source.file.clone(), targets);
    }
    graph
}

/// The names in a crate, and what they stand for.
struct Names<'a> {
    /// The file of each module.
    files: BTreeMap<&'a [String], &'a str>,
    /// By module and name.
    uses: BTreeMap<(&'a [String], &'a str), &'a Use>,
}

impl<'a> Names<'a> {
    fn new(sources: &'a [Source]) -> Self {
        let mut files = BTreeMap::new();
        let mut uses = BTreeMap::new();
        for source in sources {
            files.insert(&source.module[..], source.file.as_str());
            for (child, is_inline) in &source.children {
                if *is_inline {
                    files.insert(&child[..], source.file.as_str());
                }
            }
            for used in &source.uses {
                uses.insert((&used.module[..], used.name.as_str()), used);
            }
        }
        Self { files, uses }
    }

    /// The file that defines a path named in a module, if it is one of the crate's.
    fn file(&self, module: &[String], path: &[String]) -> Option<String> {
        let mut at = module.to_vec();
        let mut path: VecDeque<String> = path.iter().cloned().collect();
        let mut is_inside = false;
        // A circle of names would not compile.
        for _ in 0..100 {
            let here = is_inside.then(|| self.files[&at[..]].to_owned());
            let Some(name) = path.pop_front() else {
                return here;
            };
            let child = [&at[..], std::slice::from_ref(&name)].concat();
            match name.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => {
                    at.pop();
                }
                _ if self.files.contains_key(&child[..]) => at = child,
                _ => match self.uses.get(&(&at[..], name.as_str())) {
                    Some(used) if used.path[0] != name => {
                        for part in used.path.iter().rev() {
                            path.push_front(part.clone());
                        }
                        continue;
                    }
                    // Defined here, or of another crate.
                    _ => return here,
                },
            }
            is_inside = true;
        }
        panic!("the name {path:?} in {module:?} stands for itself");
    }
}

/// The module at a crate's top that a file belongs to.
pub fn module_of(file: &str) -> String {
    let top = file.split('/').next().unwrap_or(file);
    top.trim_end_matches(".rs").to_owned()
}

/// The same for the modules at a crate's top, each with all the files below it. The code in
/// `lib.rs` itself is a module of that name.
pub fn of_modules(graph: &Graph) -> Graph {
    let mut modules = Graph::new();
    for (file, targets) in graph {
        let own = module_of(file);
        let others = targets.iter().map(|target| module_of(target));
        let others: BTreeSet<String> = others.filter(|other| *other != own).collect();
        modules.entry(own).or_default().extend(others);
    }
    modules
}

/// The groups of files that import each other, each in order.
pub fn groups(graph: &Graph) -> Vec<Vec<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = graph
        .keys()
        .map(|file| (file.as_str(), reached_from(graph, file)))
        .collect();
    let mut groups = Vec::new();
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for (file, others) in &reached {
        if known.contains(file) || !others.contains(file) {
            continue;
        }
        let is_of_it = |other: &&str| reached.get(other).is_some_and(|back| back.contains(file));
        let group: Vec<&str> = others.iter().copied().filter(is_of_it).collect();
        known.extend(&group);
        groups.push(group);
    }
    groups
}

/// What a file imports, and what that imports, and so on.
fn reached_from<'g>(graph: &'g Graph, file: &str) -> BTreeSet<&'g str> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![file];
    while let Some(file) = waiting.pop() {
        for target in graph.get(file).into_iter().flatten() {
            if reached.insert(target.as_str()) {
                waiting.push(target);
            }
        }
    }
    reached
}

/// A sentence for each group of files that import each other, with the shortest
/// circle through one of them.
pub fn circles(graph: &Graph) -> Vec<String> {
    let sentence = |group: Vec<&str>| {
        let way = way_between(graph, group[0], group[0]).unwrap_or_default();
        let (n_files, way) = (group.len(), way.join(" -> "));
        format!("{n_files} import each other: {way}\n  all of them: {group:?}")
    };
    groups(graph).into_iter().map(sentence).collect()
}

/// The shortest path of at least one import.
fn way_between(graph: &Graph, from: &str, to: &str) -> Option<Vec<String>> {
    let mut ways = VecDeque::from([vec![from.to_owned()]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        let last = way.last().expect("a way has a start");
        for target in graph.get(last).into_iter().flatten() {
            let mut longer = way.clone();
            longer.push(target.clone());
            if target == to {
                return Some(longer);
            }
            if seen.insert(target.clone()) {
                ways.push_back(longer);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate of these files.
    fn graph(files: &[(&str, &str)]) -> Graph {
        let sources: Vec<Source> = files
            .iter()
            .map(|(file, text)| {
                let module = file.trim_end_matches(".rs").trim_end_matches("/mod");
                let module = module.split('/').filter(|part| *part != "lib");
                Source::of(file, module.map(str::to_owned).collect(), text)
            })
            .collect();
        imports(&sources)
    }

    fn targets(graph: &Graph, file: &str) -> Vec<String> {
        graph[file].iter().cloned().collect()
    }

    #[test]
    fn a_circle_is_found_and_named() {
        let graph = graph(&[
            ("lib.rs", "mod a; mod b; mod c; mod d;"),
            ("a.rs", "use crate::b::B; struct A(B);"),
            ("b.rs", "fn b() { crate::c::c() }"),
            (
                "c.rs",
                "macro_rules! m { () => { super::a::A } } use crate::d;",
            ),
            ("d.rs", "struct D;"),
        ]);
        let circles = circles(&graph);
        assert_eq!(circles.len(), 1, "{circles:?}");
        assert!(circles[0].contains("3 import each other: a.rs -> b.rs -> c.rs -> a.rs"));
    }

    #[test]
    fn a_parent_that_uses_its_child_imports_it() {
        let graph = graph(&[
            ("lib.rs", "mod p;"),
            (
                "p/mod.rs",
                "mod child; pub struct P; fn p() { child::run() }",
            ),
            ("p/child.rs", "use super::P; pub fn run() {}"),
        ]);
        assert_eq!(circles(&graph).len(), 1);
    }

    #[test]
    fn what_is_only_declared_and_passed_on_is_no_import() {
        let graph = graph(&[
            ("lib.rs", "mod p; mod q; pub use p::A; pub(crate) use q::Q;"),
            (
                "p/mod.rs",
                "mod a; mod b; pub(crate) use a::{A, self as other}; pub use b::B;",
            ),
            ("p/a.rs", "pub struct A; fn a(b: super::B) {}"),
            ("p/b.rs", "use super::super::Q;"),
            ("q.rs", "pub struct Q;"),
        ]);
        assert_eq!(targets(&graph, "lib.rs"), [""; 0]);
        assert_eq!(targets(&graph, "p/mod.rs"), [""; 0]);
        assert_eq!(targets(&graph, "p/a.rs"), ["p/b.rs"]);
        assert_eq!(targets(&graph, "p/b.rs"), ["q.rs"]);
        assert!(circles(&graph).is_empty());
    }

    #[test]
    fn what_is_passed_on_and_used_is_an_import() {
        let graph = graph(&[
            ("lib.rs", "mod p;"),
            (
                "p/mod.rs",
                "mod a; pub use a::A; fn p(a: A) {} pub struct P;",
            ),
            ("p/a.rs", "pub struct A(super::P);"),
        ]);
        assert_eq!(circles(&graph).len(), 1);
    }

    #[test]
    fn modules_that_no_file_closes_a_circle_of_are_found() {
        let graph = graph(&[
            ("lib.rs", "mod p; mod q;"),
            ("p/mod.rs", "pub mod a; pub mod b;"),
            ("p/a.rs", "use crate::q::Q; struct A(Q);"),
            ("p/b.rs", "pub struct B;"),
            ("q.rs", "use crate::p::b::B; pub struct Q(B);"),
        ]);
        assert!(circles(&graph).is_empty());
        let circles = circles(&of_modules(&graph));
        assert_eq!(circles.len(), 1, "{circles:?}");
        assert!(circles[0].starts_with("2 import each other: p -> q -> p"));
    }

    #[test]
    fn names_are_followed_through_imports_and_tests_left_out() {
        let graph = graph(&[
            ("lib.rs", "mod p; mod q;"),
            (
                "p/mod.rs",
                "mod a; use crate::q::Q; pub(crate) use a::a as renamed;",
            ),
            (
                "p/a.rs",
                "use super::Q; pub fn a() {} #[cfg(test)] mod tests { use crate::q; }",
            ),
            (
                "q.rs",
                "use crate::p; pub struct Q; fn q() { p::renamed() }",
            ),
        ]);
        assert_eq!(targets(&graph, "p/a.rs"), ["q.rs"]);
        assert_eq!(targets(&graph, "q.rs"), ["p/a.rs", "p/mod.rs"]);
    }

    #[test]
    fn modules_written_out_belong_to_their_file() {
        let graph = graph(&[
            ("lib.rs", "mod a; mod b;"),
            (
                "a.rs",
                "mod inner { use super::super::b::B; use super::A; } struct A;",
            ),
            ("b.rs", "use std::fmt; pub struct B; use fmt::Debug;"),
        ]);
        assert_eq!(targets(&graph, "a.rs"), ["b.rs"]);
        assert_eq!(targets(&graph, "b.rs"), [""; 0]);
    }
}
