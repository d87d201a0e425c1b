//! Nsight Compute's counters and the counts that they correspond to: the only place that
//! maps one to the other.

/// A hardware counter, and the names of our counts for it.
#[derive(Clone, Copy)]
pub struct Metric {
    /// Nsight Compute's name.
    pub ncu: &'static str,
    /// The counts whose sum it is. The hardware's counters of shared loads and
    /// stores include those of ldmatrix and stmatrix.
    pub counts: &'static [&'static str],
}

macro_rules! metrics {
    ($($name:ident: $ncu:literal = $($count:literal)+;)*) => {
        $(
            #[doc = concat!("`", $ncu, "`")]
            pub const $name: Metric = Metric { ncu: $ncu, counts: &[$($count),+] };
        )*

        /// All of them.
        pub const ALL: &[Metric] = &[$($name),*];
    };
}

metrics! {
    SHARED_LOAD_WAVEFRONTS: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum" = "shared_load_wavefronts" "ldmatrix_wavefronts";
    SHARED_LOAD_CONFLICTS: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum" = "shared_load_conflicts" "ldmatrix_conflicts";
    SHARED_STORE_WAVEFRONTS: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum" = "shared_store_wavefronts" "stmatrix_wavefronts";
    SHARED_STORE_CONFLICTS: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum" = "shared_store_conflicts" "stmatrix_conflicts";
    SHARED_ATOMIC_WAVEFRONTS: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum" = "shared_atomic_wavefronts";
    SHARED_ATOMIC_CONFLICTS: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum" = "shared_atomic_conflicts";
    LDMATRIX_CONFLICTS: "sm__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldsm.sum" = "ldmatrix_conflicts";
    STMATRIX_CONFLICTS: "sm__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_stsm.sum" = "stmatrix_conflicts";
    ASYNC_COPY_WAVEFRONTS: "sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum" = "async_copy_wavefronts";
    ASYNC_COPY_CONFLICTS: "sm__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum" = "async_copy_conflicts";
    GLOBAL_LOAD_REQUESTS: "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum" = "global_load_requests";
    GLOBAL_LOAD_SECTORS: "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum" = "global_load_sectors";
    GLOBAL_STORE_REQUESTS: "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum" = "global_store_requests";
    GLOBAL_STORE_SECTORS: "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum" = "global_store_sectors";
    GLOBAL_ATOMIC_SECTORS: "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum" = "global_atomic_sectors";
    GLOBAL_REDUCTION_SECTORS: "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum" = "global_red_sectors";
    LOCAL_LOAD_SECTORS: "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum" = "local_load_sectors";
    LOCAL_STORE_SECTORS: "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum" = "local_store_sectors";
}
