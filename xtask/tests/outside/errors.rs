//! Errors of kernels, at their places in the source: for people and, as JSON, for editors. A program
//! whose kernels do not compile is never made from older ones.

use super::{cargo, cargo_apart, edit, example, new_project, outside};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// An error that cargo tells an editor.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    code: String,
    file: String,
    line: u64,
    text: String,
}

/// The errors that have a place, of one target of each package; the check must fail.
fn told(project: &Path) -> Vec<Told> {
    let (passed, out, _) = cargo_apart(project, &["check", "--message-format=json"]);
    assert!(!passed, "{out}");
    let messages = out.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        (message["reason"] == "compiler-message").then(|| message["message"].clone())
    });
    let errors = messages.filter(|message| message["level"] == "error");
    let told = errors.filter_map(|message| {
        let span = message["spans"].get(0)?;
        Some(Told {
            code: message["code"]["code"].as_str().unwrap_or_default().into(),
            file: span["file_name"].as_str()?.into(),
            line: span["line_start"].as_u64()?,
            text: message["message"].as_str()?.into(),
        })
    });
    told.collect()
}

/// The number of the line that has `code`.
fn line(file: &Path, code: &str) -> u64 {
    let text = fs::read_to_string(file).expect("it is there");
    let place = text.lines().position(|line| line.contains(code));
    place.expect("a line has it") as u64 + 1
}

const OF_ALL: &str = "the kernels do not compile for the device; the first error is at ";

#[test]
fn a_kernels_errors_have_their_places_and_nothing_stale_runs() {
    let outside = outside();
    let project = new_project(&outside, "with-mistakes");
    let (ran, text) = cargo(&project, &["run"]);
    assert!(ran, "{text}");

    // One that only the device's compiler has, in a function that no macro sees.
    let kernels = project.join("src/kernels.rs");
    edit(
        kernels.clone(),
        "    (row * PITCH + column) as usize\n}\n",
        "    (row * PITCH + column) as usize\n}\n\nfn helper() -> usize {\n    vec![1].len()\n}\n",
    );
    edit(kernels.clone(), "place(y, x)", "place(y, x) + helper() - 1");
    let place = line(&kernels, "vec![1]");
    let found = told(&project);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert_eq!(
        (found[0].file.as_str(), found[0].line),
        ("src/kernels.rs", place)
    );
    assert_eq!(found[0].text, "cannot find macro `vec` in this scope");
    assert!(found[1].text.starts_with(OF_ALL), "{found:#?}");

    let (ran, text) = cargo(&project, &["run"]);
    assert!(!ran && !text.contains("output[7][0]"), "{text}");
    assert!(text.contains("there is no heap on the device"), "{text}");
    for noise in ["build command", "--- std", "backtrace"] {
        assert!(!text.contains(noise), "{text}");
    }

    // One that the host's compiler has too.
    edit(
        kernels.clone(),
        "    vec![1].len()\n",
        "    let one: usize = 1u32;\n    one\n",
    );
    let place = line(&kernels, "1u32");
    let found = told(&project);
    assert_eq!(found.len(), 1, "{found:#?}");
    let first = (
        found[0].file.as_str(),
        found[0].line,
        found[0].code.as_str(),
    );
    assert_eq!(first, ("src/kernels.rs", place, "E0308"));

    // One of that kind that is in code for the device only: the program tells it.
    edit(
        kernels.clone(),
        "    let one: usize = 1u32;\n",
        "    #[cfg(target_arch = \"nvptx64\")]\n    let one: usize = 1u32;\n    \
         #[cfg(not(target_arch = \"nvptx64\"))]\n    let one = 1;\n",
    );
    let found = told(&project);
    let place = line(&kernels, "1u32");
    let first = (
        found[0].file.as_str(),
        found[0].line,
        found[0].code.as_str(),
    );
    assert_eq!(first, ("src/kernels.rs", place, "E0308"));
    assert_eq!(found[1].file, "src/main.rs", "{found:#?}");

    edit(kernels, "1u32", "1");
    let (ran, text) = cargo(&project, &["run"]);
    assert!(ran && text.contains("output[7][0] is 7\n"), "{text}");
}

#[test]
fn errors_of_kernels_in_another_package_have_their_places() {
    let outside = outside();
    example(&outside);
    let kernels = outside.path().join("kernels/src/lib.rs");
    edit(
        kernels.clone(),
        "    values[0]\n",
        "    values.to_vec()[0]\n",
    );
    let found = told(outside.path());
    let place = line(&kernels, "to_vec");
    let first = (
        found[0].file.as_str(),
        found[0].line,
        found[0].code.as_str(),
    );
    assert_eq!(first, ("kernels/src/lib.rs", place, "E0599"));
    assert_eq!(found[1].file, "app/src/lib.rs", "{found:#?}");
    assert!(found[1].text.starts_with(OF_ALL), "{found:#?}");

    // A package that reads the PTX without the library's macro, and one that does not read it.
    let app = outside.path().join("app");
    edit(
        app.join("src/lib.rs"),
        "lockstep::kernels!()",
        "include_str!(env!(\"KERNELS_PTX\"))",
    );
    let (passed, text) = cargo(outside.path(), &["check"]);
    assert!(
        !passed && text.contains("no PTX, because the kernels do not"),
        "{text}"
    );
    edit(
        app.join("src/lib.rs"),
        "include_str!(env!(\"KERNELS_PTX\"))",
        "\"\"",
    );
    let (passed, text) = cargo(outside.path(), &["build"]);
    assert!(
        !passed && text.contains("kernels that compile for the device (kernels/src/lib.rs"),
        "{text}"
    );
}
