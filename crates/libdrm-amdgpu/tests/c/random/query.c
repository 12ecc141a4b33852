/* Queries, devices, and what is rarely called. */
#define _GNU_SOURCE
#include "random.h"

#include <dlfcn.h>

/* Since 2.4.125, which a header may not declare. */
typedef int uq_area(amdgpu_device_handle, unsigned, unsigned, void *);
typedef int create_queue(amdgpu_device_handle, uint32_t, uint32_t, uint32_t, uint64_t, uint64_t, uint64_t, uint64_t, void *, uint32_t,
                         uint32_t *);
typedef int free_queue(amdgpu_device_handle, uint32_t);
typedef int queue_fence(amdgpu_device_handle, void *);

static uint32_t wide[1024];

/* Not what changes with time: the clock, counters of bytes moved and evictions, sensors, the fault. */
static void info(amdgpu_device_handle dev, unsigned device)
{
    const uint32_t id = once_in(5) ? (uint32_t)odd_number() : below(0x25);
    const uint32_t size = once_in(4) ? below(4) : once_in(8) ? (uint32_t)odd_number() : 4 * below(200);
    memset(wide, 0x55, sizeof wide);
    ASK("query_info %u %#x %#x", device, id, size);
    told(amdgpu_query_info(dev, id, size, once_in(10) ? NULL : wide));
    if (id != AMDGPU_INFO_TIMESTAMP && id != AMDGPU_INFO_NUM_BYTES_MOVED && id != AMDGPU_INFO_NUM_EVICTIONS && id != AMDGPU_INFO_SENSOR)
        SAY(", %#" PRIx64, digest(wide, sizeof wide));
}

static void known(amdgpu_device_handle dev, unsigned device)
{
    const uint32_t a = once_in(5) ? (uint32_t)odd_number() : below(30), b = once_in(5) ? (uint32_t)odd_number() : below(3);
    uint32_t one = 0x55555555, two = 0x55555555;
    union {
        struct drm_amdgpu_info_hw_ip ip;
        struct amdgpu_gpu_info gpu;
        struct amdgpu_heap_info heap;
        struct amdgpu_gds_resource_info gds;
        struct amdgpu_buffer_size_alignments sizes;
    } out;
    memset(&out, 0x55, sizeof out);
    memset(wide, 0x55, sizeof wide);
    const unsigned kind = below(14);
    ASK("known %u kind %u %#x %#x", device, kind, a, b);
    switch (kind) {
    case 0:
        told(amdgpu_query_crtc_from_id(dev, a, (int32_t *)&one));
        break;
    case 1:
        told(amdgpu_query_hw_ip_count(dev, a, &one));
        break;
    case 2:
        told(amdgpu_query_hw_ip_info(dev, a, b, &out.ip));
        break;
    case 3:
        told(amdgpu_query_firmware_version(dev, a, b, once_in(3), &one, &two));
        break;
    case 4:
        told(amdgpu_query_gpu_info(once_in(8) ? NULL : dev, once_in(8) ? NULL : &out.gpu));
        break;
    case 5:
        told(amdgpu_query_heap_info(dev, once_in(3) ? a : 2 + 2 * (b & 1), once_in(3) ? a : b & 1, &out.heap));
        break;
    case 6:
        told(amdgpu_query_gds_info(dev, once_in(8) ? NULL : &out.gds));
        break;
    case 7:
        told(amdgpu_query_buffer_size_alignment(dev, &out.sizes));
        break;
    case 8:
        told(amdgpu_query_sw_info(dev, is_newer ? a % 4 : a == 1 ? 2 : a % 4 == 1 ? 0 : a % 4, &one));
        break;
    case 9:
        told(amdgpu_query_sensor_info(dev, a, once_in(3) ? b : 4, &two));
        return;
    case 10:
        told(amdgpu_query_video_caps_info(dev, b, once_in(3) ? a : 168, wide));
        break;
    case 11:
        told(amdgpu_read_mm_registers(dev, once_in(3) ? a : 0x263e, once_in(3) ? b : 1, once_in(3) ? b : 0xffffffff, once_in(4) ? b : 0, wide));
        break;
    case 12:
        told(amdgpu_query_gpuvm_fault_info(dev, once_in(2) ? a : 16, wide));
        break;
    default:
        SAY(" %s", amdgpu_get_marketing_name(dev));
    }
    SAY(", %#x %#x %#" PRIx64 " %#" PRIx64, one, two, digest(&out, sizeof out), digest(wide, sizeof wide));
}

static void user_queue(amdgpu_device_handle dev, unsigned device)
{
    const uint32_t ip = below(5), flags = once_in(4) ? (uint32_t)odd_number() : 0;
    uint64_t mqd[4] = { any_address(), any_address(), 0, 0 }, words[9] = { 0 };
    uint32_t id = 7, areas[4] = { 7, 7, 7, 7 };
    const unsigned kind = below(5);
    ASK("user queue %u kind %u ip %u", device, kind, ip);
    switch (kind) {
    case 0:
        told(((uq_area *)dlsym(RTLD_DEFAULT, "amdgpu_query_uq_fw_area_info"))(dev, ip, once_in(4), areas));
        break;
    case 1: {
        create_queue *create = (create_queue *)dlsym(RTLD_DEFAULT, "amdgpu_create_userqueue");
        const uint64_t queue = any_address(), size = any_size(), wptr = any_address(), rptr = any_address();
        told(create(once_in(8) ? NULL : dev, ip, any_handle(), below(2000), queue, size, wptr, rptr, once_in(6) ? NULL : mqd, flags, &id));
        break;
    }
    case 2:
        told(((free_queue *)dlsym(RTLD_DEFAULT, "amdgpu_free_userqueue"))(dev, once_in(3) ? (uint32_t)odd_number() : below(4)));
        break;
    case 3:
        words[0] = below(3);
        told(((queue_fence *)dlsym(RTLD_DEFAULT, "amdgpu_userq_signal"))(dev, words));
        break;
    default:
        words[0] = below(3);
        told(((queue_fence *)dlsym(RTLD_DEFAULT, "amdgpu_userq_wait"))(dev, words));
    }
    SAY(", %u %#" PRIx64 " %#" PRIx64, id, digest(areas, sizeof areas), digest(words, sizeof words));
}

void random_query(void)
{
    unsigned device;
    amdgpu_device_handle dev = any_device(&device);
    if (is_newer && once_in(6))
        user_queue(dev, device);
    else if (once_in(2))
        info(dev, device);
    else
        known(dev, device);
}

/* Devices once more, from descriptors of any kind, and reserved VMIDs. */
void random_device(void)
{
    static const char *const nodes[] = { "/dev/dri/renderD128", "/dev/dri/card0", "/dev/null" };
    unsigned device;
    amdgpu_device_handle dev = any_device(&device), again = (amdgpu_device_handle)&device;
    uint32_t major = 7, minor = 7;
    const unsigned node = below(3);
    const bool is_shared = !once_in(4);
    switch (below(2)) {
    case 0: {
        const uint32_t flags = once_in(3) ? (uint32_t)odd_number() : 0;
        const bool is_reserved = once_in(2);
        ASK("vmid %u %#x %d", device, flags, is_reserved);
        told(is_reserved ? amdgpu_vm_reserve_vmid(dev, flags) : amdgpu_vm_unreserve_vmid(dev, flags));
        break;
    }
    default: {
        /* libdrm asks the kernel about a descriptor of -1, and ours does not. */
        const int other = any_fd();
        const int fd = once_in(3) && other >= 0 ? other : open(nodes[node], O_RDWR | O_CLOEXEC);
        ASK("initialize %s %d", fd == other ? "another file" : nodes[node], is_shared);
        const int result = told(amdgpu_device_initialize2(fd, is_shared, &major, &minor, &again));
        SAY(", %u %u, null %d, known %d %d %d", major, minor, again == NULL, again == devices[0], again == devices[1], again == devices[2]);
        if (result == 0)
            SAY(", %d", amdgpu_device_deinitialize(again));
        if (fd != other)
            close(fd);
    }
    }
}
