//! From a report on a broken kernel to its line, in the debugger.

use debugger::sources::Sources;
use debugger::{Debugger, lines};
use lockstep::engine::sim::Sim;
use std::cell::RefCell;
use std::rc::Rc;

/// The debugger, sent by a command to what is found in the launches of `run`, which gave this
/// report on another simulator, stands at the line that the report is about, and before that at the
/// end of the launch.
///
/// # Panics
///
/// If it stands elsewhere.
pub fn leads_to_the_line(report: &str, sim: &Sim, run: impl FnOnce(&Sim)) {
    let answers = Rc::new(RefCell::new(String::new()));
    let said = Rc::clone(&answers);
    sim.launch_by(Some(Rc::new(move |sim, launch| {
        let debugged = sim.debug(launch, None, |session| {
            let mut debugger = Debugger::new(session, Sources::default());
            let mut output = Vec::new();
            let script = "goto end\nfinding\n";
            let talked = lines::talk(&mut debugger, &mut script.as_bytes(), &mut output, "");
            talked.expect("memory takes everything");
            said.borrow_mut()
                .push_str(&String::from_utf8_lossy(&output));
        });
        // That it fails is known.
        drop(debugged);
        Ok(())
    })));
    run(sim);
    sim.launch_by(None);
    let place = report.rsplit("  in kernel `").next().unwrap_or_default();
    let (source, place) = place.split_once(" (PTX line ").expect("a place");
    let ptx = place.split([':', ')']).next().unwrap_or_default();
    let source = source.split_once(", at ").map_or("", |(_, source)| source);
    let line = source.rsplit_once(':').map_or("", |(line, _)| line);
    let answers = answers.borrow();
    let stands_there = answers.lines().any(|answer| {
        let answer = answer.trim_start();
        let behind = answer.strip_prefix(line).filter(|_| !line.is_empty());
        answer.starts_with(&format!("ptx:{ptx} "))
            || behind
                .is_some_and(|behind| !behind.starts_with(|c: char| c == ':' || c.is_ascii_digit()))
    });
    assert!(
        stands_there,
        "not at {line} (line {ptx} of the PTX):\n{answers}\n--- the report\n{report}"
    );
}
