/* host.cpp: the same kernels without a GPU, block by block and thread by thread on the CPU.
 *
 *     g++ -std=c++17 -O2 -shared -fPIC -I../../backends -o libopproof_host.so host.cpp
 */
#include <cstdlib>
#include <string>

#include "library.h"

template <class Kernel>
void launch(int64_t blocks, const Kernel &kernel) {
  for (int64_t i = 0; i < blocks; ++i) kernel(Block{i});
}

void *device_alloc(size_t bytes) {
  void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256); /* as cudaMalloc aligns */
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void device_free(void *memory) { std::free(memory); }

int32_t opproof_device_type(void) { return kDLExtDev; }

int32_t opproof_alloc(size_t bytes, void **memory, char *message, size_t message_size) {
  try {
    *memory = device_alloc(bytes);
    return OPPROOF_OK;
  } catch (const std::bad_alloc &) {
    snprintf(message, message_size, "no memory left");
    return OPPROOF_FAILED;
  }
}

int32_t opproof_free(void *memory, char *, size_t) {
  device_free(memory);
  return OPPROOF_OK;
}

int32_t opproof_copy(void *dst, const void *src, size_t bytes, int32_t, char *, size_t) {
  memcpy(dst, src, bytes);
  return OPPROOF_OK;
}

const char *opproof_name(void) { return "cuda_kernels on the CPU"; }

const char *opproof_device(void) { return "cpu, thread by thread"; }
