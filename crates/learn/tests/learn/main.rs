//! Validation of every exercise: unsolved it fails as it says, its cheats fail as they say, and its
//! solution passes. The same holds for the one that `learn new` makes. Exercises that are none are in
//! [`bad_input`].

mod bad_input;

use cuda_builder::toolchain::Quiet;
use learn::{Course, Error, Exercise, Verdict, Workplace, Workshop, proof, scaffold};
use std::path::Path;

fn root() -> &'static Path {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates.and_then(Path::parent).expect("it is in crates/")
}

/// Validates all files. Returns the number of cheats.
fn proved(exercises: &[Exercise]) -> usize {
    let workshop = Workshop::of_repository(root());
    let tried = proof::prove(&workshop, exercises, &Quiet).expect("they can be compiled");
    let wrong: Vec<String> = tried
        .iter()
        .filter_map(|tried| {
            let (wrong, path) = (tried.wrong.as_ref()?, tried.path.display());
            Some(format!("{path} {:?}: {wrong}", tried.cheat))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let n_solutions = tried
        .iter()
        .filter(|tried| tried.expected.is_none())
        .count();
    assert_eq!(n_solutions, exercises.len(), "each has a solution");
    tried.len() - 2 * exercises.len()
}

#[test]
fn each_fails_unsolved_and_cheated_and_passes_solved() {
    let course = Course::open(&root().join("exercises")).expect("they are in order");
    assert_eq!(course.exercises.len(), 24);
    for (place, exercise) in course.exercises.iter().enumerate() {
        let number = format!("{:02}_", place + 1);
        assert!(exercise.name.starts_with(&number), "{}", exercise.name);
        let cheats = exercise.cheats().expect("each says how it fails");
        assert!(
            cheats.len() >= 2,
            "{} has two cheats or more",
            exercise.name
        );
        // What a learner meets first: a question, a prediction, and what to do.
        let text = std::fs::read_to_string(exercise.source()).expect("it is there");
        for part in ["//! # ", "**Predict:**", "**Change**"] {
            assert!(
                text.contains(part),
                "{}: `{part}` is missing",
                exercise.name
            );
        }
        assert!(exercise.manifest.hints.len() >= 3, "{}", exercise.name);
    }
    let n_cheats = proved(&course.exercises);
    assert!(n_cheats >= 66, "only {n_cheats} cheats were tried");
}

#[test]
fn a_new_one_works_at_once_and_outside_of_the_repository() {
    let outside = tempfile::tempdir().expect("there is room");
    let dir = outside.path().join("my_first");
    scaffold::make(&dir).expect("the folder is new");
    let exercise = Exercise::open(&dir).expect("it is in order");
    assert_eq!(proved(&[exercise]), 1);
    let again = scaffold::make(&dir)
        .expect_err("it is there already")
        .to_string();
    assert!(again.contains("already exists"), "{again}");
}

#[test]
fn a_permutation_solves_the_padding_too_and_what_is_then_said_holds() {
    let outside = tempfile::tempdir().expect("there is room");
    let dir = outside.path().join("09_padding");
    std::fs::create_dir(&dir).expect("the folder is new");
    for (file, from) in [
        ("exercise.toml", "09_padding"),
        ("exercise.rs", "09_padding"),
        ("reference.rs", "09_padding"),
        ("solution.rs", "10_swizzle"),
    ] {
        let from = root().join("exercises").join(from).join(file);
        std::fs::copy(from, dir.join(file)).expect("it is there");
    }
    let exercise = Exercise::open(&dir).expect("it is in order");
    let solved = exercise.manifest.solved.replace('\n', " ");
    assert_eq!(proved(&[exercise]), 0);
    // Rows of 33 words are in one solution, not in all.
    let of_padding = solved
        .split(". ")
        .filter(|words| words.contains("33") || words.contains("unused"));
    for sentence in of_padding {
        assert!(sentence.contains("padding"), "{sentence}");
    }
}

#[test]
fn one_that_is_broken_stops_only_itself() {
    let outside = tempfile::tempdir().expect("there is room");
    let course = outside.path().join("course");
    for name in ["01_sound", "02_no_manifest", "03_no_reference"] {
        scaffold::make(&course.join(name)).expect("the folder is new");
    }
    let write = |path: &str, text: &str| std::fs::write(course.join(path), text).expect("room");
    write("02_no_manifest/exercise.toml", "title = 7");
    write(
        "03_no_reference/reference.rs",
        "pub fn double() { not rust }",
    );
    let opened = Course::open(&course).expect("one is in order");
    let names: Vec<&str> = opened.exercises.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["01_sound", "03_no_reference"]);
    let error = opened.find("2").expect_err("it is broken").to_string();
    assert!(error.contains("02_no_manifest/exercise.toml"), "{error}");
    let work = outside.path().join("work");
    let mut workplace = Workplace::open(opened, &work, root()).expect("the folder is new");
    let solution = course.join("01_sound/solution.rs");
    std::fs::copy(solution, workplace.file(0)).expect("there is room");
    let verdict = workplace
        .check(0, &Quiet)
        .expect("the other's reference does not matter");
    assert!(matches!(verdict, Verdict::Passed(_)), "{verdict:?}");
    let error = workplace
        .check(1, &Quiet)
        .expect_err("nothing says what is right");
    assert!(matches!(error, Error::Reference { .. }), "{error}");
}
