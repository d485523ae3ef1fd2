// strided.h: positions in tensors of any strides, and the choice of the type of elements.
#pragma once

#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>

#include <cstdint>

namespace ffi = tvm::ffi;

template <class T>
T* data_of(const ffi::TensorView& t) {
  return reinterpret_cast<T*>(static_cast<char*>(t.data_ptr()) + t.byte_offset());
}

// Offset in elements of the i-th element in row-major order, over all axes but `skipped`.
inline int64_t offset(const ffi::TensorView& t, int64_t i, int skipped = -1) {
  int64_t sum = 0;
  for (int d = t.ndim() - 1; d >= 0; --d) {
    if (d == skipped) continue;
    sum += i % t.size(d) * t.stride(d);
    i /= t.size(d);
  }
  return sum;
}

// A tensor as lines along one axis.
template <class T>
class Lines {
 public:
  Lines(const ffi::TensorView& t, int64_t dim)
      : t_(t), axis_(static_cast<int>(dim < 0 ? dim + t.ndim() : dim)), data_(data_of<T>(t)) {}

  int64_t length() const { return t_.ndim() == 0 ? 1 : t_.size(axis_); }

  int64_t count() const {
    int64_t product = 1;
    for (int d = 0; d < t_.ndim(); ++d) product *= d == axis_ ? 1 : t_.size(d);
    return product;
  }

  T& at(int64_t line, int64_t k) const {
    return data_[offset(t_, line, axis_) + (t_.ndim() == 0 ? 0 : k * t_.stride(axis_))];
  }

 private:
  ffi::TensorView t_;
  int axis_;
  T* data_;
};

// f(float()) or f(double()), as x has it; other types are declined.
template <class F>
void with_type(const ffi::TensorView& x, F f) {
  DLDataType type = x.dtype();
  if (type.code == kDLFloat && type.bits == 32) return f(float());
  if (type.code == kDLFloat && type.bits == 64) return f(double());
  TVM_FFI_THROW(NotImplementedError) << "only float32 and float64";
}
