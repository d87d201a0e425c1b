//! Answers as parts of a page. The page brings style and controls.

use ptx_sim::{Counts, Report};
use std::fmt::Write;

/// The verdict on the kernel's result.
pub fn verdict(is_right: bool) -> String {
    match is_right {
        true => {
            "<p class=\"live-verdict live-right\">The kernel ran, and its result is right.</p>\n"
        }
        false => {
            "<p class=\"live-verdict live-wrong\">The kernel ran, and its result is wrong.</p>\n"
        }
    }
    .to_owned()
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

/// A line of the table of counts.
struct Line {
    what: &'static str,
    numbers: [u64; 3],
}

/// The costs of the accesses to shared memory.
pub fn shared_counts(report: &Report) -> String {
    let counts: &Counts = &report.counts;
    let lines = [
        Line {
            what: "write to the tile, by rows",
            numbers: [
                counts.shared_store_requests,
                counts.shared_store_wavefronts,
                counts.shared_store_conflicts,
            ],
        },
        Line {
            what: "read from the tile",
            numbers: [
                counts.shared_load_requests,
                counts.shared_load_wavefronts,
                counts.shared_load_conflicts,
            ],
        },
        Line {
            what: "read from the tile by ldmatrix",
            numbers: [
                counts.ldmatrix_requests,
                counts.ldmatrix_wavefronts,
                counts.ldmatrix_conflicts,
            ],
        },
    ];
    table(["requests", "wavefronts", "bank conflicts"], &lines)
}

/// The costs of the accesses to global memory.
pub fn global_counts(report: &Report) -> String {
    let counts: &Counts = &report.counts;
    let lines = [
        Line {
            what: "load",
            numbers: [
                counts.global_load_requests,
                counts.global_load_sectors,
                counts.global_load_bytes,
            ],
        },
        Line {
            what: "store",
            numbers: [
                counts.global_store_requests,
                counts.global_store_sectors,
                counts.global_store_bytes,
            ],
        },
    ];
    table(["requests", "sectors", "bytes used"], &lines)
}

fn table(heads: [&str; 3], lines: &[Line]) -> String {
    let mut html = String::from(
        "<div class=\"table-box\" tabindex=\"0\" role=\"region\" aria-label=\"Counts\">\
         <table class=\"live-counts\"><caption>Counted by the simulator, the whole block</caption>\
         <thead><tr><th scope=\"col\">access</th>",
    );
    for head in heads {
        let _ = write!(html, "<th scope=\"col\">{head}</th>");
    }
    html.push_str("</tr></thead><tbody>");
    for line in lines.iter().filter(|line| line.numbers[0] > 0) {
        let _ = write!(html, "<tr><th scope=\"row\">{}</th>", line.what);
        for number in line.numbers {
            let _ = write!(html, "<td>{number}</td>");
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>\n");
    html
}
