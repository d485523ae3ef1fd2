/* sums.h: the variants. One source, built several times: SUM, LANES, FMA, WELFORD, ONLINE, MATMUL, IM2COL. */
#ifndef SUMS_H
#define SUMS_H

#include <math.h>
#include <stdint.h>

/* Macros, so that #if can compare them. SUM: */
#define SEQUENTIAL 0
#define BLOCKED 1
#define PAIRWISE 2
/* MATMUL: by dot products, by outer products, b transposed first. */
#define DOTS 0
#define OUTER 1
#define TRANSPOSED 2

#if FMA
#define MADD(a, b, c) fmaf(a, b, c)
#else
#define MADD(a, b, c) ((a) * (b) + (c))
#endif

/* The sum of n numbers `step` apart, and of the products of two such lists. */
float sum_of(const float *v, int64_t n, int64_t step);
float dot_of(const float *a, int64_t a_step, const float *b, int64_t b_step, int64_t n);

/* Mean of n numbers, and the sum of their squared deviations from it. */
void moments(const float *v, int64_t n, float *mean, float *squares);

#endif
