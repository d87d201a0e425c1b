//! Neighbour lists of atoms of the user's own: the atoms from a file, and a picture of them with
//! their bonds. The lists are those of the lesson.

pub mod file;
pub mod svg;
