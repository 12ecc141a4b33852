/* Copies between two BOs with the copy engine of a GFX10.3 chip. */
#include "common.h"

#define BYTES 65536u

int main(void)
{
   struct agw_device *device = open_first();
   void *from_pointer, *to_pointer;
   struct agw_bo *from = allocate(device, BYTES, &from_pointer), *to = allocate(device, BYTES, &to_pointer);
   uint32_t *source = from_pointer;
   volatile uint32_t *target = to_pointer;
   for (uint32_t i = 0; i < BYTES / 4; i++)
      source[i] = i * 2654435761u;

   struct agw_ctx *ctx;
   struct agw_queue *queue;
   struct agw_stream *stream;
   struct agw_sync *done;
   TRY(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &ctx));
   TRY(agw_queue_create(ctx, AGW_IP_SDMA, 0, &queue));
   TRY(agw_stream_create(device, AGW_IP_SDMA, 0, 64, &stream));
   TRY(agw_sync_create(device, false, &done));

   /* COPY_LINEAR of SDMA 5: header, bytes less one, parameters, source, destination. */
   const uint64_t src = agw_bo_head(from)->va, dst = agw_bo_head(to)->va;
   const uint32_t copy[] = {1u, BYTES - 1u, 0u, (uint32_t)src, (uint32_t)(src >> 32), (uint32_t)dst, (uint32_t)(dst >> 32)};
   emit(stream, copy, 7);
   TRY(agw_stream_finalize(stream));

   const struct agw_stream *streams[] = {stream};
   const struct agw_bo *bos[] = {from, to};
   const struct agw_sync_point point = {done, 0};
   struct agw_submission submission = {0};
   submission.struct_size = sizeof(submission);
   submission.streams = streams;
   submission.stream_count = 1;
   submission.bos = bos;
   submission.bo_count = 2;
   submission.signals = &point;
   submission.signal_count = 1;
   TRY(agw_queue_submit(queue, &submission, NULL));
   TRY(agw_sync_wait(&point, 1, 0, in_seconds(60)));

   for (uint32_t i = 0; i < BYTES / 4; i++) {
      if (target[i] != i * 2654435761u) {
         fprintf(stderr, "word %u is %#x\n", i, target[i]);
         return 1;
      }
   }
   printf("copied %u bytes\n", BYTES);

   agw_queue_unref(queue);
   agw_stream_destroy(stream);
   agw_sync_destroy(done);
   agw_ctx_unref(ctx);
   agw_bo_unref(from);
   agw_bo_unref(to);
   agw_device_unref(device);
   return 0;
}
