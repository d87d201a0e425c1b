//! Numbers for people. A value that is not a number is not shown as one.

/// Shown where there is no number.
pub const NONE: &str = "–";

/// 1,015,808.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index != 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// With this many digits after the point, without trailing zeros; [`NONE`] if it is not finite.
pub fn short(number: f64, digits: usize) -> String {
    if !number.is_finite() {
        return NONE.to_owned();
    }
    let text = format!("{number:.digits$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `part` of `whole`, as [`short`]; [`NONE`] if `whole` is 0.
pub fn quotient(part: u64, whole: u64) -> String {
    short(part as f64 / whole as f64, 2)
}

/// A time; [`NONE`] if it is not finite or not above 0.
pub fn duration(time_ms: f64) -> String {
    if !(time_ms.is_finite() && time_ms > 0.0) {
        return NONE.to_owned();
    }
    match time_ms {
        ..0.1 => format!("{:.1} µs", time_ms * 1e3),
        _ => format!("{time_ms:.3} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::{duration, grouped, quotient, short};

    #[test]
    fn digits_are_grouped_by_three() {
        let texts = [0, 999, 1000, 1_015_808].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "1,015,808"]);
    }

    #[test]
    fn what_is_no_number_is_not_shown_as_one() {
        assert_eq!([short(f64::NAN, 2), short(f64::INFINITY, 2)], ["–", "–"]);
        assert_eq!(
            [short(4.0, 2), short(2.5, 2), short(100.0, 0)],
            ["4", "2.5", "100"]
        );
        assert_eq!(
            [quotient(5, 2), quotient(5, 0), quotient(0, 0)],
            ["2.5", "–", "–"]
        );
        let times = [f64::NAN, 0.0, -1.0, 0.0123, 2.5].map(duration);
        assert_eq!(times, ["–", "–", "–", "12.3 µs", "2.500 ms"]);
    }
}
