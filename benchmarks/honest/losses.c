/* losses.c: a loss for each element or row, and their sum or mean. */
#include "call.h"
#include "sums.h"

/* What the total is divided by; 0 for "none". */
static float divisor(const Call *c, float n) {
  if (text_is(c, "reduction", "none")) return 0;
  if (text_is(c, "reduction", "batchmean")) return (float)c->in[0]->shape[0];
  return text_is(c, "reduction", "sum") ? 1 : n;
}

static void reduce(Call *c, const float *loss, int64_t n, float mean_of) {
  float by = divisor(c, mean_of);
  if (by == 0 && text_is(c, "reduction", "none")) memcpy(c->out[0]->v, loss, (size_t)n * sizeof *loss);
  else c->out[0]->v[0] = sum_of(loss, n, 1) / by;
}

/* The cotangent of the k-th loss. */
static float cotangent(const Call *c, int64_t k, float mean_of) {
  if (text_is(c, "reduction", "none")) return c->g[0]->v[k];
  return c->g[0]->v[0] / divisor(c, mean_of);
}

/* Losses of two numbers. */
typedef float Loss(const Call *c, float x, float t);

static const char *pairs(Call *c, Loss *f) {
  int64_t n = c->in[0]->n;
  float *loss = floats(c, n);
  for (int64_t k = 0; k < n; ++k) loss[k] = f(c, c->in[0]->v[k], c->in[1]->v[k]);
  reduce(c, loss, n, (float)n);
  return NULL;
}

static const char *pairs_vjp(Call *c, Loss *dx, Loss *dt) {
  int64_t n = c->in[0]->n;
  for (int64_t k = 0; k < n; ++k) {
    float g = cotangent(c, k, (float)n), x = c->in[0]->v[k], t = c->in[1]->v[k];
    if (c->d[0] != NULL) c->d[0]->v[k] = g * dx(c, x, t);
    if (c->d[1] != NULL) c->d[1]->v[k] = g * dt(c, x, t);
  }
  return NULL;
}

#define L(name, formula) \
  static float name(const Call *c, float x, float t) { return (void)c, (void)x, (void)t, (formula); }
static float sign_of(float x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static float param_of(const Call *c, const char *name) { return (float)number(c, name, 1); }
static int logs(const Call *c) { return number(c, "log_target", 0) != 0; }

L(mse, (x - t) * (x - t)) L(mse_dx, 2 * (x - t)) L(mse_dt, -2 * (x - t))
L(l1, fabsf(x - t)) L(l1_dx, sign_of(x - t)) L(l1_dt, -sign_of(x - t))
static float huber(const Call *c, float x, float t) {
  float off = fabsf(x - t), delta = param_of(c, "delta");
  return off <= delta ? 0.5f * off * off : delta * (off - 0.5f * delta);
}
static float huber_dx(const Call *c, float x, float t) {
  float delta = param_of(c, "delta");
  return fabsf(x - t) <= delta ? x - t : delta * sign_of(x - t);
}
L(huber_dt, -huber_dx(c, x, t))
static float smooth(const Call *c, float x, float t) {
  float off = fabsf(x - t), beta = param_of(c, "beta");
  return off < beta ? 0.5f * off * off / beta : off - 0.5f * beta;
}
static float smooth_dx(const Call *c, float x, float t) {
  float beta = param_of(c, "beta");
  return fabsf(x - t) < beta ? (x - t) / beta : sign_of(x - t);
}
L(smooth_dt, -smooth_dx(c, x, t))
L(kl, logs(c) ? expf(t) * (t - x) : t > 0 ? t * (logf(t) - x) : t == 0 ? -t * x : t * NAN)
L(kl_dx, logs(c) ? -expf(t) : -t)
L(kl_dt, logs(c) ? expf(t) * (t - x + 1) : logf(t) + 1 - x)

#define PAIRS(name, f)                                           \
  static const char *name##_forward(Call *c) { return pairs(c, f); } \
  static const char *name##_vjp(Call *c) { return pairs_vjp(c, f##_dx, f##_dt); }
PAIRS(mse_loss, mse) PAIRS(l1_loss, l1) PAIRS(huber_loss, huber) PAIRS(smooth_l1_loss, smooth) PAIRS(kl_div, kl)

static float softplus_of(float x) { return fmaxf(x, 0) + log1pf(expf(-fabsf(x))); }
static float sigmoid_of(float x) {
  float e = expf(-fabsf(x));
  return (x < 0 ? e : 1) / (1 + e);
}
static float weight_of(const Call *c, int input, int64_t k) {
  const Array *w = input < c->inputs ? c->in[input] : NULL;
  return w == NULL ? 1 : w->v[paired(w, c->in[0], k)];
}
static const char *bce_with_logits_forward(Call *c) {
  int64_t n = c->in[0]->n;
  float *loss = floats(c, n);
  for (int64_t k = 0; k < n; ++k) {
    float x = c->in[0]->v[k], t = c->in[1]->v[k], tail = softplus_of(-x);
    if (c->inputs > 3 && c->in[3] != NULL) tail *= 1 + (weight_of(c, 3, k) - 1) * t;
    loss[k] = weight_of(c, 2, k) * ((1 - t) * x + tail);
  }
  reduce(c, loss, n, (float)n);
  return NULL;
}
static const char *bce_with_logits_vjp(Call *c) {
  int64_t n = c->in[0]->n;
  for (int64_t k = 0; k < n; ++k) {
    float x = c->in[0]->v[k], t = c->in[1]->v[k], p = weight_of(c, 3, k);
    float g = cotangent(c, k, (float)n) * weight_of(c, 2, k);
    if (c->d[0] != NULL) c->d[0]->v[k] = g * ((1 - t) * sigmoid_of(x) - p * t * sigmoid_of(-x));
    if (c->d[1] != NULL) c->d[1]->v[k] = g * ((p - 1) * softplus_of(-x) - x);
  }
  return NULL;
}

/* Rows of classes: axis 1, or the only one. */
static Rows classes(Call *c, const Array *x, int *mask) {
  one_axis(x->ndim > 1 ? 1 : 0, x->ndim, mask);
  return rows_of(c, x, mask);
}
static float class_weight(const Call *c, int64_t class) {
  return c->inputs > 2 && c->in[2] != NULL ? c->in[2]->v[class] : 1;
}
static int64_t ignored(const Call *c) { return (int64_t)number(c, "ignore_index", -100); }
/* The weights of all rows that count. */
static float used(Call *c) {
  const Array *t = c->in[1];
  float *w = floats(c, t->n);
  for (int64_t r = 0; r < t->n; ++r) w[r] = t->i[r] == ignored(c) ? 0 : class_weight(c, t->i[r]);
  return sum_of(w, t->n, 1);
}
static float log_total(Call *c, const float *v, int64_t n, float *most) {
  float *e = floats(c, n);
  *most = -INFINITY;
  for (int64_t k = 0; k < n; ++k) if (v[k] > *most) *most = v[k];
  for (int64_t k = 0; k < n; ++k) e[k] = expf(v[k] - *most);
  return logf(sum_of(e, n, 1));
}

static const char *by_class(Call *c, int softmaxed) {
  int mask[MAX_DIMS];
  if (c->in[1]->i == NULL || number(c, "label_smoothing", 0) != 0) return "class indices without smoothing";
  Rows x = classes(c, c->in[0], mask);
  float *loss = floats(c, x.rows), most = 0;
  for (int64_t r = 0; r < x.rows; ++r) {
    const float *v = x.v + r * x.n;
    int64_t t = c->in[1]->i[r];
    if (t == ignored(c)) continue;
    float total = softmaxed ? log_total(c, v, x.n, &most) : 0;
    loss[r] = -((v[t] - most) - total) * class_weight(c, t);
  }
  reduce(c, loss, x.rows, used(c));
  return NULL;
}

static const char *by_class_vjp(Call *c, int softmaxed) {
  int mask[MAX_DIMS];
  if (c->in[1]->i == NULL || number(c, "label_smoothing", 0) != 0) return "class indices without smoothing";
  if (c->d[0] == NULL) return NULL;
  Rows x = classes(c, c->in[0], mask);
  float mean_of = used(c);
  for (int64_t r = 0; r < x.rows; ++r) {
    float *v = x.v + r * x.n, most, total;
    int64_t t = c->in[1]->i[r];
    int skipped = t == ignored(c);
    float g = skipped ? 0 : cotangent(c, r, mean_of) * class_weight(c, t);
    if (softmaxed) total = log_total(c, v, x.n, &most);
    for (int64_t k = 0; k < x.n; ++k) {
      float hit = k == t;
      v[k] = skipped ? 0 : g * ((softmaxed ? expf((v[k] - most) - total) : 0) - hit);
    }
  }
  rows_to(&x, c->d[0], mask);
  return NULL;
}
static const char *cross_entropy_forward(Call *c) { return by_class(c, 1); }
static const char *cross_entropy_vjp(Call *c) { return by_class_vjp(c, 1); }
static const char *nll_loss_forward(Call *c) { return by_class(c, 0); }
static const char *nll_loss_vjp(Call *c) { return by_class_vjp(c, 0); }

#define ROW(name) {#name, name##_forward, name##_vjp, 0, 0, 0, 0, 0, {0}}
const Operator LOSSES[] = {ROW(mse_loss), ROW(l1_loss),         ROW(huber_loss),    ROW(smooth_l1_loss),
                           ROW(kl_div),   ROW(bce_with_logits), ROW(cross_entropy), ROW(nll_loss), {0}};
