//! Charts as SVG that takes its colours from the page, drawn by `plotters`.
//!
//! They are narrow, so that a phone shows their letters: a name stands above its bar, not
//! beside it.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Width of a chart, in its own pixels.
const WIDTH: u32 = 420;
/// Height of a name and its bars.
const ROW: u32 = 38;
/// Height of the scale below.
const SCALE: u32 = 34;
const MARGIN: i32 = 6;

/// Colours that stand for the page's own; [`themed`] puts those in their places.
const INK: RGBColor = RGBColor(1, 1, 1);
const FAINT: RGBColor = RGBColor(1, 1, 2);
const LINE: RGBColor = RGBColor(1, 1, 3);
const PAPER: RGBColor = RGBColor(1, 1, 4);
const FIRST: RGBColor = RGBColor(1, 2, 1);
const SECOND: RGBColor = RGBColor(1, 2, 2);
const SERIES: [RGBColor; 6] = [
    FIRST,
    SECOND,
    RGBColor(1, 2, 3),
    RGBColor(1, 2, 4),
    RGBColor(1, 2, 5),
    RGBColor(1, 2, 6),
];
const THEME: [(RGBColor, &str); 10] = [
    (INK, "--ink"),
    (FAINT, "--faint"),
    (LINE, "--line"),
    (PAPER, "--paper"),
    (SERIES[0], "--c1"),
    (SERIES[1], "--c2"),
    (SERIES[2], "--c3"),
    (SERIES[3], "--c4"),
    (SERIES[4], "--c5"),
    (SERIES[5], "--c6"),
];

/// A value with its spread; all finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Half are below.
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
    /// What the values are of.
    pub name: String,
    /// The first side's.
    pub value: Spread,
    /// The other side's, if there is one.
    pub other: Option<Spread>,
}

/// A curve: a name, and points with their spread.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What it is of.
    pub name: String,
    /// From left to right.
    pub points: Vec<(f64, Spread)>,
}

/// Rows with medians, quartiles as boxes and tenths as whiskers, in milliseconds; nothing if
/// none of them is a number.
pub fn spreads(title: &str, rows: &[Row]) -> Option<String> {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.value.is_finite()).collect();
    let values = || {
        rows.iter()
            .flat_map(|row| [Some(row.value), row.other])
            .flatten()
    };
    let low = values().map(|v| v.p10).min_by(f64::total_cmp)?;
    let high = values().map(|v| v.p90).max_by(f64::total_cmp)?;
    let unit = if high < 0.1 {
        (1e3, "µs")
    } else {
        (1.0, "ms")
    };
    let range = (low * 0.94 * unit.0)..(high * 1.06 * unit.0);
    let is_wide = high / low > 8.0;
    let describe = if is_wide { "logarithmic" } else { "not from 0" };
    let label = format!("{} ({describe})", unit.1);
    draw(title, rows.len() as u32, |area| match is_wide {
        true => boxes(area, range.log_scale(), &rows, unit.0, &label),
        false => boxes(area, range, &rows, unit.0, &label),
    })
}

/// Rows as bars from 0, with a line across at `mark`; nothing if none is a number.
pub fn bars(title: &str, rows: &[(String, f64)], mark: Option<f64>, label: &str) -> Option<String> {
    let is_shown = |value: &f64| value.is_finite() && *value > 0.0;
    let rows: Vec<_> = rows.iter().filter(|(_, value)| is_shown(value)).collect();
    let mark = mark.filter(is_shown);
    let values = rows.iter().map(|(_, value)| *value).chain(mark);
    let high = values.max_by(f64::total_cmp)?;
    draw(title, rows.len() as u32, |area| {
        let mut chart = horizontal(area, 0.0..high * 1.08, rows.len(), label)?;
        for (at, (name, value)) in rows.iter().enumerate() {
            let top = at as f64;
            let bar = [(0.0, top + 0.5), (*value, top + 0.85)];
            chart.draw_series([Rectangle::new(bar, FIRST.filled())])?;
            chart.draw_series([Text::new(
                format!("{name}: {}", words(*value)),
                (0.0, top + 0.4),
                name_style(),
            )])?;
        }
        if let Some(mark) = mark {
            let line = vec![(mark, 0.0), (mark, rows.len() as f64)];
            chart.draw_series([PathElement::new(line, SECOND.stroke_width(2))])?;
        }
        Ok(())
    })
}

/// Curves over sizes, with tenths as bars; nothing without points.
pub fn curves(title: &str, curves: &[Curve], x_label: &str, y_label: &str) -> Option<String> {
    let points = || {
        curves
            .iter()
            .flat_map(|curve| &curve.points)
            .filter(|(_, y)| y.is_finite())
    };
    let xs = || points().map(|(x, _)| *x);
    let (left, right) = (xs().min_by(f64::total_cmp)?, xs().max_by(f64::total_cmp)?);
    let low = points().map(|(_, y)| y.p10).min_by(f64::total_cmp)?;
    let high = points().map(|(_, y)| y.p90).max_by(f64::total_cmp)?;
    let pad = (high - low).max(0.01) * 0.06;
    draw(title, 8, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(MARGIN)
            .x_label_area_size(SCALE)
            .y_label_area_size(46)
            .build_cartesian_2d(left * 0.9..right * 1.03, low - pad..high + pad)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(LINE)
            .axis_style(FAINT)
            .label_style(scale_style())
            .x_labels(6)
            .y_labels(6)
            .x_desc(x_label)
            .y_desc(y_label)
            .draw()?;
        // Names in their curves' colours, in the corner where large sizes rarely come.
        for (at, (curve, colour)) in curves.iter().zip(SERIES.iter().cycle()).enumerate() {
            let height = low + (high - low) * 0.07 * (at as f64 + 0.3);
            let place = (left + (right - left) * 0.4, height);
            let style = name_style().color(colour);
            chart.draw_series([Text::new(curve.name.clone(), place, style)])?;
        }
        for (curve, colour) in curves.iter().zip(SERIES.iter().cycle()) {
            let shown = || curve.points.iter().filter(|(_, y)| y.is_finite());
            let line = shown().map(|(x, y)| (*x, y.median));
            chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
            chart.draw_series(shown().map(|(x, y)| {
                let whisker = vec![(*x, y.p10), (*x, y.p90)];
                PathElement::new(whisker, colour.stroke_width(1))
            }))?;
            chart.draw_series(
                shown().map(|(x, y)| Circle::new((*x, y.median), 3, colour.filled())),
            )?;
        }
        Ok(())
    })
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;
type Chart<'a, 'b, X> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<X, RangedCoordf64>>;

fn draw(title: &str, n_rows: u32, body: impl FnOnce(&Area<'_>) -> Drawn) -> Option<String> {
    let mut svg = String::new();
    {
        let size = (WIDTH, ROW * n_rows + SCALE + 2 * MARGIN as u32);
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        // It is written into a string: only a range that holds nothing fails.
        body(&area).ok()?;
        area.present().ok()?;
    }
    Some(themed(title, &svg))
}

/// A scale from left to right, and rows from top to bottom.
fn horizontal<'a, 'b, X>(
    area: &'a Area<'b>,
    range: X,
    n_rows: usize,
    label: &str,
) -> Result<Chart<'a, 'b, X::CoordDescType>, DrawingAreaErrorKind<std::io::Error>>
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let mut chart = ChartBuilder::on(area)
        .margin(MARGIN)
        .x_label_area_size(SCALE)
        .build_cartesian_2d(range, n_rows as f64..0.0)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .light_line_style(TRANSPARENT)
        .bold_line_style(LINE)
        .axis_style(FAINT)
        .label_style(scale_style())
        .x_labels(5)
        .x_label_formatter(&|value| words(*value))
        .x_desc(label)
        .draw()?;
    Ok(chart)
}

fn boxes<X>(area: &Area<'_>, range: X, rows: &[&Row], unit: f64, label: &str) -> Drawn
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let mut chart = horizontal(area, range, rows.len(), label)?;
    let left = chart.plotting_area().get_x_range().start;
    for (at, row) in rows.iter().enumerate() {
        let top = at as f64;
        let name = format!("{}: {}", row.name, words(row.value.median * unit));
        chart.draw_series([Text::new(name, (left, top + 0.4), name_style())])?;
        one_box(&mut chart, row.value, unit, top + 0.57, FIRST)?;
        if let Some(other) = row.other.filter(Spread::is_finite) {
            one_box(&mut chart, other, unit, top + 0.82, SECOND)?;
        }
    }
    Ok(())
}

/// Whiskers, box and median, around a height.
fn one_box<X: Ranged<ValueType = f64>>(
    chart: &mut Chart<'_, '_, X>,
    value: Spread,
    unit: f64,
    middle: f64,
    colour: RGBColor,
) -> Drawn {
    let half = 0.1;
    let [p10, q1, median, q3, p90] =
        [value.p10, value.q1, value.median, value.q3, value.p90].map(|value| value * unit);
    let line =
        |points: Vec<(f64, f64)>, width| PathElement::new(points, colour.stroke_width(width));
    chart.draw_series([line(vec![(p10, middle), (p90, middle)], 1)])?;
    let quartiles = [(q1, middle - half), (q3, middle + half)];
    chart.draw_series([Rectangle::new(quartiles, colour.filled())])?;
    let tick = vec![(median, middle - half), (median, middle + half)];
    chart.draw_series([line(tick, 3)])?;
    Ok(())
}

fn name_style() -> TextStyle<'static> {
    let at = Pos::new(HPos::Left, VPos::Bottom);
    ("sans-serif", 15).into_font().color(&INK).pos(at)
}

fn scale_style() -> TextStyle<'static> {
    ("sans-serif", 14).into_font().color(&FAINT)
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

/// With the page's colours and a name, and without what only a file of its own needs.
fn themed(title: &str, svg: &str) -> String {
    let title = title
        .replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;");
    let mut svg = svg.replacen(
        "<svg ",
        &format!("<svg role=\"img\" aria-label=\"{title}\" "),
        1,
    );
    svg = svg.replace(" xmlns=\"http://www.w3.org/2000/svg\"", "");
    for (RGBColor(r, g, b), name) in THEME {
        svg = svg.replace(
            &format!("\"#{r:02X}{g:02X}{b:02X}\""),
            &format!("\"var({name})\""),
        );
    }
    svg
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
