/* A small library of float32 kernels: NEON where there is one, plain C elsewhere. Rows lie in one piece. */
#ifndef KERNELS_H
#define KERNELS_H

#include <stddef.h>

void relu(const float *x, float *y, size_t n);
void relu_gradient(const float *x, const float *g, float *dx, size_t n);

void add(const float *a, const float *b, float *y, size_t n);

/* y = exp(x) / sum exp(x) of one row, and dx = y (g - sum g y) with that y. */
void softmax(const float *x, float *y, size_t n);
void softmax_gradient(const float *y, const float *g, float *dx, size_t n);

float sum(const float *x, size_t n);

/* r = 1 / sqrt(mean(x²) + eps), and y = x r w; w may be NULL. */
float inverse_rms(const float *x, size_t n, double eps);
void rms_norm(const float *x, const float *w, float *y, size_t n, double eps);

/* y = a b of matrices m × k and k × n. */
void matmul(const float *a, const float *b, float *y, size_t m, size_t k, size_t n);

#endif
