/* Checks whether a model of so many bytes fits on a GPU, as a model loader would before it loads.
 * usage: model_fits BYTES [ROOT]   ends with 0 if it fits on one, 1 if not, 69 if there is no GPU */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "amdgpu_pool.h"

static const char *const verdicts[] = {"TooMuch", "Fits", "Spills", "Unknown"};

int main(int argc, char **argv)
{
   if (argc < 2) {
      fprintf(stderr, "usage: model_fits BYTES [ROOT]\n");
      return 64;
   }
   struct amdgpu_pool *pool = NULL;
   char message[256];
   if (amdgpu_pool_look(argc > 2 ? argv[2] : NULL, 0, &pool, message, sizeof message) != AMDGPU_POOL_OK) {
      fprintf(stderr, "%s\n", message);
      return 69;
   }
   int fits = 0;
   for (size_t i = 0; i < amdgpu_pool_count(pool); i++) {
      struct amdgpu_pool_gpu gpu = {.struct_size = sizeof gpu};
      struct amdgpu_pool_fit fit = {.struct_size = sizeof fit};
      if (amdgpu_pool_gpu(pool, i, &gpu) != AMDGPU_POOL_OK ||
          amdgpu_pool_fits(pool, i, strtoull(argv[1], NULL, 10), &fit) != AMDGPU_POOL_OK) {
         continue;
      }
      fits |= fit.verdict == AMDGPU_POOL_FITS;
      printf("%s available ", gpu.pci);
      if (gpu.available == AMDGPU_POOL_UNKNOWN) {
         printf("unknown");
      } else {
         printf("%" PRIu64, gpu.available);
      }
      printf(" verdict %s: %s\n", verdicts[fit.verdict], fit.reason);
      if (fit.own_memory > 0) {
         printf("  %s %" PRIu64 "\n", gpu.kind == AMDGPU_POOL_KIND_APU ? "carve-out" : "VRAM", fit.own_memory);
      }
      if (fit.system_memory > 0) {
         printf("  GTT %" PRIu64 "\n", fit.system_memory);
      }
   }
   amdgpu_pool_free(pool);
   return fits ? 0 : 1;
}
