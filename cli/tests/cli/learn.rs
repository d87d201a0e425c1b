//! `learn`: a course in its own folder, from the first question to the last exercise; and
//! exercises by others.

use super::support::{command, fails, no_panic_trace, stderr, stdout};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tempfile::TempDir;

/// A course of two exercises outside the repository, made by `learn new`.
struct Learner {
    dir: TempDir,
}

impl Learner {
    fn new() -> Self {
        let learner = Self {
            dir: tempfile::tempdir().expect("there is room"),
        };
        for name in ["01_first", "02_second"] {
            let made = learner.learn(&["new", &learner.path(&format!("course/{name}"))]);
            assert!(made.status.success(), "{}", stderr(&made));
            assert!(
                stdout(&made).contains("proves that it is one"),
                "{}",
                stdout(&made)
            );
        }
        learner
    }

    fn path(&self, path: &str) -> String {
        self.dir.path().join(path).display().to_string()
    }

    fn learn(&self, arguments: &[&str]) -> Output {
        let mut all = vec!["learn"];
        all.extend(arguments);
        let output = command(&all)
            .env("LOCKSTEP_ROOT", root())
            .output()
            .expect("the program runs");
        no_panic_trace(&output);
        output
    }

    /// Runs `learn` with this course.
    fn course(&self, arguments: &[&str]) -> Output {
        let course = self.path("course");
        let mut all = vec!["--exercises", &course];
        all.extend(arguments);
        self.learn(&all)
    }

    /// Its output when it succeeds.
    fn told(&self, arguments: &[&str]) -> String {
        let output = self.course(arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}{}",
            stdout(&output),
            stderr(&output)
        );
        format!("{}{}", stdout(&output), stderr(&output))
    }

    /// Ends with this status with this course, and says why in these words.
    fn fails(&self, arguments: &[&str], status: i32, words: &[&str]) {
        fails(&self.course(arguments), status, words);
    }

    fn copy(&self, name: &str) -> PathBuf {
        self.path(&format!("course-work/{name}.rs")).into()
    }

    fn solve(&self, name: &str) {
        let solution = self.path(&format!("course/{name}/solution.rs"));
        fs::copy(solution, self.copy(name)).expect("there is room");
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("it is in the repository")
}

#[test]
fn a_course_is_gone_through_from_question_to_end() {
    let learner = Learner::new();
    let list = learner.told(&["list"]);
    assert!(
        list.contains("▶ 01_first   open") && list.contains("0 of 2 solved"),
        "{list}"
    );
    learner.fails(&["back"], 2, &["this is the first exercise"]);
    learner.fails(&["solution"], 2, &["01_first is not solved yet"]);
    // Unsolved: reported with the observed value and the file's place.
    let unsolved = [
        "result",
        "with n = 1",
        "y[0] has not been written",
        "01_first.rs",
    ];
    learner.fails(&["--once"], 1, &unsolved);
    let hint = learner.told(&["hint"]);
    assert!(
        hint.contains("hint 1 of 2") && !hint.contains("hint 2 of 2"),
        "{hint}"
    );
    let hint = learner.told(&["hint"]);
    assert!(
        hint.contains("hint 2 of 2") && hint.contains("the last hint"),
        "{hint}"
    );
    // A learner's mistake is shown at its line.
    fs::write(
        learner.copy("01_first"),
        "use cuda_std::prelude::*;\nnot rust\n",
    )
    .expect("room");
    learner.fails(&["check"], 1, &["compile", "01_first.rs:2"]);
    learner.solve("01_first");
    let solved = learner.told(&["check", "1"]);
    assert!(
        solved.contains("solved: 2 cases") && solved.contains("1 of 2 solved"),
        "{solved}"
    );
    let solution = learner.told(&["solution"]);
    assert!(solution.contains("thread::index_1d()"), "{solution}");
    to_its_end(&learner);
}

/// From a first exercise that is solved: on to the next one, which stays open, back, and to the end.
fn to_its_end(learner: &Learner) {
    let next = learner.told(&["next"]);
    assert!(
        next.contains("02_second") && next.contains("Open "),
        "{next}"
    );
    assert!(learner.told(&["list"]).contains("▶ 02_second  open"));
    assert!(learner.told(&["back"]).contains("01_first"));
    assert!(learner.told(&["go", "second"]).contains("02_second"));
    learner.fails(
        &["check", "--all"],
        1,
        &[
            "solved  01_first",
            "open    02_second: result",
            "1 of 2 pass",
        ],
    );
    learner.solve("02_second");
    learner.told(&["--once"]);
    assert!(
        learner
            .told(&["next"])
            .contains("all 2 exercises are solved")
    );
    assert!(learner.told(&["check", "--all"]).contains("2 of 2 pass"));
}

#[test]
fn a_reset_gives_the_exercise_back_and_keeps_what_was_written() {
    let learner = Learner::new();
    learner.told(&["list"]);
    learner.solve("01_first");
    learner.told(&["check", "first"]);
    let reset = learner.told(&["reset", "first"]);
    assert!(reset.contains("01_first.rs.old"), "{reset}");
    let text = fs::read_to_string(learner.copy("01_first")).expect("it is there");
    assert!(text.contains("The gap."), "{text}");
    let old = learner.copy("01_first").with_extension("rs.old");
    assert!(
        fs::read_to_string(old)
            .expect("it is kept")
            .contains("index_1d")
    );
    assert!(learner.told(&["list"]).contains("0 of 2 solved"));
    // The course's own files are unchanged.
    learner.fails(
        &["--workplace", &learner.path("course"), "list"],
        2,
        &["folder of their own"],
    );
    let source =
        fs::read_to_string(learner.path("course/01_first/exercise.rs")).expect("it is there");
    assert_eq!(source, text);
}

#[test]
fn exercises_by_others_are_proved() {
    let learner = Learner::new();
    let first = learner.path("course/01_first");
    let proved = learner.learn(&["check", &first]);
    let text = stdout(&proved);
    assert!(proved.status.success(), "{text}{}", stderr(&proved));
    for line in [
        "exercise.rs fails by result: has not been written",
        "cheats.rs: one_thread fails by count: one thread the work of many",
        "solution.rs passes",
    ] {
        assert!(text.contains(line), "`{line}` is missing in: {text}");
    }
    // A solution that fails, and a cheat that passes.
    fs::copy(
        learner.path("course/01_first/exercise.rs"),
        learner.path("course/01_first/solution.rs"),
    )
    .expect("room");
    fails(
        &learner.learn(&["check", &first]),
        1,
        &[
            "solution.rs: it must pass, but fails",
            "has not been written",
        ],
    );
    let reference = learner.path("course/01_first/reference.rs");
    let text = fs::read_to_string(&reference).expect("it was made");
    fs::write(&reference, text.replace("0..n", "1..n")).expect("room");
    let left_out = learner.learn(&["check", &first]);
    fails(&left_out, 1, &["reference.rs", "it has not written y[0]"]);
    fs::write(&reference, "use cuda_std::prelude::*;\n").expect("room");
    fails(
        &learner.learn(&["check", &first]),
        2,
        &["reference.rs", "it has no kernel `double`"],
    );
    fails(&learner.learn(&["check", "./nowhere"]), 2, &["nowhere"]);
}

#[test]
fn what_cannot_be_is_told() {
    let learner = Learner::new();
    learner.fails(
        &["check", "third"],
        2,
        &["no exercise `third`", "learn list"],
    );
    fails(
        &learner.learn(&["new", &learner.path("course/01_first")]),
        2,
        &["already exists"],
    );
    // Nothing is created among this repository's own exercises.
    let inside = root().join("exercises/99_mine");
    fails(
        &learner.learn(&["new", &inside.display().to_string()]),
        2,
        &["is inside this repository", "my-course/01_mine"],
    );
    assert!(!inside.exists());
    let second = learner.path("course/02_second/exercise.toml");
    let manifest = fs::read_to_string(&second).expect("it was made");
    fs::write(&second, "title = 7").expect("room");
    let list = learner.told(&["list"]);
    assert!(
        list.contains("left out: ") && list.contains("0 of 1 solved"),
        "{list}"
    );
    fails(
        &learner.learn(&["check", &learner.path("course")]),
        1,
        &["02_second/exercise.toml", "01_first/solution.rs passes"],
    );
    fs::write(&second, manifest).expect("room");
    learner.told(&["list"]);
    fs::write(learner.path("course-work/progress.toml"), "solved = 7").expect("room");
    learner.fails(&["list"], 2, &["progress.toml", "your exercises are kept"]);
}

#[test]
fn folders_that_cannot_be_are_wrong_commands() {
    let learner = Learner::new();
    let file = learner.path("a file");
    fs::write(&file, "").expect("room");
    let below = format!("{file}/01_first");
    for arguments in [
        &["new", &below][..],
        &["--exercises", &below, "list"],
        &["check", &below],
    ] {
        fails(&learner.learn(arguments), 2, &["a file"]);
    }
    learner.fails(&["--workplace", &below, "list"], 2, &["a file"]);
}

#[test]
fn what_cannot_be_printed_is_told() {
    let learner = Learner::new();
    let course = learner.path("course");
    let new = learner.path("course/03_third");
    learner.told(&["list"]);
    learner.solve("01_first");
    learner.told(&["check", "first"]);
    for what in [
        &["list"][..],
        &["hint"],
        &["solution"],
        &["next"],
        &["check", "--all"],
        &["new", &new],
    ] {
        let full = fs::File::options().write(true).open("/dev/full");
        let output = command(&[&["learn", "--exercises", &course], what].concat())
            .env("LOCKSTEP_ROOT", root())
            .stdout(full.expect("it can be opened"))
            .output()
            .expect("the program runs");
        fails(&output, 1, &["the results could not be printed"]);
    }
}

#[test]
fn a_save_is_judged_while_one_waits() {
    let learner = Learner::new();
    let course = learner.path("course");
    let mut watching = command(&["learn", "--exercises", &course])
        .env("LOCKSTEP_ROOT", root())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let told = watching.stderr.take().expect("it is piped");
    let mut waits = BufReader::new(told)
        .lines()
        .map_while(Result::ok)
        .filter(|line| line.contains("waiting for a save of"));
    let first = waits.next().expect("it waits");
    assert!(
        first.contains("01_first.rs") && first.contains("Ctrl-C"),
        "{first}"
    );
    learner.solve("01_first");
    waits.next().expect("it judges again, and waits");
    watching.kill().expect("it runs");
    watching.wait().expect("it ends");
    assert!(learner.told(&["list"]).contains("1 of 2 solved"));
}
