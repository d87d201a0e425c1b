//! A small launch with a source file, and the view of it on a screen in memory.

use debugger::Debugger;
use debugger::sources::Sources;
use debugger_view::draw::draw;
use debugger_view::view::{Flow, View};
use ptx_sim::{Device, Module};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The source that the PTX claims to come from.
pub const SOURCE: &str = "\
// A tile is written by columns, and its first one is read.
const ROW: usize = 32;

fn place(row: usize, column: usize) -> usize {
    row * ROW + column
}

pub fn turn(input: &[f32], out: &mut [f32]) {
    let (x, y, out) = (tid.x, tid.y, &mut out[64 * ctaid.x..]);
    let mut value = input[place(y, x)];
    if x < 16 {
        value *= 2.0;
    }
    TILE[place(x, y)] = value;
    sync_threads();
    out[place(y, x)] = TILE[place(x, 0)];
}
";

/// The kernel, with `BARRIER` where threads wait for each other.
pub const PTX: &str = "\
.version 8.0
.target sm_90
.address_size 64
.file 1 \"tile.rs\"
.visible .entry turn(.param .u64 input, .param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<10>;
    .reg .f32 %f<5>;
    .reg .b64 %rd<8>;
    .shared .align 4 .b8 TILE[4096];

    .loc 1 9 18
    ld.param.u64 %rd1, [input];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    mov.u32 %r9, %ctaid.x;
    mad.wide.u32 %rd2, %r9, 256, %rd2;
    .loc 1 5 5, function_name NAME, inlined_at 1 10 27
    shl.b32 %r3, %r2, 5;
    add.s32 %r4, %r3, %r1;
    .loc 1 10 21
    mul.wide.u32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4];
    .loc 1 11 8
    setp.lt.u32 %p1, %r1, 16;
    @!%p1 bra AFTER;
    .loc 1 12 9
    add.f32 %f1, %f1, %f1;
AFTER:
    .loc 1 5 5, function_name NAME, inlined_at 1 14 10
    shl.b32 %r5, %r1, 5;
    add.s32 %r6, %r5, %r2;
    .loc 1 14 5
    shl.b32 %r6, %r6, 2;
    mov.u32 %r7, TILE;
    add.s32 %r7, %r7, %r6;
    st.shared.f32 [%r7], %f1;
    .loc 1 15 5
    BARRIER
    .loc 1 16 24
    shl.b32 %r8, %r5, 2;
    mov.u32 %r9, TILE;
    add.s32 %r9, %r9, %r8;
    ld.shared.f32 %f2, [%r9];
    add.s64 %rd5, %rd2, %rd3;
    @%p1 st.global.f32 [%rd5], %f2;
    .loc 1 17 2
    ret;
NAME:
}
";

/// The view of a launch, and its screen.
pub struct Bench<'d, 's, 'w, 'o> {
    pub debugger: &'d mut Debugger<'s, 'w, 'o>,
    pub view: View,
    pub terminal: Terminal<TestBackend>,
}

/// Debugs the launch on a screen of some size.
pub fn with_view<R>(
    barrier: &str,
    (width, height): (u16, u16),
    f: impl FnOnce(&mut Bench<'_, '_, '_, '_>) -> R,
) -> R {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("tile.rs"), SOURCE).expect("written");
    let text = PTX.replace("BARRIER", barrier);
    let module = Module::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    let device = Device::new();
    let loaded = device.load(&module).expect("a module");
    let numbers: Vec<f32> = (0..128).map(|n| n as f32).collect();
    let [input, out] = ["input", "out"].map(|label| device.upload(&numbers, label).expect("room"));
    let call = device.call(&loaded, "turn").grid(2).block([32, 2]);
    let debugged = call.arg(input).arg(out).debug(|session| {
        let mut debugger = Debugger::new(session, Sources::new([folder.path().to_owned()]));
        let view = View::new(&debugger);
        let terminal = Terminal::new(TestBackend::new(width, height)).expect("a screen");
        f(&mut Bench {
            debugger: &mut debugger,
            view,
            terminal,
        })
    });
    debugged.expect("an allowed launch").0
}

impl Bench<'_, '_, '_, '_> {
    /// Types characters.
    pub fn type_in(&mut self, text: &str) -> Flow {
        let mut flow = Flow::GoesOn;
        for c in text.chars() {
            flow = self.press(KeyCode::Char(c));
        }
        flow
    }

    /// Types characters, and enters them.
    pub fn enter(&mut self, text: &str) -> Flow {
        self.type_in(text);
        self.press(KeyCode::Enter)
    }

    /// Presses a key.
    pub fn press(&mut self, key: KeyCode) -> Flow {
        let key = KeyEvent::new(key, KeyModifiers::NONE);
        self.view.key(self.debugger, key)
    }

    /// What is on the screen, line by line.
    pub fn screen(&mut self) -> String {
        let Self {
            debugger,
            view,
            terminal,
        } = self;
        terminal
            .draw(|frame| draw(view, debugger, frame))
            .expect("drawn");
        let buffer = terminal.backend().buffer();
        let rows = buffer.content.chunks(buffer.area.width.into());
        let rows = rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>());
        let rows: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
        rows.join("\n")
    }

    /// The line of the screen that has a text.
    pub fn line_with(&mut self, text: &str) -> String {
        let screen = self.screen();
        let line = screen.lines().find(|line| line.contains(text));
        line.unwrap_or_else(|| panic!("no line with {text:?}:\n{screen}"))
            .to_owned()
    }
}
