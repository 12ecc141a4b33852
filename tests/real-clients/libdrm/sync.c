/* Syncobjs, binary and with timelines. */
#include "client.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

enum { FOR_SUBMIT = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT };

int64_t deadline(int64_t milliseconds)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + milliseconds * 1000000;
}

static void binary(struct lab *lab)
{
    uint32_t object, first;
    MUST(amdgpu_cs_create_syncobj(lab->dev, &object));
    REFUSED(amdgpu_cs_syncobj_wait(lab->dev, &object, 1, deadline(10), 0, &first), EINVAL);
    REFUSED(amdgpu_cs_syncobj_wait(lab->dev, &object, 1, deadline(10), FOR_SUBMIT, &first), ETIME);
    MUST(amdgpu_cs_syncobj_signal(lab->dev, &object, 1));
    MUST(amdgpu_cs_syncobj_wait(lab->dev, &object, 1, 0, 0, &first));
    MUST(amdgpu_cs_syncobj_reset(lab->dev, &object, 1));
    REFUSED(amdgpu_cs_syncobj_wait(lab->dev, &object, 1, 0, FOR_SUBMIT, &first), ETIME);
    MUST(amdgpu_cs_destroy_syncobj(lab->dev, object));
    REFUSED_ERRNO(amdgpu_cs_destroy_syncobj(lab->dev, object), EINVAL);
    REFUSED_ERRNO(amdgpu_cs_syncobj_signal(lab->dev, &object, 1), ENOENT);
    MUST(amdgpu_cs_create_syncobj2(lab->dev, DRM_SYNCOBJ_CREATE_SIGNALED, &object));
    MUST(amdgpu_cs_syncobj_wait(lab->dev, &object, 1, 0, 0, &first));
    MUST(amdgpu_cs_destroy_syncobj(lab->dev, object));
    REFUSED_ERRNO(amdgpu_cs_create_syncobj2(lab->dev, 0x80, &object), EINVAL);
}

static void timeline(struct lab *lab)
{
    uint32_t line, copy, first;
    uint64_t point = 5, value = 0, high = 9;
    MUST(amdgpu_cs_create_syncobj(lab->dev, &line));
    MUST(amdgpu_cs_create_syncobj(lab->dev, &copy));
    MUST(amdgpu_cs_syncobj_query(lab->dev, &line, &value, 1));
    ENSURE(value == 0);
    MUST(amdgpu_cs_syncobj_timeline_signal(lab->dev, &line, &point, 1));
    MUST(amdgpu_cs_syncobj_query(lab->dev, &line, &value, 1));
    ENSURE(value == 5);
    MUST(amdgpu_cs_syncobj_timeline_wait(lab->dev, &line, &point, 1, 0, 0, &first));
    REFUSED(amdgpu_cs_syncobj_timeline_wait(lab->dev, &line, &high, 1, deadline(10), FOR_SUBMIT, &first), ETIME);
    REFUSED(amdgpu_cs_syncobj_timeline_wait(lab->dev, &line, &high, 1, deadline(10), 0, &first), EINVAL);
    MUST(amdgpu_cs_syncobj_transfer(lab->dev, copy, 3, line, 5, 0));
    MUST(amdgpu_cs_syncobj_query(lab->dev, &copy, &value, 1));
    ENSURE(value == 3);
    MUST(amdgpu_cs_destroy_syncobj(lab->dev, line));
    MUST(amdgpu_cs_destroy_syncobj(lab->dev, copy));
}

/* A job waits for 4 of a timeline and signals 7; the CPU lets it go. */
static void jobs(struct lab *lab)
{
    struct bo ib = make_bo(lab, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0), target = make_bo(lab, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0);
    struct bo *const bos[] = { &target };
    amdgpu_context_handle context;
    uint32_t in, out, first;
    uint64_t seq, four = 4, seven = 7, value;
    MUST(amdgpu_cs_ctx_create(lab->dev, &context));
    MUST(amdgpu_cs_create_syncobj(lab->dev, &in));
    MUST(amdgpu_cs_create_syncobj(lab->dev, &out));
    MUST(amdgpu_cs_syncobj_timeline_signal(lab->dev, &in, &four, 1));
    uint32_t bytes = write_ib(lab, &ib, AMDGPU_HW_IP_COMPUTE, target.va, 4711);
    MUST(submit(lab, context, AMDGPU_HW_IP_COMPUTE, &ib, bytes, bos, 1, (struct extras){ in, out, 4, 7 }, &seq));
    MUST(amdgpu_cs_syncobj_timeline_wait(lab->dev, &out, &seven, 1, deadline(10000), 0, &first));
    MUST(amdgpu_cs_syncobj_query(lab->dev, &out, &value, 1));
    ENSURE(value == 7 && target.cpu[0] == 4711 && ended(context, AMDGPU_HW_IP_COMPUTE, seq));
    MUST(amdgpu_cs_destroy_syncobj(lab->dev, in));
    MUST(amdgpu_cs_destroy_syncobj(lab->dev, out));
    MUST(amdgpu_cs_ctx_free(context));
    drop_bo(&target);
    drop_bo(&ib);
}

/* The fence of a job as a syncobj, as a descriptor of one, and as a sync file. */
static void handles(struct lab *lab)
{
    struct bo ib = make_bo(lab, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0);
    amdgpu_context_handle context;
    uint32_t object, imported, first;
    uint64_t seq;
    int shared, file;
    MUST(amdgpu_cs_ctx_create(lab->dev, &context));
    uint32_t bytes = write_ib(lab, &ib, AMDGPU_HW_IP_COMPUTE, 0, 0);
    MUST(submit(lab, context, AMDGPU_HW_IP_COMPUTE, &ib, bytes, NULL, 0, (struct extras){ 0 }, &seq));
    struct amdgpu_cs_fence fence = { context, AMDGPU_HW_IP_COMPUTE, 0, 0, seq };
    MUST(amdgpu_cs_fence_to_handle(lab->dev, &fence, AMDGPU_FENCE_TO_HANDLE_GET_SYNCOBJ, &object));
    MUST(amdgpu_cs_syncobj_wait(lab->dev, &object, 1, deadline(10000), 0, &first));
    MUST(amdgpu_cs_export_syncobj(lab->dev, object, &shared));
    MUST(amdgpu_cs_import_syncobj(lab->dev, shared, &imported));
    ENSURE(imported != object);
    MUST(amdgpu_cs_syncobj_wait(lab->dev, &imported, 1, 0, 0, &first));
    MUST(amdgpu_cs_syncobj_reset(lab->dev, &imported, 1));
    REFUSED(amdgpu_cs_syncobj_wait(lab->dev, &object, 1, 0, 0, &first), EINVAL);
    close(shared);
    MUST(amdgpu_cs_syncobj_signal(lab->dev, &object, 1));
    MUST(amdgpu_cs_syncobj_export_sync_file(lab->dev, object, &file));
    MUST(amdgpu_cs_syncobj_reset(lab->dev, &object, 1));
    MUST(amdgpu_cs_syncobj_import_sync_file(lab->dev, object, file));
    MUST(amdgpu_cs_syncobj_wait(lab->dev, &object, 1, 0, 0, &first));
    close(file);
    MUST(amdgpu_cs_destroy_syncobj(lab->dev, object));
    MUST(amdgpu_cs_destroy_syncobj(lab->dev, imported));
    MUST(amdgpu_cs_ctx_free(context));
    drop_bo(&ib);
}

const struct check sync_checks[] = {
    { "syncobj.binary", "a syncobj is waited for, signalled, reset, and gone", binary },
    { "syncobj.timeline", "points are signalled, queried, waited for and transferred", timeline },
    { "syncobj.jobs", "a job waits for one point and signals another", jobs },
    { "syncobj.handles", "a job's fence leaves as syncobj, descriptor and sync file", handles },
    { 0 },
};
