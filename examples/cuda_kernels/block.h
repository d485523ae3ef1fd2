/* block.h: a block of threads, on a GPU or imitated on the CPU, so that one text of a kernel is both.
 *
 * A kernel is a struct with `void operator()(Block block) const`. Its threads meet at the end of every
 * block.each(f), which calls f with the number of the thread: on a GPU once in each of them, on the CPU
 * THREADS times in turn. So an index, a tail, a reduction or a sum that is wrong there is wrong here; what
 * the CPU cannot show are races, for which there is compute-sanitizer.
 */
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define HD __host__ __device__
#else
#define HD
#endif

#ifdef __CUDA_ARCH__
#define SHARED __shared__
#else
#define SHARED
#endif

constexpr int THREADS = 256;

struct Block {
  int64_t index; /* of the block in its grid */

  template <class F>
  HD void each(F f) const {
#ifdef __CUDA_ARCH__
    f(static_cast<int>(threadIdx.x));
    __syncthreads();
#else
    for (int t = 0; t < THREADS; ++t) f(t);
#endif
  }
};

/* A variable of each thread that outlives an `each`: a register on a GPU. */
template <class V>
class PerThread {
 public:
#ifdef __CUDA_ARCH__
  HD V &operator[](int) { return value; }

 private:
  V value;
#else
  V &operator[](int t) { return values[t]; }

 private:
  V values[THREADS];
#endif
};

struct Sum {
  template <class R>
  HD R operator()(R a, R b) const {
    return a + b;
  }
};

struct Largest {
  template <class R>
  HD R operator()(R a, R b) const {
    return a > b ? a : b;
  }
};

/* join(term(0), ..., term(n - 1)), the same for all threads: every thread joins each THREADS-th term
 * in a register, then the threads halve what is left in shared memory. */
template <class R, class Join, class Term>
HD R reduce(Block block, int64_t n, R start, Join join, Term term) {
  SHARED R partial[THREADS];
  block.each([&](int t) {
    R mine = start;
    for (int64_t i = t; i < n; i += THREADS) mine = join(mine, term(i));
    partial[t] = mine;
  });
  for (int half = THREADS / 2; half > 0; half /= 2) {
    block.each([&](int t) {
      if (t < half) partial[t] = join(partial[t], partial[t + half]);
    });
  }
  R whole = partial[0];
  block.each([](int) {}); /* the next reduction must not write before all have read */
  return whole;
}
