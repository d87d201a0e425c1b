//! Interactive parts of a page: controls, and the answer for their initial settings, computed
//! when the book is built. Without JavaScript, that answer is what the reader sees. Books built
//! without the simulator offer a few other settings to choose from.

use super::directive::Arguments;
use super::facts::Facts;
use live::{Question, stride, tile};
use serde_json::{Value, json};
use std::fmt::Write;

/// A control: name, label, and possible values.
struct Control {
    name: &'static str,
    label: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// A number in a range.
    Number(u32, u32),
    /// One of several values, each with a label.
    Choice(&'static [(&'static str, &'static str)]),
    /// A word, with suggestions separated by spaces.
    Word(&'static str),
}

const fn control(name: &'static str, label: &'static str, kind: Kind) -> Control {
    Control { name, label, kind }
}

const U8: (&str, &str) = ("u8", "u8, 1 byte");
const F16: (&str, &str) = ("f16", "f16, 2 bytes");
const F32: (&str, &str) = ("f32", "f32, 4 bytes");
const F64: (&str, &str) = ("f64", "f64, 8 bytes");
const F32X4: (&str, &str) = ("f32x4", "f32x4, 16 bytes");

const ACCESSES: &[(&str, &str)] = &[
    ("row", "rows"),
    ("column", "columns"),
    ("ldmatrix", "ldmatrix.x4"),
];
const LAYOUTS: &str = "plain pad:1 pad:2 pad:4 pad:8 xor shift xor:16,128 swizzle:5,0,5 \
                       swizzle:3,3,3 swizzle:3,2,3 swizzle:2,3,3 swizzle:1,3,3";

const TILE: [Control; 5] = [
    control("rows", "Rows", Kind::Number(1, 128)),
    control("columns", "Columns", Kind::Number(1, 128)),
    control("type", "Element", Kind::Choice(&[F16, F32, F64, F32X4])),
    control("access", "Read by", Kind::Choice(ACCESSES)),
    control("layout", "Layout", Kind::Word(LAYOUTS)),
];

const STRIDE: [Control; 3] = [
    control("type", "Element", Kind::Choice(&[U8, F16, F32, F64, F32X4])),
    control("stride", "Elements from lane to lane", Kind::Number(0, 64)),
    control("first", "First element", Kind::Number(0, 64)),
];

/// The subject of a live part.
struct Live {
    kind: &'static str,
    controls: &'static [Control],
    settings: Vec<(&'static str, String)>,
    /// Further settings, for pages without WebAssembly: only the differences.
    cases: Vec<Vec<(&'static str, String)>>,
}

/// Whether controls can show the settings.
pub fn check(_: &Facts, arguments: &Arguments) -> Result<(), String> {
    Live::of(arguments)?.check()
}

/// `{{#live tile rows=32 columns=32 type=f32 access=column layout=plain cases="layout:pad:1 layout:xor"}}`,
/// `{{#live stride type=f32 stride=1 first=0 cases="stride:2"}}`.
pub fn live(facts: &Facts, arguments: &Arguments) -> Result<String, String> {
    let live = Live::of(arguments)?;
    live.check()?;
    let ptx = facts.playground()?;
    let html = live.answer(ptx, &live.settings)?;
    let mut cases = Vec::new();
    let wanted = if facts.has_simulator() {
        &[][..]
    } else {
        &live.cases
    };
    for case in wanted {
        let settings = live.with(case);
        cases.push(json!({
            "settings": of_pairs(&settings),
            "html": live.answer(ptx, &settings)?,
        }));
    }
    let cases = serde_json::to_string(&cases).map_err(|error| error.to_string())?;
    let mut page = format!(
        "<section class=\"live\" data-live=\"{}\" aria-label=\"Live: change it\">\n<form class=\"live-controls\">\n",
        live.kind
    );
    for control in live.controls {
        page.push_str(&control.html(live.setting(control.name), &live.id()));
    }
    let _ = write!(
        page,
        "</form>\n<p class=\"live-state\" role=\"status\">Computed when this book was built.</p>\n\
         <div class=\"live-answer\">\n{html}</div>\n\
         <script type=\"application/json\" class=\"live-cases\">{}</script>\n</section>\n",
        cases.replace("</", "<\\/")
    );
    let lines = page.lines().filter(|line| !line.trim().is_empty());
    Ok(lines.collect::<Vec<_>>().join("\n") + "\n")
}

fn of_pairs(settings: &[(&'static str, String)]) -> Value {
    let pairs = settings
        .iter()
        .map(|(key, value)| ((*key).to_owned(), json!(value)));
    Value::Object(pairs.collect())
}

impl Live {
    fn of(arguments: &Arguments) -> Result<Self, String> {
        let (kind, controls): (_, &'static [Control]) = match arguments.only()? {
            "tile" => ("tile", &TILE),
            "stride" => ("stride", &STRIDE),
            other => return Err(format!("`{other}` is neither `tile` nor `stride`")),
        };
        let names: Vec<&str> = controls.iter().map(|control| control.name).collect();
        arguments.keys(&[&names[..], &["cases"]].concat())?;
        let setting =
            |control: &Control| Ok((control.name, arguments.need(control.name)?.to_owned()));
        let settings: Result<Vec<_>, String> = controls.iter().map(setting).collect();
        let cases = arguments.get("cases").unwrap_or_default();
        let case = |text: &str| -> Result<Vec<_>, String> {
            let pairs = text.split('&').map(|pair| {
                let (name, value) = pair.split_once(':').unwrap_or((pair, ""));
                let control = controls.iter().find(|control| control.name == name);
                let control = control.ok_or_else(|| format!("there is no control `{name}`"))?;
                Ok((control.name, value.to_owned()))
            });
            pairs.collect()
        };
        Ok(Self {
            kind,
            controls,
            settings: settings?,
            cases: cases
                .split_whitespace()
                .map(case)
                .collect::<Result<_, _>>()?,
        })
    }

    fn check(&self) -> Result<(), String> {
        let all = std::iter::once(self.settings.clone());
        for settings in all.chain(self.cases.iter().map(|case| self.with(case))) {
            for control in self.controls {
                let value = settings.iter().find(|(name, _)| *name == control.name);
                let value = value.map_or("", |(_, value)| value);
                control.check(value)?;
            }
        }
        Ok(())
    }

    fn setting(&self, name: &str) -> &str {
        let setting = self.settings.iter().find(|(other, _)| *other == name);
        setting.map_or("", |(_, value)| value)
    }

    /// A name that is unique on the page: it lists the initial settings.
    fn id(&self) -> String {
        let values = self.settings.iter().map(|(_, value)| value.as_str());
        let words: Vec<&str> = std::iter::once(self.kind).chain(values).collect();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        words.join("-").replace(|c| !is_plain(c), "-")
    }

    /// The settings, as changed by a case.
    fn with(&self, case: &[(&'static str, String)]) -> Vec<(&'static str, String)> {
        let other = |name: &str| case.iter().find(|(other, _)| *other == name);
        let of = |(name, value): &(&'static str, String)| {
            (*name, other(name).map_or(value, |(_, value)| value).clone())
        };
        self.settings.iter().map(of).collect()
    }

    fn answer(&self, ptx: &str, settings: &[(&'static str, String)]) -> Result<String, String> {
        let get = |name: &str| {
            let setting = settings.iter().find(|(other, _)| *other == name);
            setting.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let number = |name: &str| get(name).parse::<u32>().unwrap_or_default();
        let question = match self.kind {
            "tile" => Question::Tile(tile::Question {
                ptx: ptx.to_owned(),
                rows: number("rows"),
                columns: number("columns"),
                element: get("type"),
                layout: get("layout"),
                access: get("access"),
            }),
            _ => Question::Stride(stride::Question {
                ptx: ptx.to_owned(),
                element: get("type"),
                stride: number("stride"),
                first: number("first"),
            }),
        };
        let question = serde_json::to_string(&question).map_err(|error| error.to_string())?;
        let answer: Value =
            serde_json::from_str(&live::answer(&question)).map_err(|error| error.to_string())?;
        if let Some(error) = answer["error"].as_str() {
            return Err(format!("live: {error}"));
        }
        let answer = &answer[self.kind];
        if answer["is_right"] != json!(true) {
            return Err("live: the kernel's result is wrong".to_owned());
        }
        Ok(answer["html"].as_str().unwrap_or_default().to_owned())
    }
}

impl Control {
    fn check(&self, value: &str) -> Result<(), String> {
        let is_right = match self.kind {
            Kind::Number(least, most) => value
                .parse()
                .is_ok_and(|number| (least..=most).contains(&number)),
            Kind::Choice(choices) => choices.iter().any(|(name, _)| *name == value),
            Kind::Word(_) => value.parse::<maps::Layout>().is_ok(),
        };
        match is_right {
            true => Ok(()),
            false => Err(format!("`{value}` cannot be chosen for `{}`", self.name)),
        }
    }

    fn html(&self, value: &str, id: &str) -> String {
        let Self { name, label, .. } = self;
        let control = match self.kind {
            Kind::Number(least, most) => format!(
                "<input type=\"number\" name=\"{name}\" min=\"{least}\" max=\"{most}\" value=\"{value}\" required>"
            ),
            Kind::Choice(choices) => {
                let option = |(choice, words): &(&str, &str)| {
                    let selected = if *choice == value { " selected" } else { "" };
                    format!("<option value=\"{choice}\"{selected}>{words}</option>")
                };
                let options: String = choices.iter().map(option).collect();
                format!("<select name=\"{name}\">{options}</select>")
            }
            Kind::Word(words) => {
                let option = |word: &str| format!("<option value=\"{word}\"></option>");
                let options: String = words.split(' ').map(option).collect();
                format!(
                    "<input type=\"text\" name=\"{name}\" value=\"{value}\" list=\"{id}-{name}\" \
                     spellcheck=\"false\" autocomplete=\"off\" required>\
                     <datalist id=\"{id}-{name}\">{options}</datalist>"
                )
            }
        };
        format!("<label class=\"live-{name}\"><span>{label}</span> {control}</label>\n")
    }
}
