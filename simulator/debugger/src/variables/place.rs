//! A variable's place at an instruction: from what DWARF says there to what can be believed.

use super::expression::{self, RawPiece, RawPlace};
use super::flow::Claim;
use super::location::{Location, Piece, Place, Reason, Variable};
use super::scopes::{Declared, Function};
use super::types::Type;
use std::cell::OnceCell;
use std::ops::Range;

impl Function {
    /// The variables in scope before the instruction at `index`.
    pub fn at(&self, index: usize) -> Vec<Variable> {
        let here = self.calls.get(index).cloned().flatten();
        let is_here = |declared: &&Declared| {
            let in_call = here
                .as_ref()
                .is_none_or(|here| here.ends_with(&declared.calls));
            in_call && declared.scope.iter().any(|range| range.contains(&index))
        };
        let mut variables: Vec<Variable> = self
            .declared
            .iter()
            .filter(is_here)
            .map(|declared| Variable {
                name: declared.name.clone(),
                is_parameter: declared.is_parameter,
                ty: declared.ty.clone(),
                frame: declared.frame.clone(),
                location: self.location(declared, index),
            })
            .collect();
        variables.sort_by_key(|variable| variable.frame.depth);
        variables
    }

    fn location(&self, declared: &Declared, index: usize) -> Location {
        if declared.ty.size() == 0 && matches!(*declared.ty, Type::Struct { .. }) {
            return Location::Pieces(Vec::new());
        }
        let is_here = |(range, _): &&(Range<usize>, Vec<u8>)| range.contains(&index);
        let mut here = declared.located.iter().filter(is_here);
        let Some((_, operations)) = here.next() else {
            return Location::Lost(Reason::NotKept);
        };
        if here.next().is_some() {
            return Location::Lost(Reason::NotUnderstood("two places at once"));
        }
        let all = OnceCell::new();
        let pieces = expression::pieces(operations).into_iter().map(|piece| {
            let size = piece.size.unwrap_or(declared.ty.size());
            let place = match &piece.place {
                RawPlace::Register(name) if size > 0 => {
                    self.register(declared, &piece, name, size, index, &all)
                }
                place => self.place(place, size),
            };
            Piece {
                offset: piece.offset,
                size,
                place,
            }
        });
        let pieces: Vec<Piece> = pieces.collect();
        let mut lost = pieces.iter().map(|piece| match &piece.place {
            Place::Lost(reason) => Some(reason),
            _ => None,
        });
        match lost.next() {
            Some(Some(reason)) if lost.all(|other| other.is_some()) => {
                Location::Lost(reason.clone())
            }
            _ => Location::Pieces(pieces),
        }
    }

    /// A place other than a register.
    fn place(&self, place: &RawPlace, size: u64) -> Place {
        let not_understood = |why| Place::Lost(Reason::NotUnderstood(why));
        if size == 0 {
            return not_understood("its type");
        }
        match place {
            RawPlace::Nowhere | RawPlace::Register(_) => Place::Lost(Reason::NotKept),
            RawPlace::NotUnderstood(why) => not_understood(why),
            RawPlace::Number(_) if size > 8 => not_understood("a number for more than 8 bytes"),
            RawPlace::Number(number) => {
                Place::Constant(number.to_le_bytes()[..size as usize].to_vec())
            }
            RawPlace::Bytes(bytes) => match bytes.get(..size as usize) {
                Some(bytes) => Place::Constant(bytes.to_vec()),
                None => not_understood("too few bytes"),
            },
            RawPlace::Address(address) => self.memory(*address),
        }
    }

    fn memory(&self, address: u64) -> Place {
        let Some((name, offset)) = self.sections.symbol(address) else {
            return Place::Lost(Reason::NotUnderstood("an address without a name"));
        };
        match self.spaces.get(name) {
            Some(&space) => Place::Memory {
                space,
                name: name.to_owned(),
                offset,
            },
            None => Place::Lost(Reason::NotUnderstood(
                "a name that this function cannot use",
            )),
        }
    }

    /// A register, if it can be believed to hold the piece.
    fn register(
        &self,
        declared: &Declared,
        piece: &RawPiece,
        name: &str,
        size: u64,
        index: usize,
        all: &AllPieces,
    ) -> Place {
        let Some(register) = self.registers.get(name) else {
            return Place::Lost(Reason::NotUnderstood("a register that is not used"));
        };
        if size > register.size {
            return Place::Lost(Reason::NotUnderstood("a register that is too small"));
        }
        let flow = self.flow.of_register(register.id, self.ranges);
        let checked = match flow.is_assigned(index) {
            false => Err(Reason::NotYet(name.to_owned())),
            true if flow.has_one_value(declared.has_one_place) => Ok(()),
            true if flow.holds(&claim(declared, piece, all), index) => Ok(()),
            true => Err(Reason::Overwritten(name.to_owned())),
        };
        match checked {
            Ok(()) => Place::Register(name.to_owned()),
            Err(reason) => Place::Lost(reason),
        }
    }
}

/// The pieces of all of a variable's places, once they are needed.
type AllPieces = OnceCell<Vec<Vec<RawPiece>>>;

/// Where a piece is at the same place as here, and where it is elsewhere.
fn claim(declared: &Declared, piece: &RawPiece, all: &AllPieces) -> Claim {
    let located = &declared.located;
    let all = all.get_or_init(|| {
        let pieces = located
            .iter()
            .map(|(_, operations)| expression::pieces(operations));
        pieces.collect()
    });
    let mut claim = Claim::default();
    for ((range, _), pieces) in located.iter().zip(all) {
        let ranges = match pieces.contains(piece) {
            true => &mut claim.there,
            false => &mut claim.elsewhere,
        };
        match ranges.last_mut() {
            // Another piece has moved, this one has not.
            Some(last) if last.end == range.start => last.end = range.end,
            _ => ranges.push(range.clone()),
        }
    }
    claim
}
