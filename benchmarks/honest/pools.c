/* pools.c: means and maxima of windows, and resizing. */
#include "call.h"
#include "sums.h"

/* Windows on planes of x; one axis is a plane of one row. */
typedef struct {
  int64_t planes, size[2], out[2], kernel[2], stride[2], padding[2], far[2], dilation[2];
} Pool;

static Pool pool_of(const Call *c, const Array *x, const Array *y) {
  int rank = strstr(c->given->op, "1d") != NULL ? 1 : 2, from = 2 - rank;
  Pool p = {product(x->shape, 0, x->ndim - rank), {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}};
  for (int d = 0; d < rank; ++d) {
    p.size[from + d] = x->shape[x->ndim - rank + d];
    p.out[from + d] = y->shape[y->ndim - rank + d];
  }
  sizes(c, "kernel_size", rank, p.kernel + from, 1);
  for (int d = 0; d < rank; ++d) p.stride[from + d] = p.kernel[from + d];
  if (param(c, "stride") != NULL) sizes(c, "stride", rank, p.stride + from, 1);
  sizes(c, "padding", rank, p.padding + from, 0);
  const opproof_param *padding = param(c, "padding"); /* two numbers an axis name both sides */
  int two = padding != NULL && padding->type == OPPROOF_INTS && padding->count == 2 * rank;
  for (int d = 0; d < rank; ++d) p.far[from + d] = two ? padding->ints[rank + d] : p.padding[from + d];
  sizes(c, "dilation", rank, p.dilation + from, 1);
  return p;
}

/* Cells of window (i, j) that lie on x, into `at`; and how many it has with those in the padding. */
static int64_t window(const Pool *p, int64_t i, int64_t j, int64_t *at, int64_t *padded) {
  int64_t used = 0, reach[2] = {0, 0}, begin[2] = {i * p->stride[0] - p->padding[0], j * p->stride[1] - p->padding[1]};
  for (int d = 0; d < 2; ++d) {
    int64_t end = begin[d] + p->kernel[d], last = p->size[d] + p->far[d];
    reach[d] = (end < last ? end : last) - begin[d];
  }
  *padded = reach[0] * reach[1];
  for (int64_t a = 0; a < p->kernel[0]; ++a) {
    for (int64_t b = 0; b < p->kernel[1]; ++b) {
      int64_t row = begin[0] + a * p->dilation[0], col = begin[1] + b * p->dilation[1];
      if (row >= 0 && row < p->size[0] && col >= 0 && col < p->size[1]) at[used++] = row * p->size[1] + col;
    }
  }
  return used;
}

static float mean_divisor(const Call *c, int64_t used, int64_t padded) {
  if (param(c, "divisor_override") != NULL) return (float)number(c, "divisor_override", 1);
  return (float)(number(c, "count_include_pad", 1) != 0 ? padded : used);
}

/* One pass over all windows: kind 'a' averages, 'm' takes the maximum; with g, gradients into d. */
static const char *pooled(Call *c, const Array *y, char kind, Array *d) {
  Array *x = c->in[0];
  Pool p = pool_of(c, x, y);
  int64_t *at = take(c, (size_t)(p.kernel[0] * p.kernel[1]) * sizeof *at), padded, cells = p.size[0] * p.size[1];
  float *v = floats(c, p.kernel[0] * p.kernel[1]);
  for (int64_t w = 0; w < y->n; ++w) {
    int64_t j = w % p.out[1], i = w / p.out[1] % p.out[0], plane = w / p.out[1] / p.out[0], best = 0;
    int64_t used = window(&p, i, j, at, &padded);
    for (int64_t k = 0; k < used; ++k) v[k] = x->v[plane * cells + at[k]];
    for (int64_t k = 1; k < used; ++k) if (v[k] > v[best] || (v[k] != v[k] && v[best] == v[best])) best = k;
    float by = mean_divisor(c, used, padded);
    if (d == NULL && kind == 'a') c->out[0]->v[w] = sum_of(v, used, 1) / by;
    else if (d == NULL) c->out[0]->v[w] = v[best], c->out[1]->i[w] = at[best];
    else if (kind == 'm') d->v[plane * cells + at[best]] += c->g[0]->v[w];
    else for (int64_t k = 0; k < used; ++k) d->v[plane * cells + at[k]] += c->g[0]->v[w] / by;
  }
  return NULL;
}

static const char *avg_forward(Call *c) { return pooled(c, c->out[0], 'a', NULL); }
static const char *avg_vjp(Call *c) { return c->d[0] == NULL ? NULL : pooled(c, c->g[0], 'a', c->d[0]); }
static const char *max_forward(Call *c) { return pooled(c, c->out[0], 'm', NULL); }
static const char *max_vjp(Call *c) { return c->d[0] == NULL ? NULL : pooled(c, c->g[0], 'm', c->d[0]); }

static const char *adaptive(Call *c, const Array *y, Array *d) {
  const Array *x = c->in[0];
  int64_t h = x->shape[x->ndim - 2], w = x->shape[x->ndim - 1];
  int64_t oh = y->shape[y->ndim - 2], ow = y->shape[y->ndim - 1];
  float *v = floats(c, h * w);
  for (int64_t k = 0; k < y->n; ++k) {
    int64_t i = k / ow % oh, j = k % ow, plane = k / ow / oh * h * w, used = 0;
    int64_t top = i * h / oh, bottom = ((i + 1) * h + oh - 1) / oh, left = j * w / ow, right = ((j + 1) * w + ow - 1) / ow;
    float n = (float)((bottom - top) * (right - left));
    for (int64_t r = top; r < bottom; ++r) {
      for (int64_t q = left; q < right; ++q) {
        if (d != NULL) d->v[plane + r * w + q] += c->g[0]->v[k] / n;
        else v[used++] = x->v[plane + r * w + q];
      }
    }
    if (d == NULL) c->out[0]->v[k] = sum_of(v, used, 1) / n;
  }
  return NULL;
}
static const char *adaptive_forward(Call *c) { return adaptive(c, c->out[0], NULL); }
static const char *adaptive_vjp(Call *c) { return c->d[0] == NULL ? NULL : adaptive(c, c->g[0], c->d[0]); }

/* The two cells that output i lies between, and its distance from the first. */
static void between(const Call *c, int64_t i, int64_t n, int64_t out, int64_t *low, int64_t *high, float *far) {
  float at;
  if (number(c, "align_corners", 0) != 0) at = out > 1 ? (float)i * ((float)(n - 1) / (float)(out - 1)) : 0;
  else at = fmaxf(((float)i + 0.5f) * ((float)n / (float)out) - 0.5f, 0);
  *low = (int64_t)at < n - 1 ? (int64_t)at : n - 1;
  *high = *low + 1 < n ? *low + 1 : *low;
  *far = at - (float)*low;
}

static const char *resized(Call *c, const Array *y, Array *d) {
  const Array *x = c->in[0];
  int64_t h = x->shape[2], w = x->shape[3], oh = y->shape[2], ow = y->shape[3];
  int nearest = strcmp(c->given->op, "upsample_nearest") == 0;
  for (int64_t k = 0; k < y->n; ++k) {
    int64_t i = k / ow % oh, j = k % ow, plane = k / ow / oh * h * w, top, bottom, left, right;
    float down, across;
    between(c, i, h, oh, &top, &bottom, &down);
    between(c, j, w, ow, &left, &right, &across);
    if (nearest) top = bottom = i * h / oh, left = right = j * w / ow, down = across = 0;
    int64_t at[4] = {top * w + left, top * w + right, bottom * w + left, bottom * w + right};
    float share[4] = {(1 - down) * (1 - across), (1 - down) * across, down * (1 - across), down * across};
    float total = 0;
    for (int e = 0; e < (nearest ? 1 : 4); ++e) {
      if (d != NULL) d->v[plane + at[e]] += c->g[0]->v[k] * share[e];
      else total = MADD(x->v[plane + at[e]], share[e], total);
    }
    if (d == NULL) c->out[0]->v[k] = total;
  }
  return NULL;
}
static const char *resize_forward(Call *c) { return resized(c, c->out[0], NULL); }
static const char *resize_vjp(Call *c) { return c->d[0] == NULL ? NULL : resized(c, c->g[0], c->d[0]); }

#define ROW(name, kind) {name, kind##_forward, kind##_vjp, 0, 0, 0, 0, 0, {0}}
const Operator POOLS[] = {ROW("avg_pool1d", avg), ROW("avg_pool2d", avg), ROW("max_pool1d", max), ROW("max_pool2d", max),
                          ROW("adaptive_avg_pool2d", adaptive), ROW("upsample_nearest", resize),
                          ROW("upsample_bilinear", resize), {0}};
