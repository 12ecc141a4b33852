/* Contexts, submissions, fences and semaphores. */
#include "random.h"

static void create(void)
{
    unsigned device;
    amdgpu_device_handle dev = any_device(&device);
    struct context *it = &contexts[below(CONTEXTS)];
    static const uint32_t priorities[] = { 0, 0, 512, 1023, 0xfffffe00, 0xfffffc01, 0xfffff800, 7, 0x80000000 };
    const uint32_t priority = priorities[below(9)];
    const bool is_plain = once_in(2), is_null = once_in(12), has_place = !once_in(12);
    if (it->context)
        return;
    ASK("ctx_create %u %#x %d", device, is_plain ? 0 : priority, has_place);
    amdgpu_context_handle *place = has_place ? &it->context : NULL;
    dev = is_null ? NULL : dev;
    told(is_plain ? amdgpu_cs_ctx_create(dev, place) : amdgpu_cs_ctx_create2(dev, priority, place));
    memset(it->last, 0, sizeof it->last);
    it->device = device;
}

/* A context that a semaphore stands for stays: libdrm keeps its address. */
static bool is_needed(amdgpu_context_handle context)
{
    for (unsigned i = 0; i < SEMAPHORES; i++)
        if (semaphores[i].semaphore && semaphores[i].is_signalled && semaphores[i].by == context)
            return true;
    return false;
}

static void let_go(amdgpu_context_handle waiting, int ip, unsigned ring)
{
    for (unsigned i = 0; i < SEMAPHORES; i++) {
        struct semaphore *it = &semaphores[i];
        if (it->is_queued && it->waiting == waiting && (ip < 0 || (it->ip == (unsigned)ip && it->ring == ring)))
            it->is_queued = it->is_signalled = false;
    }
}

static void destroy(struct context *it)
{
    if (once_in(8)) {
        ASK("ctx_free null");
        told(amdgpu_cs_ctx_free(NULL));
        return;
    }
    if (!it->context || is_needed(it->context))
        return;
    ASK("ctx_free");
    let_go(it->context, -1, 0);
    told(amdgpu_cs_ctx_free(it->context));
    it->context = NULL;
}

/* Waits, so that no answer depends on how fast the GPU is. */
static void settle(struct context *it, uint32_t ip, uint32_t ring, uint64_t sequence)
{
    struct amdgpu_cs_fence fence = { it->context, ip, 0, ring, sequence };
    uint32_t expired = 7;
    ASK(", settled");
    told(amdgpu_cs_query_fence_status(&fence, AMDGPU_TIMEOUT_INFINITE, 0, &expired));
    SAY(" %u", expired);
}

static struct amdgpu_cs_fence any_fence(void)
{
    const int other = any_context();
    struct context *it = &contexts[other < 0 ? 0 : other];
    struct amdgpu_cs_fence fence = { it->context, once_in(8) ? (uint32_t)odd_number() : below(3), 0, once_in(8) ? (uint32_t)odd_number() : below(2), 0 };
    if (fence.ip_type < IPS && fence.ring < RINGS)
        fence.fence = it->last[fence.ip_type][fence.ring];
    if (once_in(6))
        fence.fence = odd_number();
    return fence;
}

/* NOPs of an engine. */
static uint64_t nops(const struct context *it, uint32_t ip)
{
    return codes[it->device].va + (ip == AMDGPU_HW_IP_DMA ? 2048 : 0);
}

/* Any BO for a user fence, but not the one with the code of the device: its number may be that of another device's BO. */
static amdgpu_bo_handle any_place(const struct context *it)
{
    const int bo = any_bo();
    uint32_t handle = 0, code = 0;
    if (bo < 0 || amdgpu_bo_export(bos[bo].bo, amdgpu_bo_handle_type_kms, &handle) ||
        amdgpu_bo_export(codes[it->device].bo, amdgpu_bo_handle_type_kms, &code) || handle == code)
        return NULL;
    return bos[bo].bo;
}

static void submit(struct context *it)
{
    struct amdgpu_cs_ib_info ibs[3][40];
    struct amdgpu_cs_fence fences[10];
    struct amdgpu_cs_request requests[3];
    const uint32_t count = once_in(20) ? 0 : once_in(4) ? below(4) : 1;
    for (unsigned i = 0; i < 120; i++)
        ibs[i / 40][i % 40] = (struct amdgpu_cs_ib_info){ once_in(20) ? odd_number() : 0, 0, 8 * (1 + below(8)) };
    for (unsigned i = 0; i < 10; i++)
        fences[i] = any_fence();
    ASK("submit %u:", count);
    for (unsigned i = 0; i < 3; i++) {
        amdgpu_bo_handle bo = any_place(it);
        const struct list *list = &lists[below(LISTS)];
        requests[i] = (struct amdgpu_cs_request){
            .flags = odd_number(),
            .ip_type = once_in(12) ? (uint32_t)odd_number() : below(3),
            .ring = once_in(8) ? (uint32_t)odd_number() : 0,
            .resources = once_in(4) ? list->list : NULL,
            .number_of_dependencies = once_in(3) ? below(11) : 0,
            .dependencies = fences,
            .number_of_ibs = once_in(8) ? below(41) : 1,
            .ibs = ibs[i],
            .seq_no = 7,
        };
        for (unsigned ib = 0; ib < 40; ib++)
            ibs[i][ib].ib_mc_address = nops(it, requests[i].ip_type);
        if (once_in(4))
            requests[i].fence_info = (struct amdgpu_cs_fence_info){ bo, once_in(3) ? odd_number() : below(600) };
        SAY(" ip %u ring %u ibs %u deps %u;", requests[i].ip_type, requests[i].ring, requests[i].number_of_ibs, requests[i].number_of_dependencies);
    }
    if (once_in(10)) {
        const bool has_context = once_in(2);
        told(amdgpu_cs_submit(has_context ? it->context : NULL, 0, has_context ? NULL : requests, count));
        return;
    }
    told(amdgpu_cs_submit(it->context, odd_number(), requests, count));
    for (unsigned i = 0; i < count && i < 3; i++) {
        const struct amdgpu_cs_request *r = &requests[i];
        SAY(", %" PRIu64, r->seq_no);
        if (r->seq_no != 7 && r->seq_no != 0 && r->ip_type < IPS && r->ring < RINGS) {
            it->last[r->ip_type][r->ring] = r->seq_no;
            settle(it, r->ip_type, r->ring, r->seq_no);
        }
        /* The semaphores of a ring go with its next submission, also with one that the kernel refuses, which is the last. */
        if (r->ip_type < IPS && r->ring < RINGS && r->number_of_ibs)
            let_go(it->context, (int)r->ip_type, r->ring);
        if (r->seq_no == 7)
            break;
    }
}

static void raw(struct context *it)
{
    struct drm_amdgpu_cs_chunk_ib ibs[6];
    struct drm_amdgpu_cs_chunk_dep deps[3];
    struct drm_amdgpu_cs_chunk_fence user;
    struct drm_amdgpu_cs_chunk_sem semaphores[3];
    struct drm_amdgpu_cs_chunk_syncobj points[3];
    struct drm_amdgpu_bo_list_entry entries[4];
    struct drm_amdgpu_bo_list_in in = { ~0u, ~0u, below(5), once_in(6) ? below(20) : sizeof *entries, (uintptr_t)entries };
    struct drm_amdgpu_cs_chunk chunks[24];
    const uint32_t ip = below(3);
    const unsigned count = once_in(12) ? 0 : once_in(10) ? 24 : 1 + below(5);
    uint64_t sequence = 7;
    for (unsigned i = 0; i < 6; i++)
        {
        const uint32_t its = once_in(15) ? (uint32_t)odd_number() : ip, ring = once_in(15) ? (uint32_t)odd_number() : 0;
        ibs[i] = (struct drm_amdgpu_cs_chunk_ib){ 0, once_in(20) ? (uint32_t)odd_number() : 0, nops(it, its), 32 * (1 + below(8)), its, 0, ring };
    }
    for (unsigned i = 0; i < 3; i++) {
        struct amdgpu_cs_fence fence = any_fence();
        if (fence.context)
            amdgpu_cs_chunk_fence_to_dep(&fence, &deps[i]);
        else
            memset(&deps[i], 0, sizeof deps[i]);
        semaphores[i].handle = any_syncobj();
        points[i] = (struct drm_amdgpu_cs_chunk_syncobj){ any_syncobj(), once_in(3), below(6) };
    }
    for (unsigned i = 0; i < 4; i++)
        entries[i] = (struct drm_amdgpu_bo_list_entry){ any_handle(), (uint32_t)any_flags(0) };
    struct amdgpu_cs_fence_info info = { any_place(it), once_in(3) ? odd_number() : below(600) };
    struct drm_amdgpu_cs_chunk_data data = { .fence_data = { 0, 0 } };
    if (info.handle)
        amdgpu_cs_chunk_fence_info_to_data(&info, &data);
    user = data.fence_data;
    SAY("user fence %u %u; syncobjs", user.handle, user.offset);
    for (unsigned i = 0; i < 3; i++)
        SAY(" %u %u@%" PRIu64, semaphores[i].handle, points[i].handle, (uint64_t)points[i].point);
    const struct {
        uint32_t id, size;
        void *payload;
    } kinds[] = {
        { AMDGPU_CHUNK_ID_IB, sizeof *ibs, ibs },
        { AMDGPU_CHUNK_ID_FENCE, sizeof user, &user },
        { AMDGPU_CHUNK_ID_DEPENDENCIES, sizeof deps, deps },
        { AMDGPU_CHUNK_ID_SYNCOBJ_IN, sizeof semaphores[0], semaphores },
        { AMDGPU_CHUNK_ID_SYNCOBJ_OUT, sizeof semaphores[0], semaphores + 1 },
        { AMDGPU_CHUNK_ID_BO_HANDLES, sizeof in, &in },
        { AMDGPU_CHUNK_ID_SCHEDULED_DEPENDENCIES, sizeof deps[0], deps },
        { AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT, sizeof points[0], points },
        { AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL, sizeof points, points },
        { 0, 4, ibs },
        { 0x77, 16, ibs },
    };
    /* The sequence number is that of the last IB's ring. */
    unsigned leader = 0;
    SAY("; raw chunks");
    for (unsigned i = 0; i < 24; i++) {
        const unsigned kind = i == 0 || !once_in(3) ? 0 : below(11);
        chunks[i] = (struct drm_amdgpu_cs_chunk){ kinds[kind].id, kinds[kind].size / 4, (uintptr_t)kinds[kind].payload + (kind ? 0 : i % 6 * sizeof *ibs) };
        if (once_in(40))
            chunks[i].length_dw = below(3);
        if (once_in(60))
            chunks[i].chunk_data = below(2) ? 0 : 16;
        if (i < count && kind == 0)
            leader = i % 6;
        if (i < count)
            SAY(" %u", chunks[i].chunk_id);
    }
    /* What cannot be waited for is not submitted: without a number, or with another device's context. */
    uint64_t *place = count == 0 && once_in(2) ? NULL : &sequence;
    const struct list *list = &lists[below(LISTS)];
    const uint32_t handle = once_in(3) ? below(20) : 0;
    amdgpu_device_handle dev = devices[count == 0 ? below(DEVICES) : it->device];
    ASK(" ip %u", ip);
    told(once_in(2) ? amdgpu_cs_submit_raw(dev, it->context, once_in(3) ? list->list : NULL, (int)count, chunks, place)
                    : amdgpu_cs_submit_raw2(dev, it->context, handle, (int)count, chunks, place));
    SAY(", %" PRIu64, sequence);
    if (sequence != 7) {
        const uint32_t its = ibs[leader].ip_type, ring = ibs[leader].ring;
        if (its < IPS && ring < RINGS)
            it->last[its][ring] = sequence;
        settle(it, its, ring, sequence);
    }
}

static void wait(void)
{
    struct amdgpu_cs_fence fences[4] = { any_fence(), any_fence(), any_fence(), any_fence() };
    uint32_t status = 7, first = 7;
    const uint32_t count = below(5);
    const bool all = once_in(2);
    const uint64_t timeout = once_in(3) ? AMDGPU_TIMEOUT_INFINITE : once_in(2) ? 1000000000000 : ~0ull - 1;
    struct amdgpu_cs_fence *given = once_in(12) ? NULL : fences;
    uint32_t *place = once_in(12) ? NULL : &status;
    if (once_in(12))
        fences[below(4)].context = NULL;
    switch (below(3)) {
    case 0:
        ASK("fence_status");
        told(amdgpu_cs_query_fence_status(given, timeout, once_in(2), place));
        SAY(", %u", status);
        break;
    case 1: {
        ASK("wait_fences %u %d", count, all);
        told(amdgpu_cs_wait_fences(given, count, all, timeout, place, once_in(3) ? NULL : &first));
        SAY(", %u %u", status, first);
        break;
    }
    default: {
        unsigned device;
        amdgpu_device_handle dev = any_device(&device);
        const uint32_t what = below(4);
        if (!fences[0].context)
            return;
        ASK("fence_to_handle %u %u of %" PRIu64, device, what, fences[0].fence);
        if (told(amdgpu_cs_fence_to_handle(dev, &fences[0], what, &status)) != 0)
            return;
        if (what == AMDGPU_FENCE_TO_HANDLE_GET_SYNCOBJ)
            syncobjs[below(SYNCOBJS)] = status;
        else
            keep_fd((int)status);
    }
    }
}

static void semaphore(void)
{
    const unsigned index = below(SEMAPHORES);
    struct semaphore *it = &semaphores[index];
    const int other = any_context();
    amdgpu_context_handle context = other < 0 || once_in(12) ? NULL : contexts[other].context;
    const uint32_t ip = once_in(10) ? (uint32_t)odd_number() : below(3), ring = once_in(10) ? (uint32_t)odd_number() : 0;
    if (!it->semaphore) {
        ASK("create_semaphore %u", index);
        told(once_in(10) ? amdgpu_cs_create_semaphore(NULL) : amdgpu_cs_create_semaphore(&it->semaphore));
        it->is_signalled = it->is_queued = false;
        return;
    }
    amdgpu_semaphore_handle given = once_in(12) ? NULL : it->semaphore;
    switch (below(5)) {
    case 0:
    case 1:
        ASK("signal_semaphore %u %d %u %u", index, other, ip, ring);
        if (told(amdgpu_cs_signal_semaphore(context, ip, 0, ring, given)) == 0) {
            it->is_signalled = true;
            it->by = context;
        }
        break;
    case 2:
    case 3:
        /* Waiting twice spoils libdrm's list. */
        if (it->is_queued)
            return;
        ASK("wait_semaphore %u %d %u %u", index, other, ip, ring);
        if (told(amdgpu_cs_wait_semaphore(context, ip, 0, ring, given)) == 0) {
            it->is_queued = true;
            it->waiting = context;
            it->ip = ip;
            it->ring = ring;
        }
        break;
    default:
        if (it->is_signalled || it->is_queued)
            return;
        ASK("destroy_semaphore %u", index);
        if (told(amdgpu_cs_destroy_semaphore(given)) == 0)
            it->semaphore = NULL;
    }
}

static void about(struct context *it)
{
    uint32_t state = 7, hangs = 7;
    uint64_t flags = 7;
    unsigned device;
    switch (below(4)) {
    case 0:
        ASK("reset_state");
        told(amdgpu_cs_query_reset_state(once_in(8) ? NULL : it->context, &state, &hangs));
        break;
    case 1:
        ASK("reset_state2");
        told(amdgpu_cs_query_reset_state2(once_in(8) ? NULL : it->context, &flags));
        break;
    case 2: {
        const uint32_t op = once_in(4) ? 0 : 5 + below(3), set = once_in(3) ? (uint32_t)odd_number() : below(6);
        /* Not 1 to 4, which make and free contexts. */
        ASK("stable_pstate %u %#x", op, set);
        told(amdgpu_cs_ctx_stable_pstate(once_in(8) ? NULL : it->context, op, set, once_in(3) ? NULL : &state));
        break;
    }
    default: {
        amdgpu_device_handle dev = any_device(&device);
        static const int priorities[] = { 0, 512, 1023, -512, -1023, 7, -2147483647 };
        const int master = once_in(2) ? amdgpu_device_get_fd(devices[2]) : any_fd(), priority = priorities[below(7)];
        ASK("override_priority %u %d", device, priority);
        told(amdgpu_cs_ctx_override_priority(once_in(8) ? NULL : dev, once_in(8) ? NULL : it->context, master, (unsigned)priority));
    }
    }
    SAY(", %u %u %#" PRIx64, state, hangs, flags);
}

void random_work(void)
{
    const int index = any_context();
    struct context *it = &contexts[index < 0 ? 0 : index];
    switch (index < 0 ? 0 : below(20)) {
    case 0:
    case 1:
        create();
        break;
    case 2:
        destroy(it);
        break;
    case 3:
    case 4:
    case 5:
    case 6:
        submit(it);
        break;
    case 7:
    case 8:
    case 9:
    case 10:
        raw(it);
        break;
    case 11:
    case 12:
    case 13:
        wait();
        break;
    case 14:
    case 15:
    case 16:
        semaphore();
        break;
    default:
        about(it);
    }
}
