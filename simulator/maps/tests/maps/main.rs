//! Maps and their pictures. Pictures are well-formed and named, and show each lane, phase and byte;
//! [`measured`] compares the maps with an H200.

mod measured;

use maps::timeline::{Mark, MarkKind, Row, Span, SpanKind};
use maps::{
    BankMap, Fragment, FragmentMap, Layout, Pattern, SectorMap, Tile, TileMap, Timeline, svg,
};
use roxmltree::{Document, Node};

fn has_class(node: &Node<'_, '_>, class: &str) -> bool {
    let classes = node.attribute("class").unwrap_or_default();
    classes.split(' ').any(|other| other == class)
}

fn count(svg: &str, class: &str) -> usize {
    let document = Document::parse(svg).unwrap_or_else(|error| panic!("{error}\n{svg}"));
    let all = document
        .descendants()
        .filter(|node| node.has_tag_name("rect"));
    all.filter(|node| has_class(node, class)).count()
}

/// Everything lies within the picture, and the picture has a name.
fn check(svg: &str) {
    let document = Document::parse(svg).unwrap_or_else(|error| panic!("{error}\n{svg}"));
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"));
    assert!(
        root.attribute("aria-label")
            .is_some_and(|label| label.len() > 10)
    );
    let number = |node: &Node<'_, '_>, name: &str| -> u32 {
        node.attribute(name).map_or(0, |text| text.parse().unwrap())
    };
    let (width, height) = (number(&root, "width"), number(&root, "height"));
    for node in document
        .descendants()
        .filter(|node| node.has_tag_name("rect"))
    {
        assert!(number(&node, "x") + number(&node, "width") <= width);
        assert!(number(&node, "y") + number(&node, "height") <= height);
    }
    let alone = svg::standalone(svg);
    Document::parse(&alone).unwrap_or_else(|error| panic!("{error}\n{alone}"));
}

fn access(tile: &Tile, pattern: &str, layout: &str) -> maps::Access {
    let pattern: Pattern = pattern.parse().unwrap();
    let layout: Layout = layout.parse().unwrap();
    pattern.accesses(tile, &layout).unwrap()[0].clone()
}

#[test]
fn bank_maps_show_every_lane() {
    let tile = Tile::new(32, 32, 4).unwrap();
    for (layout, conflicts) in [("plain", 31), ("swizzle:5,0,5", 0)] {
        let map = BankMap::of(&access(&tile, "column", layout));
        let svg = map.svg();
        check(&svg);
        assert_eq!(count(&svg, "map-lane") + count(&svg, "map-conflict"), 32);
        assert_eq!(count(&svg, "map-conflict"), conflicts, "{layout}");
    }
}

#[test]
fn phases_can_be_shown_alone() {
    let tile = Tile::new(16, 64, 2).unwrap();
    let map = BankMap::of(&access(&tile, "ldmatrix.x4", "plain"));
    let svg = map.svg();
    check(&svg);
    let document = Document::parse(&svg).unwrap();
    let phases = document
        .descendants()
        .filter(|node| has_class(node, "phase"));
    let numbers: Vec<_> = phases
        .filter_map(|node| node.attribute("data-phase"))
        .collect();
    assert_eq!(numbers, ["0", "1", "2", "3"]);
    for phase in 0..4 {
        let svg = map.svg_of_phase(phase);
        check(&svg);
        assert_eq!(count(&svg, "map-lane") + count(&svg, "map-conflict"), 8);
    }
    assert_eq!(count(&map.svg_of_phase(4), "map-lane"), 0);
}

#[test]
fn sector_maps_show_every_word() {
    let addresses = std::array::from_fn(|lane| 0x1000 + 64 * lane as u64);
    let (class, space) = (ptx_sim::AccessClass::Load, ptx_sim::ir::Space::Global);
    let map = SectorMap::of(&maps::Access::new(class, space, 4, u32::MAX, addresses));
    let svg = map.svg();
    check(&svg);
    assert_eq!(
        (count(&svg, "map-waste"), count(&svg, "map-lane")),
        (256, 32)
    );
    assert!(map.text().contains("█░░░░░░░ ········"), "{}", map.text());
}

#[test]
fn tile_maps_show_the_tile_and_the_memory() {
    let tile = Tile::new(32, 32, 4).unwrap();
    let pattern: Pattern = "column:3".parse().unwrap();
    let layout: Layout = "swizzle:5,0,5".parse().unwrap();
    let map = TileMap::by_vectors(tile, layout, 1).unwrap();
    let map = map.marking(&pattern.elements(&tile).unwrap());
    for svg in [map.svg(), map.svg_of_memory()] {
        check(&svg);
        assert_eq!(count(&svg, "map-lane"), 32);
    }
    let text = map.text(110);
    assert!(text.contains("\n 1:  1  0  3  2*"), "{text}");
}

#[test]
fn fragments_are_drawn_whole() {
    for (_, fragment) in maps::fragments::ALL {
        let map = FragmentMap::of(fragment);
        check(&map.svg());
    }
    let text = FragmentMap::of(Fragment::M16n8k16A).text();
    assert!(text.contains("row  8:  0:2  0:3  1:2"), "{text}");
}

#[test]
fn timelines_are_drawn_with_their_legend() {
    let line = Timeline {
        n_steps: 4,
        warps: vec![Row {
            warp: 0,
            marks: vec![Mark {
                step: 1,
                kind: MarkKind::Barrier,
            }],
            spans: vec![Span {
                from: 1,
                to: 3,
                kind: SpanKind::Waiting,
            }],
        }],
        copies: Vec::new(),
        phases: vec![(2, 64)],
        is_cut: false,
    };
    check(&line.svg());
    let text = line.text(80);
    assert!(text.contains("warp  0:  |─"), "{text}");
    assert!(text.contains("waiting at a barrier"), "{text}");
}

#[test]
fn text_fits() {
    let tile = Tile::new(32, 32, 4).unwrap();
    for columns in [80, 100, 120] {
        for layout in ["plain", "pad:1"] {
            let text = BankMap::of(&access(&tile, "column", layout)).text(columns);
            // The first is prose.
            let widest = text.lines().skip(1).map(|line| line.chars().count()).max();
            assert!(widest.unwrap() <= columns, "{columns}:\n{text}");
        }
    }
}
