//! The simulator's fidelity: `FIDELITY.md` is made here from the data that an H200 gave, the lists
//! of `SUPPORTED.md` and what the decoder says of an instruction.
//!
//! `BLESS=1 cargo test -p ptx_sim-tests --test plain fidelity` writes the file anew. No figure in
//! it is typed by hand; the tests that own the data check the figures.

mod counts;
mod document;
mod evidence;
mod instructions;
mod modelled;
mod probe;
mod single;

#[test]
fn the_document_is_current() {
    let path = "../FIDELITY.md";
    let text = document::document();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, text).unwrap();
        return;
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == text,
        "{path} is not current: BLESS=1 cargo test -p ptx_sim-tests --test plain fidelity"
    );
}
