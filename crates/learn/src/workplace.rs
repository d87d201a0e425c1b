//! The learner's folder: a copy of each exercise's file, and the progress.
//!
//! It is a crate, so that an editor knows the device library in it. The course's own files are
//! never written: a copy can be recreated at any time.

use crate::course::Course;
use crate::error::{Error, read, write};
use crate::exercise::Exercise;
use crate::judge::{Failure, Verdict, judge};
use crate::progress::Progress;
use crate::workshop::{Built, Compiled, Source, Workshop};
use cuda_builder::{BuildError, toolchain};
use std::path::{Path, PathBuf};

/// A learner's folder for a course.
pub struct Workplace {
    /// The course.
    pub course: Course,
    /// The learner's progress.
    pub progress: Progress,
    dir: PathBuf,
    workshop: Workshop,
    /// By place, once they are compiled.
    references: Vec<Option<Built>>,
}

impl Workplace {
    /// Opens the folder `dir` for a course, and creates what is missing. `root` is the
    /// repository's.
    ///
    /// # Errors
    ///
    /// Files that cannot be read or written.
    pub fn open(course: Course, dir: &Path, root: &Path) -> Result<Self, Error> {
        std::fs::create_dir_all(dir).map_err(|e| Error::io("create the folder", dir, e))?;
        let dir = dir.canonicalize().map_err(|e| Error::io("find", dir, e))?;
        if dir == course.dir {
            return Err(Error::NotNow(format!(
                "{} holds the exercises themselves; their copies need a folder of their own",
                dir.display()
            )));
        }
        let workshop = Workshop::of_repository(root);
        for exercise in &course.exercises {
            let copy = dir.join(format!("{}.rs", exercise.name));
            if !copy.exists() {
                write(&copy, &read(&exercise.source())?)?;
            }
        }
        let names: Vec<&str> = course.exercises.iter().map(|e| e.name.as_str()).collect();
        workshop.furnish(&dir, &names)?;
        Ok(Self {
            progress: Progress::read(&dir)?,
            course,
            dir,
            workshop,
            references: Vec::new(),
        })
    }

    /// Its folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The place of the current exercise.
    pub fn current(&self) -> usize {
        let named = self.progress.current.as_deref();
        let mut names = self.course.exercises.iter().map(|e| Some(e.name.as_str()));
        names.position(|name| name == named).unwrap_or(0)
    }

    /// The exercise at a place.
    pub fn exercise(&self, place: usize) -> &Exercise {
        &self.course.exercises[place]
    }

    /// The learner's file.
    pub fn file(&self, place: usize) -> PathBuf {
        self.dir.join(format!("{}.rs", self.exercise(place).name))
    }

    /// The path of the learner's file, as shown to people: relative to the current folder if below it.
    pub fn shown(&self, place: usize) -> String {
        let file = self.file(place);
        let here = std::env::current_dir().ok();
        let relative = here
            .as_deref()
            .and_then(|here| file.strip_prefix(here).ok());
        relative.unwrap_or(&file).display().to_string()
    }

    /// Whether it has passed once.
    pub fn is_solved(&self, place: usize) -> bool {
        self.progress.solved.contains(&self.exercise(place).name)
    }

    /// Exercises that have passed once.
    pub fn n_solved(&self) -> usize {
        let places = 0..self.course.exercises.len();
        places.filter(|&place| self.is_solved(place)).count()
    }

    /// Makes an exercise the current one.
    ///
    /// # Errors
    ///
    /// The progress cannot be saved.
    pub fn go_to(&mut self, place: usize) -> Result<(), Error> {
        self.progress.current = Some(self.exercise(place).name.clone());
        self.progress.write(&self.dir)
    }

    /// Judges the learner's file, and saves the progress.
    ///
    /// # Errors
    ///
    /// There is no compiler, or the exercise itself is broken.
    pub fn check(
        &mut self,
        place: usize,
        progress: &dyn toolchain::Progress,
    ) -> Result<Verdict, Error> {
        let exercise = self.exercise(place).clone();
        let shown = self.shown(place);
        let built = self
            .workshop
            .of_workplace(&self.dir, &exercise, &shown, progress)?;
        let verdict = match built {
            Compiled::Refused(rendered) => Failure::compile(rendered, &exercise.manifest).into(),
            Compiled::Built(built) => {
                let reference = self.reference(place, progress)?;
                judge(&exercise, &built, &reference)?
            }
        };
        let is_new = match verdict {
            Verdict::Passed(_) => self.progress.solved.insert(exercise.name),
            Verdict::Failed(_) => false,
        };
        if is_new {
            self.progress.write(&self.dir)?;
        }
        Ok(verdict)
    }

    /// The reference kernel. All of the course are compiled at once; if that fails, this one is
    /// compiled alone: a broken exercise stops only itself.
    fn reference(
        &mut self,
        place: usize,
        progress: &dyn toolchain::Progress,
    ) -> Result<Built, Error> {
        if self.references.is_empty() {
            let exercises = &self.course.exercises;
            self.references = match references(&self.workshop, exercises, progress) {
                Ok(built) => built.into_iter().map(Some).collect(),
                Err(error @ Error::Compiler(BuildError::Toolchain(_))) => return Err(error),
                Err(_) => vec![None; exercises.len()],
            };
        }
        if let Some(built) = &self.references[place] {
            return Ok(built.clone());
        }
        let one = &self.course.exercises[place..=place];
        let built = references(&self.workshop, one, progress)?.swap_remove(0);
        self.references[place] = Some(built.clone());
        Ok(built)
    }

    /// The next hint, with its number and how many there are.
    ///
    /// # Errors
    ///
    /// The progress cannot be saved.
    pub fn hint(&mut self, place: usize) -> Result<Vec<String>, Error> {
        let exercise = self.exercise(place).clone();
        let hints = &exercise.manifest.hints;
        let given = self.progress.hints.entry(exercise.name).or_default();
        *given = (*given + 1).min(hints.len());
        let given = *given;
        self.progress.write(&self.dir)?;
        Ok(hints[..given].to_vec())
    }

    /// Recreates the learner's copy, and keeps the old one next to it, beside those kept before; gives
    /// where. Nothing is kept of a copy in which nothing has been written.
    ///
    /// # Errors
    ///
    /// Files that cannot be read or written.
    pub fn reset(&mut self, place: usize) -> Result<Option<PathBuf>, Error> {
        let file = self.file(place);
        let original = read(&self.exercise(place).source())?;
        // What cannot be read as text is kept as well.
        let is_written = file.exists() && read(&file).ok().as_ref() != Some(&original);
        let kept = is_written.then(|| free_beside(&file));
        if let Some(kept) = &kept {
            std::fs::rename(&file, kept).map_err(|e| Error::io("rename", &file, e))?;
        }
        write(&file, &original)?;
        let name = self.exercise(place).name.clone();
        self.progress.solved.remove(&name);
        self.progress.hints.remove(&name);
        self.progress.write(&self.dir)?;
        Ok(kept)
    }

    /// A solution, for those who have solved the exercise.
    ///
    /// # Errors
    ///
    /// The exercise is not solved.
    pub fn solution(&self, place: usize) -> Result<String, Error> {
        if !self.is_solved(place) {
            return Err(Error::NotNow(format!(
                "{} is not solved yet; `hint` helps, and the solution is shown once it is solved",
                self.exercise(place).name
            )));
        }
        read(&self.exercise(place).solution())
    }
}

/// `NAME.rs.old`, or `NAME.rs.old2` and so on, which does not exist yet.
fn free_beside(file: &Path) -> PathBuf {
    let first = file.with_extension("rs.old");
    let more = (2..).map(|n: u32| file.with_extension(format!("rs.old{n}")));
    let mut all = std::iter::once(first.clone()).chain(more);
    all.find(|kept| !kept.exists()).unwrap_or(first)
}

/// Compiles the references of exercises.
pub(crate) fn references(
    workshop: &Workshop,
    exercises: &[Exercise],
    progress: &dyn toolchain::Progress,
) -> Result<Vec<Built>, Error> {
    let sources: Vec<Source<'_>> = exercises
        .iter()
        .map(|exercise| Source {
            exercise,
            path: exercise.reference(),
            kernel: &exercise.manifest.kernel,
        })
        .collect();
    let dir = exercises.first().and_then(|exercise| exercise.dir.parent());
    let purpose = purpose("references", dir.unwrap_or(Path::new("")), exercises.len());
    match workshop.batch(&purpose, &sources, progress)? {
        Compiled::Built(built) => Ok(built),
        Compiled::Refused(rendered) => Err(Error::Reference {
            path: dir.unwrap_or(Path::new("")).into(),
            message: format!("it does not compile\n{rendered}"),
        }),
    }
}

/// The name of a batch, so that those of several courses are kept apart.
pub(crate) fn purpose(what: &str, dir: &Path, n: usize) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    (dir, n).hash(&mut hasher);
    format!("{what}_{:08x}", hasher.finish() as u32)
}
