//! Names of places in a page, as used in links.

/// A text as a part of an `id`: without spaces and separators.
pub fn anchor(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    text.chars()
        .map(|c| if is_plain(c) { c } else { '-' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::anchor;

    #[test]
    fn anchors_have_no_spaces_and_no_separators() {
        assert_eq!(anchor("a b/c+d"), "a-b-c-d");
        assert_eq!(anchor("transpose_shared"), "transpose_shared");
    }
}
