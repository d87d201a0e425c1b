//! One source file, read by its tokens.
//!
//! Items under `#[cfg(test)]` are left out: tests may look at anything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// An alias: a name that a `use` gives in its module, and the path that it
/// stands for.
pub struct Use {
    /// The module that has it.
    pub module: Vec<String>,
    /// The name; `*` for all names.
    pub name: String,
    /// What it stands for, from the crate's root.
    pub path: Vec<String>,
    /// Whether other modules may use the name: `pub`, `pub(crate)`, ….
    pub is_export: bool,
}

/// A function.
pub struct Function {
    /// Its name.
    pub name: String,
    /// The line of its `fn`, and that of its closing brace.
    pub lines: (usize, usize),
}

impl Function {
    /// The number of its lines.
    pub fn n_lines(&self) -> usize {
        self.lines.1 - self.lines.0 + 1
    }
}

/// A file.
pub struct Source {
    /// Its path below `src`.
    pub file: String,
    /// The module that it is.
    pub module: Vec<String>,
    /// Modules that it declares: other files, and (true) inline modules.
    pub children: BTreeMap<Vec<String>, bool>,
    /// The files of those that name theirs: `#[path = "01_copy.rs"]`.
    pub named_files: BTreeMap<Vec<String>, String>,
    /// Aliases.
    pub uses: Vec<Use>,
    /// Paths outside `use`, with the modules that have them.
    pub paths: Vec<(Vec<String>, Vec<String>)>,
    /// Names outside `use`.
    pub names: BTreeSet<String>,
    /// Functions, those in macros included.
    pub functions: Vec<Function>,
}

/// A module, the files that it may be in, and whether its own modules' files lie next to it.
type Waiting = (Vec<String>, Vec<String>, bool);

/// Reads a crate, from its `lib.rs` on, or from `main.rs` if it has no library.
///
/// # Panics
///
/// A module has no file, or one that is not Rust.
pub fn read(src: &Path) -> Vec<Source> {
    let text = |file: &str| std::fs::read_to_string(src.join(file)).ok();
    let mut sources = Vec::new();
    let roots = ["lib.rs", "main.rs"].map(str::to_owned).to_vec();
    let mut waiting: Vec<Waiting> = vec![(Vec::new(), roots, true)];
    while let Some((module, files, is_folders)) = waiting.pop() {
        let (file, text) = files
            .iter()
            .find_map(|file| Some((file, text(file)?)))
            .unwrap_or_else(|| panic!("no file for the module {module:?}"));
        let depth = module.len();
        let source = Source::of(file, module, &text);
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let has_folder = is_folders || file.ends_with("/mod.rs");
        let below = match has_folder {
            true => folder,
            false => file.trim_end_matches(".rs"),
        };
        let in_files = source.children.iter().filter(|(_, is_inline)| !**is_inline);
        waiting.extend(in_files.map(|(child, _)| {
            let files = match source.named_files.get(child) {
                Some(name) => vec![join(folder, name)],
                None => {
                    let stem = join(below, &child[depth..].join("/"));
                    vec![format!("{stem}.rs"), format!("{stem}/mod.rs")]
                }
            };
            (child.clone(), files, source.named_files.contains_key(child))
        }));
        sources.push(source);
    }
    sources
}

fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

impl Source {
    /// A file's text, read as this module.
    ///
    /// # Panics
    ///
    /// It is not Rust.
    pub fn of(file: &str, module: Vec<String>, text: &str) -> Self {
        let mut source = Self {
            file: file.to_owned(),
            module: module.clone(),
            children: BTreeMap::new(),
            named_files: BTreeMap::new(),
            uses: Vec::new(),
            paths: Vec::new(),
            names: BTreeSet::new(),
            functions: Vec::new(),
        };
        let tokens: TokenStream = text
            .parse()
            .unwrap_or_else(|error| panic!("{file} is not Rust: {error}"));
        source.scan(tokens, &module);
        source
    }

    fn scan(&mut self, tokens: TokenStream, module: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at = self.scan_at(&tokens, at, module);
        }
    }

    /// Reads what begins at a token; returns where the next begins.
    fn scan_at(&mut self, tokens: &[TokenTree], at: usize, module: &[String]) -> usize {
        match &tokens[at] {
            TokenTree::Punct(p) if p.as_char() == '#' => return after_attribute(tokens, at),
            TokenTree::Group(group) => self.scan(group.stream(), module),
            TokenTree::Ident(word) => match word.to_string().as_str() {
                "use" if !is_precise_capture(tokens, at) => {
                    return self.take_use(tokens, at, module);
                }
                "mod" => return self.take_mod(tokens, at, module),
                "fn" => self.note_function(tokens, at),
                _ => return self.take_path(tokens, at, module),
            },
            _ => {}
        }
        at + 1
    }

    /// `use …;`
    fn take_use(&mut self, tokens: &[TokenTree], at: usize, module: &[String]) -> usize {
        let end = (at..tokens.len())
            .find(|&i| is_punct(tokens.get(i), ';'))
            .expect("a use ends in a semicolon");
        let is_export = match tokens[..at].last() {
            Some(TokenTree::Ident(word)) => *word == "pub",
            Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Parenthesis,
            _ => false,
        };
        self.take_use_tree(&tokens[at + 1..end], &[], module, is_export);
        end + 1
    }

    fn take_use_tree(
        &mut self,
        tokens: &[TokenTree],
        before: &[String],
        module: &[String],
        is_export: bool,
    ) {
        let mut path = before.to_vec();
        let mut name = None;
        for (i, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(word) if *word == "as" => {
                    name = tokens.get(i + 1).map(ToString::to_string);
                    break;
                }
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Punct(p) if p.as_char() == '*' => name = Some("*".to_owned()),
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    for tree in inner.split(|token| is_punct(Some(token), ',')) {
                        if !tree.is_empty() {
                            self.take_use_tree(tree, &path, module, is_export);
                        }
                    }
                    return;
                }
                _ => {}
            }
        }
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let last = path.last().cloned().unwrap_or_default();
        self.uses.push(Use {
            module: module.to_vec(),
            name: name.unwrap_or(last),
            path,
            is_export,
        });
    }

    /// `mod name;` or `mod name { … }`
    fn take_mod(&mut self, tokens: &[TokenTree], at: usize, module: &[String]) -> usize {
        let Some(TokenTree::Ident(name)) = tokens.get(at + 1) else {
            return at + 1;
        };
        let mut child = module.to_vec();
        child.push(name.to_string());
        let is_inline = match tokens.get(at + 2) {
            Some(TokenTree::Group(group)) => {
                self.scan(group.stream(), &child);
                true
            }
            _ => false,
        };
        if let Some(file) = named_file(&tokens[..at]) {
            self.named_files.insert(child.clone(), file);
        }
        self.children.insert(child, is_inline);
        at + 3
    }

    /// `fn name … { … }`, but neither a function type nor a function without a body.
    fn note_function(&mut self, tokens: &[TokenTree], at: usize) {
        let Some(TokenTree::Ident(name)) = tokens.get(at + 1) else {
            return;
        };
        let body = tokens[at..].iter().find_map(|token| match token {
            TokenTree::Punct(p) if p.as_char() == ';' => Some(None),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(Some(group)),
            _ => None,
        });
        if let Some(Some(body)) = body {
            self.functions.push(Function {
                name: name.to_string(),
                lines: (tokens[at].span().start().line, body.span_close().end().line),
            });
        }
    }

    /// `a`, or `a::b::c`.
    fn take_path(&mut self, tokens: &[TokenTree], at: usize, module: &[String]) -> usize {
        let mut path = vec![tokens[at].to_string()];
        let mut next = at + 1;
        while is_punct(tokens.get(next), ':')
            && is_punct(tokens.get(next + 1), ':')
            && let Some(TokenTree::Ident(word)) = tokens.get(next + 2)
        {
            path.push(word.to_string());
            next += 3;
        }
        self.names.insert(path[0].clone());
        if path.len() > 1 {
            self.paths.push((module.to_vec(), path));
        }
        next
    }
}

/// Where to go on after an attribute: after its item, if that is for tests only.
fn after_attribute(tokens: &[TokenTree], at: usize) -> usize {
    let Some(TokenTree::Group(attribute)) = tokens.get(at + 1) else {
        return at + 1;
    };
    let text: String = attribute.stream().to_string().split_whitespace().collect();
    if text != "cfg(test)" {
        return at + 2;
    }
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        token => is_punct(Some(token), ';'),
    };
    let item = tokens[at + 2..].iter().position(ends);
    item.map_or(tokens.len(), |n| at + 2 + n + 1)
}

/// The file that a module's attribute `#[path = "…"]` names, among the tokens before `mod`.
fn named_file(before: &[TokenTree]) -> Option<String> {
    let is_visibility = |token: &&TokenTree| match token {
        TokenTree::Ident(word) => *word == "pub",
        TokenTree::Group(group) => group.delimiter() == Delimiter::Parenthesis,
        _ => false,
    };
    let mut before = before.iter().rev().skip_while(is_visibility);
    while let Some(TokenTree::Group(attribute)) = before.next() {
        let text: String = attribute.stream().to_string().split_whitespace().collect();
        let name = text.strip_prefix("path=\"");
        if let Some(name) = name.and_then(|name| name.strip_suffix('"')) {
            return Some(name.to_owned());
        }
        is_punct(before.next(), '#').then_some(())?;
    }
    None
}

/// `impl Trait + use<'a>`
fn is_precise_capture(tokens: &[TokenTree], at: usize) -> bool {
    is_punct(tokens.get(at + 1), '<')
}

fn is_punct(token: Option<&TokenTree>, c: char) -> bool {
    matches!(token, Some(TokenTree::Punct(p)) if p.as_char() == c)
}

#[test]
fn functions_are_measured_from_fn_to_brace() {
    let text = "\
trait T {
    fn declared(&self);
}
/// Not counted.
#[inline]
pub fn f<F: Fn(u32) -> u32>(
    f: fn(u32),
) -> impl Fn() + use<F>
where
    F: Copy,
{
    let text = \"fn g() {\";
    // fn h() {
}

#[cfg(test)]
fn left_out() {
}

macro_rules! m { () => { fn in_macro() {} } }
";
    let source = Source::of("lib.rs", Vec::new(), text);
    let found: Vec<_> = source
        .functions
        .iter()
        .map(|f| (f.name.as_str(), f.lines, f.n_lines()))
        .collect();
    assert_eq!(found, [("f", (6, 14), 9), ("in_macro", (20, 20), 1)]);
}
