//! The programs that contain the tests.

use std::collections::BTreeSet;

/// A file that no program names would never be compiled.
#[test]
fn all_tests_are_in_a_program() {
    let manifest = std::fs::read_to_string("Cargo.toml").unwrap();
    let declares = |program: &str| {
        let line = format!("name = \"{program}\"\n");
        assert!(manifest.contains(&line), "{program} is not a program");
        let text = std::fs::read_to_string(format!("{program}.rs")).unwrap();
        let names = text.lines().filter_map(|line| {
            let name = line.strip_prefix("mod ")?.strip_suffix(';')?;
            Some(name.to_owned())
        });
        names.chain([program.to_owned()]).collect::<BTreeSet<_>>()
    };
    let programs = ["checked", "plain", "decoding"].into_iter();
    let library = ["common".to_owned()];
    let declared: BTreeSet<_> = programs.flat_map(declares).chain(library).collect();
    let entries = std::fs::read_dir(".").unwrap();
    let there = entries.filter_map(|entry| {
        let path = entry.unwrap().path();
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        let is_module = is_source || path.join("mod.rs").exists();
        is_module.then(|| path.file_stem().unwrap().to_str().unwrap().to_owned())
    });
    assert_eq!(there.collect::<BTreeSet<_>>(), declared);
}
