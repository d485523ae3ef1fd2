/* cuda.cu: the kernels on an NVIDIA GPU.
 *
 *     nvcc -std=c++17 -O2 -shared -Xcompiler -fPIC -I../../backends -o libopproof_cuda.so cuda.cu
 */
#include <cuda_runtime.h>

#include <string>

#include "library.h"

static void must(cudaError_t code, const char *what) {
  if (code != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code));
}

template <class Kernel>
__global__ void run(const Kernel kernel) {
  kernel(Block{static_cast<int64_t>(blockIdx.x)});
}

template <class Kernel>
void launch(int64_t blocks, const Kernel &kernel) {
  if (blocks == 0) return;
  if (blocks > INT32_MAX) throw Declined("more blocks than a grid has");
  run<<<static_cast<unsigned>(blocks), THREADS>>>(kernel);
  must(cudaGetLastError(), "launch");
  must(cudaDeviceSynchronize(), "kernel");
}

void *device_alloc(size_t bytes) {
  void *memory = nullptr;
  must(cudaMalloc(&memory, bytes), "cudaMalloc");
  return memory;
}

void device_free(void *memory) { cudaFree(memory); }

static int32_t answer(cudaError_t code, char *message, size_t message_size) {
  if (code == cudaSuccess) return OPPROOF_OK;
  snprintf(message, message_size, "%s", cudaGetErrorString(code));
  return OPPROOF_FAILED;
}

int32_t opproof_device_type(void) { return kDLCUDA; }

int32_t opproof_alloc(size_t bytes, void **memory, char *message, size_t message_size) {
  return answer(cudaMalloc(memory, bytes), message, message_size);
}

int32_t opproof_free(void *memory, char *message, size_t message_size) {
  return answer(cudaFree(memory), message, message_size);
}

int32_t opproof_copy(void *dst, const void *src, size_t bytes, int32_t direction, char *message, size_t message_size) {
  cudaMemcpyKind kind = direction == OPPROOF_TO_DEVICE ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  return answer(cudaMemcpy(dst, src, bytes, kind), message, message_size);
}

int32_t opproof_init(char *message, size_t message_size) {
  int count = 0;
  cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaSuccess && count > 0) return OPPROOF_OK;
  snprintf(message, message_size, "no CUDA device is on this machine (%s)",
           code == cudaSuccess ? "none was counted" : cudaGetErrorString(code));
  return OPPROOF_FAILED;
}

const char *opproof_name(void) { return "cuda_kernels"; }

const char *opproof_device(void) {
  static cudaDeviceProp properties;
  return cudaGetDeviceProperties(&properties, 0) == cudaSuccess ? properties.name : "cuda";
}
