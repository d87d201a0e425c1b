//! The simulator beside the pages, as a script: a page that is opened from a disk may not fetch
//! other files, but may have scripts.

use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::Path;

/// Writes `live/simulator.js`: the library, packed, and the playground's PTX.
pub fn put(library: &Path, ptx: &Path, out: &Path) -> anyhow::Result<()> {
    let read =
        |path: &Path| fs::read(path).with_context(|| format!("{} is missing", path.display()));
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&read(library)?)?;
    let library = STANDARD.encode(packed.finish()?);
    let ptx = String::from_utf8(read(ptx)?)?;
    let data = serde_json::json!({ "library": library, "ptx": ptx });
    let dir = out.join("live");
    fs::create_dir_all(&dir)?;
    fs::write(
        dir.join("simulator.js"),
        format!("window.lockstepSimulator = {data};\n"),
    )?;
    Ok(())
}
