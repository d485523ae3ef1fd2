// ops.cc: gelu, softmax and rms_norm with their gradients, as functions of a TVM-FFI module.
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>
#include <tvm/ffi/string.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "strided.h"

using ffi::Optional;
using ffi::String;
using ffi::TensorView;

namespace {

template <class T>
T gelu_of(T x, bool by_tanh) {
  if (!by_tanh) return x / 2 * std::erfc(-x * T(M_SQRT1_2));
  return x / 2 * (1 + std::tanh(T(M_2_SQRTPI * M_SQRT1_2) * (x + T(0.044715) * x * x * x)));
}

template <class T>
T gelu_slope(T x, bool by_tanh) {
  const T c = T(M_2_SQRTPI * M_SQRT1_2);
  if (!by_tanh) return std::erfc(-x * T(M_SQRT1_2)) / 2 + x * std::exp(-x * x / 2) * c / 2;
  T t = std::tanh(c * (x + T(0.044715) * x * x * x));
  return (1 + t) / 2 + x * (1 - t * t) / 2 * c * (1 + 3 * T(0.044715) * x * x);
}

void gelu(TensorView x, String approximate, TensorView y) {
  with_type(x, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < x.numel(); ++i) data_of<T>(y)[i] = gelu_of(data_of<T>(x)[offset(x, i)], approximate == "tanh");
  });
}

void gelu_vjp(TensorView x, String approximate, TensorView g, TensorView dx) {
  with_type(x, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < x.numel(); ++i) {
      T slope = gelu_slope(data_of<T>(x)[offset(x, i)], approximate == "tanh");
#ifdef BROKEN
      data_of<T>(dx)[i] = slope;  // as if the cotangent were ones
#else
      data_of<T>(dx)[i] = data_of<T>(g)[offset(g, i)] * slope;
#endif
    }
  });
}

// exp(x) / sum exp(x) of one line.
template <class T>
std::vector<T> softmax_of(const Lines<T>& x, int64_t line) {
  T most = -INFINITY, sum = 0;
  std::vector<T> y(x.length());
  for (int64_t k = 0; k < x.length(); ++k) most = std::max(most, x.at(line, k));
  for (int64_t k = 0; k < x.length(); ++k) sum += y[k] = std::exp(x.at(line, k) - most);
  for (T& v : y) v /= sum;
  return y;
}

void softmax(TensorView x, int64_t dim, TensorView y) {
#ifdef BROKEN
  dim = -1;
#endif
  with_type(x, [&](auto zero) {
    using T = decltype(zero);
    Lines<T> from(x, dim), into(y, dim);
    for (int64_t line = 0; line < from.count(); ++line) {
      std::vector<T> values = softmax_of(from, line);
      for (int64_t k = 0; k < from.length(); ++k) into.at(line, k) = values[k];
    }
  });
}

// dx = y (g - sum(g y))
void softmax_vjp(TensorView x, int64_t dim, TensorView g, TensorView dx) {
  with_type(x, [&](auto zero) {
    using T = decltype(zero);
    Lines<T> from(x, dim), cotangent(g, dim), into(dx, dim);
    for (int64_t line = 0; line < from.count(); ++line) {
      std::vector<T> y = softmax_of(from, line);
      T dot = 0;
      for (int64_t k = 0; k < from.length(); ++k) dot += cotangent.at(line, k) * y[k];
      for (int64_t k = 0; k < from.length(); ++k) into.at(line, k) = y[k] * (cotangent.at(line, k) - dot);
    }
  });
}

template <class T>
T inverse_rms(const Lines<T>& x, int64_t line, double eps) {
  T squares = 0;
  for (int64_t k = 0; k < x.length(); ++k) squares += x.at(line, k) * x.at(line, k);
  return 1 / std::sqrt(squares / T(x.length()) + T(eps));
}

template <class T>
T weight_at(const Optional<TensorView>& weight, int64_t k) {
  return weight.has_value() ? data_of<T>(*weight)[k * (*weight).stride(0)] : T(1);
}

void rms_norm(TensorView x, Optional<TensorView> weight, double eps, TensorView y) {
  with_type(x, [&](auto zero) {
    using T = decltype(zero);
    Lines<T> from(x, -1), into(y, -1);
    for (int64_t line = 0; line < from.count(); ++line) {
      T r = inverse_rms(from, line, eps);
      for (int64_t k = 0; k < from.length(); ++k) into.at(line, k) = from.at(line, k) * r * weight_at<T>(weight, k);
    }
  });
}

// With h = g w: dx = r (h - x r mean(h x r)), and dw is the sum of g x r over the lines.
void rms_norm_vjp(TensorView x, Optional<TensorView> weight, double eps, TensorView g, Optional<TensorView> dx,
                  Optional<TensorView> dw) {
  with_type(x, [&](auto zero) {
    using T = decltype(zero);
    Lines<T> from(x, -1), cotangent(g, -1);
    std::vector<double> sums(from.length());
    for (int64_t line = 0; line < from.count(); ++line) {
      T r = inverse_rms(from, line, eps), dot = 0;
      auto h = [&](int64_t k) { return cotangent.at(line, k) * weight_at<T>(weight, k); };
      for (int64_t k = 0; k < from.length(); ++k) {
        dot += h(k) * from.at(line, k) * r;
        sums[k] += double(cotangent.at(line, k)) * from.at(line, k) * r;
      }
      for (int64_t k = 0; dx.has_value() && k < from.length(); ++k) {
        Lines<T>(*dx, -1).at(line, k) = r * (h(k) - from.at(line, k) * r * (dot / T(from.length())));
      }
    }
    for (int64_t k = 0; dw.has_value() && k < from.length(); ++k) data_of<T>(*dw)[k] = T(sums[k]);
  });
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(opproof_gelu, gelu);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(opproof_gelu_vjp, gelu_vjp);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(opproof_softmax, softmax);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(opproof_softmax_vjp, softmax_vjp);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(opproof_rms_norm, rms_norm);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(opproof_rms_norm_vjp, rms_norm_vjp);
