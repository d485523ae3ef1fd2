"""Kernels that compute in float32 and truncate, or round, to bfloat16: x * x and rms_norm, in NumPy and in C."""

import ml_dtypes
import numpy as np

BF16 = np.dtype(ml_dtypes.bfloat16)


def truncated(y):
    return (np.ascontiguousarray(y, np.float32).view(np.uint32) >> 16).astype(np.uint16).view(BF16)


def rounded(y):
    return np.asarray(y, np.float32).astype(BF16)


class Kernels:
    """square and rms_norm in float32, stored by `store`."""

    name = "kernels"

    def __init__(self, store, declared=None, compute=None):
        self.store, self.declared, self.precision = store, declared, compute

    def compute(self, op, dtype, mode):
        return self.precision

    def rounding(self, op, dtype, mode):
        return self.declared

    def forward(self, op, inputs, params):
        x, *weight = (v.astype(np.float32) for v in inputs if v is not None)
        if op == "square":
            y = x * x
        else:
            y = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + np.float32(params["eps"]))
            y = y * weight[0] if weight else y
        return [self.store(y).reshape(x.shape)]


C_SQUARE = """
#include <math.h>
int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }

static int64_t place(const DLTensor *t, int64_t i) {
  int64_t at = 0;
  for (int32_t k = t->ndim - 1; k >= 0; --k) {
    at += i % t->shape[k] * t->strides[k];
    i /= t->shape[k];
  }
  return at;
}

static float value(const DLTensor *t, int64_t i) {
  uint32_t bits = (uint32_t)((const uint16_t *)((const char *)t->data + t->byte_offset))[place(t, i)] << 16;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static uint16_t stored(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (uint16_t)((bits + ROUND) >> 16);
}

int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs, char *message,
                        size_t message_size) {
  const DLTensor *x = call->inputs[0];
  uint16_t *y = (uint16_t *)((char *)outputs[0]->data + outputs[0]->byte_offset);
  int64_t count = 1, row = x->ndim ? x->shape[x->ndim - 1] : 1;
  (void)n_outputs, (void)message, (void)message_size;
  for (int32_t k = 0; k < x->ndim; ++k) count *= x->shape[k];
  int norm = strcmp(call->op, "rms_norm") == 0;
  double eps = 0;
  for (int32_t p = 0; p < call->n_params; ++p) {
    if (strcmp(call->params[p].name, "eps") == 0) eps = call->params[p].f;
  }
  for (int64_t begin = 0; begin < count; begin += row) {
    float sum = 0;
    for (int64_t i = begin; i < begin + row; ++i) sum += value(x, i) * value(x, i);
    float root = norm ? sqrtf(sum / (float)row + (float)eps) : 1;
    for (int64_t i = begin; i < begin + row; ++i) {
      float v = value(x, i), weight = norm && call->inputs[1] ? value(call->inputs[1], i - begin) : 1;
      y[i] = stored(norm ? v / root * weight : v * v);
    }
  }
  return OPPROOF_OK;
}
"""
C_DECLARES = """
const char *opproof_rounding(const char *op, const char *dtype, const char *mode) {
  (void)op;
  return strcmp(dtype, "bf16") == 0 && strcmp(mode, "forward") == 0 ? "%s" : NULL;
}
"""
