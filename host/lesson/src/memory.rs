//! The memory that is left: the least of the machine's available memory, of the allowance of this
//! process's control groups, and of the process's own limits.
//!
//! Left out: swap space. Runs that need it take hours instead of minutes.

use rustix::process::{Resource, getrlimit};
use std::path::{Path, PathBuf};

/// Memory that is left, and the limit that bounds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Free {
    /// Bytes.
    pub bytes: u64,
    /// The limit that would be reached first.
    pub limit: Limit,
}

/// What bounds memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The machine's memory.
    Machine,
    /// A control group's, as in containers.
    ControlGroup,
    /// The process's own, as set by `ulimit`.
    Process,
}

impl Limit {
    /// Where the bytes are free, for people.
    pub const fn place(self) -> &'static str {
        match self {
            Self::Machine => "on this machine",
            Self::ControlGroup => "to this control group (container)",
            Self::Process => "to this process (`ulimit -v`)",
        }
    }
}

/// Memory that is left for this process; `None` if the system does not report it.
pub fn free() -> Option<Free> {
    least(Path::new("/"), own_limit(Path::new("/")))
}

/// The least of all, with the system's files below `root`.
fn least(root: &Path, own: Option<u64>) -> Option<Free> {
    let of = |bytes: Option<u64>, limit| bytes.map(|bytes| Free { bytes, limit });
    [
        of(machine(root), Limit::Machine),
        of(control_groups(root), Limit::ControlGroup),
        of(own, Limit::Process),
    ]
    .into_iter()
    .flatten()
    .min_by_key(|free| free.bytes)
}

fn read(path: PathBuf) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// The number behind a word: `MemAvailable:   123 kB`.
fn number_after(text: &str, word: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(word))?;
    line.split_whitespace().next()?.parse().ok()
}

// ---------------------------------------------------------------------------
// The machine
// ---------------------------------------------------------------------------

fn machine(root: &Path) -> Option<u64> {
    let info = read(root.join("proc/meminfo"))?;
    let kilobytes = |word| number_after(&info, word);
    let available = kilobytes("MemAvailable:")?;
    // A machine may promise no more than it has.
    let is_strict =
        read(root.join("proc/sys/vm/overcommit_memory")).is_some_and(|mode| mode.trim() == "2");
    let promised = kilobytes("CommitLimit:").zip(kilobytes("Committed_AS:"));
    let left = match promised {
        Some((limit, promised)) if is_strict => available.min(limit.saturating_sub(promised)),
        _ => available,
    };
    Some(left * 1024)
}

// ---------------------------------------------------------------------------
// Control groups
// ---------------------------------------------------------------------------

/// Names of a memory controller's files.
struct Controller {
    folder: &'static str,
    limit: &'static str,
    used: &'static str,
    /// The name, in its statistics, of pages of files that are reclaimed first.
    reclaimable: &'static str,
}

const VERSION_1: Controller = Controller {
    folder: "sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file",
};

const VERSION_2: Controller = Controller {
    folder: "sys/fs/cgroup",
    limit: "memory.max",
    used: "memory.current",
    reclaimable: "inactive_file",
};

/// The least memory left in the groups of this process, and in those around them.
fn control_groups(root: &Path) -> Option<u64> {
    let groups = read(root.join("proc/self/cgroup"))?;
    groups
        .lines()
        .filter_map(|line| {
            let mut fields = line.splitn(3, ':');
            let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
            let controller = match controllers {
                "" => VERSION_2,
                list if list.split(',').any(|name| name == "memory") => VERSION_1,
                _ => return None,
            };
            let top = root.join(controller.folder);
            let group = top.join(path.trim_start_matches('/'));
            // From within a container, the path may not exist.
            let around = group
                .ancestors()
                .take_while(|folder| folder.starts_with(&top));
            around
                .filter_map(|folder| left_in(folder, &controller))
                .min()
        })
        .min()
}

fn left_in(group: &Path, controller: &Controller) -> Option<u64> {
    let number = |name: &str| read(group.join(name))?.trim().parse::<u64>().ok();
    // "max" is not a number and means no limit.
    let limit = number(controller.limit)?;
    let used = number(controller.used)?;
    let reclaimable = read(group.join("memory.stat"))
        .and_then(|stat| number_after(&stat, &format!("{} ", controller.reclaimable)))
        .unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(reclaimable)))
}

// ---------------------------------------------------------------------------
// The process
// ---------------------------------------------------------------------------

/// Memory left by the limits on address space and on data.
fn own_limit(root: &Path) -> Option<u64> {
    let status = read(root.join("proc/self/status"))?;
    let left = |resource, word| {
        let limit = getrlimit(resource).current?;
        Some(limit.saturating_sub(number_after(&status, word)? * 1024))
    };
    [
        left(Resource::As, "VmSize:"),
        left(Resource::Data, "VmData:"),
    ]
    .into_iter()
    .flatten()
    .min()
}

#[cfg(test)]
mod tests {
    use super::{Free, Limit, free, least};
    use std::path::Path;

    /// A root folder with these files.
    fn system(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        root
    }

    fn found(files: &[(&str, &str)]) -> Option<(u64, Limit)> {
        let root = system(files);
        least(root.path(), None).map(|Free { bytes, limit }| (bytes, limit))
    }

    const MEMINFO: (&str, &str) = (
        "proc/meminfo",
        "MemTotal: 9000 kB\nMemAvailable:    4000 kB\nCommitLimit: 5000 kB\nCommitted_AS: 3000 kB\n",
    );

    #[test]
    fn the_machine_tells_what_is_available() {
        assert_eq!(found(&[MEMINFO]), Some((4000 << 10, Limit::Machine)));
        assert_eq!(found(&[]), None);
        let strict = [MEMINFO, ("proc/sys/vm/overcommit_memory", "2\n")];
        assert_eq!(found(&strict), Some((2000 << 10, Limit::Machine)));
    }

    #[test]
    fn the_tightest_group_counts() {
        let files = [
            MEMINFO,
            ("proc/self/cgroup", "0::/outer/inner\n"),
            ("sys/fs/cgroup/outer/memory.max", "3000\n"),
            ("sys/fs/cgroup/outer/memory.current", "2500\n"),
            (
                "sys/fs/cgroup/outer/memory.stat",
                "anon 9\ninactive_file 300\n",
            ),
            ("sys/fs/cgroup/outer/inner/memory.max", "max\n"),
            ("sys/fs/cgroup/outer/inner/memory.current", "7\n"),
        ];
        assert_eq!(found(&files), Some((800, Limit::ControlGroup)));
    }

    #[test]
    fn a_container_sees_its_group_as_the_root() {
        let files = [
            MEMINFO,
            ("proc/self/cgroup", "0::/not/seen/from/here\n"),
            ("sys/fs/cgroup/memory.max", "1000\n"),
            ("sys/fs/cgroup/memory.current", "1200\n"),
        ];
        assert_eq!(found(&files), Some((0, Limit::ControlGroup)));
    }

    #[test]
    fn the_first_version_of_groups_is_read_too() {
        let files = [
            MEMINFO,
            ("proc/self/cgroup", "5:cpu:/a\n4:memory:/a\n"),
            ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "5000\n"),
            ("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "1000\n"),
            (
                "sys/fs/cgroup/memory/a/memory.stat",
                "total_inactive_file 100\n",
            ),
        ];
        assert_eq!(found(&files), Some((4100, Limit::ControlGroup)));
    }

    #[test]
    fn the_process_has_a_limit_of_its_own() {
        let root = system(&[MEMINFO]);
        let free = least(root.path(), Some(10)).expect("told");
        assert_eq!((free.bytes, free.limit), (10, Limit::Process));
    }

    #[test]
    fn this_machine_tells() {
        if Path::new("/proc/meminfo").exists() {
            assert!(free().expect("told").bytes > 0);
        }
    }
}
