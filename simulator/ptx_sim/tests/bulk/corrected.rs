//! The kernels of `tests/fail/bulk` with their seeded defect removed: nothing is found.
//!
//! In those files a line after `//right` is missing, and a line that ends in `//wrong` is
//! superfluous.

use ptx_sim::{Device, Launch, LaunchOptions, Module};

/// The kernel as it should be; none if the file does not say.
fn right(text: &str) -> Option<String> {
    let is_marked = text.contains("//right ") || text.contains("//wrong");
    let lines = text.lines().filter(|line| !line.ends_with("//wrong"));
    let lines = lines.map(|line| line.strip_prefix("//right ").unwrap_or(line));
    is_marked.then(|| lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn without_its_defect_each_kernel_is_right() {
    let mut n_corrected = 0;
    for entry in std::fs::read_dir("fail/bulk").expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|e| e != "ptx") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let Some(text) = right(&text) else { continue };
        let module = Module::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for check in [false, true] {
            let device = Device::new();
            let loaded = device.load(&module).expect("a module");
            let buffer = device.alloc(512, "buffer").expect("memory");
            device.fill(buffer, 512, 0).expect("the buffer");
            let launch = Launch {
                grid: [1, 1, 1],
                block: [64, 1, 1],
                dynamic_shared_bytes: 0,
                params: &[&buffer.to_le_bytes()],
                options: LaunchOptions {
                    check,
                    fuel: Some(100_000),
                    ..Default::default()
                },
            };
            if let Err(error) = device.launch(&loaded, "k", &launch) {
                panic!("{}, check {check}: {error}", path.display());
            }
        }
        n_corrected += 1;
    }
    assert!(n_corrected >= 14, "{n_corrected} corrected kernels");
}
