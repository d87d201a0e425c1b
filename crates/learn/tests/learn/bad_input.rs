//! Mistakes in an exercise's files, and the messages that its author gets. Nothing is compiled.

use learn::{Course, Exercise, scaffold};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A valid exercise.
fn exercise() -> (TempDir, PathBuf) {
    let outside = tempfile::tempdir().expect("there is room");
    let dir = outside.path().join("mine");
    scaffold::make(&dir).expect("the folder is new");
    (outside, dir)
}

/// The error on opening it after a text of its manifest was replaced.
fn refused(from: &str, to: &str) -> String {
    let (_outside, dir) = exercise();
    let path = dir.join("exercise.toml");
    let text = fs::read_to_string(&path).expect("it was made");
    assert!(text.contains(from), "{from}");
    fs::write(&path, text.replacen(from, to, 1)).expect("there is room");
    let error = Exercise::open(&dir).expect_err(to).to_string();
    assert!(
        error.contains("exercise.toml"),
        "the file is named: {error}"
    );
    error
}

#[test]
fn what_a_manifest_says_wrong_is_told_with_what_would_be_right() {
    for (from, to, words) in [
        // Not TOML, not ours, not all.
        (
            "kernel = \"double\"",
            "kernel = double",
            &["TOML parse error", "kernel = double"][..],
        ),
        ("at_most = 4", "at_mots = 4", &["at_mots", "at_most"]),
        ("kernel = \"double\"", "", &["missing field `kernel`"]),
        // Counts, kinds, expressions.
        (
            "global_load_sectors",
            "global_load_sector",
            &[
                "no count `global_load_sector`",
                "did you mean `global_load_sectors`?",
            ],
        ),
        (
            "on = [\"out-of-bounds\"]",
            "on = [\"overrun\"]",
            &["`overrun` is not a kind", "out-of-bounds, misaligned"],
        ),
        ("result: has", "wrong: has", &["`wrong` is not a kind"]),
        (
            "div_ceil(n, 128)",
            "div_ceil(m, 128)",
            &["[[case]] 1", "the case has no `m`; it has n"],
        ),
        ("div_ceil(n, 128)", "ceil(n / 128)", &["no function `ceil`"]),
        ("div_ceil(n, 128)", "n - 1", &["`n - 1` is not a size"]),
        // Arguments.
        (
            "input = \"f32\"",
            "input = \"float\"",
            &["unknown variant `float`", "`f32`"],
        ),
        ("input = \"f32\"", "", &["`x` needs one of `input`"]),
        ("fill = \"uniform(-1, 1)\"", "", &["`x` needs a `fill`"]),
        (
            "fill = \"uniform(-1, 1)\"",
            "fill = \"random\"",
            &["not a way to fill", "`permutation`"],
        ),
        (
            "length = \"n\"",
            "length = \"n - 2\"",
            &["`n - 2` is not a length from 0 to"],
        ),
        (
            "output = \"f32\"\nlength = \"n\"",
            "output = \"f32\"",
            &["`y` needs a `length`"],
        ),
        (
            "output = \"f32\"",
            "scratch = \"f32\"\nfill = \"index\"",
            &["what is compared?"],
        ),
        ("value = \"n\"", "", &["`n` needs a `value`"]),
        ("at_most = 4\n", "", &["`at_most` or `at_least`"]),
        (
            "hints = [",
            "hints = []\nunused = [",
            &["unknown field `unused`"],
        ),
    ] {
        let error = refused(from, to);
        for word in words {
            assert!(
                error.contains(word),
                "`{word}` is missing for `{to}`: {error}"
            );
        }
    }
}

#[test]
fn missing_files_are_named() {
    for file in ["exercise.rs", "solution.rs", "reference.rs"] {
        let (_outside, dir) = exercise();
        fs::remove_file(dir.join(file)).expect("it was made");
        let error = Exercise::open(&dir).expect_err(file).to_string();
        assert!(error.contains(file) && error.contains("lacks"), "{error}");
    }
    let (outside, dir) = exercise();
    fs::remove_file(dir.join("exercise.toml")).expect("it was made");
    let error = Exercise::open(&dir).expect_err("no manifest").to_string();
    assert!(error.contains("learn new DIR"), "{error}");
    let error = Course::open(outside.path())
        .expect_err("no exercise")
        .to_string();
    assert!(error.contains("there is no exercise"), "{error}");
    Course::open(Path::new("/no/such/folder")).expect_err("no folder");
}

#[test]
fn cheats_say_how_they_fail() {
    for (line, words) in [
        ("", "a cheat must say how it fails"),
        ("/// fails: somehow", "`somehow` is not a kind of failure"),
    ] {
        let (_outside, dir) = exercise();
        let path = dir.join("cheats.rs");
        let text = fs::read_to_string(&path).expect("it was made");
        let told = text.lines().find(|line| line.starts_with("/// fails:"));
        fs::write(&path, text.replace(told.expect("it does"), line)).expect("there is room");
        let exercise = Exercise::open(&dir).expect("the rest is in order");
        let error = exercise.cheats().expect_err(line).to_string();
        assert!(
            error.contains("cheats.rs: ")
                && error.contains("`one_thread`")
                && error.contains(words),
            "{error}"
        );
    }
}

#[test]
fn a_folder_is_named_as_an_exercise_can_be() {
    let outside = tempfile::tempdir().expect("there is room");
    let error = scaffold::make(&outside.path().join("My Exercise")).expect_err("spaces");
    assert!(error.to_string().contains("lower-case letters"), "{error}");
}

#[test]
fn exercises_are_found_by_number_name_and_part() {
    let outside = tempfile::tempdir().expect("there is room");
    for name in ["01_first", "02_second", "10_second_try"] {
        scaffold::make(&outside.path().join(name)).expect("the folder is new");
    }
    let course = Course::open(outside.path()).expect("they are in order");
    for (words, place) in [
        ("1", 0),
        ("01_first", 0),
        ("first.rs", 0),
        ("2", 1),
        ("try", 2),
        ("10", 2),
    ] {
        assert_eq!(course.find(words).expect(words), place, "{words}");
    }
    let error = course.find("second").expect_err("two have it").to_string();
    assert!(error.contains("02_second, 10_second_try"), "{error}");
    for words in ["3", "third", ""] {
        let error = course.find(words).expect_err(words).to_string();
        assert!(error.contains("learn list"), "{error}");
        assert!(!error.contains("did you mean"), "{error}");
    }
    for (words, meant) in [("frist", "01_first"), ("10_secodn_try", "10_second_try")] {
        let error = course.find(words).expect_err(words).to_string();
        assert!(
            error.contains(&format!("did you mean `{meant}`?")),
            "{error}"
        );
    }
}
