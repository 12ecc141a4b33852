/* A library to preload in front of Mesa's no-op shim: INFO is answered with the facts of a chip that the shim does not know, and the
 * version of DRM is that of the recorded answers. chip.h, which answers.py writes, has the facts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <amdgpu_drm.h>
#include <drm.h>

#include "chip.h"

static void copy(const struct drm_amdgpu_info *info, const void *answer, size_t size)
{
    memcpy((void *)(uintptr_t)info->return_pointer, answer, size < info->return_size ? size : info->return_size);
}

static void registers(const struct drm_amdgpu_info *info)
{
    uint32_t *values = (uint32_t *)(uintptr_t)info->return_pointer;
    for (uint32_t i = 0; i < info->read_mmr_reg.count; i++) {
        values[i] = 0;
        for (size_t at = 0; at < sizeof chip_registers / sizeof *chip_registers; at++)
            if (chip_registers[at][0] == info->read_mmr_reg.dword_offset + i && chip_registers[at][1] == info->read_mmr_reg.instance)
                values[i] = chip_registers[at][2];
    }
}

/* Answers a question about the chip; 0 for other questions, which the shim answers. */
static int answer(const struct drm_amdgpu_info *info)
{
    static const struct drm_amdgpu_info_hw_ip no_ip;
    switch (info->query) {
    case AMDGPU_INFO_DEV_INFO:
        copy(info, &chip_device, sizeof chip_device);
        return 1;
    case AMDGPU_INFO_MEMORY:
        copy(info, &chip_memory, sizeof chip_memory);
        return 1;
    case AMDGPU_INFO_HW_IP_INFO:
        copy(info,
             info->query_hw_ip.type == AMDGPU_HW_IP_GFX       ? &chip_gfx
             : info->query_hw_ip.type == AMDGPU_HW_IP_COMPUTE ? &chip_compute
                                                              : &no_ip,
             sizeof no_ip);
        return 1;
    case AMDGPU_INFO_FW_VERSION:
        for (size_t i = 0; i < sizeof chip_firmware / sizeof *chip_firmware; i++)
            if (chip_firmware[i][0] == info->query_fw.fw_type)
                copy(info, &chip_firmware[i][1], sizeof(struct drm_amdgpu_info_firmware));
        return 1;
    case AMDGPU_INFO_READ_MMR_REG:
        registers(info);
        return 1;
    default:
        return 0;
    }
}

int ioctl(int fd, unsigned long request, ...)
{
    static int (*next)(int, unsigned long, void *);
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (!next)
        next = (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
    if (request == DRM_IOCTL_AMDGPU_INFO && answer(argument))
        return 0;
    const int result = next(fd, request, argument);
    if (request == DRM_IOCTL_VERSION && result == 0)
        ((struct drm_version *)argument)->version_minor = 54;
    return result;
}
