//! A page: groups of kernels, and facts about all of them.

use crate::anchor::anchor;
use crate::kernel::Kernel;

/// A page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// Facts about all of it: the engine that ran the kernels, the source of times.
    pub facts: Vec<String>,
    /// Its groups, in order.
    pub groups: Vec<Group>,
}

/// Kernels that solve one problem.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Short and unique, for links.
    pub id: String,
    /// As a heading.
    pub title: String,
    /// What there is to see, in one line.
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
    /// Its title.
    pub title: String,
    /// What was measured, and on what.
    pub caption: String,
    /// From `<svg` to `</svg>`. It is not escaped.
    pub svg: String,
    /// The same as a table, for those who cannot see it: headings, and rows.
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

    /// Adds a fact about all of it.
    pub fn fact(&mut self, fact: impl Into<String>) -> &mut Self {
        self.facts.push(fact.into());
        self
    }

    /// Appends a group. Its kernels are added by [`Group::add`].
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

    /// Its name in links.
    pub(crate) fn anchor(&self) -> String {
        anchor(&self.id)
    }

    /// The name of one of its kernels in links.
    pub(crate) fn anchor_of(&self, kernel: &Kernel) -> String {
        format!("{}/{}", self.anchor(), anchor(&kernel.name))
    }
}
