//! Errors of the device's compiler, left for the host's compiler to show.
//!
//! A build script that fails tells an editor nothing, and people much that is not about their
//! error. So a build script whose kernels do not compile ends well, but leaves their errors in a
//! folder, in rustc's own form. The macros `#[kernel]` and `lockstep::kernels!` (`cuda_std_macros`)
//! pass them on to cargo while the host's compiler runs, and make it fail. Errors then have their
//! place in the source, for people and for editors, even in functions that no macro sees.
//!
//! | file of the folder | content |
//! |---|---|
//! | `plain`, `coloured` | a letter and a message of rustc, in JSON, per line: `D` is an error that only the device has, `B` one that the host's compiler finds itself in the same source |
//! | `summary` | a sentence for people |
//!
//! No program can be made until the kernels compile, even if no such macro is used: there is no PTX
//! at the path that the application includes, and the library cannot be linked.

use crate::advice::{self, Origin, plain};
use serde_json::Value;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The variable that names the folder, for the macros.
const FOLDER: &str = "LOCKSTEP_DEVICE_ERRORS";

/// The variable that names the crate that has the errors, if it is the build script's own package.
const CRATE: &str = "LOCKSTEP_DEVICE_ERRORS_CRATE";

/// The errors of a crate of kernels, as the device's compiler found them.
#[derive(Clone, Default)]
pub struct DeviceErrors(Vec<DeviceError>);

#[derive(Clone)]
struct DeviceError {
    /// rustc's message, with colours.
    diagnostic: Value,
    is_of_device: bool,
}

impl DeviceErrors {
    /// Takes an error of rustc's.
    pub(crate) fn take(&mut self, mut diagnostic: Value, origin: &Origin<'_>) {
        // Where something else is wrong, that is the reason.
        let is_handler =
            |diagnostic: &Value| text(diagnostic, "message") == advice::NO_PANIC_HANDLER;
        if is_handler(&diagnostic) && !self.is_empty() {
            return;
        }
        self.0.retain(|error| !is_handler(&error.diagnostic));
        let is_of_device = advice::is_of_device(&diagnostic, origin);
        advice::add(&mut diagnostic, origin);
        self.0.push(DeviceError {
            diagnostic,
            is_of_device,
        });
    }

    /// Takes a note of rustc's that belongs to the error before it, if it does.
    pub(crate) fn go_on(&mut self, note: &Value) {
        let is_of_error = text(note, "message").starts_with("the above error was encountered");
        if let Some(error) = self.0.last_mut().filter(|_| is_of_error) {
            let rendered = text(&error.diagnostic, "rendered") + &text(note, "rendered");
            error.diagnostic["rendered"] = rendered.into();
            if let Some(children) = error.diagnostic["children"].as_array_mut() {
                children.push(note.clone());
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them as rustc prints them, with colours.
    pub(crate) fn rendered(&self) -> String {
        let texts = self
            .0
            .iter()
            .map(|error| text(&error.diagnostic, "rendered"));
        texts.collect()
    }

    /// Leaves them for the compilation of the build script's package. `exported_as` is the variable
    /// for the path of the PTX, `own` the crate of the kernels if it is in that package, and `root`
    /// the folder that the messages' paths are relative to if the package is outside of it.
    pub(crate) fn leave(
        &self,
        out_dir: &Path,
        exported_as: &str,
        own: Option<&str>,
        root: Option<&Path>,
    ) -> io::Result<()> {
        let dir = out_dir.join("device-errors");
        fs::create_dir_all(&dir)?;
        let mut errors = self.clone();
        if let Some(root) = root {
            for error in &mut errors.0 {
                make_absolute(&mut error.diagnostic, root);
            }
        }
        fs::write(dir.join("coloured"), errors.lines())?;
        for error in &mut errors.0 {
            let rendered = plain(&text(&error.diagnostic, "rendered"));
            error.diagnostic["rendered"] = rendered.into();
        }
        fs::write(dir.join("plain"), errors.lines())?;
        let summary = self.summary();
        fs::write(dir.join("summary"), &summary)?;
        println!("cargo::rustc-env={FOLDER}={}", dir.display());
        if let Some(name) = own {
            println!("cargo::rustc-env={CRATE}={name}");
        }
        // For `include_str!`, which says that it cannot read this.
        let none: PathBuf = out_dir.join(format!("no PTX, because {summary}"));
        println!("cargo::rustc-env={exported_as}={}", none.display());
        println!("cargo::rustc-link-lib=static={}", self.library());
        // What does not exist has always changed: the next build tries again.
        println!("cargo::rerun-if-changed={}", none.display());
        Ok(())
    }

    fn lines(&self) -> String {
        let line = |error: &DeviceError| {
            let letter = if error.is_of_device { 'D' } else { 'B' };
            format!("{letter}{}\n", error.diagnostic)
        };
        self.0.iter().map(line).collect()
    }

    /// A library that does not exist, by a name that says why the crate cannot be linked. rustc
    /// takes what follows a colon for another name.
    fn library(&self) -> String {
        let first = self.first().map_or_else(String::new, |first| {
            let place = place(first).unwrap_or_default();
            format!(" ({place}, {})", text(first, "message"))
        });
        let name = format!("kernels that compile for the device{first}");
        name.replace([':', '\n'], " ")
    }

    /// The first error, if possible one that the host's compiler does not show itself.
    fn first(&self) -> Option<&Value> {
        let of_device = self.0.iter().find(|error| error.is_of_device);
        of_device.or(self.0.first()).map(|error| &error.diagnostic)
    }

    /// A sentence with a place.
    fn summary(&self) -> String {
        let first = self.first().and_then(place);
        let first = first.map_or_else(String::new, |first| {
            format!("; the first error is at {first}")
        });
        format!("the kernels do not compile for the device{first}")
    }
}

impl fmt::Debug for DeviceErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary())
    }
}

fn text(diagnostic: &Value, part: &str) -> String {
    diagnostic[part].as_str().unwrap_or_default().to_owned()
}

/// `src/kernels.rs:31:17`.
fn place(diagnostic: &Value) -> Option<String> {
    let span = advice::primary(diagnostic)?;
    let (line, column) = (span["line_start"].as_u64()?, span["column_start"].as_u64()?);
    Some(format!("{}:{line}:{column}", span["file_name"].as_str()?))
}

/// Makes the paths of a message absolute, which are relative to `root`; its text stays.
fn make_absolute(of: &mut Value, root: &Path) {
    match of {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(path) if name == "file_name" => {
                        *path = root.join(&*path).display().to_string();
                    }
                    value => make_absolute(value, root),
                }
            }
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| make_absolute(value, root)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{DeviceErrors, Origin};
    use serde_json::{Value, json};
    use std::fs;
    use std::path::Path;

    fn error(code: Value, message: &str, rendered: &str) -> Value {
        json!({
            "level": "error", "message": message, "code": {"code": code}, "rendered": rendered,
            "spans": [{"file_name": "src/kernels.rs", "line_start": 31, "column_start": 17}],
            "children": [],
        })
    }

    #[test]
    fn they_are_left_with_and_without_colours_and_with_their_kind() {
        let mut errors = DeviceErrors::default();
        let rendered = "\u{1b}[1m\u{1b}[91merror[E0433]\u{1b}[0m: cannot find\n  --> src/kernels.rs:31:17\n   |\n\n";
        errors.take(
            error(
                json!("E0433"),
                "cannot find type `Vec` in this scope",
                rendered,
            ),
            &Origin::default(),
        );
        errors.take(
            error(json!("E0308"), "mismatched types", "mismatched\n"),
            &Origin::default(),
        );
        let out = tempfile::tempdir().unwrap();
        errors
            .leave(out.path(), "KERNELS_PTX", None, Some(Path::new("/w")))
            .unwrap();
        let read = |file| fs::read_to_string(out.path().join("device-errors").join(file)).unwrap();
        let coloured = read("coloured");
        let kinds: Vec<_> = coloured.lines().map(|line| &line[..1]).collect();
        assert_eq!(kinds, ["D", "B"]);
        assert!(coloured.contains("u001b"), "{coloured}");
        let first: Value =
            serde_json::from_str(&read("plain").lines().next().unwrap()[1..]).unwrap();
        assert_eq!(first["spans"][0]["file_name"], "/w/src/kernels.rs");
        let rendered = first["rendered"].as_str().unwrap();
        let expected = "error[E0433]: cannot find\n  --> src/kernels.rs:31:17\n   |\n   \
                        = help: there is no heap on the device: ";
        assert!(rendered.starts_with(expected), "{rendered}");
        assert_eq!(
            read("summary"),
            "the kernels do not compile for the device; the first error is at src/kernels.rs:31:17"
        );
    }

    #[test]
    fn what_a_shared_array_does_not_see_is_told_where_it_is() {
        let mut errors = DeviceErrors::default();
        let rendered = "error[E0425]: cannot find value `N`\n --> src/kernels.rs:31:17\n  |\n\n";
        let mut unknown = error(json!("E0425"), "cannot find value `N`", rendered);
        unknown["spans"][0]["is_primary"] = json!(true);
        unknown["spans"][0]["text"] = json!([{"text": "let tile = shared_array![f32; N];"}]);
        let note = json!({"file_name": "other.rs", "line_start": 1, "column_start": 1, "is_primary": false});
        unknown["spans"].as_array_mut().unwrap().insert(0, note);
        errors.take(unknown, &Origin::default());
        assert!(errors.lines().starts_with('D'));
        assert!(errors.lines().contains("move it above the kernel"));
        assert!(errors.summary().ends_with("src/kernels.rs:31:17"));
    }

    #[test]
    fn a_crate_that_only_the_host_has_is_told_so() {
        let mut errors = DeviceErrors::default();
        let message = "unresolved import `lockstep`";
        let rendered = "error[E0432]: unresolved import\n --> src/kernels.rs:31:17\n  |\n\n";
        let origin = Origin {
            host_only: &["lockstep".to_owned()],
            ..Origin::default()
        };
        errors.take(error(json!("E0432"), message, rendered), &origin);
        assert!(errors.lines().starts_with('D'), "{}", errors.lines());
        assert!(errors.rendered().contains("mod host;"));
    }
}
