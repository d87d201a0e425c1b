// CUDA C++ baselines of the kernels in gpu-kernels/src/09_neighbor: the same entry
// names, parameters and launch geometry, so that one launch drives either.
// nvcc fuses dx * dx + dy * dy as the Rust kernels do by hand; here it is written
// out as well, so that the lists are the same to the last bit.
#include "device.cuh"

#include <cstdint>

namespace {

constexpr uint32_t max_neighbors = 10;
constexpr uint32_t warp_lanes = 32;
constexpr uint32_t full_mask = 0xffffffffu;

__device__ bool are_near(float dx, float dy, float cutoff_squared) {
    return fmaf(dx, dx, dy * dy) < cutoff_squared;
}

__device__ size_t place_by_atom(uint32_t atom, uint32_t k) {
    return size_t(atom) * max_neighbors + k;
}

__device__ size_t place_by_place(uint32_t atom, uint32_t k, uint32_t n_atoms) {
    return size_t(k) * n_atoms + atom;
}

}  // namespace

// --- All pairs, one thread per atom -------------------------------------------

namespace {

constexpr uint32_t pair_threads = 128;

__device__ void append(uint32_t atom, uint32_t neighbor, uint32_t *n_neighbors, uint32_t *list,
                       uint32_t *overflow) {
    const uint32_t k = atomicAdd(n_neighbors + atom, 1);
    if (k < max_neighbors) {
        list[place_by_atom(atom, k)] = neighbor;
    } else {
        atomicMin(overflow, atom);
    }
}

template <typename Found>
__device__ void for_each_near(float own_x, float own_y, const float *x, const float *y,
                              uint32_t first, uint32_t end, float cutoff_squared, Found found) {
    const auto is_near = [&](float2 there) {
        return are_near(there.x - own_x, there.y - own_y, cutoff_squared);
    };
    const auto position = [&](uint32_t i) { return make_float2(__ldg(x + i), __ldg(y + i)); };
    uint32_t other = first;
    x += first;
    y += first;
    for (; other + 3 < end; other += 4, x += 4, y += 4) {
        const float2 at_a = position(0), at_b = position(1), at_c = position(2),
                     at_d = position(3);
        const bool a = is_near(at_a), b = is_near(at_b), c = is_near(at_c), d = is_near(at_d);
        if (a | b | c | d) {
            if (a) found(other);
            if (b) found(other + 1);
            if (c) found(other + 2);
            if (d) found(other + 3);
        }
    }
    for (; other < end; ++other, ++x, ++y) {
        if (is_near(position(0))) found(other);
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(pair_threads)
neighbor_atomic(const float *x, const float *y, uint32_t n_atoms, float cutoff_squared,
                uint32_t *n_neighbors, uint32_t *list, uint32_t *overflow) {
    const uint32_t atom = blockIdx.x * blockDim.x + threadIdx.x;
    if (atom >= n_atoms) {
        return;
    }
    for_each_near(x[atom], y[atom], x, y, atom + 1, n_atoms, cutoff_squared, [&](uint32_t other) {
        append(atom, other, n_neighbors, list, overflow);
        append(other, atom, n_neighbors, list, overflow);
    });
}

extern "C" __global__ void __launch_bounds__(pair_threads)
neighbor_no_atomic(const float *x, const float *y, uint32_t n_atoms, float cutoff_squared,
                   uint32_t *n_neighbors, uint32_t *list, uint32_t *overflow) {
    const uint32_t atom = blockIdx.x * blockDim.x + threadIdx.x;
    if (atom >= n_atoms) {
        return;
    }
    uint32_t count = 0;
    for_each_near(x[atom], y[atom], x, y, 0, n_atoms, cutoff_squared, [&](uint32_t other) {
        if (other != atom) {
            if (count < max_neighbors) {
                list[place_by_place(atom, count, n_atoms)] = other;
            }
            ++count;
        }
    });
    n_neighbors[atom] = count;
    if (count > max_neighbors) {
        atomicMin(overflow, atom);
    }
}

// --- All pairs by tiles ------------------------------------------------------

namespace {

constexpr uint32_t tile_threads = 128;
constexpr uint32_t thread_atoms = 4;
constexpr uint32_t tile_block_atoms = tile_threads * thread_atoms;
constexpr uint32_t tile_centers = 512;
constexpr uint32_t group_centers = 4;
constexpr uint32_t turn_centers = warp_lanes;
constexpr uint32_t turn_groups = turn_centers / group_centers;

__device__ float2 position(const float *x, const float *y, uint32_t atom, uint32_t n_atoms) {
    const float none = __int_as_float(0x7fc00000);
    return atom < n_atoms ? make_float2(x[atom], y[atom]) : make_float2(none, none);
}

__device__ void append_turn(uint32_t groups, uint32_t own_first, const float2 (&at)[thread_atoms],
                            uint32_t first, uint32_t first_center, const float2 *centers,
                            float cutoff_squared, uint32_t *n_neighbors, uint32_t *list,
                            uint32_t *overflow) {
    const uint32_t lane = threadIdx.x % warp_lanes;
    uint32_t near_lanes[thread_atoms] = {0, 0, 0, 0};
    while (groups != 0) {
        const uint32_t first_of_group = (__ffs(groups) - 1) * group_centers;
        groups &= groups - 1;
#pragma unroll
        for (uint32_t g = 0; g < group_centers; ++g) {
            const uint32_t c = first_of_group + g;
            const float2 center = centers[first + c];
#pragma unroll
            for (uint32_t k = 0; k < thread_atoms; ++k) {
                const bool is_near =
                    are_near(center.x - at[k].x, center.y - at[k].y, cutoff_squared);
                const uint32_t lanes = __ballot_sync(full_mask, is_near);
                near_lanes[k] = lane == c ? lanes : near_lanes[k];
            }
        }
    }
    const uint32_t center = first_center + first + lane;
    uint32_t total = 0;
#pragma unroll
    for (uint32_t k = 0; k < thread_atoms; ++k) {
        const uint32_t itself = center - (own_first + k * tile_threads);
        if (itself < warp_lanes) near_lanes[k] &= ~(1u << itself);
        total += __popc(near_lanes[k]);
    }
    if (total == 0) return;
    uint32_t place = atomicAdd(n_neighbors + center, total);
#pragma unroll
    for (uint32_t k = 0; k < thread_atoms; ++k) {
        for (uint32_t lanes = near_lanes[k]; lanes != 0; lanes &= lanes - 1, ++place) {
            if (place < max_neighbors) {
                list[place_by_atom(center, place)] = own_first + k * tile_threads + __ffs(lanes) - 1;
            } else {
                atomicMin(overflow, center);
            }
        }
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(tile_threads)
neighbor_tiles(const float *x, const float *y, uint32_t n_atoms, float cutoff_squared,
               uint32_t *n_neighbors, uint32_t *list, uint32_t *overflow) {
    __shared__ alignas(16) float2 centers[tile_centers];
    const uint32_t thread = threadIdx.x, lane = thread % warp_lanes;
    const uint32_t first_center = blockIdx.y * tile_centers;
    for (uint32_t i = thread; i < tile_centers; i += tile_threads) {
        centers[i] = position(x, y, first_center + i, n_atoms);
    }
    // For the warp's first lane.
    const uint32_t own_first = blockIdx.x * tile_block_atoms + thread - lane;
    float2 at[thread_atoms];
#pragma unroll
    for (uint32_t k = 0; k < thread_atoms; ++k) {
        at[k] = position(x, y, own_first + k * tile_threads + lane, n_atoms);
    }
    __syncthreads();

    for (uint32_t first = 0; first < tile_centers; first += turn_centers) {
        uint32_t own_groups = 0;
#pragma unroll
        for (uint32_t group = 0; group < turn_groups; ++group) {
            const uint32_t i = first + group * group_centers;
            const float4 ab = *reinterpret_cast<const float4 *>(&centers[i]);
            const float4 cd = *reinterpret_cast<const float4 *>(&centers[i + 2]);
            const float2 four[group_centers] = {
                {ab.x, ab.y}, {ab.z, ab.w}, {cd.x, cd.y}, {cd.z, cd.w}};
            bool any = false;
#pragma unroll
            for (uint32_t g = 0; g < group_centers; ++g) {
#pragma unroll
                for (uint32_t k = 0; k < thread_atoms; ++k) {
                    any |= are_near(four[g].x - at[k].x, four[g].y - at[k].y, cutoff_squared);
                }
            }
            own_groups |= uint32_t(any) << group;
        }
        const uint32_t groups = __reduce_or_sync(full_mask, own_groups);
        if (groups != 0) {
            append_turn(groups, own_first, at, first, first_center, centers, cutoff_squared,
                        n_neighbors, list, overflow);
        }
    }
}

// --- Cell list ---------------------------------------------------------------

namespace {

constexpr uint32_t cell_threads = 256;
constexpr uint32_t build_threads = 128;
constexpr uint32_t scan_threads = 1024;
constexpr uint32_t scan_warps = scan_threads / warp_lanes;
constexpr uint32_t warp_chunk = warp_lanes * 4;
constexpr uint32_t lane_chunks = 2;
constexpr uint32_t scan_tile = scan_warps * lane_chunks * warp_chunk;

constexpr uint32_t unknown = 0, own_sum = 1, with_all_before = 2;

struct CellGrid {
    float origin_x, origin_y, cells_per_length;
    uint32_t n_columns, n_rows;

    __device__ uint32_t column(float x) const {
        return min(uint32_t(__float2uint_rz((x - origin_x) * cells_per_length)), n_columns - 1);
    }
    __device__ uint32_t row(float y) const {
        return min(uint32_t(__float2uint_rz((y - origin_y) * cells_per_length)), n_rows - 1);
    }
    __device__ uint32_t cell(float x, float y) const { return row(y) * n_columns + column(x); }
    __device__ uint32_t n_tiles() const { return n_columns * n_rows / scan_tile + 1; }
};

__device__ uint64_t state(uint32_t kind, uint32_t sum) { return uint64_t(kind) << 32 | sum; }

__device__ uint32_t warp_scan(uint32_t value) {
    uint32_t sum = value;
#pragma unroll
    for (uint32_t stride = 1; stride < warp_lanes; stride *= 2) {
        const uint32_t before = __shfl_up_sync(full_mask, sum, stride);
        if (threadIdx.x % warp_lanes >= stride) {
            sum += before;
        }
    }
    return sum;
}

__device__ uint32_t look_back(uint32_t tile, const uint64_t *states) {
    const uint32_t lane = threadIdx.x % warp_lanes;
    uint32_t sum = 0;
    for (uint32_t end = tile;; end -= warp_lanes) {
        uint64_t seen = state(with_all_before, 0);
        if (lane < end) {
            do {
                seen = load_relaxed(states + (end - 1 - lane));
            } while (uint32_t(seen >> 32) == unknown);
        }
        const uint32_t complete =
            __ballot_sync(full_mask, uint32_t(seen >> 32) == with_all_before);
        const bool counts = complete == 0 || lane <= uint32_t(__ffs(complete) - 1);
        sum += __reduce_add_sync(full_mask, counts ? uint32_t(seen) : 0u);
        if (complete != 0) {
            return sum;
        }
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(cell_threads)
neighbor_cells_count(const float *x, const float *y, uint32_t n_atoms, float origin_x,
                     float origin_y, float cells_per_length, uint32_t n_columns, uint32_t n_rows,
                     uint32_t *counts, uint32_t *ranks) {
    wait_for_previous();
    let_next_start();
    const CellGrid grid = {origin_x, origin_y, cells_per_length, n_columns, n_rows};
    const uint32_t first = blockIdx.x * 2 * cell_threads + threadIdx.x;
    const uint32_t second = first + cell_threads;
    const auto position = [&](uint32_t atom) { return make_float2(x[atom], y[atom]); };
    const auto rank = [&](float2 at) { return atomicAdd(counts + grid.cell(at.x, at.y), 1); };
    if (second < n_atoms) {
        const float2 a = position(first), b = position(second);
        const uint32_t rank_a = rank(a), rank_b = rank(b);
        ranks[first] = rank_a;
        ranks[second] = rank_b;
    } else if (first < n_atoms) {
        ranks[first] = rank(position(first));
    }
}

extern "C" __global__ void __launch_bounds__(scan_threads)
neighbor_cells_scan(uint32_t *counts, uint32_t *starts, uint64_t *tile_states, uint32_t *n_tiles) {
    wait_for_previous();
    let_next_start();
    __shared__ uint32_t shared_tile, sum_before, warp_sums[scan_warps];
    const uint32_t thread = threadIdx.x;
    const uint32_t warp = thread / warp_lanes, lane = thread % warp_lanes;
    if (thread == 0) {
        shared_tile = atomicAdd(n_tiles, 1);
    }
    __syncthreads();
    const uint32_t tile = shared_tile;

    const uint32_t first = tile * scan_tile + warp * lane_chunks * warp_chunk + lane * 4;
    const auto chunk = [&](uint32_t *array, uint32_t i) {
        return reinterpret_cast<uint4 *>(array + first + i * warp_chunk);
    };
    const uint4 a = *chunk(counts, 0), b = *chunk(counts, 1);
    *chunk(counts, 0) = make_uint4(0, 0, 0, 0);
    *chunk(counts, 1) = make_uint4(0, 0, 0, 0);

    const auto sum_of = [](uint4 v) { return v.x + v.y + v.z + v.w; };
    const uint32_t scan_a = warp_scan(sum_of(a)), scan_b = warp_scan(sum_of(b));
    const uint32_t sum_a = __shfl_sync(full_mask, scan_a, warp_lanes - 1);
    if (lane == warp_lanes - 1) {
        warp_sums[warp] = scan_a + scan_b;
    }
    __syncthreads();

    const uint32_t sums = warp_scan(warp_sums[lane]);
    const uint32_t own = __shfl_sync(full_mask, sums, scan_warps - 1);
    uint32_t before_warp = __shfl_sync(full_mask, sums, warp) - warp_sums[warp];
    if (warp == 0) {
        if (lane == 0 && tile != 0) {
            store_relaxed(tile_states + tile, state(own_sum, own));
        }
        const uint32_t before = look_back(tile, tile_states);
        if (lane == 0) {
            store_relaxed(tile_states + tile, state(with_all_before, before + own));
            sum_before = before;
        }
    }
    __syncthreads();

    before_warp += sum_before;
    const auto starts_from = [](uint32_t before, uint4 v) {
        return make_uint4(before, before + v.x, before + v.x + v.y, before + v.x + v.y + v.z);
    };
    *chunk(starts, 0) = starts_from(before_warp + scan_a - sum_of(a), a);
    *chunk(starts, 1) = starts_from(before_warp + sum_a + scan_b - sum_of(b), b);
}

extern "C" __global__ void __launch_bounds__(cell_threads)
neighbor_cells_scatter(const float *x, const float *y, uint32_t n_atoms, float origin_x,
                       float origin_y, float cells_per_length, uint32_t n_columns, uint32_t n_rows,
                       const uint32_t *ranks, const uint32_t *starts, float2 *sorted,
                       uint32_t *sorted_atoms, uint64_t *tile_states, uint32_t *n_tiles) {
    const CellGrid grid = {origin_x, origin_y, cells_per_length, n_columns, n_rows};
    const uint32_t atom = blockIdx.x * blockDim.x + threadIdx.x;
    const bool is_atom = atom < n_atoms;
    float2 at = make_float2(0, 0);
    uint32_t cell = 0;
    if (is_atom) {
        at = make_float2(x[atom], y[atom]);
        cell = grid.cell(at.x, at.y);
    }
    wait_for_previous();
    let_next_start();
    for (uint32_t tile = atom; tile < grid.n_tiles(); tile += gridDim.x * cell_threads) {
        tile_states[tile] = state(unknown, 0);
    }
    if (atom == 0) {
        *n_tiles = 0;
    }
    if (is_atom) {
        const uint32_t place = starts[cell] + ranks[atom];
        sorted[place] = at;
        sorted_atoms[place] = atom;
    }
}

extern "C" __global__ void __launch_bounds__(build_threads)
neighbor_cells_build(const float2 *sorted, const uint32_t *sorted_atoms, uint32_t n_atoms,
                     float origin_x, float origin_y, float cells_per_length, uint32_t n_columns,
                     uint32_t n_rows, const uint32_t *starts, float cutoff_squared,
                     uint32_t *n_neighbors, uint32_t *list, uint32_t *overflow) {
    wait_for_previous();
    let_next_start();
    const CellGrid grid = {origin_x, origin_y, cells_per_length, n_columns, n_rows};
    const uint32_t own = blockIdx.x * blockDim.x + threadIdx.x;
    if (own >= n_atoms) {
        return;
    }
    const float2 at = sorted[own];
    const uint32_t atom = sorted_atoms[own];
    const uint32_t column = grid.column(at.x), row = grid.row(at.y);
    const uint32_t first_column = column == 0 ? 0 : column - 1;
    const uint32_t end_column = min(column + 2, n_columns);
    uint32_t from[3], n[3];
#pragma unroll
    for (uint32_t i = 0; i < 3; ++i) {
        const uint32_t there = row + i - 1;
        const bool is_inside = there < n_rows;
        from[i] = is_inside ? starts[there * n_columns + first_column] : 0;
        n[i] = is_inside ? starts[there * n_columns + end_column] - from[i] : 0;
    }
    const uint32_t end_below = n[0], end_beside = n[0] + n[1], n_around = end_beside + n[2];
    from[1] -= end_below;
    from[2] -= end_beside;
    const auto sorted_index = [&](uint32_t i) {
        return (i < end_below ? from[0] : i < end_beside ? from[1] : from[2]) + i;
    };

    const auto near_from = [&](uint32_t first) {
        const uint32_t end = min(n_around, first + 32);
        uint32_t near = 0;
        for (uint32_t i = first; i < end; i += 4) {
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) {
                const uint32_t j = min(i + k, end - 1);
                const float2 there = sorted[sorted_index(j)];
                near |= uint32_t(are_near(there.x - at.x, there.y - at.y, cutoff_squared))
                        << (j - first);
            }
        }
        const uint32_t itself = own - from[1] - first;
        return itself < 32 ? near & ~(1u << itself) : near;
    };
    const auto who = [&](uint32_t i) { return sorted_atoms[sorted_index(i)]; };

    if (n_around <= 32) {
        uint32_t near = near_from(0);
        const uint32_t count = __popc(near);
        if (count <= 4) {
            uint32_t four[4];
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) {
                four[k] = 0xffffffffu;
                if (k < count) {
                    four[k] = who(__ffs(near) - 1);
                    near &= near - 1;
                }
            }
            const auto exchange = [&](uint32_t i, uint32_t j) {
                const uint32_t low = min(four[i], four[j]), high = max(four[i], four[j]);
                four[i] = low;
                four[j] = high;
            };
            exchange(0, 1);
            exchange(2, 3);
            exchange(0, 2);
            exchange(1, 3);
            exchange(1, 2);
            n_neighbors[atom] = count;
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) {
                if (k < count) {
                    list[place_by_place(atom, k, n_atoms)] = four[k];
                }
            }
            return;
        }
    }
    uint32_t count = 0;
    uint32_t neighbors[max_neighbors];
#pragma unroll
    for (uint32_t k = 0; k < max_neighbors; ++k) {
        neighbors[k] = 0xffffffffu;
    }
    for (uint32_t first = 0; first < n_around; first += 32) {
        uint32_t near = near_from(first);
        count += __popc(near);
        for (; near != 0; near &= near - 1) {
            uint32_t moving = who(first + __ffs(near) - 1);
#pragma unroll
            for (uint32_t k = 0; k < max_neighbors; ++k) {
                const uint32_t here = neighbors[k];
                neighbors[k] = min(here, moving);
                moving = max(here, moving);
            }
        }
    }
    n_neighbors[atom] = count;
#pragma unroll
    for (uint32_t k = 0; k < max_neighbors; ++k) {
        if (k < count) {
            list[place_by_place(atom, k, n_atoms)] = neighbors[k];
        }
    }
    if (count > max_neighbors) {
        atomicMin(overflow, atom);
    }
}
