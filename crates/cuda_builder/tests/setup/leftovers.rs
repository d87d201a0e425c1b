//! What lies in the cache folder when a run begins: of earlier runs, of older
//! versions of this program, of a machine that lost its power.

use crate::machine::Machine;
use std::fs;
use std::path::Path;

/// How many compilers, whole or not, lie in runs' folders.
pub fn trees(cache: &Path) -> usize {
    let entries = fs::read_dir(cache).unwrap().flatten();
    entries
        .filter(|entry| entry.path().join("unpacked").exists())
        .count()
}

fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// As the first version left it: one folder for each suite, which every run used.
#[test]
fn of_an_older_version_packages_are_taken_and_nothing_stays() {
    let machine = Machine::new();
    let old = machine.cache().join("fetch/sid");
    write(
        &old.join("debs/rustc_1.97.1_amd64.deb"),
        machine.deb("rustc"),
    );
    let cut = &machine.deb("libc6")[..3000];
    write(&old.join("debs/libc6_1.97.1_amd64.deb"), cut);
    write(&old.join("debs/rustc_1.96.0_amd64.deb"), "an older release");
    write(&old.join("lists/Packages"), "cut");
    write(&old.join("lists/lock"), "");
    write(&old.join("apt.conf"), "Dir::State");
    write(&machine.cache().join("fetch/testing/status"), "");
    let partial = machine.cache().join("rustc-1.97.1-amd64.partial");
    write(&partial.join("usr/bin/rustc"), "");

    let (said, made) = machine.ensure_aloud();
    made.unwrap();
    assert!(
        said.iter()
            .any(|line| line.contains("1 of 3 packages are here")),
        "{said:?}"
    );
    machine.assert_ready("after an older version");
}

#[test]
fn that_are_of_no_use_are_thrown_away_in_one_line() {
    let machine = Machine::new();
    let left = machine.cache().join("unfinished-1");
    let size = machine.deb("rustc").len();
    write(&left.join("packages/rustc.deb"), vec![0; size]);
    write(&left.join("apt-0/lists/Packages"), "cut");
    write(&left.join("unpacked/bin/rustc"), "");
    write(&machine.cache().join("unfinished-2"), "a file");
    let (said, made) = machine.ensure_aloud();
    made.unwrap();
    let about: Vec<_> = said
        .iter()
        .filter(|line| line.contains("interrupted"))
        .collect();
    assert_eq!(
        about,
        [
            "an interrupted fetch left no whole package; fetching rustc 1.97.1 afresh: 3 packages, 1 MB"
        ]
    );
    machine.assert_ready("after rubbish");
}

#[test]
fn that_are_somebody_elses_are_left_alone() {
    let machine = Machine::new();
    write(&machine.cache().join("fetch/notes.txt"), "mine");
    write(&machine.cache().join("photos/rustc.deb"), "mine");
    machine.ensure().unwrap();
    assert_eq!(
        machine.listing(),
        ["fetch", "lock", "photos", "rustc-1.97.1-amd64"]
    );
    assert!(machine.cache().join("fetch/notes.txt").exists());
}

/// Nothing is fetched when everything is here.
#[test]
fn with_all_packages_only_need_unpacking() {
    let machine = Machine::new();
    let left = machine.cache().join("unfinished-1/found");
    for (number, name) in ["rustc", "rust-src", "libc6"].into_iter().enumerate() {
        write(&left.join(format!("{number}.deb")), machine.deb(name));
    }
    let (said, made) = machine.ensure_aloud();
    made.unwrap();
    assert!(
        said.contains(
            &"continuing an interrupted fetch of rustc 1.97.1: all 3 packages are here".into()
        ),
        "{said:?}"
    );
    assert!(!machine.log().contains("download"), "{}", machine.log());
}

type Damage<'a> = (&'a str, &'a dyn Fn(&Machine));

/// What a machine that lost its power may leave where the compiler should be.
#[test]
fn in_the_place_of_the_compiler_give_way() {
    let cut = |machine: &Machine, name: &str, n_bytes: u64| {
        let file = fs::File::options()
            .write(true)
            .open(machine.entry().join(name));
        file.unwrap().set_len(n_bytes).unwrap();
    };
    let damages: [Damage; 6] = [
        ("an empty record", &|m| cut(m, "stamp.json", 0)),
        ("half a record", &|m| cut(m, "stamp.json", 200)),
        ("an empty launcher", &|m| cut(m, "bin/rustc", 0)),
        ("an empty compiler", &|m| cut(m, "usr/bin/rustc", 0)),
        ("no library", &|m| {
            fs::remove_dir_all(m.entry().join("usr/lib/rustlib")).unwrap();
        }),
        ("a file", &|m| {
            fs::remove_dir_all(m.entry()).unwrap();
            fs::write(m.entry(), "").unwrap();
        }),
    ];
    for (what, damage) in damages {
        let machine = Machine::new();
        machine.ensure().unwrap();
        damage(&machine);
        assert!(machine.locator.locate().unwrap().is_none(), "{what}");
        let (said, made) = machine.ensure_aloud();
        made.unwrap_or_else(|e| panic!("{what}: {e}"));
        let about = said
            .iter()
            .filter(|line| line.contains("is damaged ("))
            .count();
        assert_eq!(about, 1, "{what}: {said:?}");
        machine.assert_ready(what);
    }
}

/// A folder locks as well as a file does.
#[test]
fn in_the_place_of_the_lock_do_no_harm() {
    let machine = Machine::new();
    fs::create_dir_all(machine.cache().join("lock")).unwrap();
    machine.ensure().unwrap();
    machine.assert_ready("with a folder named lock");
}

/// A run that was killed when all but the tidying was done.
#[test]
fn beside_a_compiler_are_removed_when_it_is_used() {
    let machine = Machine::new();
    machine.ensure().unwrap();
    machine.forget_log();
    let left = machine.cache().join("unfinished-1/packages/rustc.deb");
    write(&left, machine.deb("rustc"));
    let lock = fs::File::open(machine.cache().join("lock")).unwrap();
    lock.lock().unwrap();
    machine.ensure().unwrap();
    assert!(left.exists(), "not while somebody fetches");
    lock.unlock().unwrap();
    machine.ensure().unwrap();
    machine.assert_ready("used");
    assert_eq!(machine.log(), "");
}
