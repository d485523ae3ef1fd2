/* binary.c: functions of two and three numbers, broadcast as NumPy does. */
#include "call.h"
#include "sums.h"

static const char *forward(Call *c) {
  Array *y = c->out[0];
  for (int64_t k = 0; k < y->n; ++k) {
    y->v[k] = c->op->f2(c->in[0]->v[paired(c->in[0], y, k)], c->in[1]->v[paired(c->in[1], y, k)]);
  }
  return NULL;
}

static const char *vjp(Call *c) {
  Array *g = c->g[0];
  for (int which = 0; which < 2; ++which) {
    if (c->d[which] == NULL) continue;
    float *whole = floats(c, g->n);
    for (int64_t k = 0; k < g->n; ++k) {
      float a = c->in[0]->v[paired(c->in[0], g, k)], b = c->in[1]->v[paired(c->in[1], g, k)];
      whole[k] = g->v[k] * (which ? c->op->db : c->op->da)(a, b);
    }
    unbroadcast(c, whole, g, c->d[which]);
  }
  return NULL;
}

#define B(name, formula) \
  static float name(float a, float b) { return (void)a, (void)b, (formula); }
B(one, 1) B(minus_one, -1)
B(add, a + b) B(sub, a - b)
B(mul, a *b) B(mul_a, b) B(mul_b, a)
B(quotient, a / b) B(quotient_a, 1 / b) B(quotient_b, -a / b / b)
B(angle, atan2f(a, b)) B(angle_a, b / hypotf(a, b) / hypotf(a, b)) B(angle_b, -a / hypotf(a, b) / hypotf(a, b))
B(greater, a > b || a != a ? a : b) B(greater_a, a > b ? 1 : a == b ? 0.5f : 0) B(greater_b, a < b ? 1 : a == b ? 0.5f : 0)
B(less, a < b || a != a ? a : b) B(less_a, a < b ? 1 : a == b ? 0.5f : 0) B(less_b, a > b ? 1 : a == b ? 0.5f : 0)

static const char *pow_forward(Call *c) {
  const opproof_param *e = param(c, "exponent");
  if (e == NULL) {
    for (int64_t k = 0; k < c->out[0]->n; ++k)
      c->out[0]->v[k] = powf(c->in[0]->v[paired(c->in[0], c->out[0], k)], c->in[1]->v[paired(c->in[1], c->out[0], k)]);
    return NULL;
  }
  float p = (float)number(c, "exponent", 1);
  for (int64_t k = 0; k < c->out[0]->n; ++k) c->out[0]->v[k] = powf(c->in[0]->v[k], p);
  return NULL;
}

static const char *pow_vjp(Call *c) {
  if (param(c, "exponent") == NULL) {
    Array *g = c->g[0];
    float *da = floats(c, g->n), *db = floats(c, g->n);
    for (int64_t k = 0; k < g->n; ++k) {
      float a = c->in[0]->v[paired(c->in[0], g, k)], b = c->in[1]->v[paired(c->in[1], g, k)];
      da[k] = b == 0 ? 0 : g->v[k] * (b * powf(a, b - 1));
      db[k] = a == 0 && b >= 0 ? 0 : g->v[k] * powf(a, b) * logf(a);
    }
    if (c->d[0] != NULL) unbroadcast(c, da, g, c->d[0]);
    if (c->d[1] != NULL) unbroadcast(c, db, g, c->d[1]);
    return NULL;
  }
  float p = (float)number(c, "exponent", 1);
  if (c->d[0] == NULL) return NULL;
  for (int64_t k = 0; k < c->d[0]->n; ++k)
    c->d[0]->v[k] = p == 0 ? 0 : c->g[0]->v[k] * (p * powf(c->in[0]->v[k], p - 1));
  return NULL;
}

static const char *lerp_forward(Call *c) {
  for (int64_t k = 0; k < c->out[0]->n; ++k) {
    float a = c->in[0]->v[paired(c->in[0], c->out[0], k)], b = c->in[1]->v[paired(c->in[1], c->out[0], k)];
    float w = c->in[2]->v[paired(c->in[2], c->out[0], k)];
    c->out[0]->v[k] = fabsf(w) < 0.5f ? a + w * (b - a) : b - (1 - w) * (b - a);
  }
  return NULL;
}

static const char *lerp_vjp(Call *c) {
  Array *g = c->g[0];
  for (int which = 0; which < 3; ++which) {
    if (c->d[which] == NULL) continue;
    float *whole = floats(c, g->n);
    for (int64_t k = 0; k < g->n; ++k) {
      float a = c->in[0]->v[paired(c->in[0], g, k)], b = c->in[1]->v[paired(c->in[1], g, k)];
      float w = c->in[2]->v[paired(c->in[2], g, k)];
      whole[k] = g->v[k] * (which == 0 ? 1 - w : which == 1 ? w : b - a);
    }
    unbroadcast(c, whole, g, c->d[which]);
  }
  return NULL;
}

static int chosen(const Call *c, const Array *whole, int64_t k) {
  int64_t at = paired(c->in[0], whole, k);
  return c->in[0]->i != NULL ? c->in[0]->i[at] != 0 : c->in[0]->v[at] != 0;
}

static const char *where_forward(Call *c) {
  Array *y = c->out[0];
  for (int64_t k = 0; k < y->n; ++k) {
    const Array *from = c->in[chosen(c, y, k) ? 1 : 2];
    y->v[k] = from->v[paired(from, y, k)];
  }
  return NULL;
}

static const char *where_vjp(Call *c) {
  for (int which = 1; which < 3; ++which) {
    if (c->d[which] == NULL) continue;
    float *whole = floats(c, c->g[0]->n);
    for (int64_t k = 0; k < c->g[0]->n; ++k) whole[k] = chosen(c, c->g[0], k) == (which == 1) ? c->g[0]->v[k] : 0;
    unbroadcast(c, whole, c->g[0], c->d[which]);
  }
  return NULL;
}

#define ROW(name, f, da, db) {name, forward, vjp, 0, 0, f, da, db, {0}}
const Operator BINARY[] = {ROW("add", add, one, one),
                           ROW("sub", sub, one, minus_one),
                           ROW("mul", mul, mul_a, mul_b),
                           ROW("div", quotient, quotient_a, quotient_b),
                           ROW("atan2", angle, angle_a, angle_b),
                           ROW("maximum", greater, greater_a, greater_b),
                           ROW("minimum", less, less_a, less_b),
                           {"pow", pow_forward, pow_vjp, 0, 0, 0, 0, 0, {0}},
                           {"lerp", lerp_forward, lerp_vjp, 0, 0, 0, 0, 0, {0}},
                           {"where", where_forward, where_vjp, 0, 0, 0, 0, 0, {0}},
                           {0}};
