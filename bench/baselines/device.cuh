// Functions that several baselines share.
#pragma once

#include <cstdint>

namespace {

// For kernels that may start before the previous launch has ended.
__device__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ void let_next_start() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

__device__ uint64_t load_relaxed(const uint64_t *address) {
    uint64_t value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(value)
                 : "l"(__cvta_generic_to_global(address))
                 : "memory");
    return value;
}

__device__ void store_relaxed(uint64_t *address, uint64_t value) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;"
                 :
                 : "l"(__cvta_generic_to_global(address)), "l"(value)
                 : "memory");
}

}  // namespace
