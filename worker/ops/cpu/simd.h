// How vector kernels are written here: plain loops under `#pragma omp simd` in functions marked
// PODIUM_SIMD_CLONES. The compiler makes a copy for SSE2, AVX2 and AVX-512, and the loader picks one, so a
// single binary runs everywhere. Helpers such a function calls must be PODIUM_INLINE, or they stay at the
// lowest instruction set.
#pragma once

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PODIUM_SIMD_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else  // sanitizers are not ready yet when the loader runs the functions that pick
#define PODIUM_SIMD_CLONES
#endif

#define PODIUM_INLINE inline __attribute__((always_inline))
