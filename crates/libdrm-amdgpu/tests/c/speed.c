/* Times calls of a libdrm_amdgpu on the simulator's null kernel, which answers at once: nanoseconds, the least of several rounds. */
#include "probe.h"

#include <time.h>

enum { ROUNDS = 15, MOST = 10000 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

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

/* Makes and frees memory while `alive` others live with as many holes between them. */
static void time_memory(amdgpu_device_handle dev, unsigned alive)
{
    static struct memory kept[2 * MOST];
    const unsigned count = 500;
    double least = 1e18;
    /* Too small for what is timed. */
    for (unsigned i = 0; i < 2 * alive; i++)
        make(dev, &kept[i], 4096);
    for (unsigned i = 0; i < 2 * alive; i += 2)
        end(dev, &kept[i], 4096);
    for (int round = 0; round < ROUNDS; round++) {
        const double start = now();
        for (unsigned i = 0; i < count; i++) {
            struct memory memory;
            make(dev, &memory, 65536);
            end(dev, &memory, 65536);
        }
        const double each = (now() - start) / count;
        least = each < least ? each : least;
    }
    for (unsigned i = 1; i < 2 * alive; i += 2)
        end(dev, &kept[i], 4096);
    printf("memory-%u %.1f\n", alive, least);
}

static void time_submissions(amdgpu_device_handle dev)
{
    const unsigned count = 2000;
    double least = 1e18, old = 1e18;
    amdgpu_context_handle context;
    struct memory memory;
    if (amdgpu_cs_ctx_create(dev, &context))
        exit(1);
    make(dev, &memory, 65536);
    struct drm_amdgpu_cs_chunk_ib body = { .va_start = memory.va, .ib_bytes = 256, .ip_type = AMDGPU_HW_IP_GFX };
    struct drm_amdgpu_cs_chunk chunk = { AMDGPU_CHUNK_ID_IB, sizeof body / 4, (uintptr_t)&body };
    struct amdgpu_cs_ib_info ib = { 0, memory.va, 64 };
    struct amdgpu_cs_request request = { .ip_type = AMDGPU_HW_IP_GFX, .number_of_ibs = 1, .ibs = &ib };
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t sequence;
        double start = now();
        for (unsigned i = 0; i < count; i++)
            if (amdgpu_cs_submit_raw2(dev, context, 0, 1, &chunk, &sequence))
                exit(1);
        double each = (now() - start) / count;
        least = each < least ? each : least;
        start = now();
        for (unsigned i = 0; i < count; i++)
            if (amdgpu_cs_submit(context, 0, &request, 1))
                exit(1);
        each = (now() - start) / count;
        old = each < old ? each : old;
    }
    end(dev, &memory, 65536);
    amdgpu_cs_ctx_free(context);
    printf("submit-raw2 %.1f\nsubmit %.1f\n", least, old);
}

int main(void)
{
    uint32_t major, minor;
    amdgpu_device_handle dev;
    int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    if (amdgpu_device_initialize(fd, &major, &minor, &dev))
        return 1;
    time_memory(dev, 0);
    time_memory(dev, 1000);
    time_memory(dev, MOST);
    time_submissions(dev);
    return amdgpu_device_deinitialize(dev);
}
