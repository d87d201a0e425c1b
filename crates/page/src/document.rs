//! The whole page: its head, the navigation to its groups, and the groups.

use crate::kernel::State;
use crate::page::{Group, Page, Picture};
use crate::{article, packed, player, table};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::io;
use std::path::Path;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Runs before anything is drawn, so that style can hide what the script shows one at a time.
const FIRST: &str = "document.documentElement.classList.add('js');";
/// Nothing is loaded, whatever the page contains.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

impl Page {
    /// The page as HTML.
    pub fn html(&self) -> String {
        document(self).into_string()
    }

    /// Writes the page to a file.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> io::Result<()> {
        std::fs::write(path, self.html())
    }
}

fn document(page: &Page) -> Markup {
    let (player_style, player_script) = of_players(page);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (page.title) }
                style { (PreEscaped(maps::svg::STYLE)) (PreEscaped(STYLE)) (PreEscaped(player_style)) }
                script { (PreEscaped(FIRST)) }
            }
            body {
                a class="skip" href="#main" { "Skip to the kernels" }
                (header(page))
                div class="columns" {
                    (navigation(page))
                    main id="main" tabindex="-1" {
                        @for group in &page.groups { (self::group(group)) }
                        p class="nothing faint" role="status" hidden { "Nothing matches." }
                    }
                }
                script { (PreEscaped(player_script)) (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// The style and the script of players, if the page has any.
fn of_players(page: &Page) -> (&'static str, &'static str) {
    match page.kernels().any(|kernel| kernel.player.is_some()) {
        true => (player::STYLE, player::SCRIPT),
        false => ("", ""),
    }
}

fn header(page: &Page) -> Markup {
    let states = [State::Passed, State::Failed, State::NotRun, State::Ran];
    let number = |state: State| {
        page.kernels()
            .filter(|kernel| kernel.state() == state)
            .count()
    };
    let tally = states.map(|state| (state, number(state)));
    html! {
        header {
            h1 { a href="#" { (page.title) } }
            p class="tally" {
                @for (state, n) in tally {
                    @if n > 0 || matches!(state, State::Failed | State::NotRun) {
                        span class=[(n > 0).then_some(state.class())] { (n) " " (state.words()) }
                    }
                }
            }
            ul class="facts faint" { @for fact in &page.facts { li { (fact) } } }
        }
    }
}

fn navigation(page: &Page) -> Markup {
    html! {
        nav class="groups" aria-label="Groups" {
            details open {
                summary { "Contents" }
                div class="filter" hidden {
                    label for="filter" { "Filter" }
                    input id="filter" type="search" autocomplete="off" spellcheck="false";
                }
                ul {
                    li { a href="#" { "All" } }
                    @for group in &page.groups {
                        li {
                            a href=(format!("#{}", group.anchor())) { (group.title) }
                            @if group.kernels.iter().any(|kernel| kernel.state() == State::Failed) {
                                " " span class="badge bad" { "failed" }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn group(group: &Group) -> Markup {
    let anchor = group.anchor();
    let name = format!("{anchor}/title");
    html! {
        section class="group" id=(anchor) aria-labelledby=(name) tabindex="-1" {
            h2 id=(name) { a href=(format!("#{anchor}")) { (group.title) } }
            p class="idea" {
                (group.idea)
                @if let Some(file) = &group.file { " " code class="faint" { (file) } }
            }
            (table::of(group))
            @if !group.pictures.is_empty() {
                div class="pictures" { @for (at, picture) in group.pictures.iter().enumerate() { (self::picture(at, picture)) } }
            }
            div class="kernels" { @for kernel in &group.kernels { (article::of(group, kernel)) } }
            (packed::of(group))
        }
    }
}

fn picture(at: usize, picture: &Picture) -> Markup {
    html! {
        figure class="picture" {
            figcaption {
                h3 { (picture.title) }
                p class="faint" { (picture.caption) }
            }
            @if packed::is_packed(picture) {
                noscript { p class="faint" { "It is packed; unfolding it needs JavaScript." } }
                div class="unfolds" data-picture=(at) tabindex="0" role="group" aria-label=(picture.title) {}
            } @else {
                (PreEscaped(&picture.svg))
            }
            @if let Some((headings, rows)) = &picture.table {
                details {
                    summary { "As a table" }
                    table {
                        thead { tr { @for heading in headings { th scope="col" { (heading) } } } }
                        tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
                    }
                }
            }
        }
    }
}
