//! Lessons. Each is an idea, kernels that show it, shapes to run them on, references to compare
//! them with, and claims about their costs.
//!
//! Reading order:
//!
//! - [`shape`], [`footprint`] (with [`memory`]): the size of a problem, and the memory it takes;
//! - [`inputs`], [`references`], [`half_matrices`], [`guarded`], [`verify`]: inputs and outputs that make mistakes
//!   visible, and their comparison;
//! - [`mod@differences`], [`error`]: deviations from the claims, and their places;
//! - [`measure`], [`clocking`], [`copies`]: times, and what they are compared with;
//! - [`figures`] and [`trial`]: one kernel on one shape;
//! - [`measurement`], [`target`]: the record of that in a file, and the speed to reach;
//!   [`made_up`] ones are for tests;
//! - [`registry`]: lessons and kernels, as data;
//! - [`status`], [`run`], [`schedules`], [`room`]: one walk over them, possibly in
//!   other orders, if there is enough memory.
//!
//! Left out: lessons, and the list of them (`host`); kernels; launching them (`lockstep`);
//! tables, files and the command line.

pub mod clocking;
pub mod copies;
pub mod differences;
pub mod error;
pub mod figures;
pub mod footprint;
pub mod guarded;
pub mod half_matrices;
pub mod inputs;
pub mod made_up;
pub mod measure;
pub mod measurement;
pub mod memory;
pub mod references;
pub mod registry;
pub mod room;
pub mod run;
pub mod schedules;
pub mod shape;
pub mod status;
pub mod target;
pub mod trial;
pub mod verify;

pub use clocking::Clocking;
pub use error::{CaseError, Lead};
pub use footprint::Footprint;
pub use measurement::Measurement;
pub use registry::{KernelEntry, KnownAlarm, Lesson, Published, Registered, exactly};
pub use run::{Case, CaseResult};
pub use shape::{Effort, Shape, Work};
pub use status::Status;
pub use target::{Found, Target};
pub use trial::{Act, Trial};
