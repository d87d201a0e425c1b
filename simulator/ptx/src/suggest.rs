//! "Did you mean …?"

/// The candidate that a mistyped name most likely stands for.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // One letter in three may be wrong, and no name is worth comparing at length.
    const LONGEST: usize = 64;
    if name.len() > LONGEST {
        return None;
    }
    let most = name.chars().count().max(3) / 3;
    candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= most && *candidate != name)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= most)
        // The order must not depend on that of the candidates.
        .min_by_key(|(distance, candidate)| (*distance, candidate.len(), *candidate))
        .map(|(_, candidate)| candidate)
}

/// Letters to insert, delete, replace or swap with their neighbour. A difference in case
/// counts as a mistake, but never makes another name nearer.
pub fn distance(a: &str, b: &str) -> usize {
    let (low_a, low_b) = (a.to_lowercase(), b.to_lowercase());
    strsim::osa_distance(&low_a, &low_b).max(usize::from(a != b))
}

/// `: did you mean …?`, or nothing.
pub fn question(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(": did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested() {
        let names = ["add", "addc", "and", "ld", "st", "mad", "shfl"];
        assert_eq!(nearest("addd", names), Some("add"));
        assert_eq!(nearest("ADD", names), Some("add"));
        assert_eq!(nearest("shlf", names), Some("shfl"));
        assert_eq!(nearest("frobnicate", names), None);
        assert_eq!(nearest("add", ["add"]), None);
        assert_eq!(nearest(&"a".repeat(10_000), names), None);
    }
}
