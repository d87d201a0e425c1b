//! Answers as parts of a page. The page brings style and controls.

use ptx_sim::Report;
use std::fmt::Write;

/// The verdict on the kernel's result.
pub fn verdict(is_right: bool) -> String {
    let word = if is_right { "right" } else { "wrong" };
    format!("<p class=\"live-verdict live-{word}\">The kernel ran, and its result is {word}.</p>\n")
}

/// A picture with a caption, in its own scrollable box.
pub fn picture(caption: &str, svg: &str) -> String {
    format!(
        "<figure class=\"map-figure\"><div class=\"map-box\" tabindex=\"0\" role=\"region\" \
         aria-label=\"{caption}\">\n{svg}</div><figcaption>{caption}.</figcaption></figure>\n"
    )
}

/// The command that shows the same in a terminal.
pub fn command(line: &str) -> String {
    format!("<p class=\"live-command\">In a terminal: <code>{line}</code></p>\n")
}

/// The costs of the accesses to shared memory.
pub fn shared_counts(report: &Report) -> String {
    let counts = &report.counts;
    let stores = [
        counts.shared_store_requests,
        counts.shared_store_wavefronts,
        counts.shared_store_conflicts,
    ];
    let loads = [
        counts.shared_load_requests,
        counts.shared_load_wavefronts,
        counts.shared_load_conflicts,
    ];
    let matrices = [
        counts.ldmatrix_requests,
        counts.ldmatrix_wavefronts,
        counts.ldmatrix_conflicts,
    ];
    let lines = [
        ("write to the tile, by rows", stores),
        ("read from the tile", loads),
        ("read from the tile by ldmatrix", matrices),
    ];
    table(["requests", "wavefronts", "bank conflicts"], &lines)
}

/// The costs of the accesses to global memory.
pub fn global_counts(report: &Report) -> String {
    let counts = &report.counts;
    let loads = [
        counts.global_load_requests,
        counts.global_load_sectors,
        counts.global_load_bytes,
    ];
    let stores = [
        counts.global_store_requests,
        counts.global_store_sectors,
        counts.global_store_bytes,
    ];
    let lines = [("load", loads), ("store", stores)];
    table(["requests", "sectors", "bytes used"], &lines)
}

/// A table of what accesses cost; those that there were none of are left out.
fn table(heads: [&str; 3], lines: &[(&str, [u64; 3])]) -> String {
    let mut html = String::from(
        "<div class=\"table-box\" tabindex=\"0\" role=\"region\" aria-label=\"Counts\">\
         <table class=\"live-counts\"><caption>Counted by the simulator, the whole block</caption>\
         <thead><tr><th scope=\"col\">access</th>",
    );
    for head in heads {
        let _ = write!(html, "<th scope=\"col\">{head}</th>");
    }
    html.push_str("</tr></thead><tbody>");
    for (what, numbers) in lines.iter().filter(|(_, numbers)| numbers[0] > 0) {
        let _ = write!(html, "<tr><th scope=\"row\">{what}</th>");
        for number in numbers {
            let _ = write!(html, "<td>{number}</td>");
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>\n");
    html
}
