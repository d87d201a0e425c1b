//! From what goes wrong in a launch to the line at fault, by commands: for every seeded defect of
//! the simulator's tests.

use std::path::Path;

use common::defect::{settings, with_launch};
use common::expected;
use debugger::sources::Sources;
use debugger::{Debugger, lines};
use ptx_sim::LaunchOptions;

/// What the commands of a script answer.
fn answers(text: &str, script: &str) -> Option<String> {
    let answers = with_launch(text, |device, loaded, launch| {
        let mut launch = launch.clone();
        launch.options = LaunchOptions {
            check: true,
            // Without the checks some wait for good.
            fuel: launch.options.fuel.or(Some(1 << 16)),
            ..launch.options
        };
        let debugged = device.debug(loaded, "k", &launch, |session| {
            let mut debugger = Debugger::new(session, Sources::default());
            let mut output = Vec::new();
            let talked = lines::talk(&mut debugger, &mut script.as_bytes(), &mut output, "");
            assert_eq!(talked.expect("memory").n_refused, 0, "{}", text_of(&output));
            text_of(&output)
        });
        debugged.ok().map(|(answers, _)| answers)
    });
    answers.ok().flatten()
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The PTX lines that a report names: of the thread that it is about, which comes last, and of the
/// other one.
fn places(report: &str) -> Vec<String> {
    let mut places: Vec<String> = Vec::new();
    for part in report.split("(PTX line ").skip(1) {
        let end = part.find([':', ')']).unwrap_or(part.len());
        places.push(format!("ptx:{} ", &part[..end]));
    }
    places
}

#[test]
fn commands_lead_from_every_defect_to_its_line() {
    let folder = Path::new("../ptx_sim/tests/fail");
    let (mut n_found, mut n_other, mut wrong) = (0, 0, Vec::new());
    let files = std::fs::read_dir(folder).expect("a folder");
    let files = files.map(|file| file.expect("an entry").path());
    let is_ptx = |file: &std::path::PathBuf| file.extension().is_some_and(|e| e == "ptx");
    for case in files.filter(is_ptx).flat_map(|file| expected::cases(&file)) {
        let (name, text, report) = (case.name, case.text, case.expected);
        let places = places(&report);
        let is_checked = settings(&text).contains_key("check");
        // Of calls the innermost comes first, of two threads the one that it is about last.
        let this = match is_checked {
            true => places.last(),
            false => places.first(),
        };
        let script = script(&report, is_checked, places.len());
        let (Some(this), Some(script)) = (this, script) else {
            continue;
        };
        // From the end, back to it.
        let Some(answers) = answers(&text, script) else {
            continue;
        };
        n_found += 1;
        if !answers.contains(this.as_str()) {
            wrong.push(format!("{name}: no {this}in\n{answers}"));
        }
        if script.contains("other") && places.len() == 2 {
            n_other += 1;
            if !answers.contains(places[0].as_str()) {
                wrong.push(format!(
                    "{name}: no {}of the other side in\n{answers}",
                    places[0]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(
        n_found > 100 && n_other > 20,
        "{n_found} defects, {n_other} with another side"
    );
}

/// The commands that lead to what a report is about; none where nothing ran, or no instruction is
/// at fault.
fn script(report: &str, is_checked: bool, n_places: usize) -> Option<&'static str> {
    // Sixteen million instructions.
    let takes_long = report.contains("has made progress");
    let is_of_launch = report.contains("invalid launch") || report.contains("error:");
    if takes_long || is_of_launch || report.contains("unsupported") {
        return None;
    }
    let is_checked = is_checked && !report.contains("did not end");
    Some(match (is_checked, n_places) {
        (false, _) => "goto end",
        (true, 2) => "goto end\nfinding\nfinding other",
        (true, _) => "goto end\nfinding",
    })
}
