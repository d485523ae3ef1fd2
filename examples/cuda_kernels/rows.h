/* rows.h: softmax and rms_norm with their gradients: one line of the tensor a block. */
#pragma once

#include <math.h>

#include "axes.h"
#include "element.h"
#include "launch.h"

/* The lines along one axis of up to three tensors of one shape, `length` elements each. */
struct Lines {
  Axes others;
  int64_t length = 1, step[3] = {};

  HD int64_t offset(int which, int64_t line, int64_t k) const { return others.offset(which, line) + k * step[which]; }
};

inline Lines lines_of(int axis, const DLTensor *a, const DLTensor *b, const DLTensor *c) {
  Lines lines;
  for (int d = 0; d < a->ndim; ++d) {
    if (d != axis) {
      lines.others.add(a->shape[d], a->strides[d], b->strides[d], c->strides[d]);
    } else {
      lines.length = a->shape[d];
      lines.step[0] = a->strides[d], lines.step[1] = b->strides[d], lines.step[2] = c->strides[d];
    }
  }
  return lines;
}

/* The largest x of a line, and the sum of exp(x - largest). */
template <class T>
HD void normalizer(Block block, const Lines &lines, const T *x, Real<T> *largest, Real<T> *sum) {
  using R = Real<T>;
  R most = reduce(block, lines.length, R(-INFINITY), Largest{},
                  [&](int64_t k) { return R(load(x + lines.offset(0, block.index, k))); });
#ifdef BROKEN_SHIFT
  most = 0;
#endif
  *sum = reduce(block, lines.length, R(0), Sum{},
                [&](int64_t k) { return R(exp(load(x + lines.offset(0, block.index, k)) - most)); });
  *largest = most;
}

/* y = exp(x) / sum exp(x) */
template <class T>
struct Softmax {
  Lines lines;
  const T *x;
  T *y;

  HD void operator()(Block block) const {
    Real<T> largest, sum;
    normalizer(block, lines, x, &largest, &sum);
    block.each([&](int t) {
      for (int64_t k = t; k < lines.length; k += THREADS) {
        store(y + lines.offset(2, block.index, k), exp(load(x + lines.offset(0, block.index, k)) - largest) / sum);
      }
    });
  }
};

/* dx = y (g - sum(g y)) */
template <class T>
struct SoftmaxGradient {
  Lines lines;
  const T *x, *g;
  T *dx;

  HD void operator()(Block block) const {
    using R = Real<T>;
    R largest, sum;
    normalizer(block, lines, x, &largest, &sum);
    auto y_at = [&](int64_t k) { return R(exp(load(x + lines.offset(0, block.index, k)) - largest) / sum); };
    auto g_at = [&](int64_t k) { return R(load(g + lines.offset(1, block.index, k))); };
    R dot = reduce(block, lines.length, R(0), Sum{}, [&](int64_t k) { return g_at(k) * y_at(k); });
    block.each([&](int t) {
      for (int64_t k = t; k < lines.length; k += THREADS) {
        store(dx + lines.offset(2, block.index, k), y_at(k) * (g_at(k) - dot));
      }
    });
  }
};

template <class T>
HD Real<T> inverse_rms(Block block, const Lines &lines, const T *x, double eps) {
  using R = Real<T>;
  R squares = reduce(block, lines.length, R(0), Sum{}, [&](int64_t k) {
    R v = load(x + lines.offset(0, block.index, k));
    return v * v;
  });
  return 1 / sqrt(squares / R(lines.length) + R(eps));
}

/* y = x r w with r = 1 / sqrt(mean(x^2) + eps); w may be NULL. */
template <class T>
struct RmsNorm {
  Lines lines;
  const T *x, *w;
  T *y;
  int64_t w_step;
  double eps;

  HD void operator()(Block block) const {
    Real<T> r = inverse_rms(block, lines, x, eps);
    block.each([&](int t) {
      for (int64_t k = t; k < lines.length; k += THREADS) {
        Real<T> unit = load(x + lines.offset(0, block.index, k)) * r;
        store(y + lines.offset(2, block.index, k), w == nullptr ? unit : unit * load(w + k * w_step));
      }
    });
  }
};

/* dx = r (h - x r mean(h x r)) with h = g w; and r into `inverse`, for the gradient of w. Both may be NULL. */
template <class T>
struct RmsNormGradient {
  Lines lines;
  const T *x, *g, *w;
  T *dx;
  Real<T> *inverse;
  int64_t w_step;
  double eps;

  HD void operator()(Block block) const {
    using R = Real<T>;
    R r = inverse_rms(block, lines, x, eps);
    auto unit = [&](int64_t k) { return R(load(x + lines.offset(0, block.index, k)) * r); };
    auto h = [&](int64_t k) {
      R g_k = load(g + lines.offset(1, block.index, k));
      return w == nullptr ? g_k : g_k * R(load(w + k * w_step));
    };
    R dot = reduce(block, lines.length, R(0), Sum{}, [&](int64_t k) { return h(k) * unit(k); });
    block.each([&](int t) {
      if (inverse != nullptr && t == 0) inverse[block.index] = r;
      if (dx == nullptr) return;
      for (int64_t k = t; k < lines.length; k += THREADS) {
        store(dx + lines.offset(2, block.index, k), r * (h(k) - unit(k) * (dot / R(lines.length))));
      }
    });
  }
};

/* dw[k] = the sum of g x r over all lines, one column a block. */
template <class T>
struct WeightGradient {
  Lines lines;
  const T *x, *g;
  const Real<T> *inverse;
  T *dw;
  int64_t count;

  HD void operator()(Block block) const {
    using R = Real<T>;
    int64_t k = block.index;
    R sum = reduce(block, count, R(0), Sum{}, [&](int64_t line) {
      return R(load(g + lines.offset(1, line, k)) * load(x + lines.offset(0, line, k)) * inverse[line]);
    });
    block.each([&](int t) {
      if (t == 0) store(dw + k, sum);
    });
  }
};
