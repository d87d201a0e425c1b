//! `learn`: a course in its own folder, from the first question to the last exercise; and
//! exercises by others.

use super::support::{command, fails, has, no_panic_trace, passes, stderr, stdout};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
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
            let made = Self::learn(format!("new {}", learner.path(&format!("course/{name}"))));
            has(&passes(&made), &["proves that it is one"]);
        }
        learner
    }

    fn path(&self, path: &str) -> String {
        self.dir.path().join(path).display().to_string()
    }

    fn command(words: impl AsRef<str>) -> Command {
        let mut command = command(format!("learn {}", words.as_ref()));
        command.env("LOCKSTEP_ROOT", root());
        command
    }

    fn learn(words: impl AsRef<str>) -> Output {
        let output = Self::command(words).output().expect("the program runs");
        no_panic_trace(&output);
        output
    }

    /// Runs `learn` with this course.
    fn course(&self, words: impl AsRef<str>) -> Command {
        let course = self.path("course");
        Self::command(format!("--exercises {course} {}", words.as_ref()))
    }

    /// Its output when it succeeds, in which there are these words.
    fn tells(&self, command: &str, words: &[&str]) -> String {
        let output = self.course(command).output().expect("the program runs");
        let told = passes(&output) + &stderr(&output);
        has(&told, words);
        told
    }

    /// Ends with this status with this course, and says why in these words.
    fn fails(&self, command: impl AsRef<str>, status: i32, words: &[&str]) {
        let output = self.course(command).output().expect("the program runs");
        fails(&output, status, words);
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
    learner.tells("list", &["▶ 01_first   open", "0 of 2 solved"]);
    learner.fails("back", 2, &["this is the first exercise"]);
    learner.fails("solution", 2, &["01_first is not solved yet"]);
    // Unsolved: reported with the observed value and the file's place.
    let unsolved = "y[0] has not been written";
    learner.fails(
        "--once",
        1,
        &["result", "with n = 1", unsolved, "01_first.rs"],
    );
    let hint = learner.tells("hint", &["hint 1 of 2"]);
    assert!(!hint.contains("hint 2 of 2"), "{hint}");
    learner.tells("hint", &["hint 2 of 2", "the last hint"]);
    // A learner's mistake is shown at its line.
    let mistake = "use cuda_std::prelude::*;\nnot rust\n";
    fs::write(learner.copy("01_first"), mistake).expect("room");
    learner.fails("check", 1, &["compile", "01_first.rs:2"]);
    a_race_fits_the_terminal(&learner);
    learner.solve("01_first");
    learner.tells("check 1", &["solved: 2 cases", "1 of 2 solved"]);
    learner.tells("solution", &["thread::index_1d()"]);
    to_its_end(&learner);
}

fn a_race_fits_the_terminal(learner: &Learner) {
    let solution = fs::read_to_string(learner.path("course/01_first/solution.rs"));
    let racing = solution
        .expect("it was made")
        .replace("*y.add(i as usize)", "*y");
    fs::write(learner.copy("01_first"), racing).expect("room");
    let mut check = learner.course("check");
    let output = check.env("COLUMNS", "80").output();
    let output = output.expect("the program runs");
    fails(&output, 1, &["race", "what to do:"]);
    let told = stdout(&output);
    let report = told.lines().filter(|line| !line.starts_with("your file"));
    let longest = report.map(|line| line.chars().count()).max();
    assert!(longest.is_some_and(|n| n <= 80), "{told}");
}

/// From a first exercise that is solved: on to the next one, which stays open, back, and to the end.
fn to_its_end(learner: &Learner) {
    learner.tells("next", &["02_second", "Open "]);
    learner.tells("list", &["▶ 02_second  open"]);
    learner.tells("back", &["01_first"]);
    learner.tells("go second", &["02_second"]);
    let half = [
        "solved  01_first",
        "open    02_second: result",
        "1 of 2 pass",
    ];
    learner.fails("check --all", 1, &half);
    learner.solve("02_second");
    learner.tells("--once", &[]);
    learner.tells("next", &["all 2 exercises are solved"]);
    learner.tells("check --all", &["2 of 2 pass"]);
}

#[test]
fn a_reset_gives_the_exercise_back_and_keeps_what_was_written() {
    let learner = Learner::new();
    learner.tells("list", &[]);
    learner.solve("01_first");
    learner.tells("check first", &[]);
    learner.tells("reset first", &["01_first.rs.old"]);
    let text = fs::read_to_string(learner.copy("01_first")).expect("it is there");
    assert!(text.contains("The gap."), "{text}");
    let old = learner.copy("01_first").with_extension("rs.old");
    has(
        &fs::read_to_string(&old).expect("it is kept"),
        &["index_1d"],
    );
    learner.tells("list", &["0 of 2 solved"]);
    // What was kept stays.
    learner.tells("reset first", &["is in its original state"]);
    has(
        &fs::read_to_string(&old).expect("it is kept"),
        &["index_1d"],
    );
    fs::write(learner.copy("01_first"), "// another attempt").expect("it is written");
    learner.tells("reset first", &["01_first.rs.old2"]);
    has(
        &fs::read_to_string(&old).expect("it is kept"),
        &["index_1d"],
    );
    // The course's own files are unchanged.
    let inside = format!("--workplace {} list", learner.path("course"));
    learner.fails(inside, 2, &["folder of their own"]);
    let source = fs::read_to_string(learner.path("course/01_first/exercise.rs"));
    assert_eq!(source.expect("it is there"), text);
}

#[test]
fn exercises_by_others_are_proved() {
    let learner = Learner::new();
    let first = learner.path("course/01_first");
    let check = || Learner::learn(format!("check {first}"));
    let proved = [
        "exercise.rs fails by result: has not been written",
        "cheats.rs: one_thread fails by count: one thread the work of many",
        "solution.rs passes",
    ];
    has(&passes(&check()), &proved);
    // A solution that fails, and a cheat that passes.
    let [exercise, solution, reference] =
        ["exercise", "solution", "reference"].map(|name| format!("{first}/{name}.rs"));
    fs::copy(exercise, solution).expect("room");
    let wrong = [
        "solution.rs: it must pass, but fails",
        "has not been written",
    ];
    fails(&check(), 1, &wrong);
    let text = fs::read_to_string(&reference).expect("it was made");
    fs::write(&reference, text.replace("0..n", "1..n")).expect("room");
    fails(&check(), 1, &["reference.rs", "it has not written y[0]"]);
    fs::write(&reference, "use cuda_std::prelude::*;\n").expect("room");
    fails(&check(), 2, &["reference.rs", "it has no kernel `double`"]);
    fails(&Learner::learn("check ./nowhere"), 2, &["nowhere"]);
}

#[test]
fn what_cannot_be_is_told() {
    let learner = Learner::new();
    learner.fails("check third", 2, &["no exercise `third`", "learn list"]);
    let new = |path: &str| Learner::learn(format!("new {path}"));
    fails(
        &new(&learner.path("course/01_first")),
        2,
        &["already exists"],
    );
    // Nothing is created among this repository's own exercises.
    let inside = root().join("exercises/99_mine");
    let refused = ["is inside this repository", "my-course/01_mine"];
    fails(&new(&inside.display().to_string()), 2, &refused);
    assert!(!inside.exists());
    let second = learner.path("course/02_second/exercise.toml");
    let manifest = fs::read_to_string(&second).expect("it was made");
    fs::write(&second, "title = 7").expect("room");
    learner.tells("list", &["left out: ", "0 of 1 solved"]);
    let all = Learner::learn(format!("check {}", learner.path("course")));
    fails(
        &all,
        1,
        &["02_second/exercise.toml", "01_first/solution.rs passes"],
    );
    fs::write(&second, manifest).expect("room");
    learner.tells("list", &[]);
    fs::write(learner.path("course-work/progress.toml"), "solved = 7").expect("room");
    learner.fails("list", 2, &["progress.toml", "your exercises are kept"]);
}

#[test]
fn folders_that_cannot_be_are_wrong_commands() {
    let learner = Learner::new();
    let file = learner.path("a_file");
    fs::write(&file, "").expect("room");
    let below = format!("{file}/01_first");
    for words in ["new", "check", "list --exercises"] {
        fails(&Learner::learn(format!("{words} {below}")), 2, &["a_file"]);
    }
    learner.fails(format!("--workplace {below} list"), 2, &["a_file"]);
}

#[test]
fn what_cannot_be_printed_is_told() {
    let learner = Learner::new();
    let new = format!("new {}", learner.path("course/03_third"));
    learner.tells("list", &[]);
    learner.solve("01_first");
    learner.tells("check first", &[]);
    for what in ["list", "hint", "solution", "next", "check --all", &new] {
        let full = fs::File::options().write(true).open("/dev/full");
        let output = learner
            .course(what)
            .stdout(full.expect("it can be opened"))
            .output();
        let told = ["the results could not be printed"];
        fails(&output.expect("the program runs"), 1, &told);
    }
}

#[test]
fn a_save_is_judged_while_one_waits() {
    let learner = Learner::new();
    let mut watching = learner
        .course("")
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
    has(&first, &["01_first.rs", "Ctrl-C"]);
    learner.solve("01_first");
    waits.next().expect("it judges again, and waits");
    watching.kill().expect("it runs");
    watching.wait().expect("it ends");
    learner.tells("list", &["1 of 2 solved"]);
}
