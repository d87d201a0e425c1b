//! The second cargo's messages, in its JSON form.

use crate::advice::{Origin, plain};
use crate::cargo;
use crate::device_errors::DeviceErrors;
use serde_json::Value;
use std::io::Write;

/// What one run says about the kernel crate and its dependencies.
pub(crate) struct Messages {
    pub errors: DeviceErrors,
    pub warnings: Vec<Warning>,
    /// Packages that are told to do without the standard library.
    helpers: Vec<String>,
    /// The kernel crate's dependencies that only the host has.
    host_only: Vec<String>,
    /// Whether texts have colours.
    is_coloured: bool,
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
    /// Of a run that has not begun, tells `helpers` to do without the standard library, and has none
    /// of the crates `host_only`.
    pub fn new(is_coloured: bool, helpers: &[String], host_only: &[String]) -> Self {
        Self {
            errors: DeviceErrors::default(),
            warnings: Vec::new(),
            helpers: helpers.to_vec(),
            host_only: host_only.to_vec(),
            is_coloured,
        }
    }

    /// Reads one line.
    pub fn take(&mut self, line: &str) {
        let Ok(mut message) = serde_json::from_str::<Value>(line) else {
            return;
        };
        if message["reason"] != "compiler-message" {
            return;
        }
        let diagnostic = message["message"].take();
        match diagnostic["level"].as_str() {
            Some("warning") => {
                // A warning without a place in the sources is about our own command line: PTX
                // versions as target features are unstable.
                if let Some(place) = place(&diagnostic) {
                    let text = diagnostic["message"].as_str().unwrap_or_default();
                    let rendered = diagnostic["rendered"].as_str().unwrap_or(text);
                    self.warnings.push(Warning {
                        line: format!("{place}: {}", text.lines().next().unwrap_or_default()),
                        rendered: self.shown(rendered.into()),
                    });
                }
            }
            Some(level) if level.starts_with("error") => {
                let package = package(&message["package_id"]);
                let is_helper = package.as_ref().is_some_and(|p| self.helpers.contains(p));
                let origin = Origin {
                    package: package.as_deref(),
                    is_helper,
                    host_only: &self.host_only,
                };
                self.errors.take(diagnostic, &origin);
            }
            // Where a constant that cannot be computed comes from: rustc says so by itself.
            Some("note") => self.errors.go_on(&diagnostic),
            _ => {}
        }
    }

    /// The errors as rustc prints them.
    pub fn rendered(&self) -> String {
        self.shown(self.errors.rendered())
    }

    fn shown(&self, text: String) -> String {
        match self.is_coloured {
            true => text,
            false => plain(&text),
        }
    }
}

/// The name in a package's id: `registry+https://…#name@1.0.0`, or `path+file:///…/name#1.0.0` if
/// the folder has the package's name.
fn package(id: &Value) -> Option<String> {
    let (place, end) = id.as_str()?.rsplit_once('#')?;
    let name = match end.split_once('@') {
        Some((name, _)) => name,
        None => place.rsplit('/').next()?,
    };
    Some(name.into())
}

fn place(diagnostic: &Value) -> Option<String> {
    let span = diagnostic["spans"].get(0)?;
    let file = span["file_name"].as_str()?;
    // What is in no file is on our own command line, such as `<crate attribute>`.
    (!file.starts_with('<')).then_some(())?;
    Some(format!("{file}:{}", span["line_start"].as_u64()?))
}

/// Shows each warning once, however many architectures have it: in a build script, as the single
/// line that cargo lets through.
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
        let mut messages = Messages::new(false, &[], &[]);
        messages.take(&message("warning", "unstable feature `ptx78`", json!([])));
        let given = json!([{"file_name": "<crate attribute>", "line_start": 1}]);
        messages.take(&message("warning", "unused attribute", given));
        messages.take(&message("warning", "unused variable: `x`", place.clone()));
        messages.take(&message("error", "mismatched types", place));
        messages.take("{\"reason\":\"build-finished\",\"success\":false}");
        messages.take("not JSON");
        messages.take(&message("note", "of nothing", json!([])));
        let handler = crate::advice::NO_PANIC_HANDLER;
        messages.take(&message("error", handler, json!([])));
        let whence = "the above error was encountered while instantiating `fn a`";
        messages.take(&message("note", whence, json!([])));
        let expected = format!("error: mismatched types\nnote: {whence}\n");
        assert_eq!(messages.rendered(), expected);
        let lines: Vec<_> = messages.warnings.iter().map(|w| w.line.as_str()).collect();
        assert_eq!(lines, ["kernels/src/lib.rs:7: unused variable: `x`"]);
    }

    #[test]
    fn a_crate_without_kernels_is_told_so() {
        let mut messages = Messages::new(false, &[], &[]);
        messages.take(&message(
            "error",
            crate::advice::NO_PANIC_HANDLER,
            json!([]),
        ));
        assert!(messages.rendered().contains("there is no kernel here"));
        messages.take(&message("error", "expected `fn`", json!([])));
        assert_eq!(messages.rendered(), "error: expected `fn`\n");
    }

    #[test]
    fn what_has_no_standard_library_is_named() {
        let mut messages = Messages::new(false, &["shapes".to_owned()], &[]);
        for id in [
            "registry+https://r/i#anyhow@1.0.0",
            "path+file:///w/tools#0.1.0",
        ] {
            let message = json!({"reason": "compiler-message", "package_id": id, "message": {
                "level": "error", "message": "can't find crate for `std`",
                "rendered": "error[E0463]: can't find crate for `std`\n\n",
                "code": {"code": "E0463"}, "spans": [], "children": [],
            }});
            messages.take(&message.to_string());
        }
        let in_helper = json!({"reason": "compiler-message", "package_id": "path+file:///w/shapes#0.1.0",
            "message": {"level": "error", "message": "cannot find macro `println` in this scope",
                "rendered": "error: cannot find macro `println` in this scope\n\n", "spans": [], "children": []}});
        messages.take(&in_helper.to_string());
        let rendered = messages.rendered();
        let names: Vec<_> = rendered
            .lines()
            .filter(|line| line.contains("no standard library"))
            .collect();
        assert!(
            names[0].contains("`anyhow`")
                && names[1].contains("`tools`")
                && names[2].contains("`shapes`"),
            "{rendered}"
        );
        assert!(rendered.contains("cfg(not(target_arch"), "{rendered}");
    }
}
