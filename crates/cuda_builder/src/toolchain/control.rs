//! Paragraphs of `Field: value` lines: the form of apt's sources and of package records.

/// One paragraph: fields in order, continuation lines joined by newlines.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Paragraph(Vec<(String, String)>);

impl Paragraph {
    /// The value of `field`, whose case does not matter.
    pub fn get(&self, field: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(field))
            .map(|(_, value)| value.as_str())
    }

    /// The words of `field`.
    pub fn words(&self, field: &str) -> Vec<&str> {
        self.get(field)
            .map_or_else(Vec::new, |value| value.split_whitespace().collect())
    }
}

/// Splits a text into its paragraphs; lines that start with `#` are comments.
pub(super) fn paragraphs(text: &str) -> Vec<Paragraph> {
    let mut all = vec![Paragraph::default()];
    for line in text.lines() {
        let current = all.last_mut().map(|paragraph| &mut paragraph.0);
        let Some(fields) = current else { continue };
        if line.starts_with('#') {
        } else if line.trim().is_empty() {
            if !fields.is_empty() {
                all.push(Paragraph::default());
            }
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                value.push('\n');
                value.push_str(line.trim_end());
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.trim().into(), value.trim().into()));
        }
    }
    all.retain(|paragraph| !paragraph.0.is_empty());
    all
}
