//! The start of a process: the driver and the recorder are made.

use crate::driver;
use crate::recorder::recorder;
use crate::settings::Settings;
use crate::status::{Outcome, Status};

/// Makes the driver, unless it has already been made; `cuInit`.
pub fn initialize() -> Outcome {
    match driver::make(Settings::from_environment) {
        Ok(driver) => {
            recorder()?;
            match driver.devices.is_empty() {
                true => Err(Status::NO_DEVICE),
                false => Ok(()),
            }
        }
        Err(message) => {
            eprintln!("lockstep: {message}");
            Err(Status::INVALID_VALUE)
        }
    }
}

/// Makes the driver with other settings, before anything else makes it.
///
/// # Errors
/// There is one already.
pub fn initialize_with(settings: Settings) -> Result<(), Box<Settings>> {
    let mut settings = Some(settings);
    let made = driver::make(|| settings.take().ok_or_else(String::new));
    match settings {
        Some(settings) => Err(Box::new(settings)),
        None => {
            let noted = recorder().map(drop);
            debug_assert!(made.is_ok() && noted.is_ok(), "the settings were used");
            Ok(())
        }
    }
}
