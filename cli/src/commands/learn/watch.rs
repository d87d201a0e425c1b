//! The current exercise, judged again after every save.

use super::keys::Keys;
use super::session::Session;
use super::words::exit_of;
use crate::commands::exit::{Exit, Stop};
use crate::commands::progress::{say, say_error};
use crate::report::style::FAINT;
use console::Term;
use file_watch::{INTERVAL, Snapshot};
use std::path::PathBuf;
use std::time::Instant;

/// Judges, waits for a save or a key, and judges again, until `q` or Ctrl-C.
pub(super) fn run(session: &mut Session) -> Result<Exit, Stop> {
    let mut keys = Keys::of_terminal();
    loop {
        let place = session.workplace.current();
        let file = PathBuf::from(format!("{}.rs", session.workplace.exercise(place).name));
        let seen = Snapshot::of(session.workplace.dir().into(), vec![file]);
        if keys.is_some() {
            // A terminal that cannot be cleared scrolls instead.
            let _ = Term::stdout().clear_screen();
        }
        let started = Instant::now();
        let exit = match session.check(place) {
            Ok(verdict) => {
                session.tell_verdict(place, &verdict)?;
                exit_of(&verdict)
            }
            // The exercise's own files may be the ones being written.
            Err(Stop::Because(exit, reason)) => {
                say_error(&reason);
                exit
            }
        };
        let keys_shown = match keys {
            Some(_) => "h hint · n next · b back · l list · r reset · s solution · q quit",
            None => "Ctrl-C to quit",
        };
        say(&format!(
            "{FAINT}── {:.1} s; waiting for a save of {} ({keys_shown}){FAINT:#}",
            started.elapsed().as_secs_f64(),
            session.workplace.shown(place)
        ));
        if wait(session, &seen, keys.as_mut()) == Next::End {
            return Ok(exit);
        }
    }
}

/// The next step after waiting.
#[derive(PartialEq)]
enum Next {
    Judge,
    End,
}

/// Waits for a save, or for a key that changes the current exercise.
fn wait(session: &mut Session, seen: &Snapshot, mut keys: Option<&mut Keys>) -> Next {
    loop {
        std::thread::sleep(INTERVAL);
        if seen.settled_change().is_some() {
            // The key thread keeps waiting; it hands over what is typed later.
            return Next::Judge;
        }
        let Some(key) = keys.as_mut().and_then(|keys| keys.typed()) else {
            continue;
        };
        let done = match key {
            'q' => return Next::End,
            'c' | '\n' => return Next::Judge,
            'n' => session.next().map(|_| true),
            'b' => session.back().map(|_| true),
            'r' => session.reset(None).map(|_| true),
            'h' => session.hint(None).map(|_| false),
            'l' => session.list().map(|_| false),
            's' => session.solution(None).map(|_| false),
            _ => Ok(false),
        };
        match done {
            Ok(true) => return Next::Judge,
            Ok(false) => {}
            Err(Stop::Because(_, reason)) => say(&reason),
        }
    }
}
