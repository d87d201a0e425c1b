// C = A*B, square matrices of any size, tiles of 16 by 16 in shared memory.
constexpr int TILE = 16;

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        int ka = k + threadIdx.x, kb = k + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < n && ka < n ? a[row * n + ka] : 0;
        tile_b[threadIdx.y][threadIdx.x] = kb < n && col < n ? b[kb * n + col] : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; ++i)
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}
