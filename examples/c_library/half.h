/* half.h: float16 and bfloat16 to float and back, rounded to nearest, ties to even. */
#ifndef HALF_H
#define HALF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float from_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline float bfloat_to_float(uint16_t b) { return from_bits((uint32_t)b << 16); }

static inline uint16_t float_to_bfloat(float x) {
  uint32_t bits = bits_of(x);
  if (isnan(x)) return (uint16_t)(bits >> 16 | 0x40); /* quiet, whatever the payload */
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float half_to_float(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023;
  if (exponent == 31) return from_bits(sign | 0x7f800000 | fraction << 13);
  if (exponent == 0) { /* subnormal: fraction * 2^-24 */
    float magnitude = (float)fraction * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

static inline uint16_t float_to_half(float x) {
  uint16_t sign = (uint16_t)(bits_of(x) >> 16 & 0x8000);
  float magnitude = fabsf(x);
  if (isnan(x)) return sign | 0x7e00;
  if (magnitude >= 65520.0f) return sign | 0x7c00; /* halfway past the largest, 65504 */
  if (magnitude < 0x1p-14f) return sign | (uint16_t)rintf(magnitude * 0x1p24f); /* subnormal */
  uint32_t bits = bits_of(magnitude) - (112u << 23);
  return sign | (uint16_t)((bits + 0xfff + (bits >> 13 & 1)) >> 13);
}

#endif
