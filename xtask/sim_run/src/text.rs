//! The findings for a terminal: only the first ones if there are many.

use crate::found::{Finding, Found, Leak, Line, plural};
use std::io::{Result, Write};

/// Lines of source, findings and allocations that are shown; the report has all.
const MOST_SHOWN: usize = 20;

/// Prints the report.
pub fn tell(found: &Found, out: &mut impl Write) -> Result<()> {
    writeln!(out)?;
    let kernels = plural(found.kernels.len() as u64, "kernel", "kernels");
    writeln!(out, "lockstep: {kernels} on the simulator")?;
    for (name, kernel) in &found.kernels {
        let launches = plural(kernel.n_launches, "launch", "launches");
        write!(out, "  {name}: {launches}, {:.3} s", kernel.seconds)?;
        if kernel.n_failed > 0 {
            write!(out, ", {} ended badly", kernel.n_failed)?;
        }
        if kernel.n_tried > 0 {
            let (n, seconds) = (kernel.n_tried, kernel.seconds_tried);
            write!(out, ", {n} tried in other orders in {seconds:.3} s")?;
        }
        writeln!(out)?;
        if kernel.n_unchecked > 0 {
            writeln!(out, "    {}", kernel.unchecked())?;
        }
        if let Some(why) = &kernel.not_tried {
            writeln!(out, "    not tried in other orders: {why}")?;
        }
        for line in kernel.lines.iter().take(MOST_SHOWN) {
            tell_line(line, out)?;
        }
        and_more(kernel.lines.len(), out)?;
    }
    tell_leaks(&found.leaks, out)?;
    for text in found.not_loaded.iter().take(MOST_SHOWN) {
        writeln!(out)?;
        writeln!(out, "{text}")?;
    }
    and_more(found.not_loaded.len(), out)?;
    tell_findings("note: ", &found.notes, found, out)?;
    tell_findings("", &found.findings, found, out)?;
    writeln!(out)?;
    writeln!(out, "lockstep: {}", found.in_short())
}

fn and_more(n: usize, out: &mut impl Write) -> Result<()> {
    match n.saturating_sub(MOST_SHOWN) {
        0 => Ok(()),
        n => writeln!(out, "and {n} more"),
    }
}

fn tell_findings(
    label: &str,
    findings: &[Finding],
    found: &Found,
    out: &mut impl Write,
) -> Result<()> {
    for finding in findings.iter().take(MOST_SHOWN) {
        writeln!(out)?;
        writeln!(out, "{label}{}: {}", finding.heading(), finding.text)?;
        if let Some(again) = finding.again(found) {
            writeln!(out, "  all launches in that order: {again}")?;
        }
        if let Some(step) = finding.step(found) {
            writeln!(out, "  to step through it: {step}")?;
        }
    }
    and_more(findings.len(), out)
}

/// A line with conflicts or more sectors than needed.
fn tell_line(line: &Line, out: &mut impl Write) -> Result<()> {
    write!(out, "    {}: {}", line.place, line.opcode)?;
    if line.conflicts > 0 {
        let conflicts = plural(line.conflicts, "bank conflict", "bank conflicts");
        write!(out, ", {conflicts}")?;
    }
    if line.sectors > line.ideal_sectors {
        let (sectors, ideal) = (line.sectors, line.ideal_sectors);
        write!(out, ", {sectors} sectors where {ideal} would do")?;
    }
    writeln!(out)
}

/// Allocations that were never freed.
fn tell_leaks(leaks: &[Leak], out: &mut impl Write) -> Result<()> {
    for leak in leaks.iter().take(MOST_SHOWN) {
        writeln!(out)?;
        writeln!(
            out,
            "never freed: {} bytes at {:#x}",
            leak.n_bytes, leak.address
        )?;
        for frame in &leak.frames {
            writeln!(out, "  {frame}")?;
        }
    }
    and_more(leaks.len(), out)
}

#[cfg(test)]
mod tests {
    use super::tell;

    #[test]
    fn findings_lines_and_leaks_are_told() {
        let found = serde_json::json!({
            "kernels": {"k": {"n_launches": 1, "n_failed": 1, "n_unchecked": 2, "seconds": 0.5, "lines": [
                {"place": "a.cu:7", "opcode": "ld.shared.f32", "conflicts": 31},
                {"place": "a.cu:9", "opcode": "ld.global.f32", "sectors": 8, "ideal_sectors": 4},
            ]}},
            "findings": [
                {"kernel": "k", "launch": 1, "device": 7, "text": "a race"},
                {"kernel": "k", "launch": 2, "schedule": "3/warps", "text": "it differs"},
            ],
            "notes": [{"kernel": "k", "launch": 3, "schedule": "4", "text": "it may"}],
            "n_more_findings": 2,
            "not_loaded": ["a module cannot be loaded: only machine code"],
            "leaks": [{"address": 4096, "n_bytes": 16, "frames": ["main at a.cu:3"]}],
        });
        let found = serde_json::from_value(found).unwrap();
        let mut out = Vec::new();
        tell(&found, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for part in [
            "1 kernel on",
            "k: 1 launch, 0.500 s, 1 ended badly",
            "a.cu:7: ld.shared.f32, 31 bank conflicts",
            "a.cu:9: ld.global.f32, 8 sectors where 4 would do",
            "launch 1 of `k` on device 7: a race",
            "    2 launches ran without checks: ",
            "launch 2 of `k`, under schedule 3/warps: it differs",
            "sim-run --schedule 3/warps --",
            "note: launch 3 of `k`, under schedule 4: it may",
            "\na module cannot be loaded: only machine code\n",
            "never freed: 16 bytes at 0x1000",
            "main at a.cu:3",
            "4 findings, 1 note; 1 module not loaded; 1 allocation never freed",
        ] {
            assert!(text.contains(part), "{part} is not in:\n{text}");
        }
    }
}
