/* reductions.c: sums, means, products, extremes, variances, norms and scans over rows. */
#include "call.h"
#include "sums.h"

static Rows given_rows(Call *c, int *mask) {
  reduced_axes(c, c->in[0]->ndim, mask);
  return rows_of(c, c->in[0], mask);
}

typedef float Reduction(const Call *c, const float *v, int64_t n);
/* The gradient of one row into d, from the cotangent and the value. */
typedef void ReductionVjp(const Call *c, float g, float y, const float *v, float *d, int64_t n);

static const char *each_row(Call *c, Reduction *f) {
  int mask[MAX_DIMS];
  Rows x = given_rows(c, mask);
  for (int64_t r = 0; r < x.rows; ++r) c->out[0]->v[r] = f(c, x.v + r * x.n, x.n);
  return NULL;
}

static const char *each_row_vjp(Call *c, Reduction *f, ReductionVjp *df) {
  int mask[MAX_DIMS];
  Rows x = given_rows(c, mask), d = {x.rows, x.n, floats(c, c->in[0]->n)};
  for (int64_t r = 0; r < x.rows; ++r) {
    const float *v = x.v + r * x.n;
    df(c, c->g[0]->v[r], f(c, v, x.n), v, d.v + r * x.n, x.n);
  }
  if (c->d[0] != NULL) rows_to(&d, c->d[0], mask);
  return NULL;
}

#define R(name) static float name##_row(const Call *c, const float *v, int64_t n)
#define V(name) static void name##_row_vjp(const Call *c, float g, float y, const float *v, float *d, int64_t n)
#define UNUSED (void)c, (void)y, (void)v

R(sum) { return (void)c, sum_of(v, n, 1); }
V(sum) {
  UNUSED;
  for (int64_t k = 0; k < n; ++k) d[k] = g;
}

R(mean) { return (void)c, sum_of(v, n, 1) / (float)n; }
V(mean) {
  UNUSED;
  for (int64_t k = 0; k < n; ++k) d[k] = g / (float)n;
}

R(prod) {
  float y = 1;
  (void)c;
  for (int64_t k = 0; k < n; ++k) y *= v[k];
  return y;
}
/* The product of all others: of those before times those after. */
V(prod) {
  float before = 1, after = 1;
  UNUSED;
  for (int64_t k = 0; k < n; ++k) d[k] = before, before *= v[k];
  for (int64_t k = n - 1; k >= 0; --k) d[k] = g * (d[k] * after), after *= v[k];
}

R(amax) {
  float y = -INFINITY;
  (void)c;
  for (int64_t k = 0; k < n; ++k) y = v[k] > y || v[k] != v[k] ? v[k] : y != y ? y : y;
  for (int64_t k = 0; k < n; ++k) if (v[k] != v[k]) y = v[k];
  return y;
}
R(amin) {
  float y = INFINITY;
  (void)c;
  for (int64_t k = 0; k < n; ++k) y = v[k] < y ? v[k] : y;
  for (int64_t k = 0; k < n; ++k) if (v[k] != v[k]) y = v[k];
  return y;
}
/* Shared equally among ties. */
V(extreme) {
  int64_t ties = 0;
  UNUSED;
  for (int64_t k = 0; k < n; ++k) ties += v[k] == y;
  for (int64_t k = 0; k < n; ++k) d[k] = v[k] == y ? g / (float)ties : 0;
}

static float degrees(const Call *c, int64_t n) {
  double correction = number(c, "correction", 1);
  return (float)fmax((double)n - correction, 0);
}
R(var) {
  float mean, squares;
  moments(v, n, &mean, &squares);
  return squares / degrees(c, n);
}
V(var) {
  float mean, squares;
  UNUSED;
  moments(v, n, &mean, &squares);
  for (int64_t k = 0; k < n; ++k) d[k] = g * (2 * (v[k] - mean) / degrees(c, n));
}
R(std) { return sqrtf(var_row(c, v, n)); }
V(std) {
  float mean, squares;
  moments(v, n, &mean, &squares);
  for (int64_t k = 0; k < n; ++k) d[k] = y == 0 ? 0 : g * ((v[k] - mean) / (degrees(c, n) * y));
}

R(norm) {
  double p = number(c, "p", 2);
  float *t = malloc((size_t)(n + 1) * sizeof *t), y = 0;
  for (int64_t k = 0; k < n; ++k) t[k] = p == 0 ? v[k] != 0 : p == 1 ? fabsf(v[k]) : powf(fabsf(v[k]), (float)p);
  if (isinf(p)) {
    y = p > 0 ? 0 : INFINITY;
    for (int64_t k = 0; k < n; ++k) {
      float size = fabsf(v[k]);
      if ((p > 0 ? size > y : size < y) || size != size || y != y) y = y != y ? y : size;
    }
  } else if (p == 2) {
    y = sqrtf(dot_of(v, 1, v, 1, n));
  } else {
    y = sum_of(t, n, 1);
    if (p != 0 && p != 1) y = powf(y, (float)(1 / p));
  }
  free(t);
  return y;
}
V(norm) {
  double p = number(c, "p", 2);
  int64_t ties = 0;
  if (isinf(p)) for (int64_t k = 0; k < n; ++k) ties += fabsf(v[k]) == y;
  for (int64_t k = 0; k < n; ++k) {
    float sign = v[k] > 0 ? 1 : v[k] < 0 ? -1 : v[k];
    if (isinf(p)) d[k] = fabsf(v[k]) == y ? sign * (g / (float)ties) : 0;
    else if (p == 0) d[k] = 0;
    else if (p == 1) d[k] = g * sign;
    else if (y == 0 || (p < 1 && v[k] == 0)) d[k] = 0;
    else d[k] = g * sign * (p == 2 ? fabsf(v[k]) / y : powf(fabsf(v[k]) / y, (float)p - 1));
  }
}

/* log sum exp, the maximum subtracted. */
R(logsumexp) {
  float most = amax_row(c, v, n), *e = malloc((size_t)(n + 1) * sizeof *e);
  if (!isfinite(most)) most = most != most ? most : 0;
  for (int64_t k = 0; k < n; ++k) e[k] = expf(v[k] - most);
  float y = logf(sum_of(e, n, 1)) + most;
  free(e);
  return y;
}
V(logsumexp) {
  UNUSED;
  for (int64_t k = 0; k < n; ++k) d[k] = g * expf(v[k] - y);
}

#define KERNELS(name, df)                                                        \
  static const char *name##_forward(Call *c) { return each_row(c, name##_row); } \
  static const char *name##_vjp(Call *c) { return each_row_vjp(c, name##_row, df##_row_vjp); }
KERNELS(sum, sum) KERNELS(mean, mean) KERNELS(prod, prod) KERNELS(amax, extreme) KERNELS(amin, extreme)
KERNELS(var, var) KERNELS(std, std) KERNELS(norm, norm) KERNELS(logsumexp, logsumexp)

/* Scans: one axis, and as many results. */
static const char *scan(Call *c, const Array *from, Array *into, int products, int backwards) {
  int mask[MAX_DIMS];
  one_axis(axis_of((int64_t)number(c, "dim", 0), from->ndim), from->ndim, mask);
  Rows x = rows_of(c, from, mask);
  for (int64_t r = 0; r < x.rows; ++r) {
    float *v = x.v + r * x.n;
    for (int64_t k = 1; k < x.n; ++k) {
      int64_t at = backwards ? x.n - 1 - k : k, last = backwards ? at + 1 : at - 1;
      v[at] = products ? v[at] * v[last] : v[at] + v[last];
    }
  }
  rows_to(&x, into, mask);
  return NULL;
}
static const char *cumsum_forward(Call *c) { return scan(c, c->in[0], c->out[0], 0, 0); }
static const char *cumsum_vjp(Call *c) { return c->d[0] == NULL ? NULL : scan(c, c->g[0], c->d[0], 0, 1); }
static const char *cumprod_forward(Call *c) { return scan(c, c->in[0], c->out[0], 1, 0); }

#define ROW(name) {#name, name##_forward, name##_vjp, 0, 0, 0, 0, 0, {0}}
const Operator REDUCTIONS[] = {ROW(sum), ROW(mean), ROW(prod), ROW(amax), ROW(amin), ROW(var), ROW(std), ROW(norm),
                               ROW(logsumexp), ROW(cumsum), {"cumprod", cumprod_forward, 0, 0, 0, 0, 0, 0, {0}}, {0}};
