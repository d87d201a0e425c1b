// A barrier of all blocks in a whole program (without -rdc): the kernel works on the memory that
// the driver gives a cooperative launch.

#include <cooperative_groups.h>

// In each round every element is added that of the next block, which a barrier keeps from
// changing meanwhile.
extern "C" __global__ void add_around(unsigned *values, unsigned n_rounds)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    unsigned own = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned next = (own + blockDim.x) % (gridDim.x * blockDim.x);
    for (unsigned round = 0; round < n_rounds; round++) {
        unsigned added = values[next];
        grid.sync();
        values[own] += added;
        grid.sync();
    }
}
