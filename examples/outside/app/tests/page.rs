//! The page that shows the kernels' cost.

#[test]
fn the_page_has_both_kernels_with_their_lines_and_maps() {
    let html = outside_app::page().unwrap().html();
    for words in [
        "<code>row_sums</code>",
        "<code>row_sums_shared</code>",
        "through shared memory",
        // The source, with a link to the map of a line.
        "kernels/src/lib.rs",
        "href=\"#sums/row_sums_shared@lib.rs:",
        "no bank conflicts",
        "class=\"packed\"",
    ] {
        assert!(html.contains(words), "the page lacks {words}");
    }
    // Times come from a GPU alone.
    assert!(html.contains("Times: not measured."));
}
