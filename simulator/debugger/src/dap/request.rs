//! A request and its arguments.

use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub struct Request {
    /// Its number, which the response repeats.
    pub seq: i64,
    /// What is asked for.
    pub command: String,
    arguments: Value,
}

impl Request {
    /// From a message; none if it is something else.
    pub fn of(mut message: Value) -> Option<Self> {
        if message.get("type")?.as_str()? != "request" {
            return None;
        }
        Some(Self {
            seq: message.get("seq").and_then(Value::as_i64).unwrap_or(0),
            command: message.get("command")?.as_str()?.to_owned(),
            arguments: message
                .get_mut("arguments")
                .map_or(Value::Null, Value::take),
        })
    }

    pub fn message(&self) -> Value {
        json!({
            "seq": self.seq,
            "type": "request",
            "command": self.command,
            "arguments": self.arguments,
        })
    }

    /// The message that answers it.
    pub fn response(&self, result: Result<Value, String>) -> Value {
        let mut message = json!({
            "type": "response",
            "request_seq": self.seq,
            "command": self.command,
            "success": result.is_ok(),
        });
        match result {
            Ok(Value::Null) => {}
            Ok(body) => message["body"] = body,
            Err(why) => {
                // The text is a format, in which braces name variables.
                let format = why.replace(['{', '}'], "");
                message["message"] = json!(why);
                message["body"] = json!({"error": {"id": 1, "format": format, "showUser": true}});
            }
        }
        message
    }

    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// An argument that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        text(&self.arguments, name)
    }

    /// An argument that is a whole number.
    pub fn number(&self, name: &str) -> Option<i64> {
        number(&self.arguments, name)
    }

    /// Whether an argument is `true`.
    pub fn is_set(&self, name: &str) -> bool {
        is_set(&self.arguments, name)
    }

    /// An argument that is a list.
    pub fn list(&self, name: &str) -> &[Value] {
        let list = self.arguments.get(name).and_then(Value::as_array);
        list.map_or(&[], Vec::as_slice)
    }
}

/// A message that nobody has asked for.
pub fn event(name: &str, body: Value) -> Value {
    json!({"type": "event", "event": name, "body": body})
}

/// A part that is a text.
pub fn text<'a>(of: &'a Value, name: &str) -> Option<&'a str> {
    of.get(name)?.as_str()
}

/// A part that is a whole number.
pub fn number(of: &Value, name: &str) -> Option<i64> {
    of.get(name)?.as_i64()
}

/// Whether a part is `true`.
pub fn is_set(of: &Value, name: &str) -> bool {
    of.get(name).and_then(Value::as_bool).unwrap_or(false)
}
