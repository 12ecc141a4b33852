/* Buffers. */

#include "radv_agw.h"

#include <stdlib.h>

#include "drm-uapi/amdgpu_drm.h"
#include "radv_debug.h"

static const uint32_t ALL_RIGHTS = AMDGPU_VM_PAGE_READABLE | AMDGPU_VM_PAGE_WRITEABLE | AMDGPU_VM_PAGE_EXECUTABLE;

/* Makes the driver's view of a BO. */
static VkResult
wrap(struct radv_agw_winsys *ws, struct agw_bo *bo, enum radeon_bo_domain domain, struct radeon_winsys_bo **out)
{
   /* The C library's calloc leaves what the thread freed last to malloc, and takes several times as long. */
   struct radv_agw_bo *wrapped = malloc(sizeof(*wrapped));
   if (!wrapped) {
      agw_bo_unref(bo);
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   }
   *wrapped = (struct radv_agw_bo){
      .base = {.va = agw_bo_head(bo)->va, .size = agw_bo_head(bo)->size, .initial_domain = domain},
      .bo = bo,
   };
   if (ws->lists_all_bos && agw_residents_add(ws->residents, bo) == AGW_SUCCESS)
      wrapped->base.use_global_list = true;
   *out = &wrapped->base;
   return VK_SUCCESS;
}

static VkResult
create_sparse(struct radv_agw_winsys *ws, uint64_t size, unsigned alignment, uint32_t placement, uint64_t address,
              struct radeon_winsys_bo **out)
{
   struct radv_agw_bo *bo = calloc(1, sizeof(*bo));
   if (!bo)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   int32_t result = agw_sparse_create(ws->device, size, alignment, placement, address, &bo->sparse);
   if (result != AGW_SUCCESS) {
      free(bo);
      return radv_agw_result(result);
   }
   bo->base.va = agw_sparse_head(bo->sparse)->va;
   bo->base.size = size;
   *out = &bo->base;
   return VK_SUCCESS;
}

static VkResult
radv_agw_bo_create(struct radeon_winsys *rws, uint64_t size, unsigned alignment, enum radeon_bo_domain domain,
                   enum radeon_bo_flag flags, unsigned priority, uint64_t address, struct radeon_winsys_bo **out)
{
   struct radv_agw_winsys *ws = radv_agw_winsys(rws);
   const bool is_vram = domain & RADEON_DOMAIN_VRAM;
   *out = NULL;

   uint32_t placement = 0;
   if (flags & RADEON_FLAG_32BIT)
      placement |= AGW_VA_32BIT;
   if (flags & RADEON_FLAG_REPLAYABLE)
      placement |= AGW_VA_REPLAYABLE;
   if (flags & RADEON_FLAG_VIRTUAL)
      return create_sparse(ws, size, alignment, placement, address, out);

   struct agw_bo_request request = {
      .struct_size = sizeof(request),
      .size = size,
      .alignment = alignment,
      .address = address,
      .va_placement = placement,
      .priority = priority,
      .va_flags = AMDGPU_VM_PAGE_READABLE | AMDGPU_VM_PAGE_EXECUTABLE,
   };

   /* VRAM may spill into system memory, so that the kernel need not move things around to keep a promise. */
   if (is_vram)
      request.domains |= AMDGPU_GEM_DOMAIN_VRAM | AMDGPU_GEM_DOMAIN_GTT;
   if (domain & RADEON_DOMAIN_GTT)
      request.domains |= AMDGPU_GEM_DOMAIN_GTT;
   if (domain & RADEON_DOMAIN_GDS)
      request.domains |= AMDGPU_GEM_DOMAIN_GDS;
   if (domain & RADEON_DOMAIN_OA)
      request.domains |= AMDGPU_GEM_DOMAIN_OA;

   if (!(flags & RADEON_FLAG_READ_ONLY))
      request.va_flags |= AMDGPU_VM_PAGE_WRITEABLE;
   if ((flags & RADEON_FLAG_VA_UNCACHED) && ws->info.gfx_level >= GFX9)
      request.va_flags |= AMDGPU_VM_MTYPE_UC;

   const bool is_local = (domain & RADEON_DOMAIN_VRAM_GTT) && (flags & RADEON_FLAG_NO_INTERPROCESS_SHARING) &&
                         ((flags & RADEON_FLAG_PREFER_LOCAL_BO) || (ws->perftest & RADV_PERFTEST_LOCAL_BOS));
   const bool allows_dcc = (flags & RADEON_FLAG_GFX12_ALLOW_DCC) && ws->info.drm_minor >= 58;
   if (flags & RADEON_FLAG_CPU_ACCESS)
      request.flags |= AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED;
   if (flags & RADEON_FLAG_NO_CPU_ACCESS)
      request.flags |= AMDGPU_GEM_CREATE_NO_CPU_ACCESS;
   if (flags & RADEON_FLAG_GTT_WC)
      request.flags |= AMDGPU_GEM_CREATE_CPU_GTT_USWC;
   if (!(flags & RADEON_FLAG_IMPLICIT_SYNC))
      request.flags |= AMDGPU_GEM_CREATE_EXPLICIT_SYNC;
   if (is_local)
      request.flags |= AMDGPU_GEM_CREATE_VM_ALWAYS_VALID;
   if (is_vram && (ws->zeroes_vram || (flags & RADEON_FLAG_ZERO_VRAM)))
      request.flags |= AMDGPU_GEM_CREATE_VRAM_CLEARED;
   if ((flags & RADEON_FLAG_DISCARDABLE) && ws->info.drm_minor >= 47)
      request.flags |= AMDGPU_GEM_CREATE_DISCARDABLE;
   if (allows_dcc)
      request.flags |= AMDGPU_GEM_CREATE_GFX12_DCC;

   struct agw_bo *bo;
   int32_t result = agw_bo_create(ws->device, &request, &bo);
   if (result != AGW_SUCCESS)
      return radv_agw_result(result);
   VkResult wrapped = wrap(ws, bo, domain, out);
   if (wrapped == VK_SUCCESS) {
      (*out)->is_local = is_local;
      (*out)->vram_no_cpu_access = is_vram && (flags & RADEON_FLAG_NO_CPU_ACCESS);
      (*out)->gfx12_allow_dcc = allows_dcc;
   }
   return wrapped;
}

static void
radv_agw_bo_destroy(struct radeon_winsys *rws, struct radeon_winsys_bo *rbo)
{
   struct radv_agw_winsys *ws = radv_agw_winsys(rws);
   struct radv_agw_bo *bo = radv_agw_bo(rbo);
   if (ws->lists_all_bos && bo->base.use_global_list)
      agw_residents_remove(ws->residents, bo->bo);
   if (bo->sparse)
      agw_sparse_unref(bo->sparse);
   else
      agw_bo_unref(bo->bo);
   free(bo);
}

/* A BO that was mapped anywhere stays so until it is freed, or mapped at an address of the program's: to map memory for each use of it,
   as programs do that were written for other systems, then costs a look. */
static void *
radv_agw_bo_map(struct radeon_winsys *rws, struct radeon_winsys_bo *rbo, bool use_fixed_addr, void *fixed_addr)
{
   struct radv_agw_bo *bo = radv_agw_bo(rbo);
   void *pointer = NULL;
   if (!use_fixed_addr && bo->mapped)
      return bo->mapped;
   if (!use_fixed_addr && agw_bo_map(bo->bo, &pointer) == AGW_SUCCESS)
      return bo->mapped = pointer;
   if (!use_fixed_addr)
      return NULL;
   if (bo->mapped)
      agw_bo_unmap(bo->bo, false);
   bo->mapped = NULL;
   return agw_bo_map_at(bo->bo, fixed_addr) == AGW_SUCCESS ? fixed_addr : NULL;
}

static void
radv_agw_bo_unmap(struct radeon_winsys *rws, struct radeon_winsys_bo *rbo, bool replace)
{
   struct radv_agw_bo *bo = radv_agw_bo(rbo);
   if (bo->mapped && !replace)
      return;
   agw_bo_unmap(bo->bo, replace);
   bo->mapped = NULL;
}

static VkResult
radv_agw_bo_from_ptr(struct radeon_winsys *rws, void *pointer, uint64_t size, unsigned priority,
                     struct radeon_winsys_bo **out)
{
   struct radv_agw_winsys *ws = radv_agw_winsys(rws);
   struct agw_bo *bo;
   *out = NULL;
   int32_t result = agw_bo_from_user_memory(ws->device, pointer, size, priority, &bo);
   return result == AGW_SUCCESS ? wrap(ws, bo, RADEON_DOMAIN_GTT, out) : radv_agw_result(result);
}

static VkResult
radv_agw_bo_from_fd(struct radeon_winsys *rws, int fd, unsigned priority, struct radeon_winsys_bo **out,
                    uint64_t *alloc_size)
{
   struct radv_agw_winsys *ws = radv_agw_winsys(rws);
   struct agw_bo *bo;
   *out = NULL;
   int32_t result = agw_bo_import(ws->device, fd, ALL_RIGHTS, priority, &bo);
   if (result != AGW_SUCCESS)
      return radv_agw_result(result);
   struct agw_bo_info info = {.struct_size = sizeof(info)};
   agw_bo_get_info(bo, &info);
   if (alloc_size)
      *alloc_size = info.size;
   return wrap(ws, bo, (enum radeon_bo_domain)(info.domains & RADEON_DOMAIN_VRAM_GTT), out);
}

static bool
radv_agw_bo_get_fd(struct radeon_winsys *rws, struct radeon_winsys_bo *bo, int *fd)
{
   return agw_bo_export(radv_agw_bo(bo)->bo, fd) == AGW_SUCCESS;
}

static bool
radv_agw_bo_get_flags_from_fd(struct radeon_winsys *rws, int fd, enum radeon_bo_domain *domains,
                              enum radeon_bo_flag *flags)
{
   static const struct {
      uint64_t kernel;
      uint32_t radv;
   } names[] = {
      {AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED, RADEON_FLAG_CPU_ACCESS},
      {AMDGPU_GEM_CREATE_NO_CPU_ACCESS, RADEON_FLAG_NO_CPU_ACCESS},
      {AMDGPU_GEM_CREATE_CPU_GTT_USWC, RADEON_FLAG_GTT_WC},
      {AMDGPU_GEM_CREATE_VM_ALWAYS_VALID, RADEON_FLAG_NO_INTERPROCESS_SHARING | RADEON_FLAG_PREFER_LOCAL_BO},
      {AMDGPU_GEM_CREATE_VRAM_CLEARED, RADEON_FLAG_ZERO_VRAM},
      {AMDGPU_GEM_CREATE_GFX12_DCC, RADEON_FLAG_GFX12_ALLOW_DCC},
   };
   struct agw_bo_info info = {.struct_size = sizeof(info)};
   uint32_t found_domains = 0, found_flags = 0;
   const bool known = agw_bo_probe(radv_agw_winsys(rws)->device, fd, &info) == AGW_SUCCESS;
   if (known) {
      found_domains = info.domains & RADEON_DOMAIN_VRAM_GTT;
      if (info.domains & AMDGPU_GEM_DOMAIN_GDS)
         found_domains |= RADEON_DOMAIN_GDS;
      if (info.domains & AMDGPU_GEM_DOMAIN_OA)
         found_domains |= RADEON_DOMAIN_OA;
      for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
         found_flags |= info.flags & names[i].kernel ? names[i].radv : 0;
      if (!(info.flags & AMDGPU_GEM_CREATE_EXPLICIT_SYNC))
         found_flags |= RADEON_FLAG_IMPLICIT_SYNC;
   }
   *domains = (enum radeon_bo_domain)found_domains;
   *flags = (enum radeon_bo_flag)found_flags;
   return known;
}

/* Tile splits are stored as powers of two from 64 bytes on. */
static unsigned
tile_split_code(unsigned bytes)
{
   return util_is_power_of_two_nonzero(bytes) && bytes >= 64 && bytes <= 4096 ? util_logbase2(bytes) - 6 : 4;
}

static void
radv_agw_bo_set_metadata(struct radeon_winsys *rws, struct radeon_winsys_bo *bo, struct radeon_bo_metadata *md)
{
   const enum amd_gfx_level level = radv_agw_winsys(rws)->info.gfx_level;
   struct agw_bo_metadata metadata = {.struct_size = sizeof(metadata), .size = md->size_metadata};
   uint64_t tiling = 0;

   if (level >= GFX12) {
      tiling |= AMDGPU_TILING_SET(GFX12_SWIZZLE_MODE, md->u.gfx12.swizzle_mode) |
                AMDGPU_TILING_SET(GFX12_DCC_MAX_COMPRESSED_BLOCK, md->u.gfx12.dcc_max_compressed_block) |
                AMDGPU_TILING_SET(GFX12_DCC_NUMBER_TYPE, md->u.gfx12.dcc_number_type) |
                AMDGPU_TILING_SET(GFX12_DCC_DATA_FORMAT, md->u.gfx12.dcc_data_format) |
                AMDGPU_TILING_SET(GFX12_DCC_WRITE_COMPRESS_DISABLE, md->u.gfx12.dcc_write_compress_disable) |
                AMDGPU_TILING_SET(GFX12_SCANOUT, md->u.gfx12.scanout);
   } else if (level >= GFX9) {
      tiling |= AMDGPU_TILING_SET(SWIZZLE_MODE, md->u.gfx9.swizzle_mode) |
                AMDGPU_TILING_SET(DCC_OFFSET_256B, md->u.gfx9.dcc_offset_256b) |
                AMDGPU_TILING_SET(DCC_PITCH_MAX, md->u.gfx9.dcc_pitch_max) |
                AMDGPU_TILING_SET(DCC_INDEPENDENT_64B, md->u.gfx9.dcc_independent_64b_blocks) |
                AMDGPU_TILING_SET(DCC_INDEPENDENT_128B, md->u.gfx9.dcc_independent_128b_blocks) |
                ((uint64_t)(md->u.gfx9.dcc_max_compressed_block_size & 3) << 45) |
                AMDGPU_TILING_SET(SCANOUT, md->u.gfx9.scanout);
   } else {
      /* ARRAY_MODE: 1 linear and aligned, 2 tiled in micro tiles, 4 in macro tiles. MICRO_TILE_MODE: 0 for display. */
      const bool macro = md->u.legacy.macrotile == RADEON_LAYOUT_TILED;
      const bool micro = md->u.legacy.microtile == RADEON_LAYOUT_TILED;
      tiling |= AMDGPU_TILING_SET(ARRAY_MODE, macro ? 4 : micro ? 2 : 1) |
                AMDGPU_TILING_SET(PIPE_CONFIG, md->u.legacy.pipe_config) |
                AMDGPU_TILING_SET(BANK_WIDTH, util_logbase2(md->u.legacy.bankw)) |
                AMDGPU_TILING_SET(BANK_HEIGHT, util_logbase2(md->u.legacy.bankh)) |
                AMDGPU_TILING_SET(MACRO_TILE_ASPECT, util_logbase2(md->u.legacy.mtilea)) |
                AMDGPU_TILING_SET(NUM_BANKS, util_logbase2(md->u.legacy.num_banks) - 1) |
                AMDGPU_TILING_SET(MICRO_TILE_MODE, md->u.legacy.scanout ? 0 : 1);
      if (md->u.legacy.tile_split)
         tiling |= AMDGPU_TILING_SET(TILE_SPLIT, tile_split_code(md->u.legacy.tile_split));
   }
   metadata.tiling = tiling;
   STATIC_ASSERT(sizeof(metadata.data) == sizeof(md->metadata));
   memcpy(metadata.data, md->metadata, sizeof(metadata.data));
   agw_bo_set_metadata(radv_agw_bo(bo)->bo, &metadata);
}

static void
radv_agw_bo_get_metadata(struct radeon_winsys *rws, struct radeon_winsys_bo *bo, struct radeon_bo_metadata *md)
{
   const enum amd_gfx_level level = radv_agw_winsys(rws)->info.gfx_level;
   struct agw_bo_metadata metadata = {.struct_size = sizeof(metadata)};
   if (agw_bo_get_metadata(radv_agw_bo(bo)->bo, &metadata) != AGW_SUCCESS)
      return;

   const uint64_t tiling = metadata.tiling;
   if (level >= GFX12) {
      md->u.gfx12.swizzle_mode = AMDGPU_TILING_GET(tiling, GFX12_SWIZZLE_MODE);
      md->u.gfx12.dcc_max_compressed_block = AMDGPU_TILING_GET(tiling, GFX12_DCC_MAX_COMPRESSED_BLOCK);
      md->u.gfx12.dcc_data_format = AMDGPU_TILING_GET(tiling, GFX12_DCC_DATA_FORMAT);
      md->u.gfx12.dcc_number_type = AMDGPU_TILING_GET(tiling, GFX12_DCC_NUMBER_TYPE);
      md->u.gfx12.dcc_write_compress_disable = AMDGPU_TILING_GET(tiling, GFX12_DCC_WRITE_COMPRESS_DISABLE);
      md->u.gfx12.scanout = AMDGPU_TILING_GET(tiling, GFX12_SCANOUT);
   } else if (level >= GFX9) {
      md->u.gfx9.swizzle_mode = AMDGPU_TILING_GET(tiling, SWIZZLE_MODE);
      md->u.gfx9.scanout = AMDGPU_TILING_GET(tiling, SCANOUT);
   } else {
      const unsigned mode = AMDGPU_TILING_GET(tiling, ARRAY_MODE);
      const unsigned split = AMDGPU_TILING_GET(tiling, TILE_SPLIT);
      md->u.legacy.macrotile = mode == 4 ? RADEON_LAYOUT_TILED : RADEON_LAYOUT_LINEAR;
      md->u.legacy.microtile = mode == 2 ? RADEON_LAYOUT_TILED : RADEON_LAYOUT_LINEAR;
      md->u.legacy.pipe_config = AMDGPU_TILING_GET(tiling, PIPE_CONFIG);
      md->u.legacy.bankw = 1 << AMDGPU_TILING_GET(tiling, BANK_WIDTH);
      md->u.legacy.bankh = 1 << AMDGPU_TILING_GET(tiling, BANK_HEIGHT);
      md->u.legacy.tile_split = 64 << (split <= 6 ? split : 4);
      md->u.legacy.mtilea = 1 << AMDGPU_TILING_GET(tiling, MACRO_TILE_ASPECT);
      md->u.legacy.num_banks = 2 << AMDGPU_TILING_GET(tiling, NUM_BANKS);
      md->u.legacy.scanout = AMDGPU_TILING_GET(tiling, MICRO_TILE_MODE) == 0;
   }
   md->size_metadata = metadata.size;
   memcpy(md->metadata, metadata.data, sizeof(md->metadata));
}

static VkResult
radv_agw_bo_virtual_bind(struct radeon_winsys *rws, struct radeon_winsys_bo *parent, uint64_t offset, uint64_t size,
                         struct radeon_winsys_bo *bo, uint64_t bo_offset)
{
   const struct agw_sparse_bind bind = {
      .offset = offset,
      .size = align64(size, 4096),
      .bo = bo ? radv_agw_bo(bo)->bo : NULL,
      .bo_offset = bo ? bo_offset : 0,
   };
   return radv_agw_result(agw_sparse_change(radv_agw_bo(parent)->sparse, &bind, 1));
}

static VkResult
radv_agw_bo_make_resident(struct radeon_winsys *rws, struct radeon_winsys_bo *bo, bool resident)
{
   struct radv_agw_winsys *ws = radv_agw_winsys(rws);
   /* The kernel knows the local ones, and with RADV_DEBUG=allbos all are listed. */
   if (bo->is_local || ws->lists_all_bos)
      return VK_SUCCESS;
   int32_t result = resident ? agw_residents_add(ws->residents, radv_agw_bo(bo)->bo)
                             : agw_residents_remove(ws->residents, radv_agw_bo(bo)->bo);
   if (result == AGW_SUCCESS)
      bo->use_global_list = resident;
   return radv_agw_result(result);
}

void
radv_agw_bo_init_functions(struct radv_agw_winsys *ws)
{
   ws->base.buffer_create = radv_agw_bo_create;
   ws->base.buffer_destroy = radv_agw_bo_destroy;
   ws->base.buffer_map = radv_agw_bo_map;
   ws->base.buffer_unmap = radv_agw_bo_unmap;
   ws->base.buffer_from_ptr = radv_agw_bo_from_ptr;
   ws->base.buffer_from_fd = radv_agw_bo_from_fd;
   ws->base.buffer_get_fd = radv_agw_bo_get_fd;
   ws->base.buffer_get_flags_from_fd = radv_agw_bo_get_flags_from_fd;
   ws->base.buffer_set_metadata = radv_agw_bo_set_metadata;
   ws->base.buffer_get_metadata = radv_agw_bo_get_metadata;
   ws->base.buffer_virtual_bind = radv_agw_bo_virtual_bind;
   ws->base.buffer_make_resident = radv_agw_bo_make_resident;
}
