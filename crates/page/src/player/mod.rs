//! A player: a block's run, frame by frame, forwards and backwards.
//!
//! The frames come from a trace ([`maps::Film`]); here they are joined with source lines. One
//! script, [`SCRIPT`], plays them, on a report's page and in the book; without it, or before it
//! has run, there is a table of the main frames.
//!
//! Left out: running kernels; pages without our style sheet, which need [`STYLE`].

use lockstep::source::{Place, places_of};
use maps::film::Frame;
use maps::{BANKS, Film, TileMap, WORD_BYTES};
use maud::{Markup, PreEscaped, html};
use ptx_sim::trace::{Trace, TracedInstruction};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The style of players. It takes its colours from [`maps::svg::STYLE`].
pub const STYLE: &str = include_str!("player.css");
/// The script of players. It starts those whose data are in the page, and defines
/// `lockstepPlayer(section, data)` for others.
pub const SCRIPT: &str = include_str!("player.js");

/// Most frames of a player: more would be tedious to step through, and large.
pub const MOST_FRAMES: usize = 1000;
/// Lines shown before and after a line that a frame names.
const CONTEXT: u32 = 3;
/// Most rows of the table.
const MOST_ROWS: usize = 24;

/// A film with its source lines.
#[derive(Clone, Debug, Serialize)]
pub struct Player {
    /// The launch that it shows.
    pub caption: String,
    /// How much of the run it shows.
    extent: String,
    film: Film,
    /// By instruction of the film, where it comes from.
    places: Vec<Option<Shown>>,
    /// Excerpts of the sources, file by file.
    files: Vec<Excerpt>,
    /// The tile in shared memory, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    tile: Option<Words>,
}

/// The words of a tile.
#[derive(Clone, Debug, Serialize)]
struct Words {
    n_rows: u32,
    /// Row by row, each word's number in shared memory.
    words: Vec<u32>,
}

/// Where an instruction comes from.
#[derive(Clone, Debug, Serialize)]
struct Shown {
    /// In [`Player::files`].
    file: usize,
    line: u32,
    /// `01_tiles.rs:178`.
    name: String,
    /// The line that it was written on, if it was inlined from another: `thread.rs:234`.
    #[serde(skip_serializing_if = "Option::is_none")]
    written_at: Option<String>,
}

/// Lines of a file.
#[derive(Clone, Debug, Serialize)]
struct Excerpt {
    file: String,
    /// Numbers and texts.
    lines: Vec<(u32, String)>,
}

impl Player {
    /// The player of a block's trace. `file` is the kernel's own; `text_of` gives sources, by
    /// their path.
    pub fn of(
        caption: impl Into<String>,
        trace: &Trace,
        file: &str,
        text_of: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let film = Film::of(trace, MOST_FRAMES);
        let named: BTreeSet<u32> = film.frames.iter().filter_map(|f| f.instruction).collect();
        let mut lines: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        let mut shown = Vec::new();
        for (number, instruction) in (0..).zip(&trace.instructions) {
            let (own, written_at) = places(instruction, file);
            let own = own.filter(|_| named.contains(&number));
            if let Some(own) = &own {
                lines.entry(own.file.clone()).or_default().insert(own.line);
            }
            shown.push(own.map(|own| (own, written_at)));
        }
        let files: Vec<Excerpt> = lines
            .iter()
            .map(|(file, lines)| Excerpt::of(file, lines, text_of(file).as_deref()))
            .collect();
        let places = shown.into_iter().map(|place| {
            let (own, written_at) = place?;
            Some(Shown {
                file: files.iter().position(|excerpt| excerpt.file == own.file)?,
                line: own.line,
                name: own.short(),
                written_at: written_at.map(|at| at.short()),
            })
        });
        Self {
            caption: caption.into(),
            extent: film.extent(),
            places: places.collect(),
            files,
            film,
            tile: None,
        }
    }

    /// The same with a tile at the start of shared memory, which can then be seen in its own order.
    ///
    /// # Errors
    ///
    /// A row has more than 32 words, or the layout splits words.
    pub fn with_tile(self, map: &TileMap) -> Result<Self, String> {
        let bytes = map.vector * map.tile.element_bytes();
        if !bytes.is_multiple_of(WORD_BYTES) {
            return Err(format!("the layout keeps only {bytes} bytes together"));
        }
        let words = map.places.iter().flat_map(|place| {
            let first = place * map.tile.element_bytes() / WORD_BYTES;
            first..first + bytes / WORD_BYTES
        });
        let words: Vec<u32> = words.collect();
        let n_rows = map.tile.rows();
        if words.len() > (n_rows * BANKS) as usize {
            return Err(format!("a row of the tile has more than {BANKS} words"));
        }
        let tile = Some(Words { n_rows, words });
        Ok(Self { tile, ..self })
    }

    /// The player, with its data: a page needs nothing else but [`STYLE`] and [`SCRIPT`].
    pub fn html(&self) -> String {
        let json = serde_json::to_string(self).unwrap_or_default();
        let data = html! {
            script type="application/json" class="player-data" { (PreEscaped(json.replace("</", "<\\/"))) }
        };
        self.section(&data).into_string()
    }

    /// The player with its data, or with none if those are elsewhere.
    pub(crate) fn section(&self, data: &Markup) -> Markup {
        html! {
            section class="player" aria-label=(format!("Frame by frame: {}", self.caption.replace('`', ""))) {
                p class="player-caption" { (code(&self.caption)) }
                (self.table())
                (data)
            }
        }
    }

    /// The main frames, for pages without the script.
    fn table(&self) -> Markup {
        let line = |at: u32| {
            self.places[at as usize]
                .as_ref()
                .map(|at| (at.file, at.line))
        };
        let main = self.film.main_frames(line);
        html! {
            div class="player-static table-box" tabindex="0" role="group" aria-label="The main frames" {
                table {
                    caption { (self.extent) ": the first of each kind." }
                    thead { tr {
                        @for name in ["frame", "source", "what happens", "times"] { th scope="col" { (name) } }
                    } }
                    tbody { @for &(at, n) in main.iter().take(MOST_ROWS) {
                        (self.row(at, n))
                    } }
                }
                @if main.len() > MOST_ROWS {
                    p { (main.len() - MOST_ROWS) " more kinds of frames are left out." }
                }
            }
        }
    }

    fn row(&self, at: usize, n: usize) -> Markup {
        let frame = &self.film.frames[at];
        html! {
            tr {
                td { (at + 1) }
                td { @if let Some(place) = self.place(frame) { code { (place.name) } } }
                td { (self.film.sentence(frame)) }
                td { (n) }
            }
        }
    }

    fn place(&self, frame: &Frame) -> Option<&Shown> {
        self.places.get(frame.instruction? as usize)?.as_ref()
    }
}

impl Excerpt {
    /// The lines that are named, and those around them; without a text, only their numbers.
    fn of(file: &str, named: &BTreeSet<u32>, text: Option<&str>) -> Self {
        let is_near = |number: u32| {
            let near = number.saturating_sub(CONTEXT)..=number + CONTEXT;
            named.range(near).next().is_some()
        };
        let lines = match text {
            Some(text) => (1..)
                .zip(text.lines())
                .filter(|(number, _)| is_near(*number))
                .map(|(number, line)| (number, line.to_owned()))
                .collect(),
            None => named.iter().map(|&line| (line, String::new())).collect(),
        };
        Self {
            file: file.to_owned(),
            lines,
        }
    }
}

fn places(instruction: &TracedInstruction, file: &str) -> (Option<Place>, Option<Place>) {
    places_of(instruction.loc.as_ref(), &instruction.inlined_at, file)
}

/// Text with `` `code` ``.
fn code(text: &str) -> Markup {
    html! {
        @for (number, part) in text.split('`').enumerate() {
            @if number % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Player;
    use maps::{Tile, TileMap};
    use ptx_sim::trace::Trace;
    use ptx_sim::{Device, LaunchOptions, Module, TraceOptions};

    const PTX: &str = "
.version 7.0
.target sm_80
.address_size 64
.file 1 \"src/k.rs\"
.visible .entry k()
{
    .reg .b32 %r<3>;
    .shared .align 4 .b8 tile[4096];
    .loc 1 10 0
    mov.u32 %r1, %tid.x;
    shl.b32 %r1, %r1, 7;
    mov.u32 %r2, tile;
    add.u32 %r2, %r2, %r1;
    .loc 1 20 0
    st.shared.b32 [%r2], %r1;
    .loc 1 40 0
    bar.sync 0;
    ret;
}
";

    fn trace() -> Trace {
        let device = Device::new();
        let loaded = device.load(&Module::parse(PTX).unwrap()).unwrap();
        let options = LaunchOptions {
            trace: Some(TraceOptions::default()),
            ..LaunchOptions::default()
        };
        let call = device.call(&loaded, "k").block(32).options(options);
        *call.run().unwrap().trace.unwrap()
    }

    fn player() -> Player {
        let text: String = (1..=50)
            .map(|line| format!("line {line};</script>\n"))
            .collect();
        Player::of("`k`", &trace(), "src/k.rs", |file| {
            (file == "src/k.rs").then(|| text.clone())
        })
    }

    #[test]
    fn frames_have_their_lines_and_the_lines_around_them() {
        let player = player();
        let [excerpt] = &*player.files else {
            panic!("{:?}", player.files)
        };
        let numbers: Vec<u32> = excerpt.lines.iter().map(|(number, _)| *number).collect();
        let expected: Vec<u32> = (17..=23).chain(37..=43).collect();
        assert_eq!(numbers, expected);
        let lines: Vec<u32> = player.places.iter().flatten().map(|at| at.line).collect();
        assert_eq!(lines, [20, 40]);
    }

    #[test]
    fn the_page_has_the_data_and_a_table() {
        let html = player().html();
        assert!(html.contains(
            "<td>1</td><td><code>k.rs:20</code></td><td>Warp 0: lanes 0–31 store 4 bytes each to \
             shared memory: 32 wavefronts where 1 would do, 31 bank conflicts (32-way).</td>"
        ));
        // The data end where their element ends.
        assert_eq!(html.matches("</script>").count(), 1, "{html}");
        let (_, data) = html.split_once("class=\"player-data\">").unwrap();
        let (data, _) = data.split_once("</script>").unwrap();
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["film"]["frames"][0]["touch"]["conflicts"], 31);
        assert_eq!(data["files"][0]["lines"][0][1], "line 17;</script>");
    }

    #[test]
    fn a_tile_has_its_words_row_by_row() {
        let map = |rows, columns, bytes, layout: &str| {
            let tile = Tile::new(rows, columns, bytes).unwrap();
            TileMap::new(tile, layout.parse().unwrap()).unwrap()
        };
        let player = player()
            .with_tile(&map(32, 32, 4, "swizzle:5,0,5"))
            .unwrap();
        let tile = player.tile.clone().unwrap();
        assert_eq!((tile.n_rows, tile.words.len()), (32, 1024));
        assert_eq!(tile.words[32..36], [33, 32, 35, 34]);
        let refused = |map| player.clone().with_tile(&map).unwrap_err();
        assert!(refused(map(32, 64, 4, "plain")).contains("more than 32 words"));
        assert!(refused(map(32, 32, 2, "pad:1")).contains("only 2 bytes"));
    }
}
