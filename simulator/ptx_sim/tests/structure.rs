//! The shape of the source: what imports what, and how long functions are.

use std::collections::BTreeSet;
use std::path::Path;

/// Most lines of a function, from `fn` to its closing brace.
const MOST_LINES: usize = 80;

#[test]
fn no_files_import_each_other_in_a_circle() {
    structure::assert_no_circles(&structure::imports_of(Path::new("src"), (50, 200)));
}

#[test]
fn functions_fit_a_screen() {
    let mut too_long = Vec::new();
    let mut n_functions = 0;
    for source in structure::read(Path::new("src")) {
        for function in &source.functions {
            n_functions += 1;
            if function.n_lines() > MOST_LINES {
                let name = format!("{}: {}", source.file, function.name);
                too_long.push((name, function.n_lines()));
            }
        }
    }
    assert!(n_functions > 500, "only {n_functions} functions were found");
    assert!(
        too_long.is_empty(),
        "over {MOST_LINES} lines: {too_long:#?}"
    );
}

/// A file that no program names would be compiled by nobody.
#[test]
fn all_tests_are_in_a_program() {
    let manifest = std::fs::read_to_string("Cargo.toml").unwrap();
    let declares = |program: &str| {
        let line = format!("name = \"{program}\"\n");
        assert!(manifest.contains(&line), "{program} is no program");
        let text = std::fs::read_to_string(format!("tests/{program}.rs")).unwrap();
        let names = text.lines().filter_map(|line| {
            let name = line.strip_prefix("mod ")?.strip_suffix(';')?;
            Some(name.to_owned())
        });
        names.chain([program.to_owned()]).collect::<BTreeSet<_>>()
    };
    let declared: BTreeSet<_> = ["checked", "plain", "decoding"]
        .into_iter()
        .flat_map(declares)
        .collect();
    let entries = std::fs::read_dir("tests").unwrap();
    let there = entries.filter_map(|entry| {
        let path = entry.unwrap().path();
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        let is_module = is_source || path.join("mod.rs").exists();
        is_module.then(|| path.file_stem().unwrap().to_str().unwrap().to_owned())
    });
    assert_eq!(there.collect::<BTreeSet<_>>(), declared);
}
