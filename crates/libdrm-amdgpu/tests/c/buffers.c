/* BOs: how they are made, shared, mapped and listed. */
#include "probe.h"

#include <sys/mman.h>
#include <sys/stat.h>

static amdgpu_bo_handle make(amdgpu_device_handle dev, uint64_t size, uint64_t alignment, uint32_t heap, uint64_t flags)
{
    struct amdgpu_bo_alloc_request request = { size, alignment, heap, flags };
    amdgpu_bo_handle bo = NULL;
    printf("  %#" PRIx64 " bytes at %#" PRIx64 " in %u with %#" PRIx64 "\n", size, alignment, heap, flags);
    CALL(amdgpu_bo_alloc(dev, &request, &bo));
    return bo;
}

static void probe_making(amdgpu_device_handle dev)
{
    static const struct amdgpu_bo_alloc_request requests[] = {
        { 4096, 0, 2, 0 },      { 1, 0, 2, 0 },       { 0, 0, 2, 0 },          { 5000, 4096, 4, 1 },     { 4096, 3, 4, 0 },
        { 4096, 0, 0, 0 },      { 4096, 0, 0x80, 0 }, { 4096, 0, 2, 1 << 30 }, { 1ull << 50, 0, 4, 0 },  { 4096, 0, 6, 0x40 },
        { 4096, 1 << 20, 4, 3 }, { ~0ull, 0, 2, 0 },
    };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        const struct amdgpu_bo_alloc_request *r = &requests[i];
        amdgpu_bo_handle bo = make(dev, r->alloc_size, r->phys_alignment, r->preferred_heap, r->flags);
        if (!bo)
            continue;
        struct amdgpu_bo_info info;
        memset(&info, 0x55, sizeof info);
        CALL(amdgpu_bo_query_info(bo, &info));
        SHOW(info.alloc_size);
        SHOW(info.phys_alignment);
        SHOW(info.preferred_heap);
        SHOW(info.alloc_flags);
        CALL(amdgpu_bo_free(bo));
    }
}

static void probe_mapping(amdgpu_device_handle dev)
{
    amdgpu_bo_handle bo = make(dev, 5000, 0, 2, 0), found = NULL;
    void *first = NULL, *second = NULL;
    uint64_t at = 7;
    CALL(amdgpu_bo_cpu_unmap(bo));
    CALL(amdgpu_bo_cpu_map(bo, &first));
    CALL(amdgpu_bo_cpu_map(bo, &second));
    SHOW(first == second);
    *(uint32_t *)first = 0x1234;
    static const struct {
        unsigned offset;
        uint64_t size;
    } places[] = { { 0, 1 }, { 4999, 1 }, { 5000, 1 }, { 16, 4999 }, { 16, 5000 }, { 0, 5001 }, { 0, 0 } };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        found = NULL;
        at = 7;
        SHOW(places[i].offset);
        SHOW(places[i].size);
        int r = CALL(amdgpu_find_bo_by_cpu_mapping(dev, (char *)first + places[i].offset, places[i].size, &found, &at));
        SHOW(at);
        SHOW(found == bo);
        if (!r)
            CALL(amdgpu_bo_free(found));
    }
    CALL(amdgpu_find_bo_by_cpu_mapping(dev, NULL, 1, &found, &at));
    CALL(amdgpu_bo_cpu_unmap(bo));
    CALL(amdgpu_bo_cpu_unmap(bo));
    CALL(amdgpu_bo_cpu_unmap(bo));
    CALL(amdgpu_bo_cpu_map(bo, &first));
    SHOW(*(uint32_t *)first);
    CALL(amdgpu_bo_cpu_map(bo, &first));
    bool busy = true;
    CALL(amdgpu_bo_wait_for_idle(bo, 0, &busy));
    SHOW(busy);
    CALL(amdgpu_bo_wait_for_idle(bo, AMDGPU_TIMEOUT_INFINITE, &busy));
    CALL(amdgpu_bo_free(bo));
    CALL(msync(first, 4096, MS_ASYNC));
    bo = make(dev, 4096, 0, 4, AMDGPU_GEM_CREATE_NO_CPU_ACCESS);
    if (bo) {
        CALL(amdgpu_bo_cpu_map(bo, &first));
        CALL(amdgpu_bo_cpu_unmap(bo));
        CALL(amdgpu_bo_free(bo));
    }
}

static void probe_user_memory(amdgpu_device_handle dev)
{
    void *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    amdgpu_bo_handle bo = NULL;
    CALL(amdgpu_create_bo_from_user_mem(dev, (char *)pages + 1, 4096, &bo));
    CALL(amdgpu_create_bo_from_user_mem(dev, pages, 0, &bo));
    CALL(amdgpu_create_bo_from_user_mem(dev, pages, 100, &bo));
    if (!CALL(amdgpu_create_bo_from_user_mem(dev, pages, 8192, &bo))) {
        void *cpu = NULL;
        uint32_t shared = 7;
        uint64_t at = 7;
        amdgpu_bo_handle found = NULL;
        CALL(amdgpu_bo_cpu_map(bo, &cpu));
        CALL(amdgpu_find_bo_by_cpu_mapping(dev, pages, 4096, &found, &at));
        CALL(amdgpu_bo_export(bo, amdgpu_bo_handle_type_dma_buf_fd, &shared));
        SHOW(shared);
        CALL(amdgpu_bo_free(bo));
    }
    munmap(pages, 8192);
}

static void probe_sharing(amdgpu_device_handle dev)
{
    amdgpu_bo_handle bo = make(dev, 5000, 0, 2, 0);
    uint32_t shared = 0, kms = 0;
    struct amdgpu_bo_import_result first = { NULL, 7 }, second = { NULL, 7 };
    CALL(amdgpu_bo_export(bo, amdgpu_bo_handle_type_kms, &kms));
    SHOW(kms);
    CALL(amdgpu_bo_export(bo, amdgpu_bo_handle_type_kms_noimport, &kms));
    SHOW(kms);
    CALL(amdgpu_bo_export(bo, amdgpu_bo_handle_type_gem_flink_name, &shared));
    CALL(amdgpu_bo_export(bo, 4, &shared));
    CALL(amdgpu_bo_export(bo, amdgpu_bo_handle_type_dma_buf_fd, &shared));
    int fd = (int)shared;
    SHOW(fcntl(fd, F_GETFD));
    CALL(amdgpu_bo_import(dev, amdgpu_bo_handle_type_dma_buf_fd, shared, &first));
    SHOW(first.buf_handle == bo);
    SHOW(first.alloc_size);
    CALL(amdgpu_bo_free(bo));
    CALL(amdgpu_bo_free(bo));
    SHOW(lseek(fd, 0, SEEK_CUR));
    CALL(amdgpu_bo_import(dev, amdgpu_bo_handle_type_dma_buf_fd, shared, &first));
    CALL(amdgpu_bo_import(dev, amdgpu_bo_handle_type_dma_buf_fd, shared, &second));
    SHOW(first.buf_handle == second.buf_handle);
    SHOW(first.alloc_size);
    amdgpu_bo_inc_ref(first.buf_handle);
    void *cpu;
    CALL(amdgpu_bo_cpu_map(first.buf_handle, &cpu));
    for (int i = 0; i < 3; i++)
        CALL(amdgpu_bo_free(first.buf_handle));
    SHOW(fcntl(fd, F_GETFD));

    memset(&first, 0, sizeof first);
    SHOW(amdgpu_bo_import(dev, amdgpu_bo_handle_type_kms, kms, &first));
    SHOW(amdgpu_bo_import(dev, amdgpu_bo_handle_type_kms_noimport, kms, &first));
    CALL(amdgpu_bo_import(dev, 4, kms, &first));
    CALL(amdgpu_bo_import(dev, amdgpu_bo_handle_type_dma_buf_fd, 12345, &first));
    int file = open("/dev/null", O_RDWR);
    CALL(amdgpu_bo_import(dev, amdgpu_bo_handle_type_dma_buf_fd, (uint32_t)file, &first));
    CALL(amdgpu_bo_import(dev, amdgpu_bo_handle_type_gem_flink_name, 1, &first));
    SHOW(first.buf_handle == NULL);
    close(file);

    /* Another device of the same GPU has another file. */
    uint32_t major, minor;
    amdgpu_device_handle own = NULL;
    int node = open_node();
    CALL(amdgpu_device_initialize2(node, false, &major, &minor, &own));
    CALL(amdgpu_bo_import(own, amdgpu_bo_handle_type_dma_buf_fd, shared, &first));
    CALL(amdgpu_bo_import(dev, amdgpu_bo_handle_type_dma_buf_fd, shared, &second));
    SHOW(first.buf_handle != second.buf_handle);
    CALL(amdgpu_bo_free(first.buf_handle));
    CALL(amdgpu_bo_free(second.buf_handle));
    CALL(amdgpu_device_deinitialize(own));
    close(node);
    close(fd);

    bo = make(dev, 4096, 0, 2, AMDGPU_GEM_CREATE_VM_ALWAYS_VALID);
    CALL(amdgpu_bo_export(bo, amdgpu_bo_handle_type_dma_buf_fd, &shared));
    CALL(amdgpu_bo_free(bo));
}

static void probe_names(void)
{
    uint32_t major, minor, name = 0, again = 0;
    amdgpu_device_handle dev = NULL;
    struct amdgpu_bo_import_result first = { NULL, 7 }, second = { NULL, 7 };
    int card = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
    CALL(amdgpu_device_initialize2(card, false, &major, &minor, &dev));
    amdgpu_bo_handle bo = make(dev, 8192, 0, 2, 0);
    CALL(amdgpu_bo_export(bo, amdgpu_bo_handle_type_gem_flink_name, &name));
    CALL(amdgpu_bo_export(bo, amdgpu_bo_handle_type_gem_flink_name, &again));
    SHOW(name);
    SHOW(name == again);
    CALL(amdgpu_bo_import(dev, amdgpu_bo_handle_type_gem_flink_name, name, &first));
    SHOW(first.buf_handle == bo);
    CALL(amdgpu_bo_import(dev, amdgpu_bo_handle_type_gem_flink_name, 77, &second));
    CALL(amdgpu_bo_free(bo));
    CALL(amdgpu_bo_free(bo));
    CALL(amdgpu_device_deinitialize(dev));
    close(card);
}

/* A device of a render node uses the file of an authenticated client for names. */
static void probe_names_elsewhere(amdgpu_device_handle dev)
{
    uint32_t major, minor, name = 0, again = 0;
    amdgpu_device_handle same = NULL, other = NULL;
    struct amdgpu_bo_import_result first = { NULL, 7 }, second = { NULL, 7 };
    int card = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
    CALL(amdgpu_device_initialize(card, &major, &minor, &same));
    SHOW(same == dev);
    CALL(amdgpu_device_initialize2(card, false, &major, &minor, &other));
    amdgpu_bo_handle bo = make(other, 8192, 0, 2, 0), own = make(dev, 4096, 0, 2, 0);
    CALL(amdgpu_bo_export(bo, amdgpu_bo_handle_type_gem_flink_name, &name));
    CALL(amdgpu_bo_import(dev, amdgpu_bo_handle_type_gem_flink_name, name, &first));
    SHOW(first.alloc_size);
    CALL(amdgpu_bo_import(dev, amdgpu_bo_handle_type_gem_flink_name, name, &second));
    SHOW(first.buf_handle == second.buf_handle);
    CALL(amdgpu_bo_import(dev, amdgpu_bo_handle_type_gem_flink_name, 77, &second));
    CALL(amdgpu_bo_export(first.buf_handle, amdgpu_bo_handle_type_gem_flink_name, &again));
    SHOW(again == name);
    CALL(amdgpu_bo_export(own, amdgpu_bo_handle_type_gem_flink_name, &again));
    SHOW(again);
    CALL(amdgpu_bo_free(first.buf_handle));
    CALL(amdgpu_bo_free(first.buf_handle));
    CALL(amdgpu_bo_free(own));
    CALL(amdgpu_bo_free(bo));
    CALL(amdgpu_device_deinitialize(other));
    CALL(amdgpu_device_deinitialize(same));
    close(card);
}

static void probe_metadata(amdgpu_device_handle dev)
{
    amdgpu_bo_handle bo = make(dev, 4096, 0, 2, 0);
    static const uint32_t sizes[] = { 0, 5, 256, 257 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct amdgpu_bo_metadata metadata = { 0x1234, 0x5678, sizes[i], { 0x11223344, 0x55667788 } };
        struct amdgpu_bo_info info;
        memset(&info, 0x55, sizeof info);
        CALL(amdgpu_bo_set_metadata(bo, &metadata));
        CALL(amdgpu_bo_query_info(bo, &info));
        SHOW(info.metadata.flags);
        SHOW(info.metadata.tiling_info);
        SHOW(info.metadata.size_metadata);
        SHOW(info.metadata.umd_metadata[0]);
        SHOW(info.metadata.umd_metadata[1]);
        SHOW(info.metadata.umd_metadata[63]);
    }
    CALL(amdgpu_bo_free(bo));
}

static void probe_lists(amdgpu_device_handle dev)
{
    amdgpu_bo_handle bos[2] = { make(dev, 4096, 0, 2, 0), make(dev, 4096, 0, 2, 0) };
    uint8_t priorities[2] = { 3, 255 };
    amdgpu_bo_list_handle list = NULL;
    uint32_t raw = 0, handles[2];
    CALL(amdgpu_bo_list_create(dev, 0, bos, NULL, &list));
    CALL(amdgpu_bo_list_create(dev, 0x20000000, bos, NULL, &list));
    CALL(amdgpu_bo_list_create(dev, 2, bos, NULL, &list));
    CALL(amdgpu_bo_list_update(list, 1, bos, priorities));
    CALL(amdgpu_bo_list_update(list, 0, bos, priorities));
    CALL(amdgpu_bo_list_destroy(list));
    CALL(amdgpu_bo_list_create(dev, 2, bos, priorities, &list));
    CALL(amdgpu_bo_list_destroy(list));
    for (int i = 0; i < 2; i++)
        amdgpu_bo_export(bos[i], amdgpu_bo_handle_type_kms, &handles[i]);
    struct drm_amdgpu_bo_list_entry entries[2] = { { handles[0], 1 }, { 9999, 0 } };
    CALL(amdgpu_bo_list_create_raw(dev, 1, entries, &raw));
    SHOW(raw);
    CALL(amdgpu_bo_list_destroy_raw(dev, raw));
    CALL(amdgpu_bo_list_destroy_raw(dev, raw));
    CALL(amdgpu_bo_list_create_raw(dev, 2, entries, &raw));
    CALL(amdgpu_bo_list_create_raw(dev, 0, entries, &raw));
    for (int i = 0; i < 2; i++)
        CALL(amdgpu_bo_free(bos[i]));
}

void probe_buffers(amdgpu_device_handle dev)
{
    probe_making(dev);
    probe_mapping(dev);
    probe_user_memory(dev);
    probe_sharing(dev);
    probe_names();
    probe_names_elsewhere(dev);
    probe_metadata(dev);
    probe_lists(dev);
}
