#include "call.h"

#include "sums.h"

typedef struct Block {
  struct Block *next;
  double align[1];
} Block;

void *take(Call *c, size_t bytes) {
  Block *b = calloc(1, sizeof *b + bytes);
  if (b == NULL) abort();
  b->next = c->memory;
  c->memory = b;
  return b->align;
}

float *floats(Call *c, int64_t n) { return take(c, (size_t)n * sizeof(float)); }

Array *alike(Call *c, const Array *like) {
  Array *a = take(c, sizeof *a);
  *a = *like;
  a->v = floats(c, like->n);
  a->i = NULL;
  return a;
}

const opproof_param *param(const Call *c, const char *name) {
  for (int32_t k = 0; k < c->given->n_params; ++k) {
    const opproof_param *p = &c->given->params[k];
    if (strcmp(p->name, name) == 0) return p->type == OPPROOF_NONE ? NULL : p;
  }
  return NULL;
}

double number(const Call *c, const char *name, double otherwise) {
  const opproof_param *p = param(c, name);
  if (p == NULL) return otherwise;
  return p->type == OPPROOF_FLOAT ? p->f : (double)p->i;
}

int text_is(const Call *c, const char *name, const char *text) {
  const opproof_param *p = param(c, name);
  return p != NULL && p->type == OPPROOF_STRING && strcmp(p->s, text) == 0;
}

void sizes(const Call *c, const char *name, int n, int64_t *into, int64_t otherwise) {
  const opproof_param *p = param(c, name);
  for (int k = 0; k < n; ++k) {
    if (p == NULL) into[k] = otherwise;
    else into[k] = p->type == OPPROOF_INTS ? p->ints[k < p->count ? k : p->count - 1] : p->i;
  }
}

int axis_of(int64_t dim, int ndim) { return (int)(dim < 0 ? dim + (ndim ? ndim : 1) : dim); }

int64_t product(const int64_t *shape, int from, int to) {
  int64_t n = 1;
  for (int k = from; k < to; ++k) n *= shape[k];
  return n;
}

int64_t paired(const Array *a, const Array *whole, int64_t i) {
  int64_t at = 0, step = 1;
  for (int d = a->ndim - 1, w = whole->ndim - 1; d >= 0; --d, --w) {
    if (a->shape[d] != 1) at += i % whole->shape[w] * step;
    i /= whole->shape[w];
    step *= a->shape[d];
  }
  return at;
}

void one_axis(int axis, int ndim, int *mask) {
  for (int d = 0; d < ndim; ++d) mask[d] = d == axis;
}

void reduced_axes(const Call *c, int ndim, int *mask) {
  const opproof_param *p = param(c, "dim");
  for (int d = 0; d < ndim; ++d) mask[d] = p == NULL;
  if (p == NULL || ndim == 0) return;
  if (p->type == OPPROOF_INT) mask[axis_of(p->i, ndim)] = 1;
  else for (int k = 0; k < p->count; ++k) mask[axis_of(p->ints[k], ndim)] = 1;
}

/* Where the k-th element in the order of rows lies in the array. */
static void visit(Rows *r, Array *a, const int *mask, int to_array) {
  int order[MAX_DIMS], used = 0;
  int64_t step[MAX_DIMS], index[MAX_DIMS] = {0}, at = 0;
  for (int kind = 0; kind < 2; ++kind) {
    for (int d = 0; d < a->ndim; ++d) {
      if (!mask[d] == !kind) order[used++] = d;
    }
  }
  for (int d = a->ndim - 1; d >= 0; --d) step[d] = d == a->ndim - 1 ? 1 : step[d + 1] * a->shape[d + 1];
  for (int64_t k = 0; k < a->n; ++k) {
    if (to_array) a->v[at] = r->v[k];
    else r->v[k] = a->v[at];
    for (int o = used - 1; o >= 0; --o) {
      int d = order[o];
      at += step[d];
      if (++index[d] < a->shape[d]) break;
      at -= step[d] * index[d];
      index[d] = 0;
    }
  }
}

Rows rows_of(Call *c, const Array *a, const int *mask) {
  Rows r = {1, 1, floats(c, a->n)};
  for (int d = 0; d < a->ndim; ++d) *(mask[d] ? &r.n : &r.rows) *= a->shape[d];
  visit(&r, (Array *)a, mask, 0);
  return r;
}

void rows_to(const Rows *r, Array *a, const int *mask) { visit((Rows *)r, a, mask, 1); }

void unbroadcast(Call *c, const float *whole, const Array *shape, Array *a) {
  int mask[MAX_DIMS];
  Array w = *shape;
  w.v = (float *)whole;
  for (int d = shape->ndim - 1, k = a->ndim - 1; d >= 0; --d, --k) mask[d] = k < 0 || a->shape[k] != shape->shape[d];
  Rows r = rows_of(c, &w, mask);
  for (int64_t k = 0; k < a->n; ++k) a->v[k] += sum_of(r.v + k * r.n, r.n, 1);
}
