//! Each library is ready for crates.io, as far as can be seen without compiling: its package has
//! what a reader and a registry need, and takes nothing from outside its folder. Whether the packed
//! libraries compile against each other is left to `cargo package` for all of them at once.
//! Licences are symbolic links, which a checkout on Windows may lack.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use toml::Table;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is in the repository")
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A library that is to be published.
struct Library {
    /// Its folder.
    dir: PathBuf,
    /// Its manifest.
    manifest: Table,
    /// The files that are packed.
    files: BTreeSet<String>,
}

/// All of them: the packages that name their registry.
static LIBRARIES: LazyLock<Vec<Library>> = LazyLock::new(|| {
    let workspace = workspace();
    let members = workspace["members"].as_array().expect("a list");
    let dirs = members
        .iter()
        .map(|member| root().join(member.as_str().expect("a folder")));
    dirs.filter_map(Library::of).collect()
});

impl Library {
    /// The library in a folder, if it is one.
    fn of(dir: PathBuf) -> Option<Self> {
        let manifest = dir.join("Cargo.toml");
        if !manifest.exists() {
            return None;
        }
        let manifest: Table = text(&manifest).parse().expect("it is TOML");
        let package = &manifest["package"];
        package.get("publish")?.as_array()?;
        let files = packed(package["name"].as_str().expect("a name"));
        Some(Self {
            dir,
            manifest,
            files,
        })
    }

    fn package(&self) -> &Table {
        self.manifest["package"].as_table().expect("a table")
    }

    fn name(&self) -> &str {
        self.package()["name"].as_str().expect("a name")
    }
}

/// The files of a package.
fn packed(name: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["package", "--list", "--offline", "--allow-dirty"])
        .args(["--package", name])
        .current_dir(root())
        .output()
        .expect("cargo is there");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let list = String::from_utf8(output.stdout).expect("paths in UTF-8");
    list.lines().map(str::to_owned).collect()
}

/// The workspace's table in its manifest.
fn workspace() -> Table {
    let manifest: Table = text(&root().join("Cargo.toml"))
        .parse()
        .expect("it is TOML");
    manifest["workspace"].as_table().expect("a table").clone()
}

#[test]
fn the_libraries_are_those_that_readers_are_told_of() {
    let found: BTreeSet<_> = LIBRARIES.iter().map(Library::name).collect();
    let changelog = text(&root().join("CHANGELOG.md"));
    let told = changelog
        .lines()
        .filter_map(|line| line.strip_prefix("- **`")?.split('`').next());
    assert_eq!(found, told.collect());
}

#[test]
fn packages_have_licences_and_a_readme() {
    for library in &*LIBRARIES {
        let files = &library.files;
        for file in ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "src/lib.rs"] {
            assert!(files.contains(file), "{} lacks {file}", library.name());
        }
        for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let packed = text(&library.dir.join(licence));
            assert_eq!(packed, text(&root().join(licence)), "{}", library.name());
        }
        let package = library.package();
        for field in ["description", "readme"] {
            assert!(package[field].is_str(), "{}: {field}", library.name());
        }
        for field in ["keywords", "categories"] {
            let n_words = package[field].as_array().expect("a list").len();
            // As many as crates.io takes.
            assert!((1..=5).contains(&n_words), "{}: {field}", library.name());
        }
    }
}

#[test]
fn what_libraries_depend_on_has_a_version_and_is_published_too() {
    let names: BTreeSet<_> = LIBRARIES.iter().map(Library::name).collect();
    let workspace = workspace();
    let workspace = workspace["dependencies"].as_table().expect("a table");
    for library in &*LIBRARIES {
        let dependencies = ["dependencies", "build-dependencies"]
            .iter()
            .filter_map(|kind| library.manifest.get(*kind)?.as_table());
        for (key, wanted) in dependencies.flatten() {
            let inherited = wanted.get("workspace").is_some();
            let wanted = if inherited { &workspace[key] } else { wanted };
            let edge = format!("{} depends on {key}", library.name());
            let has_version = wanted.is_str() || wanted.get("version").is_some();
            assert!(has_version, "{edge} without a version");
            if wanted.get("path").is_some() {
                let name = wanted.get("package").and_then(|name| name.as_str());
                let is_published = names.contains(name.unwrap_or(key));
                assert!(is_published, "{edge}, which is not to be published");
            }
        }
    }
}

#[test]
fn what_is_included_in_the_source_is_packed() {
    for library in &*LIBRARIES {
        let files = &library.files;
        for file in files.iter().filter(|file| file.ends_with(".rs")) {
            let path = library.dir.join(file);
            for included in included(&text(&path)) {
                let included = path.with_file_name(&included);
                let included = included.canonicalize().expect("it is there");
                let dir = library.dir.canonicalize().expect("it is there");
                let inside = included.strip_prefix(dir).ok().and_then(Path::to_str);
                assert!(
                    inside.is_some_and(|inside| files.contains(inside)),
                    "{file} of {} includes {}, which is not packed",
                    library.name(),
                    included.display()
                );
            }
        }
    }
}

#[test]
fn links_of_a_readme_lead_to_what_is_packed() {
    for library in &*LIBRARIES {
        let files = &library.files;
        let readme = text(&library.dir.join("README.md"));
        let links = readme.split("](").skip(1);
        for link in links.filter_map(|rest| rest.split([')', '#']).next()) {
            assert!(
                link.is_empty() || link.starts_with("https://") || files.contains(link),
                "the README of {} links to {link}, which is not packed",
                library.name()
            );
        }
    }
}

/// The files that a source text includes by name.
fn included(source: &str) -> Vec<String> {
    [
        "include!(\"",
        "include_str!(\"",
        "include_bytes!(\"",
        "#[path = \"",
    ]
    .iter()
    .flat_map(|start| source.split(start).skip(1))
    .filter_map(|rest| rest.split('"').next())
    .map(str::to_owned)
    .collect()
}

#[test]
fn includes_are_found() {
    let source = "const A: &str = include_str!(\"a.txt\");\n#[path = \"../b.rs\"]\nmod b;\n";
    assert_eq!(included(source), ["a.txt", "../b.rs"]);
    assert!(included("include_str!(env!(\"KERNELS_PTX\"))").is_empty());
}
