//! Which crate of the workspace needs which, tests and build scripts included.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use structure::Graph;
use toml::Table;

fn manifest(folder: &Path) -> Table {
    let path = folder.join("Cargo.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.parse().expect("a manifest is TOML")
}

/// By crate, all that its manifest names.
fn needs() -> Graph {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let members = manifest(&root)["workspace"]["members"].clone();
    let members = members.as_array().expect("a list").clone();
    let of = |member: toml::Value| {
        let manifest = manifest(&root.join(member.as_str().expect("a folder")));
        // Dependencies have the library's name, which the package may not have.
        let library = manifest.get("lib").and_then(|library| library.get("name"));
        let name = library.unwrap_or(&manifest["package"]["name"]);
        let name = name.as_str().expect("a name");
        let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
        let tables = kinds
            .iter()
            .filter_map(|kind| manifest.get(*kind)?.as_table());
        let needs: BTreeSet<String> = tables.flat_map(|table| table.keys().cloned()).collect();
        (name.to_owned(), needs)
    };
    members.into_iter().map(of).collect()
}

#[test]
fn no_crates_need_each_other() {
    let needs = needs();
    assert!(needs.len() > 15, "only {} crates were found", needs.len());
    structure::assert_no_circles(&needs);
}

#[test]
fn exercises_are_judged_without_lessons_and_command_lines() {
    let needs = needs();
    for upper in [
        "clap",
        "console",
        "gpu-kernels",
        "host",
        "lesson",
        "lockstep",
    ] {
        assert!(!needs["learn"].contains(upper), "learn needs {upper}");
    }
}

#[test]
fn lessons_are_defined_without_lessons_compilers_and_command_lines() {
    let needs = needs();
    for lower in ["lesson", "lockstep", "ptx_sim"] {
        for upper in ["clap", "cuda_builder", "gpu-kernels", "host"] {
            assert!(!needs[lower].contains(upper), "{lower} needs {upper}");
        }
    }
}
