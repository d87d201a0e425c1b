//! Claims about the cost of a launch.

use super::excerpt;
use super::verdict::Failure;
use crate::expression::Variables;
use crate::format::{Bound, Claim, Manifest};
use crate::workshop::Built;
use ptx_sim::{Counts, Report};

/// Lines that are shown.
const N_SHOWN: usize = 2;

/// The first claim that the launch does not meet.
pub(super) fn missed(
    manifest: &Manifest,
    case: usize,
    report: &Report,
    built: &Built,
) -> Option<Failure> {
    let variables = &manifest.case[case];
    for claim in manifest
        .claim
        .iter()
        .filter(|claim| is_about(claim, variables))
    {
        let counted = counted(claim, &report.counts);
        let bound = |bound: &Option<Bound>| bound.as_ref()?.value(variables).ok();
        let most = bound(&claim.at_most);
        let least = bound(&claim.at_least);
        let wanted = if most.is_some_and(|most| !is_at_most(counted, most)) {
            format!("at most {}", number(most.unwrap_or_default()))
        } else if least.is_some_and(|least| !is_at_most(least, counted)) {
            format!("at least {}", number(least.unwrap_or_default()))
        } else {
            continue;
        };
        let message = format!(
            "{}: {} counted, {wanted} wanted",
            name(claim),
            number(counted)
        );
        let mut failure = Failure::new("count", message);
        failure.excerpt = lines(claim, report, built);
        failure.why = Some(claim.why.trim().to_owned());
        return Some(failure);
    }
    None
}

/// A comparison with NaN does not hold.
fn is_at_most(small: f64, large: f64) -> bool {
    small <= large
}

/// The counts that claims are about, one line per claim.
pub(super) fn told(manifest: &Manifest, report: &Report) -> Vec<String> {
    let case = manifest.case.last().map(|case| (case, &manifest.claim));
    let claims = case
        .into_iter()
        .flat_map(|(case, claims)| claims.iter().filter(move |claim| is_about(claim, case)));
    claims
        .map(|claim| {
            format!(
                "{}: {}",
                name(claim),
                number(counted(claim, &report.counts))
            )
        })
        .collect()
}

fn is_about(claim: &Claim, case: &Variables) -> bool {
    let when = claim.when.as_ref().map(|when| when.value(case));
    when.is_none_or(|value| value.is_ok_and(|value| value != 0))
}

fn sum(names: &[String], counts: &Counts) -> u64 {
    let entries = counts.entries();
    let is_meant = |entry: &&(&str, u64)| names.iter().any(|name| name == entry.0);
    entries
        .iter()
        .filter(is_meant)
        .map(|(_, value)| value)
        .sum()
}

/// A ratio to zero is zero: without requests there are no sectors.
fn counted(claim: &Claim, counts: &Counts) -> f64 {
    let total = sum(&claim.count, counts) as f64;
    match sum(&claim.per, counts) {
        _ if claim.per.is_empty() => total,
        0 => 0.0,
        per => total / per as f64,
    }
}

fn name(claim: &Claim) -> String {
    let total = claim.count.join(" + ");
    match claim.per.is_empty() {
        true => total,
        false => format!("{total} per {}", claim.per.join(" + ")),
    }
}

/// With two decimals, if there are any.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The learner's lines that the count comes from, those with the most first.
fn lines(claim: &Claim, report: &Report, built: &Built) -> Option<String> {
    let mut by_line: Vec<(u32, u64)> = Vec::new();
    for instruction in report.instructions() {
        let count = sum(&claim.count, &instruction.counts);
        let mut places = instruction.loc.iter().chain(&instruction.inlined_at);
        let own = places.find(|source| source.file == built.file);
        let (Some(own), true) = (own, count > 0) else {
            continue;
        };
        match by_line.iter_mut().find(|(line, _)| *line == own.line) {
            Some((_, sum)) => *sum += count,
            None => by_line.push((own.line, count)),
        }
    }
    by_line.sort_by_key(|&(line, count)| (std::cmp::Reverse(count), line));
    let shown = by_line.iter().take(N_SHOWN).map(|&(line, count)| {
        excerpt::line(
            built,
            line,
            &format!("{count} {} from this line", claim.count.join(" + ")),
        )
    });
    let shown: Vec<String> = shown.collect();
    (!shown.is_empty() && claim.at_most.is_some()).then(|| shown.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::{counted, is_about, name, number};
    use crate::format::Claim;
    use ptx_sim::Counts;

    fn claim(text: &str) -> Claim {
        toml::from_str(&format!("{text}\nwhy = \"it is so\"")).expect("a claim")
    }

    #[test]
    fn counts_are_added_up_and_divided() {
        let mut counts = Counts::default();
        counts.global_load_sectors = 12;
        counts.global_store_sectors = 6;
        counts.global_load_requests = 4;
        let sum = claim("count = [\"global_load_sectors\", \"global_store_sectors\"]");
        assert_eq!(counted(&sum, &counts), 18.0);
        assert_eq!(name(&sum), "global_load_sectors + global_store_sectors");
        let ratio = claim("count = [\"global_load_sectors\"]\nper = [\"global_load_requests\"]");
        assert_eq!(counted(&ratio, &counts), 3.0);
        assert_eq!(
            counted(&ratio, &Counts::default()),
            0.0,
            "without requests there are no sectors"
        );
        assert_eq!(
            (number(3.0), number(3.254), number(100.0)),
            ("3".into(), "3.25".into(), "100".into())
        );
    }

    #[test]
    fn a_claim_is_about_the_cases_that_it_names() {
        let claim = claim("count = [\"warp_instructions\"]\nwhen = \"n > 5\"");
        let case = |n| [("n".to_owned(), n)].into();
        assert!(is_about(&claim, &case(6)));
        assert!(!is_about(&claim, &case(5)));
    }
}
