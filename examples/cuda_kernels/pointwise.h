/* pointwise.h: add, mul and gelu with their gradients, broadcast as NumPy does.
 *
 * Formulas take two numbers: the two inputs, or a cotangent and what it is multiplied with.
 */
#pragma once

#include <math.h>

#include "axes.h"
#include "element.h"
#include "launch.h"

struct Add {
  template <class R>
  HD R operator()(R a, R b) const {
    return a + b;
  }
};

struct Mul {
  template <class R>
  HD R operator()(R a, R b) const {
    return a * b;
  }
};

struct First {
  template <class R>
  HD R operator()(R a, R) const {
    return a;
  }
};

/* x Phi(x), or its approximation with tanh; the second number is not used. */
struct Gelu {
  bool by_tanh;
  template <class R>
  HD R operator()(R x, R) const {
    if (!by_tanh) return R(0.5) * x * erfc(-x * R(0.70710678118654752));
    return R(0.5) * x * (1 + tanh(R(0.79788456080286536) * (x + R(0.044715) * x * x * x)));
  }
};

/* g times the derivative of gelu at x. */
struct GeluGradient {
  bool by_tanh;
  template <class R>
  HD R operator()(R g, R x) const {
    if (!by_tanh) {
      R density = exp(R(-0.5) * x * x) * R(0.39894228040143268);
      return g * (R(0.5) * erfc(-x * R(0.70710678118654752)) + x * density);
    }
    R t = tanh(R(0.79788456080286536) * (x + R(0.044715) * x * x * x));
    R inner = R(0.79788456080286536) * (1 + 3 * R(0.044715) * x * x);
    return g * (R(0.5) * (1 + t) + R(0.5) * x * (1 - t * t) * inner);
  }
};

/* y[i] = formula(a, b), one element a thread. */
template <class T, class Formula>
struct Pointwise {
  Axes axes;
  const T *a, *b;
  T *y;
  int64_t n;
  Formula formula;

  HD void operator()(Block block) const {
    block.each([&](int t) {
      int64_t i = block.index * THREADS + t;
#ifndef BROKEN_BOUNDS
      if (i >= n) return;
#endif
      store(y + i, formula(load(a + axes.offset(0, i)), load(b + axes.offset(1, i))));
    });
  }
};

/* y[o] = the sum of formula(a, b) over the axes along which y was broadcast, one element a block. */
template <class T, class Formula>
struct PointwiseSum {
  Axes kept, summed;
  const T *a, *b;
  T *y;
  int64_t terms;
  Formula formula;

  HD void operator()(Block block) const {
    const T *a0 = a + kept.offset(0, block.index), *b0 = b + kept.offset(1, block.index);
    Real<T> sum = reduce(block, terms, Real<T>(0), Sum{}, [&](int64_t i) {
      return formula(load(a0 + summed.offset(0, i)), load(b0 + summed.offset(1, i)));
    });
    block.each([&](int t) {
      if (t == 0) store(y + block.index, sum);
    });
  }
};

/* y = formula(a, b), where `whole` has the shape that all are broadcast to; summed over what y has not. */
template <class T, class Formula>
void pointwise(const DLTensor *whole, const DLTensor *a, const DLTensor *b, DLTensor *y, Formula formula) {
  Axes kept, summed;
  for (int back = whole->ndim - 1; back >= 0; --back) {
    int64_t length = length_of(whole, back);
    Axes &into = length_of(y, back) == length ? kept : summed;
    into.add(length, step_of(a, back), step_of(b, back), 0);
  }
  const T *from_a = data_of<T>(a), *from_b = data_of<T>(b);
  int64_t n = count_of(y), terms = summed.count();
  if (terms == 1) {
    launch((n + THREADS - 1) / THREADS, Pointwise<T, Formula>{kept, from_a, from_b, data_of<T>(y), n, formula});
  } else {
#ifdef BROKEN_SUM
    terms = terms > 0;
#endif
    launch(n, PointwiseSum<T, Formula>{kept, summed, from_a, from_b, data_of<T>(y), terms, formula});
  }
}
