// Functions that go wrong, each in its way, for tests/test_tvm_ffi.py; and neg, which moves 16 bits rightly.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>

#include <cstdint>
#include <stdexcept>

using tvm::ffi::TensorView;

static float* floats(const TensorView& t) { return static_cast<float*>(t.data_ptr()); }

static void neg(TensorView x, TensorView y) {
  DLDataType type = x.dtype();
  if (type.bits != 16) TVM_FFI_THROW(NotImplementedError) << "not of " << int(type.bits) << " bits";
  for (int64_t i = 0; i < x.numel(); ++i) {
    static_cast<uint16_t*>(y.data_ptr())[i] = static_cast<uint16_t*>(x.data_ptr())[i] ^ 0x8000;
  }
}

static void relu(TensorView, TensorView y) { floats(y)[y.numel()] = 0; }

static void sigmoid(TensorView x, TensorView) { floats(x)[0] += 1; }

static void tanh(TensorView, TensorView) {}

static void exp(TensorView, TensorView) { TVM_FFI_THROW(ValueError) << "no table\nfor exp"; }

static void log(TensorView, TensorView) { throw std::runtime_error("thrown"); }

static void sin(TensorView, TensorView) { TVM_FFI_THROW(MemoryError) << "no scratch"; }

static void cos(TensorView, int64_t, TensorView) {}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(opproof_neg, neg);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(opproof_relu, relu);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(opproof_sigmoid, sigmoid);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(opproof_tanh, tanh);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(opproof_exp, exp);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(opproof_log, log);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(opproof_sin, sin);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(opproof_cos, cos);
