//! In which order a compiler is looked for, and fetched.

use super::fetch::Failure;
use super::{Locator, Progress, Room, Source, Toolchain, ToolchainError};
use super::{cache, fetch, room, rustup};

impl Locator {
    /// The compiler, if it is there already. Fetches nothing.
    ///
    /// # Errors
    ///
    /// Only if `LOCKSTEP_RUSTC` names one that does not serve.
    pub fn locate(&self) -> Result<Option<Toolchain>, ToolchainError> {
        if let Some(rustc) = &self.rustc_override {
            let probed = if rustc.is_relative() && rustc.components().count() > 1 {
                Err("it is a relative path, which leads elsewhere in a build script".into())
            } else {
                Toolchain::probe(rustc, Source::Override)
            };
            return probed.map(Some).map_err(|reason| ToolchainError::Override {
                rustc: rustc.clone(),
                reason,
            });
        }
        if let Ok(toolchain) = rustup::installed(self) {
            return Ok(Some(toolchain));
        }
        Ok(cache::find(self, cache::Verification::Quick))
    }

    /// The compiler, fetched if need be.
    ///
    /// One process fetches at a time; others wait for it and take the result. A
    /// fetch may be cut at any point: the next one continues it.
    ///
    /// # Errors
    ///
    /// None of the ways led to a compiler: why each did not, and what helps.
    pub fn ensure(&self, progress: &dyn Progress) -> Result<Toolchain, ToolchainError> {
        if let Some(found) = self.locate()? {
            cache::tidy(self);
            return Ok(found);
        }
        let lock = cache::lock(self, progress);
        if let Ok((_, has_waited)) = lock {
            if let Some(found) = self.locate()? {
                return Ok(found);
            }
            if has_waited {
                progress.note("the other build ended without it");
            }
        }
        let rustup = match rustup::install(self, progress) {
            Ok(toolchain) => return Ok(toolchain),
            Err(reason) => reason,
        };
        let packages = match fetch::is_usable(self) {
            Err(reason) => match room::full_of_rustups(self.rustup_home.as_deref(), &rustup) {
                Some(error) => return Err(error),
                None => reason,
            },
            Ok(()) => {
                let _lock = lock?;
                progress.step(&rustup::and_so(
                    self,
                    "looking for the kernels' compiler in the distribution's packages",
                ));
                match fetch::fetch(self, progress) {
                    Ok(toolchain) => return Ok(toolchain),
                    Err(Failure::Known(error)) => return Err(error),
                    Err(Failure::Words(reason)) => reason,
                }
            }
        };
        Err(ToolchainError::NoRoute {
            pin: self.pin.channel.clone(),
            rustup,
            packages,
        })
    }

    /// By which way [`Locator::ensure`] would get a compiler, without trying.
    ///
    /// # Errors
    ///
    /// Why there is no way.
    pub fn prospect(&self) -> Result<&'static str, String> {
        let rustup = rustup::is_usable(self);
        let packages = fetch::is_usable(self);
        match (rustup, packages) {
            (Ok(()), _) => Ok("rustup will install it"),
            (_, Ok(())) => Ok("it will be fetched from the distribution's packages (150 MB)"),
            (Err(rustup), Err(packages)) => Err(format!("rustup: {rustup}\npackages: {packages}")),
        }
    }

    /// Whether rustup is asked before packages are fetched.
    pub fn asks_rustup(&self) -> bool {
        rustup::is_usable(self).is_ok()
    }

    /// The room for a fetch in the cache folder, which is not created.
    ///
    /// # Errors
    ///
    /// The folder cannot be written to, or could not be created.
    pub fn room(&self) -> Result<Room, ToolchainError> {
        room::try_to_write(&self.cache_dir)?;
        Room::before_fetch(&self.cache_dir)
    }

    /// Checks every byte of the compiler in the cache against its record, and
    /// throws a damaged one away.
    ///
    /// # Errors
    ///
    /// What is damaged, and whether it is gone.
    pub fn verify(&self, toolchain: &Toolchain) -> Result<(), String> {
        cache::verify(self, toolchain)
    }
}
