//! The shape of a launch's clusters: which blocks form a cluster, and where in it each is.

use ptx::ir::Special;

/// Blocks of the largest cluster that every device has room for.
pub const MAX_CLUSTER: u32 = 8;
/// Blocks of the largest cluster that a launch can ask for, where it says that it need not
/// run on other devices.
pub const MAX_NON_PORTABLE_CLUSTER: u32 = 16;

/// The shape of a launch's clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClusterShape {
    /// Blocks of a cluster, by axis; the grid is a multiple of it.
    pub blocks: [u32; 3],
    /// Whether the launch or the kernel names it.
    pub is_explicit: bool,
}

impl ClusterShape {
    /// Blocks of a cluster.
    pub fn n_blocks(&self) -> u32 {
        self.blocks.iter().product()
    }

    /// `%clusterid` of a block; of the grid, how many clusters it has by axis.
    pub fn id_of(&self, ctaid: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|axis| ctaid[axis] / self.blocks[axis])
    }

    /// `%cluster_ctaid` of a block.
    pub fn place_of(&self, ctaid: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|axis| ctaid[axis] % self.blocks[axis])
    }

    /// `%cluster_ctarank` of a block.
    pub fn rank_of(&self, ctaid: [u32; 3]) -> u32 {
        let [x, y, z] = self.place_of(ctaid);
        let [along_x, along_y, _] = self.blocks;
        x + along_x * (y + along_y * z)
    }

    /// `%ctaid` of the block of a rank of the cluster of this number, counted as blocks
    /// are.
    pub fn ctaid(&self, grid: [u32; 3], cluster: u64, rank: u32) -> [u32; 3] {
        let [along_x, along_y, _] = self.id_of(grid).map(u64::from);
        let id = [
            (cluster % along_x) as u32,
            (cluster / along_x % along_y) as u32,
            (cluster / along_x / along_y) as u32,
        ];
        let [x, y, _] = self.blocks;
        let place = [rank % x, rank / x % y, rank / x / y];
        std::array::from_fn(|axis| id[axis] * self.blocks[axis] + place[axis])
    }
}

/// Whether a register's value changes from block to block with its place in the cluster.
pub(crate) fn depends_on_rank(register: Special) -> bool {
    matches!(
        register,
        Special::ClusterId(_) | Special::ClusterCtaid(_) | Special::ClusterCtarank
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_by_cluster_and_rank() {
        let shape = ClusterShape {
            blocks: [2, 3, 1],
            is_explicit: true,
        };
        let grid = [4, 6, 2];
        let mut seen = std::collections::BTreeSet::new();
        for cluster in 0..8 {
            for rank in 0..6 {
                let ctaid = shape.ctaid(grid, cluster, rank);
                assert_eq!(shape.rank_of(ctaid), rank);
                let [x, y, z] = shape.id_of(ctaid).map(u64::from);
                assert_eq!(x + 2 * (y + 2 * z), cluster);
                assert!(ctaid.iter().zip(&grid).all(|(at, n)| at < n));
                assert!(seen.insert(ctaid));
            }
        }
        assert_eq!(seen.len(), 48);
    }
}
