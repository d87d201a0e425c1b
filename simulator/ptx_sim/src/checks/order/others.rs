//! Happens-before across blocks.
//!
//! A grid can have a hundred thousand blocks, each of which learns of all before it, as
//! when each draws a ticket. So what is known is a tree by block number with shared parts:
//! learning what another block knows takes time only for what is new.

use std::sync::Arc;

use super::in_block::InBlock;

/// Binary logarithm of a node's children.
const BITS: u32 = 4;
const WIDTH: usize = 1 << BITS;

/// By block, what of its accesses comes before.
#[derive(Clone, Default)]
pub(crate) struct Others(Option<Arc<Node>>);

enum Node {
    Inner([Option<Arc<Node>>; WIDTH]),
    Leaf(InBlock),
}

/// Levels of the tree that the blocks of a grid need.
#[derive(Clone, Copy)]
pub(crate) struct Depth(u32);

impl Depth {
    /// Of no blocks.
    pub const NONE: Self = Self(0);

    pub fn of(n_blocks: u64) -> Self {
        Self((u64::BITS - n_blocks.leading_zeros()).div_ceil(BITS))
    }

    /// The child that leads to a block, by level.
    fn child(level: u32, block: u64) -> usize {
        (block >> (level * BITS)) as usize % WIDTH
    }
}

impl Others {
    /// Of one block.
    pub fn of_block(depth: Depth, block: u64, in_block: InBlock) -> Self {
        let mut node = Arc::new(Node::Leaf(in_block));
        for level in 0..depth.0 {
            let mut children = [const { None }; WIDTH];
            children[Depth::child(level, block)] = Some(node);
            node = Arc::new(Node::Inner(children));
        }
        Self(Some(node))
    }

    /// What is known of a block.
    pub fn get(&self, depth: Depth, block: u64) -> Option<&InBlock> {
        let mut node = self.0.as_ref()?;
        for level in (0..depth.0).rev() {
            let Node::Inner(children) = &**node else {
                return None;
            };
            node = children[Depth::child(level, block)].as_ref()?;
        }
        match &**node {
            Node::Leaf(in_block) => Some(in_block),
            Node::Inner(_) => None,
        }
    }

    pub fn join(&mut self, other: &Self) {
        self.0 = join(self.0.as_ref(), other.0.as_ref());
    }

    pub fn is_nothing(&self) -> bool {
        self.0.is_none()
    }

    /// Whether both are the same, not only equal.
    pub fn is_same(&self, other: &Self) -> bool {
        is_same(self.0.as_ref(), other.0.as_ref())
    }
}

fn is_same(a: Option<&Arc<Node>>, b: Option<&Arc<Node>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    }
}

/// Both joined: one of the two where it includes the other.
fn join(a: Option<&Arc<Node>>, b: Option<&Arc<Node>>) -> Option<Arc<Node>> {
    let (Some(one), Some(two)) = (a, b) else {
        return a.or(b).cloned();
    };
    if Arc::ptr_eq(one, two) {
        return a.cloned();
    }
    match (&**one, &**two) {
        (Node::Inner(x), Node::Inner(y)) => {
            let both: [_; WIDTH] = std::array::from_fn(|i| join(x[i].as_ref(), y[i].as_ref()));
            let is_all = |side: &[Option<Arc<Node>>; WIDTH]| {
                (both.iter().zip(side)).all(|(a, b)| is_same(a.as_ref(), b.as_ref()))
            };
            if is_all(x) {
                a.cloned()
            } else if is_all(y) {
                b.cloned()
            } else {
                Some(Arc::new(Node::Inner(both)))
            }
        }
        (Node::Leaf(x), Node::Leaf(y)) => {
            let mut both = x.clone();
            both.join(y);
            if both == *x {
                a.cloned()
            } else if both == *y {
                b.cloned()
            } else {
                Some(Arc::new(Node::Leaf(both)))
            }
        }
        // All trees of a launch have one depth.
        _ => a.cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warp_0_up_to(clock: u32) -> InBlock {
        let mut in_block = InBlock::nothing();
        in_block.add_warp(0, clock);
        in_block
    }

    #[test]
    fn each_block_is_known_by_itself() {
        let depth = Depth::of(70_000);
        let mut all = Others::default();
        for block in [0, 15, 16, 4_000, 69_999] {
            all.join(&Others::of_block(
                depth,
                block,
                warp_0_up_to(block as u32 + 1),
            ));
        }
        for block in [0, 15, 16, 4_000, 69_999] {
            let known = all.get(depth, block).expect("it was added");
            assert_eq!(known.of_warp(0), block as u32 + 1);
        }
        assert!(all.get(depth, 17).is_none());
        assert!(Others::default().get(depth, 0).is_none());
    }

    #[test]
    fn to_learn_nothing_new_changes_nothing() {
        let depth = Depth::of(100);
        let mut all = Others::of_block(depth, 3, warp_0_up_to(5));
        all.join(&Others::of_block(depth, 99, warp_0_up_to(7)));
        let before = all.clone();
        all.join(&Others::of_block(depth, 3, warp_0_up_to(4)));
        assert!(is_same(all.0.as_ref(), before.0.as_ref()));
        all.join(&Others::of_block(depth, 3, warp_0_up_to(6)));
        assert_eq!(all.get(depth, 3).expect("known").of_warp(0), 6);
        assert_eq!(before.get(depth, 3).expect("known").of_warp(0), 5);
    }
}
