// VMA itself, for Linux.
#define VMA_IMPLEMENTATION
#define VMA_EXTERNAL_MEMORY_WIN32 0
#include <cstdio>
#include <vulkan/vulkan.h>

#include "vk_mem_alloc.h"
