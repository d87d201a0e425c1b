//! Programs that nvcc compiles here, run on the simulator; skipped, with a message, if there is no
//! nvcc. `NVCC` names it if it is not on the path.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The compiler, and the version of its runtime.
struct Nvcc {
    program: OsString,
    version: u32,
}

fn nvcc() -> Option<Nvcc> {
    let program = std::env::var_os("NVCC").unwrap_or_else(|| "nvcc".into());
    let output = Command::new(&program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, release) = text.split_once("release ")?;
    let version = release.split_once('.')?.0.parse().ok()?;
    Some(Nvcc { program, version })
}

/// Builds the libraries, and copies them into a folder under their own names.
fn libraries(folder: &Path, version: u32) {
    let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let built = Command::new(cargo)
        .current_dir(root)
        .args(["build", "--quiet", "--package=sim_driver_library"])
        .arg(format!("--package=sim_runtime_library_{version}"))
        .status();
    assert!(built.expect("cargo can be run").success());
    // `…/debug/deps/programs-…`
    let own = std::env::current_exe().expect("it has a path");
    let target = own.ancestors().nth(2).expect("the profile's folder");
    let runtime = format!("libcudart.so.{version}");
    let place = |built: &str, name: &str| {
        std::fs::copy(target.join(built), folder.join(name)).expect("it can be copied");
    };
    place("libcuda.so", "libcuda.so.1");
    place(&format!("libcudart{version}.so"), &runtime);
    // The one that programs are linked with.
    place(&format!("libcudart{version}.so"), "libcudart.so");
}

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(folder: &Path, program: &str, checked: bool) -> (Output, String) {
    let report = folder.join("report.json");
    let output = Command::new(folder.join(program))
        .env("LD_LIBRARY_PATH", folder)
        .env("LOCKSTEP_SIM_CHECK", if checked { "1" } else { "0" })
        .env("LOCKSTEP_SIM_COUNTERS", "1")
        .env("LOCKSTEP_SIM_REPORT", &report)
        .output();
    let output = output.expect("the program can be run");
    (output, std::fs::read_to_string(report).unwrap_or_default())
}

#[test]
fn programs_of_nvcc_run_and_their_defects_are_found() {
    let Some(nvcc) = nvcc() else {
        eprintln!("skipped: there is no nvcc (NVCC names one)");
        return;
    };
    let folder = std::env::temp_dir().join(format!("lockstep-programs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let folder = Folder(folder);
    libraries(&folder.0, nvcc.version);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let compile = |source: &str, program: &str, runtime: &str, further: &[&str]| {
        let status = Command::new(&nvcc.program)
            .args(["-cudart", runtime])
            .args(further)
            .args(["-lineinfo", "-arch=compute_90", "-L"])
            .arg(&folder.0)
            // The Python packages have the static runtime here.
            .arg("-L")
            .arg(Path::new(&nvcc.program).with_file_name("../lib"))
            .arg(sources.join(source))
            .arg("-o")
            .arg(folder.0.join(program))
            .status();
        status.expect("nvcc can be run").success()
    };
    let streams = ["-default-stream", "per-thread"];
    let none = "\"findings\": []";
    let all: [(_, &[&str], _, _); 7] = [
        ("features", &[], "all as expected", none),
        ("features", &["-rdc=true"], "all as expected", none),
        ("features", &streams, "all as expected", none),
        ("race", &[], "no error: 128", "race.cu:13"),
        ("leak", &[], "no error: 2 126", "\"n_bytes\": 256"),
        ("conflict", &[], "no error: 32 1", "\"conflicts\": 992"),
        (
            "bounds",
            &[],
            "ran: an illegal memory access",
            "bounds.cu:7",
        ),
    ];
    for (name, further, printed, reported) in all {
        assert!(compile(&format!("{name}.cu"), name, "shared", further));
        let (output, report) = run(&folder.0, name, true);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(printed), "{name} printed:\n{text}");
        let loose = |text: &str| text.replace(' ', "");
        assert!(
            loose(&report).contains(&loose(reported)),
            "{name}:\n{report}"
        );
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(errors, "", "{name} wrote to standard error");
    }
    // The toolkit's own libraries may be missing.
    if compile("leak.cu", "static", "static", &[]) {
        let (output, _) = run(&folder.0, "static", false);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains("nvcc -cudart shared"), "{errors}");
    } else {
        eprintln!("not tried: a program with the static runtime cannot be linked here");
    }
}
