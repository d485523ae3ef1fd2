/* indexed.c: what picks by an index, and adds back in float. */
#include "call.h"

/* Slices: x (outer, n, inner), one of n for each index. */
typedef struct {
  int64_t outer, n, inner;
} Slices;

static Slices slices(const Array *x, int axis) {
  return (Slices){product(x->shape, 0, axis), x->ndim ? x->shape[axis] : 1, product(x->shape, axis + 1, x->ndim)};
}

static int dim_of(const Call *c, const Array *x) { return axis_of((int64_t)number(c, "dim", 0), x->ndim); }

/* Copy the slices that `index` names from x to y; or add y's to x's. */
static void pick(Slices s, float *x, const Array *index, float *y, float factor, int add) {
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t k = 0; k < index->n; ++k) {
      float *whole = x + (o * s.n + index->i[k]) * s.inner, *part = y + (o * index->n + k) * s.inner;
      for (int64_t e = 0; e < s.inner; ++e) {
        if (add) whole[e] += factor * part[e];
        else part[e] = factor * whole[e];
      }
    }
  }
}

static const char *embedding_forward(Call *c) {
  return pick(slices(c->in[0], 0), c->in[0]->v, c->in[1], c->out[0]->v, 1, 0), NULL;
}
static const char *embedding_vjp(Call *c) {
  if (c->d[0] == NULL) return NULL;
  Slices s = slices(c->in[0], 0);
  pick(s, c->d[0]->v, c->in[1], c->g[0]->v, 1, 1);
  const opproof_param *given = param(c, "padding_idx");
  if (given != NULL && given->type == OPPROOF_INT) {
    int64_t padding = given->i; /* below 0: from the end */
    memset(c->d[0]->v + (padding < 0 ? padding + s.n : padding) * s.inner, 0, (size_t)s.inner * sizeof(float));
  }
  return NULL;
}
static const char *index_select_forward(Call *c) {
  return pick(slices(c->in[0], dim_of(c, c->in[0])), c->in[0]->v, c->in[1], c->out[0]->v, 1, 0), NULL;
}
static const char *index_select_vjp(Call *c) {
  if (c->d[0] != NULL) pick(slices(c->in[0], dim_of(c, c->in[0])), c->d[0]->v, c->in[1], c->g[0]->v, 1, 1);
  return NULL;
}
static const char *index_add_forward(Call *c) {
  memcpy(c->out[0]->v, c->in[0]->v, (size_t)c->in[0]->n * sizeof(float));
  pick(slices(c->in[0], dim_of(c, c->in[0])), c->out[0]->v, c->in[1], c->in[2]->v, (float)number(c, "alpha", 1), 1);
  return NULL;
}
static const char *index_add_vjp(Call *c) {
  if (c->d[0] != NULL) memcpy(c->d[0]->v, c->g[0]->v, (size_t)c->g[0]->n * sizeof(float));
  Slices s = slices(c->in[0], dim_of(c, c->in[0]));
  if (c->d[2] != NULL) pick(s, c->g[0]->v, c->in[1], c->d[2]->v, (float)number(c, "alpha", 1), 0);
  return NULL;
}
static const char *get_rows_back_forward(Call *c) {
  Slices s = {1, c->out[0]->shape[0], product(c->out[0]->shape, 1, c->out[0]->ndim)};
  return pick(s, c->out[0]->v, c->in[1], c->in[0]->v, 1, 1), NULL;
}
static const char *get_rows_back_vjp(Call *c) {
  Slices s = {1, c->g[0]->shape[0], product(c->g[0]->shape, 1, c->g[0]->ndim)};
  if (c->d[0] != NULL) pick(s, c->g[0]->v, c->in[1], c->d[0]->v, 1, 0);
  return NULL;
}

/* The place in x that element k of an index of x's rank names along `axis`. */
static int64_t named(const Array *x, const Array *index, int axis, int64_t k) {
  int64_t at = 0, step = 1, rest = k;
  for (int d = x->ndim - 1; d >= 0; --d) {
    at += (d == axis ? index->i[k] : rest % index->shape[d]) * step;
    rest /= index->shape[d];
    step *= x->shape[d];
  }
  return at;
}

static const char *gather_forward(Call *c) {
  const Array *x = c->in[0], *index = c->in[1];
  for (int64_t k = 0; k < index->n; ++k) c->out[0]->v[k] = x->v[named(x, index, dim_of(c, x), k)];
  return NULL;
}
static const char *gather_vjp(Call *c) {
  const Array *x = c->in[0], *index = c->in[1];
  if (c->d[0] == NULL) return NULL;
  for (int64_t k = 0; k < index->n; ++k) c->d[0]->v[named(x, index, dim_of(c, x), k)] += c->g[0]->v[k];
  return NULL;
}

static int broadcasts(const Call *c) {
  const Array *x = c->in[0], *index = c->in[1];
  for (int d = 0; d < x->ndim; ++d) {
    if (d != dim_of(c, x) && x->shape[d] != index->shape[d]) return 1;
  }
  return 0;
}
static const char *take_forward(Call *c) {
  return broadcasts(c) ? "take_along_dim without broadcasting" : gather_forward(c);
}
static const char *take_vjp(Call *c) { return broadcasts(c) ? "take_along_dim without broadcasting" : gather_vjp(c); }

/* src has at least the index's shape. */
static int64_t source_place(const Array *src, const Array *index, int64_t k) {
  int64_t at = 0, step = 1;
  for (int d = src->ndim - 1; d >= 0; --d) {
    at += k % index->shape[d] * step;
    k /= index->shape[d];
    step *= src->shape[d];
  }
  return at;
}

static const char *scatter_add_forward(Call *c) {
  const Array *x = c->in[0], *index = c->in[1], *src = c->in[2];
  memcpy(c->out[0]->v, x->v, (size_t)x->n * sizeof(float));
  for (int64_t k = 0; k < index->n; ++k) {
    c->out[0]->v[named(x, index, dim_of(c, x), k)] += src->v[source_place(src, index, k)];
  }
  return NULL;
}
static const char *scatter_add_vjp(Call *c) {
  const Array *x = c->in[0], *index = c->in[1], *src = c->in[2];
  if (c->d[0] != NULL) memcpy(c->d[0]->v, c->g[0]->v, (size_t)x->n * sizeof(float));
  for (int64_t k = 0; c->d[2] != NULL && k < index->n; ++k) {
    c->d[2]->v[source_place(src, index, k)] = c->g[0]->v[named(x, index, dim_of(c, x), k)];
  }
  return NULL;
}

#define ROW(name, kind) {name, kind##_forward, kind##_vjp, 0, 0, 0, 0, 0, {0}}
const Operator INDEXED[] = {ROW("embedding", embedding), ROW("index_select", index_select),
                            ROW("index_add", index_add), ROW("get_rows_back", get_rows_back),
                            ROW("gather", gather),       ROW("take_along_dim", take),
                            ROW("scatter_add", scatter_add), {0}};
