//! The seeds of `load_ptx` and `launch_ptx`, written to a folder: all PTX of the tests that
//! is not too long, in files or within their Rust code, and random programs.

#[path = "../../tests/random/generate.rs"]
#[allow(dead_code)]
mod generate;
#[path = "../../tests/random/template.rs"]
#[allow(dead_code)]
mod template;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// Longer texts are left out: most of their changes would be uninteresting.
const MOST_BYTES: usize = 10_000;
/// Random programs.
const N_PROGRAMS: u64 = 24;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("give a folder")?;
    fs::create_dir_all(&folder)?;
    let mut texts = Vec::new();
    let simulator = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tests = [
        files(&simulator.join("ptx_sim/tests"))?,
        files(&simulator.join("ptx/tests"))?,
    ];
    for path in tests.concat() {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        match path.extension().and_then(|e| e.to_str()) {
            Some("ptx") => texts.extend(of_file(&text)),
            Some("rs") => texts.extend(within(&text)),
            _ => {}
        }
    }
    texts.extend((0..N_PROGRAMS).map(|n| generate::header() + &generate::program(n)));
    texts.retain(|text| text.len() <= MOST_BYTES);
    texts.sort();
    texts.dedup();
    for (n, text) in texts.iter().enumerate() {
        let first = (n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        fs::write(
            Path::new(&folder).join(format!("{n:04}")),
            format!("//{first:016x}\n{text}"),
        )?;
    }
    println!("{} texts", texts.len());
    Ok(())
}

/// All files below a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

/// The text of a file, or several, each after a line `//=== NAME`.
fn of_file(text: &str) -> Vec<String> {
    match text.strip_prefix("//=== ") {
        None => vec![text.to_owned()],
        Some(several) => several
            .split("\n//=== ")
            .filter_map(|part| Some(part.split_once('\n')?.1.to_owned()))
            .collect(),
    }
}

/// Modules in literals of a Rust file. Those composed at run time come out broken, and are
/// left to the mutator.
fn within(rust: &str) -> Vec<String> {
    let literals = rust.split('"').filter(|part| part.contains(".version"));
    literals
        .map(|part| {
            part.replace("\\n\\\n", "\n")
                .replace("\\n", "\n")
                .replace("{{", "{")
                .replace("}}", "}")
        })
        .collect()
}
