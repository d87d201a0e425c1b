//! Launches with checks, which are alone with the machine: one after the other, or, where one waits
//! for others, together.
//!
//! A launch that only waits is put back, and runs again together with those that are ready then, on
//! whatever device: they are checked together. If that does not help, because what it waits for is
//! not ready yet, or is the host's to do, it runs without checks, at the same time as all others. So
//! do those that become ready before it ends, since it may wait for any of them.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ptx_sim::{
    LaunchError, LaunchOptions, Member, MemberError, Pending, Report, Touches, launch_together,
};

use crate::happens_before::{self, Moment};
use crate::launch::KernelLaunch;

/// How long one that waits is given for others to become ready.
const PATIENCE: Duration = Duration::from_millis(100);

/// How a launch ended.
pub(crate) struct Ended {
    pub result: Result<Report, LaunchError>,
    /// Whether it was checked.
    pub is_checked: bool,
}

/// Runs a launch with checks, if possible, and waits for its end.
pub(crate) fn run(
    launch: &Arc<KernelLaunch>,
    moment: Option<&Arc<Moment>>,
    options: &LaunchOptions,
) -> Ended {
    let place = Arc::new(Place {
        launch: Arc::clone(launch),
        moment: moment.cloned(),
        answer: Mutex::default(),
    });
    let answer = match place.wait() {
        Some(answer) => answer,
        None => Leader(vec![place]).lead(options),
    };
    match answer {
        Answer::Ran(result) => Ended {
            result: *result,
            is_checked: true,
        },
        Answer::Found(finding) => {
            let mut result = run_unchecked(launch, options);
            if let Ok(report) = &mut result {
                report.finding = finding;
            }
            Ended {
                result,
                is_checked: true,
            }
        }
        Answer::Unchecked => Ended {
            result: run_unchecked(launch, options),
            is_checked: false,
        },
    }
}

/// Runs one of the launches that are counted as running without checks.
fn run_unchecked(launch: &KernelLaunch, options: &LaunchOptions) -> Result<Report, LaunchError> {
    let _unchecked = Unchecked;
    let mut plain = options.clone();
    plain.check = false;
    launch.run_with(&plain)
}

/// What was done with a launch, or is left to do.
enum Answer {
    Ran(Box<Result<Report, LaunchError>>),
    /// It is to run without checks, since those have found something: in it, or in another that ran
    /// at the same time.
    Found(Option<Box<LaunchError>>),
    /// It is to run without checks, since it waits, or another that is ready.
    Unchecked,
}

/// A launch that is ready.
struct Place {
    launch: Arc<KernelLaunch>,
    /// Where it is in the order of all operations, if that is kept.
    moment: Option<Arc<Moment>>,
    answer: Mutex<Option<Answer>>,
}

#[derive(Default)]
struct Queue {
    ready: Vec<Arc<Place>>,
    /// Whether some run with checks.
    is_busy: bool,
    /// How many run without.
    n_unchecked: usize,
    /// Kernels that have waited for others.
    waiting: HashSet<String>,
}

static QUEUE: LazyLock<Mutex<Queue>> = LazyLock::new(Mutex::default);
static CHANGED: Condvar = Condvar::new();

fn queue() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Place {
    /// Waits until another thread has run it, or leaves it to this one to run what is ready.
    fn wait(self: &Arc<Self>) -> Option<Answer> {
        let mut queue = queue();
        queue.ready.push(Arc::clone(self));
        CHANGED.notify_all();
        loop {
            let answer = self.answer.lock();
            if let Some(answer) = answer.unwrap_or_else(PoisonError::into_inner).take() {
                return Some(answer);
            }
            let at = queue
                .ready
                .iter()
                .position(|place| Arc::ptr_eq(place, self));
            if let Some(at) = at.filter(|_| !queue.is_busy) {
                queue.ready.remove(at);
                if queue.n_unchecked > 0 {
                    queue.n_unchecked += 1;
                    return Some(Answer::Unchecked);
                }
                queue.is_busy = true;
                return None;
            }
            let waited = CHANGED.wait(queue);
            queue = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Runs it with checks, also of what it does not come after.
    fn run_alone(&self, options: &LaunchOptions) -> Result<Report, LaunchError> {
        let Some(moment) = &self.moment else {
            return self.launch.run_with(options);
        };
        let mut report = self.launch.run_with(&LaunchOptions {
            pending: happens_before::unordered(moment),
            footprint: true,
            ..options.clone()
        })?;
        // Before another has its turn.
        let used = report.footprint.take().map(|footprint| Pending {
            touches: Touches::Parts(footprint),
            what: format!("the kernel `{}`", self.launch.function().name()),
        });
        happens_before::ended(moment, used.into_iter().collect());
        Ok(report)
    }

    fn answer(&self, answer: Answer) {
        let mut place = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some(answer);
    }
}

/// The launches that run with checks: that of the thread that runs them, and others.
struct Leader(Vec<Arc<Place>>);

impl Leader {
    /// Runs them; gives the answer for the first.
    fn lead(mut self, options: &LaunchOptions) -> Answer {
        let kernel = self.0[0].launch.function().name().to_owned();
        if queue().waiting.contains(&kernel) {
            self.take_others();
        }
        let error = loop {
            let error = match self.attempt(options) {
                Ok(reports) => {
                    let ran = |report| Answer::Ran(Box::new(report));
                    return self.answer(reports.into_iter().map(ran).collect());
                }
                Err(error) => error,
            };
            if !error.error.is_of_waiting() {
                break Some(error);
            }
            queue().waiting.insert(kernel.clone());
            if !self.take_others() {
                break None;
            }
        };
        let answers: Vec<Answer> = match error {
            None => self.0.iter().map(|_| Answer::Unchecked).collect(),
            Some(MemberError { member, error }) => {
                let mut answers: Vec<_> = self.0.iter().map(|_| Answer::Found(None)).collect();
                answers[member] = Answer::Found(Some(Box::new(error)));
                answers
            }
        };
        queue().n_unchecked += answers.len();
        self.answer(answers)
    }

    /// Runs them all to their end; else all memory is as before.
    fn attempt(
        &self,
        options: &LaunchOptions,
    ) -> Result<Vec<Result<Report, LaunchError>>, MemberError> {
        if let [only] = &self.0[..] {
            return match only.run_alone(options) {
                Err(error) if error.is_of_waiting() => Err(MemberError { member: 0, error }),
                ended => Ok(vec![ended]),
            };
        }
        let params: Vec<Vec<&[u8]>> = self.0.iter().map(|place| place.launch.params()).collect();
        let member = |(place, params)| {
            let Place { launch, .. }: &Place = place;
            let params: &Vec<_> = params;
            Member {
                device: &launch.module().device.sim,
                module: &launch.module().loaded,
                kernel: launch.function().name(),
                launch: launch.in_simulator(params, options),
            }
        };
        let places = self.0.iter().map(Arc::as_ref);
        let members: Vec<Member<'_>> = places.zip(&params).map(member).collect();
        let reports = launch_together(&members)?;
        Ok(reports.into_iter().map(Ok).collect())
    }

    /// Takes what else is ready, or soon is; gives whether there was anything.
    fn take_others(&mut self) -> bool {
        let is_empty = |queue: &mut Queue| queue.ready.is_empty();
        let waited = CHANGED.wait_timeout_while(queue(), PATIENCE, is_empty);
        let (mut queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let before = self.0.len();
        self.0.append(&mut queue.ready);
        self.0.len() > before
    }

    /// Answers all, in order; gives the first's answer.
    fn answer(mut self, answers: Vec<Answer>) -> Answer {
        let mut answers = answers.into_iter();
        let first = answers.next();
        for (place, answer) in self.0.drain(..).skip(1).zip(answers) {
            place.answer(answer);
        }
        first.expect("there is a first")
    }
}

impl Drop for Leader {
    /// The next may run; so may those that were taken, if a bug has kept them from being run.
    fn drop(&mut self) {
        let mut queue = queue();
        queue.ready.extend(self.0.drain(..).skip(1));
        queue.is_busy = false;
        CHANGED.notify_all();
    }
}

/// A launch that runs without checks.
struct Unchecked;

impl Drop for Unchecked {
    fn drop(&mut self) {
        queue().n_unchecked -= 1;
        CHANGED.notify_all();
    }
}
