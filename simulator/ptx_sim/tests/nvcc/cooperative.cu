// Cooperative groups: tiles of a warp, the active threads, reductions.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void sum(const int *in, int *out, int n) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int mine = 0;
    for (int i = block.group_index().x * block.size() + block.thread_rank(); i < n; i += gridDim.x * block.size())
        mine += in[i];
    mine = cg::reduce(warp, mine, cg::plus<int>());
    if (warp.thread_rank() == 0)
        atomicAdd(out, mine);
    block.sync();
}

// Largest of groups of eight, in floating point.
extern "C" __global__ void maxima(const float *in, float *out) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    float value = cg::reduce(tile, in[blockIdx.x * blockDim.x + threadIdx.x], cg::greater<float>());
    if (tile.thread_rank() == 0)
        out[(blockIdx.x * blockDim.x + threadIdx.x) / 8] = value;
}

// One atomic for all active threads that have something to append.
extern "C" __global__ void filter(const int *in, int *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        int base;
        if (active.thread_rank() == 0)
            base = atomicAdd(count, active.size());
        base = active.shfl(base, 0);
        out[base + active.thread_rank()] = in[i];
    }
}
