//! `lockstep neighbors`: what it reads, what it draws, what it refuses.

use super::support::{command, fails, lockstep, passes};
use std::io::Write;
use std::process::{Output, Stdio};

/// Runs `lockstep neighbors` on the simulator, on a file of these lines.
fn neighbors(lines: &str, options: &str) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("atoms.txt");
    std::fs::write(&file, lines).expect("a file");
    let file = file.display();
    lockstep(format!("neighbors {file} --engine sim {options}"))
}

#[test]
fn neighbors_of_the_users_own_atoms() {
    let found = passes(&neighbors("0 0\n1.42 0  # bonded\n\n9, 9\n", ""));
    assert_eq!(found, "0: 1 1\n1: 1 0\n2: 0\n");
    assert_eq!(passes(&neighbors("# no atoms\n", "")), "");
}

#[test]
fn a_malformed_line_of_atoms_is_named() {
    let words = ["atoms.txt, line 2: `two` is not a number"];
    fails(&neighbors("0 0\n1 two\n", ""), 2, &words);
    let words = ["no/such/file cannot be read"];
    fails(&lockstep("neighbors no/such/file"), 2, &words);
}

#[test]
fn too_many_neighbors_are_an_error() {
    let pile = "0 0\n".to_owned() + &"5 5\n".repeat(12);
    let words = ["atom 1 (counting from 0) has 11 neighbours", "10 places"];
    fails(&neighbors(&pile, ""), 1, &words);
    fails(&neighbors("0 0\n", "--cutoff -1"), 2, &["above 0"]);
}

#[test]
fn bonds_are_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let picture = folder.path().join("bonds.svg");
    let svg = format!("--svg {}", picture.display());
    passes(&neighbors("0 0\n1.42 0\n", &svg));
    let svg = std::fs::read_to_string(&picture).expect("the picture");
    assert_eq!(svg.matches("<line").count(), 1);
}

#[test]
fn atoms_come_from_standard_input_too() {
    let mut child = command("neighbors - --engine sim")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin
        .write_all("\u{feff}0 0\n1.42 0\n".as_bytes())
        .expect("written");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(passes(&output), "0: 1 1\n1: 1 0\n");
}

#[test]
fn the_picture_does_not_replace_the_atoms() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("atoms.txt");
    std::fs::write(&file, "0 0\n").expect("a file");
    let path = file.display();
    let output = lockstep(format!("neighbors {path} --svg {path}"));
    fails(&output, 2, &["is also the input file"]);
    assert_eq!(std::fs::read_to_string(&file).expect("it"), "0 0\n");
}
