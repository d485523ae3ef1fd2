/* products.c: products of matrices and vectors, and attention. */
#include "call.h"
#include "sums.h"

/* Batches of matrices, which broadcast: a vector a is a row, a vector b a column. */
typedef struct {
  int64_t m, n, k, count;
  Array batch, a, b; /* the leading axes alone */
} Shapes;

static Array leading(const Array *a) {
  Array lead = {a->ndim > 2 ? a->ndim - 2 : 0, {0}, 1, NULL, NULL};
  for (int d = 0; d < lead.ndim; ++d) lead.shape[d] = a->shape[d], lead.n *= a->shape[d];
  return lead;
}

static Shapes shapes_of(const Array *a, const Array *b) {
  Shapes s = {0};
  s.a = leading(a), s.b = leading(b);
  s.m = a->ndim > 1 ? a->shape[a->ndim - 2] : 1;
  s.k = a->shape[a->ndim - 1];
  s.n = b->ndim > 1 ? b->shape[b->ndim - 1] : 1;
  s.batch.ndim = s.a.ndim > s.b.ndim ? s.a.ndim : s.b.ndim;
  s.batch.n = 1;
  for (int d = 1; d <= s.batch.ndim; ++d) {
    int64_t p = d <= s.a.ndim ? s.a.shape[s.a.ndim - d] : 1, q = d <= s.b.ndim ? s.b.shape[s.b.ndim - d] : 1;
    s.batch.n *= s.batch.shape[s.batch.ndim - d] = p == 1 ? q : p;
  }
  return s;
}

static const char *matmul_forward(Call *c) {
  const Array *a = c->in[0], *b = c->in[1];
  Shapes s = shapes_of(a, b);
  for (int64_t i = 0; i < s.batch.n; ++i) {
    gemm(c, s.m, s.n, s.k, a->v + paired(&s.a, &s.batch, i) * s.m * s.k, s.k, 1,
         b->v + paired(&s.b, &s.batch, i) * s.k * s.n, s.n, 1, c->out[0]->v + i * s.m * s.n);
  }
  return NULL;
}

/* da = g bᵀ and db = aᵀ g; of operands that were broadcast the batches are added up. */
static const char *matmul_vjp(Call *c) {
  const Array *a = c->in[0], *b = c->in[1], *g = c->g[0];
  Shapes s = shapes_of(a, b);
  for (int64_t i = 0; i < s.batch.n; ++i) {
    int64_t ai = paired(&s.a, &s.batch, i) * s.m * s.k, bi = paired(&s.b, &s.batch, i) * s.k * s.n;
    const float *gi = g->v + i * s.m * s.n;
    if (c->d[0] != NULL) gemm(c, s.m, s.k, s.n, gi, s.n, 1, b->v + bi, 1, s.n, c->d[0]->v + ai);
    if (c->d[1] != NULL) gemm(c, s.k, s.n, s.m, a->v + ai, 1, s.k, gi, s.n, 1, c->d[1]->v + bi);
  }
  return NULL;
}

static const char *linear_forward(Call *c) {
  const Array *x = c->in[0], *w = c->in[1], *bias = c->inputs > 2 ? c->in[2] : NULL;
  int64_t k = w->shape[1], n = w->shape[0], m = k ? x->n / k : n ? c->out[0]->n / n : 0;
  gemm(c, m, n, k, x->v, k, 1, w->v, 1, k, c->out[0]->v);
  for (int64_t e = 0; bias != NULL && e < m * n; ++e) c->out[0]->v[e] += bias->v[e % n];
  return NULL;
}

static const char *linear_vjp(Call *c) {
  const Array *x = c->in[0], *w = c->in[1], *g = c->g[0];
  int64_t k = w->shape[1], n = w->shape[0], m = n ? g->n / n : 0;
  if (c->d[0] != NULL) gemm(c, m, k, n, g->v, n, 1, w->v, k, 1, c->d[0]->v);
  if (c->d[1] != NULL) gemm(c, n, k, m, g->v, 1, n, x->v, k, 1, c->d[1]->v);
  for (int64_t j = 0; c->inputs > 2 && c->d[2] != NULL && j < n; ++j) c->d[2]->v[j] = sum_of(g->v + j, m, n);
  return NULL;
}

static const char *dot_forward(Call *c) {
  c->out[0]->v[0] = dot_of(c->in[0]->v, 1, c->in[1]->v, 1, c->in[0]->n);
  return NULL;
}

static const char *dot_vjp(Call *c) {
  for (int which = 0; which < 2; ++which) {
    for (int64_t k = 0; c->d[which] != NULL && k < c->in[0]->n; ++k)
      c->d[which]->v[k] = c->g[0]->v[0] * c->in[1 - which]->v[k];
  }
  return NULL;
}

static const char *outer_product_forward(Call *c) {
  const Array *a = c->in[0], *b = c->in[1];
  if (a->ndim > 2 || b->ndim > 2) return "outer products of vectors and of the rows of two matrices";
  int64_t k = a->ndim == 1 ? 1 : a->shape[0], m = a->shape[a->ndim - 1], n = b->shape[b->ndim - 1];
  gemm(c, m, n, k, a->v, 1, m, b->v, n, 1, c->out[0]->v);
  return NULL;
}

static const char *outer_product_vjp(Call *c) {
  const Array *a = c->in[0], *b = c->in[1], *g = c->g[0];
  if (a->ndim > 2 || b->ndim > 2) return "outer products of vectors and of the rows of two matrices";
  int64_t k = a->ndim == 1 ? 1 : a->shape[0], m = a->shape[a->ndim - 1], n = b->shape[b->ndim - 1];
  if (c->d[0] != NULL) gemm(c, k, m, n, b->v, n, 1, g->v, 1, n, c->d[0]->v);
  if (c->d[1] != NULL) gemm(c, k, n, m, a->v, m, 1, g->v, n, 1, c->d[1]->v);
  return NULL;
}

/* Attention of one head: query (q, e), key (k, e), value (k, f). */
typedef struct {
  int64_t heads, groups, q, k, e, f;
  float scale;
  int causal;
} Attention;

static const char *attention_of(Call *c, Attention *a) {
  const Array *query = c->in[0], *key = c->in[1], *value = c->in[2];
  for (int i = 3; i < c->inputs; ++i) if (c->in[i] != NULL) return "attention without masks and sinks";
  if (number(c, "softcap", 0) > 0 || number(c, "max_bias", 0) > 0) return "attention without caps and biases";
  if (query->ndim != 4) return "attention of four axes";
  if (query->shape[0] != key->shape[0] || value->shape[1] != key->shape[1]) return "attention without broadcasting";
  a->heads = query->shape[1], a->groups = key->shape[1], a->q = query->shape[2], a->k = key->shape[2];
  a->e = query->shape[3], a->f = value->shape[3];
  a->scale = (float)number(c, "scale", 1 / sqrt((double)a->e));
  a->causal = number(c, "is_causal", 0) != 0;
  return NULL;
}

static int64_t seen(const Attention *a, int64_t row) { return a->causal && row + 1 < a->k ? row + 1 : a->k; }

static void scores(const Attention *a, const float *query, const float *key, int64_t n, float *s) {
  for (int64_t j = 0; j < n; ++j) s[j] = dot_of(query, 1, key + j * a->e, 1, a->e) * a->scale;
}

static void probabilities(float *s, int64_t n) {
  float most = -INFINITY;
  for (int64_t j = 0; j < n; ++j) if (s[j] > most) most = s[j];
  for (int64_t j = 0; j < n; ++j) s[j] = expf(s[j] - most);
  float total = sum_of(s, n, 1);
  for (int64_t j = 0; j < n; ++j) s[j] /= total;
}

static void attend(Call *c, const Attention *a, const float *s, const float *value, int64_t n, float *y) {
#if ONLINE
  /* Keys in blocks of 16; sums so far are rescaled when a larger score comes (Dao et al., 2022). */
  float most = -INFINITY, total = 0;
  (void)c;
  for (int64_t from = 0; from < n; from += 16) {
    int64_t to = from + 16 < n ? from + 16 : n;
    float peak = most;
    for (int64_t j = from; j < to; ++j) if (s[j] > peak) peak = s[j];
    if (peak == -INFINITY) continue; /* nothing seen yet */
    float rescale = expf(most - peak);
    total *= rescale;
    for (int64_t f = 0; f < a->f; ++f) y[f] *= rescale;
    for (int64_t j = from; j < to; ++j) {
      float p = expf(s[j] - peak);
      total += p;
      for (int64_t f = 0; f < a->f; ++f) y[f] = MADD(p, value[j * a->f + f], y[f]);
    }
    most = peak;
  }
  for (int64_t f = 0; f < a->f; ++f) y[f] /= total;
#else
  float *p = floats(c, n);
  memcpy(p, s, (size_t)n * sizeof *p);
  probabilities(p, n);
  for (int64_t f = 0; f < a->f; ++f) y[f] = dot_of(p, 1, value + f, a->f, n);
#endif
}

static const char *attention_forward(Call *c) {
  Attention a;
  const char *why = attention_of(c, &a);
  if (why != NULL || a.k == 0) return why;
  float *s = floats(c, a.k);
  for (int64_t h = 0; h < c->in[0]->shape[0] * a.heads; ++h) {
    int64_t group = h / a.heads * a.groups + h % a.heads / (a.heads / a.groups);
    const float *key = c->in[1]->v + group * a.k * a.e, *value = c->in[2]->v + group * a.k * a.f;
    for (int64_t r = 0; r < a.q; ++r) {
      scores(&a, c->in[0]->v + (h * a.q + r) * a.e, key, seen(&a, r), s);
      attend(c, &a, s, value, seen(&a, r), c->out[0]->v + (h * a.q + r) * a.f);
    }
  }
  return NULL;
}

static void add_scaled(float *into, float factor, const float *v, int64_t n) {
  for (int64_t k = 0; into != NULL && k < n; ++k) into[k] = MADD(factor, v[k], into[k]);
}

static float *part(Array *d, int64_t from) { return d == NULL ? NULL : d->v + from; }

static const char *attention_vjp(Call *c) {
  Attention a;
  const char *why = attention_of(c, &a);
  if (why != NULL || a.k == 0) return why;
  float *p = floats(c, a.k), *dp = floats(c, a.k);
  for (int64_t h = 0; h < c->in[0]->shape[0] * a.heads; ++h) {
    int64_t group = h / a.heads * a.groups + h % a.heads / (a.heads / a.groups);
    int64_t key = group * a.k * a.e, value = group * a.k * a.f;
    for (int64_t r = 0; r < a.q; ++r) {
      int64_t n = seen(&a, r), query = (h * a.q + r) * a.e;
      const float *g = c->g[0]->v + (h * a.q + r) * a.f;
      scores(&a, c->in[0]->v + query, c->in[1]->v + key, n, p);
      probabilities(p, n);
      for (int64_t j = 0; j < n; ++j) dp[j] = dot_of(g, 1, c->in[2]->v + value + j * a.f, 1, a.f);
      float along = dot_of(p, 1, dp, 1, n);
      for (int64_t j = 0; j < n; ++j) {
        float ds = p[j] * (dp[j] - along) * a.scale;
        add_scaled(part(c->d[2], value + j * a.f), p[j], g, a.f);
        add_scaled(part(c->d[0], query), ds, c->in[1]->v + key + j * a.e, a.e);
        add_scaled(part(c->d[1], key + j * a.e), ds, c->in[0]->v + query, a.e);
      }
    }
  }
  return NULL;
}

#define ROW(name) {#name, name##_forward, name##_vjp, 0, 0, 0, 0, 0, {0}}
const Operator PRODUCTS[] = {ROW(matmul),
                             {"bmm", matmul_forward, matmul_vjp, 0, 0, 0, 0, 0, {0}},
                             ROW(linear),
                             ROW(dot),
                             ROW(outer_product),
                             {"scaled_dot_product_attention", attention_forward, attention_vjp, 0, 0, 0, 0, 0, {0}},
                             {0}};
