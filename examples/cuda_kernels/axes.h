/* axes.h: where the elements of strided and broadcast tensors lie; passed to kernels by value. */
#pragma once

#include <stdexcept>

#include "block.h"
#include "opproof.h"

constexpr int MAX_AXES = 8;

/* What a library cannot do; its text is the reason. */
struct Declined : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/* Some axes that up to three tensors walk together, each by steps of its own; 0 where it is broadcast. */
struct Axes {
  int n = 0;
  int64_t size[MAX_AXES] = {}, step[3][MAX_AXES] = {};

  void add(int64_t length, int64_t a, int64_t b, int64_t c) {
    if (n == MAX_AXES) throw Declined("tensors of more than 8 axes");
    size[n] = length, step[0][n] = a, step[1][n] = b, step[2][n] = c;
    ++n;
  }

  int64_t count() const {
    int64_t product = 1;
    for (int d = 0; d < n; ++d) product *= size[d];
    return product;
  }

  /* Offset in elements of the i-th place, in row-major order, in one of the tensors. */
  HD int64_t offset(int which, int64_t i) const {
    int64_t sum = 0;
    for (int d = n - 1; d >= 0; i /= size[d--]) sum += i % size[d] * step[which][d];
    return sum;
  }
};

template <class T>
T *data_of(const DLTensor *t) {
  return reinterpret_cast<T *>(static_cast<char *>(t->data) + t->byte_offset);
}

/* Length and step of the axis that stands `back` places before the last; 1 and 0 where there is none. */
inline int64_t length_of(const DLTensor *t, int back) { return back < t->ndim ? t->shape[t->ndim - 1 - back] : 1; }

inline int64_t step_of(const DLTensor *t, int back) {
  return length_of(t, back) == 1 ? 0 : t->strides[t->ndim - 1 - back];
}

inline int64_t count_of(const DLTensor *t) {
  int64_t product = 1;
  for (int d = 0; d < t->ndim; ++d) product *= t->shape[d];
  return product;
}
