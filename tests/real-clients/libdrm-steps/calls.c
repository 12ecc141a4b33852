/* Makes calls of a libdrm_amdgpu: calls KIND COUNT [ALIVE]. KIND is memory, map, raw2 or submit. */
#include <amdgpu.h>
#include <amdgpu_drm.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct memory {
    amdgpu_bo_handle bo;
    amdgpu_va_handle range;
    uint64_t va;
};

static void make(amdgpu_device_handle dev, struct memory *memory, uint64_t size)
{
    struct amdgpu_bo_alloc_request request = { size, 0, 2, 0 };
    if (amdgpu_bo_alloc(dev, &request, &memory->bo) ||
        amdgpu_va_range_alloc(dev, amdgpu_gpu_va_range_general, size, 0, 0, &memory->va, &memory->range, AMDGPU_VA_RANGE_HIGH) ||
        amdgpu_bo_va_op_raw(dev, memory->bo, 0, size, memory->va, 14, AMDGPU_VA_OP_MAP))
        exit(1);
}

static void end(amdgpu_device_handle dev, struct memory *memory, uint64_t size)
{
    amdgpu_bo_va_op_raw(dev, memory->bo, 0, size, memory->va, 14, AMDGPU_VA_OP_UNMAP);
    amdgpu_bo_free(memory->bo);
    amdgpu_va_range_free(memory->range);
}

/* With as many holes between what is alive, which are too small. */
static void memory(amdgpu_device_handle dev, unsigned count, unsigned alive)
{
    struct memory *kept = calloc(2 * (size_t)alive + 1, sizeof *kept);
    for (unsigned i = 0; i < 2 * alive; i++)
        make(dev, &kept[i], 4096);
    for (unsigned i = 0; i < 2 * alive; i += 2)
        end(dev, &kept[i], 4096);
    for (unsigned i = 0; i < count; i++) {
        struct memory one;
        make(dev, &one, 65536);
        end(dev, &one, 65536);
    }
}

static void map(amdgpu_device_handle dev, unsigned count)
{
    struct memory one;
    void *address;
    make(dev, &one, 65536);
    for (unsigned i = 0; i < count; i++)
        if (amdgpu_bo_cpu_map(one.bo, &address) || amdgpu_bo_cpu_unmap(one.bo))
            exit(1);
    end(dev, &one, 65536);
}

int main(int argc, char **argv)
{
    uint32_t major, minor;
    amdgpu_device_handle dev;
    amdgpu_context_handle context;
    uint64_t sequence;
    if (argc < 3)
        return 2;
    const unsigned count = (unsigned)atoi(argv[2]), alive = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
    int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    if (amdgpu_device_initialize(fd, &major, &minor, &dev) || amdgpu_cs_ctx_create(dev, &context))
        return 1;
    struct drm_amdgpu_cs_chunk_ib body = { .va_start = 0x100000, .ib_bytes = 256, .ip_type = AMDGPU_HW_IP_GFX };
    struct drm_amdgpu_cs_chunk chunk = { AMDGPU_CHUNK_ID_IB, sizeof body / 4, (uintptr_t)&body };
    struct amdgpu_cs_ib_info ib = { 0, 0x100000, 64 };
    struct amdgpu_cs_request request = { .ip_type = AMDGPU_HW_IP_GFX, .number_of_ibs = 1, .ibs = &ib };
    if (strcmp(argv[1], "memory") == 0)
        memory(dev, count, alive);
    else if (strcmp(argv[1], "map") == 0)
        map(dev, count);
    else if (strcmp(argv[1], "raw2") == 0)
        for (unsigned i = 0; i < count; i++)
            amdgpu_cs_submit_raw2(dev, context, 0, 1, &chunk, &sequence);
    else
        for (unsigned i = 0; i < count; i++)
            amdgpu_cs_submit(context, 0, &request, 1);
    return 0;
}
