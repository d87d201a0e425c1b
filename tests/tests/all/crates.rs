//! Dependencies between the crates of the workspace, tests and build scripts included.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use structure::Graph;
use toml::Table;

fn manifest(folder: &Path) -> Table {
    let path = folder.join("Cargo.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.parse().expect("a manifest is TOML")
}

/// A crate of the workspace.
struct Member {
    /// Its folder, from the root.
    folder: String,
    /// Its library's name, by which others depend on it.
    name: String,
    manifest: Table,
}

fn members() -> Vec<Member> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let members = manifest(&root)["workspace"]["members"].clone();
    let of = |folder: &toml::Value| {
        let folder = folder.as_str().expect("a folder").to_owned();
        let manifest = manifest(&root.join(&folder));
        // Dependencies have the library's name, which the package may not have.
        let library = manifest.get("lib").and_then(|library| library.get("name"));
        let name = library.unwrap_or(&manifest["package"]["name"]);
        Member {
            folder,
            name: name.as_str().expect("a name").to_owned(),
            manifest,
        }
    };
    members.as_array().expect("a list").iter().map(of).collect()
}

impl Member {
    /// What it names in these tables of its manifest.
    fn needs(&self, kinds: &[&str]) -> BTreeSet<String> {
        let tables = kinds
            .iter()
            .filter_map(|kind| self.manifest.get(*kind)?.as_table());
        tables.flat_map(|table| table.keys().cloned()).collect()
    }
}

/// By crate, all that its manifest names.
fn needs() -> Graph {
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let of = |member: Member| (member.name.clone(), member.needs(&kinds));
    members().into_iter().map(of).collect()
}

/// What the libraries and programs of a product may need from others; tests may need more.
const PRODUCTS: [(&str, &[&str]); 6] = [
    ("simulator", &[]),
    ("crates", &["simulator"]),
    ("compat", &["simulator"]),
    ("gpu-kernels", &["crates"]),
    ("host", &["gpu-kernels", "crates", "simulator"]),
    ("cli", &["host", "crates", "simulator"]),
];

/// The edges between products that [`PRODUCTS`] does not have.
fn wrong_edges(members: &[Member]) -> Vec<String> {
    let product = |folder: &str| folder.split('/').next().unwrap_or(folder).to_owned();
    let mut wrong = Vec::new();
    for member in members {
        let own = product(&member.folder);
        let Some((_, allowed)) = PRODUCTS.iter().find(|(name, _)| *name == own) else {
            continue;
        };
        let needs = member.needs(&["dependencies", "build-dependencies"]);
        let needed = members.iter().filter(|other| needs.contains(&other.name));
        wrong.extend(needed.filter_map(|other| {
            let theirs = product(&other.folder);
            let is_right = theirs == own || allowed.contains(&theirs.as_str());
            (!is_right).then(|| format!("{} needs {}", member.folder, other.folder))
        }));
    }
    wrong
}

#[test]
fn products_need_each_other_in_one_direction() {
    let members = members();
    for (product, _) in PRODUCTS {
        let is_of_it = |member: &Member| member.folder.starts_with(product);
        assert!(members.iter().any(is_of_it), "{product} has no crate");
    }
    assert_eq!(wrong_edges(&members), [""; 0]);
}

#[test]
fn an_edge_in_the_other_direction_is_found() {
    let member = |folder: &str, name: &str, manifest: &str| Member {
        folder: folder.to_owned(),
        name: name.to_owned(),
        manifest: manifest.parse().expect("it is TOML"),
    };
    let members = [
        member("cli", "cli", "[dependencies]\nhost.workspace = true"),
        member("host", "host", "[dev-dependencies]\ncli.workspace = true"),
        member("crates/a", "a", "[dependencies]\nhost.workspace = true"),
    ];
    assert_eq!(wrong_edges(&members), ["crates/a needs host"]);
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

/// The packages that cargo compiles for what is chosen, each with its features.
fn compiled(chosen: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--edges=no-dev", "--prefix=none"])
        .args(["--format={p} {f}"])
        .args(chosen)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo is there");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && !text.is_empty(), "{chosen:?}");
    let without_mark = |line: &str| line.trim_end_matches(" (*)").to_owned();
    text.lines().map(without_mark).collect()
}

/// One feature that is on in only one of these builds, and the simulator is compiled twice.
#[test]
fn the_simulators_driver_has_the_workspaces_features() {
    const DRIVER: &str = "--package=sim_driver_library";
    let name = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    let of_driver: BTreeSet<_> = compiled(&[DRIVER]).iter().map(|line| name(line)).collect();
    assert!(of_driver.contains("ptx_sim") && of_driver.contains("proc-macro2"));
    // As `xtask` builds it.
    let mut own = compiled(&[DRIVER, "--package=xtask"]);
    own.retain(|line| of_driver.contains(&name(line)));
    let whole = compiled(&["--workspace"]);
    let others: Vec<_> = own.difference(&whole).collect();
    assert_eq!(
        others, [""; 0],
        "xtask/Cargo.toml can turn on what is missing"
    );
}
