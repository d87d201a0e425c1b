//! Editors that talk nonsense or hang up: launches end as they do without one.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::editor::Editor;
use crate::launches::ROTATE;

#[test]
fn who_hangs_up_at_any_time_leaves_the_launch_alone() {
    let stages: [fn(&mut Editor); 6] = [
        |_| {},
        |editor| {
            editor.send("initialize", json!({}));
        },
        |editor| editor.send_bytes(b"Content-Le"),
        |editor| editor.send_bytes(b"Content-Length: 100\r\n\r\n{\"seq\": 1"),
        |editor| {
            editor.ask("initialize", json!({}));
            editor.ask("launch", json!({}));
            editor.send("configurationDone", json!({}));
        },
        |editor| {
            editor.ask("initialize", json!({}));
            editor.ask("launch", json!({"stopOnEntry": true}));
            editor.ask("configurationDone", json!({}));
            editor.stop();
            editor.send("next", json!({"threadId": 1}));
            editor.send("reverseContinue", json!({"threadId": 1}));
        },
    ];
    for stage in stages {
        let mut editor = Editor::new(ROTATE, 2);
        stage(&mut editor);
        assert!(editor.leave().is_right());
    }
}

#[test]
fn a_message_that_is_not_a_request_is_passed_over() {
    let mut editor = Editor::at_entry(ROTATE);
    let request = r#"{"type": "request"}"#;
    for text in ["{]", "", "7", "null", "{}", r#"["request"]"#, request] {
        editor.send_text(text);
        let said = editor.event("output");
        let said = said["output"].as_str().expect("a text");
        let is_launch = said.starts_with("launch of");
        assert!(is_launch || said.contains("ignored"), "{text}: {said}");
    }
    editor.send_text("{\"type\": \"response\", \"request_seq\": 1}");
    for command in ["", "restart", "setVariable", "säge"] {
        let why = editor.try_ask(command, json!(null));
        assert_eq!(why, Err(format!("`{command}` is not supported")));
    }
    assert_eq!(editor.go("next", &json!(1))["reason"], "step");
    assert!(editor.leave().is_right());
}

#[test]
fn what_cannot_be_framed_ends_the_conversation() {
    let headers = [
        "Content-Length: many\r\n\r\n{}",
        "Content-Length: 99999999999\r\n\r\n{}",
        "\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ];
    for header in headers {
        let mut editor = Editor::at_entry(ROTATE);
        editor.send_bytes(header.as_bytes());
        assert!(editor.wait().is_right(), "{header}");
    }
}

#[test]
fn it_is_refused_before_a_launch_what_needs_one() {
    let mut editor = Editor::new(ROTATE, 1);
    editor.ask("initialize", json!({"linesStartAt1": false}));
    for command in ["stackTrace", "next", "evaluate", "variables"] {
        assert!(editor.try_ask(command, json!({})).is_err());
    }
    assert_eq!(editor.ask("threads", json!({}))["threads"], json!([]));
    editor.ask("attach", json!({"stopOnEntry": true}));
    editor.ask("configurationDone", json!({}));
    editor.stop();
    // Lines begin with 0 here.
    assert_eq!(editor.line(&json!(1)), 10);
    assert!(editor.try_ask("launch", json!({})).is_err());
    let counted = json!([{"line": 13, "hitCondition": "3"}, {"line": 13, "condition": "("}, {}]);
    let told = editor.set_lines(counted);
    assert!((0..3).all(|i| told[i]["verified"] == false && told[i]["message"].is_string()));
    assert!(editor.leave().is_right());
}

/// Anything that may stand for an argument.
fn argument() -> impl Strategy<Value = Value> {
    let texts = [
        "tile",
        "[3]",
        "0x100000003",
        "lane 99",
        "output[1] if",
        "back next",
        "block 9",
    ];
    prop_oneof![
        any::<i64>().prop_map(|n| json!(n)),
        (-2..40_i64).prop_map(|n| json!(n)),
        any::<bool>().prop_map(|is| json!(is)),
        proptest::sample::select(texts.to_vec()).prop_map(|text| json!(text)),
        ".{0,12}".prop_map(|text| json!(text)),
        Just(json!([{"line": 12, "name": "rotate", "dataId": "tile[1]"}, 4])),
        Just(json!({"path": "rotate.cu", "name": "rotate.ptx", "sourceReference": 1})),
        Just(Value::Null),
    ]
}

/// One of some words.
fn select(words: &'static str) -> impl Strategy<Value = &'static str> {
    proptest::sample::select(words.split(' ').collect::<Vec<_>>())
}

fn request() -> impl Strategy<Value = (&'static str, Value)> {
    let commands = "initialize setBreakpoints setFunctionBreakpoints setDataBreakpoints \
        setInstructionBreakpoints setExceptionBreakpoints threads stackTrace scopes \
        variables evaluate source disassemble readMemory dataBreakpointInfo exceptionInfo \
        pause next stepIn stepOut stepBack reverseContinue";
    let names = "threadId frameId variablesReference start count expression name source breakpoints \
        filters memoryReference offset instructionOffset instructionCount context startFrame \
        levels granularity sourceReference";
    let argument = (select(names), argument());
    let arguments = proptest::collection::vec(argument, 0..6);
    let object = arguments.prop_map(|all| {
        let all = all.into_iter();
        Value::Object(all.map(|(name, value)| (name.to_owned(), value)).collect())
    });
    (select(commands), object)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_requests_get_an_answer_each(
        requests in proptest::collection::vec(request(), 1..40)
    ) {
        let mut editor = Editor::at_entry(ROTATE);
        for (command, arguments) in requests {
            let _ = editor.try_ask(command, arguments);
        }
        prop_assert!(editor.leave().is_right());
    }

    #[test]
    fn any_bytes_leave_the_launch_alone(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut editor = Editor::at_entry(ROTATE);
        editor.send_bytes(&bytes);
        prop_assert!(editor.leave().is_right());
    }
}
