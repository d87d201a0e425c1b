//! The adapter, with programs that launch no kernel.

use std::io::{Read, Write};

use debugger::dap::adapter;
use debugger::front;
use serde_json::{Value, json};

/// What an editor is told, up to the program's end, after `initialize` and a `launch` with these arguments.
fn told(arguments: &Value) -> String {
    let (input, mut to) = std::io::pipe().expect("a pipe");
    let (mut from, output) = std::io::pipe().expect("a pipe");
    let adapter = std::thread::spawn(|| adapter::serve(input, output, front::to_adapter));
    for (seq, command, arguments) in [(1, "initialize", &json!({})), (2, "launch", arguments)] {
        let request = json!({
            "seq": seq, "type": "request", "command": command, "arguments": arguments,
        });
        let text = request.to_string();
        write!(to, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("a reader");
    }
    let mut all = String::new();
    let mut bytes = [0; 1 << 10];
    while !all.contains(r#""event":"terminated""#) {
        let n = from.read(&mut bytes).expect("a writer");
        assert!(n > 0, "{all}");
        all += &String::from_utf8_lossy(&bytes[..n]);
    }
    drop(to);
    adapter
        .join()
        .expect("the adapter does not panic")
        .expect("a port");
    all
}

#[test]
fn what_a_program_writes_is_shown() {
    let told = told(&json!({"command": ["cargo", "--version"]}));
    assert!(
        told.contains(r#""category":"stdout","output":"cargo "#),
        "{told}"
    );
    assert!(told.contains("launched no kernel"), "{told}");
    assert!(told.contains(r#""exitCode":0"#), "{told}");
}

#[test]
fn what_cannot_be_started_is_refused() {
    for arguments in [json!({}), json!({"program": "/no/such/program"}), json!(3)] {
        let told = told(&arguments);
        assert!(told.contains(r#""success":false"#), "{told}");
    }
}
