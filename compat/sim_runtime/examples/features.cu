// Features of the runtime that programs use, each checked against the expected result.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                   \
    do {                                                                              \
        cudaError_t error = (call);                                                   \
        if (error != cudaSuccess) {                                                   \
            std::printf("%d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error));  \
            std::exit(1);                                                             \
        }                                                                             \
    } while (0)
#define EXPECT(condition)                                                             \
    do {                                                                              \
        if (!(condition)) {                                                           \
            std::printf("%d: not so: %s\n", __LINE__, #condition);                    \
            std::exit(1);                                                             \
        }                                                                             \
    } while (0)

__device__ int counter = 3;
__constant__ int table[4];

__global__ void add(int* to, int value) { to[threadIdx.x] += value; }

__global__ void read_variables(int* to) { to[threadIdx.x] = counter + table[threadIdx.x]; }

template <typename T>
__global__ void fill(T* to, T value) {
    extern __shared__ char raw[];
    T* shared = reinterpret_cast<T*>(raw);
    shared[threadIdx.x] = value;
    to[threadIdx.x] = shared[threadIdx.x];
}

void devices() {
    int n = 0, device = -1, version = 0, major = 0;
    CHECK(cudaGetDeviceCount(&n));
    EXPECT(n >= 1);
    CHECK(cudaSetDevice(0));
    CHECK(cudaGetDevice(&device));
    EXPECT(device == 0);
    CHECK(cudaRuntimeGetVersion(&version));
    EXPECT(version / 1000 == CUDART_VERSION / 1000);
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    EXPECT(properties.major == major && properties.warpSize == 32);
    EXPECT(properties.maxThreadsPerBlock == 1024 && properties.unifiedAddressing == 1);
    EXPECT(properties.name[0] != 0 && properties.totalGlobalMem > 0);
    EXPECT(cudaSetDevice(n) == cudaErrorInvalidDevice);
    EXPECT(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError() == cudaSuccess);
}

void memory() {
    int host[6] = {1, 2, 3, 4, 5, 6}, back[6] = {};
    char* rows;
    size_t pitch, free, total;
    CHECK(cudaMallocPitch(&rows, &pitch, 3 * sizeof(int), 2));
    CHECK(cudaMemcpy2D(rows, pitch, host, 12, 12, 2, cudaMemcpyHostToDevice));
    CHECK(cudaMemset2D(rows, pitch, 0, 4, 2));
    CHECK(cudaMemcpy2D(back, 12, rows, pitch, 12, 2, cudaMemcpyDeviceToHost));
    EXPECT(back[0] == 0 && back[1] == 2 && back[3] == 0 && back[5] == 6);
    CHECK(cudaFree(rows));
    int *managed, *pinned;
    CHECK(cudaMallocManaged(&managed, 4 * sizeof(int)));
    CHECK(cudaMallocHost(&pinned, 4 * sizeof(int)));
    for (int i = 0; i < 4; i++) managed[i] = pinned[i] = i;
    add<<<1, 4>>>(managed, 10);
    add<<<1, 4>>>(pinned, 20);
    CHECK(cudaDeviceSynchronize());
    EXPECT(managed[3] == 13 && pinned[3] == 23);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, managed));
    EXPECT(attributes.type == cudaMemoryTypeManaged);
    CHECK(cudaPointerGetAttributes(&attributes, host));
    EXPECT(attributes.type == cudaMemoryTypeUnregistered);
    CHECK(cudaFree(managed));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaMemGetInfo(&free, &total));
    EXPECT(free <= total);
    EXPECT(cudaFree(host) == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
}

void symbols() {
    int values[4] = {10, 20, 30, 40}, five = 5, *device, back[4];
    size_t size;
    CHECK(cudaMalloc(&device, sizeof back));
    CHECK(cudaMemcpyToSymbol(table, values, sizeof values));
    read_variables<<<1, 4>>>(device);
    CHECK(cudaMemcpy(back, device, sizeof back, cudaMemcpyDefault));
    EXPECT(back[0] == 13 && back[3] == 43);
    CHECK(cudaMemcpyToSymbol(counter, &five, sizeof five));
    CHECK(cudaMemcpyFromSymbol(back, counter, sizeof five));
    EXPECT(back[0] == 5);
    CHECK(cudaGetSymbolSize(&size, table));
    EXPECT(size == sizeof values);
    CHECK(cudaFree(device));
}

void streams() {
    int *device, back[32];
    cudaStream_t stream;
    cudaEvent_t start, end;
    float milliseconds;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaMallocAsync(&device, sizeof back, stream));
    CHECK(cudaMemsetAsync(device, 0, sizeof back, stream));
    CHECK(cudaEventRecord(start, stream));
    for (int i = 0; i < 5; i++) add<<<1, 32, 0, stream>>>(device, i);
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaMemcpyAsync(back, device, sizeof back, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(back[31] == 10);
    CHECK(cudaEventElapsedTime(&milliseconds, start, end));
    EXPECT(milliseconds >= 0);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 32, 0, stream>>>(device, 100);
    add<<<1, 32, 0, stream>>>(device, 1);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 3; i++) CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaLaunchHostFunc(stream, [](void* data) { *static_cast<int*>(data) = 7; }, back));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(back[0] == 7);
    CHECK(cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost));
    EXPECT(back[0] == 313);
    CHECK(cudaFreeAsync(device, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaStreamDestroy(stream));
}

void launches() {
    double *device, back[32];
    CHECK(cudaMalloc(&device, sizeof back));
    CHECK(cudaFuncSetAttribute(fill<double>, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    fill<<<1, 32, 100000>>>(device, 2.5);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost));
    EXPECT(back[31] == 2.5);
    int value = 3, n_blocks = 0, block = 0, grid = 0;
    void* arguments[] = {&device, &value};
    CHECK(cudaMemset(device, 0, sizeof back));
    CHECK(cudaLaunchKernel(add, dim3(1), dim3(32), arguments, 0, nullptr));
    CHECK(cudaLaunchCooperativeKernel(add, dim3(1), dim3(32), arguments, 0, nullptr));
    CHECK(cudaMemcpy(&block, device, sizeof block, cudaMemcpyDeviceToHost));
    EXPECT(block == 6);
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, add));
    EXPECT(attributes.maxThreadsPerBlock == 1024 && attributes.numRegs > 0);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n_blocks, add, 256, 0));
    EXPECT(n_blocks >= 1);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add));
    EXPECT(block >= 256 && grid >= 1);
    add<<<1, 2000>>>(nullptr, 1);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    add<<<0, 1>>>(nullptr, 1);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaFree(device));
}

int main() {
    devices();
    memory();
    symbols();
    streams();
    launches();
    std::printf("all as expected\n");
}
