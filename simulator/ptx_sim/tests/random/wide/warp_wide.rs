//! Warp-wide instructions, in any place.

use super::{Place, Writer};

/// `M` is the register of the lanes that come; `%t3` holds a distance.
const WARP_WIDE: &[&str] = &[
    "vote.sync.{all|any|uni}.pred {P}, {|!}{p}, M",
    "vote.sync.ballot.b32 {R}, {|!}{p}, M",
    "match.any.sync.b32 {R}, {r}, M",
    "and.b32 %t0, {r}, 3; match.any.sync.b32 {R}, %t0, M",
    "and.b64 %u0, {d}, 3; match.any.sync.b64 {R}, %u0, M",
    "match.all.sync.b32 {R}|{P}, {r}, M",
    "and.b64 %u0, {d}, 1; match.all.sync.b64 {R}|{P}, %u0, M",
    "redux.sync.{add|min|max}.{u32|s32} {R}, {r}, M",
    "redux.sync.{and|or|xor}.b32 {R}, {r}, M",
    "bar.warp.sync M",
    "elect.sync %t0|%q7, M; vote.sync.ballot.b32 %t1, %q7, M; popc.b32 {R}, %t1",
    "activemask.b32 %t0; and.b32 %t0, %t0, %own; setp.eq.u32 {P}, %t0, %own",
    // From one lane: the last, the first, the one before, any.
    "bfind.u32 %t0, M; shfl.sync.idx.b32 {R}|{P}, {r}, %t0, 31, M",
    "brev.b32 %t0, M; clz.b32 %t0, %t0; shfl.sync.idx.b32 {R}, {r}, %t0, 0x1f, M",
    "mov.u32 %t0, %lanemask_lt; and.b32 %t0, %t0, M; bfind.u32 %t0, %t0; min.u32 %t0, %t0, %lane; \
     shfl.sync.idx.b32 {R}, {r}, %t0, 31, M",
    "popc.b32 %t1, M; rem.u32 %t0, {r}, %t1; add.u32 %t0, %t0, 1; fns.b32 %t0, M, 0, %t0; \
     shfl.sync.idx.b32 {R}|{P}, {r}, %t0, 31, M",
];

/// Shuffles by a distance `%t3`, or by 0 where the lane at that distance does not come.
const SHUFFLES: &[&str] = &[
    "add.u32 %t0, %lane, %t3; and.b32 %t0, %t0, 31; shr.u32 %t0, M, %t0; and.b32 %t0, %t0, 1; \
     mul.lo.u32 %t0, %t0, %t3; shfl.sync.down.b32 {R}|{P}, {r}, %t0, {31|0x181f|0x1c1f|0x101f|0x1c07|0x0b15}, M",
    "sub.u32 %t0, %lane, %t3; and.b32 %t0, %t0, 31; shr.u32 %t0, M, %t0; and.b32 %t0, %t0, 1; \
     mul.lo.u32 %t0, %t0, %t3; shfl.sync.up.b32 {R}|{P}, {r}, %t0, {0|0x1800|0x1c00|0x1000|0x1e02|0x0a05}, M",
    "xor.b32 %t0, %lane, %t3; shr.u32 %t0, M, %t0; and.b32 %t0, %t0, 1; \
     mul.lo.u32 %t0, %t0, %t3; shfl.sync.bfly.b32 {R}|{P}, {r}, %t0, {31|0x181f|0x1c1f|0x1807|0x0b13}, M",
];

/// `shfl.sync.idx` in segments.
const SEGMENTS: &[u32] = &[0x18, 0x1c, 0x10, 0x1e, 0x0a];

impl Writer<'_> {
    /// A warp-wide instruction of the lanes that come here, of those for which a
    /// predicate holds, or of those that have the same value.
    pub(super) fn warp_wide(&mut self, place: Place) {
        let here = place.mask();
        let (guard, mask) = match self.random.below(6) {
            0 | 1 => {
                let condition = self.condition();
                self.line(&format!("vote.sync.ballot.b32 %k, {condition}, {here}"));
                (format!("@{condition} "), "%k".to_owned())
            }
            2 => {
                self.lines("and.b32 %t0, {r}, {1|3|7}", "");
                self.line(&format!("match.any.sync.b32 %k, %t0, {here}"));
                (String::new(), "%k".to_owned())
            }
            _ => (String::new(), here),
        };
        let template = if self.random.one_in(3) {
            self.shuffle()
        } else {
            self.pick(WARP_WIDE).to_owned()
        };
        self.lines(&template.replace('M', &mask), &guard);
    }

    fn shuffle(&mut self) -> String {
        let distance = if self.random.one_in(2) {
            "and.b32 %t3, {r}, 31; "
        } else {
            "mov.u32 %t3, {1|2|3|4|8|16|31|0}; "
        };
        let shuffle = match self.random.below(4) {
            0 => {
                let segment = SEGMENTS[self.random.below(SEGMENTS.len())];
                let rest = !segment & 31;
                let last = rest & self.random.draw() as u32;
                let last = if self.random.one_in(2) { rest } else { last };
                let range = segment << 8 | last;
                format!(
                    "and.b32 %t0, %lane, {segment}; and.b32 %t1, %t3, {rest}; or.b32 %t0, %t0, %t1; \
                     shr.u32 %t0, M, %t0; and.b32 %t0, %t0, 1; setp.ne.u32 %q7, %t0, 0; \
                     selp.b32 %t0, %t3, %lane, %q7; shfl.sync.idx.b32 {{R}}|{{P}}, {{r}}, %t0, {range}, M"
                )
            }
            _ => self.pick(SHUFFLES).to_owned(),
        };
        format!("{distance}{shuffle}")
    }
}
