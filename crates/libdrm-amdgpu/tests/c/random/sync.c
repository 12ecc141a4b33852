/* Sync objects and sync files. */
#include "random.h"

/* The device, or null, which libdrm answers here. */
static amdgpu_device_handle one(unsigned *index)
{
    amdgpu_device_handle dev = any_device(index);
    return once_in(20) ? NULL : dev;
}

static void make(amdgpu_device_handle dev, unsigned device)
{
    uint32_t handle = 7;
    const uint32_t flags = once_in(4) ? (uint32_t)odd_number() : below(2);
    const bool is_plain = once_in(3);
    ASK("create_syncobj %u %#x", device, is_plain ? 0 : flags);
    if (told(is_plain ? amdgpu_cs_create_syncobj(dev, &handle) : amdgpu_cs_create_syncobj2(dev, flags, &handle)) == 0)
        syncobjs[below(SYNCOBJS)] = handle;
    SAY(", %u", handle);
}

static void arrays(amdgpu_device_handle dev, unsigned device)
{
    uint32_t several[6], first = 7;
    uint64_t points[6];
    const uint32_t count = once_in(30) ? 0x40000001 : below(7), flags = once_in(5) ? (uint32_t)odd_number() & ~2u : below(2);
    for (unsigned i = 0; i < 6; i++) {
        several[i] = any_syncobj();
        points[i] = once_in(6) ? odd_number() : below(6);
    }
    uint32_t *given = once_in(30) ? NULL : several;
    uint64_t *at = once_in(30) ? NULL : points;
    /* Past, so that nothing waits; what was submitted is done. */
    const int64_t timeout = once_in(4) ? (int64_t)(odd_number() | 1ull << 63) : 0;
    const unsigned kind = below(7);
    ASK("syncobjs %u kind %u count %u flags %#x:", device, kind, count, flags);
    for (unsigned i = 0; i < 6; i++)
        SAY(" %u@%" PRIu64, several[i], points[i]);
    switch (kind) {
    case 0:
        told(amdgpu_cs_syncobj_reset(dev, given, count));
        break;
    case 1:
        told(amdgpu_cs_syncobj_signal(dev, given, count));
        break;
    case 2:
        told(amdgpu_cs_syncobj_timeline_signal(dev, given, at, count));
        break;
    case 3:
        told(amdgpu_cs_syncobj_wait(dev, given, count, timeout, flags, once_in(3) ? NULL : &first));
        break;
    case 4:
        told(amdgpu_cs_syncobj_timeline_wait(dev, given, at, count, timeout, flags | (once_in(4) ? 4 : 0), once_in(3) ? NULL : &first));
        break;
    case 5:
        told(amdgpu_cs_syncobj_query(dev, given, at, count));
        break;
    default:
        told(amdgpu_cs_syncobj_query2(dev, given, at, count, flags));
    }
    SAY(", first %u, points %#" PRIx64, first, digest(points, sizeof points));
}

static void files(amdgpu_device_handle dev, unsigned device)
{
    const uint32_t handle = any_syncobj(), flags = once_in(6) ? (uint32_t)odd_number() : 0;
    const uint64_t point = once_in(6) ? odd_number() : below(4);
    uint32_t got = 7;
    int fd = -7;
    const int given = any_fd();
    const unsigned kind = below(6);
    int result;
    ASK("sync_file %u kind %u of %u@%" PRIu64 " %#x", device, kind, handle, point, flags);
    switch (kind) {
    case 0:
        result = told(amdgpu_cs_export_syncobj(dev, handle, &fd));
        break;
    case 1:
        if (told(amdgpu_cs_import_syncobj(dev, given, &got)) == 0)
            syncobjs[below(SYNCOBJS)] = got;
        SAY(", %u", got);
        return;
    case 2:
        result = told(amdgpu_cs_syncobj_export_sync_file(dev, handle, &fd));
        break;
    case 3:
        told(amdgpu_cs_syncobj_import_sync_file(dev, handle, given));
        return;
    case 4:
        result = told(amdgpu_cs_syncobj_export_sync_file2(dev, handle, point, flags, &fd));
        break;
    default:
        told(amdgpu_cs_syncobj_import_sync_file2(dev, handle, point, given));
        return;
    }
    if (result == 0) {
        SAY(", flags %d", fcntl(fd, F_GETFD));
        keep_fd(fd);
    } else {
        SAY(", %d", fd);
    }
}

void random_sync(void)
{
    unsigned device;
    amdgpu_device_handle dev = one(&device);
    const uint32_t from = any_syncobj(), to = any_syncobj();
    switch (below(10)) {
    case 0:
    case 1:
    case 2:
        make(dev, device);
        break;
    case 3:
        ASK("destroy_syncobj %u %u", device, from);
        told(amdgpu_cs_destroy_syncobj(dev, from));
        break;
    case 4: {
        const uint64_t source = below(4), target = once_in(8) ? odd_number() : below(5);
        const uint32_t flags = once_in(6) ? (uint32_t)odd_number() & ~2u : 0;
        ASK("transfer %u %u@%" PRIu64 " to %u@%" PRIu64 " %#x", device, from, source, to, target, flags);
        told(amdgpu_cs_syncobj_transfer(dev, to, target, from, source, flags));
        break;
    }
    case 5:
    case 6:
    case 7:
        arrays(dev, device);
        break;
    default:
        files(dev, device);
    }
}
