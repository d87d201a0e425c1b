//! The lists themselves, read from `lists.txt`.

use std::sync::LazyLock;

/// Instructions of one kind: forms that are known, and forms that are not.
pub struct Kind {
    pub title: &'static str,
    pub known: Vec<&'static str>,
    pub unknown: Vec<&'static str>,
}

pub static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let kinds = include_str!("lists.txt").split("\n# ").skip(1);
    kinds.map(kind).collect()
});

fn kind(text: &'static str) -> Kind {
    let (title, forms) = text.split_once('\n').expect("forms below the title");
    let (known, unknown) = forms.split_once("not known\n").unwrap_or((forms, ""));
    let lines = |text: &'static str| text.lines().filter(|line| !line.is_empty()).collect();
    Kind {
        title,
        known: lines(known),
        unknown: lines(unknown),
    }
}
