//! The one list of lessons. `run-all`, `list`, the tests and the tables of docs/results.md
//! all walk it; nothing else names a lesson.
//!
//! To add one, write `lessons/<id>.rs` with a `pub static LESSON: Lesson` and add its two
//! lines to `lessons/mod.rs`.

use crate::hints;
use lesson::Registered;

pub use crate::lessons::LESSONS;

/// Every kernel of every lesson, in reading order.
pub fn kernels() -> impl Iterator<Item = Registered> {
    LESSONS.iter().flat_map(|&lesson| {
        lesson
            .kernels
            .iter()
            .map(move |kernel| Registered { lesson, kernel })
    })
}

/// No lesson and no kernel matches a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no lesson or kernel matches `{wanted}`; {}", suggestion(.near))]
pub struct NoMatch {
    /// The requested name.
    pub wanted: String,
    /// Similar names, best first.
    pub near: Vec<&'static str>,
}

/// A name that does not identify one kernel.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NotOne {
    /// Nothing has this name.
    #[error(transparent)]
    NoMatch(#[from] NoMatch),
    /// It is the name of a lesson with several kernels.
    #[error("`{lesson}` is a lesson; name one of its kernels:{}", listed(.kernels))]
    Lesson {
        /// The lesson's name.
        lesson: &'static str,
        /// Its kernels, and what each does differently.
        kernels: Vec<(&'static str, &'static str)>,
    },
}

/// A line for each kernel: its name, and what it does differently.
fn listed(kernels: &[(&str, &str)]) -> String {
    let widest = kernels.iter().map(|(name, _)| name.len()).max();
    let widest = widest.unwrap_or(0);
    let lines = kernels.iter();
    let lines = lines.map(|(name, technique)| format!("\n  {name:widest$}  {technique}"));
    lines.collect()
}

fn suggestion(near: &[&str]) -> String {
    if near.is_empty() {
        return format!("`{}` shows all names", hints::command("list"));
    }
    let names: Vec<_> = near.iter().map(|name| format!("`{name}`")).collect();
    format!("near names: {}", names.join(", "))
}

/// The kernels whose own or whose lesson's name contains one of `filters`; all
/// of them if there are no filters.
///
/// # Errors
///
/// A filter that matches nothing.
pub fn matching(filters: &[String]) -> Result<Vec<Registered>, NoMatch> {
    let matches = |registered: &Registered, filter: &str| {
        registered.kernel.id.contains(filter) || registered.lesson.id.contains(filter)
    };
    for filter in filters {
        if !kernels().any(|registered| matches(&registered, filter)) {
            return Err(NoMatch {
                wanted: filter.clone(),
                near: near_names(filter),
            });
        }
    }
    Ok(kernels()
        .filter(|registered| {
            filters.is_empty() || filters.iter().any(|filter| matches(registered, filter))
        })
        .collect())
}

/// The kernel of that name, or the only one of the lesson of that name.
///
/// # Errors
///
/// There is none, or the lesson has several.
pub fn kernel(name: &str) -> Result<Registered, NotOne> {
    if let Some(registered) = kernels().find(|registered| registered.kernel.id == name) {
        return Ok(registered);
    }
    let Some(&lesson) = LESSONS.iter().find(|lesson| lesson.id == name) else {
        return Err(NotOne::NoMatch(NoMatch {
            wanted: name.to_owned(),
            near: near_names(name),
        }));
    };
    match lesson.kernels {
        [kernel] => Ok(Registered { lesson, kernel }),
        kernels => Err(NotOne::Lesson {
            lesson: lesson.id,
            kernels: kernels.iter().map(|k| (k.id, k.technique)).collect(),
        }),
    }
}

/// The names that contain the wanted one; if there are none, some with a similar spelling.
fn near_names(wanted: &str) -> Vec<&'static str> {
    const MOST_PARTS: usize = 12;
    const MOST: usize = 3;
    const LEAST_LIKENESS: f64 = 0.7;
    let likeness = |name: &str| match name.contains(wanted) {
        true => 1.0 + strsim::jaro_winkler(wanted, name),
        false => strsim::jaro_winkler(wanted, name),
    };
    let mut names: Vec<(f64, &'static str)> = Vec::new();
    let ids = kernels().map(|registered| registered.kernel.id);
    for name in LESSONS.iter().map(|lesson| lesson.id).chain(ids) {
        // A lesson and its kernel may share a name.
        if likeness(name) > LEAST_LIKENESS && !names.iter().any(|(_, other)| *other == name) {
            names.push((likeness(name), name));
        }
    }
    names.sort_by(|a, b| b.0.total_cmp(&a.0));
    let has_parts = names.first().is_some_and(|(likeness, _)| *likeness > 1.0);
    if has_parts {
        names.retain(|(likeness, _)| *likeness > 1.0);
    }
    names.truncate(if has_parts { MOST_PARTS } else { MOST });
    names.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::{LESSONS, NotOne, kernel, kernels, matching};
    use lesson::footprint::check_in;
    use lesson::memory::{Free, Limit};
    use lesson::{Effort, Footprint, Shape};
    use lockstep::engine::EngineKind;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique() {
        let mut seen = HashSet::new();
        for registered in kernels() {
            assert!(
                seen.insert(registered.kernel.id),
                "{} twice",
                registered.kernel.id
            );
        }
    }

    #[test]
    fn filters_match_lessons_and_kernels() {
        let count = |filter: &str| matching(&[filter.to_owned()]).map(|found| found.len());
        assert_eq!(count("transpose"), Ok(8));
        assert_eq!(count("transpose_padded"), Ok(1));
        assert_eq!(
            matching(&[]).map(|found| found.len()),
            Ok(kernels().count())
        );
    }

    #[test]
    fn a_lessons_name_stands_for_its_only_kernel() {
        for lesson in LESSONS {
            let is_kernel = kernels().any(|registered| registered.kernel.id == lesson.id);
            match kernel(lesson.id) {
                Ok(found) => assert!(
                    is_kernel || lesson.kernels.len() == 1,
                    "{}",
                    found.kernel.id
                ),
                Err(NotOne::Lesson { kernels, .. }) => {
                    assert!(!is_kernel && kernels.len() > 1, "{}", lesson.id);
                }
                Err(NotOne::NoMatch(error)) => panic!("{error}"),
            }
        }
        let error = kernel("transpose").err().expect("it has eight").to_string();
        assert!(error.starts_with("`transpose` is a lesson; name one of its kernels:\n"));
        assert!(
            error.contains("  transpose_padded               tile row padded by one element"),
            "{error}"
        );
    }

    #[test]
    fn parts_of_names_find_them() {
        let error = kernel("swizzled").err().expect("a part").to_string();
        assert!(error.contains("`transpose_swizzled`"), "{error}");
    }

    #[test]
    fn a_wrong_filter_suggests_names() {
        let error = matching(&["transpose_swizled".to_owned()])
            .err()
            .expect("no such kernel");
        assert_eq!(error.near[0], "transpose_swizzled");
        assert!(
            error
                .to_string()
                .contains("near names: `transpose_swizzled`")
        );
        let error = matching(&["qqq".to_owned()])
            .err()
            .expect("nothing like it");
        let words = format!("`{}`", crate::hints::command("list"));
        assert!(error.to_string().contains(&words), "{error}");
    }

    #[test]
    fn no_shape_is_too_large_to_be_refused() {
        let free = Free {
            bytes: 1 << 30,
            limit: Limit::Machine,
        };
        for registered in kernels() {
            let lesson = registered.lesson;
            let shapes = (lesson.shapes)(EngineKind::Sim, Effort::Quick);
            let n_axes = shapes[0].dims().len();
            // Lessons without such sizes need little memory, whatever the shape.
            let largest = (lesson.memory)(&Shape::of(&vec![u32::MAX; n_axes]));
            let refused = check_in(largest, EngineKind::Sim, true, free);
            assert!(
                refused.is_err() || largest == Footprint::SMALL,
                "{}",
                registered.kernel.id
            );
        }
    }
}
