//! Which archive this system takes its packages from.
//!
//! The address is the system's own; only the suite is changed. Both forms of
//! apt's sources are read: `*.sources` paragraphs and one-line `*.list` entries.

use super::control::paragraphs;
use std::fmt::Write;
use std::path::Path;

/// One archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Archive {
    pub uri: String,
    /// The keys that sign it: a path, or a whole key with its line breaks.
    pub signed_by: Option<String>,
}

/// Where Debian keeps its archive's keys; for sources that name none.
const DEBIAN_KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

impl Archive {
    /// A `.sources` paragraph for one suite of this archive.
    pub fn paragraph(&self, suite: &str) -> String {
        let mut text = format!(
            "Types: deb\nURIs: {}\nSuites: {suite}\nComponents: main\n",
            self.uri
        );
        let keys = self.signed_by.clone().or_else(|| {
            Path::new(DEBIAN_KEYS)
                .exists()
                .then(|| DEBIAN_KEYS.to_string())
        });
        if let Some(keys) = keys {
            let _ = writeln!(text, "Signed-By: {keys}");
        }
        text
    }
}

/// The archives in a system's settings (`/etc/apt`), those that look like
/// Debian's main archive first.
pub(super) fn archives(apt_dir: &Path) -> Vec<Archive> {
    let mut files = vec![apt_dir.join("sources.list")];
    let mut parts: Vec<_> = std::fs::read_dir(apt_dir.join("sources.list.d"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    parts.sort();
    files.extend(parts);
    let mut found = Vec::new();
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file) else {
            continue;
        };
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("list") => found.extend(text.lines().filter_map(from_line)),
            Some("sources") => found.extend(from_paragraphs(&text)),
            _ => {}
        }
    }
    let mut unique: Vec<Archive> = Vec::new();
    for archive in found {
        if !unique.iter().any(|known| known.uri == archive.uri) {
            unique.push(archive);
        }
    }
    unique.sort_by_key(|archive| !archive.uri.trim_end_matches('/').ends_with("/debian"));
    unique
}

/// Only archives with a component `main` can have the compiler; suites of
/// security updates lie in archives of their own, which do not.
fn may_serve(uri: &str, suite: &str, components: &[&str]) -> bool {
    components.contains(&"main") && !suite.contains("security") && !uri.starts_with("cdrom:")
}

fn from_paragraphs(text: &str) -> Vec<Archive> {
    let mut found = Vec::new();
    for paragraph in paragraphs(text) {
        let enabled = paragraph
            .get("Enabled")
            .is_none_or(|value| !value.starts_with(['n', 'f', '0']));
        if !enabled || !paragraph.words("Types").contains(&"deb") {
            continue;
        }
        let suites = paragraph.words("Suites");
        let components = paragraph.words("Components");
        for uri in paragraph.words("URIs") {
            if suites
                .iter()
                .any(|suite| may_serve(uri, suite, &components))
            {
                found.push(Archive {
                    uri: uri.into(),
                    signed_by: paragraph.get("Signed-By").map(Into::into),
                });
            }
        }
    }
    found
}

/// `deb [signed-by=/path arch=amd64] URI suite component…`
fn from_line(line: &str) -> Option<Archive> {
    let line = line.split('#').next()?.trim();
    let rest = line
        .strip_prefix("deb")?
        .strip_prefix([' ', '\t'])?
        .trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(inner) => inner.split_once(']')?,
        None => ("", rest),
    };
    let mut words = rest.split_whitespace();
    let (uri, suite) = (words.next()?, words.next()?);
    let components: Vec<&str> = words.collect();
    may_serve(uri, suite, &components).then(|| Archive {
        uri: uri.into(),
        signed_by: options
            .split_whitespace()
            .find_map(|option| option.strip_prefix("signed-by="))
            .map(Into::into),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_read() {
        let text = "\
# mirrors
Types: deb deb-src
URIs: http://one.example/debian/ http://two.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /keys/debian.gpg

Types: deb
URIs: http://one.example/debian-security
Suites: bookworm-security
Components: main
Signed-By: /keys/debian.gpg

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main

Types: deb-src
URIs: http://src.example/debian
Suites: bookworm
Components: main
";
        let uris: Vec<_> = from_paragraphs(text)
            .into_iter()
            .map(|archive| archive.uri)
            .collect();
        assert_eq!(
            uris,
            ["http://one.example/debian/", "http://two.example/debian"]
        );
    }

    #[test]
    fn a_key_within_the_paragraph_is_kept_whole() {
        let key = " -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF\n -----END PGP PUBLIC KEY BLOCK-----";
        let text = format!(
            "Types: deb\nURIs: http://one.example/debian\nSuites: sid\nComponents: main\nSigned-By:\n{key}\n"
        );
        let archives = from_paragraphs(&text);
        assert_eq!(
            archives[0].signed_by.as_deref(),
            Some(format!("\n{key}").as_str())
        );
        assert_eq!(from_paragraphs(&archives[0].paragraph("forky")), archives);
    }

    #[test]
    fn lines_are_read() {
        let read = |line| from_line(line).map(|archive| (archive.uri, archive.signed_by));
        assert_eq!(
            read(
                "deb [arch=amd64 signed-by=/keys/a.gpg] https://one.example/debian trixie main # x"
            ),
            Some((
                "https://one.example/debian".into(),
                Some("/keys/a.gpg".into())
            ))
        );
        assert_eq!(
            read("deb http://one.example/debian bookworm main contrib"),
            Some(("http://one.example/debian".into(), None))
        );
        for other in [
            "# deb http://one.example/debian bookworm main",
            "deb-src http://one.example/debian bookworm main",
            "deb http://one.example/debian-security bookworm-security main",
            "deb cdrom:[Debian_12]/ bookworm main",
            "deb https://vendor.example/apt stable vendor",
            "",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn debians_archive_comes_before_a_vendors() {
        let dir = tempfile::tempdir().unwrap();
        let parts = dir.path().join("sources.list.d");
        std::fs::create_dir(&parts).unwrap();
        std::fs::write(
            parts.join("a.list"),
            "deb http://vendor.example/apt stable main\n",
        )
        .unwrap();
        std::fs::write(
            parts.join("b.sources.off"),
            "Types: deb\nURIs: http://off.example\n",
        )
        .unwrap();
        std::fs::write(
            dir.path().join("sources.list"),
            "deb http://one.example/debian bookworm main\n\
             deb http://one.example/debian bookworm-updates main\n",
        )
        .unwrap();
        let uris: Vec<_> = archives(dir.path())
            .into_iter()
            .map(|archive| archive.uri)
            .collect();
        assert_eq!(
            uris,
            ["http://one.example/debian", "http://vendor.example/apt"]
        );
    }
}
