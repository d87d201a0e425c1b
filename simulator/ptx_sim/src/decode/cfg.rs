//! Reconvergence points of diverged lanes: immediate post-dominators.
//!
//! A block post-dominates another if every path from there to the function's end leads
//! through it. Paths that end in a trap, or in a call that does not return, are left out:
//! lanes that take them never come back, and the others should not diverge because of them.
//! In a kernel the same holds for a branch straight to the end (`if (i >= n) return;`),
//! unless it is the only way out of a loop.

use crate::program::{Block, BlockId, Terminator};

/// For each block, the block where lanes that leave it on different paths meet.
pub(crate) fn joins(blocks: &[Block], is_entry: bool) -> Vec<Option<BlockId>> {
    let returns: Vec<bool> = blocks
        .iter()
        .map(|b| matches!(b.terminator, Terminator::Return))
        .collect();
    let ends_at_once: Vec<bool> = blocks
        .iter()
        .zip(&returns)
        .map(|(b, returns)| is_entry && *returns && b.is_only_an_end())
        .collect();
    let reaches_return = reaching(blocks, &returns);
    let mut pruned: Vec<Vec<usize>> = blocks
        .iter()
        .map(|block| {
            let mut next = successors(block);
            next.retain(|&b| reaches_return[b]);
            next
        })
        .collect();
    for block in 0..blocks.len() {
        let on: Vec<usize> = pruned[block]
            .iter()
            .copied()
            .filter(|&b| !ends_at_once[b])
            .collect();
        // A loop's only way out stays, or lanes in the loop would never meet.
        if on.len() < pruned[block].len() && reaches_without(&pruned, &on, block, &returns) {
            pruned[block] = on;
        }
    }
    let mut joins = post_dominators(&pruned, &returns);
    // Among blocks that never return, lanes meet too: their ends are traps.
    let hopeless: Vec<Vec<usize>> = blocks
        .iter()
        .enumerate()
        .map(|(i, block)| {
            if reaches_return[i] {
                Vec::new()
            } else {
                successors(block)
            }
        })
        .collect();
    let ends: Vec<bool> = (0..blocks.len())
        .map(|i| !reaches_return[i] && hopeless[i].is_empty())
        .collect();
    let among_hopeless = post_dominators(&hopeless, &ends);
    for (i, join) in among_hopeless.into_iter().enumerate() {
        if !reaches_return[i] {
            joins[i] = join;
        }
    }
    joins
}

/// The blocks that lanes can go to.
pub(crate) fn successors(block: &Block) -> Vec<usize> {
    let mut next: Vec<usize> = match &block.terminator {
        Terminator::Jump(to) => vec![*to as usize],
        Terminator::Branch { taken, other, .. } => vec![*taken as usize, *other as usize],
        Terminator::Switch { targets, .. } => targets.iter().map(|&b| b as usize).collect(),
        Terminator::Call(call) => call.next.map(|b| b as usize).into_iter().collect(),
        Terminator::Barrier(barrier) => vec![barrier.next as usize],
        Terminator::ClusterBarrier(barrier) => vec![barrier.next as usize],
        Terminator::Return | Terminator::Exit | Terminator::Trap => Vec::new(),
    };
    next.sort_unstable();
    next.dedup();
    next
}

/// The blocks from which some block of `goals` can be reached.
fn reaching(blocks: &[Block], goals: &[bool]) -> Vec<bool> {
    let mut predecessors = vec![Vec::new(); blocks.len()];
    for (i, block) in blocks.iter().enumerate() {
        for next in successors(block) {
            predecessors[next].push(i);
        }
    }
    let mut reached = goals.to_vec();
    let mut to_visit: Vec<usize> = (0..blocks.len()).filter(|&i| goals[i]).collect();
    while let Some(block) = to_visit.pop() {
        for &before in &predecessors[block] {
            if !reached[before] {
                reached[before] = true;
                to_visit.push(before);
            }
        }
    }
    reached
}

/// Whether one of `goals` can be reached from one of `from` without coming
/// through the block `avoided`.
fn reaches_without(
    successors: &[Vec<usize>],
    from: &[usize],
    avoided: usize,
    goals: &[bool],
) -> bool {
    let mut seen = vec![false; successors.len()];
    seen[avoided] = true;
    let mut to_visit = from.to_vec();
    while let Some(block) = to_visit.pop() {
        if std::mem::replace(&mut seen[block], true) {
            continue;
        }
        if goals[block] {
            return true;
        }
        to_visit.extend_from_slice(&successors[block]);
    }
    false
}

/// Immediate post-dominators, by the iterative algorithm of Cooper, Harvey and
/// Kennedy on the reversed graph. A virtual block after all `ends` is its root; blocks
/// post-dominated only by that have none.
fn post_dominators(successors: &[Vec<usize>], ends: &[bool]) -> Vec<Option<BlockId>> {
    let n = successors.len();
    let root = n;
    let mut predecessors = vec![Vec::new(); n + 1];
    for (block, next) in successors.iter().enumerate() {
        for &to in next {
            predecessors[to].push(block);
        }
        if ends[block] {
            predecessors[root].push(block);
        }
    }
    // Post-order of the reversed graph, iteratively.
    let mut order = Vec::with_capacity(n + 1);
    let mut number = vec![usize::MAX; n + 1];
    let mut seen = vec![false; n + 1];
    let mut stack = vec![(root, 0)];
    seen[root] = true;
    while let Some((block, child)) = stack.pop() {
        if let Some(&before) = predecessors[block].get(child) {
            stack.push((block, child + 1));
            if !seen[before] {
                seen[before] = true;
                stack.push((before, 0));
            }
        } else {
            number[block] = order.len();
            order.push(block);
        }
    }
    let mut dominator = vec![usize::MAX; n + 1];
    dominator[root] = root;
    let mut changed = true;
    while changed {
        changed = false;
        for &block in order.iter().rev() {
            if block == root {
                continue;
            }
            let mut new = usize::MAX;
            let end = if ends[block] { Some(root) } else { None };
            for next in successors[block].iter().copied().chain(end) {
                if dominator[next] == usize::MAX {
                    continue;
                }
                if new == usize::MAX {
                    new = next;
                    continue;
                }
                let (mut a, mut b) = (new, next);
                while a != b {
                    while number[a] < number[b] {
                        a = dominator[a];
                    }
                    while number[b] < number[a] {
                        b = dominator[b];
                    }
                }
                new = a;
            }
            if dominator[block] != new {
                dominator[block] = new;
                changed = true;
            }
        }
    }
    (0..n)
        .map(|block| match dominator[block] {
            usize::MAX => None,
            d if d == root => None,
            d => Some(d as BlockId),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diamond_meets_at_its_end() {
        let graph = vec![vec![1, 2], vec![3], vec![3], vec![]];
        let ends = [false, false, false, true];
        assert_eq!(
            post_dominators(&graph, &ends),
            [Some(3), Some(3), Some(3), None]
        );
    }

    #[test]
    fn a_loop_meets_behind_it() {
        // 0 -> 1; 1 -> 2 | 3 (break); 2 -> 1 | 3; 3 end.
        let graph = vec![vec![1], vec![2, 3], vec![1, 3], vec![]];
        let ends = [false, false, false, true];
        assert_eq!(
            post_dominators(&graph, &ends),
            [Some(1), Some(3), Some(3), None]
        );
    }

    #[test]
    fn an_endless_loop_meets_nowhere() {
        let graph = vec![vec![1, 2], vec![1], vec![]];
        let ends = [false, false, true];
        assert_eq!(post_dominators(&graph, &ends)[1], None);
    }
}
