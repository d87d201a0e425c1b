//! Editors that drive launches by the Debug Adapter Protocol.

mod adapter;
mod editor;
mod launches;
mod nonsense;
mod running;

use debugger::dap::Then;
use serde_json::{Value, json};

use crate::editor::Editor;
use crate::launches::{LARGEST, ROTATE};

fn text(value: &Value) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is not a text"))
}

#[test]
fn breakpoints_are_verified_once_a_launch_has_their_code() {
    let mut editor = Editor::launched(ROTATE, 1, json!({}));
    let told = editor.set_lines(json!([{"line": 15}, {"line": 9}, {"line": 14,
        "condition": "tid.x == 40"}]));
    assert_eq!(told.as_array().map(Vec::len), Some(3));
    assert!((0..3).all(|i| told[i]["verified"] == false));
    editor.ask("configurationDone", json!({}));
    let placed: Vec<Value> = (0..3).map(|_| editor.event("breakpoint")).collect();
    assert_eq!(placed[0]["breakpoint"]["verified"], true);
    assert_eq!(placed[1]["breakpoint"]["verified"], false);
    let why = text(&placed[1]["breakpoint"]["message"]);
    let nearest = "the nearest lines with code are 7, 10, 11, 12";
    assert!(why.contains(nearest), "{why}");
    // The first warp comes to line 15 before the second one's thread 40 comes to line 14.
    let stop = editor.stop();
    assert_eq!(stop["reason"], "breakpoint");
    assert_eq!(stop["hitBreakpointIds"], json!([told[0]["id"]]));
    assert_eq!(editor.line(&stop["threadId"]), 15);
    let stop = editor.go("continue", &stop["threadId"]);
    assert_eq!(stop["hitBreakpointIds"], json!([told[2]["id"]]));
    let frames = editor.frames(&stop["threadId"]);
    assert_eq!(editor.value(&frames[0]["id"], "tid.x"), "40");
    assert!(text(&frames[0]["source"]["path"]).ends_with("rotate.cu"));
    // Without any, it runs to its end.
    editor.set_lines(json!([]));
    editor.ask("continue", json!({"threadId": stop["threadId"]}));
    editor.event("terminated");
    let ended = editor.wait();
    assert!(ended.is_right());
    assert_eq!(ended.then, [Then::Next]);
}

#[test]
fn steps_go_into_what_is_inlined_and_back() {
    let mut editor = Editor::at_entry(ROTATE);
    let bound = editor.set_lines(json!([{"line": 12}]));
    assert_eq!(bound[0]["verified"], true);
    let thread = json!(1);
    let stop = editor.go("continue", &thread);
    assert_eq!((&stop["threadId"], editor.line(&thread)), (&thread, 12));
    editor.set_lines(json!([]));
    editor.go("stepIn", &thread);
    let frames = editor.frames(&thread);
    assert_eq!(
        json!([frames[0]["line"], frames[1]["line"]]),
        json!([4, 12])
    );
    assert_eq!(frames[1]["name"], "rotate");
    editor.go("stepOut", &thread);
    assert_eq!(editor.line(&thread), 12);
    editor.go("next", &thread);
    assert_eq!(editor.line(&thread), 13);
    // Back over line 12, with what was inlined in it.
    editor.go("stepBack", &thread);
    assert_eq!(editor.line(&thread), 12);
    let mut moved = |command| {
        editor.ask(
            command,
            json!({"threadId": thread, "granularity": "instruction"}),
        );
        editor.stop();
        editor.frames(&thread)[0]["instructionPointerReference"].clone()
    };
    assert_ne!(moved("next"), moved("stepBack"));
    let stop = editor.go("reverseContinue", &thread);
    assert_eq!(stop["reason"], "entry");
    assert!(editor.leave().is_right());
}

#[test]
fn lanes_are_chosen_and_warps_are_threads() {
    let mut editor = Editor::at_entry(ROTATE);
    let all = editor.ask("threads", json!({}))["threads"].take();
    assert_eq!(all[0], json!({"id": 1, "name": "block 0 (0,0,0) warp 0"}));
    assert_eq!(all[1]["id"], 2);
    editor.set_lines(json!([{"line": 13}]));
    let stop = editor.go("continue", &json!(1));
    assert_eq!(stop["threadId"], 1);
    let frame = editor.frames(&json!(1))[0]["id"].clone();
    assert_eq!(editor.value(&frame, "%r5"), "0");
    let said = editor.command("lane 5");
    assert!(said.contains("thread 5 (warp 0, lane 5)"), "{said}");
    // This editor cannot be told otherwise that another lane is looked at.
    assert_eq!(editor.stop()["threadId"], 1);
    let frame = editor.frames(&json!(1))[0]["id"].clone();
    assert_eq!(editor.value(&frame, "%r5"), "20");
    let scopes = editor.ask("scopes", json!({"frameId": frame}))["scopes"].take();
    let of = |name: &str| {
        let mut all = scopes.as_array().expect("a list").iter();
        let scope = all.find(|scope| scope["name"] == name);
        scope.unwrap_or_else(|| panic!("no scope {name}"))["variablesReference"].clone()
    };
    let (registers, lanes, thread) = (of("Registers"), of("Lanes"), of("Thread"));
    let registers = editor.unfold(json!({"variablesReference": registers}));
    let register = registers.iter().find(|register| register["name"] == "%r5");
    let register = register.expect("a register with a value");
    assert_eq!(register["value"], "20");
    let of_lanes = json!({"variablesReference": register["variablesReference"]});
    assert_eq!(editor.unfold(of_lanes)[7]["value"], "28");
    let lanes = editor.unfold(json!({"variablesReference": lanes}));
    assert!(text(&lanes[5]["value"]).ends_with("looked at"));
    let thread = editor.unfold(json!({"variablesReference": thread}));
    assert_eq!(thread[0]["value"], "(5, 0, 0)");
    // The other warp has begun, and steps by itself.
    let stop = editor.go("stepIn", &json!(2));
    assert_eq!(stop["threadId"], 2);
    assert!(editor.leave().is_right());
}

#[test]
fn variables_of_the_source_come_first() {
    let mut editor = Editor::at_entry(LARGEST);
    // Into the function that computes it, and out again.
    let function = json!({"breakpoints": [{"name": "_Z8start_ofii"}]});
    editor.ask("setFunctionBreakpoints", function);
    let stop = editor.go("continue", &json!(1));
    assert_eq!(stop["reason"], "function breakpoint");
    assert_eq!(editor.frames(&json!(1)).len(), 2);
    editor.go("stepOut", &json!(1));
    editor.go("next", &json!(1));
    editor.command("lane 5");
    editor.stop();
    let frame = editor.frames(&json!(1))[0]["id"].clone();
    let scopes = editor.ask("scopes", json!({"frameId": frame}))["scopes"].take();
    let scope = &scopes[0];
    assert_eq!(
        json!([scope["name"], scope["expensive"]]),
        json!(["Variables", false])
    );
    let all = editor.unfold(json!({"variablesReference": scope["variablesReference"]}));
    let find = |name: &str| {
        let found = all.iter().find(|one| one["name"] == name);
        found.expect("a variable")
    };
    let start = find("start");
    assert_eq!(json!([start["value"], start["type"]]), json!(["11", "i32"]));
    assert_eq!(find("width")["value"], "2");
    assert_eq!(editor.value(&frame, "start"), "11");
    assert!(editor.leave().errors.is_empty());
}

#[test]
fn memory_unfolds_page_by_page_and_row_by_row() {
    let mut editor = Editor::at_entry(ROTATE);
    editor.set_lines(json!([{"line": 14}]));
    editor.go("continue", &json!(1));
    let frame = editor.frames(&json!(1))[0]["id"].clone();
    let whole = json!({"expression": "input", "frameId": frame, "context": "hover"});
    let input = editor.ask("evaluate", whole);
    assert_eq!(input["type"], "global, 128 x f32");
    assert_eq!(input["indexedVariables"], 128);
    let page = json!({"variablesReference": input["variablesReference"], "filter": "indexed",
        "start": 100, "count": 50});
    let page = editor.unfold(page);
    assert_eq!(page.len(), 28);
    let one = &page[3];
    let shown = json!([one["name"], one["value"], one["evaluateName"]]);
    assert_eq!(shown, json!(["[103]", "103.0", "input[103]"]));
    editor.command("shape tile 8x8");
    let whole = json!({"expression": "tile", "frameId": frame});
    let tile = editor.ask("evaluate", whole);
    assert_eq!(tile["indexedVariables"], 8);
    let rows = editor.unfold(json!({"variablesReference": tile["variablesReference"]}));
    let row = editor.unfold(json!({"variablesReference": rows[2]["variablesReference"]}));
    let shown = json!([row[1]["evaluateName"], row[1]["value"]]);
    assert_eq!(shown, json!(["tile[2][1]", "34.0"]));
    let bytes = json!({"memoryReference": row[1]["memoryReference"], "count": 4096});
    let bytes = editor.ask("readMemory", bytes);
    assert_eq!(bytes["unreadableBytes"], 4096 - (256 - 4 * 17));
    assert!(text(&bytes["data"]).starts_with("AAAIQ"));
    assert!(editor.leave().is_right());
}

#[test]
fn memory_halts_a_launch_and_says_who_wrote_it() {
    let mut editor = Editor::at_entry(ROTATE);
    let frame = editor.frames(&json!(1))[0]["id"].clone();
    let info = json!({"name": "output[tid.x + 70]", "frameId": frame});
    let info = editor.ask("dataBreakpointInfo", info);
    assert_eq!(info["dataId"], "output[70]");
    let none = editor.ask("dataBreakpointInfo", json!({"name": "%f2"}));
    assert_eq!(none["dataId"], Value::Null);
    let one = json!([{"dataId": info["dataId"], "accessType": "write"}]);
    let told = editor.ask("setDataBreakpoints", json!({"breakpoints": one}));
    let stop = editor.go("continue", &json!(1));
    assert_eq!(stop["reason"], "data breakpoint");
    assert_eq!(stop["hitBreakpointIds"][0], told["breakpoints"][0]["id"]);
    // Thread 6 of block 1.
    assert_eq!(stop["threadId"], 33);
    let frame = editor.frames(&json!(33))[0].clone();
    assert_eq!(frame["line"], 15);
    assert_eq!(editor.value(&frame["id"], "lane"), "6");
    editor.ask("setDataBreakpoints", json!({"breakpoints": []}));
    editor.command("last-write tile[7]");
    let stop = editor.stop();
    assert_eq!(stop["reason"], "goto");
    assert_eq!(editor.line(&stop["threadId"]), 12);
    assert!(editor.leave().is_right());
}

#[test]
fn what_the_checks_find_is_an_exception() {
    let wrong = ROTATE.replace("bar.sync", "// bar.sync");
    let mut editor = Editor::launched(&wrong, 1, json!({}));
    editor.ask("configurationDone", json!({}));
    let stop = editor.stop();
    assert_eq!(stop["reason"], "exception");
    let info = editor.ask("exceptionInfo", json!({"threadId": stop["threadId"]}));
    assert_eq!(info["exceptionId"], "finding");
    assert!(text(&info["description"]).contains("race"), "{info}");
    let line = editor.line(&stop["threadId"]);
    assert!(line == 12 || line == 15, "line {line}");
    editor.command("finding other");
    assert_eq!(editor.stop()["reason"], "goto");
    editor.ask("continue", json!({"threadId": 1}));
    let stop = editor.stop();
    assert_eq!(stop["reason"], "exception");
    editor.ask("continue", json!({"threadId": 1}));
    editor.event("terminated");
    editor.leave();
}

#[test]
fn faults_are_exceptions_and_end_the_launch_as_without_a_debugger() {
    let wrong = ROTATE.replace("mul.wide.u32 \t%rd5, %r4, 4", "mul.wide.u32 \t%rd5, %r4, 8");
    assert_ne!(wrong, ROTATE);
    for is_wanted in [true, false] {
        let mut editor = Editor::launched(&wrong, 1, json!({}));
        let filters: &[&str] = if is_wanted { &["faults"] } else { &[] };
        editor.ask("setExceptionBreakpoints", json!({"filters": filters}));
        editor.ask("configurationDone", json!({}));
        if is_wanted {
            let stop = editor.stop();
            assert_eq!(stop["reason"], "exception");
            assert_eq!(editor.line(&stop["threadId"]), 12);
            let back = editor.go("stepBack", &stop["threadId"]);
            assert_eq!(back["reason"], "step");
            let again = editor.go("continue", &stop["threadId"]);
            assert_eq!(again["reason"], "exception");
            editor.ask("continue", json!({"threadId": stop["threadId"]}));
        }
        editor.event("terminated");
        assert_eq!(editor.wait().errors.len(), 1);
    }
}

#[test]
fn breakpoints_of_all_kinds_hold_for_every_launch() {
    let mut editor = Editor::launched(ROTATE, 3, json!({"stopAtEnd": true}));
    let functions = json!([{"name": "rotate"}, {"name": "absent"}]);
    editor.ask("setFunctionBreakpoints", json!({"breakpoints": functions}));
    editor.ask("configurationDone", json!({}));
    let stop = editor.stop();
    assert_eq!(stop["reason"], "function breakpoint");
    // What comes before that is part of it.
    assert_eq!(editor.line(&stop["threadId"]), 11);
    editor.ask("setFunctionBreakpoints", json!({"breakpoints": []}));
    let stop = editor.go("continue", &stop["threadId"]);
    assert_eq!(stop["description"], "the launch has ended");
    editor.ask("setExceptionBreakpoints", json!({"filters": ["barriers"]}));
    // Of the second launch.
    let stop = editor.go("continue", &stop["threadId"]);
    assert_eq!(stop["description"], "at a barrier");
    let frames = editor.frames(&stop["threadId"]);
    assert_eq!(frames[0]["line"], 13);
    let at = json!({"instructionReference": frames[0]["instructionPointerReference"], "offset": 1});
    editor.ask("setExceptionBreakpoints", json!({"filters": []}));
    editor.ask("setInstructionBreakpoints", json!({"breakpoints": [at]}));
    let stop = editor.go("continue", &stop["threadId"]);
    assert_eq!(stop["reason"], "instruction breakpoint");
    assert_eq!(editor.line(&stop["threadId"]), 14);
    editor.ask("setInstructionBreakpoints", json!({"breakpoints": []}));
    editor.ask("disconnect", json!({}));
    let ended = editor.leave();
    assert!(ended.is_right());
    assert_eq!(ended.then, [Then::Next, Then::Alone, Then::Alone]);
}

#[test]
fn code_without_a_source_is_shown_as_ptx() {
    let lines = ROTATE.lines().filter(|line| !line.starts_with("\t.loc"));
    let bare = lines.collect::<Vec<_>>().join("\n");
    let mut editor = Editor::at_entry(&bare);
    let frame = editor.frames(&json!(1))[0].clone();
    assert_eq!(
        json!([frame["source"]["name"], frame["line"]]),
        json!(["rotate.ptx", 8])
    );
    let source = editor.ask("source", json!({"source": frame["source"]}));
    let mut lines = text(&source["content"]).lines();
    let barrier = lines.position(|line| line.starts_with("bar.sync"));
    let barrier = barrier.expect("the barrier") + 1;
    let at = json!({"source": frame["source"], "breakpoints": [{"line": barrier}]});
    let told = editor.ask("setBreakpoints", at);
    assert_eq!(told["breakpoints"][0]["verified"], true);
    editor.go("continue", &json!(1));
    let frame = editor.frames(&json!(1))[0].clone();
    assert_eq!(frame["line"], barrier);
    let around = json!({"memoryReference": frame["instructionPointerReference"],
        "instructionOffset": -50, "instructionCount": 100});
    let body = editor.ask("disassemble", around);
    let all = body["instructions"].as_array().expect("a list");
    assert_eq!(all.len(), 100);
    assert!(text(&all[50]["instruction"]).starts_with("bar.sync"));
    assert_eq!(all[0]["presentationHint"], "invalid");
    assert!(editor.leave().is_right());
}
