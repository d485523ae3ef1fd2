/* norms.c: softmax, log_softmax and the normalisations, all over rows. */
#include "call.h"
#include "sums.h"

static Rows along_dim(Call *c, const Array *a, int *mask) {
  one_axis(axis_of((int64_t)number(c, "dim", -1), a->ndim), a->ndim, mask);
  return rows_of(c, a, mask);
}

/* The maximum, and the sum of exp(x - maximum): in two passes, or in one that rescales the sum. */
static void normalizer(Call *c, const float *v, int64_t n, float *most, float *total) {
  *most = -INFINITY;
  *total = 0;
#if ONLINE
  (void)c;
  for (int64_t k = 0; k < n; ++k) {
    if (v[k] == -INFINITY) continue; /* nothing, where a row that begins so would be -inf - -inf */
    if (v[k] > *most) *total *= expf(*most - v[k]), *most = v[k];
    *total += expf(v[k] - *most);
  }
#else
  float *e = floats(c, n);
  for (int64_t k = 0; k < n; ++k) if (v[k] > *most) *most = v[k];
  for (int64_t k = 0; k < n; ++k) e[k] = expf(v[k] - *most);
  *total = sum_of(e, n, 1);
#endif
}

static void softmax_row(Call *c, float *v, int64_t n, int logs) {
  float most, total;
  normalizer(c, v, n, &most, &total);
  for (int64_t k = 0; k < n; ++k) v[k] = logs ? (v[k] - most) - logf(total) : expf(v[k] - most) / total;
}

static const char *soft(Call *c, int logs) {
  int mask[MAX_DIMS];
  Rows x = along_dim(c, c->in[0], mask);
  for (int64_t r = 0; r < x.rows; ++r) softmax_row(c, x.v + r * x.n, x.n, logs);
  rows_to(&x, c->out[0], mask);
  return NULL;
}
static const char *softmax_forward(Call *c) { return soft(c, 0); }
static const char *log_softmax_forward(Call *c) { return soft(c, 1); }

static const char *soft_vjp(Call *c, int logs) {
  int mask[MAX_DIMS];
  if (c->d[0] == NULL) return NULL;
  Rows p = along_dim(c, c->in[0], mask), g = rows_of(c, c->g[0], mask);
  for (int64_t r = 0; r < p.rows; ++r) {
    float *v = p.v + r * p.n, *h = g.v + r * p.n;
    softmax_row(c, v, p.n, 0);
    float along = logs ? sum_of(h, p.n, 1) : dot_of(h, 1, v, 1, p.n);
    for (int64_t k = 0; k < p.n; ++k) h[k] = logs ? h[k] - v[k] * along : v[k] * (h[k] - along);
  }
  rows_to(&g, c->d[0], mask);
  return NULL;
}
static const char *softmax_vjp(Call *c) { return soft_vjp(c, 0); }
static const char *log_softmax_vjp(Call *c) { return soft_vjp(c, 1); }

/* A normalisation: rows of x are centred (or not) and divided by their spread; weight and bias follow. */
typedef struct {
  int mask[MAX_DIMS], centred;
  float eps;
  Array shape;            /* in which the rows lie; x's own, or x's with its channels in groups */
  const Array *weight, *bias;
  int channels;           /* weight and bias by axis 1; else by the last axes */
} Norm;

static int64_t weight_at(const Norm *n, const Array *x, int64_t k) {
  return n->channels ? k / product(x->shape, 2, x->ndim) % x->shape[1] : k % n->weight->n;
}

static int64_t bias_at(const Norm *n, const Array *x, int64_t k) {
  return n->channels ? k / product(x->shape, 2, x->ndim) % x->shape[1] : k % n->bias->n;
}

/* The rows centred and scaled to one; `spread` gets 1 / sqrt(variance + eps). */
static Rows unit_rows(Call *c, Norm *n, const Array *x, float *spread) {
  n->shape.v = x->v;
  Rows u = rows_of(c, &n->shape, n->mask);
  for (int64_t r = 0; r < u.rows; ++r) {
    float *v = u.v + r * u.n, mean = 0, squares;
    if (n->centred) moments(v, u.n, &mean, &squares);
    else squares = dot_of(v, 1, v, 1, u.n);
    spread[r] = 1 / sqrtf(squares / (float)u.n + n->eps);
    for (int64_t k = 0; k < u.n; ++k) v[k] = (v[k] - mean) * spread[r];
  }
  return u;
}

static const char *norm_forward(Call *c, Norm *n) {
  Array *y = c->out[0];
  Array grouped = n->shape;
  Rows u = unit_rows(c, n, c->in[0], floats(c, y->n + 1));
  grouped.v = y->v;
  rows_to(&u, &grouped, n->mask);
  for (int64_t k = 0; k < y->n; ++k) {
    if (n->weight != NULL) y->v[k] *= n->weight->v[weight_at(n, y, k)];
    if (n->bias != NULL) y->v[k] += n->bias->v[bias_at(n, y, k)];
  }
  return NULL;
}

/* The sums over everything but the weight's own axes: rows of `whole` gathered by weight. */
static void weight_sums(Call *c, const Norm *n, const Array *x, const float *whole, Array *d) {
  if (d == NULL) return;
  float *terms = floats(c, x->n);
  int64_t each = d->n ? x->n / d->n : 0, inner = product(x->shape, 2, x->ndim);
  for (int64_t w = 0; w < d->n; ++w) {
    int64_t used = 0;
    for (int64_t k = 0; k < each; ++k) {
      int64_t at = n->channels ? (k / inner * d->n + w) * inner + k % inner : k * d->n + w;
      terms[used++] = whole[at];
    }
    d->v[w] = sum_of(terms, used, 1);
  }
}

static const char *norm_vjp(Call *c, Norm *n, Array *dweight, Array *dbias) {
  const Array *x = c->in[0], *g = c->g[0];
  float *spread = floats(c, x->n + 1), *products = floats(c, x->n), *scaled = floats(c, x->n);
  Array unit = *alike(c, x), grouped;
  Rows u = unit_rows(c, n, x, spread);
  grouped = n->shape;
  grouped.v = unit.v;
  rows_to(&u, &grouped, n->mask);
  for (int64_t k = 0; k < x->n; ++k) {
    products[k] = g->v[k] * unit.v[k];
    scaled[k] = n->weight == NULL ? g->v[k] : g->v[k] * n->weight->v[weight_at(n, x, k)];
  }
  weight_sums(c, n, x, products, dweight);
  weight_sums(c, n, x, g->v, dbias);
  if (c->d[0] == NULL) return NULL;
  grouped.v = scaled;
  Rows h = rows_of(c, &grouped, n->mask);
  for (int64_t r = 0; r < h.rows; ++r) {
    float *hr = h.v + r * h.n, *ur = u.v + r * h.n;
    float mean = n->centred ? sum_of(hr, h.n, 1) / (float)h.n : 0;
    float along = dot_of(hr, 1, ur, 1, h.n) / (float)h.n;
    for (int64_t k = 0; k < h.n; ++k) hr[k] = spread[r] * (hr[k] - mean - ur[k] * along);
  }
  grouped.v = c->d[0]->v;
  rows_to(&h, &grouped, n->mask);
  return NULL;
}

static Norm norm_of(Call *c, int centred, int channels, int weight, int bias) {
  Norm n = {{0}, centred, (float)number(c, "eps", 1e-5), *c->in[0], NULL, NULL, channels};
  n.weight = weight < c->inputs ? c->in[weight] : NULL;
  n.bias = bias < c->inputs ? c->in[bias] : NULL;
  return n;
}
static Norm layer(Call *c) {
  Norm n = norm_of(c, 1, 0, 1, 2);
  const opproof_param *p = param(c, "normalized_shape");
  int last = p->type == OPPROOF_INTS ? p->count : 1;
  for (int d = 0; d < n.shape.ndim; ++d) n.mask[d] = d >= n.shape.ndim - last;
  return n;
}
static Norm rms(Call *c) {
  Norm n = norm_of(c, 0, 0, 1, MAX_TENSORS);
  one_axis(n.shape.ndim - 1, n.shape.ndim, n.mask);
  return n;
}
static Norm grouped(Call *c, int64_t groups) {
  Norm n = norm_of(c, 1, 1, 1, 2);
  Array x = n.shape;
  n.shape.ndim = 3;
  n.shape.shape[0] = x.shape[0];
  n.shape.shape[1] = groups;
  n.shape.shape[2] = groups ? x.shape[1] / groups * product(x.shape, 2, x.ndim) : 0;
  one_axis(2, 3, n.mask);
  return n;
}
static Norm batch(Call *c) {
  Norm n = norm_of(c, 1, 1, 3, 4);
  for (int d = 0; d < n.shape.ndim; ++d) n.mask[d] = d != 1;
  return n;
}

static const char *layer_norm_forward(Call *c) {
  Norm n = layer(c);
  return norm_forward(c, &n);
}
static const char *layer_norm_vjp(Call *c) {
  Norm n = layer(c);
  return norm_vjp(c, &n, c->d[1], c->d[2]);
}
static const char *rms_norm_forward(Call *c) {
  Norm n = rms(c);
  return norm_forward(c, &n);
}
static const char *rms_norm_vjp(Call *c) {
  Norm n = rms(c);
  return norm_vjp(c, &n, c->d[1], NULL);
}
static const char *group_norm_forward(Call *c) {
  Norm n = grouped(c, (int64_t)number(c, "num_groups", 1));
  return norm_forward(c, &n);
}
static const char *group_norm_vjp(Call *c) {
  Norm n = grouped(c, (int64_t)number(c, "num_groups", 1));
  return norm_vjp(c, &n, c->d[1], c->d[2]);
}
static const char *instance_norm_forward(Call *c) {
  Norm n = grouped(c, c->in[0]->shape[1]);
  return norm_forward(c, &n);
}
static const char *instance_norm_vjp(Call *c) {
  Norm n = grouped(c, c->in[0]->shape[1]);
  return norm_vjp(c, &n, c->d[1], c->d[2]);
}
static const char *batch_norm_forward(Call *c) {
  Norm n = batch(c);
  if (number(c, "training", 0) == 0) return "batch_norm in training only";
  return norm_forward(c, &n);
}
static const char *batch_norm_vjp(Call *c) {
  Norm n = batch(c);
  if (number(c, "training", 0) == 0) return "batch_norm in training only";
  return norm_vjp(c, &n, c->d[3], c->d[4]);
}

static const char *l2_norm_forward(Call *c) {
  int mask[MAX_DIMS];
  float eps = (float)number(c, "eps", 1e-12);
  Rows x = along_dim(c, c->in[0], mask);
  for (int64_t r = 0; r < x.rows; ++r) {
    float *v = x.v + r * x.n, length = sqrtf(dot_of(v, 1, v, 1, x.n));
    if (length < eps) length = eps; /* not fmaxf, which takes eps for the larger where a length is NaN */
    for (int64_t k = 0; k < x.n; ++k) v[k] /= length;
  }
  rows_to(&x, c->out[0], mask);
  return NULL;
}
static const char *l2_norm_vjp(Call *c) {
  int mask[MAX_DIMS];
  float eps = (float)number(c, "eps", 1e-12);
  if (c->d[0] == NULL) return NULL;
  Rows x = along_dim(c, c->in[0], mask), g = rows_of(c, c->g[0], mask);
  for (int64_t r = 0; r < x.rows; ++r) {
    float *v = x.v + r * x.n, *h = g.v + r * x.n, length = sqrtf(dot_of(v, 1, v, 1, x.n));
    float divisor = length < eps ? eps : length;
    for (int64_t k = 0; k < x.n; ++k) v[k] /= divisor;
    float along = length >= eps ? dot_of(h, 1, v, 1, x.n) : 0;
    for (int64_t k = 0; k < x.n; ++k) h[k] = (h[k] - v[k] * along) / divisor;
  }
  rows_to(&g, c->d[0], mask);
  return NULL;
}

#define ROW(name) {#name, name##_forward, name##_vjp, 0, 0, 0, 0, 0, {0}}
const Operator NORMS[] = {ROW(softmax),    ROW(log_softmax),   ROW(layer_norm), ROW(rms_norm),
                          ROW(group_norm), ROW(instance_norm), ROW(batch_norm), ROW(l2_norm), {0}};
