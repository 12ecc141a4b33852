/* The questions that ac_gpu_info.c asks, answered through our library: its arithmetic stays Mesa's, its requests are ours. */

#include <amdgpu_winsys.h>

#include <errno.h>
#include <string.h>

#include "ac_linux_drm.h"

/* Registers by dword offset, as amdgpu's READ_MMR_REG takes them. */
#define MC_ARB_RAMCFG      0x9d8
#define GB_ADDR_CONFIG     0x263e
#define GB_TILE_MODE0      0x2644
#define GB_MACROTILE_MODE0 0x2664

static struct agw_device *
to_agw(ac_drm_device *dev)
{
   return (struct agw_device *)dev;
}

static int
ask(ac_drm_device *dev, uint32_t query, const uint32_t input[4], void *value, uint32_t size)
{
   if (agw_device_info_raw(to_agw(dev), query, input, value, size) == AGW_SUCCESS)
      return 0;
   return agw_last_errno() ? -agw_last_errno() : -EINVAL;
}

int
ac_drm_query_info(ac_drm_device *dev, unsigned info_id, unsigned size, void *value)
{
   return ask(dev, info_id, NULL, value, size);
}

int
ac_drm_read_mm_registers(ac_drm_device *dev, unsigned dword_offset, unsigned count, uint32_t instance, uint32_t flags,
                         uint32_t *values)
{
   const uint32_t input[4] = {dword_offset, count, instance, flags};
   return ask(dev, AMDGPU_INFO_READ_MMR_REG, input, values, count * 4);
}

int
ac_drm_query_hw_ip_count(ac_drm_device *dev, unsigned type, uint32_t *count)
{
   const uint32_t input[4] = {type};
   return ask(dev, AMDGPU_INFO_HW_IP_COUNT, input, count, sizeof(*count));
}

int
ac_drm_query_hw_ip_info(ac_drm_device *dev, unsigned type, unsigned ip_instance, struct drm_amdgpu_info_hw_ip *info)
{
   const uint32_t input[4] = {type, ip_instance};
   return ask(dev, AMDGPU_INFO_HW_IP_INFO, input, info, sizeof(*info));
}

int
ac_drm_query_firmware_version(ac_drm_device *dev, unsigned fw_type, unsigned ip_instance, unsigned index,
                              uint32_t *version, uint32_t *feature)
{
   const uint32_t input[4] = {fw_type, ip_instance, index};
   struct drm_amdgpu_info_firmware firmware = {0};
   const int refused = ask(dev, AMDGPU_INFO_FW_VERSION, input, &firmware, sizeof(firmware));
   if (!refused) {
      *version = firmware.ver;
      *feature = firmware.feature;
   }
   return refused;
}

int
ac_drm_query_uq_fw_area_info(ac_drm_device *dev, unsigned type, unsigned ip_instance,
                             struct drm_amdgpu_info_uq_fw_areas *info)
{
   const uint32_t input[4] = {type, ip_instance};
   return ask(dev, AMDGPU_INFO_UQ_FW_AREAS, input, info, sizeof(*info));
}

int
ac_drm_query_video_caps_info(ac_drm_device *dev, unsigned cap_type, unsigned size, void *value)
{
   const uint32_t input[4] = {cap_type};
   return ask(dev, AMDGPU_INFO_VIDEO_CAPS, input, value, size);
}

int
ac_drm_query_sw_info(ac_drm_device *dev, enum amdgpu_sw_info info, void *value)
{
   struct agw_device_info facts = {.struct_size = sizeof(facts)};
   if (info != amdgpu_sw_info_address32_hi || agw_device_get_info(to_agw(dev), &facts) != AGW_SUCCESS)
      return -EINVAL;
   memcpy(value, &facts.address32_hi, sizeof(facts.address32_hi));
   return 0;
}

/* Of the many fields, ac_gpu_info.c takes those that are registers. */
int
ac_drm_query_gpu_info(ac_drm_device *dev, struct amdgpu_gpu_info *info)
{
   struct agw_device_info facts = {.struct_size = sizeof(facts)};
   if (agw_device_get_info(to_agw(dev), &facts) != AGW_SUCCESS)
      return -EINVAL;
   memset(info, 0, sizeof(*info));
   info->asic_id = facts.device_id;
   info->chip_external_rev = facts.external_revision;
   info->pci_rev_id = facts.pci_revision;

   int refused = ac_drm_read_mm_registers(dev, GB_ADDR_CONFIG, 1, UINT32_MAX, 0, &info->gb_addr_cfg);
   if (!refused && facts.gfx_level < 90) {
      refused = ac_drm_read_mm_registers(dev, GB_TILE_MODE0, 32, UINT32_MAX, 0, info->gb_tile_mode);
      if (!refused && facts.gfx_level >= 70)
         refused = ac_drm_read_mm_registers(dev, GB_MACROTILE_MODE0, 16, UINT32_MAX, 0, info->gb_macro_tile_mode);
      if (!refused)
         refused = ac_drm_read_mm_registers(dev, MC_ARB_RAMCFG, 1, UINT32_MAX, 0, &info->mc_arb_ramcfg);
   }
   return refused;
}

const char *
ac_drm_get_marketing_name(ac_drm_device *device)
{
   return agw_device_name(to_agw(device));
}

/* Kernels before 3.40 are asked for encrypted memory by making some. */
int
ac_drm_bo_alloc(ac_drm_device *dev, struct amdgpu_bo_alloc_request *request, ac_drm_bo *bo)
{
   const struct agw_bo_request wanted = {
      .struct_size = sizeof(wanted),
      .size = request->alloc_size,
      .alignment = request->phys_alignment,
      .domains = request->preferred_heap,
      .flags = request->flags,
      .va_flags = AMDGPU_VM_PAGE_READABLE,
   };
   struct agw_bo *made;
   if (agw_bo_create(to_agw(dev), &wanted, &made) != AGW_SUCCESS)
      return agw_last_errno() ? -agw_last_errno() : -EINVAL;
   bo->abo = (amdgpu_bo_handle)made;
   return 0;
}

int
ac_drm_bo_free(ac_drm_device *dev, ac_drm_bo bo)
{
   agw_bo_unref((struct agw_bo *)bo.abo);
   return 0;
}
