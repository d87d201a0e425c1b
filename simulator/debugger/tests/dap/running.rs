//! Launches that run while the editor asks.

use std::time::Duration;

use debugger::dap::Then;
use serde_json::json;

use crate::editor::Editor;
use crate::launches::ROTATE;

/// A kernel that never ends by itself.
fn endless() -> String {
    let endless = ROTATE.replace("\tbar.sync \t0;", "AGAIN:\n\tbar.sync \t0;");
    let endless = endless.replace("\t.loc\t1 16 1\n", "\t.loc\t1 16 1\n\tbra AGAIN;\n");
    assert_ne!(endless, ROTATE);
    endless
}

fn while_it_runs() -> Editor {
    let mut editor = Editor::launched(&endless(), 1, json!({"stopOnEntry": true}));
    editor.ask("setExceptionBreakpoints", json!({"filters": []}));
    editor.ask("configurationDone", json!({}));
    editor.stop();
    editor.ask("continue", json!({"threadId": 1}));
    editor
}

#[test]
fn a_pause_halts_it_and_it_goes_on() {
    let mut editor = while_it_runs();
    for _ in 0..3 {
        editor.ask("pause", json!({"threadId": 1}));
        let stop = editor.stop();
        assert_eq!(stop["reason"], "pause");
        assert!(!editor.frames(&stop["threadId"]).is_empty());
        // At the beginning there is nothing before.
        let stop = editor.go("stepBack", &stop["threadId"]);
        assert!(stop["reason"] == "step" || stop["reason"] == "entry");
        editor.ask("continue", json!({"threadId": stop["threadId"]}));
    }
    let ended = editor.leave();
    assert_eq!((ended.then, ended.errors.len()), (vec![Then::Alone], 1));
}

#[test]
fn a_pause_in_the_same_breath_is_not_lost() {
    let mut editor = while_it_runs();
    editor.ask("pause", json!({"threadId": 1}));
    editor.stop();
    for _ in 0..20 {
        let go = editor.send("continue", json!({"threadId": 1}));
        let pause = editor.send("pause", json!({"threadId": 1}));
        editor.response(go).expect("it goes");
        editor.response(pause).expect("it halts");
        assert_eq!(editor.stop()["reason"], "pause");
    }
    editor.leave();
}

#[test]
fn breakpoints_are_set_while_it_runs() {
    let mut editor = while_it_runs();
    let threads = editor.ask("threads", json!({}))["threads"].take();
    assert!(threads[1]["id"].is_number(), "{threads}");
    let told = editor.set_lines(json!([{"line": 14}]));
    assert_eq!(told[0]["verified"], true);
    let stop = editor.stop();
    assert_eq!(stop["reason"], "breakpoint");
    assert_eq!(editor.line(&stop["threadId"]), 14);
    editor.leave();
}

#[test]
fn a_step_that_is_asked_about_is_still_that_step() {
    let mut editor = Editor::at_entry(ROTATE);
    // What comes before line 11 is part of it.
    assert_eq!(editor.line(&json!(1)), 11);
    for _ in 0..10 {
        let next = editor.send("next", json!({"threadId": 1}));
        let threads = editor.send("threads", json!({}));
        editor.response(next).expect("it steps");
        editor.response(threads).expect("threads");
        editor.stop();
        assert_eq!(editor.line(&json!(1)), 12);
        editor.go("stepBack", &json!(1));
        assert_eq!(editor.line(&json!(1)), 11);
    }
    assert!(editor.leave().is_right());
}

#[test]
fn who_hangs_up_or_wants_the_end_gets_it() {
    let mut editor = while_it_runs();
    editor.ask("terminate", json!({}));
    editor.event("terminated");
    editor.ask("disconnect", json!({}));
    let ended = editor.wait();
    assert_eq!((ended.then, ended.errors.len()), (vec![Then::Terminate], 1));
    let ended = while_it_runs().leave();
    assert_eq!((ended.then, ended.errors.len()), (vec![Then::Alone], 1));
}

#[test]
fn what_the_checks_find_is_found_whatever_is_asked_meanwhile() {
    let wrong = ROTATE.replace("bar.sync", "// bar.sync");
    for n_asked in 0..20 {
        let mut editor = Editor::at_entry(&wrong);
        let mut sent = vec![editor.send("continue", json!({"threadId": 1}))];
        sent.extend((0..n_asked).map(|_| editor.send("threads", json!({}))));
        for seq in sent {
            editor.response(seq).expect("an answer");
        }
        assert_eq!(editor.stop()["reason"], "exception");
        editor.leave();
    }
}

#[test]
fn what_the_checks_find_is_found_after_a_question_that_came_later() {
    // The end is far behind what is found.
    let wrong = endless().replace("bar.sync", "// bar.sync");
    let mut editor = Editor::at_entry(&wrong);
    // From now on it is known.
    assert_eq!(editor.go("continue", &json!(1))["reason"], "exception");
    for _ in 0..3 {
        let stop = editor.go("reverseContinue", &json!(1));
        assert_eq!(stop["reason"], "entry");
        editor.ask("continue", json!({"threadId": 1}));
        std::thread::sleep(Duration::from_millis(20));
        editor.ask("threads", json!({}));
        assert_eq!(editor.stop()["reason"], "exception");
    }
    editor.leave();
}
