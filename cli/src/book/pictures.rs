//! Maps of accesses, from the crate `maps`.

use super::directive::Arguments;
use super::facts::{self, Facts};
use crate::explain::{self, Explained};
use host::kernels;
use lesson::{Registered, Shape};
use lockstep::engine::sim::Sim;
use maps::{Access, BankMap, Fragment, FragmentMap, Layout, Pattern, SectorMap, Tile, TileMap};
use ptx_sim::AccessClass;
use ptx_sim::ir::Space;

/// The arguments of a tile's map.
struct Drawn {
    tile: Tile,
    layout: Layout,
    pattern: Pattern,
}

const KEYS: [&str; 7] = [
    "rows", "cols", "type", "layout", "access", "phase", "caption",
];

impl Drawn {
    fn of(arguments: &Arguments) -> Result<Self, String> {
        arguments.keys(&KEYS)?;
        Self::among(arguments)
    }

    /// Among other arguments.
    fn among(arguments: &Arguments) -> Result<Self, String> {
        let told = |error: maps::Invalid| error.to_string();
        let number = |key: &str| -> Result<u32, String> {
            let text = arguments.need(key)?;
            text.parse()
                .map_err(|_| format!("`{key}={text}` is not a number"))
        };
        let bytes =
            maps::tile::element_bytes(arguments.get("type").unwrap_or("f32")).map_err(told)?;
        Ok(Self {
            tile: Tile::new(number("rows")?, number("cols")?, bytes).map_err(told)?,
            layout: arguments
                .get("layout")
                .unwrap_or("plain")
                .parse()
                .map_err(told)?,
            pattern: arguments
                .get("access")
                .unwrap_or("column:0")
                .parse()
                .map_err(told)?,
        })
    }

    fn first(&self) -> Result<Access, String> {
        let accesses = self.pattern.accesses(&self.tile, &self.layout);
        let accesses = accesses.map_err(|error| error.to_string())?;
        accesses
            .into_iter()
            .next()
            .ok_or_else(|| "it accesses nothing".to_owned())
    }

    fn map(&self) -> Result<TileMap, String> {
        TileMap::accessed(self.tile, self.layout.clone(), &self.pattern)
            .map_err(|error| error.to_string())
    }

    fn words(&self) -> String {
        format!(
            "`{}` of {}×{} elements of {} bytes, {}",
            self.pattern,
            self.tile.rows(),
            self.tile.columns(),
            self.tile.element_bytes(),
            self.layout
        )
    }
}

/// `{{#banks rows= cols= type= layout= access=}}`: which lanes meet in which bank.
pub fn banks(_: &Facts, arguments: &Arguments) -> Result<String, String> {
    let drawn = Drawn::of(arguments)?;
    let map = BankMap::of(&drawn.first()?);
    let svg = match arguments.get("phase") {
        None => map.svg(),
        Some(phase) => {
            let number: usize = phase
                .parse()
                .map_err(|_| format!("`{phase}` is not a phase"))?;
            if number >= map.phases.len() {
                return Err(format!("there are {} phases", map.phases.len()));
            }
            map.svg_of_phase(number)
        }
    };
    Ok(figure(
        arguments,
        &format!("Bank map: {}", drawn.words()),
        &svg,
    ))
}

/// `{{#places …}}`: the bank of each element of a tile, with the accessed elements framed.
pub fn places(_: &Facts, arguments: &Arguments) -> Result<String, String> {
    let drawn = Drawn::of(arguments)?;
    let svg = drawn.map()?.svg();
    Ok(figure(
        arguments,
        &format!("Tile map: {}", drawn.words()),
        &svg,
    ))
}

/// `{{#memory …}}`: the location of each element of a tile in memory.
pub fn memory(_: &Facts, arguments: &Arguments) -> Result<String, String> {
    let drawn = Drawn::of(arguments)?;
    let svg = drawn.map()?.svg_of_memory();
    Ok(figure(
        arguments,
        &format!("Memory: {}", drawn.words()),
        &svg,
    ))
}

/// `{{#sectors type= stride= first=}}`: the sectors fetched by lanes this many elements apart.
pub fn sectors(_: &Facts, arguments: &Arguments) -> Result<String, String> {
    arguments.keys(&["type", "stride", "first", "caption"])?;
    let number = |key: &str, usual: u64| match arguments.get(key) {
        None => Ok(usual),
        Some(text) => text
            .parse::<u64>()
            .map_err(|_| format!("`{key}={text}` is not a number")),
    };
    let element = arguments.get("type").unwrap_or("f32");
    let bytes = maps::tile::element_bytes(element).map_err(|error| error.to_string())?;
    let (stride, first) = (number("stride", 1)?, number("first", 0)?);
    let address = |lane: usize| (first + lane as u64 * stride) * u64::from(bytes);
    let addresses = std::array::from_fn(address);
    let load = Access::new(AccessClass::Load, Space::Global, bytes, u32::MAX, addresses);
    let apart = match stride {
        0 => "all at the same place".to_owned(),
        1 => "side by side".to_owned(),
        _ => format!("{stride} elements apart"),
    };
    let words = format!("Sector map: lanes load `{element}` {apart}, from element {first}");
    Ok(figure(arguments, &words, &SectorMap::of(&load).svg()))
}

/// `{{#fragment NAME}}`: which lane holds which element of a matrix.
pub fn fragment(_: &Facts, arguments: &Arguments) -> Result<String, String> {
    arguments.keys(&["caption"])?;
    let name = arguments.only()?;
    let fragment = Fragment::named(name).map_err(|error| error.to_string())?;
    let map = FragmentMap::of(fragment);
    let words = format!("Fragment map: {}", fragment.name());
    Ok(figure(arguments, &words, &map.svg()))
}

/// Whether `{{#explain KERNEL}}` and `{{#timeline KERNEL}}` name a kernel and a size of it.
pub fn check_kernel(_: &Facts, arguments: &Arguments) -> Result<(), String> {
    arguments.keys(&["caption", "opcode", "shape"])?;
    shape_of(arguments).map(drop)
}

/// The kernel, and the size that is named or, without one, its small size.
fn shape_of(arguments: &Arguments) -> Result<(Registered, Shape), String> {
    let kernel = facts::kernel(arguments.only()?)?;
    let usual = explain::default_shape(kernel).ok_or("its lesson has no single size")?;
    let Some(asked) = arguments.get("shape") else {
        return Ok((kernel, usual));
    };
    let dims: Option<Vec<u32>> = asked.split('x').map(|side| side.parse().ok()).collect();
    match dims.filter(|dims| dims.len() == usual.dims().len()) {
        Some(dims) => Ok((kernel, Shape::of(&dims))),
        None => Err(format!(
            "`shape={asked}`: sizes are such as {}",
            usual.name()
        )),
    }
}

fn explained(arguments: &Arguments) -> Result<Explained, String> {
    let (kernel, shape) = shape_of(arguments)?;
    let modules = kernels::modules_for(&[kernel]).map_err(|error| error.to_string())?;
    let explained = explain::of(kernel, &shape, modules, 0).map_err(|error| error.to_string())?;
    explained.ok_or_else(|| "it was not launched".to_owned())
}

/// `{{#explain KERNEL opcode=ld.shared}}`: what the kernel's most wasteful access of a kind
/// touches; the first one, if several are equal.
pub fn explain_access(_: &Facts, arguments: &Arguments) -> Result<String, String> {
    let explained = explained(arguments)?;
    let opcode = arguments.need("opcode")?;
    let lines = explained
        .lines
        .iter()
        .filter(|line| line.opcode.starts_with(opcode));
    // The first of the worst ones.
    let line = lines.min_by_key(|line| std::cmp::Reverse(line.waste()));
    let line = line.ok_or_else(|| format!("it has no `{opcode}`"))?;
    let words = format!(
        "`{}`, warp {} of block {}, at {}: `{}`",
        explained.kernel,
        line.warp,
        explained.block,
        line.place(),
        line.opcode
    );
    Ok(figure(arguments, &words, &line.map().svg()))
}

/// `{{#timeline KERNEL [shape=64x64]}}`: what the warps of its first block wait for.
pub fn timeline(_: &Facts, arguments: &Arguments) -> Result<String, String> {
    let explained = explained(arguments)?;
    let words = format!(
        "`{}` at {}, block {}: what its warps wait for, in the simulator's order",
        explained.kernel, explained.shape, explained.block
    );
    Ok(figure(arguments, &words, &explained.timeline.svg()))
}

/// Whether `{{#player KERNEL}}` names a kernel and a size of it.
pub fn check_player(_: &Facts, arguments: &Arguments) -> Result<(), String> {
    arguments.keys(&["shape", "rows", "cols", "type", "layout"])?;
    tile_of(arguments)?;
    shape_of(arguments).map(drop)
}

/// The tile in shared memory, if one is named.
fn tile_of(arguments: &Arguments) -> Result<Option<TileMap>, String> {
    if arguments.get("rows").is_none() {
        return Ok(None);
    }
    let Drawn { tile, layout, .. } = Drawn::among(arguments)?;
    TileMap::new(tile, layout)
        .map(Some)
        .map_err(|error| error.to_string())
}

/// `{{#player KERNEL [shape=64x64] [rows= cols= type= layout=]}}`: the run of its first block,
/// frame by frame; with a tile at the start of shared memory, also in the tile's order.
pub fn player(_: &Facts, arguments: &Arguments) -> Result<String, String> {
    let (kernel, shape) = shape_of(arguments)?;
    let modules = kernels::modules_for(&[kernel]).map_err(|error| error.to_string())?;
    let player = explain::player::on(&Sim::new(modules), kernel, &shape);
    let player = player.map_err(|error| error.to_string())?;
    let player = player.ok_or("it was not launched")?;
    let player = match tile_of(arguments)? {
        Some(map) => player.with_tile(&map)?,
        None => player,
    };
    Ok(format!("{}\n", player.html()))
}

/// A picture in a scrollable box, with a caption below.
pub fn figure(arguments: &Arguments, words: &str, svg: &str) -> String {
    let caption = match arguments.get("caption") {
        Some(caption) => caption.to_owned(),
        None => format!("{words}."),
    };
    let label = words.replace('`', "");
    let mut code = false;
    let mut html = String::new();
    for part in caption.split('`') {
        match code {
            true => html.push_str(&format!("<code>{part}</code>")),
            false => html.push_str(part),
        }
        code = !code;
    }
    // No blank line: it would end the HTML.
    let svg: Vec<&str> = svg.lines().filter(|line| !line.trim().is_empty()).collect();
    format!(
        "<figure class=\"map-figure\">\n<div class=\"map-box\" tabindex=\"0\" role=\"region\" \
         aria-label=\"{label}\">\n{}\n</div>\n<figcaption>{html}</figcaption>\n</figure>\n",
        svg.join("\n")
    )
}
