/* library.h: the functions of opproof.h that are the same on every device. */
#pragma once

#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include "matmul.h"
#include "pointwise.h"
#include "rows.h"

inline const opproof_param *param(const opproof_call *call, const char *name) {
  for (int32_t i = 0; i < call->n_params; ++i) {
    if (strcmp(call->params[i].name, name) == 0) return &call->params[i];
  }
  throw std::runtime_error(std::string("no parameter ") + name);
}

inline bool by_tanh(const opproof_call *call) { return strcmp(param(call, "approximate")->s, "tanh") == 0; }

inline int softmax_axis(const opproof_call *call) {
  int64_t dim = param(call, "dim")->i;
  return static_cast<int>(dim < 0 ? dim + call->inputs[0]->ndim : dim);
}

/* Device memory that ends with its scope. */
template <class V>
struct Workspace {
  V *data;
  explicit Workspace(int64_t n) : data(static_cast<V *>(device_alloc(static_cast<size_t>(n > 0 ? n : 1) * sizeof(V)))) {}
  Workspace(const Workspace &) = delete;
  ~Workspace() { device_free(data); }
};

template <class T>
void forward(const opproof_call *call, DLTensor *y) {
  const DLTensor *x = call->inputs[0], *second = call->n_inputs > 1 ? call->inputs[1] : nullptr;
  if (strcmp(call->op, "add") == 0) return pointwise<T>(y, x, second, y, Add{});
  if (strcmp(call->op, "mul") == 0) return pointwise<T>(y, x, second, y, Mul{});
  if (strcmp(call->op, "gelu") == 0) return pointwise<T>(y, x, x, y, Gelu{by_tanh(call)});
  if (strcmp(call->op, "matmul") == 0) {
    return contract<T>(as_matrix(x, false), as_matrix(second, true), as_product(y, x, second));
  }
  bool is_softmax = strcmp(call->op, "softmax") == 0;
  Lines lines = lines_of(is_softmax ? softmax_axis(call) : x->ndim - 1, x, x, y);
  int64_t count = lines.others.count();
  if (is_softmax) return launch(count, Softmax<T>{lines, data_of<T>(x), data_of<T>(y)});
  launch(count, RmsNorm<T>{lines, data_of<T>(x), second == nullptr ? nullptr : data_of<T>(second), data_of<T>(y),
                           second == nullptr ? 0 : second->strides[0], param(call, "eps")->f});
}

template <class T>
void rms_norm_vjp(const opproof_call *call, const DLTensor *g, DLTensor *dx, DLTensor *dw) {
  const DLTensor *x = call->inputs[0], *w = call->n_inputs > 1 ? call->inputs[1] : nullptr;
  Lines lines = lines_of(x->ndim - 1, x, g, dx == nullptr ? x : dx);
  int64_t count = lines.others.count();
  Workspace<Real<T>> inverse(dw == nullptr ? 0 : count);
  launch(count, RmsNormGradient<T>{lines, data_of<T>(x), data_of<T>(g), w == nullptr ? nullptr : data_of<T>(w),
                                   dx == nullptr ? nullptr : data_of<T>(dx), dw == nullptr ? nullptr : inverse.data,
                                   w == nullptr ? 0 : w->strides[0], param(call, "eps")->f});
  if (dw == nullptr) return;
  launch(lines.length, WeightGradient<T>{lines, data_of<T>(x), data_of<T>(g), inverse.data, data_of<T>(dw), count});
}

template <class T>
void vjp(const opproof_call *call, const DLTensor *g, DLTensor *const *gradients) {
  const DLTensor *a = call->inputs[0], *b = call->n_inputs > 1 ? call->inputs[1] : nullptr;
  DLTensor *da = gradients[0], *db = call->n_inputs > 1 ? gradients[1] : nullptr;
  if (strcmp(call->op, "add") == 0) {
    if (da != nullptr) pointwise<T>(g, g, g, da, First{});
    if (db != nullptr) pointwise<T>(g, g, g, db, First{});
  } else if (strcmp(call->op, "mul") == 0) {
    if (da != nullptr) pointwise<T>(g, g, b, da, Mul{});
    if (db != nullptr) pointwise<T>(g, g, a, db, Mul{});
  } else if (strcmp(call->op, "gelu") == 0) {
    if (da != nullptr) pointwise<T>(g, g, a, da, GeluGradient{by_tanh(call)});
  } else if (strcmp(call->op, "matmul") == 0) {
    Matrix left = as_matrix(a, false), right = as_matrix(b, true), cotangent = as_product(g, a, b);
    if (da != nullptr) contract<T>(cotangent, right.transposed(), as_matrix(da, false));
    if (db != nullptr) contract<T>(left.transposed(), cotangent, as_matrix(db, true));
  } else if (strcmp(call->op, "softmax") == 0) {
    if (da == nullptr) return;
    Lines lines = lines_of(softmax_axis(call), a, g, da);
    launch(lines.others.count(), SoftmaxGradient<T>{lines, data_of<T>(a), data_of<T>(g), data_of<T>(da)});
  } else {
    rms_norm_vjp<T>(call, g, da, db);
  }
}

/* Decline other operators, and other types than one float type for all inputs. */
inline void check(const opproof_call *call) {
  const char *const names[] = {"add", "mul", "gelu", "softmax", "rms_norm", "matmul"};
  bool known = false;
  for (const char *name : names) known = known || strcmp(call->op, name) == 0;
  if (!known) throw Declined(std::string("there is no kernel for ") + call->op);
  for (int32_t i = 0; i < call->n_inputs; ++i) {
    const DLTensor *t = call->inputs[i], *x = call->inputs[0];
    if (t == nullptr) continue;
    if (memcmp(&t->dtype, &x->dtype, sizeof x->dtype) != 0) throw Declined("inputs of several types");
  }
}

/* Call `f` with a value of the type of x's elements; its failures as return codes. */
template <class F>
int32_t with_type(const opproof_call *call, char *message, size_t message_size, F f) {
  try {
    check(call);
    DLDataType type = call->inputs[0]->dtype;
    if (type.code == kDLFloat && type.bits == 64) f(double());
    else if (type.code == kDLFloat && type.bits == 32) f(float());
    else if (type.code == kDLFloat && type.bits == 16) f(Half());
    else if (type.code == kDLBfloat) f(Bfloat());
    else throw Declined("only float64, float32, float16 and bfloat16");
    return OPPROOF_OK;
  } catch (const Declined &reason) {
    snprintf(message, message_size, "%s", reason.what());
    return OPPROOF_UNSUPPORTED;
  } catch (const std::exception &failure) {
    snprintf(message, message_size, "%s", failure.what());
    return OPPROOF_FAILED;
  }
}

int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }

int32_t opproof_forward(const opproof_call *call, int32_t, DLTensor *const *outputs, char *message,
                        size_t message_size) {
  return with_type(call, message, message_size, [&](auto zero) { forward<decltype(zero)>(call, outputs[0]); });
}

int32_t opproof_vjp(const opproof_call *call, int32_t, const DLTensor *const *cotangents, DLTensor *const *gradients,
                    char *message, size_t message_size) {
  return with_type(call, message, message_size, [&](auto zero) { vjp<decltype(zero)>(call, cotangents[0], gradients); });
}
