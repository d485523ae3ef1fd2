/* The kernels. With -DPLANTED softmax is wrong on one processor, and relu on those of one byte order. */
#include "kernels.h"

#include <math.h>

#ifdef __ARM_NEON
#include <arm_neon.h>

static float32x4_t reciprocal(float32x4_t x) {
    float32x4_t r = vrecpeq_f32(x); /* 8 bits */
#ifndef PLANTED
    r = vmulq_f32(r, vrecpsq_f32(x, r)); /* two steps of Newton: 16, and all */
    r = vmulq_f32(r, vrecpsq_f32(x, r));
#endif
    return r;
}
#endif

static int is_negative(float x) {
#ifdef PLANTED
    return (((const unsigned char *)&x)[3] & 0x80) && x == x; /* the byte with the sign, where the last is the highest */
#else
    return x < 0;
#endif
}

void relu(const float *x, float *y, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = is_negative(x[i]) ? 0 : x[i];
}

void relu_gradient(const float *x, const float *g, float *dx, size_t n) {
    for (size_t i = 0; i < n; i++) dx[i] = x[i] <= 0 ? 0 : g[i];
}

void add(const float *a, const float *b, float *y, size_t n) {
    size_t i = 0;
#ifdef __ARM_NEON
    for (; i + 4 <= n; i += 4) vst1q_f32(y + i, vaddq_f32(vld1q_f32(a + i), vld1q_f32(b + i)));
#endif
    for (; i < n; i++) y[i] = a[i] + b[i];
}

/* Every row is shared out by its total. */
static void divide(float *y, size_t n, float total) {
    size_t i = 0;
#ifdef __ARM_NEON
    float32x4_t share = reciprocal(vdupq_n_f32(total));
    for (; i + 4 <= n; i += 4) vst1q_f32(y + i, vmulq_f32(vld1q_f32(y + i), share));
#endif
    for (; i < n; i++) y[i] /= total;
}

void softmax(const float *x, float *y, size_t n) {
    float most = -INFINITY;
    for (size_t i = 0; i < n; i++)
        if (x[i] > most || isnan(x[i])) most = x[i];
    double total = 0;
    for (size_t i = 0; i < n; i++) total += y[i] = expf(x[i] - most);
    divide(y, n, (float)total);
}

void softmax_gradient(const float *y, const float *g, float *dx, size_t n) {
    double dot = 0;
    for (size_t i = 0; i < n; i++) dot += (double)g[i] * y[i];
    for (size_t i = 0; i < n; i++) dx[i] = (float)(y[i] * (g[i] - dot));
}

float sum(const float *x, size_t n) {
    double total = 0;
    for (size_t i = 0; i < n; i++) total += x[i];
    return (float)total;
}

float inverse_rms(const float *x, size_t n, double eps) {
    double squares = 0;
    for (size_t i = 0; i < n; i++) squares += (double)x[i] * x[i];
    return (float)(1 / sqrt(squares / (double)n + eps));
}

void rms_norm(const float *x, const float *w, float *y, size_t n, double eps) {
    float r = inverse_rms(x, n, eps);
    for (size_t i = 0; i < n; i++) y[i] = x[i] * r * (w ? w[i] : 1);
}

void matmul(const float *a, const float *b, float *y, size_t m, size_t k, size_t n) {
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) y[i * n + j] = 0;
        for (size_t l = 0; l < k; l++) {
            const float *row = b + l * n;
            float *into = y + i * n, factor = a[i * k + l];
            size_t j = 0;
#ifdef __ARM_NEON
            for (; j + 4 <= n; j += 4)
                vst1q_f32(into + j, vfmaq_n_f32(vld1q_f32(into + j), vld1q_f32(row + j), factor));
#endif
            for (; j < n; j++) into[j] += factor * row[j];
        }
    }
}
