//! The debugger by lines of text: a command each, for terminals, pipes and scripts.

use std::io::{self, BufRead, Write};

use crate::debugger::{Debugger, Direction, Stop};
use crate::element::Element;
use crate::expression::NoValue;
use crate::text::product;
use crate::watcher::{Focus, Reach, Unit};
use ptx::suggest;

/// What `help` says.
pub const HELP: &str = "\
Going (each also backwards: with `back`, as `back next`, or in short `rn`)
  step  s            to the next source line, into functions
  next  n            to the next source line, over functions
  out   o            out of the function
  stepi si           to the next PTX instruction
  barrier            to the next barrier
  divergence         to where lanes go different ways next
  continue c         to the next breakpoint, or to the end
      step, next, stepi, barrier: of `block` or `launch`, as `step block`; else of the thread
  goto TIME          to a moment; `goto 0` is the beginning, `goto end` the end
  last-write X  lw   to the last write of an element before this moment, as `lw out[37]`
  finding            to what the checks find; `finding other` to what happened before it

Breakpoints
  break PLACE  b     PLACE: file.rs:41, 41, ptx:120, barrier, divergence,
                     write out[3], read tile[3][5], access out
      with a condition: b 41 if tid.x == 3 && out[0] > 1.5
  delete N           delete one; breaks: list them

Looking
  where w, list l, frames bt, variables v, registers r
  print X p, lanes X (X in all lanes of the warp)
  warps, blocks, waiting (barriers, copies and products in flight), printed
  memory             what has a name; tile NAME: its elements
  shape NAME 32x33   says how many columns NAME has; type NAME f32: of which type it is
  thread X [Y Z]     looks at a thread of this block; block X [Y Z]: of another block
  quit q             lets the launch run to its end; detach: all others of the program, too
";

/// The commands whose names are long enough to be mistyped.
const WORDS: [&str; 37] = [
    "step",
    "next",
    "out",
    "stepi",
    "barrier",
    "divergence",
    "continue",
    "back",
    "goto",
    "last-write",
    "finding",
    "break",
    "watch",
    "rwatch",
    "awatch",
    "delete",
    "breaks",
    "where",
    "list",
    "frames",
    "variables",
    "registers",
    "print",
    "lanes",
    "warps",
    "blocks",
    "waiting",
    "printed",
    "memory",
    "tile",
    "shape",
    "type",
    "thread",
    "block",
    "quit",
    "detach",
    "help",
];

/// What a command leads to.
pub enum Outcome {
    /// Text, and where the launch now is if it has moved.
    Text(String),
    /// The end of the conversation.
    Quit,
    /// The same, and later launches are not to be halted.
    Detach,
}

/// What a conversation was like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Talked {
    /// Commands that were refused.
    pub n_refused: u32,
    /// Whether later launches are not to be halted.
    pub has_detached: bool,
}

/// Carries out a command.
///
/// # Errors
/// What is wrong with it.
pub fn command(debugger: &mut Debugger<'_, '_, '_>, line: &str) -> Result<Outcome, NoValue> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let short = [
        ("rs", "step"),
        ("rn", "next"),
        ("ro", "out"),
        ("rsi", "stepi"),
        ("rc", "continue"),
    ];
    let long = short.iter().find(|(short, _)| *short == word);
    let (word, rest, direction) = match (word, long) {
        ("back", _) => {
            let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            (word, rest.trim(), Direction::Backwards)
        }
        (_, Some((_, long))) => (*long, rest, Direction::Backwards),
        _ => (word, rest, Direction::Forwards),
    };
    match (going(debugger, word, rest, direction)?, direction) {
        (Some(stop), _) => Ok(Outcome::Text(debugger.stop_text(&stop))),
        (None, Direction::Forwards) => looking(debugger, word, rest),
        (None, Direction::Backwards) => {
            Err(NoValue(format!("`back {word}`: no command goes like that")))
        }
    }
}

/// Carries out a command that goes somewhere; none if it is another one.
fn going(
    debugger: &mut Debugger<'_, '_, '_>,
    word: &str,
    rest: &str,
    direction: Direction,
) -> Result<Option<Stop>, NoValue> {
    let reach = match word {
        "step" | "s" => Reach::Into,
        "next" | "n" => Reach::Over,
        "out" | "o" | "finish" => Reach::Out,
        "stepi" | "si" => Reach::Instruction,
        "barrier" => Reach::Barrier,
        "divergence" => Reach::Divergence,
        "continue" | "c" => return Ok(Some(debugger.go_on(direction))),
        _ => return Ok(None),
    };
    let unit = match rest {
        "" | "thread" | "warp" => Unit::Thread,
        "block" => Unit::Block,
        "launch" => Unit::Launch,
        other => {
            return Err(NoValue(format!(
                "`{other}`: a step is of the `thread`, of its `block` or of the `launch`"
            )));
        }
    };
    Ok(Some(debugger.step(reach, unit, direction)))
}

fn looking(
    debugger: &mut Debugger<'_, '_, '_>,
    word: &str,
    rest: &str,
) -> Result<Outcome, NoValue> {
    let text = match word {
        "" => String::new(),
        "help" | "h" | "?" => HELP.trim_end().to_owned(),
        "quit" | "q" | "exit" => return Ok(Outcome::Quit),
        "detach" => return Ok(Outcome::Detach),
        "goto" => {
            let time = match rest {
                "end" => u64::MAX,
                time => time.replace(',', "").parse().map_err(|_| {
                    NoValue(format!("`{rest}` is not a time: give a number, or `end`"))
                })?,
            };
            let stop = debugger.go_to(time);
            debugger.stop_text(&stop)
        }
        "last-write" | "lw" => {
            let stop = debugger.last_write(rest)?;
            debugger.stop_text(&stop)
        }
        "finding" => finding(debugger, rest)?,
        "break" | "b" | "watch" | "rwatch" | "awatch" | "delete" | "breaks" => {
            breakpoints(debugger, word, rest)?
        }
        "where" | "w" => debugger.where_text(),
        "list" | "l" => debugger.list_text(rest.parse().ok()),
        "frames" | "bt" | "backtrace" => debugger.frames_text(),
        "registers" | "r" => debugger.registers_text(),
        "variables" | "v" => debugger.variables_text(),
        "print" | "p" => format!("{rest} = {}", debugger.print(rest)?),
        "lanes" => debugger.lanes_text(rest)?,
        "warps" => debugger.warps_text(),
        "blocks" => debugger.blocks_text(),
        "waiting" => debugger.waiting_text(),
        "printed" => debugger.session().printed(0).concat().trim_end().to_owned(),
        "memory" => debugger.memory_text(),
        "tile" | "shape" | "type" => memory(debugger, word, rest)?,
        "thread" | "block" => thread(debugger, word, rest)?,
        other => {
            let meant = suggest::question(suggest::nearest(other, WORDS.iter().copied()));
            return Err(NoValue(format!(
                "there is no command `{other}`{meant} (`help` names all)"
            )));
        }
    };
    Ok(Outcome::Text(text))
}

fn finding(debugger: &mut Debugger<'_, '_, '_>, rest: &str) -> Result<String, NoValue> {
    let is_other = match rest {
        "" => false,
        "other" => true,
        other => {
            return Err(NoValue(format!(
                "`finding {other}`: `finding` or `finding other`"
            )));
        }
    };
    if let Some(stop) = debugger.go_to_finding(is_other) {
        return Ok(debugger.stop_text(&stop));
    }
    Err(NoValue(match debugger.finding() {
        Some(_) => "what the checks find has no other side".to_owned(),
        None if is_other => "the checks find nothing that has another side".to_owned(),
        None => "the checks find nothing in this launch".to_owned(),
    }))
}

fn breakpoints(
    debugger: &mut Debugger<'_, '_, '_>,
    word: &str,
    rest: &str,
) -> Result<String, NoValue> {
    let place = match word {
        "breaks" => {
            let all = debugger.breakpoints().iter();
            let all: Vec<String> = all.map(|b| format!("{:>3}  {}", b.id, b.text)).collect();
            return Ok(match all.is_empty() {
                true => "there are no breakpoints".to_owned(),
                false => all.join("\n"),
            });
        }
        "delete" => {
            let id = rest.parse().ok();
            return match id.is_some_and(|id| debugger.remove_breakpoint(id)) {
                true => Ok(format!("breakpoint {rest} is gone")),
                false => Err(NoValue(format!("there is no breakpoint `{rest}`"))),
            };
        }
        "watch" => format!("write {rest}"),
        "rwatch" => format!("read {rest}"),
        "awatch" => format!("access {rest}"),
        _ => rest.to_owned(),
    };
    let id = debugger.add_breakpoint(&place)?;
    Ok(format!("breakpoint {id}: {place}"))
}

fn memory(debugger: &mut Debugger<'_, '_, '_>, word: &str, rest: &str) -> Result<String, NoValue> {
    let (name, what) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let Some(named) = debugger.names().find(name).cloned() else {
        return Err(NoValue(format!(
            "there is no memory `{name}`; `memory` lists what there is"
        )));
    };
    match word {
        "tile" => Ok(debugger.tile_text(&named)),
        "shape" => {
            let columns = what.rsplit('x').next().and_then(|n| n.trim().parse().ok());
            let columns = columns.filter(|&n: &u64| n > 0);
            let columns = columns.ok_or_else(|| {
                NoValue(format!(
                    "`{what}` is not a shape: give rows and columns, such as 32x33"
                ))
            })?;
            debugger.names_mut().set_columns(name, Some(columns));
            Ok(format!("{name} has rows of {columns}"))
        }
        _ => {
            let element = Element::named(what.trim());
            let element = element.ok_or_else(|| NoValue(format!("`{what}` is not a type")))?;
            debugger.names_mut().set_element(name, element);
            Ok(format!("{name} is of {element}"))
        }
    }
}

fn thread(debugger: &mut Debugger<'_, '_, '_>, word: &str, rest: &str) -> Result<String, NoValue> {
    let mut at = [0; 3];
    let words: Vec<&str> = rest
        .split([' ', ','])
        .filter(|word| !word.is_empty())
        .collect();
    if words.is_empty() || words.len() > 3 {
        return Err(NoValue(format!("`{word}` takes one to three numbers")));
    }
    for (to, word) in at.iter_mut().zip(words) {
        *to = word
            .parse()
            .map_err(|_| NoValue(format!("`{word}` is not a number")))?;
    }
    let focus = debugger.focus();
    let (ctaid, tid) = debugger
        .session()
        .thread(focus.block, focus.warp, focus.lane);
    let found = match word {
        "thread" => debugger.session().find_thread(ctaid, at),
        _ => debugger.session().find_thread(at, tid),
    };
    let Some((block, warp, lane)) = found else {
        let (grid, block) = debugger.session().shape();
        let [grid, block] = [grid, block].map(product);
        return Err(NoValue(format!(
            "there is no such {word}: the launch has {grid} blocks of {block} threads"
        )));
    };
    debugger.look_at(Focus { block, warp, lane })?;
    Ok(debugger.where_text())
}

/// Talks with someone who writes commands. An empty line repeats the last one.
///
/// # Errors
/// Reading or writing fails.
pub fn talk(
    debugger: &mut Debugger<'_, '_, '_>,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
    prompt: &str,
) -> io::Result<Talked> {
    let mut talked = Talked::default();
    let mut last = String::new();
    loop {
        write!(output, "{prompt}")?;
        output.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(talked);
        }
        let line = line.trim();
        let is_for_no_one = line.starts_with('#') || (line.is_empty() && prompt.is_empty());
        if is_for_no_one {
            continue;
        }
        if prompt.is_empty() {
            writeln!(output, "> {line}")?;
        }
        let line = match line.is_empty() {
            true => last.clone(),
            false => line.to_owned(),
        };
        match command(debugger, &line) {
            Ok(Outcome::Text(text)) if text.is_empty() => {}
            Ok(Outcome::Text(text)) => writeln!(output, "{text}")?,
            Ok(Outcome::Quit) => return Ok(talked),
            Ok(Outcome::Detach) => {
                talked.has_detached = true;
                return Ok(talked);
            }
            Err(error) => {
                talked.n_refused += 1;
                writeln!(output, "error: {error}")?;
            }
        }
        last = line;
    }
}
