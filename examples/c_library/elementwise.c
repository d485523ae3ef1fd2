/* elementwise.c: add, mul (NumPy broadcasting), relu, sigmoid, gelu. */
#include "real.h"

typedef real Unary(real x);
typedef real UnaryVjp(real x, real g);
typedef real Binary(real a, real b);

static real plus(real a, real b) { return a + b; }
static real times(real a, real b) { return a * b; }
static real first(real a, real b) { return (void)b, a; }

static int32_t map(Unary *f, const DLTensor *x, const DLTensor *y) {
  for (int64_t i = 0, n = count(y) - DEFECT("unwritten"); i < n; ++i) store(y, i, f(load(x, offset_of(x, i))));
  return OPPROOF_OK;
}

static int32_t map_vjp(UnaryVjp *f, const DLTensor *x, const DLTensor *g, const DLTensor *dx) {
  if (dx == NULL) return OPPROOF_OK;
  for (int64_t i = 0, n = count(dx); i < n; ++i) store(dx, i, f(load(x, offset_of(x, i)), load(g, offset_of(g, i))));
  return OPPROOF_OK;
}

static int32_t map2(Binary *f, const DLTensor *a, const DLTensor *b, const DLTensor *y) {
  for (int64_t i = 0, n = count(y); i < n; ++i) {
    int64_t ib = DEFECT("tail") && i > 0 && i >= n - n % 4 ? i - 1 : i;
    store(y, i, f(load(a, broadcast_offset(a, y, i)), load(b, broadcast_offset(b, y, ib))));
  }
  return OPPROOF_OK;
}

/* da = sum of f(g, b) over the axes along which `a`, of da's shape, was broadcast. */
static int32_t map2_vjp(Binary *f, const DLTensor *b, const DLTensor *g, const DLTensor *da, Reason why) {
  if (da == NULL) return OPPROOF_OK;
  Total *totals = new_totals(da);
  if (totals == NULL) return failed(why, "out of memory");
  for (int64_t i = 0, n = count(g); i < n; ++i) {
    int64_t into = broadcast_offset(da, g, i); /* da is row-major: its offsets count its elements */
    if (DEFECT("mul_no_reduce") && f == times && i >= count(da)) break;
    add_to(&totals[into], f(load(g, offset_of(g, i)), load(b, broadcast_offset(b, g, i))));
  }
  store_totals(da, totals);
  free(totals);
  return OPPROOF_OK;
}

int32_t FN(add_forward)(const opproof_call *call, const DLTensor *y, Reason why) {
  (void)why;
  return map2(plus, input(call, 0), input(call, 1), y);
}

int32_t FN(add_vjp)(const opproof_call *call, const DLTensor *g, DLTensor *const *gradients, Reason why) {
  int32_t code = map2_vjp(first, input(call, 1), g, gradients[0], why);
  return code != OPPROOF_OK ? code : map2_vjp(first, input(call, 0), g, gradients[1], why);
}

int32_t FN(mul_forward)(const opproof_call *call, const DLTensor *y, Reason why) {
  (void)why;
  return map2(times, input(call, 0), input(call, 1), y);
}

int32_t FN(mul_vjp)(const opproof_call *call, const DLTensor *g, DLTensor *const *gradients, Reason why) {
  int32_t code = map2_vjp(times, input(call, 1), g, gradients[0], why);
  return code != OPPROOF_OK ? code : map2_vjp(times, input(call, 0), g, gradients[1], why);
}

/* Not x > 0 ? x : 0, which would turn NaN into 0. */
static real relu(real x) { return x <= 0 ? 0 : x; }
static real relu_vjp(real x, real g) { return !(x > 0) ? 0 : DEFECT("ignore_cotangent") ? 1 : g; }

int32_t FN(relu_forward)(const opproof_call *call, const DLTensor *y, Reason why) {
  (void)why;
  return map(relu, input(call, 0), y);
}

int32_t FN(relu_vjp)(const opproof_call *call, const DLTensor *g, DLTensor *const *gradients, Reason why) {
  (void)why;
  return map_vjp(relu_vjp, input(call, 0), g, gradients[0]);
}

/* exp of a negative number only, so nothing overflows. */
static real sigmoid(real x) {
  real e = exp(-fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

/* y (1 - y), with 1 - y as sigmoid(-x): no cancellation where y is close to 1. */
static real sigmoid_vjp(real x, real g) {
  if (DEFECT("sigmoid_nan")) return g * exp(-x) / ((1 + exp(-x)) * (1 + exp(-x)));
  return g * sigmoid(x) * sigmoid(-x);
}

int32_t FN(sigmoid_forward)(const opproof_call *call, const DLTensor *y, Reason why) {
  (void)why;
  return map(sigmoid, input(call, 0), y);
}

int32_t FN(sigmoid_vjp)(const opproof_call *call, const DLTensor *g, DLTensor *const *gradients, Reason why) {
  (void)why;
  return map_vjp(sigmoid_vjp, input(call, 0), g, gradients[0]);
}

static const real SQRT_HALF = (real)0.70710678118654752440;
static const real SQRT_2_OVER_PI = (real)0.79788456080286535588;
static const real INV_SQRT_2PI = (real)0.39894228040143267794;
static const real CUBIC = (real)0.044715;

/* The normal distribution function; erfc keeps the digits that 1 + erf loses for negative x. */
static real normal_cdf(real x) { return erfc(-x * SQRT_HALF) / 2; }

static real gelu(real x) { return x * normal_cdf(x); }

static real gelu_vjp(real x, real g) { return g * (normal_cdf(x) + x * INV_SQRT_2PI * exp(-x * x / 2)); }

/* (1 + tanh u) / 2 is sigmoid(2 u), which loses no digits for negative x. */
static real gelu_tanh(real x) { return x * sigmoid(2 * SQRT_2_OVER_PI * (x + CUBIC * x * x * x)); }

static real gelu_tanh_vjp(real x, real g) {
  if (x > 100 || x < -100) return x > 0 ? g : 0 * g; /* x cubed, which overflows, would meet a 0 */
  real twice_u = 2 * SQRT_2_OVER_PI * (x + CUBIC * x * x * x);
  real slope = 2 * SQRT_2_OVER_PI * (1 + 3 * CUBIC * x * x);
  return g * sigmoid(twice_u) * (1 + x * slope * sigmoid(-twice_u));
}

static int wants_tanh(const opproof_call *call) {
  const opproof_param *approximate = param(call, "approximate");
  return DEFECT("gelu_tanh") || (approximate != NULL && strcmp(approximate->s, "tanh") == 0);
}

int32_t FN(gelu_forward)(const opproof_call *call, const DLTensor *y, Reason why) {
  (void)why;
  return map(wants_tanh(call) ? gelu_tanh : gelu, input(call, 0), y);
}

int32_t FN(gelu_vjp)(const opproof_call *call, const DLTensor *g, DLTensor *const *gradients, Reason why) {
  (void)why;
  return map_vjp(wants_tanh(call) ? gelu_tanh_vjp : gelu_vjp, input(call, 0), g, gradients[0]);
}
