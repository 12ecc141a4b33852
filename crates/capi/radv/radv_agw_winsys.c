/* The device: one winsys for each node of the process, facts, numbers, dumps. */

#include "radv_agw.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/os_misc.h"
#include "util/u_debug.h"
#include "radv_debug.h"
#include "winsys/amdgpu/radv_amdgpu_winsys_public.h"

/* RADV makes several VkDevices on one node, and expects them to share handles. */
static simple_mtx_t winsyses_lock = SIMPLE_MTX_INITIALIZER;
static struct radv_agw_winsys *winsyses;

static void
radv_agw_destroy(struct radeon_winsys *rws)
{
   struct radv_agw_winsys *ws = radv_agw_winsys(rws);

   simple_mtx_lock(&winsyses_lock);
   if (--ws->users) {
      simple_mtx_unlock(&winsyses_lock);
      return;
   }
   for (struct radv_agw_winsys **link = &winsyses; *link; link = &(*link)->next) {
      if (*link == ws) {
         *link = ws->next;
         break;
      }
   }
   agw_residents_unref(ws->residents);
   agw_device_unref(ws->device);
   simple_mtx_unlock(&winsyses_lock);
   free(ws);
}

static void
radv_agw_query_info(struct radeon_winsys *rws, struct radeon_info *info)
{
   *info = radv_agw_winsys(rws)->info;
}

static uint64_t
radv_agw_query_value(struct radeon_winsys *rws, enum radeon_value_id value)
{
   static const uint32_t ids[] = {
      [RADEON_ALLOCATED_VRAM] = AGW_QUERY_OWN_INVISIBLE_VRAM,
      [RADEON_ALLOCATED_VRAM_VIS] = AGW_QUERY_OWN_VISIBLE_VRAM,
      [RADEON_ALLOCATED_GTT] = AGW_QUERY_OWN_GTT,
      [RADEON_TIMESTAMP] = AGW_QUERY_TIMESTAMP,
      [RADEON_NUM_BYTES_MOVED] = AGW_QUERY_BYTES_MOVED,
      [RADEON_NUM_EVICTIONS] = AGW_QUERY_EVICTIONS,
      [RADEON_NUM_VRAM_CPU_PAGE_FAULTS] = AGW_QUERY_CPU_PAGE_FAULTS,
      [RADEON_VRAM_USAGE] = AGW_QUERY_VRAM_USAGE,
      [RADEON_VRAM_VIS_USAGE] = AGW_QUERY_VISIBLE_VRAM_USAGE,
      [RADEON_GTT_USAGE] = AGW_QUERY_GTT_USAGE,
      [RADEON_GPU_TEMPERATURE] = AGW_QUERY_TEMPERATURE,
      [RADEON_CURRENT_SCLK] = AGW_QUERY_SHADER_CLOCK,
      [RADEON_CURRENT_MCLK] = AGW_QUERY_MEMORY_CLOCK,
   };
   uint64_t number = 0;
   agw_device_query(radv_agw_winsys(rws)->device, ids[value], &number);
   return number;
}

static bool
radv_agw_read_registers(struct radeon_winsys *rws, unsigned byte_offset, unsigned count, uint32_t *values)
{
   struct radv_agw_winsys *ws = radv_agw_winsys(rws);
   return agw_device_read_registers(ws->device, byte_offset / 4, count, UINT32_MAX, values) == AGW_SUCCESS;
}

static const char *
radv_agw_get_chip_name(struct radeon_winsys *rws)
{
   return agw_device_name(radv_agw_winsys(rws)->device);
}

static bool
radv_agw_query_gpuvm_fault(struct radeon_winsys *rws, struct radv_winsys_gpuvm_fault_info *fault_info)
{
   struct agw_page_fault fault = {.struct_size = sizeof(fault)};
   if (agw_device_page_fault(radv_agw_winsys(rws)->device, &fault) != AGW_SUCCESS || !fault.status)
      return false;
   fault_info->addr = fault.address;
   fault_info->status = fault.status;
   fault_info->vmhub = fault.hub;
   return true;
}

static void
print_line(void *file, const char *text)
{
   fprintf(file, "  %s\n", text);
}

static void
radv_agw_dump_bo_ranges(struct radeon_winsys *rws, FILE *file)
{
   if (agw_device_dump(radv_agw_winsys(rws)->device, 0, print_line, file) != AGW_SUCCESS)
      fprintf(file, "  RADV_DEBUG=allbos or hang keeps the ranges\n");
}

static void
radv_agw_dump_bo_log(struct radeon_winsys *rws, FILE *file)
{
   if (radv_agw_winsys(rws)->logs_bos)
      agw_device_dump(radv_agw_winsys(rws)->device, AGW_DUMP_HISTORY, print_line, file);
}

static int
radv_agw_get_fd(struct radeon_winsys *rws)
{
   return agw_device_fd(radv_agw_winsys(rws)->device);
}

static const struct vk_sync_type *const *
radv_agw_get_sync_types(struct radeon_winsys *rws)
{
   return radv_agw_winsys(rws)->sync_types;
}

static const struct debug_control user_queue_names[] = {
   {"gfx", BITFIELD_BIT(AMD_IP_GFX)},
   {"compute", BITFIELD_BIT(AMD_IP_COMPUTE)},
   {"sdma", BITFIELD_BIT(AMD_IP_SDMA)},
   {NULL, 0},
};

/* Reads AGW_USER_QUEUES: the IPs whose submissions go through user queues of the kernel, separated by commas, or `all`. What the
 * chip or the kernel lacks stays with queues of the kernel, and a line says so. */
static void
choose_queues(struct radv_agw_winsys *ws)
{
   const char *names = os_get_option("AGW_USER_QUEUES");
   if (!names || !*names)
      return;
   const uint64_t wanted = parse_debug_string(names, user_queue_names);
   if (!wanted) {
      fprintf(stderr, "radv/agw: AGW_USER_QUEUES names none of gfx, compute, sdma and all\n");
      return;
   }
   uint64_t there = 0;
   if (agw_device_query(ws->device, AGW_QUERY_USER_QUEUE_IPS, &there) != AGW_SUCCESS)
      fprintf(stderr, "radv/agw: %s\n", agw_last_error());
   for (const struct debug_control *name = user_queue_names; name->string; name++) {
      if (wanted & name->flag & ~there)
         fprintf(stderr, "radv/agw: no user queues for %s: they need GFX11, Linux 6.16 and amdgpu.user_queue=1\n", name->string);
   }
   ws->user_queues = wanted & there;
   /* User queues have no gangs, without which RADV offers no task and mesh shaders. */
   if (ws->user_queues & (BITFIELD_BIT(AMD_IP_GFX) | BITFIELD_BIT(AMD_IP_COMPUTE)))
      ws->info.has_gang_submit = false;
}

static VkResult
radv_agw_start(int fd, uint64_t debug_flags, uint64_t perftest_flags, bool reserve_vmid, struct radv_agw_winsys *ws)
{
   ws->lists_all_bos = debug_flags & RADV_DEBUG_ALL_BOS;
   ws->logs_bos = debug_flags & RADV_DEBUG_HANG;
   ws->chains = !(debug_flags & RADV_DEBUG_NO_IBS);
   ws->zeroes_vram = debug_flags & RADV_DEBUG_ZERO_VRAM;
   ws->perftest = perftest_flags;

   struct agw_device_options options = {.struct_size = sizeof(options), .flags = AGW_DEVICE_UNBIND_BY_CLOSING};
   if (ws->lists_all_bos || ws->logs_bos)
      options.flags |= AGW_DEVICE_OBSERVE;
   if (reserve_vmid)
      options.flags |= AGW_DEVICE_RESERVE_VMID;
   int32_t result = agw_device_open_fd(fd, &options, &ws->device);
   if (result == AGW_SUCCESS)
      result = agw_residents_create(ws->device, &ws->residents);
   if (result != AGW_SUCCESS) {
      fprintf(stderr, "radv/agw: %s\n", agw_last_error());
      return radv_agw_result(result);
   }

   struct agw_device_info facts = {.struct_size = sizeof(facts)};
   agw_device_get_info(ws->device, &facts);
   ws->info.drm_major = facts.drm_major;
   ws->info.drm_minor = facts.drm_minor;
   switch (ac_query_gpu_info(agw_device_fd(ws->device), ws->device, &ws->info, true)) {
   case AC_QUERY_GPU_INFO_SUCCESS:
      break;
   case AC_QUERY_GPU_INFO_FAIL:
      return VK_ERROR_INITIALIZATION_FAILED;
   default:
      return VK_ERROR_INCOMPATIBLE_DRIVER;
   }

   choose_queues(ws);

   /* The video blocks want a fence of the kernel between sessions, so each IB is a call of its own. */
   for (enum amd_ip_type ip = AMD_IP_UVD; ip <= AMD_IP_VCN_ENC; ip++)
      ws->info.max_submitted_ibs[ip] = 1;
   ws->info.ip[AMD_IP_SDMA].num_queues = MIN2(ws->info.ip[AMD_IP_SDMA].num_queues, RADV_AGW_MAX_RINGS);
   ws->info.ip[AMD_IP_COMPUTE].num_queues = MIN2(ws->info.ip[AMD_IP_COMPUTE].num_queues, RADV_AGW_MAX_RINGS);

   ws->sync_type = radv_agw_sync_type(ws->info.has_timeline_syncobj);
   ws->sync_types[0] = &ws->sync_type;

   ws->base.destroy = radv_agw_destroy;
   ws->base.query_info = radv_agw_query_info;
   ws->base.query_value = radv_agw_query_value;
   ws->base.read_registers = radv_agw_read_registers;
   ws->base.get_chip_name = radv_agw_get_chip_name;
   ws->base.query_gpuvm_fault = radv_agw_query_gpuvm_fault;
   ws->base.dump_bo_ranges = radv_agw_dump_bo_ranges;
   ws->base.dump_bo_log = radv_agw_dump_bo_log;
   ws->base.get_fd = radv_agw_get_fd;
   ws->base.get_sync_types = radv_agw_get_sync_types;
   radv_agw_bo_init_functions(ws);
   radv_agw_cs_init_functions(ws);
   radv_agw_submit_init_functions(ws);
   return VK_SUCCESS;
}

VkResult
radv_amdgpu_winsys_create(int fd, uint64_t debug_flags, uint64_t perftest_flags, bool reserve_vmid, bool is_virtio,
                          struct radeon_winsys **winsys)
{
   if (is_virtio)
      return VK_ERROR_INCOMPATIBLE_DRIVER;

   VkResult result = VK_SUCCESS;
   simple_mtx_lock(&winsyses_lock);

   struct radv_agw_winsys *ws = winsyses;
   while (ws && !agw_device_is_of_node(ws->device, fd))
      ws = ws->next;

   if (ws) {
      /* The first creator's options hold. */
      bool differs = ((debug_flags & RADV_DEBUG_ALL_BOS) && !ws->lists_all_bos) ||
                     ((debug_flags & RADV_DEBUG_HANG) && !ws->logs_bos) ||
                     ((debug_flags & RADV_DEBUG_NO_IBS) && ws->chains) || perftest_flags != ws->perftest;
      if (differs) {
         result = VK_ERROR_INITIALIZATION_FAILED;
      } else {
         ws->zeroes_vram |= !!(debug_flags & RADV_DEBUG_ZERO_VRAM);
         ws->users++;
         *winsys = &ws->base;
      }
   } else if (!(ws = calloc(1, sizeof(*ws)))) {
      result = VK_ERROR_OUT_OF_HOST_MEMORY;
   } else {
      result = radv_agw_start(fd, debug_flags, perftest_flags, reserve_vmid, ws);
      if (result == VK_SUCCESS) {
         ws->users = 1;
         ws->next = winsyses;
         winsyses = ws;
         *winsys = &ws->base;
      } else {
         agw_residents_unref(ws->residents);
         agw_device_unref(ws->device);
         free(ws);
      }
   }
   simple_mtx_unlock(&winsyses_lock);
   return result;
}
