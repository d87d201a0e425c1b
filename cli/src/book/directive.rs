//! Directives, with which a chapter inserts generated text:
//! `{{#name argument key=value "several words"}}`.

use std::collections::BTreeMap;

/// A directive and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive<'t> {
    /// `counts` of `{{#counts transpose}}`.
    pub name: &'t str,
    /// What follows the name.
    pub arguments: Arguments,
    /// Its bytes in the text.
    pub span: std::ops::Range<usize>,
    /// Its line, from 1.
    pub line: usize,
}

/// The arguments of a directive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// Those without a key, in order.
    pub words: Vec<String>,
    /// Those with a key.
    pub named: BTreeMap<String, String>,
}

impl Arguments {
    /// Reads `word key=value "several words"`.
    pub fn parse(text: &str) -> Self {
        let mut arguments = Self::default();
        for word in split(text) {
            let is_key = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_ascii_lowercase());
            match word.split_once('=') {
                Some((key, value)) if is_key(key) => {
                    arguments.named.insert(key.to_owned(), value.to_owned());
                }
                _ => arguments.words.push(word),
            }
        }
        arguments
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.named.get(key).map(String::as_str)
    }

    /// The value of a key.
    ///
    /// # Errors
    ///
    /// The key is missing.
    pub fn need(&self, key: &str) -> Result<&str, String> {
        self.get(key).ok_or_else(|| format!("`{key}=` is missing"))
    }

    /// The only word.
    ///
    /// # Errors
    ///
    /// There is none, or several.
    pub fn only(&self) -> Result<&str, String> {
        match self.words.as_slice() {
            [word] => Ok(word),
            words => Err(format!("one word is expected, not {}", words.len())),
        }
    }

    /// Refuses keys other than these.
    ///
    /// # Errors
    ///
    /// There is another key.
    pub fn keys(&self, known: &[&str]) -> Result<(), String> {
        match self.named.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(format!("`{key}=` means nothing here")),
            None => Ok(()),
        }
    }
}

/// Words; those in double quotes may contain spaces.
fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted, mut is_open) =
        (Vec::new(), String::new(), false, false);
    for c in text.chars() {
        match c {
            '"' => {
                is_quoted = !is_quoted;
                is_open = true;
            }
            c if c.is_whitespace() && !is_quoted => {
                if is_open {
                    words.push(std::mem::take(&mut word));
                }
                is_open = false;
            }
            c => {
                word.push(c);
                is_open = true;
            }
        }
    }
    if is_open {
        words.push(word);
    }
    words
}

/// The directives of a text, in order. `\{{#` does not begin one.
pub fn directives(text: &str) -> Vec<Directive<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("{{#").map(|at| from + at) {
        let Some(end) = text[start..].find("}}").map(|at| start + at) else {
            break;
        };
        from = end + 2;
        if text[..start].ends_with('\\') {
            continue;
        }
        let inner = &text[start + 3..end];
        let (name, rest) = inner.split_once(char::is_whitespace).unwrap_or((inner, ""));
        found.push(Directive {
            name,
            arguments: Arguments::parse(rest),
            span: start..end + 2,
            line: 1 + text[..start].matches('\n').count(),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Arguments, directives};

    #[test]
    fn directives_are_found_with_their_lines() {
        let text = "a\n{{#code f g=1}} and\n\\{{#no}} {{#x \"two words\" layout=pad:1}}";
        let found = directives(text);
        let told: Vec<_> = found.iter().map(|d| (d.name, d.line)).collect();
        assert_eq!(told, [("code", 2), ("x", 3)]);
        assert_eq!(&text[found[0].span.clone()], "{{#code f g=1}}");
        assert_eq!(found[0].arguments.get("g"), Some("1"));
        assert_eq!(found[1].arguments.words, ["two words"]);
        assert_eq!(found[1].arguments.need("layout"), Ok("pad:1"));
    }

    #[test]
    fn what_is_missing_or_unknown_is_told() {
        let arguments = Arguments::parse("a b type=f32");
        assert!(arguments.only().is_err());
        assert!(arguments.need("layout").is_err());
        assert!(arguments.keys(&["layout"]).is_err());
        assert!(arguments.keys(&["type"]).is_ok());
    }
}
