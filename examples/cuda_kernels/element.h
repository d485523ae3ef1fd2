/* element.h: the types of elements, and the type `Real<T>` in which a kernel computes with them. */
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "block.h"

struct Half {
  uint16_t bits;
};

struct Bfloat {
  uint16_t bits;
};

template <class T>
using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;

HD inline uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

HD inline float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

HD inline float load(const float *at) { return *at; }

HD inline double load(const double *at) { return *at; }

HD inline float load(const Bfloat *at) { return float_of(static_cast<uint32_t>(at->bits) << 16); }

HD inline float load(const Half *at) {
  uint32_t sign = (at->bits & 0x8000u) << 16, exponent = (at->bits >> 10) & 31u, fraction = at->bits & 1023u;
  if (exponent == 31) return float_of(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) return (sign ? -1.0f : 1.0f) * static_cast<float>(fraction) * 0x1p-24f;
  return float_of(sign | (exponent + 112) << 23 | fraction << 13);
}

HD inline void store(float *at, float x) { *at = x; }

HD inline void store(double *at, double x) { *at = x; }

/* Half of the distance to the next number that `dropped` fewer bits can hold, or a little less where the
 * one below is even: added to the bits of a float, it makes cutting them off round to nearest even. */
HD inline uint32_t rounding(uint32_t bits, int dropped) { return (1u << (dropped - 1)) - 1 + ((bits >> dropped) & 1); }

HD inline void store(Bfloat *at, float x) {
  uint32_t bits = bits_of(x);
  at->bits = static_cast<uint16_t>((x != x ? bits | 0x400000u : bits + rounding(bits, 16)) >> 16);
}

HD inline void store(Half *at, float x) {
  uint32_t bits = bits_of(x), size = bits & 0x7fffffffu, half;
  if (x != x) {
    half = 0x7e00u;
  } else if (size >= 0x477ff000u) { /* 65520 rounds to infinity */
    half = 0x7c00u;
  } else if (size < 0x38800000u) { /* below 2^-14 the numbers are 2^-24 apart, as floats are above a half */
    half = bits_of(float_of(size) + 0.5f) - bits_of(0.5f);
  } else {
    half = (size + rounding(size, 13) - (112u << 23)) >> 13;
  }
  at->bits = static_cast<uint16_t>(half | (bits >> 16 & 0x8000u));
}
