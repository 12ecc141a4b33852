/* Stores a word by a user queue where the GPU and the kernel have them, and by a queue of the kernel elsewhere. */
#include "common.h"

int main(void)
{
   struct agw_device *device = open_first();
   struct agw_ctx *ctx;
   struct agw_queue *queue;
   struct agw_stream *stream;
   struct agw_sync *done;
   void *pointer;
   TRY(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &ctx));
   const int32_t result = agw_queue_create_user(ctx, AGW_IP_GFX, &queue);
   if (result == AGW_ERROR_FEATURE_NOT_PRESENT)
      TRY(agw_queue_create(ctx, AGW_IP_GFX, 0, &queue));
   else
      TRY(result);
   printf("%s: %s\n", agw_device_name(device), result == AGW_SUCCESS ? "a user queue" : "a queue of the kernel");

   /* From here on both kinds are the same. */
   struct agw_bo *bo = allocate(device, 4096, &pointer);
   const volatile uint32_t *words = pointer;
   TRY(agw_stream_create(device, AGW_IP_GFX, 0, 256, &stream));
   TRY(agw_sync_create(device, false, &done));
   const uint64_t va = agw_bo_head(bo)->va;
   const uint32_t store[] = {0xc0033700u, (5u << 8) | (1u << 20), (uint32_t)va, (uint32_t)(va >> 32), 42};
   emit(stream, store, 5);
   TRY(agw_stream_add_bo(stream, bo));
   TRY(agw_stream_finalize(stream));

   const struct agw_sync_point point = {done, 1};
   const struct agw_stream *streams[] = {stream};
   struct agw_submission submission = {0};
   submission.struct_size = sizeof(submission);
   submission.streams = streams;
   submission.stream_count = 1;
   submission.signals = &point;
   submission.signal_count = 1;
   TRY(agw_queue_submit(queue, &submission, NULL));
   TRY(agw_sync_wait(&point, 1, 0, in_seconds(60)));
   printf("the GPU stored %u\n", words[0]);
   const int is_right = words[0] == 42;

   agw_queue_unref(queue);
   agw_stream_destroy(stream);
   agw_bo_unref(bo);
   agw_sync_destroy(done);
   agw_ctx_unref(ctx);
   agw_device_unref(device);
   return is_right ? 0 : 1;
}
