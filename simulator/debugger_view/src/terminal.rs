//! The terminal: its screen, its keyboard, and how both are left as they were.
//!
//! The launch runs on the thread that calls [`run`], since it is bound to it. Another thread reads
//! the keyboard meanwhile: what is typed waits until the launch is halted, but Esc and Ctrl-C halt
//! it.

use std::fs::OpenOptions;
use std::io::{self, Write, stdout};
use std::panic::{self, PanicHookInfo};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use debugger::Debugger;
use debugger::lines::Talked;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::style::{Modifier, Style};

use crate::draw::draw;
use crate::view::{Flow, View};

/// How often it is looked whether the view is left, and what is said of a launch that runs.
const TICK: Duration = Duration::from_millis(50);
/// A launch that runs for longer is said to run.
const LONG: Duration = Duration::from_millis(300);

/// Shows a launch until the user quits, on the terminal that the process belongs to, whatever its
/// input and output are.
///
/// # Errors
/// There is no terminal, or it does not do what it should.
pub fn run(debugger: &mut Debugger<'_, '_, '_>) -> io::Result<Talked> {
    let interrupt = debugger.session().interrupt();
    let is_left = Arc::default();
    let whole = Whole::enter(&is_left)?;
    let shared = Shared {
        screen: Mutex::new(Screen {
            terminal: Terminal::new(CrosstermBackend::new(output()))?,
            last: Buffer::default(),
        }),
        running: Mutex::default(),
        interrupt,
        was_halted: AtomicBool::new(false),
        is_left,
    };
    let result = thread::scope(|scope| {
        let (send, receive) = channel();
        let _left = Left(&shared.is_left);
        let shared = &shared;
        scope.spawn(move || shared.listen(&send));
        shared.talk(debugger, &receive)
    });
    drop(whole);
    result
}

/// What both threads use.
struct Shared {
    screen: Mutex<Screen>,
    /// Since when the launch runs, if it does.
    running: Mutex<Option<Instant>>,
    /// Halts the launch.
    interrupt: Arc<AtomicBool>,
    /// Whether the user has halted it.
    was_halted: AtomicBool,
    /// Whether the view is left, also by a panic.
    is_left: Arc<AtomicBool>,
}

type Output = Box<dyn Write + Send>;

/// The terminal that the process belongs to.
fn output() -> Output {
    let terminal = OpenOptions::new().write(true).open("/dev/tty");
    match terminal {
        Ok(terminal) => Box::new(io::BufWriter::new(terminal)),
        Err(_) => Box::new(stdout()),
    }
}

struct Screen {
    terminal: Terminal<CrosstermBackend<Output>>,
    /// As it was drawn.
    last: Buffer,
}

/// Ends the other thread.
struct Left<'a>(&'a AtomicBool);

impl Drop for Left<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Draws the view and takes keys, until it is left.
    fn talk(
        &self,
        debugger: &mut Debugger<'_, '_, '_>,
        events: &Receiver<io::Result<Event>>,
    ) -> io::Result<Talked> {
        let mut view = View::new(debugger);
        loop {
            let mut screen = locked(&self.screen);
            let drawn = screen
                .terminal
                .draw(|frame| draw(&mut view, debugger, frame))?;
            screen.last = drawn.buffer.clone();
            drop(screen);
            // The other thread ends only after an error, which it has sent.
            let Ok(event) = events.recv() else {
                return Ok(Talked::default());
            };
            let Event::Key(key) = event? else {
                continue;
            };
            if key.kind == KeyEventKind::Release {
                continue;
            }
            *locked(&self.running) = Some(Instant::now());
            let flow = view.key(debugger, key);
            *locked(&self.running) = None;
            // An interruption that came too late is not for the next run.
            self.interrupt.store(false, Ordering::Relaxed);
            if self.was_halted.swap(false, Ordering::Relaxed) {
                while events.try_recv().is_ok() {}
                "interrupted".clone_into(&mut view.message);
            }
            if flow != Flow::GoesOn {
                return Ok(Talked {
                    has_detached: flow == Flow::Detaches,
                    ..Talked::default()
                });
            }
        }
    }

    /// Reads the keyboard.
    fn listen(&self, events: &Sender<io::Result<Event>>) {
        while !self.is_left.load(Ordering::Relaxed) {
            let event = match event::poll(TICK) {
                Ok(false) => Ok(None),
                Ok(true) => event::read().map(Some),
                Err(error) => Err(error),
            };
            let sent = match event {
                Ok(None) => Ok(()),
                Ok(Some(event)) if is_halt(&event) && self.halt() => Ok(()),
                Ok(Some(event)) => events.send(Ok(event)),
                Err(error) => {
                    // There is nothing more to be read.
                    let _ = events.send(Err(error));
                    return;
                }
            };
            if sent.is_err() {
                return;
            }
            self.say_that_it_runs();
        }
    }

    /// Halts the launch, if it runs.
    fn halt(&self) -> bool {
        let running = locked(&self.running);
        if running.is_some() {
            self.was_halted.store(true, Ordering::Relaxed);
            self.interrupt.store(true, Ordering::Relaxed);
        }
        running.is_some()
    }

    /// Writes in the last line that the launch runs, if it has for a while.
    fn say_that_it_runs(&self) {
        if self.is_left.load(Ordering::Relaxed) {
            return;
        }
        let running = locked(&self.running);
        let Some(since) = running.map(|since| since.elapsed()).filter(|t| *t > LONG) else {
            return;
        };
        let Screen { terminal, last } = &mut *locked(&self.screen);
        let text = match self.was_halted.load(Ordering::Relaxed) {
            false => format!(
                " running for {} s: Esc or Ctrl-C halts it ",
                since.as_secs()
            ),
            true => " being halted ".to_owned(),
        };
        // Only a hint: if it cannot be drawn, what comes next says why.
        let _ = terminal.draw(|frame| {
            let area = frame.area();
            let buffer = frame.buffer_mut();
            if last.area == area {
                buffer.clone_from(last);
            }
            let style = Style::new().add_modifier(Modifier::REVERSED);
            let row = area.bottom().saturating_sub(1);
            buffer.set_stringn(area.x, row, text, area.width.into(), style);
        });
    }
}

/// Whether an event is to halt what runs.
fn is_halt(event: &Event) -> bool {
    event
        .as_key_press_event()
        .is_some_and(|key| match key.code {
            KeyCode::Esc => true,
            KeyCode::Char('c') => key.modifiers.contains(KeyModifiers::CONTROL),
            _ => false,
        })
}

type Hook = dyn Fn(&PanicHookInfo<'_>) + Send + Sync;

/// The terminal as it was, for as long as the view has it: it comes back when this is dropped, and
/// before the message of a panic.
struct Whole {
    hook: Arc<Hook>,
}

impl Whole {
    fn enter(is_left: &Arc<AtomicBool>) -> io::Result<Self> {
        let hook: Arc<Hook> = Arc::from(panic::take_hook());
        let (before, is_left) = (Arc::clone(&hook), Arc::clone(is_left));
        panic::set_hook(Box::new(move |info| {
            // Nothing is to be drawn over the message.
            is_left.store(true, Ordering::Relaxed);
            restore();
            before(info);
        }));
        let whole = Self { hook };
        enable_raw_mode()?;
        execute!(output(), EnterAlternateScreen)?;
        Ok(whole)
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        restore();
        // The hook cannot be changed by a thread that panics.
        if !thread::panicking() {
            let hook = Arc::clone(&self.hook);
            panic::set_hook(Box::new(move |info| hook(info)));
        }
    }
}

/// Gives the terminal back. What fails here cannot be helped.
fn restore() {
    let _ = execute!(output(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}
