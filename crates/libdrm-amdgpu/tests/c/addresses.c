/* Addresses, and mappings of BOs at them. */
#include "probe.h"

static amdgpu_va_handle range_of(amdgpu_device_handle dev, uint64_t size, uint64_t alignment, uint64_t required, uint64_t flags)
{
    amdgpu_va_handle range = NULL;
    uint64_t address = 0x55;
    printf("  %#" PRIx64 " bytes at %#" PRIx64 ", required %#" PRIx64 ", flags %#" PRIx64 "\n", size, alignment, required, flags);
    CALL(amdgpu_va_range_alloc(dev, amdgpu_gpu_va_range_general, size, alignment, required, &address, &range, flags));
    SHOW(address);
    return range;
}

void probe_addresses(amdgpu_device_handle dev)
{
    static const uint64_t requests[][4] = {
        { 4096, 0, 0, 0 },           { 4096, 0, 0, 1 },        { 4096, 0, 0, 2 },          { 4096, 0, 0, 3 },
        { 1, 0, 0, 0 },              { 4097, 0x3000, 0, 0 },   { 4096, 3, 0, 0 },          { 65536, 65536, 0, 2 },
        { 4096, 0, 0x300000, 0 },    { 4096, 0, 0x300000, 0 }, { 4096, 0, 0x300000, 1 },   { 8192, 0, 0x2ff000, 0 },
        { 4096, 0, 0x300001, 0 },    { 4096, 0x2000, 0x301000, 0 }, { 1ull << 62, 0, 0, 0 }, { 1ull << 47, 0, 0, 0 },
        { 4096, 0, 0, 0xfff8 },      { 4096, 0, 1ull << 32, 1 },
    };
    enum { COUNT = sizeof requests / sizeof *requests };
    amdgpu_va_handle ranges[COUNT];
    for (int i = 0; i < COUNT; i++)
        ranges[i] = range_of(dev, requests[i][0], requests[i][1], requests[i][2], requests[i][3]);
    SHOW(amdgpu_va_get_start_addr(ranges[0]));
    for (int i = 0; i < COUNT; i += 2)
        CALL(amdgpu_va_range_free(ranges[i]));
    for (int i = 1; i < COUNT; i += 2)
        CALL(amdgpu_va_range_free(ranges[i]));
    CALL(amdgpu_va_range_free(NULL));
    CALL(amdgpu_va_range_free(range_of(dev, 4096, 0, 0, 0)));

    struct amdgpu_bo_alloc_request request = { 65536, 0, 2, 0 };
    amdgpu_bo_handle bo = NULL;
    CALL(amdgpu_bo_alloc(dev, &request, &bo));
    amdgpu_va_handle range = range_of(dev, 65536, 0, 0, 0);
    uint64_t va = amdgpu_va_get_start_addr(range);
    CALL(amdgpu_bo_va_op(bo, 0, 65536, va, 0, AMDGPU_VA_OP_MAP));
    CALL(amdgpu_bo_va_op(bo, 0, 65536, va, 0, AMDGPU_VA_OP_MAP));
    CALL(amdgpu_va_range_free(range));
    range = range_of(dev, 65536, 0, 0, 0);
    SHOW(amdgpu_va_get_start_addr(range) == va);
    CALL(amdgpu_bo_va_op(bo, 0, 100, va, 0x1ff, AMDGPU_VA_OP_UNMAP));
    CALL(amdgpu_bo_va_op(bo, 0, 100, va, 0x1ff, AMDGPU_VA_OP_MAP));
    CALL(amdgpu_bo_va_op(bo, 0, 4096, va, 0, 0));
    CALL(amdgpu_bo_va_op(bo, 0, 4096, va, 0, 5));
    CALL(amdgpu_bo_va_op(bo, 4096, 65536, va, 0, AMDGPU_VA_OP_REPLACE));
    CALL(amdgpu_bo_va_op(bo, 0, 8192, va, 0, AMDGPU_VA_OP_REPLACE));
    CALL(amdgpu_bo_va_op_raw(dev, bo, 0, 100, va, 0, AMDGPU_VA_OP_MAP));
    CALL(amdgpu_bo_va_op_raw(dev, bo, 0, 4096, va + 8192, ~0ull, AMDGPU_VA_OP_MAP));
    CALL(amdgpu_bo_va_op_raw(dev, bo, 0, 4096, va + 8192, 2, AMDGPU_VA_OP_MAP));
    CALL(amdgpu_bo_va_op_raw(dev, NULL, 0, 65536, va, 0, AMDGPU_VA_OP_CLEAR));
    CALL(amdgpu_bo_va_op_raw(dev, NULL, 0, 65536, va, AMDGPU_VM_PAGE_PRT, AMDGPU_VA_OP_MAP));
    CALL(amdgpu_bo_va_op_raw(dev, NULL, 0, 65536, va, 0, AMDGPU_VA_OP_MAP));
    CALL(amdgpu_bo_va_op_raw(dev, NULL, 0, 65536, va, 0, AMDGPU_VA_OP_CLEAR));
    CALL(amdgpu_bo_va_op_raw(dev, bo, 0, 4096, va, 0, 0));
    CALL(amdgpu_bo_va_op_raw(dev, bo, 0, 4096, va, 0, 5));
    CALL(amdgpu_va_range_free(range));
    CALL(amdgpu_bo_free(bo));
}
