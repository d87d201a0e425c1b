//! A page: groups of kernels, and what is said of all of them.

use crate::anchor::anchor;
use crate::kernel::Kernel;

/// A page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// What holds for all of it: what ran the kernels, where times come from.
    pub facts: Vec<String>,
    /// What is on it, in order.
    pub groups: Vec<Group>,
}

/// Kernels that solve one problem.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Short and unique, for links.
    pub id: String,
    /// As a heading.
    pub title: String,
    /// What there is to see, in a line.
    pub idea: String,
    /// The file with the kernels.
    pub file: Option<String>,
    /// From the simplest to the fastest.
    pub kernels: Vec<Kernel>,
    /// Charts and other pictures.
    pub pictures: Vec<Picture>,
}

/// A picture, as SVG that is a part of the page: it takes its colours from the page's custom
/// properties (`--ink`, `--paper`, `--faint`, `--line`, `--needed`, `--wasted`), has no script
/// and names nothing outside.
#[derive(Clone, Debug)]
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// What to know about it: what was measured, on what.
    pub caption: String,
    /// From `<svg` to `</svg>`. It is not escaped.
    pub svg: String,
    /// The same as a table, for those who do not see it: headings, and rows.
    pub table: Option<(Vec<String>, Vec<Vec<String>>)>,
}

impl Page {
    /// An empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// Says something that holds for all of it.
    pub fn fact(&mut self, fact: impl Into<String>) -> &mut Self {
        self.facts.push(fact.into());
        self
    }

    /// Appends a group. Its kernels come by [`Group::add`].
    pub fn group(
        &mut self,
        id: impl Into<String>,
        title: impl Into<String>,
        idea: impl Into<String>,
    ) -> &mut Group {
        self.groups.push(Group {
            id: id.into(),
            title: title.into(),
            idea: idea.into(),
            ..Group::default()
        });
        let last = self.groups.len() - 1;
        &mut self.groups[last]
    }

    /// All kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        self.groups.iter().flat_map(|group| &group.kernels)
    }
}

impl Group {
    /// Appends a kernel.
    pub fn add(&mut self, kernel: Kernel) -> &mut Self {
        self.kernels.push(kernel);
        self
    }

    /// What links to it name.
    pub(crate) fn anchor(&self) -> String {
        anchor(&self.id)
    }

    /// What links to a kernel of it name.
    pub(crate) fn anchor_of(&self, kernel: &Kernel) -> String {
        format!("{}/{}", self.anchor(), anchor(&kernel.name))
    }
}
