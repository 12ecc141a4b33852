/* Four threads on one device, and on a second one of the same node: each function that any thread may call is called by all of
 * them at once, on objects that they share and on their own. */
#define _POSIX_C_SOURCE 200809L

#include "common.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS  40

static struct agw_device *device, *other;
static struct agw_queue *shared_queue;
static struct agw_bo *shared_bo;
static struct agw_residents *shared_set;
static struct agw_memory_manager *manager;
static struct agw_sync *shared_timeline;
static pthread_barrier_t together;

#define CHECK(condition)                                                                                               \
   do {                                                                                                                \
      if (!(condition)) {                                                                                              \
         fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                                       \
         exit(1);                                                                                                      \
      }                                                                                                                \
   } while (0)

/* Has the GPU store a word, and waits for it. */
static void store(struct agw_queue *queue, struct agw_stream *stream, struct agw_bo *bo, uint32_t word, uint32_t value,
                  struct agw_sync *timeline, uint64_t point_value)
{
   const uint64_t va = agw_bo_head(bo)->va + 4 * word;
   const uint32_t words[] = {0xc0033700u, (5u << 8) | (1u << 20), (uint32_t)va, (uint32_t)(va >> 32), value};
   emit(stream, words, 5);
   TRY(agw_stream_add_bo(stream, bo));
   TRY(agw_stream_finalize(stream));
   const struct agw_sync_point point = {timeline, point_value};
   const struct agw_stream *streams[] = {stream};
   const struct agw_residents *sets[] = {shared_set};
   struct agw_submission submission = {0};
   submission.struct_size = sizeof(submission);
   submission.streams = streams;
   submission.stream_count = 1;
   submission.sets = sets;
   submission.set_count = 1;
   submission.signals = &point;
   submission.signal_count = 1;
   submission.keep = AGW_SUBMIT_KEEP_EVERYTHING;
   uint64_t sequence = 0;
   TRY(agw_queue_submit(queue, &submission, &sequence));
   CHECK(sequence > 0);
   TRY(agw_sync_wait(&point, 1, 0, in_seconds(60)));
}

/* The last error is the thread's own: each thread asks for another impossible number of bytes. */
static void fail_alone(uint64_t thread)
{
   struct agw_bo_request request = {0};
   struct agw_bo *none = NULL;
   char number[32];
   request.struct_size = sizeof(request);
   request.size = (1ull << 52) + thread * 4096;
   request.domains = GTT;
   CHECK(agw_bo_create(device, &request, &none) == AGW_ERROR_OUT_OF_DEVICE_MEMORY && !none);
   snprintf(number, sizeof(number), "%llx", (unsigned long long)request.size);
   CHECK(strstr(agw_last_error(), number));
}

static void *work(void *argument)
{
   const uint32_t thread = (uint32_t)(uintptr_t)argument;
   struct agw_ctx *ctx;
   struct agw_queue *queue;
   struct agw_stream *stream;
   struct agw_sync *timeline;
   void *shared_words;
   agw_device_ref(device);
   TRY(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &ctx));
   TRY(agw_queue_create(ctx, AGW_IP_GFX, 0, &queue));
   TRY(agw_stream_create(device, AGW_IP_GFX, 0, 64, &stream));
   TRY(agw_sync_create(device, false, &timeline));
   TRY(agw_bo_map(shared_bo, &shared_words));
   pthread_barrier_wait(&together);

   for (uint32_t round = 1; round <= ROUNDS; round++) {
      void *pointer;
      struct agw_bo *bo = allocate(device, 4096 * (1 + (round + thread) % 5), &pointer);
      agw_bo_ref(shared_bo);
      TRY(agw_residents_add(shared_set, bo));
      /* On a queue of its own, and on the one that all share. */
      store(queue, stream, bo, 0, round, timeline, round);
      CHECK(*(volatile uint32_t *)pointer == round);
      TRY(agw_stream_reset(stream));
      store(shared_queue, stream, shared_bo, thread, round << 8 | thread, timeline, ROUNDS + round);
      CHECK(((volatile uint32_t *)shared_words)[thread] == (round << 8 | thread));
      TRY(agw_queue_check(shared_queue));
      TRY(agw_queue_retire(shared_queue));
      TRY(agw_stream_reset(stream));
      TRY(agw_sync_signal(timeline, 2 * ROUNDS + round));
      uint64_t reached, bytes;
      TRY(agw_sync_query(shared_timeline, &reached));
      TRY(agw_device_query(device, AGW_QUERY_OWN_GTT, &bytes));
      CHECK(bytes >= 4096);

      /* From one device to the other, and back as the same memory. */
      int fd;
      struct agw_bo *theirs;
      void *seen;
      TRY(agw_bo_export(bo, &fd));
      TRY(agw_bo_import(other, fd, 0, 0, &theirs));
      TRY(agw_bo_map(theirs, &seen));
      CHECK(*(volatile uint32_t *)seen == round);
      agw_bo_unref(theirs);
      close(fd);

      struct agw_memory_request request = {0};
      struct agw_memory *memory;
      request.struct_size = sizeof(request);
      request.size = 65536;
      request.priority = 0.5f;
      TRY(agw_memory_allocate(manager, &request, &memory));
      agw_memory_unref(memory);
      struct agw_heap_budget budgets[4];
      uint32_t count = 4;
      TRY(agw_memory_manager_get_budgets(manager, AGW_BUDGET_FRESH, budgets, &count));
      fail_alone(thread);
      TRY(agw_residents_remove(shared_set, bo));
      agw_bo_unref(bo);
      agw_bo_unref(shared_bo);
   }
   agw_stream_destroy(stream);
   agw_queue_unref(queue);
   agw_ctx_unref(ctx);
   agw_sync_destroy(timeline);
   agw_device_unref(device);
   return NULL;
}

/* What the device's own BOs take, all kinds together. */
static uint64_t own_bytes(void)
{
   uint64_t sum = 0;
   for (uint32_t kind = AGW_QUERY_OWN_INVISIBLE_VRAM; kind <= AGW_QUERY_OWN_GTT; kind++) {
      uint64_t bytes;
      TRY(agw_device_query(device, kind, &bytes));
      sum += bytes;
   }
   return sum;
}

int main(void)
{
   pthread_t threads[THREADS];
   struct agw_ctx *ctx;
   void *pointer;
   device = open_first();
   other = open_first();
   const uint64_t before = own_bytes();
   TRY(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &ctx));
   TRY(agw_queue_create(ctx, AGW_IP_GFX, 0, &shared_queue));
   TRY(agw_residents_create(device, &shared_set));
   TRY(agw_sync_create(device, false, &shared_timeline));
   TRY(agw_memory_manager_create(device, NULL, &manager));
   shared_bo = allocate(device, 4096, &pointer);
   TRY(agw_residents_add(shared_set, shared_bo));
   CHECK(pthread_barrier_init(&together, NULL, THREADS) == 0);
   for (uintptr_t thread = 0; thread < THREADS; thread++)
      CHECK(pthread_create(&threads[thread], NULL, work, (void *)thread) == 0);
   for (int thread = 0; thread < THREADS; thread++)
      CHECK(pthread_join(threads[thread], NULL) == 0);
   for (uint32_t thread = 0; thread < THREADS; thread++)
      CHECK(((volatile uint32_t *)pointer)[thread] == ((uint32_t)ROUNDS << 8 | thread));
   TRY(agw_queue_wait_idle(shared_queue, in_seconds(60)));
   agw_residents_unref(shared_set);
   agw_queue_unref(shared_queue);
   agw_ctx_unref(ctx);
   agw_bo_unref(shared_bo);
   agw_sync_destroy(shared_timeline);
   agw_memory_manager_unref(manager);
   CHECK(own_bytes() == before);
   agw_device_unref(other);
   agw_device_unref(device);
   printf("%d threads, %d rounds each, on two devices: nothing lost, nothing left\n", THREADS, ROUNDS);
   return 0;
}
