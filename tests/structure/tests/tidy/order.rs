//! One reading order: that of the kernels' files, of their modules and of the lessons.

use crate::repository::{files_below, text};

/// The files of a text's numbered modules (`#[path = "03_transpose/mod.rs"]`), in the order
/// in which they stand there.
fn numbered(text: &str) -> Vec<&str> {
    let paths = text.lines().filter_map(|line| {
        let path = line.trim().strip_prefix("#[path = \"")?;
        path.strip_suffix("\"]")
    });
    paths.filter(|path| number(path).is_some()).collect()
}

/// The 3 of `03_transpose`.
fn number(name: &str) -> Option<u32> {
    let (number, _) = name.split_once('_')?;
    (number.len() == 2).then(|| number.parse().ok()).flatten()
}

/// What is wrong with the numbers of things in this order: they count from 1.
fn out_of_order<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let is_wrong = |(place, name): &(usize, &str)| number(name) != Some(*place as u32 + 1);
    let names = names.into_iter().enumerate();
    names
        .filter(is_wrong)
        .map(|(place, name)| format!("{name} stands at place {}", place + 1))
        .collect()
}

/// The modules that a text declares, in its order.
fn modules(text: &str) -> Vec<&str> {
    let lines = text.lines().filter_map(|line| {
        let name = line.trim_start_matches("pub ").strip_prefix("mod ")?;
        name.strip_suffix(';')
    });
    lines.collect()
}

/// The modules of `LESSONS`, in its order.
fn lessons(text: &str) -> Vec<&str> {
    let lines = text.lines().filter_map(|line| {
        let name = line.trim().strip_prefix('&')?;
        name.strip_suffix("::LESSON,")
    });
    lines.collect()
}

#[test]
fn kernels_stand_in_the_order_of_their_numbers() {
    let mut n_numbered = 0;
    for file in files_below("gpu-kernels/src") {
        let text = text(&file);
        let numbered = numbered(&text);
        n_numbered += numbered.len();
        let wrong = out_of_order(numbered);
        assert!(wrong.is_empty(), "in {file}: {wrong:?}");
    }
    assert!(n_numbered > 40, "only {n_numbered} numbered files");
}

#[test]
fn every_file_with_a_number_is_a_module_and_every_other_one_is_a_part() {
    for file in files_below("gpu-kernels/src") {
        let (folder, name) = file.rsplit_once('/').expect("a file in a folder");
        let is_known = ["lib.rs", "mod.rs"].contains(&name) || folder.ends_with("/parts");
        if is_known {
            continue;
        }
        assert!(
            number(name).is_some(),
            "{file} has no number and is not a part"
        );
    }
}

#[test]
fn lessons_stand_in_the_order_of_their_kernels() {
    let listing = text("host/src/lessons/mod.rs");
    let lessons = lessons(&listing);
    assert!(lessons.len() > 15, "only {lessons:?}");
    assert_eq!(modules(&listing), lessons);
    // Files may hold the kernels of several lessons, so numbers repeat; parts have none.
    let topics: Vec<String> = lessons.iter().map(|lesson| topic(lesson)).collect();
    let mut in_order = topics.clone();
    in_order.sort();
    assert_eq!(topics, in_order);
    in_order.dedup();
    let own = text("gpu-kernels/src/lib.rs");
    let topics: Vec<&str> = numbered(&own)
        .into_iter()
        .map(|path| path.split(['/', '.']).next().unwrap_or(path))
        .collect();
    assert_eq!(in_order, topics);
}

/// The file or folder with a lesson's kernels: `03_transpose`.
fn topic(lesson: &str) -> String {
    let file = |path: &str| format!("host/src/lessons/{lesson}{path}");
    let is_file = crate::repository::root().join(file(".rs")).is_file();
    let text = text(&file(if is_file { ".rs" } else { "/mod.rs" }));
    let (_, source) = text
        .split_once("source: \"gpu-kernels/src/")
        .unwrap_or_else(|| panic!("{lesson} names no source"));
    let end = source.find(['/', '.']).expect("a file");
    source[..end].to_owned()
}

#[test]
fn another_order_is_found() {
    let text = "#[path = \"02_b.rs\"]\nmod b;\n#[path = \"01_a/mod.rs\"]\npub mod a;\n\
                #[path = \"parts/c.rs\"]\nmod c;\n";
    assert_eq!(numbered(text), ["02_b.rs", "01_a/mod.rs"]);
    assert_eq!(out_of_order(numbered(text)).len(), 2);
    assert_eq!(out_of_order(["01_a", "02_b"]), [""; 0]);
    assert_eq!(out_of_order(["01_a", "03_c"]), ["03_c stands at place 2"]);
    assert_eq!(out_of_order(["a", "02_b"]), ["a stands at place 1"]);
    assert_eq!(modules(text), ["b", "a", "c"]);
    assert_eq!(lessons("    &b::LESSON,\n    &a::LESSON,\n"), ["b", "a"]);
}
