/* Prints every figure of every GPU, a line each, for the comparison with the other languages and the program. */
#include <inttypes.h>
#include <stdio.h>

#include "amdgpu_pool.h"

static void line(const char *name, uint64_t bytes)
{
   if (bytes == AMDGPU_POOL_UNKNOWN) {
      printf("%s null\n", name);
   } else {
      printf("%s %" PRIu64 "\n", name, bytes);
   }
}

int main(void)
{
   struct amdgpu_pool *pool = NULL;
   char message[256];
   if (amdgpu_pool_look(NULL, 0, &pool, message, sizeof message) != AMDGPU_POOL_OK) {
      fprintf(stderr, "%s\n", message);
      return 69;
   }
   for (size_t i = 0; i < amdgpu_pool_count(pool); i++) {
      struct amdgpu_pool_gpu gpu = {.struct_size = sizeof gpu};
      if (amdgpu_pool_gpu(pool, i, &gpu) != AMDGPU_POOL_OK) {
         return 1;
      }
      printf("pci %s\nkind %" PRIu32 "\nlimited_by %s\n", gpu.pci, gpu.kind, gpu.limited_by);
      line("vram.total", gpu.vram_total);
      line("vram.usable", gpu.vram_usable);
      line("vram.used", gpu.vram_used);
      line("visible_vram.total", gpu.visible_vram_total);
      line("visible_vram.used", gpu.visible_vram_used);
      line("gtt.total", gpu.gtt_total);
      line("gtt.usable", gpu.gtt_usable);
      line("gtt.used", gpu.gtt_used);
      line("total", gpu.total);
      line("available", gpu.available);
      line("largest_now", gpu.largest_now);
      line("largest_accepted", gpu.largest_accepted);
      for (size_t j = 0; j < gpu.heaps; j++) {
         struct amdgpu_pool_heap heap = {.struct_size = sizeof heap};
         if (amdgpu_pool_heap(pool, i, j, &heap) != AMDGPU_POOL_OK) {
            return 1;
         }
         printf("heap %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", heap.kind, heap.size, heap.budget, heap.usage);
      }
      for (size_t j = 0; j < gpu.limits; j++) {
         struct amdgpu_pool_limit limit = {.struct_size = sizeof limit};
         if (amdgpu_pool_limit(pool, i, j, &limit) != AMDGPU_POOL_OK || limit.why[0] == '\0' || limit.source[0] == '\0') {
            return 1;
         }
         printf("limit %s %" PRIu32 "\n", limit.name, limit.state);
      }
      for (size_t j = 0; j < gpu.missing; j++) {
         const char *source, *reason;
         if (amdgpu_pool_missing(pool, i, j, &source, &reason) != AMDGPU_POOL_OK) {
            return 1;
         }
         printf("missing %s: %s\n", source, reason);
      }
   }
   amdgpu_pool_free(pool);
   return 0;
}
