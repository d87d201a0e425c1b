//! What the second cargo says, in its JSON form.

use crate::cargo;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What one run says of the kernel crate and what it depends on.
pub(crate) struct Messages {
    manifest: PathBuf,
    /// Errors as rustc renders them.
    pub errors: Vec<String>,
    pub warnings: Vec<Warning>,
    /// Whether the kernel crate was up to date.
    pub is_fresh: bool,
}

/// A warning about the sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Warning {
    /// `gpu-kernels/src/lib.rs:10: unused variable: `x``
    pub line: String,
    /// As rustc renders it.
    pub rendered: String,
}

impl Messages {
    /// None yet, of the kernel crate with this manifest.
    pub fn of(manifest: &Path) -> Self {
        Self {
            manifest: manifest.into(),
            errors: Vec::new(),
            warnings: Vec::new(),
            is_fresh: false,
        }
    }

    /// Reads one line.
    pub fn take(&mut self, line: &str) {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            return;
        };
        if message["reason"] == "compiler-artifact" {
            let manifest = message["manifest_path"].as_str().map(Path::new);
            if manifest == Some(&self.manifest) {
                self.is_fresh = message["fresh"] == true;
            }
        }
        if message["reason"] != "compiler-message" {
            return;
        }
        let diagnostic = &message["message"];
        let text = diagnostic["message"].as_str().unwrap_or_default();
        let rendered = diagnostic["rendered"].as_str().unwrap_or(text).to_string();
        match diagnostic["level"].as_str() {
            Some("warning") => {
                // One about no place in the sources is about our own command
                // line: that PTX versions as target features are not stable.
                if let Some(place) = place(diagnostic) {
                    let text = text.lines().next().unwrap_or_default();
                    self.warnings.push(Warning {
                        line: format!("{place}: {text}"),
                        rendered,
                    });
                }
            }
            Some(level) if level.starts_with("error") => self.errors.push(rendered),
            _ => {}
        }
    }
}

fn place(diagnostic: &Value) -> Option<String> {
    let span = diagnostic["spans"].get(0)?;
    Some(format!(
        "{}:{}",
        span["file_name"].as_str()?,
        span["line_start"].as_u64()?
    ))
}

/// Shows each warning once, however many architectures have it: in a build
/// script as the one line that cargo lets through.
pub(crate) fn show(warnings: &[Warning]) {
    for (index, warning) in warnings.iter().enumerate() {
        if warnings[..index].contains(warning) {
            continue;
        }
        if cargo::in_build_script() {
            println!("cargo::warning={}", warning.line);
        } else {
            let _ = std::io::stderr().write_all(warning.rendered.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(level: &str, text: &str, spans: Value) -> String {
        json!({"reason": "compiler-message", "message": {
            "level": level, "message": text, "rendered": format!("{level}: {text}\n"), "spans": spans,
        }})
        .to_string()
    }

    #[test]
    fn errors_and_warnings_about_the_sources_are_kept() {
        let place = json!([{"file_name": "kernels/src/lib.rs", "line_start": 7}]);
        let mut messages = Messages::of(Path::new("/w/kernels/Cargo.toml"));
        messages.take(&message("warning", "unstable feature `ptx78`", json!([])));
        messages.take(&message("warning", "unused variable: `x`", place.clone()));
        messages.take(&message("error", "mismatched types", place));
        messages.take("{\"reason\":\"build-finished\",\"success\":false}");
        messages.take("not JSON");
        assert!(!messages.is_fresh);
        for (manifest, fresh, is_fresh) in [("other", true, false), ("kernels", true, true)] {
            let artifact = json!({"reason": "compiler-artifact", "fresh": fresh,
                "manifest_path": format!("/w/{manifest}/Cargo.toml")});
            messages.take(&artifact.to_string());
            assert_eq!(messages.is_fresh, is_fresh, "{manifest}");
        }
        assert_eq!(messages.errors, ["error: mismatched types\n"]);
        let lines: Vec<_> = messages.warnings.iter().map(|w| w.line.as_str()).collect();
        assert_eq!(lines, ["kernels/src/lib.rs:7: unused variable: `x`"]);
    }
}
