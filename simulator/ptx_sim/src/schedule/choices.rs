//! The choices of a schedule, one after the other.

use super::Schedule;

/// Most blocks in flight at once that do not wait for each other.
const MOST_IN_FLIGHT: u64 = 8;
/// A warp that apparently only waits for others has one turn in this many: what it waits for
/// is then done sooner.
const IDLE_TURNS: u64 = 8;
/// How far ahead of its turn a block may begin.
pub const WINDOW: usize = 64;

/// Gives the choices of a [`Schedule`] until they are used up, and the usual ones from then
/// on.
#[derive(Clone, Hash)]
pub(crate) struct Choices {
    schedule: Schedule,
    state: u64,
    n_left: u64,
    habits: Habits,
}

/// What a schedule does often and what rarely. Some defects show when warps take turns at
/// every instruction, others when one of them sleeps for long.
#[derive(Clone, Hash)]
struct Habits {
    in_flight: u64,
    /// A warp, or a block, sits out one turn in this many.
    sits_out: u64,
    /// A warp is interrupted within a block of instructions one time in this many.
    interrupts: u64,
    /// Instructions of a turn.
    slice: i64,
    /// Lanes stay diverged one time in this many.
    diverges: u64,
}

impl Choices {
    pub fn new(schedule: Schedule) -> Self {
        let mut choices = Self {
            schedule,
            // Neighbouring seeds have nothing in common.
            state: mix(schedule.seed ^ 0x5851_F42D_4C95_7F2D),
            n_left: schedule.n_choices.unwrap_or(u64::MAX),
            habits: Habits {
                in_flight: 1,
                sits_out: u64::MAX,
                interrupts: u64::MAX,
                slice: 0,
                diverges: u64::MAX,
            },
        };
        const NEVER: u64 = u64::MAX;
        choices.habits = Habits {
            in_flight: 1 + choices.draw() % MOST_IN_FLIGHT,
            sits_out: choices.one_of([2, 2, 4, NEVER]),
            interrupts: choices.one_of([2, 8, 64, NEVER]),
            slice: choices.one_of([1, 16, 256, 4096]),
            diverges: choices.one_of([1, 1, 2, 4]),
        };
        choices
    }

    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.state)
    }

    fn one_of<T: Copy, const N: usize>(&mut self, choices: [T; N]) -> T {
        choices[(self.draw() % N as u64) as usize]
    }

    /// Chooses one of `n`; none if all choices are used up.
    fn choose(&mut self, n: u64) -> Option<u64> {
        if n < 2 {
            return None;
        }
        self.n_left = self.n_left.checked_sub(1)?;
        Some(self.draw() % n)
    }

    /// Whether something that happens one time in `n` does.
    fn happens(&mut self, n: u64) -> bool {
        n == 1 || (n != u64::MAX && self.choose(n) == Some(0))
    }

    /// Which of `n` clusters of blocks begins next.
    pub fn block(&mut self, n: usize) -> usize {
        if !self.schedule.varies.blocks {
            return 0;
        }
        self.choose(n as u64).unwrap_or(0) as usize
    }

    /// Whether another cluster begins, in addition to `n` in flight.
    pub fn begins_another(&mut self, n: usize) -> bool {
        self.schedule.varies.blocks
            && (n as u64) < self.habits.in_flight
            && self.choose(4).is_some_and(|choice| choice != 0)
    }

    /// Whether a block sits out this turn, of `n` in flight.
    pub fn block_sits_out(&mut self, n: usize) -> bool {
        self.schedule.varies.blocks && n > 1 && self.happens(self.habits.sits_out)
    }

    /// The warps of `n` whose turn it is, each for how many instructions.
    pub fn turns(
        &mut self,
        n: usize,
        usual: i64,
        is_idle: impl Fn(usize) -> bool,
    ) -> Vec<(usize, i64)> {
        let mut turns: Vec<(usize, i64)> = (0..n).map(|warp| (warp, usual)).collect();
        if !self.schedule.varies.warps {
            return turns;
        }
        for i in (1..n).rev() {
            if let Some(other) = self.choose(i as u64 + 1) {
                turns.swap(i, other as usize);
            }
        }
        if self.n_left == 0 {
            return turns;
        }
        for turn in &mut turns {
            turn.1 = self.habits.slice;
        }
        turns.retain(|&(warp, _)| {
            !self.happens(self.habits.sits_out) && (!is_idle(warp) || self.happens(IDLE_TURNS))
        });
        turns
    }

    /// How many of `n` consecutive instructions are executed before it is another's turn.
    #[cold]
    pub fn instructions(&mut self, n: u32) -> u32 {
        let varies = self.schedule.varies;
        if !varies.warps || n < 2 || !self.happens(self.habits.interrupts) {
            return n;
        }
        self.choose(u64::from(n)).map_or(n, |k| k as u32 + 1)
    }

    /// Whether a bulk copy has not arrived yet, although a thread asks for it.
    #[cold]
    pub fn copy_tarries(&mut self) -> bool {
        self.schedule.varies.warps && self.happens(2)
    }

    /// Whether diverged lanes do not meet where their paths do.
    pub fn stay_diverged(&mut self) -> bool {
        self.schedule.varies.lanes && self.n_left > 0 && self.happens(self.habits.diverges)
    }

    /// Which of `n` paths runs.
    pub fn path(&mut self, n: usize) -> Option<usize> {
        if !self.schedule.varies.lanes {
            return None;
        }
        self.choose(n as u64).map(|path| path as usize)
    }
}

/// Every bit of the result depends on every bit of `z`.
fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_choices_every_time_and_another_one_others() {
        let turns = |seed| {
            let mut choices = Choices::new(Schedule::new(seed));
            (0..20)
                .map(|_| choices.turns(8, 4096, |_| false))
                .collect::<Vec<_>>()
        };
        assert_eq!(turns(1), turns(1));
        assert_ne!(turns(1), turns(2));
    }

    #[test]
    fn without_choices_everything_goes_its_usual_way() {
        for seed in 0..50 {
            let mut choices = Choices::new(Schedule {
                n_choices: Some(0),
                ..Schedule::new(seed)
            });
            assert_eq!(
                choices.turns(3, 4096, |_| false),
                [(0, 4096), (1, 4096), (2, 4096)]
            );
            assert_eq!(choices.instructions(9), 9);
            assert_eq!((choices.block(9), choices.path(9)), (0, None));
            assert!(
                !choices.stay_diverged()
                    && !choices.begins_another(1)
                    && !choices.block_sits_out(5)
            );
        }
    }
}
