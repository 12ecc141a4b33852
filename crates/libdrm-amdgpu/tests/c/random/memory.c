/* BOs and lists of them. */
#include "random.h"

static _Alignas(65536) char pages[16 * 4096];

/* The first place that has the BO: one record for a handle. */
static int place_of(amdgpu_bo_handle bo)
{
    for (int i = 0; i < BOS; i++)
        if (bos[i].bo == bo)
            return i;
    return -1;
}

/* Prints the place of a BO that a call returned, and keeps it there or where it is known. */
static void keep(int place, unsigned device, amdgpu_bo_handle bo)
{
    uint32_t handle = 0;
    SAY(", first at %d", place_of(bo));
    bos[place] = (struct bo){ bo, device };
    if (amdgpu_bo_export(bo, amdgpu_bo_handle_type_kms, &handle) == 0)
        keep_handle(handle);
    SAY(", handle %u", handle);
}

static void alloc(void)
{
    static const uint32_t heaps[] = { 2, 2, 2, 4, 4, 6, 0, 1, 8, 0x10, 0x20, 0x40, 0x80, 0xffffffff };
    static const uint64_t flags[] = { 0, 0, 1, 2, 4, 8, 0x20, 0x40, 0x140, 1 << 9 };
    unsigned device;
    const int place = free_bo();
    amdgpu_device_handle dev = any_device(&device);
    amdgpu_bo_handle bo = NULL;
    struct amdgpu_bo_alloc_request request = { any_size(), once_in(4) ? odd_number() : 4096, heaps[below(14)], any_flags(flags[below(10)]) };
    if (place < 0)
        return;
    ASK("bo_alloc %u %#" PRIx64 " %#" PRIx64 " %#x %#" PRIx64, device, request.alloc_size, request.phys_alignment, request.preferred_heap,
        request.flags);
    if (told(amdgpu_bo_alloc(dev, &request, &bo)) == 0)
        keep(place, device, bo);
    else
        SAY(", null %d", bo == NULL);
}

static void of_user(void)
{
    unsigned device;
    const int place = free_bo();
    amdgpu_device_handle dev = any_device(&device);
    amdgpu_bo_handle bo = NULL;
    const uint64_t offset = once_in(4) ? below(65536) : 4096 * below(16), size = once_in(3) ? any_size() : 4096 * below(17);
    void *address = once_in(8) ? (void *)(uintptr_t)odd_number() : pages + offset;
    if (place < 0)
        return;
    ASK("user_mem %u at %#" PRIx64 " %#" PRIx64, device, offset, size);
    if (told(amdgpu_create_bo_from_user_mem(dev, address, size, &bo)) == 0)
        keep(place, device, bo);
}

static void release(int place)
{
    ASK("bo_free %d", place);
    told(amdgpu_bo_free(bos[place].bo));
    bos[place].bo = NULL;
}

static void import(void)
{
    unsigned device;
    const int place = free_bo();
    amdgpu_device_handle dev = any_device(&device);
    const uint32_t kind = once_in(6) ? below(6) : (uint32_t)(once_in(3) ? amdgpu_bo_handle_type_gem_flink_name : amdgpu_bo_handle_type_dma_buf_fd);
    uint32_t shared = kind == amdgpu_bo_handle_type_dma_buf_fd ? (uint32_t)any_fd() : once_in(3) ? (uint32_t)odd_number() : below(6);
    /* Names of the shared device may go over another file, and then libdrm makes a second record of a BO, whose end closes the first. */
    if (kind == amdgpu_bo_handle_type_gem_flink_name && device == 0)
        shared |= 0x1000;
    struct amdgpu_bo_import_result result = { NULL, 7 };
    if (place < 0)
        return;
    /* The number of a descriptor is not the same with every library, nor errno behind -EPERM, which -1 is here. */
    ASK("import %u %u", device, kind);
    if (kind == amdgpu_bo_handle_type_kms || kind == amdgpu_bo_handle_type_kms_noimport) {
        SAY(" = %d", amdgpu_bo_import(dev, kind, shared, &result));
        return;
    }
    if (told(amdgpu_bo_import(dev, kind, shared, &result)) == 0)
        keep(place, device, result.buf_handle);
    SAY(", size %#" PRIx64, result.alloc_size);
}

static void export(int place)
{
    const uint32_t kind = once_in(6) ? (uint32_t)odd_number() : below(4);
    uint32_t shared = 0x55555555;
    ASK("export %d %u", place, kind);
    const int result = told(amdgpu_bo_export(bos[place].bo, kind, &shared));
    if (result == 0 && kind == amdgpu_bo_handle_type_dma_buf_fd) {
        SAY(", flags %d", fcntl((int)shared, F_GETFD));
        keep_fd((int)shared);
    } else {
        SAY(", %#x", shared);
    }
}

static void cpu(int place)
{
    struct bo *it = &bos[place];
    amdgpu_bo_handle found = NULL;
    uint64_t at = 7;
    void *address = NULL;
    unsigned device;
    switch (below(4)) {
    case 0:
    case 1:
        ASK("cpu_map %d", place);
        if (told(amdgpu_bo_cpu_map(it->bo, &address)) == 0) {
            SAY(", first %#x", *(volatile uint32_t *)address);
            *(volatile uint32_t *)address = below(1000);
        }
        break;
    case 2:
        ASK("cpu_unmap %d", place);
        told(amdgpu_bo_cpu_unmap(it->bo));
        break;
    default: {
        const int free = free_bo();
        /* Within the first page: what lies behind a mapping depends on the library. */
        const uint64_t offset = below(4096), size = once_in(3) ? any_size() : below(5000);
        amdgpu_device_handle dev = any_device(&device);
        const bool is_mapped = amdgpu_bo_cpu_map(it->bo, &address) == 0;
        char *where = once_in(6) ? NULL : once_in(6) || !is_mapped ? pages : (char *)address + offset;
        if (free >= 0) {
            ASK("find %u %d +%#" PRIx64 " %#" PRIx64, device, place, offset, size);
            if (told(amdgpu_find_bo_by_cpu_mapping(dev, where, size, &found, &at)) == 0)
                keep(free, device, found);
            SAY(", null %d at %#" PRIx64, found == NULL, at);
        }
        if (is_mapped)
            amdgpu_bo_cpu_unmap(it->bo);
    }
    }
}

static void facts(int place)
{
    amdgpu_bo_handle bo = bos[place].bo;
    struct amdgpu_bo_metadata metadata;
    struct amdgpu_bo_info info;
    bool is_busy = true;
    for (unsigned i = 0; i < 64; i++)
        metadata.umd_metadata[i] = below(1000);
    switch (below(5)) {
    case 0:
        metadata.flags = any_flags(0);
        metadata.tiling_info = any_flags(1);
        metadata.size_metadata = once_in(3) ? (uint32_t)odd_number() : below(270);
        ASK("set_metadata %d %u", place, metadata.size_metadata);
        told(amdgpu_bo_set_metadata(bo, &metadata));
        break;
    case 1:
    case 2:
        memset(&info, 0x55, sizeof info);
        ASK("bo_query_info %d", place);
        told(amdgpu_bo_query_info(bo, &info));
        SAY(", %#" PRIx64 " %#" PRIx64 " %#x %#" PRIx64 " %u, all %#" PRIx64, info.alloc_size, info.phys_alignment, info.preferred_heap,
            info.alloc_flags, info.metadata.size_metadata, digest(&info, sizeof info));
        break;
    case 3:
        ASK("wait_for_idle %d", place);
        told(amdgpu_bo_wait_for_idle(bo, once_in(2) ? ~0ull : 10000000000, &is_busy));
        SAY(", %d", is_busy);
        break;
    default:
        if (free_bo() < 0)
            return;
        SAY("inc_ref %d", place);
        amdgpu_bo_inc_ref(bo);
        bos[free_bo()] = bos[place];
    }
}

static void list(void)
{
    unsigned device;
    amdgpu_device_handle dev = any_device(&device);
    struct list *it = &lists[below(LISTS)];
    amdgpu_bo_handle some[20];
    uint8_t priorities[20];
    struct drm_amdgpu_bo_list_entry entries[20];
    uint32_t count = below(20), raw = 7;
    for (unsigned i = 0; i < 20; i++) {
        const int place = any_bo();
        some[i] = place < 0 ? codes[0].bo : bos[place].bo;
        priorities[i] = (uint8_t)below(once_in(4) ? 256 : 33);
        entries[i] = (struct drm_amdgpu_bo_list_entry){ any_handle(), (uint32_t)any_flags(0) };
    }
    uint8_t *given = once_in(3) ? NULL : priorities;
    switch (below(5)) {
    case 0:
        if (once_in(5))
            count = below(2) ? 0x20000000 : 0xffffffff;
        if (it->list) {
            ASK("list_update %u", count);
            told(amdgpu_bo_list_update(it->list, count, some, given));
            return;
        }
        ASK("list_create %u %u", device, count);
        if (told(amdgpu_bo_list_create(dev, count, some, given, &it->list)) == 0)
            it->device = device;
        else
            it->list = NULL;
        break;
    case 1:
        if (!it->list)
            return;
        ASK("list_destroy");
        if (told(amdgpu_bo_list_destroy(it->list)) == 0)
            it->list = NULL;
        break;
    case 2:
        ASK("list_create_raw %u %u", device, count);
        told(amdgpu_bo_list_create_raw(dev, once_in(6) ? (uint32_t)odd_number() : count, once_in(8) ? NULL : entries, &raw));
        SAY(", %u", raw);
        break;
    default:
        raw = once_in(3) ? (uint32_t)odd_number() : below(40);
        if (it->list && once_in(2))
            return;
        ASK("list_destroy_raw %u %u", device, raw);
        /* Those of `lists` have low numbers too; then their own destruction fails, with either library. */
        told(amdgpu_bo_list_destroy_raw(dev, raw));
    }
}

void random_memory(void)
{
    const int place = any_bo();
    switch (place < 0 ? below(3) : below(14)) {
    case 0:
    case 1:
        alloc();
        break;
    case 2:
        of_user();
        break;
    case 3:
    case 4:
        release(place);
        break;
    case 5:
        import();
        break;
    case 6:
    case 7:
        export(place);
        break;
    case 8:
    case 9:
        cpu(place);
        break;
    case 10:
        list();
        break;
    default:
        facts(place);
    }
}
