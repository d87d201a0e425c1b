//! Launches and searches that someone halts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use debugger::sources::Sources;
use debugger::{Debugger, Direction, Reach, Reason, Unit};
use ptx_sim::debug::{Moment, Probe, Session, Stopped};
use ptx_sim::{Device, Module};

/// Counts for long; the second warp does nothing.
const COUNTS: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 ret;
    mov.u32 %r2, 0;
AGAIN:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p0, %r2, 300000;
    @%p0 bra AGAIN;
    st.global.u32 [%rd1], %r2;
    ret;
}
";

fn with_session(f: impl FnOnce(&mut Session<'_, '_>)) {
    let device = Device::new();
    let module = Module::parse(COUNTS).unwrap_or_else(|error| panic!("{error}"));
    let loaded = device.load(&module).expect("a module");
    let out = device.zeros::<u32>(1, "out").expect("room");
    let debugged = device.call(&loaded, "k").block(64).arg(out).debug(f);
    let (_, report) = debugged.expect("an allowed launch");
    assert!(report.is_ok());
}

/// Wants the launch to halt from some moment on.
#[derive(Clone)]
struct Interrupts(Arc<AtomicBool>, u64);

impl Probe for Interrupts {
    fn step(&mut self, at: &Moment<'_>) -> bool {
        self.0.fetch_or(at.time() == self.1, Ordering::Relaxed);
        false
    }
}

#[test]
fn a_loop_of_one_warp_is_halted_soon() {
    with_session(|session| {
        let probe = Interrupts(session.interrupt(), 10_000);
        let (stopped, _) = session.forwards(probe);
        assert!(matches!(stopped, Stopped::Interrupted), "{stopped:?}");
        assert!(
            (10_000..100_000).contains(&session.time()),
            "{}",
            session.time()
        );
    });
}

#[test]
fn searches_backwards_that_are_halted_find_nothing() {
    with_session(|session| {
        session.go_to(500_000);
        let probe = Interrupts(session.interrupt(), 499_000);
        let found = session.backwards(500_000, &probe, |probe: &Interrupts| Some(probe.1));
        assert_eq!(found, None);
        assert!(session.was_interrupted());
        assert!(!session.was_interrupted());
    });
}

#[test]
fn a_debugger_that_is_halted_stands_where_it_did() {
    with_session(|session| {
        let interrupt = session.interrupt();
        let mut debugger = Debugger::new(session, Sources::new([]));
        debugger.go_to(500_000);
        let want = || interrupt.store(true, Ordering::Relaxed);
        want();
        let back = debugger.go_on(Direction::Backwards);
        want();
        let wrote = debugger.last_write("out[0]").expect("memory");
        for stop in [back, wrote] {
            assert!(matches!(stop.reason, Reason::Interrupted), "{stop:?}");
            assert_eq!(stop.time, 500_000);
        }
        want();
        assert!(debugger.finding().is_none());
        assert_eq!(debugger.session().time(), 500_000);
    });
}

#[test]
fn a_step_that_is_halted_is_not_the_end_of_its_thread() {
    with_session(|session| {
        let interrupt = session.interrupt();
        let mut debugger = Debugger::new(session, Sources::new([]));
        debugger.go_to(1000);
        interrupt.store(true, Ordering::Relaxed);
        let stop = debugger.step(Reach::Out, Unit::Thread, Direction::Forwards);
        assert!(matches!(stop.reason, Reason::Interrupted), "{stop:?}");
        assert!(stop.time >= 1000, "{stop:?}");
    });
}
