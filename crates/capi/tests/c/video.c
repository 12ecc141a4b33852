/* The decoder's ring of a chip with video engines: commands in memory of the caller's, a picture, a point that is waited for and one
 * that is signalled, an end that the kernel is asked for. And the facts that came with later versions of the structure. */
#define _POSIX_C_SOURCE 200809L

#include "common.h"

#include <stddef.h>
#include <string.h>

#define ROUNDS 20

#define CHECK(condition)                                                                                               \
   do {                                                                                                                \
      if (!(condition)) {                                                                                              \
         fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                                       \
         exit(1);                                                                                                      \
      }                                                                                                                \
   } while (0)

/* A caller who was compiled with the first version of the header is told no more than it has room for. */
static void facts(const struct agw_device *device)
{
   struct agw_device_info info, first;
   bool is_answered = false;
   memset(&info, 0xff, sizeof(info));
   memset(&first, 0xff, sizeof(first));
   info.struct_size = sizeof(info);
   first.struct_size = offsetof(struct agw_device_info, vector_cache);
   TRY(agw_device_get_info(device, &info));
   TRY(agw_device_get_info(device, &first));
   CHECK(first.vram == info.vram && first.vector_cache == UINT64_MAX && first.device_answer == UINT32_MAX);
   CHECK(info.vector_cache >= 16384 && info.l2_cache >= info.vector_cache && info.max_shader_clock > 0);
   CHECK(info.rings[AGW_IP_VCN_DEC] > 0 && info.rings[AGW_IP_UVD] == 0);
   TRY(agw_device_answered(device, "mall_size", &is_answered));
   CHECK(is_answered && info.device_answer > 0);
   TRY(agw_device_answered(device, "no_such_field", &is_answered));
   CHECK(!is_answered);
}

static uint64_t own_gtt(const struct agw_device *device)
{
   uint64_t bytes;
   TRY(agw_device_query(device, AGW_QUERY_OWN_GTT, &bytes));
   return bytes;
}

/* Commands recorded through the window of a stream, more than fit at first, and submitted by a queue of the decoder's ring; then a
 * submission without commands. */
static void streams(struct agw_device *device)
{
   struct agw_ctx *ctx;
   struct agw_queue *queue;
   struct agw_stream *stream;
   struct agw_sync *done;
   TRY(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &ctx));
   TRY(agw_queue_create(ctx, AGW_IP_VCN_DEC, 0, &queue));
   TRY(agw_stream_create(device, AGW_IP_VCN_DEC, 0, 64, &stream));
   TRY(agw_sync_create(device, false, &done));
   for (uint32_t round = 1; round <= ROUNDS; round++) {
      struct agw_cmd_window *window = agw_stream_window(stream);
      for (uint32_t i = 0; i < 1000 * round; i++) {
         agw_stream_reserve(stream, 2);
         window->buf[window->cdw++] = 0x81ff;
         window->buf[window->cdw++] = i;
      }
      window->buf[1] = 7;
      TRY(agw_stream_finalize(stream));
      struct agw_ib ib;
      uint32_t count = 1, words[4];
      TRY(agw_stream_ibs(stream, &ib, &count));
      CHECK(count == 1 && ib.dwords >= 2000 * round && ib.dwords % 16 == 0);
      TRY(agw_stream_read(stream, 0, words, 4));
      CHECK(words[0] == 0x81ff && words[1] == 7 && words[3] == 1);

      const struct agw_stream *recorded[] = {stream};
      const struct agw_sync_point signal = {done, 2 * round - 1}, last = {done, 2 * round};
      struct agw_submission submission = {.struct_size = sizeof(submission), .keep = AGW_SUBMIT_KEEP_NOTHING};
      submission.signals = &signal;
      submission.signal_count = 1;
      submission.streams = recorded;
      submission.stream_count = 1;
      TRY(agw_queue_submit(queue, &submission, NULL));
      submission.waits = &signal;
      submission.wait_count = 1;
      submission.signals = &last;
      submission.stream_count = 0;
      TRY(agw_queue_submit(queue, &submission, NULL));
      TRY(agw_sync_wait(&last, 1, 0, in_seconds(60)));
      TRY(agw_stream_reset(stream));
      CHECK(window->cdw == 0);
   }
   TRY(agw_queue_wait_idle(queue, in_seconds(60)));
   agw_stream_destroy(stream);
   agw_queue_unref(queue);
   agw_ctx_unref(ctx);
   agw_sync_destroy(done);
}

int main(void)
{
   struct agw_device *device = open_first();
   struct agw_ctx *ctx;
   struct agw_video_queue *queue, *second = NULL;
   struct agw_sync *waited, *signalled;
   facts(device);
   streams(device);
   TRY(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &ctx));
   TRY(agw_video_queue_create(ctx, AGW_IP_VCN_DEC, 0, &queue));
   CHECK(agw_video_queue_create(ctx, AGW_IP_VCN_DEC, 0, &second) == AGW_ERROR_IN_USE && !second);
   CHECK(agw_video_queue_create(ctx, AGW_IP_GFX, 0, &second) == AGW_ERROR_FEATURE_NOT_PRESENT && !second);
   TRY(agw_sync_create(device, false, &waited));
   TRY(agw_sync_create(device, false, &signalled));
   const uint64_t before = own_gtt(device);

   uint64_t last = 0;
   for (uint32_t round = 1; round <= ROUNDS; round++) {
      void *pointer, *pixels;
      struct agw_bo *commands = allocate(device, 4096, &pointer);
      struct agw_bo *picture = allocate(device, 65536, &pixels);
      /* A NOP, and fillers up to what the engine reads in whole. */
      uint32_t *words = pointer, count = 64;
      words[0] = 0x81ff;
      words[1] = 0;
      TRY(agw_video_queue_padding(queue, 2, words + 2, &count));

      const struct agw_video_ib ib = {commands, 0, 2 + count, 0};
      const struct agw_bo *bos[] = {picture};
      const struct agw_sync_point wait = {waited, round}, signal = {signalled, round};
      struct agw_video_submission submission = {0};
      submission.struct_size = sizeof(submission);
      submission.ibs = &ib;
      submission.ib_count = 1;
      submission.bos = bos;
      submission.bo_count = 1;
      submission.waits = &wait;
      submission.wait_count = 1;
      submission.signals = &signal;
      submission.signal_count = 1;
      TRY(agw_sync_signal(waited, round));
      TRY(agw_video_queue_submit(queue, &submission, &last));
      CHECK(last == round);
      /* The queue has both until it has noticed the end, which may be now. */
      agw_bo_unref(commands);
      agw_bo_unref(picture);
      TRY(agw_sync_wait(&signal, 1, 0, in_seconds(60)));
      if (round % 2)
         TRY(agw_video_queue_wait(queue, last, in_seconds(60)));
      else
         TRY(agw_video_queue_retire(queue));
      CHECK(own_gtt(device) == before);
   }

   agw_ctx_unref(ctx);
   agw_sync_destroy(waited);
   CHECK(agw_video_queue_ref(queue) == queue);
   agw_video_queue_unref(queue);
   agw_video_queue_unref(queue);
   agw_sync_destroy(signalled);
   agw_device_unref(device);
   printf("%llu submissions to a decoder: each has ended, nothing left\n", (unsigned long long)last);
   return 0;
}
