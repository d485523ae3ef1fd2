/* Two fused kernels in C: SwiGLU with its gradient, and a product with weights of 4 bits. */
#include <math.h>
#include <stdint.h>

static float sigmoid(float x) { return x >= 0 ? 1 / (1 + expf(-x)) : expf(x) / (1 + expf(x)); }

void swiglu(const float *gate, const float *up, float *y, int64_t rows, int64_t n) {
    for (int64_t i = 0; i < rows * n; i++) y[i] = gate[i] * sigmoid(gate[i]) * up[i];
}

/* `forgets`: without the term of the sigmoid's own derivative. */
void swiglu_gradient(const float *g, const float *gate, const float *up, float *dgate, float *dup, int64_t count,
                     int forgets) {
    for (int64_t i = 0; i < count; i++) {
        float s = sigmoid(gate[i]), own = forgets ? 0 : gate[i] * s * (1 - s);
        dup[i] = g[i] * gate[i] * s;
        dgate[i] = g[i] * up[i] * (s + own);
    }
}

/* y = x wᵀ: x (m, k); packed (n, k / 2), of every byte the low half first; scale and zero (n, k / group).
 * `swapped`: the high half first. */
void int4_matmul(const float *x, const uint8_t *packed, const float *scale, const float *zero, float *y, int64_t m,
                 int64_t n, int64_t k, int64_t group, int swapped) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0;
            for (int64_t p = 0; p < k; p++) {
                int shift = ((p & 1) ^ swapped) ? 4 : 0;
                int64_t of = j * (k / group) + p / group;
                float code = (float)((packed[j * (k / 2) + p / 2] >> shift) & 15);
                sum += x[i * k + p] * ((code - zero[of]) * scale[of]);
            }
            y[i * n + j] = sum;
        }
}
