/* convolutions.c: of one to three axes, directly or by im2col; transposed ones are the same with x and y exchanged. */
#include "call.h"
#include "sums.h"

/* big (n, cb, *size) holds the cells that windows read, small (n, cs, *out) one value a window; weight
 * (cs, cb / groups, *kernel). Every axis list has three members, the leading ones 1. */
typedef struct {
  int64_t n, cb, cs, groups, size[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
  int64_t cells, windows, taps; /* products of size, out and kernel */
} Conv;

static void last_axes(const Array *a, int64_t *into) {
  for (int d = 0; d < 3; ++d) into[d] = d < 5 - a->ndim ? 1 : a->shape[a->ndim - 3 + d];
}

static void setting(const Call *c, const char *name, int rank, int64_t otherwise, int64_t unit, int64_t *into) {
  for (int d = 0; d < 3; ++d) into[d] = unit;
  sizes(c, name, rank, into + 3 - rank, otherwise);
}

static Conv conv_of(const Call *c, const Array *big, const Array *small, const Array *weight, int64_t groups) {
  Conv v = {.n = big->shape[0], .cb = big->shape[1], .cs = small->shape[1], .groups = groups};
  int rank = big->ndim - 2;
  last_axes(big, v.size), last_axes(small, v.out), last_axes(weight, v.kernel);
  setting(c, "stride", rank, 1, 1, v.stride);
  setting(c, "padding", rank, 0, 0, v.padding);
  setting(c, "dilation", rank, 1, 1, v.dilation);
  v.cells = product(v.size, 0, 3), v.windows = product(v.out, 0, 3), v.taps = product(v.kernel, 0, 3);
  return v;
}

/* The cell that tap t of window w reads, or -1 in the padding. */
static int64_t cell(const Conv *v, int64_t w, int64_t t) {
  int64_t at[3];
  for (int d = 2; d >= 0; --d) {
    at[d] = w % v->out[d] * v->stride[d] - v->padding[d] + t % v->kernel[d] * v->dilation[d];
    if (at[d] < 0 || at[d] >= v->size[d]) return -1;
    w /= v->out[d], t /= v->kernel[d];
  }
  return (at[0] * v->size[1] + at[1]) * v->size[2] + at[2];
}

static int64_t *cells_of(Call *c, const Conv *v) {
  int64_t *table = take(c, (size_t)(v->taps * v->windows) * sizeof *table);
  for (int64_t t = 0; t < v->taps; ++t) {
    for (int64_t w = 0; w < v->windows; ++w) table[t * v->windows + w] = cell(v, w, t);
  }
  return table;
}

#if IM2COL

/* The columns of one group of one sample: (channels * taps, windows). */
static void columns(const Conv *v, const int64_t *table, const float *big, int64_t channels, float *cols) {
  for (int64_t ch = 0; ch < channels; ++ch) {
    for (int64_t e = 0; e < v->taps * v->windows; ++e) {
      cols[ch * v->taps * v->windows + e] = table[e] < 0 ? 0 : big[ch * v->cells + table[e]];
    }
  }
}

/* small += weight columns(big); or big += columns' of weight' small; or weight += small columns(big)'. */
static void convolve(Call *c, const Conv *v, float *big, float *small, float *weight, char into) {
  int64_t *table = cells_of(c, v), channels = v->cb / v->groups, outs = v->cs / v->groups, k = channels * v->taps;
  for (int64_t s = 0; s < v->n * v->groups; ++s) {
    float *bs = big + s * channels * v->cells, *ss = small + s * outs * v->windows;
    float *ws = weight + s % v->groups * outs * k, *cols = floats(c, k * v->windows);
    if (into == 'b') {
      gemm(c, k, v->windows, outs, ws, 1, k, ss, v->windows, 1, cols);
      for (int64_t e = 0; e < k * v->windows; ++e) {
        int64_t at = table[e % (v->taps * v->windows)];
        if (at >= 0) bs[e / (v->taps * v->windows) * v->cells + at] += cols[e];
      }
      continue;
    }
    columns(v, table, bs, channels, cols);
    if (into == 's') gemm(c, outs, v->windows, k, ws, k, 1, cols, v->windows, 1, ss);
    else gemm(c, outs, k, v->windows, ss, v->windows, 1, cols, 1, v->windows, ws);
  }
}

#else

static void convolve(Call *c, const Conv *v, float *big, float *small, float *weight, char into) {
  int64_t *table = cells_of(c, v), channels = v->cb / v->groups, outs = v->cs / v->groups;
  for (int64_t s = 0; s < v->n * v->groups; ++s) {
    for (int64_t o = 0; o < outs; ++o) {
      float *to = small + (s * outs + o) * v->windows;
      for (int64_t ch = 0; ch < channels; ++ch) {
        float *from = big + (s * channels + ch) * v->cells;
        float *w = weight + ((s % v->groups * outs + o) * channels + ch) * v->taps;
        for (int64_t t = 0; t < v->taps; ++t) {
          for (int64_t k = 0; k < v->windows; ++k) {
            int64_t at = table[t * v->windows + k];
            if (at < 0) continue;
            if (into == 's') to[k] = MADD(w[t], from[at], to[k]);
            else if (into == 'b') from[at] = MADD(w[t], to[k], from[at]);
            else w[t] = MADD(to[k], from[at], w[t]);
          }
        }
      }
    }
  }
}

#endif

static void add_bias(const Call *c, Array *y) {
  const Array *bias = c->inputs > 2 ? c->in[2] : NULL;
  int64_t inner = product(y->shape, 2, y->ndim);
  for (int64_t k = 0; bias != NULL && k < y->n; ++k) y->v[k] += bias->v[k / inner % y->shape[1]];
}

static void bias_gradient(Call *c) {
  if (c->inputs < 3 || c->d[2] == NULL) return;
  const Array *g = c->g[0];
  Rows r = {0};
  int mask[MAX_DIMS];
  for (int d = 0; d < g->ndim; ++d) mask[d] = d != 1;
  r = rows_of(c, g, mask);
  for (int64_t o = 0; o < r.rows; ++o) c->d[2]->v[o] = sum_of(r.v + o * r.n, r.n, 1);
}

static int64_t groups_of(const Call *c) {
  return strcmp(c->given->op, "conv2d_depthwise") == 0 ? c->in[0]->shape[1] : (int64_t)number(c, "groups", 1);
}

static const char *declined(const Call *c) {
  return c->in[0]->ndim != c->in[1]->ndim || c->in[0]->ndim > 5 ? "convolutions of batches, of up to three axes" : NULL;
}

static const char *conv_forward(Call *c) {
  const char *why = declined(c);
  if (why != NULL) return why;
  Conv v = conv_of(c, c->in[0], c->out[0], c->in[1], groups_of(c));
  convolve(c, &v, c->in[0]->v, c->out[0]->v, c->in[1]->v, 's');
  add_bias(c, c->out[0]);
  return NULL;
}

static const char *conv_vjp(Call *c) {
  const char *why = declined(c);
  if (why != NULL) return why;
  Conv v = conv_of(c, c->in[0], c->g[0], c->in[1], groups_of(c));
  if (c->d[0] != NULL) convolve(c, &v, c->d[0]->v, c->g[0]->v, c->in[1]->v, 'b');
  if (c->d[1] != NULL) convolve(c, &v, c->in[0]->v, c->g[0]->v, c->d[1]->v, 'w');
  bias_gradient(c);
  return NULL;
}

static const char *transposed_forward(Call *c) {
  const char *why = declined(c);
  if (why != NULL) return why;
  Conv v = conv_of(c, c->out[0], c->in[0], c->in[1], groups_of(c));
  convolve(c, &v, c->out[0]->v, c->in[0]->v, c->in[1]->v, 'b');
  add_bias(c, c->out[0]);
  return NULL;
}

static const char *transposed_vjp(Call *c) {
  const char *why = declined(c);
  if (why != NULL) return why;
  Conv v = conv_of(c, c->g[0], c->in[0], c->in[1], groups_of(c));
  if (c->d[0] != NULL) convolve(c, &v, c->g[0]->v, c->d[0]->v, c->in[1]->v, 's');
  if (c->d[1] != NULL) convolve(c, &v, c->g[0]->v, c->in[0]->v, c->d[1]->v, 'w');
  bias_gradient(c);
  return NULL;
}

#define ROW(name, kind) {name, kind##_forward, kind##_vjp, 0, 0, 0, 0, 0, {0}}
const Operator CONVOLUTIONS[] = {ROW("conv1d", conv),
                                 ROW("conv2d", conv),
                                 ROW("conv3d", conv),
                                 ROW("conv2d_depthwise", conv),
                                 ROW("conv_transpose1d", transposed),
                                 ROW("conv_transpose2d", transposed),
                                 {0}};
