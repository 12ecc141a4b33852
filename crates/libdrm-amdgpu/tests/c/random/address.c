/* Ranges of addresses, and what is mapped there. */
#define _GNU_SOURCE
#include "random.h"

#include <dlfcn.h>

/* Since 2.4.125, which a header may not declare. */
typedef void init2(amdgpu_va_manager_handle, uint64_t, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t);
typedef int query_manager(amdgpu_va_manager_handle, unsigned, void *);
typedef int va_op_raw2(amdgpu_device_handle, amdgpu_bo_handle, uint64_t, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t, uint64_t,
                       uint64_t, uint32_t);

static int free_range(void)
{
    for (int i = 0; i < RANGES; i++)
        if (!ranges[i].range)
            return i;
    return -1;
}

/* The flag 4, for addresses from the top, is not for a device's own manager before libdrm 2.4.125: it did not keep half of the top
 * for sparse memory. */
static void take(void)
{
    unsigned device;
    amdgpu_device_handle dev = any_device(&device);
    const int place = free_range(), manager = once_in(4) ? (int)below(MANAGERS) : -1;
    const uint64_t size = any_size(), alignment = once_in(3) ? odd_number() & 0xffffffff : 0;
    uint64_t required = once_in(4) ? any_address() : 0, address = 7;
    const uint64_t flags = below(8) & (is_newer || manager >= 0 ? ~0u : ~4u);
    amdgpu_va_handle range = NULL;
    /* An end beyond 64 bits is granted by libdrm and not by ours. */
    if (required + size < required || required + size + 65536 < required)
        required = 0;
    if (place < 0 || (manager >= 0 && !managers[manager]))
        return;
    ASK("va_alloc %d %u size %#" PRIx64 " by %#" PRIx64 " at %#" PRIx64 " flags %" PRIu64, manager, device, size, alignment, required, flags);
    const int result = manager < 0 ? amdgpu_va_range_alloc(dev, 0, size, alignment, required, &address, &range, flags)
                                   : amdgpu_va_range_alloc2(managers[manager], 0, size, alignment, required, &address, &range, flags);
    told(result);
    SAY(", %#" PRIx64 " %d", address, range != NULL);
    if (result == 0) {
        SAY(" %#" PRIx64, amdgpu_va_get_start_addr(range));
        ranges[place] = (struct range){ range, address, size, manager };
    }
}

static void give(int place)
{
    ASK("va_free %d", place);
    told(amdgpu_va_range_free(place < 0 ? NULL : ranges[place].range));
    if (place >= 0)
        ranges[place].range = NULL;
}

static void bind(void)
{
    unsigned device;
    amdgpu_device_handle dev = any_device(&device);
    const int bo = any_bo(), range = any_range();
    /* The code stays mapped: no great hole is made. */
    uint32_t ops = once_in(10) ? (uint32_t)odd_number() : 1 + below(4);
    const bool cuts = ops == AMDGPU_VA_OP_CLEAR || ops == AMDGPU_VA_OP_REPLACE;
    if (range < 0 || ((cuts || once_in(2)) && ranges[range].manager >= 0))
        return;
    const bool is_good = cuts || !once_in(3);
    const uint64_t address = is_good ? ranges[range].start : any_address();
    const uint64_t size = is_good ? ranges[range].size & ~4095ull : any_size();
    const uint64_t offset = once_in(4) ? any_size() : 0, flags = any_flags(AMDGPU_VM_PAGE_READABLE | AMDGPU_VM_PAGE_WRITEABLE);
    amdgpu_bo_handle object = bo < 0 || once_in(8) ? NULL : bos[bo].bo;
    if (object && once_in(3)) {
        ASK("va_op %d %#" PRIx64 " %#" PRIx64 " at %#" PRIx64 " %u", bo, offset, size, address, ops);
        told(amdgpu_bo_va_op(object, offset, size, address, flags, ops));
        return;
    }
    if (is_newer && once_in(3)) {
        va_op_raw2 *raw2 = (va_op_raw2 *)dlsym(RTLD_DEFAULT, "amdgpu_bo_va_op_raw2");
        uint32_t inputs[3] = { any_syncobj(), any_syncobj(), any_syncobj() };
        const uint32_t out = once_in(2) ? 0 : any_syncobj(), count = once_in(2) ? 0 : below(4);
        const uint64_t point = below(4), array = once_in(8) ? 8 : (uintptr_t)inputs;
        ASK("va_op_raw2 %u %d %#" PRIx64 " %#" PRIx64 " at %#" PRIx64 " %#" PRIx64 " %u", device, object ? bo : -1, offset, size, address, flags, ops);
        told(raw2(dev, object, offset, size, address, flags, ops, out, point, array, count));
        return;
    }
    ASK("va_op_raw %u %d %#" PRIx64 " %#" PRIx64 " at %#" PRIx64 " %#" PRIx64 " %u", device, object ? bo : -1, offset, size, address, flags, ops);
    told(amdgpu_bo_va_op_raw(dev, object, offset, size, address, flags, ops));
}

/* Managers without a device: their bounds are those of chips, or odd ones. */
static void manager(void)
{
    const int index = (int)below(MANAGERS);
    amdgpu_va_manager_handle *it = &managers[index];
    uint32_t value = 7;
    if (*it && is_newer && once_in(2)) {
        query_manager *query = (query_manager *)dlsym(RTLD_DEFAULT, "amdgpu_va_manager_query_sw_info");
        const unsigned what = below(3);
        ASK("manager_query %d %u", index, what);
        told(query(*it, what, &value));
        SAY(", %#x", value);
        return;
    }
    if (*it) {
        for (int i = 0; i < RANGES; i++)
            if (ranges[i].range && ranges[i].manager == index)
                give(i);
        SAY("manager_deinit %d", index);
        amdgpu_va_manager_deinit(*it);
        free(*it);
        *it = NULL;
        return;
    }
    static const uint64_t bounds[][4] = {
        { 0x200000, 1ull << 47, 0xffff800000000000, 0xffffffffffe00000 },
        { 0x200000, 1ull << 47, 0, 0 },
        { 0x200000, 1ull << 40, 0x8000000000, 0x8040000000 },
        { 0x1000, 0x80000000, 0xffff800000000000, 0xffff800080000000 },
        { 0x100000, 0x1001000, 0xffff800000000000, 0xffff900000000000 },
    };
    const uint64_t *b = bounds[below(5)];
    const uint32_t alignment = 4096u << (once_in(2) ? 0 : 4), flags = below(2);
    *it = amdgpu_va_manager_alloc();
    SAY("manager_init %d %#" PRIx64 " %#" PRIx64 " %u %u", index, b[0], b[2], alignment, flags);
    if (!is_newer) {
        amdgpu_va_manager_init(*it, b[0], b[1], b[2], b[3], alignment);
        return;
    }
    init2 *init = (init2 *)dlsym(RTLD_DEFAULT, "amdgpu_va_manager_init2");
    init(*it, b[0], b[1], b[2], b[3], alignment, flags);
}

static void query(void)
{
    unsigned device;
    amdgpu_device_handle dev = any_device(&device);
    uint64_t start = 7, end = 7;
    const uint32_t kind = once_in(2) ? 0 : (uint32_t)odd_number();
    ASK("va_query %u %u", device, kind);
    told(amdgpu_va_range_query(dev, kind, &start, &end));
    SAY(", %#" PRIx64 " %#" PRIx64, start, end);
}

void random_address(void)
{
    switch (below(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
        take();
        break;
    case 5:
    case 6:
    case 7:
        give(once_in(20) ? -1 : any_range());
        break;
    case 8:
        manager();
        break;
    case 9:
        query();
        break;
    default:
        bind();
    }
}
