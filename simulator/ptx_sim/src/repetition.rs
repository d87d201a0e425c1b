//! Warps that repeat themselves: their registers, and the places of their lanes, become
//! what they were before, with no effect in between.
//!
//! Such a warp goes on like that until another thread changes what it loads. It waits, or
//! it never ends.
//!
//! At the ends of time slices the state is compared with a copy of an earlier one, which is
//! remade each time the warp has executed twice as much (Brent's algorithm): a loop is
//! found however long it is, and a warp that does not repeat itself costs some copies.
//! Since a slice begins where the last one ended, the slices of a warp that repeats itself
//! reach the same places again.
//!
//! Left out: loops that store what is already there, and those that count their iterations.

/// Warp instructions without effect before a copy is made.
const FIRST: i64 = 1 << 14;

/// What a warp has executed without effect; `S` is a copy of its state.
#[derive(Clone, Hash)]
pub(crate) struct Repetition<S> {
    /// How much, in warp instructions.
    quiet: i64,
    /// Whether the state was that of the copy since.
    is_found: bool,
    copy: Option<Box<Copy<S>>>,
}

/// A warp's state at some time.
#[derive(Clone, Hash)]
struct Copy<S> {
    /// What it had executed then without effect.
    quiet: i64,
    /// The same when its state was last this one, and how much it had executed since the
    /// previous time.
    last: i64,
    period: i64,
    state: S,
}

impl<S> Default for Repetition<S> {
    fn default() -> Self {
        Self {
            quiet: 0,
            is_found: false,
            copy: None,
        }
    }
}

impl<S> Repetition<S> {
    /// The warp has had an effect.
    #[inline(always)]
    pub fn end(&mut self) {
        self.quiet = 0;
        self.is_found = false;
    }

    /// Whether the warp repeats itself.
    pub fn is_found(&self) -> bool {
        self.is_found
    }

    /// A slice has ended in which the warp has executed this much; whether it is time to
    /// compare.
    #[inline]
    pub fn is_due(&mut self, used: i64) -> bool {
        if self.quiet == 0 {
            // There has been an effect in this slice.
            self.copy = None;
        }
        self.quiet = self.quiet.saturating_add(used);
        self.quiet >= FIRST
    }

    /// Compares the warp with the copy, or makes one.
    #[cold]
    pub fn look(&mut self, is_same: impl Fn(&S) -> bool, state: impl FnOnce() -> S) {
        let quiet = self.quiet;
        if let Some(copy) = &mut self.copy {
            if is_same(&copy.state) {
                copy.period = quiet - copy.last;
                copy.last = quiet;
                self.is_found = true;
            } else if quiet - copy.last > copy.period {
                self.is_found = false;
            }
            if self.is_found || quiet / 2 < copy.quiet {
                return;
            }
        }
        self.copy = Some(Box::new(Copy {
            quiet,
            last: quiet,
            period: 0,
            state: state(),
        }));
    }
}
