/* pointwise.c: functions of one number, by libm and by the formulas that authors write. */
#include "call.h"

#define SQRT_HALF 0.70710678118654752440f
#define SQRT_2_OVER_PI 0.79788456080286535588f
#define INV_SQRT_2PI 0.39894228040143267794f
#define TWO_OVER_SQRT_PI 1.12837916709551257390f
#define LN2 0.69314718055994530942f
#define SELU_SCALE 1.0507009873554804934193349852946f
#define SELU_ALPHA 1.6732632423543772848170429916717f

static const char *forward(Call *c) {
  for (int64_t k = 0; k < c->in[0]->n; ++k) c->out[0]->v[k] = c->op->f(c->in[0]->v[k], c->p);
  return NULL;
}

static const char *vjp(Call *c) {
  if (c->d[0] == NULL) return NULL;
  for (int64_t k = 0; k < c->in[0]->n; ++k) {
    float x = c->in[0]->v[k];
    c->d[0]->v[k] = c->g[0]->v[k] * c->op->df(x, c->op->f(x, c->p), c->p);
  }
  return NULL;
}

/* exp of a negative number on both sides: nothing overflows and no digits are lost. */
static float sigmoid_of(float x) {
  float e = expf(-fabsf(x));
  return x < 0 ? e / (1 + e) : 1 / (1 + e);
}
/* tanh by expm1, with its own sign. */
static float tanh_of(float x) {
  float e = expm1f(-2 * fabsf(x));
  return copysignf(-e / (e + 2), x);
}
static float softplus_of(float x) { return fmaxf(x, 0) + log1pf(expf(-fabsf(x))) + (x != x ? x : 0); }
static float cdf(float x) { return 0.5f * erfcf(-x * SQRT_HALF); }

#define F(name, formula) \
  static float name##_f(float x, const float *p) { return (void)p, (void)x, (formula); }
#define D(name, formula) \
  static float name##_d(float x, float y, const float *p) { return (void)p, (void)x, (void)y, (formula); }

F(neg, -x) D(neg, -1)
F(abs, fabsf(x)) D(abs, x > 0 ? 1 : x < 0 ? -1 : 0)
F(square, x *x) D(square, 2 * x)
F(sqrt, sqrtf(x)) D(sqrt, 0.5f / y)
F(rsqrt, 1 / sqrtf(x)) D(rsqrt, -0.5f * y / x)
F(reciprocal, 1 / x) D(reciprocal, -y *y)
F(exp, expf(x)) D(exp, y)
F(exp2, exp2f(x)) D(exp2, y *LN2)
F(expm1, expm1f(x)) D(expm1, expf(x))
F(log, logf(x)) D(log, 1 / x)
F(log2, log2f(x)) D(log2, 1 / (x * LN2))
F(log1p, log1pf(x)) D(log1p, 1 / (1 + x))
F(sin, sinf(x)) D(sin, cosf(x))
F(cos, cosf(x)) D(cos, -sinf(x))
F(tan, tanf(x)) D(tan, 1 + y * y)
F(asin, asinf(x)) D(asin, 1 / sqrtf((1 - x) * (1 + x)))
F(acos, acosf(x)) D(acos, -1 / sqrtf((1 - x) * (1 + x)))
F(atan, atanf(x)) D(atan, 1 / (1 + x * x))
F(sinh, sinhf(x)) D(sinh, coshf(x))
F(cosh, coshf(x)) D(cosh, sinhf(x))
F(tanh, tanh_of(x)) D(tanh, 1 - y * y)
F(erf, erff(x)) D(erf, TWO_OVER_SQRT_PI *expf(-x * x))
F(sigmoid, sigmoid_of(x)) D(sigmoid, y *(1 - y))
F(logsigmoid, -softplus_of(-x)) D(logsigmoid, sigmoid_of(-x))
F(softplus, x *p[0] > p[1] ? x : softplus_of(x * p[0]) / p[0])
D(softplus, x *p[0] > p[1] ? 1 : sigmoid_of(x * p[0]))
F(softsign, x / (1 + fabsf(x))) D(softsign, 1 / ((1 + fabsf(x)) * (1 + fabsf(x))))
F(relu, x <= 0 ? 0 : x) D(relu, x > 0 ? 1 : 0)
F(relu6, x <= 0 ? 0 : x >= 6 ? 6 : x) D(relu6, x > 0 && x < 6 ? 1 : 0)
F(leaky_relu, x > 0 ? x : x * p[0]) D(leaky_relu, x > 0 ? 1 : p[0])
F(elu, x > 0 ? x : p[0] * expm1f(x)) D(elu, x > 0 ? 1 : p[0] * expf(x))
F(celu, x > 0 ? x : p[0] * expm1f(x / p[0])) D(celu, x > 0 ? 1 : expf(x / p[0]))
F(selu, SELU_SCALE *(x > 0 ? x : SELU_ALPHA * expm1f(x)))
D(selu, SELU_SCALE *(x > 0 ? 1 : SELU_ALPHA * expf(x)))
F(silu, x *sigmoid_of(x)) D(silu, sigmoid_of(x) * (1 + x * sigmoid_of(-x)))
F(gelu_quick, x *sigmoid_of(1.702f * x))
D(gelu_quick, sigmoid_of(1.702f * x) * (1 + 1.702f * x * sigmoid_of(-1.702f * x)))
F(mish, x *tanh_of(softplus_of(x)))
D(mish, tanh_of(softplus_of(x)) + x * sigmoid_of(x) * (1 - tanh_of(softplus_of(x)) * tanh_of(softplus_of(x))))
F(hardswish, x <= -3 ? 0 : x >= 3 ? x : x * (x + 3) / 6) D(hardswish, x <= -3 ? 0 : x >= 3 ? 1 : x / 3 + 0.5f)
F(hardsigmoid, x <= -3 ? 0 : x >= 3 ? 1 : (x + 3) / 6) D(hardsigmoid, x > -3 && x < 3 ? 1.0f / 6 : 0)
F(hardtanh, x < p[0] ? p[0] : x > p[1] ? p[1] : x) D(hardtanh, x > p[0] && x < p[1] ? 1 : 0)
F(hardshrink, x >= -p[0] && x <= p[0] ? 0 : x) D(hardshrink, x >= -p[0] && x <= p[0] ? 0 : 1)
F(softshrink, x > p[0] ? x - p[0] : x < -p[0] ? x + p[0] : x != x ? x : 0)
D(softshrink, x > p[0] || x < -p[0] ? 1 : 0)
F(tanhshrink, x - tanh_of(x)) D(tanhshrink, tanh_of(x) * tanh_of(x))
F(threshold, x <= p[0] ? p[1] : x) D(threshold, x > p[0] ? 1 : 0)
F(clamp, x < p[0] ? (p[0] > p[1] ? p[1] : p[0]) : x > p[1] ? p[1] : x) D(clamp, x < p[0] || x > p[1] ? 0 : 1)
F(scale, p[0] * x + p[1]) D(scale, p[0])
F(floor, floorf(x)) F(ceil, ceilf(x)) F(round, rintf(x)) F(trunc, truncf(x))
F(sign, x > 0 ? 1 : x < 0 ? -1 : x) F(step, x > 0 ? 1 : 0)
F(fill, p[0])
D(flat, 0)

/* gelu: erf, or the formula with tanh. */
static int by_tanh(const Call *c) { return text_is(c, "approximate", "tanh"); }
F(gelu, x *cdf(x)) D(gelu, cdf(x) + x * INV_SQRT_2PI * expf(-0.5f * x * x))
static float inner(float x) { return SQRT_2_OVER_PI * (x + 0.044715f * x * x * x); }
F(gelu_tanh, x *sigmoid_of(2 * inner(x)))
static float gelu_tanh_d(float x, float y, const float *p) {
  float s = sigmoid_of(2 * inner(x)), rest = sigmoid_of(-2 * inner(x));
  (void)y, (void)p;
  return s + x * 2 * s * rest * SQRT_2_OVER_PI * (1 + 3 * 0.044715f * x * x);
}

static const Operator GELU_TANH = {"gelu", forward, vjp, gelu_tanh_f, gelu_tanh_d, 0, 0, 0, {0}};

static const char *gelu_forward(Call *c) {
  if (by_tanh(c)) c->op = &GELU_TANH;
  return forward(c);
}
static const char *gelu_vjp(Call *c) {
  if (by_tanh(c)) c->op = &GELU_TANH;
  return vjp(c);
}

#define ROW(name) {#name, forward, vjp, name##_f, name##_d, 0, 0, 0, {0}}
#define ROW1(name, a) {#name, forward, vjp, name##_f, name##_d, 0, 0, 0, {a}}
#define ROW2(name, a, b) {#name, forward, vjp, name##_f, name##_d, 0, 0, 0, {a, b}}
#define FLAT(name, a) {#name, forward, vjp, name##_f, flat_d, 0, 0, 0, {a}}

const Operator POINTWISE[] = {
    ROW(neg), ROW(abs), ROW(square), ROW(sqrt), ROW(rsqrt), ROW(reciprocal), ROW(exp), ROW(exp2), ROW(expm1),
    ROW(log), ROW(log2), ROW(log1p), ROW(sin), ROW(cos), ROW(tan), ROW(asin), ROW(acos), ROW(atan), ROW(sinh),
    ROW(cosh), ROW(tanh), ROW(erf), ROW(sigmoid), ROW(logsigmoid), ROW2(softplus, "beta", "threshold"),
    ROW(softsign), ROW(relu), ROW(relu6), ROW1(leaky_relu, "negative_slope"), ROW1(elu, "alpha"),
    ROW1(celu, "alpha"), ROW(selu), ROW(silu), ROW(gelu_quick), ROW(mish), ROW(hardswish), ROW(hardsigmoid),
    ROW2(hardtanh, "min_val", "max_val"), ROW1(hardshrink, "lambd"), ROW1(softshrink, "lambd"), ROW(tanhshrink),
    ROW2(threshold, "threshold", "value"), ROW2(clamp, "min", "max"), ROW2(scale, "s", "b"),
    FLAT(floor, 0), FLAT(ceil, 0), FLAT(round, 0), FLAT(trunc, 0), FLAT(sign, 0), FLAT(step, 0), FLAT(fill, "value"),
    {"gelu", gelu_forward, gelu_vjp, gelu_f, gelu_d, 0, 0, 0, {0}},
    {0}};
