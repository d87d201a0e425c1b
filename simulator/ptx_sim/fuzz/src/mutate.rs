//! The mutator, which changes a text of PTX into another that is nearly PTX: it replaces a
//! modifier, a register, a label or a number, moves a line, or adds an instruction.

use std::ops::Range;

use crate::forms;
use crate::random::Random;
use crate::words::{LINES, NUMBERS, SPECIAL};

/// Changes `data[..size]` in place; gives its new size. For `libfuzzer_sys::fuzz_mutator!`.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let random = &mut Random(u64::from(seed));
    if random.once_in(20) {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    let mut text = String::from_utf8_lossy(&data[..size]).into_owned();
    for _ in 0..1 + random.below(3) + random.below(2) * random.below(6) {
        change(&mut text, random);
    }
    let most = max_size.min(data.len());
    let end = (0..=most.min(text.len())).rfind(|&i| text.is_char_boundary(i));
    let bytes = &text.as_bytes()[..end.unwrap_or(0)];
    data[..bytes.len()].copy_from_slice(bytes);
    bytes.len()
}

/// Puts lines of one text into another. For `libfuzzer_sys::fuzz_crossover!`.
pub fn cross(one: &[u8], other: &[u8], out: &mut [u8], seed: u32) -> usize {
    let random = &mut Random(u64::from(seed));
    let (one, other) = (String::from_utf8_lossy(one), String::from_utf8_lossy(other));
    let mut lines: Vec<&str> = one.lines().collect();
    let others: Vec<&str> = other.lines().collect();
    let start = random.below(others.len());
    let n = 1 + random.below(8);
    let taken = others.iter().skip(start).take(n);
    let at = random.below(lines.len() + 1);
    lines.splice(at..at, taken.copied());
    let text = lines.join("\n");
    let n_bytes = text.len().min(out.len());
    out[..n_bytes].copy_from_slice(&text.as_bytes()[..n_bytes]);
    n_bytes
}

/// One change.
fn change(text: &mut String, random: &mut Random) {
    match random.below(20) {
        0..4 => modifier(text, random),
        4..9 => operand(text, random),
        9..11 => number(text, random),
        11 => guard(text, random),
        12..14 => line(text, random),
        14..18 => instruction(text, random),
        18 => opcode(text, random),
        _ => header(text, random),
    }
}

/// A character of a word; a dot belongs to it.
fn in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.' | ':')
}

/// The places of words.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (i, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (in_word(c), start) {
            (true, None) => start = Some(i),
            (false, Some(s)) => {
                found.push(s..i);
                start = None;
            }
            _ => {}
        }
    }
    found
}

/// A word that `is` one of a kind.
fn find(text: &str, random: &mut Random, is: impl Fn(&str) -> bool) -> Option<Range<usize>> {
    let all: Vec<_> = words(text)
        .into_iter()
        .filter(|w| is(&text[w.clone()]))
        .collect();
    random.of(&all).cloned()
}

fn is_opcode(word: &str) -> bool {
    let mut parts = word.split('.');
    parts
        .next()
        .is_some_and(|p| p.starts_with(|c: char| c.is_ascii_lowercase()))
        && parts.next().is_some()
}

fn is_register(word: &str) -> bool {
    word.len() > 1 && word.starts_with('%')
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// A name: of a variable, a function, a label.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$'))
        && !word.contains('.')
}

/// Changes a modifier of an opcode, or a directive's type.
fn modifier(text: &mut String, random: &mut Random) {
    let directives = random.once_in(6);
    let Some(word) = find(text, random, |w| {
        is_opcode(w) || directives && w.starts_with('.')
    }) else {
        return;
    };
    let mut parts: Vec<&str> = text[word.clone()].split('.').collect();
    let at = 1 + random.below(parts.len() - 1);
    let wants_type = forms::is_type(parts[at]) != random.once_in(8);
    let pool = forms::modifiers(wants_type);
    let new = random.of(pool).copied().unwrap_or("");
    match random.below(6) {
        0 => drop(parts.remove(at)),
        1 => parts.insert(at, new),
        _ => parts[at] = new,
    }
    let new = parts.join(".");
    text.replace_range(word, &new);
}

fn opcode(text: &mut String, random: &mut Random) {
    let Some(word) = find(text, random, is_opcode) else {
        return;
    };
    let form = forms::any(random);
    let all = random.once_in(2);
    let new = form.split_whitespace().next().unwrap_or("");
    let old = text[word.clone()].to_owned();
    let new = match (all, old.split_once('.')) {
        (false, Some((_, modifiers))) => {
            format!("{}.{modifiers}", new.split('.').next().unwrap_or(""))
        }
        _ => new.to_owned(),
    };
    text.replace_range(word, &new);
}

/// A register's name without its number.
fn family(register: &str) -> &str {
    register.trim_end_matches(|c: char| c.is_ascii_digit())
}

fn operand(text: &mut String, random: &mut Random) {
    let any = random.once_in(5);
    let Some(word) = find(text, random, |w| {
        is_register(w) || any && (is_name(w) || is_number(w))
    }) else {
        return;
    };
    let old = text[word.clone()].to_owned();
    let new = match random.below(16) {
        0..7 => {
            let like = find(text, random, |w| {
                is_register(w) && family(w) == family(&old)
            });
            like.map_or(old, |w| text[w].to_owned())
        }
        7..9 => find(text, random, is_register).map_or(old, |w| text[w].to_owned()),
        9 => random.of(&SPECIAL).map_or(old, |&s| s.to_owned()),
        10 | 11 => random.of(&NUMBERS).map_or(old, |&s| s.to_owned()),
        12 => find(text, random, is_name).map_or(old, |w| text[w].to_owned()),
        13 => match random.below(9) {
            0 => "_".to_owned(),
            1 => format!("-{old}"),
            2 => format!("!{old}"),
            3 => format!("{old}|{old}"),
            4 => format!("[{old}]"),
            5 => format!("[{old}+{}]", random.of(&NUMBERS).unwrap_or(&"")),
            6 => format!("{old}.{}", ["b0", "b3", "h1", "x", "w"][random.below(5)]),
            7 => format!("{old}+{}", random.of(&NUMBERS).unwrap_or(&"")),
            _ => format!("{old}, {old}"),
        },
        14 => {
            let n = 1 + random.below(8);
            let like = |random: &mut Random| {
                let found = find(text, random, |w| {
                    is_register(w) && family(w) == family(&old)
                });
                found.map_or(old.clone(), |w| text[w].to_owned())
            };
            let parts: Vec<String> = (0..n).map(|_| like(random)).collect();
            format!("{{{}}}", parts.join(", "))
        }
        _ => String::new(),
    };
    text.replace_range(word, &new);
}

fn number(text: &mut String, random: &mut Random) {
    let Some(word) = find(text, random, is_number) else {
        return;
    };
    let old = text[word.clone()].parse::<i128>();
    let new = match (old, random.below(3)) {
        (Ok(old), 0) => {
            let by = [-1, 1, 2, 4, 31, 32][random.below(6)];
            format!(
                "{}",
                if random.once_in(3) {
                    old * by
                } else {
                    old + by
                }
            )
        }
        _ => random.of(&NUMBERS).copied().unwrap_or("0").to_owned(),
    };
    text.replace_range(word, &new);
}

/// Where lines begin and end, the ends without their newlines.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let pieces = text.split_inclusive('\n').map(|line| {
        let range = start..start + line.trim_end_matches('\n').len();
        start += line.len();
        range
    });
    pieces.collect()
}

/// Adds a guard to an instruction, or removes it.
fn guard(text: &mut String, random: &mut Random) {
    let Some(word) = find(text, random, is_opcode) else {
        return;
    };
    let before = text[..word.start]
        .trim_end()
        .rfind(['\n', ';', '{', '}', ':']);
    let start = before.map_or(0, |i| i + 1);
    let guard = match (random.below(4), predicate(text, random)) {
        (0, _) | (_, None) => String::new(),
        (1, Some(p)) => format!(" @!{p} "),
        (_, Some(p)) => format!(" @{p} "),
    };
    text.replace_range(start..word.start, &guard);
}

/// Some predicate of the text.
fn predicate(text: &str, random: &mut Random) -> Option<String> {
    of_class(text, "%p", random)
}

/// Copies, deletes or moves a line, or adds a label or a declaration.
fn line(text: &mut String, random: &mut Random) {
    let all = lines(text);
    let Some(line) = random.of(&all).cloned() else {
        return;
    };
    let copied = text[line.clone()].to_owned();
    let to = random.of(&all).map_or(0, |l| l.start);
    match random.below(8) {
        0 => text.replace_range(line, ""),
        1 => text.insert_str(to, &format!("{copied}\n")),
        2 | 3 => {
            let copies = format!("{copied}\n").repeat(1 + random.below(4));
            text.insert_str(to, &copies);
            let shift = if to <= line.start { copies.len() } else { 0 };
            text.replace_range(line.start + shift..line.end + shift, "");
        }
        4 => {
            let label = find(text, random, is_name).map(|w| text[w].to_owned());
            let label = label.unwrap_or_else(|| "LZ".to_owned());
            let guard = predicate(text, random).map_or(String::new(), |p| format!("@{p} "));
            text.insert_str(to, &format!("{guard}bra {label};\n"));
        }
        5 => text.insert_str(to, &format!("LZ{}:\n", random.below(3))),
        6 => {
            // A label elsewhere.
            let labels = all
                .iter()
                .filter(|l| text[(*l).clone()].trim_end().ends_with(':'));
            let labels: Vec<_> = labels.cloned().collect();
            let Some(label) = random.of(&labels).cloned() else {
                return;
            };
            let copied = format!("{}\n", &text[label.clone()]);
            text.replace_range(label.clone(), "");
            let to = if to > label.start {
                to - (label.end - label.start)
            } else {
                to
            };
            if text.is_char_boundary(to) && to <= text.len() {
                text.insert_str(to, &copied);
            }
        }
        _ => text.insert_str(to, &format!("{}\n", random.of(LINES).unwrap_or(&""))),
    }
}

/// A register that the text declares, of a class as `tests/supported` names them.
fn of_class(text: &str, class: &str, random: &mut Random) -> Option<String> {
    let types: &[&str] = match class {
        "%p" => &[".pred"],
        "%h" => &[".b16", ".u16", ".s16", ".f16", ".bf16"],
        "%r" => &[".b32", ".u32", ".s32", ".f32", ".f16x2"],
        "%d" => &[".b64", ".u64", ".s64", ".f64"],
        _ => &[".b128"],
    };
    let mut found = Vec::new();
    for declaration in text.split(".reg").skip(1) {
        let declaration = declaration.split(';').next().unwrap_or("").trim_start();
        let Some((kind, names)) = declaration.split_once(char::is_whitespace) else {
            continue;
        };
        if types.contains(&kind) {
            found.extend(names.split(',').map(|name| name.trim()));
        }
    }
    let name = random.of(&found)?;
    Some(match name.split_once('<') {
        None => (*name).to_owned(),
        Some((family, count)) => {
            let count = count.trim_end_matches('>').trim().parse::<u64>().ok()?;
            format!("{family}{}", random.below(count.min(1 << 16) as usize))
        }
    })
}

/// Adds an instruction, on registers and variables of the text.
fn instruction(text: &mut String, random: &mut Random) {
    let form = forms::any(random);
    let mut made = String::new();
    let mut end = 0;
    let mut missing = false;
    for word in words(&form) {
        made.push_str(&form[end..word.start]);
        end = word.end;
        let old = &form[word];
        let class = family(old.split('.').next().unwrap_or(old));
        let is_class = matches!(class, "%p" | "%h" | "%r" | "%d" | "%q");
        let new = if is_class {
            let new = of_class(text, class, random);
            missing |= new.is_none();
            let part = old
                .split_once('.')
                .map_or(String::new(), |(_, part)| format!(".{part}"));
            new.map(|new| new + &part)
        } else if matches!(old, "param" | "shared" | "local" | "data" | "END") {
            Some(symbol(text, old, random))
        } else {
            None
        };
        made.push_str(new.as_deref().unwrap_or(old));
    }
    made.push_str(&form[end..]);
    let guard = if random.once_in(6) {
        predicate(text, random)
    } else {
        None
    };
    let guard = guard.map_or(String::new(), |p| format!("@{p} "));
    let made = if missing {
        format!(
            "{{ .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %d<9>; \
             .reg .b128 %q<3>; {guard}{form}; }}\n"
        )
    } else {
        format!("{guard}{made};\n")
    };
    let starts: Vec<usize> = lines(text)
        .into_iter()
        .filter(|l| text[..l.start].trim_end().ends_with([';', '{', '}', ':']))
        .map(|l| l.start)
        .collect();
    if let Some(&at) = random.of(&starts) {
        text.insert_str(at, &made);
    }
}

/// A variable, a parameter or a label of the text, or a register that may hold an address.
fn symbol(text: &str, kind: &str, random: &mut Random) -> String {
    let directive = match kind {
        "param" => ".param",
        "shared" => ".shared",
        "local" => ".local",
        "data" => ".global",
        _ => {
            let labels: Vec<&str> = text
                .lines()
                .filter_map(|l| l.trim().strip_suffix(':'))
                .filter(|l| is_name(l))
                .collect();
            return random.of(&labels).map_or("END", |l| l).to_owned();
        }
    };
    let declared: Vec<&str> = text
        .split(directive)
        .skip(1)
        .filter_map(|rest| {
            let declaration = rest.split([';', '=', '[', ')', ',', '{']).next()?;
            declaration.split_whitespace().next_back()
        })
        .filter(|name| is_name(name))
        .collect();
    if kind != "param" && random.once_in(3) {
        let register = of_class(text, if kind == "data" { "%d" } else { "%r" }, random);
        return register.unwrap_or_else(|| kind.to_owned());
    }
    random.of(&declared).map_or(kind, |name| name).to_owned()
}

/// Changes how the text is launched, or what it is for.
fn header(text: &mut String, random: &mut Random) {
    if random.once_in(8) {
        let targets = [
            "sm_50", "sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100",
        ];
        if let Some(at) = text.find(".target") {
            let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
            text.replace_range(
                at..end,
                &format!(".target {}", targets[random.below(targets.len())]),
            );
        }
        return;
    }
    let first = format!("//{:016x}", random.next());
    match text.get(..18) {
        Some(old) if old.starts_with("//") && !old.contains('\n') => {
            text.replace_range(..18, &first)
        }
        _ => text.insert_str(0, &(first + "\n")),
    }
}
