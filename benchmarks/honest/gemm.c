/* gemm.c: the product of two matrices, in the variants that sums.h names. */
#include "call.h"
#include "sums.h"

/* c (m, n) += a (m, k) b (k, n), each with the distances of its rows and columns; c is row-major. */
void gemm(Call *call, int64_t m, int64_t n, int64_t k, const float *a, int64_t ar, int64_t ac, const float *b,
          int64_t br, int64_t bc, float *c) {
#if MATMUL == DOTS
  (void)call;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) c[i * n + j] += dot_of(a + i * ar, ac, b + j * bc, br, k);
  }
#elif MATMUL == OUTER
  /* Blocks of 64 of k: each is a sum of outer products in a tile of its own. */
  float *tile = floats(call, m * n);
  for (int64_t from = 0; from < k; from += 64) {
    memset(tile, 0, (size_t)(m * n) * sizeof *tile);
    for (int64_t p = from; p < k && p < from + 64; ++p) {
      for (int64_t i = 0; i < m; ++i) {
        float left = a[i * ar + p * ac];
        for (int64_t j = 0; j < n; ++j) tile[i * n + j] = MADD(left, b[p * br + j * bc], tile[i * n + j]);
      }
    }
    for (int64_t e = 0; e < m * n; ++e) c[e] += tile[e];
  }
#else
  float *t = floats(call, n * k);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t p = 0; p < k; ++p) t[j * k + p] = b[p * br + j * bc];
  }
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) c[i * n + j] += dot_of(a + i * ar, ac, t + j * k, 1, k);
  }
#endif
}
