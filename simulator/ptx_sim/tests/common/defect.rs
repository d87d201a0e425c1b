//! Kernels with one defect each (`fail/`), and how they are launched.

use std::collections::HashMap;

use ptx_sim::{Device, Launch, LaunchOptions, LoadedModule, Module};

/// `// launch: grid 1 1 1, block 32 1 1, shared 0, words 32, fuel 1000, check`;
/// `poisoned`: the buffer of that many 8-byte words is unwritten.
pub fn settings(text: &str) -> HashMap<String, Vec<u64>> {
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

/// Prepares the launch of kernel `k` of a file; why its module is refused, if it is.
pub fn with_launch<R>(
    text: &str,
    f: impl FnOnce(&Device, &LoadedModule, &Launch<'_>) -> R,
) -> Result<R, String> {
    let settings = settings(text);
    let triple = |name: &str| match settings.get(name).map(Vec::as_slice) {
        Some([x, y, z]) => [*x as u32, *y as u32, *z as u32],
        _ => [1, 1, 1],
    };
    let number = |name: &str, default| settings.get(name).map_or(default, |v| v[0]);
    let module = Module::parse(text).map_err(|error| format!("parse error: {error}"))?;
    let device = Device::new();
    let loaded = device.load(&module);
    let loaded = loaded.map_err(|error| format!("load error: {error}"))?;
    let n_bytes = 8 * number("words", 32);
    let buffer = device.alloc(n_bytes, "buffer").expect("enough memory");
    let is_poisoned = settings.contains_key("poisoned");
    let byte = if is_poisoned { 0xFF } else { 0 };
    device.fill(buffer, n_bytes, byte).expect("the buffer");
    if is_poisoned {
        device.mark_unwritten(buffer, n_bytes).expect("the buffer");
    }
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
            cluster: settings.contains_key("cluster").then(|| triple("cluster")),
            ..Default::default()
        },
    };
    Ok(f(&device, &loaded, &launch))
}
