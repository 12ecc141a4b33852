/* The device, BOs, addresses and the VM. */
#include "client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xf86drm.h>

struct bo make_bo(struct lab *lab, uint64_t size, uint32_t heap, uint64_t flags)
{
    struct bo bo = { .size = size };
    struct amdgpu_bo_alloc_request request = { size, PAGE, heap, flags };
    void *cpu;
    MUST(amdgpu_bo_alloc(lab->dev, &request, &bo.handle));
    MUST(amdgpu_va_range_alloc(lab->dev, amdgpu_gpu_va_range_general, size, PAGE, 0, &bo.va, &bo.range, 0));
    MUST(amdgpu_bo_va_op(bo.handle, 0, size, bo.va, 0, AMDGPU_VA_OP_MAP));
    MUST(amdgpu_bo_cpu_map(bo.handle, &cpu));
    bo.cpu = cpu;
    return bo;
}

void drop_bo(struct bo *bo)
{
    MUST(amdgpu_bo_cpu_unmap(bo->handle));
    MUST(amdgpu_bo_va_op(bo->handle, 0, bo->size, bo->va, 0, AMDGPU_VA_OP_UNMAP));
    MUST(amdgpu_va_range_free(bo->range));
    MUST(amdgpu_bo_free(bo->handle));
}

static void device(struct lab *lab)
{
    amdgpu_device_handle again, own;
    uint32_t major, minor, accel = 0;
    MUST(amdgpu_device_initialize(lab->fd, &major, &minor, &again));
    ENSURE(again == lab->dev && major == 3);
    MUST(amdgpu_device_deinitialize(again));
    MUST(amdgpu_device_initialize2(lab->fd, false, &major, &minor, &own));
    ENSURE(own != lab->dev);
    MUST(amdgpu_device_deinitialize(own));
    MUST(amdgpu_query_info(lab->dev, AMDGPU_INFO_ACCEL_WORKING, sizeof accel, &accel));
    ENSURE(accel == 1);
    note("3.%u, family %u, %s", minor, lab->info.family_id, amdgpu_get_marketing_name(lab->dev));
}

static void info(struct lab *lab)
{
    struct amdgpu_heap_info vram, visible, gtt;
    struct drm_amdgpu_memory_info memory;
    uint32_t value;
    MUST(amdgpu_query_heap_info(lab->dev, AMDGPU_GEM_DOMAIN_VRAM, 0, &vram));
    MUST(amdgpu_query_heap_info(lab->dev, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED, &visible));
    MUST(amdgpu_query_heap_info(lab->dev, AMDGPU_GEM_DOMAIN_GTT, 0, &gtt));
    MUST(amdgpu_query_info(lab->dev, AMDGPU_INFO_MEMORY, sizeof memory, &memory));
    ENSURE(visible.heap_size <= vram.heap_size && vram.heap_size <= memory.vram.total_heap_size);
    ENSURE(memory.gtt.total_heap_size >= gtt.heap_size && gtt.heap_size > 0);
    REFUSED(amdgpu_query_info(lab->dev, 0xff, sizeof value, &value), EINVAL);
    REFUSED(amdgpu_query_info(lab->dev, AMDGPU_INFO_MEMORY, 0, &memory), EINVAL);
    REFUSED(amdgpu_query_heap_info(lab->dev, AMDGPU_GEM_DOMAIN_GDS, 0, &vram), EINVAL);
    note("VRAM %llu MiB, %llu visible, GTT %llu MiB", (unsigned long long)vram.heap_size >> 20,
         (unsigned long long)visible.heap_size >> 20, (unsigned long long)gtt.heap_size >> 20);
}

static void alloc(struct lab *lab)
{
    const uint32_t heaps[] = { AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_DOMAIN_GTT };
    for (int i = 0; i < 2; i++) {
        struct bo bo = make_bo(lab, 1 << 20, heaps[i], AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED);
        struct amdgpu_bo_info found;
        MUST(amdgpu_bo_query_info(bo.handle, &found));
        ENSURE(found.alloc_size == 1 << 20 && found.preferred_heap == heaps[i]);
        for (uint32_t at = 0; at < bo.size / 4; at++)
            ENSURE(bo.cpu[at] == 0);
        memset(bo.cpu, 0x5a, bo.size);
        ENSURE(bo.cpu[bo.size / 4 - 1] == 0x5a5a5a5a);
        drop_bo(&bo);
    }
    note("1 MiB of VRAM and of GTT, zeroed");
}

static void map(struct lab *lab)
{
    struct amdgpu_bo_alloc_request request = { PAGE, PAGE, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_NO_CPU_ACCESS };
    amdgpu_bo_handle hidden, found;
    struct bo bo = make_bo(lab, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0);
    void *first, *second;
    uint64_t offset;
    MUST(amdgpu_bo_cpu_map(bo.handle, &first));
    MUST(amdgpu_bo_cpu_map(bo.handle, &second));
    ENSURE(first == second && first == (void *)bo.cpu);
    MUST(amdgpu_find_bo_by_cpu_mapping(lab->dev, (char *)first + 100, 4, &found, &offset));
    ENSURE(found == bo.handle && offset == 100);
    MUST(amdgpu_bo_free(found));
    MUST(amdgpu_bo_cpu_unmap(bo.handle));
    MUST(amdgpu_bo_cpu_unmap(bo.handle));
    drop_bo(&bo);
    MUST(amdgpu_bo_alloc(lab->dev, &request, &hidden));
    REFUSED(amdgpu_bo_cpu_map(hidden, &first), EPERM);
    REFUSED(amdgpu_bo_cpu_unmap(hidden), EINVAL);
    MUST(amdgpu_bo_free(hidden));
    note("counted mappings; no mapping without CPU access (EPERM)");
}

static void refusals(struct lab *lab)
{
    struct amdgpu_bo_alloc_request request = { 0, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0 };
    amdgpu_bo_handle bo;
    /* It is the allocator of mmap offsets that finds no room for nothing. */
    REFUSED(amdgpu_bo_alloc(lab->dev, &request, &bo), ENOSPC);
    request = (struct amdgpu_bo_alloc_request){ PAGE, PAGE, 1u << 30, 0 };
    REFUSED(amdgpu_bo_alloc(lab->dev, &request, &bo), EINVAL);
    request = (struct amdgpu_bo_alloc_request){ PAGE, PAGE, AMDGPU_GEM_DOMAIN_GTT, 1ull << 62 };
    REFUSED(amdgpu_bo_alloc(lab->dev, &request, &bo), EINVAL);
    request = (struct amdgpu_bo_alloc_request){ 1ull << 46, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0 };
    REFUSED(amdgpu_bo_alloc(lab->dev, &request, &bo), ENOMEM);
    note("no size, no heap, no flag, 64 TiB");
}

static void metadata(struct lab *lab)
{
    struct bo bo = make_bo(lab, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0);
    struct amdgpu_bo_metadata set = { .tiling_info = 0x9, .size_metadata = 8, .umd_metadata = { 0x1002, 7 } };
    struct amdgpu_bo_info found;
    MUST(amdgpu_bo_set_metadata(bo.handle, &set));
    MUST(amdgpu_bo_query_info(bo.handle, &found));
    ENSURE(found.metadata.tiling_info == 0x9 && found.metadata.size_metadata == 8);
    ENSURE(found.metadata.umd_metadata[0] == 0x1002 && found.metadata.umd_metadata[1] == 7);
    drop_bo(&bo);
}

static void ranges(struct lab *lab)
{
    uint64_t start, end, first, second;
    amdgpu_va_handle a, b;
    struct bo bo = make_bo(lab, 4 * PAGE, AMDGPU_GEM_DOMAIN_GTT, 0);
    MUST(amdgpu_va_range_query(lab->dev, amdgpu_gpu_va_range_general, &start, &end));
    MUST(amdgpu_va_range_alloc(lab->dev, amdgpu_gpu_va_range_general, PAGE, 1 << 21, 0, &first, &a, 0));
    MUST(amdgpu_va_range_alloc(lab->dev, amdgpu_gpu_va_range_general, PAGE, PAGE, 0, &second, &b,
                               AMDGPU_VA_RANGE_32_BIT));
    ENSURE(first % (1 << 21) == 0 && start <= first && first < end && first != second && second >> 32 == 0);
    REFUSED(amdgpu_bo_va_op(bo.handle, 0, PAGE, bo.va + PAGE, 0, AMDGPU_VA_OP_MAP), EINVAL);
    REFUSED(amdgpu_bo_va_op(bo.handle, 0, PAGE, first + 1, 0, AMDGPU_VA_OP_MAP), EINVAL);
    REFUSED(amdgpu_bo_va_op(bo.handle, 0, 8 * PAGE, first, 0, AMDGPU_VA_OP_MAP), EINVAL);
    REFUSED(amdgpu_bo_va_op(bo.handle, 0, PAGE, first, 0, AMDGPU_VA_OP_UNMAP), ENOENT);
    REFUSED(amdgpu_bo_va_op(bo.handle, 0, PAGE, 0x0000900000000000, 0, AMDGPU_VA_OP_MAP), EINVAL);
    REFUSED(amdgpu_bo_va_op(bo.handle, 0, PAGE, first, 0, 99), EINVAL);
    MUST(amdgpu_bo_va_op(bo.handle, PAGE, PAGE, first, 0, AMDGPU_VA_OP_MAP));
    MUST(amdgpu_bo_va_op_raw(lab->dev, bo.handle, 0, 2 * PAGE, first, AMDGPU_VM_PAGE_READABLE, AMDGPU_VA_OP_REPLACE));
    MUST(amdgpu_bo_va_op_raw(lab->dev, NULL, 0, 2 * PAGE, first, 0, AMDGPU_VA_OP_CLEAR));
    MUST(amdgpu_va_range_free(a));
    MUST(amdgpu_va_range_free(b));
    drop_bo(&bo);
    note("overlap, misalignment, excess, absence and the hole refused; %#llx, %#llx", (unsigned long long)first,
         (unsigned long long)second);
}

static void vmid(struct lab *lab)
{
    MUST(amdgpu_vm_reserve_vmid(lab->dev, 0));
    MUST(amdgpu_vm_reserve_vmid(lab->dev, 0));
    MUST(amdgpu_vm_unreserve_vmid(lab->dev, 0));
    MUST(amdgpu_vm_unreserve_vmid(lab->dev, 0));
    REFUSED(amdgpu_vm_reserve_vmid(lab->dev, 1), EINVAL);
}

static void lists(struct lab *lab)
{
    struct bo bo = make_bo(lab, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0);
    amdgpu_bo_list_handle list;
    struct drm_amdgpu_bo_list_entry wrong = { 0xdead, 0 };
    uint32_t raw;
    MUST(amdgpu_bo_list_create(lab->dev, 1, &bo.handle, NULL, &list));
    MUST(amdgpu_bo_list_update(list, 1, &bo.handle, NULL));
    MUST(amdgpu_bo_list_destroy(list));
    REFUSED(amdgpu_bo_list_create(lab->dev, 0, &bo.handle, NULL, &list), EINVAL);
    REFUSED(amdgpu_bo_list_create_raw(lab->dev, 1, &wrong, &raw), ENOENT);
    drop_bo(&bo);
}

static void user_memory(struct lab *lab)
{
    amdgpu_bo_handle bo;
    void *pages = aligned_alloc(PAGE, 4 * PAGE);
    ENSURE(pages);
    MUST(amdgpu_create_bo_from_user_mem(lab->dev, pages, 4 * PAGE, &bo));
    MUST(amdgpu_bo_free(bo));
    REFUSED(amdgpu_create_bo_from_user_mem(lab->dev, (char *)pages + 4, PAGE, &bo), EINVAL);
    free(pages);
}

const struct check bo_checks[] = {
    { "device", "one device a GPU unless asked otherwise, and it works", device },
    { "info", "the heaps agree with each other, and wrong queries are refused", info },
    { "bo.alloc", "BOs of both heaps are zero, and hold what is written", alloc },
    { "bo.map", "CPU mappings are counted, found again, and refused without CPU access", map },
    { "bo.refusals", "impossible BOs are refused", refusals },
    { "bo.metadata", "metadata returns as it was set", metadata },
    { "bo.user", "pages of the process become a BO", user_memory },
    { "bo.list", "BO lists are made, changed and refused", lists },
    { "va", "addresses are handed out, and wrong mappings refused", ranges },
    { "vm.reserve", "a VMID is reserved and given back, also twice", vmid },
    { 0 },
};
