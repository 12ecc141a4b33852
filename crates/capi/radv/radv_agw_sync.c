/* Mesa's sync type over our sync objects. */

#include "radv_agw.h"

#include "vk_util.h"
#include "vk_device.h"
#include "vk_log.h"

static struct radv_agw_sync *
to_agw(struct vk_sync *sync)
{
   return container_of(sync, struct radv_agw_sync, base);
}

/* The type of a sync points into its winsys. */
static struct agw_device *
device_of(const struct vk_sync *sync)
{
   return container_of(sync->type, struct radv_agw_winsys, sync_type)->device;
}

static VkResult
answer(struct vk_device *device, int32_t result, VkResult failure)
{
   return result == AGW_SUCCESS ? VK_SUCCESS : vk_errorf(device, failure, "%s", agw_last_error());
}

static VkResult
radv_agw_sync_init(struct vk_device *device, struct vk_sync *sync, uint64_t initial_value)
{
   struct radv_agw_sync *own = to_agw(sync);
   const bool is_timeline = sync->flags & VK_SYNC_IS_TIMELINE;
   int32_t result = agw_sync_create(device_of(sync), !is_timeline && initial_value, &own->sync);
   if (result == AGW_SUCCESS && is_timeline && initial_value) {
      result = agw_sync_signal(own->sync, initial_value);
      if (result != AGW_SUCCESS)
         agw_sync_destroy(own->sync);
   }
   return answer(device, result, VK_ERROR_OUT_OF_HOST_MEMORY);
}

static void
radv_agw_sync_finish(struct vk_device *device, struct vk_sync *sync)
{
   agw_sync_destroy(to_agw(sync)->sync);
}

static VkResult
radv_agw_sync_signal(struct vk_device *device, struct vk_sync *sync, uint64_t value)
{
   const uint64_t point = sync->flags & VK_SYNC_IS_TIMELINE ? value : 0;
   return answer(device, agw_sync_signal(to_agw(sync)->sync, point), VK_ERROR_UNKNOWN);
}

static VkResult
radv_agw_sync_get_value(struct vk_device *device, struct vk_sync *sync, uint64_t *value)
{
   return answer(device, agw_sync_query(to_agw(sync)->sync, value), VK_ERROR_UNKNOWN);
}

static VkResult
radv_agw_sync_reset(struct vk_device *device, struct vk_sync *sync)
{
   return answer(device, agw_sync_reset(to_agw(sync)->sync), VK_ERROR_UNKNOWN);
}

static VkResult
radv_agw_sync_move(struct vk_device *device, struct vk_sync *dst, struct vk_sync *src)
{
   struct radv_agw_sync *to = to_agw(dst), *from = to_agw(src);
   if ((dst->flags | src->flags) & VK_SYNC_IS_SHARED) {
      /* Others know the objects, so the fence moves. */
      VkResult result = answer(device, agw_sync_transfer(to->sync, 0, from->sync, 0), VK_ERROR_UNKNOWN);
      return result == VK_SUCCESS ? radv_agw_sync_reset(device, src) : result;
   }
   VkResult result = radv_agw_sync_reset(device, dst);
   if (result == VK_SUCCESS) {
      struct agw_sync *emptied = to->sync;
      to->sync = from->sync;
      from->sync = emptied;
   }
   return result;
}

static VkResult
radv_agw_sync_wait_many(struct vk_device *device, uint32_t wait_count, const struct vk_sync_wait *waits,
                        enum vk_sync_wait_flags wait_flags, uint64_t abs_timeout_ns)
{
   int32_t result = AGW_ERROR_OUT_OF_HOST_MEMORY;
   STACK_ARRAY(struct agw_sync_point, points, wait_count);
   if (points) {
      uint32_t count = 0;
      for (uint32_t i = 0; i < wait_count; i++) {
         const bool is_timeline = waits[i].sync->flags & VK_SYNC_IS_TIMELINE;
         /* Value 0 of a timeline has always been reached. */
         if (is_timeline && waits[i].wait_value == 0)
            continue;
         points[count++] = (struct agw_sync_point){
            .sync = to_agw(waits[i].sync)->sync,
            .point = is_timeline ? waits[i].wait_value : 0,
         };
      }
      uint32_t flags = 0;
      if (wait_flags & VK_SYNC_WAIT_ANY)
         flags |= AGW_WAIT_ANY;
      if (wait_flags & VK_SYNC_WAIT_PENDING)
         flags |= AGW_WAIT_PENDING;
      const bool is_met = (wait_flags & VK_SYNC_WAIT_ANY) && count < wait_count;
      result = is_met ? AGW_SUCCESS : agw_sync_wait(points, count, flags, abs_timeout_ns);
   }
   STACK_ARRAY_FINISH(points);
   return result == AGW_TIMEOUT ? VK_TIMEOUT : answer(device, result, VK_ERROR_UNKNOWN);
}

static VkResult
radv_agw_sync_import_opaque_fd(struct vk_device *device, struct vk_sync *sync, int fd)
{
   struct agw_sync *imported;
   int32_t result = agw_sync_import_fd(device_of(sync), fd, &imported);
   if (result == AGW_SUCCESS) {
      agw_sync_destroy(to_agw(sync)->sync);
      to_agw(sync)->sync = imported;
   }
   return answer(device, result, VK_ERROR_UNKNOWN);
}

static VkResult
radv_agw_sync_export_opaque_fd(struct vk_device *device, struct vk_sync *sync, int *fd)
{
   return answer(device, agw_sync_export_fd(to_agw(sync)->sync, fd), VK_ERROR_UNKNOWN);
}

static VkResult
radv_agw_sync_import_sync_file(struct vk_device *device, struct vk_sync *sync, int sync_file)
{
   return answer(device, agw_sync_import_sync_file(to_agw(sync)->sync, sync_file), VK_ERROR_UNKNOWN);
}

static VkResult
radv_agw_sync_export_sync_file(struct vk_device *device, struct vk_sync *sync, int *sync_file)
{
   return answer(device, agw_sync_export_sync_file(to_agw(sync)->sync, sync_file), VK_ERROR_UNKNOWN);
}

struct vk_sync_type
radv_agw_sync_type(bool has_timelines)
{
   struct vk_sync_type type = {
      .size = sizeof(struct radv_agw_sync),
      .features = VK_SYNC_FEATURE_BINARY | VK_SYNC_FEATURE_GPU_WAIT | VK_SYNC_FEATURE_GPU_MULTI_WAIT |
                  VK_SYNC_FEATURE_CPU_RESET | VK_SYNC_FEATURE_CPU_SIGNAL | VK_SYNC_FEATURE_CPU_WAIT |
                  VK_SYNC_FEATURE_WAIT_ANY | VK_SYNC_FEATURE_WAIT_PENDING,
      .init = radv_agw_sync_init,
      .finish = radv_agw_sync_finish,
      .signal = radv_agw_sync_signal,
      .reset = radv_agw_sync_reset,
      .move = radv_agw_sync_move,
      .wait_many = radv_agw_sync_wait_many,
      .import_opaque_fd = radv_agw_sync_import_opaque_fd,
      .export_opaque_fd = radv_agw_sync_export_opaque_fd,
      .import_sync_file = radv_agw_sync_import_sync_file,
      .export_sync_file = radv_agw_sync_export_sync_file,
   };
   if (has_timelines) {
      type.features |= VK_SYNC_FEATURE_TIMELINE;
      type.get_value = radv_agw_sync_get_value;
   }
   return type;
}
