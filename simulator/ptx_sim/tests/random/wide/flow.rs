//! Branches.

use std::fmt::Write as _;

use super::{Convergence, Place, Writer};
use crate::random::template::N_WORDS;

impl Writer<'_> {
    /// Tells the lanes inside which lanes take a branch: those of `among` for which a
    /// condition holds.
    fn vote(&mut self, inside: Place, condition: &str, among: &str) {
        if inside.convergence == Convergence::Some {
            let mask = inside.mask();
            self.line(&format!(
                "vote.sync.ballot.b32 {mask}, {condition}, {among}"
            ));
        }
    }

    /// A branch around statements, or a two-way branch.
    pub(super) fn write_if(&mut self, place: Place) {
        let (other, end) = (self.label(), self.label());
        let inside = place.inside();
        let condition = self.condition();
        self.vote(inside, &condition, &place.mask());
        self.line(&format!("@{} bra {other}", negated(&condition)));
        let length = 1 + self.random.below(5);
        self.sequence(length, inside);
        if self.random.one_in(2) {
            self.line(&format!("bra {end}"));
            self.mark(&other);
            if inside.convergence == Convergence::Some {
                let (inner, outer) = (inside.mask(), place.mask());
                self.line(&format!("xor.b32 {inner}, {inner}, {outer}"));
            }
            self.sequence(length, inside);
        } else {
            self.mark(&other);
        }
        self.mark(&end);
    }

    /// A loop: equally often for all, or a number of times per lane; with the condition
    /// above or below, and now and then an exit from the middle.
    pub(super) fn write_loop(&mut self, place: Place) {
        let (head, end) = (self.label(), self.label());
        let mut inside = place.inside();
        let (count, condition) = (format!("%c{}", place.depth), format!("%q{}", place.depth));
        let is_below = self.random.one_in(2);
        if self.random.one_in(3) {
            inside.convergence = place.convergence;
            let n = 1 + self.random.below(4);
            self.line(&format!("mov.u32 {count}, {n}"));
        } else {
            self.lines(&format!("and.b32 {count}, {{r}}, 3"), "");
        }
        inside.calls &= self.function.is_none();
        if inside.convergence != Convergence::Alone {
            self.line(&format!("mov.u32 {}, {}", inside.mask(), place.mask()));
        }
        self.mark(&head);
        if !is_below {
            self.line(&format!("setp.ne.u32 {condition}, {count}, 0"));
            self.vote(inside, &condition, &inside.mask());
            self.line(&format!("@!{condition} bra {end}"));
            self.line(&format!("sub.u32 {count}, {count}, 1"));
        }
        let length = 1 + self.random.below(4);
        self.sequence(length, inside);
        if inside.convergence != Convergence::Everyone && self.random.one_in(3) {
            let leaves = self.condition();
            self.vote(inside, &negated(&leaves), &inside.mask());
            self.line(&format!("@{leaves} bra {end}"));
            self.sequence(1, inside);
        }
        if is_below {
            self.line(&format!("sub.s32 {count}, {count}, 1"));
            self.line(&format!("setp.gt.s32 {condition}, {count}, 0"));
            self.vote(inside, &condition, &inside.mask());
            self.line(&format!("@{condition} bra {head}"));
        } else {
            self.line(&format!("bra {head}"));
        }
        self.mark(&end);
    }

    /// A branch by a table, to one of some labels.
    fn branch_by_table(&mut self, index: &str, targets: &[String]) {
        let table = self.label();
        let _ = writeln!(self.text, "{table}: .branchtargets {};", targets.join(", "));
        self.line(&format!("brx.idx {index}, {table}"));
    }

    /// One of several branches by a table, whose entries may be the same.
    pub(super) fn switch(&mut self, place: Place) {
        let end = self.label();
        let ways: Vec<String> = (0..3).map(|_| self.label()).collect();
        let inside = place.inside();
        let targets: Vec<String> = (0..4)
            .map(|_| ways[self.random.below(ways.len())].clone())
            .collect();
        let register = self.random.below(N_WORDS);
        self.line(&format!("and.b32 %t4, %r{register}, 3"));
        if inside.convergence == Convergence::Some {
            let (inner, outer) = (inside.mask(), place.mask());
            self.line(&format!("match.any.sync.b32 {inner}, %t4, {outer}"));
        }
        self.branch_by_table("%t4", &targets);
        for way in ways {
            self.mark(&way);
            let length = 1 + self.random.below(3);
            // Does not fall into the next branch, which others may have reached.
            self.sequence(length, inside);
            self.line(&format!("bra {end}"));
        }
        self.mark(&end);
    }

    /// A branch to the statement that follows anyway.
    pub(super) fn hop(&mut self) {
        let next = self.label();
        let condition = self.condition();
        match self.random.below(3) {
            0 => self.line(&format!("@{condition} bra {next}")),
            1 => self.line(&format!("bra {next}")),
            _ => {
                self.line(&format!("@{condition} bra {next}"));
                self.line(&format!("bra {next}"));
            }
        }
        self.mark(&next);
    }

    /// Blocks that lead anywhere, until the fuel of each thread is used up.
    pub(super) fn maze(&mut self, place: Place) {
        let end = self.label();
        let n_blocks = 2 + self.random.below(4);
        let blocks: Vec<String> = (0..n_blocks).map(|_| self.label()).collect();
        let inside = Place {
            convergence: Convergence::Alone,
            blocks: false,
            calls: place.calls && self.function.is_none(),
            ..place.inside()
        };
        let fuel = 3 + self.random.below(8);
        self.line(&format!("mov.s32 %fuel, {fuel}"));
        self.lines("and.b32 %t4, {r}, 3", "");
        let targets: Vec<String> = (0..4).map(|_| self.one_of(&blocks)).collect();
        self.branch_by_table("%t4", &targets);
        for (i, block) in blocks.iter().enumerate() {
            self.mark(block);
            self.line("sub.s32 %fuel, %fuel, 1");
            self.line("setp.lt.s32 %q6, %fuel, 0");
            self.line(&format!("@%q6 bra {end}"));
            let length = 1 + self.random.below(3);
            self.sequence(length, inside);
            let next = blocks.get(i + 1).unwrap_or(&end).clone();
            self.lead_anywhere(&blocks, &next);
        }
        self.mark(&end);
    }

    fn one_of(&mut self, labels: &[String]) -> String {
        labels[self.random.below(labels.len())].clone()
    }

    /// The end of a block of a maze.
    fn lead_anywhere(&mut self, blocks: &[String], next: &str) {
        let (one, other) = (self.one_of(blocks), self.one_of(blocks));
        let condition = self.condition();
        match self.random.below(6) {
            0 => self.line(&format!("bra {one}")),
            1 => self.line(&format!("@{condition} bra {one}")),
            2 => {
                self.line(&format!("@{condition} bra {one}"));
                self.line(&format!("bra {other}"));
            }
            3 => {
                self.line(&format!("@{condition} bra {one}"));
                self.line(&format!("bra {one}"));
            }
            4 => {
                self.lines("and.b32 %t4, {r}, 3", "");
                let targets: Vec<String> = (0..4).map(|_| self.one_of(blocks)).collect();
                self.branch_by_table("%t4", &targets);
            }
            _ => self.line(&format!("@{condition} bra {next}")),
        }
    }

    /// An end in the middle of an entry or function, for some lanes. The others know that
    /// these have ended.
    pub(super) fn leave(&mut self, place: &mut Place) {
        let stay = self.label();
        let inside = place.inside();
        let condition = self.condition();
        self.vote(inside, &condition, &place.mask());
        self.line(&format!("@{} bra {stay}", negated(&condition)));
        self.sequence(
            2,
            Place {
                calls: false,
                ..inside
            },
        );
        if self.function.is_some() {
            self.store_result();
        } else {
            for i in 0..N_WORDS {
                self.line(&format!("st.global.b32 [%out+{}], %r{i}", 8 * i));
            }
        }
        let end = if self.function.is_none() && self.random.one_in(2) {
            "exit"
        } else {
            "ret"
        };
        self.line(end);
        self.mark(&stay);
        if inside.convergence == Convergence::Some {
            let (inner, outer) = (inside.mask(), place.mask());
            self.line(&format!("xor.b32 {outer}, {outer}, {inner}"));
            place.convergence = Convergence::Some;
        }
    }
}

/// A condition's negation.
pub(super) fn negated(condition: &str) -> String {
    condition
        .strip_prefix('!')
        .map_or_else(|| format!("!{condition}"), str::to_owned)
}
