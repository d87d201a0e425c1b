//! Dependency files of rustc and cargo (`*.d`): makefile rules.

use std::path::PathBuf;

/// The files that the first rule depends on.
pub fn sources(note: &str) -> Vec<PathBuf> {
    let Some((_, list)) = note.lines().find_map(|line| line.split_once(": ")) else {
        return Vec::new();
    };
    let mut sources = Vec::new();
    let mut path = String::new();
    let mut characters = list.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            // A space in a path is preceded by a backslash; any other backslash is literal, such as
            // in paths on Windows.
            '\\' => path.push(characters.next_if_eq(&' ').unwrap_or('\\')),
            ' ' => sources.push(std::mem::take(&mut path)),
            _ => path.push(character),
        }
    }
    sources.push(path);
    sources.retain(|path| !path.is_empty());
    sources.into_iter().map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::sources;
    use std::path::Path;

    #[test]
    fn the_first_rule_names_the_sources() {
        let note =
            "/t/k.s: k/src/lib.rs k/src/my\\ file.rs\n\n/t/k.d: k/src/other.rs\n\nk/src/lib.rs:\n";
        let expected = ["k/src/lib.rs", "k/src/my file.rs"].map(Path::new);
        assert_eq!(sources(note), expected);
        let on_windows = r"C:\t\k.s: C:\k\lib.rs C:\my\ k\a.rs";
        let expected = [r"C:\k\lib.rs", r"C:\my k\a.rs"].map(Path::new);
        assert_eq!(sources(on_windows), expected);
        assert!(sources("").is_empty());
        assert!(sources("/t/k.s:\n").is_empty());
    }
}
