//! From sources to PTX.
//!
//! Two ways, both through [`KernelCrate`], which compiles only what has changed:
//!
//! - a workplace is a crate with a module for each exercise, of which only the current one is
//!   compiled: a learner waits for a single file;
//! - a batch is a crate of many files, whose kernels are renamed so that several may have the same
//!   name: references, and everything that a proof compares.
//!
//! Both share the folder in which the lessons' kernels are compiled, and with it `core`.

mod package;

use crate::error::{Error, read, write_if_different};
use crate::exercise::Exercise;
use cuda_builder::toolchain::Progress;
use cuda_builder::{Arch, BuildError, KernelCrate};
use package::Package;
use ptx_sim::{Module, ir};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where exercises are compiled.
#[derive(Debug)]
pub struct Workshop {
    /// The repository, whose device library they use.
    root: PathBuf,
    /// Where all build outputs go.
    target: PathBuf,
}

/// A kernel to compile in a batch.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// The exercise that it belongs to.
    pub exercise: &'a Exercise,
    /// Its file.
    pub path: PathBuf,
    /// Its function.
    pub kernel: &'a str,
}

/// A kernel, compiled.
#[derive(Clone)]
pub struct Built {
    /// Its module on the simulator.
    pub module: Module,
    /// The same, for inspecting its instructions.
    pub ir: std::sync::Arc<ir::Module>,
    /// The kernel's name in the PTX.
    pub entry: String,
    /// How the PTX names its file.
    pub file: String,
    /// Its text.
    pub text: String,
    /// Texts in messages and their replacements, in this order.
    pub said: Vec<(String, String)>,
    /// Its file, for people.
    pub shown: String,
}

impl Built {
    /// A message of the compiler or the simulator, in the learner's own names.
    pub fn in_own_names(&self, message: &str) -> String {
        let replace = |text: String, (from, to): &(String, String)| text.replace(from, to);
        self.said.iter().fold(message.to_owned(), replace)
    }
}

/// The outcome of compiling.
pub enum Compiled<T> {
    /// Something to run.
    Built(T),
    /// The compiler's errors.
    Refused(String),
}

impl Workshop {
    /// The workshop of a checkout, by its root.
    pub fn of_repository(root: &Path) -> Self {
        Self {
            root: root.into(),
            target: cuda_builder::target_dir_of(root),
        }
    }

    /// Writes the manifest and the library of a workplace, a crate in `dir` with a module for
    /// each of the files `NAME.rs`.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn furnish(&self, dir: &Path, names: &[&str]) -> Result<(), Error> {
        let package = Package::of_workplace(&self.root, dir, names);
        package.write(dir, &self.root)
    }

    /// Compiles one module of a workplace.
    ///
    /// # Errors
    ///
    /// There is no compiler, or a file cannot be read.
    pub fn of_workplace(
        &self,
        dir: &Path,
        exercise: &Exercise,
        shown: &str,
        progress: &dyn Progress,
    ) -> Result<Compiled<Built>, Error> {
        let file = format!("{}.rs", exercise.name);
        let text = read(&dir.join(&file))?;
        let crate_ = KernelCrate::open(dir, &self.target)?;
        let arch = Arch::new(&exercise.manifest.arch);
        let said = vec![
            (format!("{}/", self.root.display()), String::new()),
            shared_arrays(&package::of_workplace(dir)),
            (file.clone(), shown.to_owned()),
        ];
        let ptx = match crate_.ptx(Some(&exercise.name), &arch, progress) {
            Ok(path) => read(&path)?,
            Err(BuildError::Compile { rendered, .. }) => {
                let replace = |text: String, (from, to): &(String, String)| text.replace(from, to);
                return Ok(Compiled::Refused(said.iter().fold(rendered, replace)));
            }
            Err(error) => return Err(error.into()),
        };
        let (module, ir) = parsed(&ptx, &dir.join(&file))?;
        Ok(Compiled::Built(Built {
            module,
            ir,
            entry: exercise.manifest.kernel.clone(),
            file,
            text,
            said,
            shown: shown.to_owned(),
        }))
    }

    /// Compiles many sources in one run for each architecture; `purpose` keeps the files of
    /// different batches apart.
    ///
    /// # Errors
    ///
    /// There is no compiler; a file cannot be read, or lacks its kernel.
    pub fn batch(
        &self,
        purpose: &str,
        sources: &[Source<'_>],
        progress: &dyn Progress,
    ) -> Result<Compiled<Vec<Built>>, Error> {
        let mut of_arch: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, source) in sources.iter().enumerate() {
            let arch = source.exercise.manifest.arch.as_str();
            of_arch.entry(arch).or_default().push(place);
        }
        let mut built: Vec<Option<Built>> = vec![None; sources.len()];
        for (arch, places) in of_arch {
            let name = format!(
                "{purpose}_{}",
                arch.replace(|c: char| !c.is_alphanumeric(), "_")
            );
            match self.batch_of(&name, arch, &places, sources, progress)? {
                Compiled::Built(of_arch) => {
                    for (place, one) in places.into_iter().zip(of_arch) {
                        built[place] = Some(one);
                    }
                }
                Compiled::Refused(message) => return Ok(Compiled::Refused(message)),
            }
        }
        Ok(Compiled::Built(built.into_iter().flatten().collect()))
    }

    /// The sources at `places`, which are of one architecture.
    fn batch_of(
        &self,
        name: &str,
        arch: &str,
        places: &[usize],
        sources: &[Source<'_>],
        progress: &dyn Progress,
    ) -> Result<Compiled<Vec<Built>>, Error> {
        // Not in the compiler's own folder: it would take files there for outputs, not for sources.
        let dir = self.target.with_file_name("lockstep-learn").join(name);
        let mut said = vec![
            (format!("{}/", self.root.display()), String::new()),
            shared_arrays(&package::of_batch(name)),
        ];
        let mut files = BTreeMap::new();
        for (path, kernels) in by_file(places, sources) {
            let file = format!("src/v{}.rs", kernels[0]);
            let text = read(path)?;
            let mut renamed_text = text.clone();
            for &place in &kernels {
                let kernel = sources[place].kernel;
                renamed_text = renamed(&renamed_text, kernel, place)
                    .ok_or_else(|| Error::format(path, format!("it has no kernel `{kernel}`")))?;
                said.push((entry(kernel, place), kernel.to_owned()));
            }
            write_if_different(&dir.join(&file), &renamed_text)?;
            said.push((file.clone(), path.display().to_string()));
            files.insert(path, (file, text));
        }
        // `v1` is a prefix of `v12`.
        said[2..].sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        let names = files.values().map(|(file, _)| file.as_str());
        Package::of_batch(&self.root, name, names).write(&dir, &self.root)?;
        let arch = Arch::new(arch);
        let ptx = match KernelCrate::open(&dir, &self.target)?.ptx(None, &arch, progress) {
            Ok(path) => read(&path)?,
            Err(BuildError::Compile { rendered, .. }) => {
                let replace = |text: String, (from, to): &(String, String)| text.replace(from, to);
                return Ok(Compiled::Refused(said.iter().fold(rendered, replace)));
            }
            Err(error) => return Err(error.into()),
        };
        let (module, ir) = parsed(&ptx, &dir)?;
        let built = places.iter().map(|&place| {
            let Source { path, kernel, .. } = &sources[place];
            let (file, text) = &files[path];
            Built {
                module: module.clone(),
                ir: ir.clone(),
                entry: entry(kernel, place),
                file: file.clone(),
                text: text.clone(),
                said: said.clone(),
                shown: path.display().to_string(),
            }
        });
        Ok(Compiled::Built(built.collect()))
    }
}

/// The sources at `places`, those of one file together.
fn by_file<'a>(places: &[usize], sources: &'a [Source<'_>]) -> BTreeMap<&'a PathBuf, Vec<usize>> {
    let mut files = BTreeMap::<_, Vec<usize>>::new();
    for &place in places {
        files.entry(&sources[place].path).or_default().push(place);
    }
    files
}

fn parsed(ptx: &str, path: &Path) -> Result<(Module, std::sync::Arc<ir::Module>), Error> {
    let module = Module::parse(ptx).map_err(|e| Error::format(path, e))?;
    let ir = ptx_sim::parse::parse(ptx).map_err(|e| Error::format(path, e))?;
    Ok((module, ir.into()))
}

/// The names that `shared_array!` makes of a package's, and their replacement.
fn shared_arrays(package: &str) -> (String, String) {
    (format!("{package}_shared_"), "shared_array_".to_owned())
}

/// The name of a kernel in a batch.
fn entry(kernel: &str, place: usize) -> String {
    format!("{kernel}__{place}")
}

/// A text in which the kernel's function has its name in a batch; none if there is no such
/// function.
fn renamed(text: &str, kernel: &str, place: usize) -> Option<String> {
    let head = format!("fn {kernel}");
    let mut parts = text.split(&head);
    let mut out = parts.next()?.to_owned();
    let mut is_found = false;
    for part in parts {
        let is_whole = part.starts_with(['(', '<', ' ']);
        is_found |= is_whole;
        out += &match is_whole {
            true => format!("fn {}", entry(kernel, place)),
            false => head.clone(),
        };
        out += part;
    }
    is_found.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn only_the_kernel_gets_another_name() {
        let text = "fn sum_all() {}\n#[kernel]\npub unsafe fn sum(x: u32) { sum_all(x) }\n";
        let other = renamed(text, "sum", 3).expect("it is there");
        assert_eq!(other, text.replace("fn sum(", "fn sum__3("));
        assert_eq!(renamed(text, "total", 3), None);
    }
}
