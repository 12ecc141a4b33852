/* RADV's winsys on amdgpu-winsys: what the files of this folder share. */
#ifndef RADV_AGW_H
#define RADV_AGW_H

#include <amdgpu_winsys.h>

#include "util/simple_mtx.h"
#include "ac_gpu_info.h"
#include "radv_radeon_winsys.h"
#include "vk_sync.h"

#define RADV_AGW_MAX_RINGS 8

struct radv_agw_winsys {
   struct radeon_winsys base;
   struct radeon_info info;
   struct agw_device *device;
   /* BOs that every submission lists. */
   struct agw_residents *residents;
   struct vk_sync_type sync_type;
   const struct vk_sync_type *sync_types[2];
   uint64_t perftest;
   /* IPs whose submissions go through user queues of the kernel, a bit for each `enum amd_ip_type`. */
   uint32_t user_queues;
   bool lists_all_bos, logs_bos, chains, zeroes_vram;
   unsigned users;
   struct radv_agw_winsys *next;
};

struct radv_agw_bo {
   struct radeon_winsys_bo base;
   struct agw_bo *bo;
   /* Instead of a BO. */
   struct agw_sparse *sparse;
   /* The mapping that RADV may believe to have ended; NULL for one at an address of the program's. */
   void *mapped;
};

struct radv_agw_ctx {
   struct radv_agw_winsys *ws;
   struct agw_ctx *ctx;
   simple_mtx_t lock;
   /* Made by the first submission. */
   struct agw_queue *queues[AMD_NUM_IP_TYPES][RADV_AGW_MAX_RINGS];
};

struct radv_agw_sync {
   struct vk_sync base;
   struct agw_sync *sync;
};

static inline struct radv_agw_winsys *
radv_agw_winsys(const struct radeon_winsys *ws)
{
   return (struct radv_agw_winsys *)ws;
}

static inline struct radv_agw_bo *
radv_agw_bo(struct radeon_winsys_bo *bo)
{
   return (struct radv_agw_bo *)bo;
}

/* A stream begins with the four words of a radeon_cmdbuf. */
static inline struct agw_stream *
radv_agw_stream(struct radeon_cmdbuf *cs)
{
   return (struct agw_stream *)cs;
}

static inline VkResult
radv_agw_result(int32_t result)
{
   return (VkResult)agw_vk_result(result);
}

struct vk_sync_type radv_agw_sync_type(bool has_timelines);

void radv_agw_bo_init_functions(struct radv_agw_winsys *ws);
void radv_agw_cs_init_functions(struct radv_agw_winsys *ws);
void radv_agw_submit_init_functions(struct radv_agw_winsys *ws);

#endif
