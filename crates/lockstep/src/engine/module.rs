//! A PTX module that an engine may load: its text, or the way to get it.

use super::EngineError;
use ptx::outline;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// A PTX module.
#[derive(Clone)]
pub struct PtxModule {
    /// Its name in errors, such as `transpose.sm_80.ptx`.
    pub name: String,
    id: ModuleId,
    /// The topic whose kernels it has; none if it may have any.
    topic: Option<String>,
    /// The architecture it is compiled for, if known without the text.
    target: Option<String>,
    /// The folder that its line tables' paths are relative to, if known.
    sources: Option<PathBuf>,
    text: Text,
    /// The entries that its text names, once requested.
    entries: Arc<OnceLock<BTreeSet<String>>>,
    /// What the simulator makes of its text, once it is to run it; or why it cannot.
    parsed: Arc<OnceLock<Result<ptx_sim::Module, String>>>,
}

/// The identity of a module: the same for a module and its copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleId(u64);

impl ModuleId {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

#[derive(Clone)]
enum Text {
    Ready(Arc<Cow<'static, str>>),
    Deferred(Arc<Deferred>),
}

/// Gets a text that is not there yet.
type Get = dyn Fn() -> Result<String, String> + Send + Sync;

struct Deferred {
    get: Box<Get>,
    /// The text, or why there is none.
    got: OnceLock<Result<String, String>>,
}

impl PtxModule {
    /// A module of this text, which may have any kernel.
    pub fn of_text(name: impl Into<String>, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            id: ModuleId::new(),
            topic: None,
            target: None,
            sources: None,
            text: Text::Ready(Arc::new(text.into())),
            entries: Arc::default(),
            parsed: Arc::default(),
        }
    }

    /// A module with the kernels of a topic, compiled for `target` (`sm_80`), whose text is
    /// obtained when it is first needed.
    pub fn deferred(
        topic: &str,
        target: &str,
        get: impl Fn() -> Result<String, String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: format!("{topic}.{target}.ptx"),
            id: ModuleId::new(),
            topic: Some(topic.to_owned()),
            target: Some(target.to_owned()),
            sources: None,
            text: Text::Deferred(Arc::new(Deferred {
                get: Box::new(get),
                got: OnceLock::new(),
            })),
            entries: Arc::default(),
            parsed: Arc::default(),
        }
    }

    /// The same, with the folder that its line tables' paths are relative to: reports then show the
    /// source lines.
    #[must_use]
    pub fn with_sources(self, root: impl Into<PathBuf>) -> Self {
        Self {
            sources: Some(root.into()),
            ..self
        }
    }

    /// The folder that its line tables' paths are relative to, if known.
    pub fn sources(&self) -> Option<&Path> {
        self.sources.as_deref()
    }

    /// The text.
    ///
    /// # Errors
    ///
    /// [`EngineError::NoModule`]: it is not available.
    pub fn text(&self) -> Result<&str, EngineError> {
        match &self.text {
            Text::Ready(text) => Ok(text),
            Text::Deferred(deferred) => match deferred.got.get_or_init(|| (deferred.get)()) {
                Ok(text) => Ok(text),
                Err(reason) => Err(EngineError::NoModule {
                    module: self.name.clone(),
                    reason: reason.clone(),
                }),
            },
        }
    }

    /// The module as simulators run it, which all of them share.
    ///
    /// # Errors
    ///
    /// As [`PtxModule::text`]; it is not PTX that the simulator knows.
    pub(super) fn parsed(&self) -> Result<&ptx_sim::Module, EngineError> {
        let text = self.text()?;
        let parse = || ptx_sim::Module::parse(text).map_err(|error| error.to_string());
        let parsed = self.parsed.get_or_init(parse);
        parsed.as_ref().map_err(|log| EngineError::Module {
            module: self.name.clone(),
            log: log.clone(),
        })
    }

    /// Whether its text names this entry, as compilers write it. Obtains the text for that.
    pub fn names(&self, entry: &str) -> bool {
        let Ok(text) = self.text() else {
            return false;
        };
        let read = || outline::entries(text).map(str::to_owned).collect();
        self.entries.get_or_init(read).contains(entry)
    }

    /// The topic whose kernels it has; none if it may have any.
    pub fn topic(&self) -> Option<&str> {
        self.topic.as_deref()
    }

    /// Which module it is.
    pub fn id(&self) -> ModuleId {
        self.id
    }

    /// The name of the architecture that it is compiled for, if it names one.
    pub fn target_name(&self) -> Option<&str> {
        match &self.target {
            Some(target) => Some(target),
            None => outline::target(self.text().ok()?),
        }
    }

    /// That architecture's number, and whether the module runs only on it (`sm_90a`) and not on
    /// later ones as well (`sm_90`).
    pub fn target(&self) -> Option<(u32, bool)> {
        let name = self.target_name()?.strip_prefix("sm_")?;
        let digits = name.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        Some((digits.parse().ok()?, digits.len() != name.len()))
    }
}

impl From<&str> for PtxModule {
    fn from(text: &str) -> Self {
        Self::of_text("PTX", text.to_owned())
    }
}

impl From<String> for PtxModule {
    fn from(text: String) -> Self {
        Self::of_text("PTX", text)
    }
}

impl fmt::Debug for PtxModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PtxModule")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::PtxModule;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn a_text_is_got_once_and_only_if_it_is_wanted() {
        let n_times = Arc::new(AtomicU32::new(0));
        let counter = n_times.clone();
        let module = PtxModule::deferred("copy", "sm_90a", move || {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok(".version 8.0".to_owned())
        });
        assert_eq!(module.name, "copy.sm_90a.ptx");
        assert_eq!(module.target(), Some((90, true)));
        assert_eq!(n_times.load(Ordering::Relaxed), 0);
        let copy = module.clone();
        assert_eq!(module.text().expect("it is there"), ".version 8.0");
        assert_eq!(copy.text().expect("it is there"), ".version 8.0");
        assert_eq!(n_times.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_text_names_its_target() {
        let target = |text: &'static str| PtxModule::of_text("m", text).target();
        assert_eq!(target(".version 8.6\n.target sm_80\n"), Some((80, false)));
        assert_eq!(target(".target sm_90a, debug"), Some((90, true)));
        assert_eq!(target("nothing"), None);
    }

    #[test]
    fn a_text_that_cannot_be_got_is_an_error_that_says_why() {
        let module = PtxModule::deferred("copy", "sm_80", || Err("it does not compile".to_owned()));
        let error = module.text().expect_err("there is none").to_string();
        assert!(error.contains("it does not compile"), "{error}");
    }

    #[test]
    fn a_module_names_its_entries_and_nothing_else() {
        let module = PtxModule::of_text(
            "m",
            "// .entry old(\n.func inner() { ret; }\n.visible .entry copy() { ret; }\n\
             .entry add_2(.param .u64 a) { ret; }",
        );
        let named = ["copy", "add_2", "inner", "old", "add"].map(|name| module.names(name));
        assert_eq!(named, [true, true, false, false, false]);
    }
}
