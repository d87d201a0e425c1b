//! Kernels with one defect each, and the report that it must give.
//!
//! `fail/<kind>/<defect>.ptx` says in its first comment how it is launched; the
//! expected report stands beside it. After a change of the wording,
//! `BLESS=1 cargo test -p ptx_sim --test fail` writes the reports anew: read
//! the difference before committing it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use ptx_sim::{Device, Launch, LaunchOptions, Module};

/// `// launch: grid 1 1 1, block 32 1 1, shared 0, words 32, fuel 1000, check`
fn settings(text: &str) -> HashMap<String, Vec<u64>> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("// launch:"))
        .expect("a line `// launch: …`");
    line.split(',')
        .map(|part| {
            let mut words = part.split_whitespace();
            let name = words.next().expect("a setting's name").to_owned();
            (name, words.map(|w| w.parse().expect("a number")).collect())
        })
        .collect()
}

/// Launches the kernel `k` of a file and gives what is reported.
fn report(text: &str) -> String {
    let settings = settings(text);
    let triple = |name: &str| match settings.get(name).map(Vec::as_slice) {
        Some([x, y, z]) => [*x as u32, *y as u32, *z as u32],
        _ => [1, 1, 1],
    };
    let number = |name: &str, default| settings.get(name).map_or(default, |v| v[0]);
    let module = match Module::parse(text) {
        Ok(module) => module,
        Err(error) => return format!("parse error: {error}"),
    };
    let mut device = Device::new();
    let loaded = match device.load(&module) {
        Ok(loaded) => loaded,
        Err(error) => return format!("load error: {error}"),
    };
    let buffer = device
        .alloc(8 * number("words", 32), "buffer")
        .expect("enough memory");
    let freed = device.alloc(256, "freed").expect("enough memory");
    device.free(freed).expect("just allocated");
    let bytes = [buffer.to_le_bytes(), freed.to_le_bytes()];
    let n_params = number("params", 1) as usize;
    let params: Vec<&[u8]> = bytes.iter().take(n_params).map(|b| &b[..]).collect();
    let launch = Launch {
        grid: triple("grid"),
        block: triple("block"),
        dynamic_shared_bytes: number("shared", 0) as u32,
        params: &params,
        options: LaunchOptions {
            fuel: settings.get("fuel").map(|v| v[0]),
            threads: Some(1),
            check: settings.contains_key("check"),
            ..Default::default()
        },
    };
    match device.launch(&loaded, "k", &launch) {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn ptx_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(ptx_files(&path));
        } else if path.extension().is_some_and(|e| e == "ptx") {
            files.push(path);
        }
    }
    files.sort();
    files
}

#[test]
fn every_defect_is_reported() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fail");
    let bless = std::env::var_os("BLESS").is_some();
    let files = ptx_files(&folder);
    assert!(files.len() >= 20, "the files are there");
    let mut wrong = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a readable file");
        let got = report(&text) + "\n";
        let beside = file.with_extension("txt");
        if bless {
            fs::write(&beside, &got).expect("a writable folder");
        }
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        if got != expected {
            let name = file
                .strip_prefix(&folder)
                .expect("below the folder")
                .display()
                .to_string();
            wrong.push(format!(
                "{name}\n--- expected\n{expected}--- reported\n{got}"
            ));
        }
        assert_ne!(got, "no error\n", "{} must fail", file.display());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
