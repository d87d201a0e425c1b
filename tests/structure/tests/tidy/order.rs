//! The reading order: the same for the kernels' files, their modules and the lessons.

use crate::repository::{files_below, text};

/// The files of a text's numbered modules (`#[path = "04_transpose/mod.rs"]`), in its order.
fn numbered(text: &str) -> Vec<&str> {
    let paths = text.lines().filter_map(|line| {
        let path = line.trim().strip_prefix("#[path = \"")?;
        path.strip_suffix("\"]")
    });
    paths.filter(|path| number(path).is_some()).collect()
}

/// The 3 of `04_transpose`.
fn number(name: &str) -> Option<u32> {
    let (number, _) = name.split_once('_')?;
    (number.len() == 2).then(|| number.parse().ok()).flatten()
}

/// The steps of a ladder that a file's first line says it has: `//! Steps 7 to 10: …`.
fn steps(text: &str) -> Option<[u32; 2]> {
    let line = text.lines().next()?;
    let rest = line
        .strip_prefix("//! Steps ")
        .or_else(|| line.strip_prefix("//! Step "))?;
    let (range, _) = rest.split_once(':')?;
    let (first, last) = range.split_once(" to ").unwrap_or((range, range));
    Some([first.parse().ok()?, last.parse().ok()?])
}

/// What is wrong with the numbers of things in this order: they count from `first`, and a thing
/// may take several numbers for its steps (`steps_of`).
fn out_of_order<'n>(
    first: u32,
    names: impl IntoIterator<Item = &'n str>,
    steps_of: impl Fn(&str) -> Option<[u32; 2]>,
) -> Vec<String> {
    let mut place = first;
    let mut wrong = Vec::new();
    for name in names {
        let [first, last] = steps_of(name).unwrap_or([place; 2]);
        if number(name) != Some(place) || first != place || last < first {
            wrong.push(format!("{name} stands at place {place}"));
        }
        place = last.max(place) + 1;
    }
    wrong
}

/// Where a folder's numbers begin: at 1, except in one that continues another's ladder.
fn first_number(file: &str) -> u32 {
    match file.ends_with("12_gemm/02_hopper/mod.rs") {
        true => numbered(&text("gpu-kernels/src/12_gemm/01_mma/mod.rs")).len() as u32 + 1,
        false => 1,
    }
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
        let (folder, _) = file.rsplit_once('/').expect("a file in a folder");
        let steps_of = |name: &str| steps(&self::text(&format!("{folder}/{name}")));
        let wrong = out_of_order(first_number(&file), numbered, steps_of);
        assert!(wrong.is_empty(), "in {file}: {wrong:?}");
    }
    assert!(n_numbered > 40, "only {n_numbered} numbered files");
}

#[test]
fn every_file_with_a_number_is_a_module_and_every_other_one_is_a_part() {
    for file in files_below("gpu-kernels/src") {
        let (folder, name) = file.rsplit_once('/').expect("a file in a folder");
        let is_part = folder.ends_with("/parts") || folder.ends_with("/variants");
        let is_known = is_part || ["lib.rs", "mod.rs"].contains(&name) || number(name).is_some();
        assert!(is_known, "{file} has no number and is not a part");
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
    // Those of several devices are all in the last one.
    in_order.push("13_devices".to_owned());
    let own = text("gpu-kernels/src/lib.rs");
    let topics: Vec<&str> = numbered(&own)
        .into_iter()
        .map(|path| path.split(['/', '.']).next().unwrap_or(path))
        .collect();
    assert_eq!(in_order, topics);
}

/// The file or folder with a lesson's kernels: `04_transpose`.
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
    let wrong = |first, names: &[&str]| out_of_order(first, names.iter().copied(), |_| None);
    assert_eq!(wrong(1, &numbered(text)).len(), 2);
    assert_eq!(wrong(1, &["01_a", "02_b"]), [""; 0]);
    assert_eq!(wrong(1, &["01_a", "03_c"]), ["03_c stands at place 2"]);
    assert_eq!(wrong(1, &["a", "02_b"]), ["a stands at place 1"]);
    assert_eq!(wrong(5, &["05_a", "06_b"]), [""; 0]);
    assert_eq!(modules(text), ["b", "a", "c"]);
    assert_eq!(lessons("    &b::LESSON,\n    &a::LESSON,\n"), ["b", "a"]);
}

#[test]
fn steps_give_a_file_its_number() {
    assert_eq!(steps("//! Step 5: a.\n"), Some([5, 5]));
    assert_eq!(steps("//! Steps 7 to 10: b.\n"), Some([7, 10]));
    assert_eq!(steps("//! A step.\n"), None);
    let wrong = |names: [&'static str; 2]| {
        let steps_of = |name: &str| (name == "01_a").then_some([1, 4]);
        out_of_order(1, names, steps_of)
    };
    assert_eq!(wrong(["01_a", "05_b"]), [""; 0]);
    assert_eq!(wrong(["01_a", "02_b"]), ["02_b stands at place 5"]);
}
