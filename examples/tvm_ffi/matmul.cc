// matmul.cc: matrices and broadcast batches of them; a vector is a row on the left, a column on the right.
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>

#include <algorithm>
#include <vector>

#include "strided.h"

using ffi::Optional;
using ffi::TensorView;

namespace {

// A batch of matrices in a tensor. Positions count from the last batch axis, so that batches broadcast.
struct Matrices {
  TensorView t;
  int batch_axes;
  int64_t rows, columns, row_step, column_step;

  int64_t length(int back) const { return back < batch_axes ? t.size(batch_axes - 1 - back) : 1; }
  int64_t step(int back) const { return length(back) == 1 ? 0 : t.stride(batch_axes - 1 - back); }
};

Matrices operand(const TensorView& t, bool upright) {
  if (t.ndim() == 1 && upright) return {t, 0, t.size(0), 1, t.stride(0), 0};
  if (t.ndim() == 1) return {t, 0, 1, t.size(0), 0, t.stride(0)};
  return {t, t.ndim() - 2, t.size(-2), t.size(-1), t.stride(-2), t.stride(-1)};
}

// The product, or its cotangent: without rows where a is a vector, without columns where b is one.
Matrices product(const TensorView& t, const TensorView& a, const TensorView& b) {
  int no_rows = a.ndim() == 1, no_columns = b.ndim() == 1, row = t.ndim() - 2 + no_columns;
  return {t, t.ndim() - 2 + no_rows + no_columns, no_rows ? 1 : t.size(row), no_columns ? 1 : t.size(-1),
          no_rows ? 0 : t.stride(row), no_columns ? 0 : t.stride(-1)};
}

// Offsets of the i-th batch of the product in a, b and the product itself.
struct Batch {
  int64_t a = 0, b = 0, y = 0;
  Batch(const Matrices& ma, const Matrices& mb, const Matrices& my, int64_t i) {
    for (int back = 0; back < my.batch_axes; ++back) {
      int64_t at = i % my.length(back);
      i /= my.length(back);
      a += at * ma.step(back), b += at * mb.step(back), y += at * my.step(back);
    }
  }
};

int64_t batches(const Matrices& m) {
  int64_t product = 1;
  for (int back = 0; back < m.batch_axes; ++back) product *= m.length(back);
  return product;
}

void matmul(TensorView a, TensorView b, TensorView y) {
  with_type(a, [&](auto zero) {
    using T = decltype(zero);
    Matrices ma = operand(a, false), mb = operand(b, true), my = product(y, a, b);
    for (int64_t n = 0; n < batches(my); ++n) {
      Batch at(ma, mb, my, n);
      for (int64_t i = 0; i < my.rows; ++i) {
        for (int64_t j = 0; j < my.columns; ++j) {
          T sum = 0;
          for (int64_t k = 0; k < ma.columns; ++k) {
            sum += data_of<T>(a)[at.a + i * ma.row_step + k * ma.column_step] *
                   data_of<T>(b)[at.b + k * mb.row_step + j * mb.column_step];
          }
          data_of<T>(y)[at.y + i * my.row_step + j * my.column_step] = sum;
        }
      }
    }
  });
}

// da = g bᵀ and db = aᵀ g, summed over the batches that share a matrix, in double.
void matmul_vjp(TensorView a, TensorView b, TensorView g, Optional<TensorView> da, Optional<TensorView> db) {
  with_type(a, [&](auto zero) {
    using T = decltype(zero);
    Matrices ma = operand(a, false), mb = operand(b, true), mg = product(g, a, b);
    // The gradients are row-major whatever the inputs are: their own steps say where an element goes.
    Matrices into_a = operand(da.has_value() ? *da : a, false), into_b = operand(db.has_value() ? *db : b, true);
    std::vector<double> sum_a(da.has_value() ? a.numel() : 0), sum_b(db.has_value() ? b.numel() : 0);
    for (int64_t n = 0; n < batches(mg); ++n) {
      Batch at(ma, mb, mg, n), to(into_a, into_b, mg, n);
      for (int64_t i = 0; i < mg.rows; ++i) {
        for (int64_t j = 0; j < mg.columns; ++j) {
          double cotangent = data_of<T>(g)[at.y + i * mg.row_step + j * mg.column_step];
          for (int64_t k = 0; k < ma.columns; ++k) {
            if (da.has_value()) {
              sum_a[to.a + i * into_a.row_step + k * into_a.column_step] +=
                  cotangent * data_of<T>(b)[at.b + k * mb.row_step + j * mb.column_step];
            }
            if (db.has_value()) {
              sum_b[to.b + k * into_b.row_step + j * into_b.column_step] +=
                  cotangent * data_of<T>(a)[at.a + i * ma.row_step + k * ma.column_step];
            }
          }
        }
      }
    }
    if (da.has_value()) std::copy(sum_a.begin(), sum_a.end(), data_of<T>(*da));
    if (db.has_value()) std::copy(sum_b.begin(), sum_b.end(), data_of<T>(*db));
  });
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(opproof_matmul, matmul);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(opproof_matmul_vjp, matmul_vjp);
