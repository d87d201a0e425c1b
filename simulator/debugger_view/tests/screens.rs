//! The view of a small launch: what keys lead to, and what is then on the screen.

mod common;

use common::with_view;
use debugger_view::keys;
use debugger_view::panes::Pane;
use debugger_view::view::Flow;
use ratatui::crossterm::event::KeyCode;

const BARRIER: &str = "bar.sync 0;";
/// In place of it, where the checks are to find a race.
const NO_BARRIER: &str = "mov.u32 %r9, 1;";
const SMALL: (u16, u16) = (80, 24);
const LARGE: (u16, u16) = (120, 40);

#[test]
fn the_beginning() {
    for (size, name) in [(SMALL, "beginning_80x24"), (LARGE, "beginning_120x40")] {
        with_view(BARRIER, size, |bench| {
            insta::assert_snapshot!(name, bench.screen())
        });
    }
}

#[test]
fn a_store_with_bank_conflicts() {
    for (size, name) in [(SMALL, "store_80x24"), (LARGE, "store_120x40")] {
        with_view(BARRIER, size, |bench| {
            // To the store, by its line of the PTX text.
            bench.enter(":b ptx:40");
            bench.type_in("c4");
            insta::assert_snapshot!(name, bench.screen());
        });
    }
}

#[test]
fn lanes_that_went_different_ways() {
    with_view(BARRIER, SMALL, |bench| {
        bench.enter(":b 12");
        bench.type_in("c");
        assert!(bench.screen().contains("breakpoint 1: 12"));
        let lanes = bench.line_with("lanes ■");
        let signs = "■■■■■■■■ ■■■■■■■■ aaaaaaaa aaaaaaaa";
        assert!(lanes.contains(signs), "{lanes}");
        let legend = bench.line_with("■ 0-15 here");
        let others = "a 16-31 tile.rs:5, wait to meet lanes 0-15";
        assert!(legend.contains(others), "{legend}");
    });
}

#[test]
fn steps_go_both_ways_and_mark_what_changes() {
    with_view(BARRIER, SMALL, |bench| {
        bench.type_in(">>>");
        let first = bench.screen();
        bench.type_in("s");
        let heading = bench.line_with("─ tile.rs");
        assert!(heading.contains("inlined at tile.rs:10"), "{heading}");
        bench.type_in("Snn");
        assert!(bench.line_with("▶   11").contains("if x < 16"));
        bench.type_in("iii");
        let marked = bench.line_with("*%");
        assert!(marked.contains("*%f1 6.0"), "{marked}");
        bench.type_in("IIINN");
        // The source may be scrolled otherwise, and what changes back is marked.
        let from_ptx = |screen: &str| {
            let ptx = screen.find("─ PTX").expect("PTX");
            screen[ptx..].replace('*', " ")
        };
        assert_eq!(from_ptx(&bench.screen()), from_ptx(&first));
    });
}

#[test]
fn breakpoints_are_set_where_the_cursor_is() {
    with_view(BARRIER, SMALL, |bench| {
        for _ in 0..7 {
            bench.press(KeyCode::Down);
        }
        bench.type_in("b");
        assert!(bench.line_with("●    16").contains("out[place(y, x)]"));
        bench.type_in("c");
        assert!(bench.line_with("▶   16").starts_with('●'));
        bench.type_in("b");
        assert!(!bench.screen().contains('●'));
        bench.press(KeyCode::Up);
        bench.press(KeyCode::Up);
        bench.press(KeyCode::Up);
        bench.type_in("b");
        let message = bench.line_with("no instruction comes from");
        assert!(message.contains("tile.rs:13"), "{message}");
        // Back to the line above it.
        bench.press(KeyCode::Up);
        bench.type_in("H");
        assert!(bench.line_with("▶   12").contains("value *= 2.0"));
        assert!(bench.debugger.breakpoints().is_empty());
    });
}

#[test]
fn other_threads_are_looked_at() {
    with_view(BARRIER, SMALL, |bench| {
        bench.type_in(">>]");
        assert!(
            bench
                .line_with("time 0")
                .contains("thread 2,1  warp 1 lane 2")
        );
        bench.type_in("<<<[");
        assert!(
            bench
                .line_with("time 0")
                .contains("thread 31  warp 0 lane 31")
        );
        bench.type_in("}");
        let message = bench.screen();
        assert!(
            message.contains("block 1") || message.contains("no other block"),
            "{message}"
        );
    });
}

#[test]
fn an_expression_is_shown_in_all_lanes() {
    with_view(BARRIER, SMALL, |bench| {
        bench.enter("etid.x * 2");
        assert_eq!(bench.view.pane, Pane::Lanes);
        let line = bench.line_with(" 7 14");
        assert!(line.contains(" 0 0") && line.contains(" 3 6"), "{line}");
        bench.type_in("e");
        bench.press(KeyCode::Backspace);
        bench.enter("nonsense(");
        bench.screen();
    });
}

#[test]
fn the_last_write_of_what_is_touched() {
    with_view(BARRIER, SMALL, |bench| {
        bench.enter(":b ptx:47");
        bench.type_in("cw");
        assert!(bench.screen().ends_with("last write of TILE[0]"));
        bench.press(KeyCode::Enter);
        // Too long for the first line.
        let screen = bench.screen();
        assert!(
            screen.ends_with("the last write of TILE[0] is about to happen"),
            "{screen}"
        );
        assert!(bench.screen().contains("▶   40 st.shared.f32"));
    });
}

#[test]
fn a_finding_and_its_other_side() {
    with_view(BARRIER, SMALL, |bench| {
        bench.type_in("f");
        assert!(
            bench
                .screen()
                .ends_with("the checks find nothing in this launch")
        );
    });
    with_view(NO_BARRIER, LARGE, |bench| {
        bench.type_in("f");
        assert!(bench.view.popup.is_some());
        assert!(bench.screen().contains("┌ finding ─"));
        bench.press(KeyCode::Esc);
        assert!(bench.screen().contains("▶   47 ld.shared.f32"));
        bench.type_in("F");
        assert!(bench.screen().contains("▶   40 st.shared.f32"));
    });
}

#[test]
fn commands_are_answered() {
    with_view(BARRIER, SMALL, |bench| {
        bench.enter(":p tid.x + 5");
        assert!(bench.screen().ends_with("tid.x + 5 = 5"));
        bench.enter(":help");
        assert!(bench.screen().contains("┌ help ─"));
        let shown = bench.screen();
        bench.press(KeyCode::PageDown);
        assert_ne!(bench.screen(), shown);
        bench.press(KeyCode::Esc);
        // The last but one, again.
        bench.type_in(":");
        bench.press(KeyCode::Up);
        bench.press(KeyCode::Up);
        assert!(bench.screen().ends_with(":p tid.x + 5"));
        bench.press(KeyCode::Esc);
        bench.enter("gend");
        assert!(bench.line_with("time").contains("the launch has ended"));
        assert_eq!(bench.type_in(":q"), Flow::GoesOn);
        assert_eq!(bench.press(KeyCode::Enter), Flow::Quits);
        assert_eq!(bench.type_in("q"), Flow::Quits);
        assert_eq!(bench.type_in("Q"), Flow::Detaches);
    });
}

#[test]
fn every_pane_and_every_key_at_every_size() {
    with_view(BARRIER, LARGE, |bench| {
        for (key, action) in keys::KEYS {
            if [keys::Action::Quit, keys::Action::Detach].contains(&action) {
                continue;
            }
            bench.press(key);
            for (width, height) in [(20, 5), (1, 1), (80, 24), (40, 10), (200, 60), (3, 30)] {
                bench.terminal.backend_mut().resize(width, height);
                bench.screen();
            }
            bench.press(KeyCode::Esc);
            // Wherever it has led.
            bench.press(KeyCode::Esc);
        }
        bench.enter("gend");
        for _ in Pane::ALL {
            bench.press(KeyCode::Tab);
            bench.screen();
        }
    });
}

#[test]
fn memory_follows_the_instruction_until_it_is_chosen() {
    with_view(BARRIER, SMALL, |bench| {
        bench.type_in("5");
        assert!(bench.screen().contains("input  128 × f32"));
        bench.enter(":b ptx:49");
        bench.type_in("c");
        let screen = bench.screen();
        assert!(screen.contains("out  128 × f32"), "{screen}");
        assert!(
            screen.contains("store of 4 bytes by 16 lanes: 2 sectors"),
            "{screen}"
        );
        assert!(
            screen.contains("■ 0-15 here  □ 16-31 guarded off"),
            "{screen}"
        );
        bench.type_in("m");
        let chosen = bench.screen();
        assert!(chosen.contains("input  128 × f32"), "{chosen}");
        assert!(chosen.contains("elsewhere: store"), "{chosen}");
        bench.type_in("mm");
        assert_eq!(bench.screen(), screen);
    });
}

#[test]
fn the_help_fits_a_narrow_screen() {
    with_view(BARRIER, SMALL, |bench| {
        bench.type_in("?");
        let popup = bench.view.popup.as_ref().expect("the help");
        for line in &popup.lines {
            assert!(line.chars().count() <= 76, "{line}");
        }
    });
}

#[test]
fn the_help_has_all_keys_and_no_others() {
    let known: Vec<String> = keys::KEYS.iter().map(|(key, _)| keys::name(*key)).collect();
    let helped = keys::HELP.iter().flat_map(|(keys, _)| keys.split(' '));
    let helped: Vec<&str> = helped.filter(|key| !key.is_empty()).collect();
    for key in &known {
        assert!(helped.contains(&key.as_str()), "{key} is not in the help");
    }
    // What halts a launch is not a key of the view.
    for key in helped.iter().filter(|key| !["Esc", "Ctrl-C"].contains(key)) {
        assert!(known.iter().any(|known| known == key), "{key} does nothing");
    }
    for (at, (key, _)) in keys::KEYS.iter().enumerate() {
        let again = keys::KEYS[..at].iter().any(|(other, _)| other == key);
        assert!(!again, "{key:?} has two meanings");
    }
}
