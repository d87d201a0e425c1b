//! The maps as text for a terminal, in lines of this many columns.

mod banks;
mod fragments;
mod places;
mod sectors;
mod timeline;
