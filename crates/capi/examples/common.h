/* Helpers of the examples: a check of results, and words into a stream. */
#ifndef AGW_EXAMPLE_COMMON_H
#define AGW_EXAMPLE_COMMON_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <amdgpu_winsys.h>

/* Flags of the kernel's header amdgpu_drm.h. */
#define GTT           2u
#define CPU_ACCESS    1u
#define READ_WRITE    (2u | 4u)

#define TRY(call)                                                                                                      \
   do {                                                                                                                \
      int32_t try_result = (call);                                                                                     \
      if (try_result != AGW_SUCCESS) {                                                                                 \
         fprintf(stderr, "%s: %d, %s (errno %d)\n", #call, try_result, agw_last_error(), agw_last_errno());            \
         exit(1);                                                                                                      \
      }                                                                                                                \
   } while (0)

static inline uint64_t in_seconds(uint64_t seconds)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return ((uint64_t)now.tv_sec + seconds) * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline struct agw_device *open_first(void)
{
   struct agw_device *device;
   TRY(agw_device_open("/dev/dri/renderD128", NULL, &device));
   return device;
}

/* Mapped system memory. */
static inline struct agw_bo *allocate(struct agw_device *device, uint64_t size, void **pointer)
{
   struct agw_bo_request request = {0};
   struct agw_bo *bo;
   request.struct_size = sizeof(request);
   request.size = size;
   request.domains = GTT;
   request.flags = CPU_ACCESS;
   request.va_flags = READ_WRITE;
   TRY(agw_bo_create(device, &request, &bo));
   TRY(agw_bo_map(bo, pointer));
   return bo;
}

static inline void emit(struct agw_stream *stream, const uint32_t *words, uint32_t count)
{
   struct agw_cmd_window *window = agw_stream_window(stream);
   agw_stream_reserve(stream, count);
   for (uint32_t i = 0; i < count; i++)
      window->buf[window->cdw++] = words[i];
}

#endif
