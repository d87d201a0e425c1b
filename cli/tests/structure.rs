//! The shape of the source: what imports what.

use std::path::Path;

#[test]
fn no_files_or_modules_import_each_other_in_a_circle() {
    let files = structure::imports_of(Path::new("src"), (90, 250));
    structure::assert_no_circles(&files);
    structure::assert_no_circles(&structure::of_modules(&files));
}
