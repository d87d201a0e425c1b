//! The exchange when a stream comes to calls: what was copied to staging memory is exchanged for what
//! is then copied from it.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::call::Call;
use crate::connection::Connection;
use crate::operators::Factor;
use crate::reduce;
use crate::result::Outcome;
use crate::staging::Staging;
use crate::types::Operator;
use crate::wire::Farewell;

/// What the results of calls that failed consist of: as numbers of any floating-point type, NaN.
const POISON: u8 = 0xff;
/// Staging memory begins with words: one that is copied to the one before it, which shows that the
/// device still works, and one for each factor. Then come what is sent, and what is received.
pub const WORD: usize = 8;

/// A call, its buffers, and its stream.
#[derive(Clone, Copy, Debug)]
pub struct Submitted {
    pub call: Call,
    /// Address of what is sent.
    pub send: u64,
    /// Address of what is received.
    pub receive: u64,
    /// What this rank multiplies its elements by.
    pub factor: Option<Factor>,
    pub stream: usize,
}

/// What the host function needs.
pub struct Exchange {
    connection: Arc<Connection>,
    calls: Vec<Call>,
    /// Whether the hub knows of them already.
    announced: bool,
    /// What is done to what each call sends.
    pub scaled: Vec<Scaled>,
    /// The memory.
    pub staging: Staging,
    n_sent: usize,
    n_received: usize,
}

/// What a call sends.
pub struct Scaled {
    /// Its size.
    pub n_bytes: usize,
    /// What it is multiplied by.
    pub factor: Option<Factor>,
}

impl Exchange {
    /// The address of the factors.
    pub fn factors(&self) -> u64 {
        self.staging.address + 2 * WORD as u64
    }

    /// The address of what is sent.
    pub fn sent(&self) -> u64 {
        self.factors() + (WORD * self.calls.len()) as u64
    }

    /// The address of what is received.
    pub fn received(&self) -> u64 {
        self.sent() + self.n_sent as u64
    }

    /// Takes staging memory for the calls of a rank, in the current context.
    ///
    /// # Errors
    /// There is no memory.
    pub fn new(
        connection: &Arc<Connection>,
        context: usize,
        (rank, n_ranks): (usize, usize),
        all: &[Submitted],
    ) -> Outcome<Self> {
        let calls: Vec<Call> = all.iter().map(|one| one.call).collect();
        let n_sent = calls.iter().map(|call| call.sent(rank, n_ranks)).sum();
        let n_received = calls.iter().map(|call| call.received(rank, n_ranks)).sum();
        let share = |one: &Submitted| match one.call.operator {
            Some(Operator::Avg) => reduce::share(one.call.data_type, n_ranks).map(Factor::Known),
            _ => one.factor,
        };
        let scaled = |one: &Submitted| Scaled {
            n_bytes: one.call.sent(rank, n_ranks),
            factor: share(one),
        };
        let n_bytes = WORD * (2 + calls.len()) + n_sent + n_received;
        let staging = Staging::take(context, n_bytes)?;
        let words = std::ptr::with_exposed_provenance_mut::<u64>(staging.address as usize);
        // SAFETY: the memory begins with two words, and nothing else uses it.
        unsafe {
            words.write(0);
            words.add(1).write(1);
        }
        Ok(Self {
            connection: Arc::clone(connection),
            announced: false,
            scaled: all.iter().map(scaled).collect(),
            calls,
            staging,
            n_sent,
            n_received,
        })
    }

    /// Tells the hub that these calls will come.
    pub fn announce(&mut self) {
        self.connection.announce(&self.calls);
        self.announced = true;
    }

    /// Exchanges what was copied to staging memory for what is to be copied from it.
    fn run(&self) {
        let words = std::ptr::with_exposed_provenance_mut::<u64>(self.staging.address as usize);
        // SAFETY: the copies before this are done, those after it have not begun, and no other
        // exchange uses this memory.
        let (arrived, factors, sent, received) = unsafe {
            let factors = words.add(2).cast::<u8>();
            let sent = factors.add(WORD * self.calls.len());
            (
                words.replace(0),
                std::slice::from_raw_parts(factors.cast::<[u8; WORD]>(), self.calls.len()),
                std::slice::from_raw_parts_mut(sent, self.n_sent),
                std::slice::from_raw_parts_mut(sent.add(self.n_sent), self.n_received),
            )
        };
        if arrived == 0 {
            self.connection.leave(Farewell::DeviceFailed);
        }
        let mut rest = &mut *sent;
        for ((call, scaled), in_memory) in self.calls.iter().zip(&self.scaled).zip(factors) {
            let (own, others) = std::mem::take(&mut rest).split_at_mut(scaled.n_bytes);
            match &scaled.factor {
                Some(Factor::Known(factor)) => reduce::scale(call.data_type, factor, own),
                Some(Factor::InMemory(_)) => reduce::scale(call.data_type, in_memory, own),
                None => {}
            }
            rest = others;
        }
        match self.connection.run(&self.calls, self.announced, sent) {
            Ok(bytes) if bytes.len() == received.len() => received.copy_from_slice(&bytes),
            _ => received.fill(POISON),
        }
    }
}

/// What a stream calls.
///
/// # Safety
/// It gets an exchange that is alive, and is the only one to use its memory.
pub unsafe extern "C" fn run(exchange: *mut c_void) {
    // SAFETY: it is alive until the job is released.
    let exchange = unsafe { &*exchange.cast::<Exchange>() };
    // A panic must not reach the driver; then the results are what was there before.
    let _ = catch_unwind(AssertUnwindSafe(|| exchange.run()));
}
