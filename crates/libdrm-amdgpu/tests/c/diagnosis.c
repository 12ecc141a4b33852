/* Makes a BO, a context and a range, and frees none of them. */
#include "probe.h"

int open_node(void)
{
    return open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
}

int main(void)
{
    uint32_t major, minor;
    amdgpu_device_handle dev = NULL;
    amdgpu_bo_handle bo = NULL;
    amdgpu_context_handle context = NULL;
    amdgpu_va_handle range = NULL;
    struct amdgpu_bo_alloc_request request = { 8192, 0, 2, 0 };
    uint64_t va;
    void *cpu;
    if (CALL(amdgpu_device_initialize(open_node(), &major, &minor, &dev)))
        return 1;
    CALL(amdgpu_bo_alloc(dev, &request, &bo));
    CALL(amdgpu_bo_cpu_map(bo, &cpu));
    CALL(amdgpu_cs_ctx_create(dev, &context));
    CALL(amdgpu_va_range_alloc(dev, 0, 4096, 0, 0, &va, &range, 0));
    CALL(amdgpu_device_deinitialize(dev));
    return 0;
}
