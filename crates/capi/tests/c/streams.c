/* Streams that execute, call, chain and detour, on graphics and compute rings, and queues that are shared and given up. */
#include "check.h"
#include "common.h"

#include <string.h>

static struct agw_device *device;
static struct agw_bo *bo;
static volatile uint32_t *words;

/* Records a store of `value` to the word with index `word`. */
static void store(struct agw_stream *stream, uint32_t word, uint32_t value)
{
   const uint64_t va = agw_bo_head(bo)->va + 4 * word;
   const uint32_t packet[] = {0xc0033700u, (5u << 8) | (1u << 20), (uint32_t)va, (uint32_t)(va >> 32), value};
   emit(stream, packet, 5);
   TRY(agw_stream_add_bo(stream, bo));
}

static struct agw_stream *start(uint32_t ip, uint32_t flags)
{
   struct agw_stream *stream;
   TRY(agw_stream_create(device, ip, flags, 64, &stream));
   CHECK(agw_stream_ip(stream) == ip && agw_stream_head(stream)->window.cdw == 0);
   return stream;
}

static void run(struct agw_queue *queue, const struct agw_stream *stream)
{
   struct agw_submission submission = {0};
   submission.struct_size = sizeof(submission);
   submission.streams = &stream;
   submission.stream_count = 1;
   TRY(agw_queue_submit(queue, &submission, NULL));
   TRY(agw_queue_wait_idle(queue, in_seconds(60)));
   TRY(agw_queue_check(queue));
}

static void check_and_clear(uint32_t count)
{
   for (uint32_t i = 0; i < count; i++) {
      CHECK(words[i] == 100 + i);
      words[i] = 0;
   }
   CHECK(words[count] == 0);
}

int main(void)
{
   struct agw_ctx *ctx;
   struct agw_queue *gfx, *compute;
   struct agw_sparse *range;
   void *pointer;
   device = open_first();
   bo = allocate(device, 65536, &pointer);
   words = pointer;
   TRY(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &ctx));
   TRY(agw_queue_create(ctx, AGW_IP_GFX, 0, &gfx));
   TRY(agw_queue_create(ctx, AGW_IP_COMPUTE, 0, &compute));
   TRY(agw_sparse_create(device, 1u << 20, 0, 0, 0, &range));
   CHECK(agw_queue_ref(gfx) == gfx);
   agw_queue_unref(gfx);

   /* A secondary that is called and one that is copied, a text, and a growth. */
   struct agw_stream *child = start(AGW_IP_GFX, AGW_STREAM_SECONDARY), *main_stream = start(AGW_IP_GFX, 0);
   store(child, 0, 100);
   TRY(agw_stream_finalize(child));
   TRY(agw_stream_annotate(main_stream, "begins"));
   TRY(agw_stream_execute(main_stream, child, 0));
   agw_stream_grow(main_stream, 4096);
   store(main_stream, 1, 101);
   TRY(agw_stream_add_sparse(main_stream, range));
   TRY(agw_stream_pad(main_stream, 0));
   TRY(agw_stream_finalize(main_stream));
   run(gfx, main_stream);
   check_and_clear(2);
   TRY(agw_stream_reset(main_stream));
   TRY(agw_stream_execute(main_stream, child, AGW_EXECUTE_COPY));
   TRY(agw_stream_finalize(main_stream));
   run(gfx, main_stream);
   check_and_clear(1);

   /* An IB of the caller's that is called by its address, and on a compute ring detoured to, with room for the jump back. */
   const uint64_t ib = agw_bo_head(bo)->va + 32768, target = agw_bo_head(bo)->va;
   const uint32_t packet[] = {0xc0033700u, (5u << 8) | (1u << 20), (uint32_t)target, (uint32_t)(target >> 32), 100};
   for (int i = 0; i < 16; i++)
      words[8192 + i] = i < 5 ? packet[i] : 0xffff1000u;
   TRY(agw_stream_reset(main_stream));
   TRY(agw_stream_call(main_stream, ib, 16, false));
   TRY(agw_stream_add_bo(main_stream, bo));
   store(main_stream, 1, 101);
   TRY(agw_stream_finalize(main_stream));
   run(gfx, main_stream);
   check_and_clear(2);
   struct agw_stream *away = start(AGW_IP_COMPUTE, 0);
   TRY(agw_stream_detour(away, ib, 16, ib + 12 * 4));
   TRY(agw_stream_add_bo(away, bo));
   store(away, 1, 101);
   TRY(agw_stream_finalize(away));
   run(compute, away);
   check_and_clear(2);

   /* Two streams in a chain, whichever way, and apart again. */
   struct agw_stream *first = start(AGW_IP_GFX, 0), *second = start(AGW_IP_GFX, 0);
   store(first, 0, 100);
   store(second, 1, 101);
   TRY(agw_stream_finalize(first));
   TRY(agw_stream_finalize(second));
   CHECK(agw_stream_chain(first, second));
   run(gfx, first);
   check_and_clear(2);
   TRY(agw_stream_unchain(first));
   CHECK(agw_stream_chain_replayed(first, second));
   TRY(agw_queue_retire(gfx));
   TRY(agw_stream_unchain(first));
   run(gfx, first);
   check_and_clear(1);

   struct agw_stream *const all[] = {child, main_stream, away, first, second};
   for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
      agw_stream_destroy(all[i]);
   agw_queue_abandon(gfx);
   agw_queue_unref(compute);
   agw_sparse_unref(range);
   agw_ctx_unref(ctx);
   agw_bo_unref(bo);
   agw_device_unref(device);
   printf("streams: executed, called, detoured to and chained\n");
   return 0;
}
