//! The packages that make up a kernel crate: what cargo must watch, and which paths must not appear
//! in the PTX.

use crate::error::BuildError;
use crate::graph::Graph;
use crate::helpers::helpers;
use crate::local_memory::Owner;
use crate::toolchain::Progress;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The kernel crate and everything it depends on.
#[derive(Debug)]
pub(crate) struct Packages {
    /// The library's name as rustc spells it; empty if the package has no library.
    pub crate_name: String,
    /// The package's folder.
    dir: PathBuf,
    /// The root of the workspace, where `Cargo.lock` is.
    pub workspace_root: PathBuf,
    /// The packages that come from a path, the kernel crate among them: their folders, and cargo's
    /// names for them.
    pub local: BTreeMap<PathBuf, String>,
    /// Folders that hold packages from a registry.
    pub registries: BTreeSet<PathBuf>,
    /// Names of packages that are told to do without the standard library.
    pub helpers: Vec<String>,
    /// The kernel crate's dependencies that only the host has, as its sources call them.
    pub host_only: Vec<String>,
    /// The kernel crate's `links`, if by [`NOTHING_FOR_THE_DEVICE`] it says that its build script
    /// is for the host.
    pub links: Option<String>,
}

/// What `links` begins with in a package whose build script does nothing for its kernels.
const NOTHING_FOR_THE_DEVICE: &str = "ptx_";

/// In cargo's names for `cuda_std`, which is a package with a path in its own workspace.
const DEVICE_LIBRARIES: [&str; 2] = ["lockstep-cuda-std@", "lockstep-rust-cuda-std@"];

impl Packages {
    /// Asks cargo, reporting what it waits for.
    pub fn of(
        cargo: &mut Command,
        manifest: &Path,
        progress: &dyn Progress,
    ) -> Result<Self, BuildError> {
        cargo
            .args([
                "metadata",
                "--format-version=1",
                "--filter-platform=nvptx64-nvidia-cuda",
            ])
            .arg("--manifest-path")
            .arg(manifest);
        let failed = |output: String| BuildError::Cargo {
            command: "cargo metadata".into(),
            output,
        };
        let mut text = String::new();
        let (status, complaint) =
            crate::cargo::run(cargo, progress, |line| text += line).map_err(failed)?;
        if !status.success() {
            return Err(failed(complaint));
        }
        let metadata: Value = serde_json::from_str(&text).map_err(|e| failed(e.to_string()))?;
        Self::from_metadata(&metadata, manifest)
            .ok_or_else(|| failed(format!("{} is not among its packages", manifest.display())))
    }

    fn from_metadata(metadata: &Value, manifest: &Path) -> Option<Self> {
        let manifest = manifest.canonicalize().unwrap_or_else(|_| manifest.into());
        let graph = Graph::of(metadata)?;
        let manifest_of = |package: &Value| package["manifest_path"].as_str().map(PathBuf::from);
        let (root_id, root) = graph.packages.iter().find(|(_, package)| {
            manifest_of(package).is_some_and(|path| path.canonicalize().unwrap_or(path) == manifest)
        })?;

        let mut found = Self {
            crate_name: library(root).unwrap_or_default().replace('-', "_"),
            dir: manifest_of(root)?.parent()?.into(),
            workspace_root: metadata["workspace_root"].as_str()?.into(),
            local: BTreeMap::new(),
            registries: BTreeSet::new(),
            helpers: helpers(&graph, root_id),
            host_only: host_only(root, graph.edges.get(root_id)?),
            links: root["links"]
                .as_str()
                .filter(|links| links.starts_with(NOTHING_FOR_THE_DEVICE))
                .map(str::to_owned),
        };
        let mut seen = BTreeSet::new();
        let mut todo = vec![*root_id];
        while let Some(id) = todo.pop() {
            if !seen.insert(id) {
                continue;
            }
            let package = graph.packages.get(id)?;
            let folder = manifest_of(package)?.parent()?.to_path_buf();
            if package["source"].is_null() {
                found.local.insert(folder, id.to_owned());
            } else {
                found.registries.insert(folder.parent()?.to_path_buf());
            }
            let compiled = graph
                .edges
                .get(id)?
                .iter()
                .filter(|edge| !is_for_tests(edge));
            todo.extend(compiled.filter_map(|edge| edge["pkg"].as_str()));
        }
        Some(found)
    }

    /// The packages in the workspace's folder: their folders relative to its root, and cargo's names.
    pub fn in_workspace(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.local.iter().filter_map(|(dir, id)| {
            let dir = dir.strip_prefix(&self.workspace_root).ok()?;
            Some((dir, id.as_str()))
        })
    }

    /// Whose source a path in the PTX is.
    pub fn owner(&self, file: &str) -> Owner {
        let path = self.workspace_root.join(file);
        let is_users = self.local.iter().any(|(dir, id)| {
            path.starts_with(dir) && !DEVICE_LIBRARIES.iter().any(|name| id.contains(name))
        });
        // `core/src/…` may also name a folder in the workspace that has no such file.
        match (is_users && path.is_file(), file.starts_with("core/src/")) {
            (true, _) => Owner::User,
            (false, true) => Owner::Core,
            (false, false) => Owner::Library,
        }
    }

    /// The PTX with the source files of the workspace's own packages named relative to its root,
    /// wherever the workspace was when they were compiled; only a package in the root itself must
    /// still be where it was.
    pub fn own_paths_relative(&self, ptx: &str) -> String {
        let root = format!("{}/", with_slashes(&self.workspace_root));
        let own: Vec<String> = self
            .in_workspace()
            .map(|(dir, _)| dir)
            .filter(|dir| !dir.as_os_str().is_empty())
            .map(|dir| format!("/{}/", with_slashes(dir)))
            .collect();
        let mut out = String::with_capacity(ptx.len());
        for line in ptx.split_inclusive('\n') {
            match line.split_once('"') {
                Some((before, path)) if before.trim_start().starts_with(".file") => {
                    // On Windows: a backslash, escaped by another one.
                    let path = path.replace("\\\\", "/");
                    let ends = own.iter().filter_map(|dir| path.rfind(dir.as_str()));
                    // The longest name: `crates/std`, not `std`.
                    let cut = match ends.min().filter(|_| is_absolute(&path)) {
                        Some(at) => at + 1,
                        None if path.starts_with(&root) => root.len(),
                        None => 0,
                    };
                    out += &format!("{before}\"{}", &path[cut..]);
                }
                _ => out += line,
            }
        }
        out
    }

    /// The files other than sources that the PTX depends on, as far as cargo reports them:
    /// manifests and build scripts.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.watched().into_iter().filter(|path| path.is_file())
    }

    /// The same with source folders, for cargo to watch.
    pub fn watched(&self) -> Vec<PathBuf> {
        let own = self.dir.join("src");
        let mut paths: Vec<PathBuf> = self
            .local
            .keys()
            .flat_map(|package| ["Cargo.toml", "src", "build.rs"].map(|part| package.join(part)))
            .chain(["Cargo.toml", "Cargo.lock"].map(|file| self.workspace_root.join(file)))
            .filter(|path| *path != own && path.exists())
            .collect();
        paths.sort();
        paths.dedup();
        paths
    }
}

/// A path as text, with slashes on Windows too.
fn with_slashes(path: &Path) -> String {
    let text = path.to_string_lossy().into_owned();
    if cfg!(windows) {
        text.replace('\\', "/")
    } else {
        text
    }
}

/// Whether a path with slashes is `/…` or, on Windows, `C:/…`.
fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.get(1..).is_some_and(|rest| rest.starts_with(":/"))
}

/// The name of a package's library.
fn library(package: &Value) -> Option<&str> {
    let is_library = |target: &&Value| {
        let kinds = target["kind"].as_array();
        let is = |kind: &Value| LIBRARIES.contains(&kind.as_str().unwrap_or_default());
        kinds.is_some_and(|kinds| kinds.iter().any(is))
    };
    let mut targets = package["targets"].as_array()?.iter();
    targets.find(is_library)?["name"].as_str()
}

/// cargo's names for kinds of libraries, except those of macros.
const LIBRARIES: [&str; 5] = ["lib", "rlib", "dylib", "cdylib", "staticlib"];

/// The dependencies of a package that are not among its `edges`, which are those for the device.
fn host_only(package: &Value, edges: &[Value]) -> Vec<String> {
    let all = package["dependencies"].as_array().into_iter().flatten();
    let usual = all.filter(|dependency| dependency["kind"].is_null());
    let names = usual.filter_map(|dependency| {
        let name = dependency["rename"].as_str();
        let name = name.or(dependency["name"].as_str())?;
        Some(name.replace('-', "_"))
    });
    let is_missing = |name: &String| edges.iter().all(|edge| edge["name"] != **name);
    names.filter(is_missing).collect()
}

/// Whether a dependency is only for the package's own tests.
fn is_for_tests(edge: &Value) -> bool {
    let kinds = edge["dep_kinds"].as_array();
    kinds.is_some_and(|kinds| kinds.iter().all(|kind| kind["kind"] == "dev"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sources_of_the_workspace_are_named_from_its_root() {
        let mut packages = Packages {
            crate_name: "kernels".into(),
            dir: "/w/kernels".into(),
            workspace_root: "/w".into(),
            local: ["/w/kernels", "/w/crates/std", "/elsewhere/x"]
                .map(|dir| (dir.into(), String::new()))
                .into(),
            registries: BTreeSet::new(),
            helpers: Vec::new(),
            host_only: Vec::new(),
            links: None,
        };
        let ptx = "ld.global \"/\n\
            \t.file\t1 \"/w/kernels/src/lib.rs\"\n\
            \t.file\t2 \"/old/place/crates/std/src/a.rs\"\n\
            \t.file\t3 \"core/src/cmp.rs\"\n\
            \t.file\t4 \"/elsewhere/x/src/lib.rs\"\n";
        let expected = ptx.replace("/w/", "").replace("/old/place/", "");
        assert_eq!(packages.own_paths_relative(ptx), expected);
        let on_windows =
            "\t.file\t1 \"C:\\\\w\\\\kernels\\\\src\\\\lib.rs\"\n\t.file\t2 \"core\\\\a.rs\"\n";
        assert_eq!(
            packages.own_paths_relative(on_windows),
            "\t.file\t1 \"kernels/src/lib.rs\"\n\t.file\t2 \"core/a.rs\"\n"
        );
        packages.local = [("/w".into(), String::new())].into();
        assert_eq!(
            packages.own_paths_relative("\t.file\t1 \"/w/src/lib.rs\"\n"),
            "\t.file\t1 \"src/lib.rs\"\n"
        );
    }

    #[test]
    fn only_what_the_kernel_crate_reaches_is_watched() {
        let package = |id: &str, source: Value| {
            let targets = json!([{"kind": ["custom-build"], "name": "build-script-build"},
                {"kind": ["lib"], "name": format!("{id}_lib")}]);
            json!({"id": id, "source": source, "targets": targets,
                   "manifest_path": format!("/w/{id}/Cargo.toml")})
        };
        let normal = |id: &str| json!({"pkg": id, "name": id, "dep_kinds": [{"kind": null}]});
        let dev = |id: &str| json!({"pkg": id, "dep_kinds": [{"kind": "dev"}]});
        let mut kernels = package("kernels", Value::Null);
        kernels["dependencies"] = json!([
            {"name": "lockstep-cuda", "rename": "lockstep", "kind": null},
            {"name": "for-hosts", "rename": null, "kind": null},
            {"name": "std", "rename": null, "kind": null},
            {"name": "host", "rename": null, "kind": "dev"},
        ]);
        let metadata = json!({
            "workspace_root": "/w",
            "packages": [
                kernels, package("std", Value::Null),
                package("host", Value::Null), package("half", json!("registry+x")),
            ],
            "resolve": {"nodes": [
                {"id": "host", "deps": [normal("kernels")]},
                {"id": "kernels", "deps": [normal("std"), dev("host")]},
                {"id": "std", "deps": [normal("half")]},
                {"id": "half", "deps": []},
            ]},
        });
        let found = Packages::from_metadata(&metadata, Path::new("/w/kernels/Cargo.toml")).unwrap();
        assert_eq!(found.crate_name, "kernels_lib");
        assert_eq!(found.host_only, ["lockstep", "for_hosts"]);
        let named = |id: &str| (format!("/w/{id}").into(), id.to_owned());
        assert_eq!(found.local, ["kernels", "std"].map(named).into());
        assert_eq!(found.registries, ["/w"].map(PathBuf::from).into());
    }
}
