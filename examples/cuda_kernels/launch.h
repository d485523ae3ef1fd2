/* launch.h: what the kernels need of the device they run on; cuda.cu and host.cpp define it. */
#pragma once

#include <cstddef>

#include "block.h"

/* Run `kernel` for blocks 0 to `blocks` - 1 and wait; throws std::runtime_error. */
template <class Kernel>
void launch(int64_t blocks, const Kernel &kernel);

/* Memory of the device; throws std::bad_alloc or std::runtime_error. */
void *device_alloc(size_t bytes);
void device_free(void *memory);
