//! The order of the ways to find and fetch a compiler.

use crate::{Locator, Progress, Room, Source, Toolchain, ToolchainError, cache, room, rustup};

impl Locator {
    /// The compiler, if it is already there. Fetches nothing.
    ///
    /// # Errors
    ///
    /// Only if `LOCKSTEP_RUSTC` names one that cannot be used.
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
        Ok(rustup::installed(self).ok().or_else(|| cache::find(self)))
    }

    /// The compiler, fetched if necessary.
    ///
    /// One process fetches at a time; others wait for it and take the result.
    ///
    /// # Errors
    ///
    /// No way led to a compiler; the error says why for each, and what helps.
    pub fn ensure(&self, progress: &dyn Progress) -> Result<Toolchain, ToolchainError> {
        if let Some(found) = self.locate()? {
            cache::tidy(&self.cache_dir);
            return Ok(found);
        }
        let lock = cache::lock(&self.cache_dir, progress);
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
        let packages = match cache::archives(self) {
            Err(reason) => reason,
            Ok(archives) => {
                let _lock = lock?;
                progress.step(&rustup::and_so(
                    self,
                    "looking for the kernels' compiler in the distribution's packages",
                ));
                cache::remove_damaged(self, progress);
                Room::of(&self.cache_dir)?.demand(&self.cache_dir)?;
                match cache::fetch(self, &archives, progress) {
                    Ok(toolchain) => return Ok(toolchain),
                    Err(said) if room::ran_out(&said) => {
                        return Err(room::full(&self.cache_dir, &said));
                    }
                    Err(reason) => reason,
                }
            }
        };
        Err(ToolchainError::NoRoute {
            channel: self.channel.clone(),
            rustup,
            packages,
        })
    }

    /// The way in which [`Locator::ensure`] would get a compiler, without trying it.
    ///
    /// # Errors
    ///
    /// The reason why there is no way.
    pub fn prospect(&self) -> Result<&'static str, String> {
        match (rustup::is_usable(self), cache::archives(self)) {
            (Ok(()), _) => Ok("rustup will install it"),
            (_, Ok(_)) => Ok("it will be fetched from the distribution's packages (150 MB)"),
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
        Room::of(&self.cache_dir)
    }
}
