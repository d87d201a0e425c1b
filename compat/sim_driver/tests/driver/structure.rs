//! The structure of the source: what imports what.

use std::path::Path;

#[test]
fn nothing_imports_the_functions_but_the_library_itself() {
    for (file, targets) in structure::imports_of(Path::new("src"), (40, 120)) {
        let is_below = !file.starts_with("api/") && file != "lib.rs";
        let above = targets.iter().find(|target| target.starts_with("api/"));
        assert!(!(is_below && above.is_some()), "{file} imports {above:?}");
    }
}
