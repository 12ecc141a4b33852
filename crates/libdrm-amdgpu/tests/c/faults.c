/* Writes where a BO was mapped until shortly before, and asks for the fault twice. */
#include "probe.h"

int main(void)
{
    uint32_t major, minor, expired;
    uint64_t ib_va, va, state;
    amdgpu_device_handle dev;
    amdgpu_bo_handle ib, bo;
    amdgpu_va_handle ib_range, range;
    amdgpu_context_handle context;
    struct amdgpu_bo_alloc_request small = { 4096, 0, 2, 0 }, large = { 8192, 0, 2, 0 };
    struct drm_amdgpu_info_gpuvm_fault fault;
    void *cpu;
    if (amdgpu_device_initialize(open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC), &major, &minor, &dev))
        return 1;
    if (amdgpu_bo_alloc(dev, &small, &ib) || amdgpu_bo_cpu_map(ib, &cpu) || amdgpu_bo_alloc(dev, &large, &bo) ||
        amdgpu_va_range_alloc(dev, 0, 4096, 0, 0, &ib_va, &ib_range, 0) || amdgpu_bo_va_op(ib, 0, 4096, ib_va, 0, 1) ||
        amdgpu_va_range_alloc(dev, 0, 8192, 0, 0, &va, &range, 0) || amdgpu_bo_va_op(bo, 0, 8192, va, 0, 1) ||
        amdgpu_bo_va_op(bo, 0, 8192, va, 0, 2) || amdgpu_cs_ctx_create(dev, &context))
        return 1;
    /* WRITE_DATA to memory, of one dword, at the second page. */
    uint32_t *dwords = cpu, packet[] = { 0xc0033700, 0x00100500, (uint32_t)va + 4096, (uint32_t)(va >> 32), 7 };
    for (int i = 0; i < 16; i++)
        dwords[i] = i < 5 ? packet[i] : 0xffff1000;
    amdgpu_bo_list_handle list;
    amdgpu_bo_list_create(dev, 1, &ib, NULL, &list);
    struct amdgpu_cs_ib_info info = { 0, ib_va, 16 };
    struct amdgpu_cs_request request = { .ip_type = AMDGPU_HW_IP_GFX, .resources = list, .number_of_ibs = 1, .ibs = &info };
    if (amdgpu_cs_submit(context, 0, &request, 1))
        return 1;
    struct amdgpu_cs_fence fence = { context, AMDGPU_HW_IP_GFX, 0, 0, request.seq_no };
    amdgpu_cs_query_fence_status(&fence, 20000000000ull, 0, &expired);
    amdgpu_query_gpuvm_fault_info(dev, sizeof fault, &fault);
    amdgpu_query_gpuvm_fault_info(dev, sizeof fault, &fault);
    amdgpu_cs_query_reset_state2(context, &state);
    printf("%s\n", (fault.addr & 0xffffffffffffull) == ((va + 4096) & 0xffffffffffffull) ? "the page" : "another page");
    return 0;
}
