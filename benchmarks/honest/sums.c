#include "sums.h"

#if SUM == SEQUENTIAL

float sum_of(const float *v, int64_t n, int64_t step) {
  float s = 0;
  for (int64_t k = 0; k < n; ++k) s += v[k * step];
  return s;
}

float dot_of(const float *a, int64_t a_step, const float *b, int64_t b_step, int64_t n) {
  float s = 0;
  for (int64_t k = 0; k < n; ++k) s = MADD(a[k * a_step], b[k * b_step], s);
  return s;
}

#elif SUM == BLOCKED

/* A running sum in each lane, as SIMD code has it; the lanes are added by halves. */
static float halved(float *lane) {
  for (int width = LANES / 2; width > 0; width /= 2) {
    for (int l = 0; l < width; ++l) lane[l] += lane[l + width];
  }
  return lane[0];
}

float sum_of(const float *v, int64_t n, int64_t step) {
  float lane[LANES] = {0};
  for (int64_t k = 0; k < n; ++k) lane[k % LANES] += v[k * step];
  return halved(lane);
}

float dot_of(const float *a, int64_t a_step, const float *b, int64_t b_step, int64_t n) {
  float lane[LANES] = {0};
  for (int64_t k = 0; k < n; ++k) lane[k % LANES] = MADD(a[k * a_step], b[k * b_step], lane[k % LANES]);
  return halved(lane);
}

#else

#define LEAF 16

float sum_of(const float *v, int64_t n, int64_t step) {
  if (n > LEAF) return sum_of(v, n / 2, step) + sum_of(v + n / 2 * step, n - n / 2, step);
  float s = 0;
  for (int64_t k = 0; k < n; ++k) s += v[k * step];
  return s;
}

float dot_of(const float *a, int64_t a_step, const float *b, int64_t b_step, int64_t n) {
  if (n > LEAF) {
    int64_t half = n / 2;
    return dot_of(a, a_step, b, b_step, half) +
           dot_of(a + half * a_step, a_step, b + half * b_step, b_step, n - half);
  }
  float s = 0;
  for (int64_t k = 0; k < n; ++k) s = MADD(a[k * a_step], b[k * b_step], s);
  return s;
}

#endif

#if WELFORD

void moments(const float *v, int64_t n, float *mean, float *squares) {
  float m = 0, s = 0;
  for (int64_t k = 0; k < n; ++k) {
    float off = v[k] - m;
    m += off / (float)(k + 1);
    s = MADD(off, v[k] - m, s);
  }
  *mean = n ? m : NAN;
  *squares = s;
}

#else

#include <stdlib.h>

void moments(const float *v, int64_t n, float *mean, float *squares) {
  float *off = malloc((size_t)(n + 1) * sizeof *off);
  *mean = sum_of(v, n, 1) / (float)n;
  for (int64_t k = 0; k < n; ++k) off[k] = v[k] - *mean;
  *squares = dot_of(off, 1, off, 1, n);
  free(off);
}

#endif
