//! Errors of engines. Every message names the kernel, the place and, if there is one, the remedy.

use super::config::LaunchConfig;
use super::unwritten::Unwritten;
use cuda_driver::{DriverError, LoadError};
use ptx_sim::Schedule;
use std::fmt;

/// Which launch of which kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Entry name.
    pub kernel: String,
    /// How it was launched.
    pub config: LaunchConfig,
    /// The order in which it ran, if not the usual one.
    pub schedule: Option<Schedule>,
}

impl Place {
    /// A launch in the usual order.
    pub fn of(kernel: impl Into<String>, config: LaunchConfig) -> Self {
        Self {
            kernel: kernel.into(),
            config,
            schedule: None,
        }
    }

    /// The same launch in this order.
    pub(super) fn under(self, schedule: Option<Schedule>) -> Self {
        Self { schedule, ..self }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`, launched with {}", self.kernel, self.config)?;
        match self.schedule {
            Some(schedule) => write!(f, ", under schedule {schedule}"),
            None => Ok(()),
        }
    }
}

/// Why an engine could not do what it was asked.
#[derive(Clone, thiserror::Error)]
pub enum EngineError {
    /// There is no driver.
    #[error(transparent)]
    NoDriver(#[from] LoadError),

    /// The driver refused something.
    #[error(transparent)]
    Driver(#[from] DriverError),

    /// There is a driver but no GPU.
    #[error(
        "the driver sees no GPU: `nvidia-smi -L` must list one, and CUDA_VISIBLE_DEVICES must not hide it"
    )]
    NoGpu,

    /// There are GPUs, but none with that number.
    #[error("no GPU {index}: the driver sees {n_devices}, numbered from 0")]
    NoSuchGpu {
        /// The requested number.
        index: usize,
        /// How many there are.
        n_devices: usize,
    },

    /// The PTX could not be loaded.
    #[error("`{module}` could not be loaded: {log}")]
    Module {
        /// Name of the PTX.
        module: String,
        /// What the driver's compiler or our parser says, with the line.
        log: String,
    },

    /// The PTX is not available: it does not compile, or its file is missing.
    #[error("{reason}")]
    NoModule {
        /// Name of the PTX.
        module: String,
        /// What the compiler or the system says.
        reason: String,
    },

    /// No module has an entry with that name.
    #[error("no kernel `{kernel}` in {modules}")]
    NoSuchKernel {
        /// The name that was asked for.
        kernel: String,
        /// Where it was looked for.
        modules: String,
    },

    /// The launch breaks a rule and was not made.
    #[error("{place}: not launched: {reason}")]
    Refused {
        /// The launch.
        place: Place,
        /// The rule.
        reason: String,
    },

    /// The kernel did something wrong while it ran.
    #[error("{place}: {report}")]
    Fault {
        /// The launch.
        place: Place,
        /// What it did, and where.
        report: String,
    },

    /// The host read values that nobody has written.
    #[error("{0}")]
    Unwritten(Box<Unwritten>),

    /// The kernel did not end within the limit.
    #[error("{place}: {report}")]
    NeverEnds {
        /// The launch.
        place: Place,
        /// The limit, and where the kernel was.
        report: String,
    },

    /// The kernel may be right, but the simulator does not know an instruction.
    #[error("{place}: {report}")]
    Unsupported {
        /// The launch.
        place: Place,
        /// The instruction and its line.
        report: String,
    },

    /// One of several launches that ran at the same time failed.
    #[error("device {number}: {error}")]
    OnDevice {
        /// The device's number.
        number: usize,
        /// What is wrong.
        error: Box<EngineError>,
    },

    /// Devices that cannot do this with each other.
    #[error("devices: {0}")]
    Devices(String),

    /// Something cannot be put into that stream.
    #[error("stream: {0}")]
    Stream(String),

    /// A tensor map would break a rule.
    #[error("tensor map of `{buffer}`: {reason}")]
    TensorMap {
        /// The buffer's name.
        buffer: String,
        /// The rule, the value, and what to do.
        reason: String,
    },

    /// Memory could not be allocated, or an address was not an allocation.
    #[error("device memory: {0}")]
    Memory(String),

    /// An earlier kernel took the GPU away from this process.
    #[error("this process lost the GPU to {0}; run again without that kernel")]
    Lost(String),

    /// An error of a library that kernels are timed against.
    #[error("{library}: {what}")]
    Library {
        /// Its name.
        library: &'static str,
        /// What went wrong.
        what: String,
    },

    /// CUDA C++ baselines without a GPU.
    #[error(
        "CUDA C++ baselines are only timed on a GPU; leave out --baselines, or use --engine gpu"
    )]
    BaselinesNeedGpu,

    /// A bug in Lockstep, not in the kernel.
    #[error("internal error of the {engine}: {what}; please report it")]
    Internal {
        /// The component that has it.
        engine: &'static str,
        /// What it found.
        what: String,
    },
}

/// As `Display`: it is what a test sees that unwraps a result or returns it.
impl fmt::Debug for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl EngineError {
    /// The same, about a launch on one of several devices that ran together.
    pub(crate) fn on_device(self, number: usize) -> Self {
        let error = Box::new(self);
        Self::OnDevice { number, error }
    }

    /// Whether the kernel never got to run: its result is "not run", neither passed nor failed.
    pub fn is_not_run(&self) -> bool {
        match self {
            Self::NoDriver(_) | Self::NoGpu | Self::Lost(_) | Self::Unsupported { .. } => true,
            Self::OnDevice { error, .. } => error.is_not_run(),
            _ => false,
        }
    }
}
