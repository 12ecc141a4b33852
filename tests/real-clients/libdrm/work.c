/* Contexts, IBs and fences. */
#include "client.h"

#include <errno.h>
#include <string.h>

/* The IPs this program writes packets for. */
static const unsigned ips[] = { AMDGPU_HW_IP_GFX, AMDGPU_HW_IP_COMPUTE, AMDGPU_HW_IP_DMA };

static const uint64_t SECOND = 1000000000;

const char *ip_name(unsigned ip)
{
    return ip == AMDGPU_HW_IP_GFX ? "gfx" : ip == AMDGPU_HW_IP_COMPUTE ? "compute" : "sdma";
}

bool has_ring(struct lab *lab, unsigned ip)
{
    struct drm_amdgpu_info_hw_ip found = { 0 };
    if (ip == AMDGPU_HW_IP_DMA && lab->info.family_id < AMDGPU_FAMILY_CI)
        return false; /* GFX6 has another packet format there. */
    return amdgpu_query_hw_ip_info(lab->dev, ip, 0, &found) == 0 && found.available_rings;
}

uint32_t write_ib(struct lab *lab, struct bo *ib, unsigned ip, uint64_t target, uint32_t value)
{
    uint32_t *at = ib->cpu, nop;
    if (ip == AMDGPU_HW_IP_DMA) {
        if (target) {
            *at++ = 2; /* WRITE_LINEAR */
            *at++ = (uint32_t)target;
            *at++ = (uint32_t)(target >> 32);
            *at++ = lab->info.family_id >= AMDGPU_FAMILY_AI ? 0 : 1; /* counted from 0 since SDMA 4 */
            *at++ = value;
        }
        nop = 0;
    } else {
        if (target) {
            *at++ = 3u << 30 | 3 << 16 | 0x37 << 8; /* WRITE_DATA, 4 more dwords */
            *at++ = 5 << 8 | 1 << 20;               /* to memory, confirmed */
            *at++ = (uint32_t)target;
            *at++ = (uint32_t)(target >> 32);
            *at++ = value;
        }
        nop = lab->info.family_id < AMDGPU_FAMILY_CI ? 0x80000000 : 0xffff1000;
    }
    while (at == ib->cpu || (at - ib->cpu) % 16)
        *at++ = nop;
    return (uint32_t)((char *)at - (char *)ib->cpu);
}

int submit(struct lab *lab, amdgpu_context_handle context, unsigned ip, struct bo *ib, uint32_t bytes,
           struct bo *const *bos, unsigned count, struct extras extras, uint64_t *seq)
{
    struct drm_amdgpu_bo_list_entry entries[8];
    struct drm_amdgpu_cs_chunk chunks[4];
    struct drm_amdgpu_cs_chunk_ib body = { .va_start = ib->va, .ib_bytes = bytes, .ip_type = ip };
    struct drm_amdgpu_bo_list_in list = { ~0u, ~0u, 0, sizeof *entries, (uintptr_t)entries };
    struct drm_amdgpu_cs_chunk_syncobj wait = { extras.wait, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
                                                extras.wait_point };
    struct drm_amdgpu_cs_chunk_syncobj signal = { extras.signal, 0, extras.signal_point };
    int used = 0;
    for (unsigned i = 0; i <= count && i < 8; i++) {
        MUST(amdgpu_bo_export((i ? bos[i - 1] : ib)->handle, amdgpu_bo_handle_type_kms, &entries[i].bo_handle));
        entries[i].bo_priority = 0;
        list.bo_number++;
    }
    chunks[used++] = (struct drm_amdgpu_cs_chunk){ AMDGPU_CHUNK_ID_BO_HANDLES, sizeof list / 4, (uintptr_t)&list };
    chunks[used++] = (struct drm_amdgpu_cs_chunk){ AMDGPU_CHUNK_ID_IB, sizeof body / 4, (uintptr_t)&body };
    if (extras.wait)
        chunks[used++] = (struct drm_amdgpu_cs_chunk){ AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT, sizeof wait / 4,
                                                       (uintptr_t)&wait };
    if (extras.signal)
        chunks[used++] = (struct drm_amdgpu_cs_chunk){ AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL, sizeof signal / 4,
                                                       (uintptr_t)&signal };
    return amdgpu_cs_submit_raw2(lab->dev, context, 0, used, chunks, seq);
}

bool ended(amdgpu_context_handle context, unsigned ip, uint64_t seq)
{
    struct amdgpu_cs_fence fence = { context, ip, 0, 0, seq };
    uint32_t expired = 0;
    MUST(amdgpu_cs_query_fence_status(&fence, 10 * SECOND, 0, &expired));
    return expired;
}

static void contexts(struct lab *lab)
{
    amdgpu_context_handle context;
    uint32_t state, hangs;
    uint64_t flags;
    MUST(amdgpu_cs_ctx_create(lab->dev, &context));
    MUST(amdgpu_cs_query_reset_state(context, &state, &hangs));
    MUST(amdgpu_cs_query_reset_state2(context, &flags));
    ENSURE(state == AMDGPU_CTX_NO_RESET && flags == 0);
    MUST(amdgpu_cs_ctx_free(context));
    MUST(amdgpu_cs_ctx_create2(lab->dev, AMDGPU_CTX_PRIORITY_LOW, &context));
    MUST(amdgpu_cs_ctx_free(context));
    /* The kernel takes garbage for the normal priority, for the sake of old programs. */
    MUST(amdgpu_cs_ctx_create2(lab->dev, 12345, &context));
    MUST(amdgpu_cs_ctx_free(context));
}

/* On each IP: an IB that does nothing, and one that writes. */
static void each_ip(struct lab *lab, bool writes)
{
    amdgpu_context_handle context;
    struct bo ib = make_bo(lab, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0), target = make_bo(lab, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0);
    struct bo *const bos[] = { &target };
    unsigned rings = 0;
    MUST(amdgpu_cs_ctx_create(lab->dev, &context));
    for (unsigned i = 0; i < 3; i++) {
        uint64_t seq = 0;
        bool busy = true;
        if (!has_ring(lab, ips[i]))
            continue;
        target.cpu[3] = 0;
        uint32_t bytes = write_ib(lab, &ib, ips[i], writes ? target.va + 12 : 0, 0xcafe0000 + i);
        MUST(submit(lab, context, ips[i], &ib, bytes, bos, 1, (struct extras){ 0 }, &seq));
        ENSURE(seq == 1);
        if (!ended(context, ips[i], seq))
            failed("the IB on %s never ended", ip_name(ips[i]));
        if (target.cpu[3] != (writes ? 0xcafe0000 + i : 0))
            failed("the IB on %s left %#x", ip_name(ips[i]), target.cpu[3]);
        MUST(amdgpu_bo_wait_for_idle(target.handle, SECOND, &busy));
        ENSURE(!busy);
        rings++;
    }
    MUST(amdgpu_cs_ctx_free(context));
    drop_bo(&target);
    drop_bo(&ib);
    note("on %u IPs", rings);
}

static void nops(struct lab *lab)
{
    each_ip(lab, false);
}

static void writes(struct lab *lab)
{
    each_ip(lab, true);
}

/* The older call, with a BO list object and a user fence. */
static void old_submit(struct lab *lab)
{
    struct bo ib = make_bo(lab, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0), target = make_bo(lab, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0);
    struct bo user_fence = make_bo(lab, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0);
    amdgpu_bo_handle all[] = { ib.handle, target.handle, user_fence.handle };
    unsigned ip = has_ring(lab, AMDGPU_HW_IP_GFX) ? AMDGPU_HW_IP_GFX : AMDGPU_HW_IP_COMPUTE;
    struct amdgpu_cs_ib_info body = { .ib_mc_address = ib.va };
    struct amdgpu_cs_request request = { .ip_type = ip, .number_of_ibs = 1, .ibs = &body };
    amdgpu_context_handle context;
    MUST(amdgpu_cs_ctx_create(lab->dev, &context));
    MUST(amdgpu_bo_list_create(lab->dev, 3, all, NULL, &request.resources));
    request.fence_info = (struct amdgpu_cs_fence_info){ user_fence.handle, 2 };
    body.size = write_ib(lab, &ib, ip, target.va, 77) / 4;
    MUST(amdgpu_cs_submit(context, 0, &request, 1));
    ENSURE(ended(context, ip, request.seq_no));
    ENSURE(target.cpu[0] == 77);
    ENSURE(((volatile uint64_t *)user_fence.cpu)[2] == request.seq_no);
    MUST(amdgpu_bo_list_destroy(request.resources));
    MUST(amdgpu_cs_ctx_free(context));
    drop_bo(&user_fence);
    drop_bo(&target);
    drop_bo(&ib);
    note("the user fence holds %llu", (unsigned long long)request.seq_no);
}

/* Jobs of one context and IP run in order, and sequence numbers count. */
static void order(struct lab *lab)
{
    enum { JOBS = 20 };
    struct bo target = make_bo(lab, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0), ibs[JOBS];
    struct bo *const bos[] = { &target };
    struct amdgpu_cs_fence fences[JOBS];
    amdgpu_context_handle context;
    uint32_t status, first;
    MUST(amdgpu_cs_ctx_create(lab->dev, &context));
    for (unsigned i = 0; i < JOBS; i++) {
        uint64_t seq;
        ibs[i] = make_bo(lab, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0);
        uint32_t bytes = write_ib(lab, &ibs[i], AMDGPU_HW_IP_COMPUTE, target.va, i);
        MUST(submit(lab, context, AMDGPU_HW_IP_COMPUTE, &ibs[i], bytes, bos, 1, (struct extras){ 0 }, &seq));
        ENSURE(seq == i + 1);
        fences[i] = (struct amdgpu_cs_fence){ context, AMDGPU_HW_IP_COMPUTE, 0, 0, seq };
    }
    MUST(amdgpu_cs_wait_fences(fences, JOBS, true, 10 * SECOND, &status, &first));
    ENSURE(status == 1 && target.cpu[0] == JOBS - 1);
    MUST(amdgpu_cs_wait_fences(fences, JOBS, false, 10 * SECOND, &status, &first));
    ENSURE(status == 1 && first < JOBS);
    for (unsigned i = 0; i < JOBS; i++)
        drop_bo(&ibs[i]);
    MUST(amdgpu_cs_ctx_free(context));
    drop_bo(&target);
    note("%d jobs", JOBS);
}

static void refusals(struct lab *lab)
{
    struct bo ib = make_bo(lab, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0);
    struct drm_amdgpu_cs_chunk unknown = { 0x7f, 0, 0 };
    struct drm_amdgpu_cs_chunk_ib body = { .va_start = ib.va, .ib_bytes = 64, .ip_type = AMDGPU_HW_IP_COMPUTE };
    struct drm_amdgpu_cs_chunk chunk = { AMDGPU_CHUNK_ID_IB, sizeof body / 4, (uintptr_t)&body };
    amdgpu_context_handle context;
    uint64_t seq;
    MUST(amdgpu_cs_ctx_create(lab->dev, &context));
    REFUSED(amdgpu_cs_submit_raw2(lab->dev, context, 0, 0, &chunk, &seq), EINVAL);
    REFUSED(amdgpu_cs_submit_raw2(lab->dev, context, 0, 1, &unknown, &seq), EINVAL);
    REFUSED(amdgpu_cs_submit_raw2(lab->dev, context, 0xdead, 1, &chunk, &seq), ENOENT);
    body.ip_type = 99;
    REFUSED(amdgpu_cs_submit_raw2(lab->dev, context, 0, 1, &chunk, &seq), EINVAL);
    body.ip_type = AMDGPU_HW_IP_COMPUTE;
    body.ring = 99;
    REFUSED(amdgpu_cs_submit_raw2(lab->dev, context, 0, 1, &chunk, &seq), EINVAL);
    MUST(amdgpu_cs_ctx_free(context));
    drop_bo(&ib);
    note("no chunk, unknown chunk, no such list, IP or ring");
}

const struct check work_checks[] = {
    { "context", "contexts are made with priorities, and start unharmed", contexts },
    { "cs.nop", "an IB that does nothing ends, on gfx, compute and SDMA", nops },
    { "cs.write", "an IB writes memory, on gfx, compute and SDMA", writes },
    { "cs.old", "the older submission with a BO list and a user fence works", old_submit },
    { "cs.order", "jobs of one context run in order, and all or any are waited for", order },
    { "cs.refusals", "wrong submissions are refused", refusals },
    { 0 },
};
