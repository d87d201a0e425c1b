//! What the host's program is made of in the kernels' crate: everything but the bodies
//! of functions that only the device runs.
//!
//! The host compiles the kernels' crate as an ordinary library. Of a kernel it uses the
//! name and the parameters, never the body; so when only such bodies changed, the
//! program need not be built again. [`HostView::of`] gives the rest as one number.
//!
//! A body counts as the device's alone if it is a kernel's, or if nothing that the host
//! uses names its function. Of a name only how it stands is looked at ([`Names`]), not what it
//! means there: where that errs, it takes a body for the host's, which costs a build and nothing
//! else.
//!
//! Left out: `#[cfg(test)]` items, which are in no program; and what line an item is on.

use anyhow::Context;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// A number that stands for what the host sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostView(pub u64);

impl HostView {
    /// Of the kernels' sources, for a host whose sources are in `host`; folders.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or is not made of Rust's tokens.
    pub fn of(kernels: &Path, host: &Path) -> anyhow::Result<Self> {
        let mut sources = Sources {
            root: kernels.into(),
            ..Sources::default()
        };
        for path in rust_files(kernels)? {
            sources.files.push(File::at(&path));
            sources.take_items(tokens(&path)?, Items::Free);
        }
        for path in rust_files(host)? {
            let mut file = File::at(&path);
            file.names.add(tokens(&path)?, Place::Code);
            sources.files.push(file);
        }
        Ok(sources.seen())
    }
}

fn tokens(path: &Path) -> anyhow::Result<TokenStream> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    text.parse().map_err(|error| {
        anyhow::anyhow!("{} is not made of Rust's tokens: {error}", path.display())
    })
}

/// The names in a file's code, by how they stand there; what is in text literals is none.
#[derive(Default)]
struct Names {
    /// Those that may be functions' of the file or imported ones.
    bare: HashSet<String>,
    /// Those behind `::`, and those in what is given to a macro or made by one, which may come to
    /// stand there.
    in_paths: HashSet<String>,
    /// Those that may be methods', behind a dot or `::`.
    methods: HashSet<String>,
    /// Those that are imported.
    imported: HashSet<String>,
    /// Whether all names of a module are imported, one of this repository's.
    has_glob: bool,
}

/// Crates whose names are none of this repository's kernels.
const FOREIGN: [&str; 4] = ["alloc", "core", "cuda_std", "std"];

/// Where names stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Code,
    /// In what a macro is given or makes.
    Macro,
    /// In an import from these crates.
    Import {
        is_foreign: bool,
    },
}

impl Names {
    fn add(&mut self, tokens: TokenStream, outer: Place) {
        let mut place = outer;
        // The name or the punctuation before a token.
        let mut before = String::new();
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    let name = name.to_string();
                    if before == "use" {
                        place = Place::Import {
                            is_foreign: FOREIGN.contains(&name.as_str()),
                        };
                    }
                    self.add_name(&name, &before, place);
                    before = name;
                }
                TokenTree::Punct(punct) => {
                    let character = punct.as_char();
                    match (character, place) {
                        (';', _) => place = outer,
                        ('*', Place::Import { is_foreign }) => self.has_glob |= !is_foreign,
                        _ => {}
                    }
                    if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                        before.clear();
                    }
                    before.push(character);
                }
                TokenTree::Group(group) => {
                    let place = match before.as_str() {
                        "!" => Place::Macro,
                        "use" => Place::Import { is_foreign: false },
                        _ => place,
                    };
                    self.add(group.stream(), place);
                    before.clear();
                }
                TokenTree::Literal(_) => before.clear(),
            }
        }
    }

    fn add_name(&mut self, name: &str, before: &str, place: Place) {
        if let Place::Import { .. } = place {
            if name == "as" {
                // Used by another name.
                self.in_paths.insert(before.to_owned());
            }
            self.imported.insert(name.to_owned());
            return;
        }
        let is_in_path = before.ends_with("::");
        let is_member = before.ends_with('.') && !before.ends_with("..");
        if is_member || is_in_path {
            self.methods.insert(name.to_owned());
        }
        if is_in_path || place == Place::Macro {
            self.in_paths.insert(name.to_owned());
        }
        if !is_member && before != "fn" {
            self.bare.insert(name.to_owned());
        }
    }

    /// Whether a function of another file could be meant.
    fn reach(&self, function: &str) -> bool {
        let is_imported = self.has_glob || self.imported.contains(function);
        self.in_paths.contains(function) || is_imported && self.bare.contains(function)
    }
}

/// All Rust files below a folder, in order.
fn rust_files(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut todo = vec![dir.to_path_buf()];
    while let Some(dir) = todo.pop() {
        let entries =
            std::fs::read_dir(&dir).with_context(|| format!("cannot list {}", dir.display()))?;
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The words of a text that could be names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

/// The items of the kernels' crate, bodies apart, and the names that the host uses.
#[derive(Default)]
struct Sources {
    /// The crate's folder.
    root: PathBuf,
    /// What is in no function's body.
    outside: String,
    bodies: Vec<Body>,
    /// Their files, and the host's.
    files: Vec<File>,
}

/// A file, and the names in what the host sees of it.
struct File {
    path: PathBuf,
    names: Names,
}

impl File {
    fn at(path: &Path) -> Self {
        Self {
            path: path.into(),
            names: Names::default(),
        }
    }
}

struct Body {
    function: String,
    is_method: bool,
    tokens: TokenStream,
    /// Its file, by its place among the files.
    file: usize,
    /// The folder of the other files that it can be named in.
    scope: PathBuf,
}

impl Body {
    /// Whether the function could be meant by a name in what the host sees.
    fn is_named_in(&self, files: &[File]) -> bool {
        let (name, own) = (&self.function, &files[self.file].names);
        let in_scope = files
            .iter()
            .filter(|file| file.path.starts_with(&self.scope));
        let mut others = in_scope.map(|file| &file.names);
        match self.is_method {
            true => own.methods.contains(name) || others.any(|names| names.methods.contains(name)),
            false => own.bare.contains(name) || others.any(|names| names.reach(name)),
        }
    }
}

/// What items are of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Items {
    /// A file or a module.
    Free,
    /// An `impl` block.
    Methods,
    /// A macro, which makes them.
    Macro,
}

impl Sources {
    /// Takes items of the last file.
    fn take_items(&mut self, items: TokenStream, of: Items) {
        let mut tokens = items.into_iter().peekable();
        let mut item = Item::default();
        while let Some(token) = tokens.next() {
            if let TokenTree::Ident(word) = &token
                && *word == "fn"
                && let Some(TokenTree::Ident(name)) = tokens.peek()
            {
                item.function = Some(name.to_string());
            }
            let ends = item.push(token);
            if ends {
                self.take(std::mem::take(&mut item), of);
            }
        }
        self.take(item, of);
    }

    fn take(&mut self, item: Item, of: Items) {
        let Some(file) = self.files.last().filter(|_| !item.is_test) else {
            return;
        };
        self.outside += &item.head;
        self.outside.push('\n');
        // What a macro makes may stand in any file.
        let kind = match item.kind() {
            kind if of != Items::Macro || matches!(kind, Kind::Kernel) => kind,
            _ => Kind::Other,
        };
        let scope = item.scope(&self.root, &file.path);
        let mut seen = item.tokens;
        match (kind, item.body.map(|body| body.stream())) {
            (Kind::Kernel, _) | (_, None) => {}
            (Kind::Function(function), Some(tokens)) => self.bodies.push(Body {
                function,
                is_method: of == Items::Methods,
                tokens,
                file: self.files.len() - 1,
                scope,
            }),
            (Kind::Module, Some(body)) => self.take_items(body, of),
            (Kind::Methods, Some(body)) => self.take_items(body, Items::Methods),
            (Kind::Macro, Some(body)) => self.take_macro(body),
            (Kind::Other, Some(body)) => {
                self.outside += &body.to_string();
                seen.push(Group::new(Delimiter::Brace, body).into());
            }
        }
        let place = match of {
            Items::Macro => Place::Macro,
            Items::Free | Items::Methods => Place::Code,
        };
        if let Some(file) = self.files.last_mut() {
            file.names.add(seen.into_iter().collect(), place);
        }
    }

    /// Takes what a macro is made of: its patterns, and the items or expressions for each.
    fn take_macro(&mut self, rules: TokenStream) {
        let mut is_behind_arrow = false;
        for token in rules {
            match token {
                TokenTree::Group(group) if is_behind_arrow => {
                    self.take_items(without_repetition(group.stream()), Items::Macro);
                }
                other => {
                    is_behind_arrow = matches!(&other, TokenTree::Punct(p) if p.as_char() == '>');
                    self.outside += &other.to_string();
                }
            }
        }
    }

    /// What the host sees of it.
    fn seen(mut self) -> HostView {
        let mut hasher = DefaultHasher::new();
        self.outside.hash(&mut hasher);
        let mut unseen = self.bodies;
        loop {
            let is_named = |body: &Body| body.is_named_in(&self.files);
            let (newly, rest): (Vec<Body>, _) = unseen.into_iter().partition(is_named);
            if newly.is_empty() {
                return HostView(hasher.finish());
            }
            for body in newly {
                (&body.function, body.tokens.to_string()).hash(&mut hasher);
                self.files[body.file].names.add(body.tokens, Place::Code);
            }
            unseen = rest;
        }
    }
}

/// What a macro repeats, in place of `$( … )*`.
fn without_repetition(tokens: TokenStream) -> TokenStream {
    let mut all = TokenStream::new();
    let mut is_behind_dollar = false;
    for token in tokens {
        match token {
            TokenTree::Group(group) if is_behind_dollar => {
                all.extend(without_repetition(group.stream()));
                is_behind_dollar = false;
            }
            other => {
                is_behind_dollar = matches!(&other, TokenTree::Punct(p) if p.as_char() == '$');
                all.extend([other]);
            }
        }
    }
    all
}

enum Kind {
    Kernel,
    Function(String),
    Module,
    /// An inherent `impl`.
    Methods,
    Macro,
    Other,
}

/// An item, token by token, up to its body.
#[derive(Default)]
struct Item {
    /// Its tokens without the body, without doc comments.
    head: String,
    /// The same as tokens.
    tokens: Vec<TokenTree>,
    words: Vec<String>,
    /// The name behind `fn`.
    function: Option<String>,
    is_kernel: bool,
    is_test: bool,
    body: Option<Group>,
    after_hash: bool,
}

impl Item {
    /// Takes a token; says whether the item ends with it.
    fn push(&mut self, token: TokenTree) -> bool {
        let after_hash = std::mem::take(&mut self.after_hash);
        self.tokens.push(token.clone());
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => self.after_hash = true,
            TokenTree::Group(group) if after_hash && group.delimiter() == Delimiter::Bracket => {
                self.attribute(&group);
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                // A constant in braces is an argument, not a body.
                if self.head.ends_with("< ") || self.head.ends_with(", ") {
                    self.head += &group.to_string();
                    return false;
                }
                self.tokens.pop();
                self.body = Some(group);
                return true;
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => {
                self.head.push(';');
                return true;
            }
            TokenTree::Ident(word) => {
                self.head += &word.to_string();
                self.head.push(' ');
                self.words.push(word.to_string());
            }
            other => {
                self.head += &other.to_string();
                self.head.push(' ');
            }
        }
        false
    }

    fn attribute(&mut self, group: &Group) {
        let text = group.stream().to_string();
        let name = words(&text).next().unwrap_or_default();
        self.is_kernel |= name == "kernel";
        self.is_test |= name == "cfg" && words(&text).eq(["cfg", "test"]);
        if name != "doc" {
            self.head += &format!("#[{text}] ");
        }
    }

    /// The folder of the other files that it can be named in, by its visibility.
    fn scope(&self, root: &Path, file: &Path) -> PathBuf {
        let is_pub = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if *word == "pub");
        let mut behind = self
            .tokens
            .iter()
            .skip_while(|token| !is_pub(token))
            .skip(1);
        match behind.next() {
            // Of this module and those below it, which are beside its file or deeper.
            None => file.with_file_name(""),
            Some(TokenTree::Group(_)) => root.into(),
            Some(_) => PathBuf::new(),
        }
    }

    fn kind(&self) -> Kind {
        let has = |word: &str| self.words.iter().any(|other| other == word);
        let first = self
            .words
            .iter()
            .find(|word| !["pub", "unsafe", "const", "crate", "super"].contains(&word.as_str()));
        match first.map(String::as_str) {
            Some("fn") if self.is_kernel => Kind::Kernel,
            Some("fn") => self.function.clone().map_or(Kind::Other, Kind::Function),
            Some("mod") => Kind::Module,
            Some("impl") if !has("for") => Kind::Methods,
            Some("macro_rules") => Kind::Macro,
            _ => Kind::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::HostView;

    const KERNELS: &str = "
        //! A lesson.
        pub const TILE: u32 = 32;
        /// Where an element lies.
        pub const fn layout(row: u32, column: u32) -> u32 { helper(row) * TILE + column }
        const fn helper(row: u32) -> u32 { row + 1 }
        unsafe fn turn(tile: *mut f32) { *tile = first_value(); }
        fn first_value() -> f32 { 1.0 }
        fn drain() -> f32 { 6.0 }
        pub fn shares() -> u32 { 7 }
        pub fn by_macro() -> u32 { 8 }
        pub(crate) fn grid() -> u32 { 10 }
        pub(crate) fn helper_of_all() -> u32 { 11 }
        /// # Safety
        #[kernel(launch_bounds(TILE))]
        pub unsafe fn transpose(output: *mut f32) { turn(output); second_step(); }
        pub struct Tile;
        impl Tile {
            pub fn used(&self) -> u32 { 2 }
            fn unused(&self) -> u32 { 3 }
            pub fn unlike(&self) -> u32 { 9 }
        }
        impl Clone for Tile { fn clone(&self) -> Self { Tile } }
        macro_rules! twice { ($x:expr) => { $x + $x } }
        macro_rules! kernels {
            ($($(#[$doc:meta])* $name:ident;)*) => { $(
                $(#[$doc])*
                #[kernel(launch_bounds(TILE))]
                pub unsafe fn $name(output: *mut f64) { drain(); third_step(output); }
            )* };
        }
        #[cfg(test)]
        mod tests { #[test] fn it_works() { assert_eq!(1, 1); } }
    ";

    const HOST: &str = "
        // turn
        use gpu_kernels::{lesson, lesson::{transpose, layout}};
        fn f(all: Vec<u32>) {
            let k = transpose; layout(1, 2); lesson::shares(); tile.used(\"turn it\");
            // Functions of its own, and methods of what it has.
            turn(); first_value(); all.drain(..); tile.unlike(); own::grid();
            other::turn();
            entry!(by_macro);
        }
        macro_rules! entry { ($name:ident) => { lesson::$name() }; }
    ";

    /// Of a lesson with another one beside it, which has functions of the same names.
    const OTHER: &str = "
        use super::lesson::helper_of_all;
        pub fn turn() -> u32 { first_value() + helper_of_all() }
        pub(crate) fn first_value() -> u32 { 1 }
    ";

    fn view(kernels: &str) -> HostView {
        let dir = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("kernels/lesson.rs", kernels),
            ("kernels/other.rs", OTHER),
            ("host/lib.rs", HOST),
        ] {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        HostView::of(&dir.path().join("kernels"), &dir.path().join("host")).unwrap()
    }

    /// The kernels with one thing changed.
    fn changed(from: &str, to: &str) -> HostView {
        assert!(KERNELS.contains(from), "{from}");
        view(&KERNELS.replace(from, to))
    }

    #[test]
    fn bodies_of_kernels_and_of_what_only_they_call_are_not_seen() {
        let all = view(KERNELS);
        for (from, to) in [
            (
                "turn(output); second_step();",
                "second_step(); turn(output);",
            ),
            ("*tile = first_value();", "*tile = 2.0 * first_value();"),
            ("{ 1.0 }", "{ 4.0 }"),
            ("{ 3 }", "{ 4 }"),
            ("{ 6.0 }", "{ 5.0 }"),
            ("{ 10 }", "{ 5 }"),
            (
                "third_step(output);",
                "third_step(output); third_step(output);",
            ),
            ("Where an element lies", "Where it lies"),
            ("assert_eq!(1, 1)", "assert_eq!(2, 2)"),
        ] {
            assert!(changed(from, to) == all, "{from}");
        }
    }

    #[test]
    fn everything_else_is_seen() {
        let all = view(KERNELS);
        for (from, to) in [
            ("TILE: u32 = 32", "TILE: u32 = 64"),
            ("* TILE + column", "* TILE + (column ^ row)"),
            ("{ row + 1 }", "{ row + 2 }"),
            ("launch_bounds(TILE)", "launch_bounds(64)"),
            ("transpose(output: *mut f32)", "transpose(output: *mut f64)"),
            ("{ 2 }", "{ 5 }"),
            ("{ 7 }", "{ 5 }"),
            ("{ 8 }", "{ 5 }"),
            ("{ 9 }", "{ 5 }"),
            ("{ 11 }", "{ 5 }"),
            ("output: *mut f64", "output: *mut f32"),
            ("-> Self { Tile }", "-> Self { Self }"),
            ("{ $x + $x }", "{ 2 * $x }"),
            ("pub struct Tile;", "pub struct Tile; pub struct Other;"),
        ] {
            assert!(changed(from, to) != all, "{from}");
        }
    }

    #[test]
    fn a_constant_in_braces_is_no_body() {
        let with = |n: u32| view(&format!("fn f() -> Array<{{ {n} }}> {{ Array::new() }}"));
        assert!(with(1) != with(2));
    }

    #[test]
    fn what_is_no_rust_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("lib.rs"), "fn f() {").unwrap();
        assert!(HostView::of(dir.path(), dir.path()).is_err());
    }
}
