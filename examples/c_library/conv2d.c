/* conv2d.c: cross-correlation of x (n, cin, h, w) with weight (cout, cin / groups, kh, kw), plus bias (cout). */
#include "real.h"

/* Along the two image axes: step between windows, zeros added on each side, step within a window. */
typedef struct {
  int64_t stride[2], padding[2], dilation[2], groups;
} Geometry;

/* A parameter that is one number for both axes or a pair. */
static void read_pair(const opproof_call *call, const char *name, int64_t otherwise, int64_t pair[2]) {
  const opproof_param *p = param(call, name);
  int is_pair = p != NULL && p->type == OPPROOF_INTS && p->count == 2;
  for (int i = 0; i < 2; ++i) pair[i] = p == NULL ? otherwise : is_pair ? p->ints[i] : p->i;
}

static int32_t read_geometry(const opproof_call *call, Geometry *geometry, Reason why) {
  const DLTensor *x = input(call, 0), *weight = input(call, 1);
  const opproof_param *padding = param(call, "padding");
  if (x->ndim != 4 || weight->ndim != 4) return unsupported(why, "conv2d of other than 4 axes");
  if (padding != NULL && padding->type == OPPROOF_STRING) return unsupported(why, "padding given by a word");
  read_pair(call, "stride", 1, geometry->stride);
  read_pair(call, "padding", 0, geometry->padding);
  read_pair(call, "dilation", 1, geometry->dilation);
  geometry->groups = int_param(call, "groups", 1);
  return OPPROOF_OK;
}

/* Where, along image axis `axis`, element k of window `window` lies; it may lie in the padding. */
static int64_t source(const Geometry *geometry, int axis, int64_t window, int64_t k) {
  int64_t dilation = DEFECT("no_dilation") ? 1 : geometry->dilation[axis];
  return window * geometry->stride[axis] - geometry->padding[axis] + k * dilation;
}

/* Offset of element (i, j, k, l) of a tensor of four axes. */
static int64_t at(const DLTensor *t, int64_t i, int64_t j, int64_t k, int64_t l) {
  return i * t->strides[0] + j * t->strides[1] + k * t->strides[2] + l * t->strides[3];
}

/* One product of the convolution: y[n, co, oh, ow] += x[n, ci, h, w] * weight[co, c, kh, kw]. */
typedef struct {
  int64_t n, co, oh, ow, ci, h, w, c, kh, kw;
} Term;

/* Advance to the next product of the same window that does not lie in the padding; 0 at its end.
 * Begin with c = 0, kh = 0, kw = -1. */
static int next_term(Term *t, const Geometry *geometry, const DLTensor *x, const DLTensor *weight) {
  const int64_t *sizes = weight->shape; /* cout, cin / groups, kh, kw */
  for (;;) {
    if (++t->kw >= sizes[3]) {
      t->kw = 0;
      if (++t->kh >= sizes[2]) {
        t->kh = 0;
        ++t->c;
      }
    }
    if (t->c >= sizes[1] || sizes[2] == 0 || sizes[3] == 0) return 0;
    t->ci = t->co / (sizes[0] / geometry->groups) * sizes[1] + t->c;
    t->h = source(geometry, 0, t->oh, t->kh);
    t->w = source(geometry, 1, t->ow, t->kw);
    if (t->h >= 0 && t->h < x->shape[2] && t->w >= 0 && t->w < x->shape[3]) return 1;
  }
}

/* The window of the i-th element of y, in row-major order. */
static Term first_term(const DLTensor *y, int64_t i) {
  const int64_t *s = y->shape;
  return (Term){.ow = i % s[3], .oh = i / s[3] % s[2], .co = i / s[3] / s[2] % s[1], .n = i / s[3] / s[2] / s[1], .kw = -1};
}

int32_t FN(conv2d_forward)(const opproof_call *call, const DLTensor *y, Reason why) {
  const DLTensor *x = input(call, 0), *weight = input(call, 1), *bias = input(call, 2);
  Geometry geometry;
  int32_t code = read_geometry(call, &geometry, why);
  if (code != OPPROOF_OK) return code;
  for (int64_t i = 0, n = count(y); i < n; ++i) {
    Term t = first_term(y, i);
    Total total = {0, 0};
    if (bias != NULL) add_to(&total, load(bias, t.co * bias->strides[0]));
    while (next_term(&t, &geometry, x, weight)) {
      add_to(&total, load(x, at(x, t.n, t.ci, t.h, t.w)) * load(weight, at(weight, t.co, t.c, t.kh, t.kw)));
    }
    store(y, i, value_of(total));
  }
  return OPPROOF_OK;
}

/* Every product of the forward, backwards: dx += g weight, dweight += g x, dbias += g. */
static void accumulate(const opproof_call *call, const Geometry *geometry, const DLTensor *g,
                       DLTensor *const *gradients, Total *const *totals) {
  const DLTensor *x = input(call, 0), *weight = input(call, 1);
  for (int64_t i = 0, n = count(g); i < n; ++i) {
    Term t = first_term(g, i);
    real cotangent = load(g, offset_of(g, i));
    if (gradients[2] != NULL) add_to(&totals[2][t.co], cotangent);
    while (next_term(&t, geometry, x, weight)) {
      int64_t x_at = at(x, t.n, t.ci, t.h, t.w), weight_at = at(weight, t.co, t.c, t.kh, t.kw);
      if (gradients[0] != NULL) {
        add_to(&totals[0][at(gradients[0], t.n, t.ci, t.h, t.w)], cotangent * load(weight, weight_at));
      }
      if (gradients[1] != NULL) {
        add_to(&totals[1][at(gradients[1], t.co, t.c, t.kh, t.kw)], cotangent * load(x, x_at));
      }
    }
  }
}

int32_t FN(conv2d_vjp)(const opproof_call *call, const DLTensor *g, DLTensor *const *gradients, Reason why) {
  Geometry geometry;
  int32_t code = read_geometry(call, &geometry, why);
  if (code != OPPROOF_OK) return code;
  Total *totals[3] = {new_totals(gradients[0]), new_totals(gradients[1]), new_totals(gradients[2])};
  if (totals[0] == NULL || totals[1] == NULL || totals[2] == NULL) {
    code = failed(why, "out of memory");
  } else {
    accumulate(call, &geometry, g, gradients, totals);
    for (int i = 0; i < 3; ++i) store_totals(gradients[i], totals[i]);
  }
  for (int i = 0; i < 3; ++i) free(totals[i]);
  return code;
}
