/* Records a store for the graphics ring, submits it, and waits for a point of a timeline. */
#include "common.h"

int main(void)
{
   struct agw_device *device = open_first();
   struct agw_device_info info = {0};
   info.struct_size = sizeof(info);
   TRY(agw_device_get_info(device, &info));
   printf("%s: %llu MiB of VRAM, amdgpu %u.%u\n", agw_device_name(device), (unsigned long long)(info.vram >> 20),
          info.drm_major, info.drm_minor);

   void *pointer;
   struct agw_bo *bo = allocate(device, 4096, &pointer);
   volatile uint32_t *words = pointer;

   struct agw_ctx *ctx;
   struct agw_queue *queue;
   struct agw_stream *stream;
   struct agw_sync *timeline;
   TRY(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &ctx));
   TRY(agw_queue_create(ctx, AGW_IP_GFX, 0, &queue));
   TRY(agw_stream_create(device, AGW_IP_GFX, 0, 256, &stream));
   TRY(agw_sync_create(device, false, &timeline));

   for (uint32_t round = 1; round <= 3; round++) {
      /* WRITE_DATA to memory, confirmed. */
      const uint64_t va = agw_bo_head(bo)->va;
      const uint32_t store[] = {0xc0033700u, (5u << 8) | (1u << 20), (uint32_t)va, (uint32_t)(va >> 32), 40 + round};
      emit(stream, store, 5);
      TRY(agw_stream_add_bo(stream, bo));
      TRY(agw_stream_finalize(stream));

      const struct agw_sync_point point = {timeline, round};
      const struct agw_stream *streams[] = {stream};
      struct agw_submission submission = {0};
      submission.struct_size = sizeof(submission);
      submission.streams = streams;
      submission.stream_count = 1;
      submission.signals = &point;
      submission.signal_count = 1;
      submission.keep = AGW_SUBMIT_KEEP_NOTHING;
      TRY(agw_queue_submit(queue, &submission, NULL));
      TRY(agw_sync_wait(&point, 1, 0, in_seconds(60)));
      TRY(agw_queue_check(queue));
      printf("point %u: the GPU stored %u\n", round, words[0]);
      if (words[0] != 40 + round)
         return 1;
      TRY(agw_stream_reset(stream));
   }

   /* In any order. */
   agw_device_unref(device);
   agw_stream_destroy(stream);
   agw_bo_unref(bo);
   agw_sync_destroy(timeline);
   agw_ctx_unref(ctx);
   agw_queue_unref(queue);
   return 0;
}
