//! Charts as SVG that takes its colours from the page.
//!
//! They are narrow, so that letters stay readable on a phone: a name is above its bar, not
//! next to it.

use std::fmt::Write;

/// Width of a chart, in its own pixels.
const WIDTH: f64 = 420.0;
/// Height of a name and its bars.
const ROW: f64 = 38.0;
/// Height of the scale below, and of its letters.
const SCALE: f64 = 34.0;
const SCALE_LETTERS: f64 = 11.0;
/// Width of the scale at the left of curves.
const SCALE_WIDTH: f64 = 46.0;
/// Height of the letters of a name.
const NAME_LETTERS: f64 = 12.0;
const MARGIN: f64 = 6.0;

/// The page's colours.
const INK: &str = "var(--ink)";
const FAINT: &str = "var(--faint)";
const LINE: &str = "var(--line)";

/// A series' colour: the page has six.
fn colour_of(series: usize) -> String {
    format!("var(--c{})", series % 6 + 1)
}

/// A value with its spread; all finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Half of the runs are below.
    pub median: f64,
    /// A tenth is below.
    pub p10: f64,
    /// A quarter is below.
    pub q1: f64,
    /// A quarter is above.
    pub q3: f64,
    /// A tenth is above.
    pub p90: f64,
}

impl Spread {
    fn is_finite(&self) -> bool {
        let all = [self.median, self.p10, self.q1, self.q3, self.p90];
        all.iter().all(|value| value.is_finite() && *value > 0.0)
    }
}

/// A row of a chart: a name, and one value or two.
#[derive(Clone, Debug)]
pub struct Row {
    /// The row's name.
    pub name: String,
    /// The first side's value.
    pub value: Spread,
    /// The other side's value, if there is one.
    pub other: Option<Spread>,
}

/// A curve: a name, and points with their spread.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The curve's name.
    pub name: String,
    /// From left to right.
    pub points: Vec<(f64, Spread)>,
}

/// Rows with medians, quartiles as boxes and 10th and 90th percentiles as whiskers, in
/// milliseconds; `None` if none of them is a number.
pub fn spreads(title: &str, rows: &[Row]) -> Option<String> {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.value.is_finite()).collect();
    let values = rows.iter().flat_map(|row| [Some(row.value), row.other]);
    let values: Vec<Spread> = values.flatten().collect();
    let low = values.iter().map(|v| v.p10).min_by(f64::total_cmp)?;
    let high = values.iter().map(|v| v.p90).max_by(f64::total_cmp)?;
    let (unit, name) = if high < 0.1 {
        (1e3, "µs")
    } else {
        (1.0, "ms")
    };
    let is_wide = high / low > 8.0;
    let describe = if is_wide { "logarithmic" } else { "not from 0" };
    let mut chart = Chart::of_rows(rows.len());
    let scale = Scale {
        is_logarithmic: is_wide,
        ..Scale::across(low * 0.94 * unit, high * 1.06 * unit)
    };
    chart.scale_below(&scale, &format!("{name} ({describe})"));
    for (top, row) in tops().zip(&rows) {
        let name = format!("{}: {}", row.name, words(row.value.median * unit));
        chart.name(top, &name);
        let values = [Some(row.value), row.other.filter(Spread::is_finite)];
        for (series, value) in values.iter().enumerate() {
            let Some(v) = value else { continue };
            let at = |value: f64| scale.at(value * unit);
            let middle = top + (0.57 + 0.25 * series as f64) * ROW;
            let (half, colour) = (0.1 * ROW, &colour_of(series));
            chart.line([at(v.p10), middle], [at(v.p90), middle], colour, 1);
            chart.bar([at(v.q1), middle - half], [at(v.q3), middle + half], colour);
            let median = at(v.median);
            chart.line([median, middle - half], [median, middle + half], colour, 3);
        }
    }
    Some(chart.finish(title))
}

/// Rows as bars from 0, with a line across at `mark`; `None` if none is a number.
pub fn bars(title: &str, rows: &[(String, f64)], mark: Option<f64>, label: &str) -> Option<String> {
    let is_shown = |value: &f64| value.is_finite() && *value > 0.0;
    let rows: Vec<_> = rows.iter().filter(|(_, value)| is_shown(value)).collect();
    let mark = mark.filter(is_shown);
    let values = rows.iter().map(|(_, value)| *value).chain(mark);
    let high = values.max_by(f64::total_cmp)?;
    let mut chart = Chart::of_rows(rows.len());
    let scale = Scale::across(0.0, high * 1.08);
    chart.scale_below(&scale, label);
    for (top, (name, value)) in tops().zip(&rows) {
        chart.name(top, &format!("{name}: {}", words(*value)));
        let (upper, lower) = (top + 0.5 * ROW, top + 0.85 * ROW);
        chart.bar(
            [scale.from, upper],
            [scale.at(*value), lower],
            &colour_of(0),
        );
    }
    if let Some(mark) = mark {
        let x = scale.at(mark);
        chart.line([x, MARGIN], [x, chart.bottom], &colour_of(1), 2);
    }
    Some(chart.finish(title))
}

/// Curves over sizes, with bars from the 10th to the 90th percentile; `None` without points.
pub fn curves(title: &str, curves: &[Curve], x_label: &str, y_label: &str) -> Option<String> {
    let shown = |curve: &Curve| -> Vec<(f64, Spread)> {
        let points = curve.points.iter().filter(|(_, y)| y.is_finite());
        points.copied().collect()
    };
    let points: Vec<_> = curves.iter().flat_map(shown).collect();
    let xs = || points.iter().map(|(x, _)| *x);
    let (left, right) = (xs().min_by(f64::total_cmp)?, xs().max_by(f64::total_cmp)?);
    let low = points.iter().map(|(_, y)| y.p10).min_by(f64::total_cmp)?;
    let high = points.iter().map(|(_, y)| y.p90).max_by(f64::total_cmp)?;
    let pad = (high - low).max(0.01) * 0.06;
    let mut chart = Chart::of_rows(8);
    let across = Scale {
        from: MARGIN + SCALE_WIDTH,
        ..Scale::across(left * 0.9, right * 1.03)
    };
    let upwards = Scale {
        from: chart.bottom,
        to: MARGIN,
        ..Scale::across(low - pad, high + pad)
    };
    chart.scale_left(&upwards, across.from, y_label);
    chart.scale_below(&across, x_label);
    for (at, curve) in curves.iter().enumerate() {
        let colour = &colour_of(at);
        // Names in their curves' colours, in the corner that large sizes rarely reach.
        let height = low + (high - low) * 0.07 * (at as f64 + 0.3);
        let place = [across.at(left + (right - left) * 0.4), upwards.at(height)];
        chart.text(place, "start", NAME_LETTERS, colour, &curve.name);
        let points = shown(curve);
        let place = |(x, y): &(f64, Spread)| [across.at(*x), upwards.at(y.median)];
        for pair in points.windows(2) {
            chart.line(place(&pair[0]), place(&pair[1]), colour, 2);
        }
        for point in &points {
            let [x, y] = place(point);
            let [p10, p90] = [point.1.p10, point.1.p90].map(|value| upwards.at(value));
            chart.line([x, p10], [x, p90], colour, 1);
            chart.add(format_args!(
                r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{colour}"/>"#
            ));
        }
    }
    Some(chart.finish(title))
}

/// Where rows begin.
fn tops() -> impl Iterator<Item = f64> {
    (0..).map(|row| MARGIN + ROW * f64::from(row))
}

/// The mapping of values to places between two ends.
struct Scale {
    low: f64,
    high: f64,
    is_logarithmic: bool,
    from: f64,
    to: f64,
}

impl Scale {
    /// From left to right.
    fn across(low: f64, high: f64) -> Self {
        Self {
            low,
            high,
            is_logarithmic: false,
            from: MARGIN,
            to: WIDTH - MARGIN,
        }
    }

    fn at(&self, value: f64) -> f64 {
        let all = [self.low, self.high, value];
        let [low, high, value] = match self.is_logarithmic {
            true => all.map(f64::ln),
            false => all,
        };
        self.from + (value - low) / (high - low) * (self.to - self.from)
    }

    /// About five round numbers.
    fn ticks(&self) -> Vec<f64> {
        const ROUND: [f64; 3] = [1.0, 2.0, 5.0];
        let power = |value: f64| value.log10().floor() as i32;
        if self.is_logarithmic {
            let powers = power(self.low)..=power(self.high);
            let all = powers.flat_map(|power| ROUND.map(|n| n * 10f64.powi(power)));
            return all
                .filter(|tick| (self.low..=self.high).contains(tick))
                .collect();
        }
        let least = (self.high - self.low) / 6.0;
        let unit = 10f64.powi(power(least));
        let step = ROUND.map(|n| n * unit).into_iter().find(|&n| n >= least);
        let step = step.unwrap_or(10.0 * unit);
        let numbers = (self.low / step).ceil() as i64..=(self.high / step).floor() as i64;
        numbers.map(|n| n as f64 * step).collect()
    }
}

/// A chart that is being drawn.
struct Chart {
    svg: String,
    /// Where the scale below begins.
    bottom: f64,
}

impl Chart {
    fn of_rows(n_rows: usize) -> Self {
        Self {
            svg: String::new(),
            bottom: MARGIN + ROW * n_rows as f64,
        }
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.svg, "{element}");
    }

    fn line(&mut self, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], colour: &str, width: u32) {
        self.add(format_args!(
            r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" stroke="{colour}" stroke-width="{width}"/>"#
        ));
    }

    fn bar(&mut self, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], colour: &str) {
        let (width, height) = (x2 - x1, y2 - y1);
        self.add(format_args!(
            r#"<rect x="{x1:.1}" y="{y1:.1}" width="{width:.1}" height="{height:.1}" fill="{colour}"/>"#
        ));
    }

    fn text(&mut self, [x, y]: [f64; 2], anchor: &str, size: f64, colour: &str, text: &str) {
        let text = escaped(text);
        self.add(format_args!(
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" font-family="sans-serif" font-size="{size}" fill="{colour}">{text}</text>"#
        ));
    }

    /// The name of the row that begins at `top`.
    fn name(&mut self, top: f64, name: &str) {
        self.text([MARGIN, top + 0.4 * ROW], "start", NAME_LETTERS, INK, name);
    }

    fn scale_below(&mut self, scale: &Scale, label: &str) {
        let bottom = self.bottom;
        for tick in scale.ticks() {
            let x = scale.at(tick);
            self.line([x, MARGIN], [x, bottom], LINE, 1);
            let place = [x, bottom + 1.2 * SCALE_LETTERS];
            self.text(place, "middle", SCALE_LETTERS, FAINT, &words(tick));
        }
        self.line([scale.from, bottom], [scale.to, bottom], FAINT, 1);
        let place = [(scale.from + scale.to) / 2.0, bottom + 2.6 * SCALE_LETTERS];
        self.text(place, "middle", SCALE_LETTERS, FAINT, label);
    }

    /// The scale on the left of an area that begins at `left`.
    fn scale_left(&mut self, scale: &Scale, left: f64, label: &str) {
        for tick in scale.ticks() {
            let y = scale.at(tick);
            self.line([left, y], [WIDTH - MARGIN, y], LINE, 1);
            let place = [left - 4.0, y + 0.35 * SCALE_LETTERS];
            self.text(place, "end", SCALE_LETTERS, FAINT, &words(tick));
        }
        self.line([left, scale.from], [left, scale.to], FAINT, 1);
        let (x, y) = (SCALE_LETTERS, (scale.from + scale.to) / 2.0);
        self.add(format_args!(r#"<g transform="rotate(-90 {x} {y:.1})">"#));
        self.text([x, y], "middle", SCALE_LETTERS, FAINT, label);
        self.add(format_args!("</g>"));
    }

    fn finish(self, title: &str) -> String {
        let (title, height) = (escaped(title), self.bottom + SCALE + MARGIN);
        format!(
            "<svg role=\"img\" aria-label=\"{title}\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\">\n{}</svg>\n",
            self.svg
        )
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
}

/// Three significant digits.
fn words(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        ..0.1 => format!("{value:.3}"),
        ..10.0 => format!("{value:.2}"),
        ..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Curve, Row, Spread, bars, curves, spreads};

    fn around(median: f64) -> Spread {
        Spread {
            median,
            p10: median * 0.98,
            q1: median * 0.99,
            q3: median * 1.01,
            p90: median * 1.03,
        }
    }

    fn row(name: &str, median: f64) -> Row {
        Row {
            name: name.to_owned(),
            value: around(median),
            other: Some(around(median * 1.1)),
        }
    }

    fn is_themed(svg: &str) {
        assert!(
            svg.starts_with("<svg role=\"img\" aria-label=\"a &amp; b\""),
            "{svg}"
        );
        assert!(
            svg.contains("var(--ink)") || svg.contains("var(--faint)"),
            "{svg}"
        );
        assert!(!svg.contains("http") && !svg.contains("#0"), "{svg}");
        assert!(!svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn charts_have_the_pages_colours_and_nothing_from_outside() {
        for range in [[1.0, 1.2], [0.01, 4.0]] {
            let rows = range.map(|median| row("kernel", median));
            let svg = spreads("a & b", &rows).expect("numbers");
            is_themed(&svg);
            assert!(svg.contains("kernel: "), "{svg}");
        }
        let rows = [("first".to_owned(), 3.0), ("second".to_owned(), 40.0)];
        is_themed(&bars("a & b", &rows, Some(50.0), "TFLOP/s").expect("numbers"));
        let curve = Curve {
            name: "k".to_owned(),
            points: vec![(1024.0, around(0.9)), (2048.0, around(1.0))],
        };
        is_themed(&curves("a & b", &[curve], "side", "ratio").expect("points"));
    }

    #[test]
    fn what_is_no_number_is_not_drawn() {
        let wrong = row("wrong", f64::NAN);
        assert_eq!(spreads("t", std::slice::from_ref(&wrong)), None);
        let svg = spreads("t", &[wrong, row("right", 1.0)]).expect("one");
        assert!(svg.contains("right") && !svg.contains("wrong"), "{svg}");
        assert_eq!(
            bars("t", &[("a".to_owned(), f64::INFINITY)], None, "x"),
            None
        );
        assert_eq!(curves("t", &[], "x", "y"), None);
    }
}
