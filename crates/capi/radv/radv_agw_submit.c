/* Contexts and submissions. */

#include "radv_agw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/os_time.h"
#include "vk_util.h"
#include "vk_sync_dummy.h"

static inline struct radv_agw_ctx *
radv_agw_ctx(struct radeon_winsys_ctx *ctx)
{
   return (struct radv_agw_ctx *)ctx;
}

static VkResult
radv_agw_ctx_create(struct radeon_winsys *rws, enum radeon_ctx_priority priority, struct radeon_winsys_ctx **out)
{
   static const int32_t priorities[] = {
      [RADEON_CTX_PRIORITY_LOW] = AGW_PRIORITY_LOW,
      [RADEON_CTX_PRIORITY_MEDIUM] = AGW_PRIORITY_NORMAL,
      [RADEON_CTX_PRIORITY_HIGH] = AGW_PRIORITY_HIGH,
      [RADEON_CTX_PRIORITY_REALTIME] = AGW_PRIORITY_VERY_HIGH,
   };
   struct radv_agw_ctx *ctx = calloc(1, sizeof(*ctx));
   if (!ctx)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   ctx->ws = radv_agw_winsys(rws);
   int32_t result = agw_ctx_create(ctx->ws->device, priorities[priority], &ctx->ctx);
   if (result != AGW_SUCCESS) {
      free(ctx);
      return result == AGW_ERROR_NOT_PERMITTED ? VK_ERROR_NOT_PERMITTED : VK_ERROR_OUT_OF_HOST_MEMORY;
   }
   simple_mtx_init(&ctx->lock, mtx_plain);
   *out = (struct radeon_winsys_ctx *)ctx;
   return VK_SUCCESS;
}

static void
radv_agw_ctx_destroy(struct radeon_winsys_ctx *rctx)
{
   struct radv_agw_ctx *ctx = radv_agw_ctx(rctx);
   for (unsigned ip = 0; ip < AMD_NUM_IP_TYPES; ip++) {
      for (unsigned ring = 0; ring < RADV_AGW_MAX_RINGS; ring++)
         agw_queue_unref(ctx->queues[ip][ring]);
   }
   agw_ctx_unref(ctx->ctx);
   simple_mtx_destroy(&ctx->lock);
   free(ctx);
}

/* Makes a queue, unless another thread has; NULL if there is none. */
static struct agw_queue *
make_queue(struct radv_agw_ctx *ctx, enum amd_ip_type ip, unsigned ring)
{
   struct agw_queue **place = &ctx->queues[ip][ring], *queue;
   simple_mtx_lock(&ctx->lock);
   queue = *place;
   if (!queue) {
      const int32_t result = ctx->ws->user_queues & BITFIELD_BIT(ip) ? agw_queue_create_user(ctx->ctx, ip, &queue)
                                                                     : agw_queue_create(ctx->ctx, ip, ring, &queue);
      if (result == AGW_SUCCESS)
         __atomic_store_n(place, queue, __ATOMIC_RELEASE);
      else
         fprintf(stderr, "radv/agw: %s\n", agw_last_error());
   }
   simple_mtx_unlock(&ctx->lock);
   return queue;
}

/* Returns a queue, made on first use; NULL if there is none. */
static inline struct agw_queue *
queue_of(struct radv_agw_ctx *ctx, enum amd_ip_type ip, unsigned ring)
{
   if (unlikely(ip >= AMD_NUM_IP_TYPES || ring >= RADV_AGW_MAX_RINGS))
      return NULL;
   /* Once made, it stays as long as the context. */
   struct agw_queue *queue = __atomic_load_n(&ctx->queues[ip][ring], __ATOMIC_ACQUIRE);
   return likely(queue) ? queue : make_queue(ctx, ip, ring);
}

static bool
radv_agw_ctx_wait_idle(struct radeon_winsys_ctx *rctx, enum amd_ip_type ip, int ring)
{
   struct radv_agw_ctx *ctx = radv_agw_ctx(rctx);
   struct agw_queue *queue = __atomic_load_n(&ctx->queues[ip][ring], __ATOMIC_ACQUIRE);
   /* RADV gives up after a second. */
   return !queue || agw_queue_wait_idle(queue, os_time_get_absolute_timeout(1000000000ull)) == AGW_SUCCESS;
}

static int
radv_agw_ctx_set_pstate(struct radeon_winsys_ctx *rctx, uint32_t pstate)
{
   /* RADV's levels have the kernel's numbers. */
   switch (agw_ctx_pin_clocks(radv_agw_ctx(rctx)->ctx, pstate)) {
   case AGW_SUCCESS:
      return 0;
   case AGW_ERROR_IN_USE:
      return -EBUSY;
   default:
      return agw_last_errno() ? -agw_last_errno() : -EINVAL;
   }
}

static bool
is_timeline(const struct vk_sync *sync)
{
   return sync->flags & VK_SYNC_IS_TIMELINE;
}

/* The points of a submission, waits first. */
struct points {
   const struct agw_sync_point *waits, *signals;
   uint32_t wait_count, signal_count;
};

/* Converts Mesa's points. `place` has room for all. */
static struct points
points_of(struct agw_sync_point *place, uint32_t wait_count, const struct vk_sync_wait *waits, uint32_t signal_count,
          const struct vk_sync_signal *signals)
{
   struct points points = {.waits = place};
   for (uint32_t i = 0; i < wait_count; i++) {
      const struct vk_sync *sync = waits[i].sync;
      if (sync->type == &vk_sync_dummy_type || (is_timeline(sync) && waits[i].wait_value == 0))
         continue;
      place[points.wait_count++] = (struct agw_sync_point){
         .sync = ((const struct radv_agw_sync *)sync)->sync,
         .point = is_timeline(sync) ? waits[i].wait_value : 0,
      };
   }
   place += points.wait_count;
   points.signals = place;
   for (uint32_t i = 0; i < signal_count; i++) {
      const struct vk_sync *sync = signals[i].sync;
      if (sync->type == &vk_sync_dummy_type)
         continue;
      place[points.signal_count++] = (struct agw_sync_point){
         .sync = ((const struct radv_agw_sync *)sync)->sync,
         .point = is_timeline(sync) ? signals[i].signal_value : 0,
      };
   }
   return points;
}

/* Submits streams and points. */
static inline VkResult
submit_points(struct radv_agw_ctx *ctx, const struct radv_winsys_submit_info *submit, const struct points points)
{
   /* The last stream's IP leads; streams of another one are of a gang. */
   enum amd_ip_type leader = submit->ip_type;
   struct agw_queue *follower = NULL;
   if (submit->cs_count)
      leader = agw_stream_ip(radv_agw_stream(submit->cs_array[submit->cs_count - 1]));
   for (unsigned i = 0; i + 1 < submit->cs_count && !follower; i++) {
      const enum amd_ip_type ip = agw_stream_ip(radv_agw_stream(submit->cs_array[i]));
      if (unlikely(ip != leader))
         follower = queue_of(ctx, ip, submit->queue_index);
   }
   struct agw_queue *queue = queue_of(ctx, leader, submit->queue_index);
   if (unlikely(!queue))
      return VK_ERROR_OUT_OF_HOST_MEMORY;

   const struct agw_residents *sets[] = {ctx->ws->residents};
   const struct agw_queue *followers[] = {follower};
   /* Each field is named, or the compiler fills the whole with zeros first. */
   const struct agw_submission submission = {
      .struct_size = sizeof(submission),
      .reserved = 0,
      .bos = NULL,
      .bo_count = 0,
      .pad = 0,
      /* Vulkan's rules keep alive what is submitted. */
      .keep = AGW_SUBMIT_KEEP_NOTHING,
      .flags = submit->uses_shadow_regs ? AGW_SUBMIT_PREEMPTIBLE : 0,
      .streams = (const struct agw_stream *const *)submit->cs_array,
      .stream_count = submit->cs_count,
      .initial = (const struct agw_stream *const *)submit->initial_preamble_cs,
      .initial_count = submit->initial_preamble_count,
      .further = (const struct agw_stream *const *)submit->continue_preamble_cs,
      .further_count = submit->continue_preamble_count,
      .last = (const struct agw_stream *const *)submit->postamble_cs,
      .last_count = submit->postamble_count,
      .followers = followers,
      .follower_count = follower ? 1 : 0,
      .sets = sets,
      .set_count = submit->cs_count ? 1 : 0,
      .waits = points.waits,
      .wait_count = points.wait_count,
      .signals = points.signals,
      .signal_count = points.signal_count,
   };
   const int32_t result = agw_queue_submit(queue, &submission, NULL);
   if (likely(result == AGW_SUCCESS))
      return VK_SUCCESS;
   fprintf(stderr, "radv/agw: %s\n", agw_last_error());
   return radv_agw_result(result);
}

static VkResult
radv_agw_cs_submit(struct radeon_winsys_ctx *rctx, const struct radv_winsys_submit_info *submit, uint32_t wait_count,
                   const struct vk_sync_wait *waits, uint32_t signal_count, const struct vk_sync_signal *signals)
{
   struct radv_agw_ctx *ctx = radv_agw_ctx(rctx);
   if (!(wait_count | signal_count))
      return submit_points(ctx, submit, (struct points){0});

   VkResult outcome = VK_ERROR_OUT_OF_HOST_MEMORY;
   STACK_ARRAY(struct agw_sync_point, place, wait_count + signal_count);
   if (place)
      outcome = submit_points(ctx, submit, points_of(place, wait_count, waits, signal_count, signals));
   STACK_ARRAY_FINISH(place);
   return outcome;
}

void
radv_agw_submit_init_functions(struct radv_agw_winsys *ws)
{
   ws->base.ctx_create = radv_agw_ctx_create;
   ws->base.ctx_destroy = radv_agw_ctx_destroy;
   ws->base.ctx_wait_idle = radv_agw_ctx_wait_idle;
   ws->base.ctx_set_pstate = radv_agw_ctx_set_pstate;
   ws->base.cs_submit = radv_agw_cs_submit;
}
