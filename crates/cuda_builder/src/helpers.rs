//! Libraries of one's own that a kernel crate uses, and that say nothing of the standard library:
//! they are compiled without it, as the kernel crate is.
//!
//! Left out: libraries from a registry. One of those that does without the standard library says
//! so, and rustc's error about any other is clearer than those that it would get instead.

use crate::graph::Graph;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The names of those packages of cargo's metadata, for a kernel crate with the id `root`.
pub(crate) fn helpers(graph: &Graph, root: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut todo = vec![root];
    let mut helpers = Vec::new();
    while let Some(id) = todo.pop() {
        let (Some(package), Some(edges)) = (graph.packages.get(id), graph.edges.get(id)) else {
            continue;
        };
        let Some(library) = library(package) else {
            // A macro, which runs on the host, as does all that it needs.
            continue;
        };
        if !seen.insert(id) {
            continue;
        }
        if id != root && package["source"].is_null() && !mentions_no_std(library) {
            helpers.extend(package["name"].as_str().map(str::to_owned));
        }
        let for_device = edges.iter().filter(|edge| is_for_device(edge));
        todo.extend(for_device.filter_map(|edge| edge["pkg"].as_str()));
    }
    helpers.sort();
    helpers
}

/// The source file of a package's library, if it is one that code links.
fn library(package: &Value) -> Option<&Path> {
    let mut targets = package["targets"].as_array()?.iter();
    let is_library = |target: &&Value| {
        let kinds = target["kind"].as_array().into_iter().flatten();
        kinds
            .filter_map(Value::as_str)
            .any(|kind| kind.ends_with("lib"))
    };
    targets.find(is_library)?["src_path"]
        .as_str()
        .map(Path::new)
}

/// Whether a dependency is neither for build scripts nor for tests only.
fn is_for_device(edge: &Value) -> bool {
    let mut kinds = edge["dep_kinds"].as_array().into_iter().flatten();
    kinds.any(|kind| kind["kind"].is_null())
}

fn mentions_no_std(library: &Path) -> bool {
    fs::read_to_string(library).is_ok_and(|text| text.contains("no_std"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn own_libraries_without_a_word_about_it_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let package = |name: &str, source: Value, kind: &str, text: &str| {
            let src_path = dir.path().join(name);
            fs::write(&src_path, text).unwrap();
            json!({"id": name, "name": name, "source": source,
                   "targets": [{"kind": [kind], "src_path": src_path}]})
        };
        let edge = |pkg: &str, kind: Value| json!({"pkg": pkg, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [
                package("kernels", Value::Null, "cdylib", ""),
                package("shapes", Value::Null, "lib", "pub fn area() {}"),
                package("angles", Value::Null, "rlib", ""),
                package("said", Value::Null, "lib", "#![cfg_attr(not(test), no_std)]"),
                package("theirs", json!("registry+x"), "lib", ""),
                package("macros", Value::Null, "proc-macro", ""),
                package("of-macros", Value::Null, "lib", ""),
                package("of-build", Value::Null, "lib", ""),
            ],
            "resolve": {"nodes": [
                {"id": "kernels", "deps": [
                    edge("shapes", Value::Null), edge("said", Value::Null),
                    edge("theirs", Value::Null), edge("macros", Value::Null),
                    edge("of-build", json!("build")),
                ]},
                {"id": "shapes", "deps": [edge("angles", Value::Null)]},
                {"id": "macros", "deps": [edge("of-macros", Value::Null)]},
                {"id": "angles", "deps": [edge("shapes", json!("dev"))]},
                {"id": "said", "deps": []}, {"id": "theirs", "deps": []},
                {"id": "of-macros", "deps": []}, {"id": "of-build", "deps": []},
            ]},
        });
        let graph = Graph::of(&metadata).unwrap();
        assert_eq!(helpers(&graph, "kernels"), ["angles", "shapes"]);
    }
}
