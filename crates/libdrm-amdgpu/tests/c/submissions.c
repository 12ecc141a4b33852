/* Contexts, submissions, fences and semaphores. */
#include "probe.h"

static amdgpu_bo_handle ib;
static uint64_t ib_va;
static amdgpu_va_handle ib_range;

static void make_ib(amdgpu_device_handle dev, uint32_t family)
{
    struct amdgpu_bo_alloc_request request = { 4096, 0, 2, 0 };
    void *cpu;
    CALL(amdgpu_bo_alloc(dev, &request, &ib));
    CALL(amdgpu_bo_cpu_map(ib, &cpu));
    for (int i = 0; i < 64; i++)
        ((uint32_t *)cpu)[i] = family < AMDGPU_FAMILY_CI ? 0x80000000 : 0xffff1000;
    CALL(amdgpu_va_range_alloc(dev, amdgpu_gpu_va_range_general, 4096, 0, 0, &ib_va, &ib_range, 0));
    CALL(amdgpu_bo_va_op(ib, 0, 4096, ib_va, 0, AMDGPU_VA_OP_MAP));
}

static void probe_contexts(amdgpu_device_handle dev)
{
    static const uint32_t priorities[] = { 0, (uint32_t)-512, (uint32_t)-1023, 512, 7, (uint32_t)-2048 };
    amdgpu_context_handle context = NULL;
    for (size_t i = 0; i < sizeof priorities / sizeof *priorities; i++) {
        SHOW(priorities[i]);
        if (!CALL(amdgpu_cs_ctx_create2(dev, priorities[i], &context)))
            CALL(amdgpu_cs_ctx_free(context));
    }
    CALL(amdgpu_cs_ctx_create(NULL, &context));
    CALL(amdgpu_cs_ctx_create(dev, NULL));
    CALL(amdgpu_cs_ctx_free(NULL));
    CALL(amdgpu_cs_ctx_create(dev, &context));
    uint32_t state = 7, hangs = 7, pstate = 7;
    uint64_t flags = 7;
    CALL(amdgpu_cs_query_reset_state(context, &state, &hangs));
    SHOW(state);
    SHOW(hangs);
    CALL(amdgpu_cs_query_reset_state(NULL, &state, &hangs));
    CALL(amdgpu_cs_query_reset_state2(context, &flags));
    SHOW(flags);
    CALL(amdgpu_cs_query_reset_state2(NULL, &flags));
    CALL(amdgpu_cs_ctx_stable_pstate(context, AMDGPU_CTX_OP_GET_STABLE_PSTATE, 0, &pstate));
    SHOW(pstate);
    CALL(amdgpu_cs_ctx_stable_pstate(context, AMDGPU_CTX_OP_SET_STABLE_PSTATE, AMDGPU_CTX_STABLE_PSTATE_PEAK, &pstate));
    CALL(amdgpu_cs_ctx_stable_pstate(context, AMDGPU_CTX_OP_GET_STABLE_PSTATE, 0, NULL));
    CALL(amdgpu_cs_ctx_stable_pstate(context, AMDGPU_CTX_OP_SET_STABLE_PSTATE, 99, &pstate));
    CALL(amdgpu_cs_ctx_stable_pstate(NULL, AMDGPU_CTX_OP_GET_STABLE_PSTATE, 0, &pstate));
    CALL(amdgpu_cs_ctx_override_priority(dev, context, -1, 0));
    CALL(amdgpu_cs_ctx_override_priority(dev, NULL, 0, 0));
    int card = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
    CALL(amdgpu_cs_ctx_override_priority(dev, context, card, 0));
    CALL(amdgpu_cs_ctx_override_priority(dev, context, card, 77));
    close(card);
    CALL(amdgpu_cs_ctx_free(context));
}

static void probe_old_path(amdgpu_device_handle dev)
{
    amdgpu_context_handle context = NULL, other = NULL;
    amdgpu_bo_list_handle list = NULL;
    amdgpu_semaphore_handle semaphore = NULL, second = NULL;
    CALL(amdgpu_cs_ctx_create(dev, &context));
    CALL(amdgpu_cs_ctx_create(dev, &other));
    CALL(amdgpu_bo_list_create(dev, 1, &ib, NULL, &list));
    struct amdgpu_cs_ib_info info = { 0, ib_va, 64 }, infos[3] = { info, info, info };
    struct amdgpu_cs_request requests[3] = { 0 };
    for (int i = 0; i < 3; i++)
        requests[i] = (struct amdgpu_cs_request){ .ip_type = AMDGPU_HW_IP_GFX, .resources = list, .number_of_ibs = 1, .ibs = &info, .seq_no = 7 };

    CALL(amdgpu_cs_submit(NULL, 0, requests, 1));
    CALL(amdgpu_cs_submit(context, 0, NULL, 1));
    CALL(amdgpu_cs_submit(context, 0, requests, 0));
    CALL(amdgpu_cs_submit(context, 0, requests, 1));
    SHOW(requests[0].seq_no);
    requests[1].number_of_ibs = 0;
    CALL(amdgpu_cs_submit(context, ~0ull, requests, 3));
    for (int i = 0; i < 3; i++)
        SHOW(requests[i].seq_no);
    requests[1].number_of_ibs = 1;
    requests[1].ip_type = 10;
    requests[2].seq_no = 7;
    CALL(amdgpu_cs_submit(context, 0, requests, 3));
    for (int i = 0; i < 3; i++)
        SHOW(requests[i].seq_no);
    requests[1].ip_type = AMDGPU_HW_IP_GFX;
    requests[1].ring = 8;
    CALL(amdgpu_cs_submit(context, 0, &requests[1], 1));
    requests[1].ring = 7;
    CALL(amdgpu_cs_submit(context, 0, &requests[1], 1));
    requests[1].ring = 0;
    requests[1].number_of_ibs = 3;
    requests[1].ibs = infos;
    CALL(amdgpu_cs_submit(context, 0, &requests[1], 1));
    SHOW(requests[1].seq_no);

    struct amdgpu_cs_fence fence = { context, AMDGPU_HW_IP_GFX, 0, 0, requests[1].seq_no }, bad = fence;
    uint32_t expired = 7, status = 7, first = 7;
    CALL(amdgpu_cs_query_fence_status(&fence, AMDGPU_TIMEOUT_INFINITE, 0, &expired));
    SHOW(expired);
    CALL(amdgpu_cs_query_fence_status(&fence, 0, AMDGPU_QUERY_FENCE_TIMEOUT_IS_ABSOLUTE, &expired));
    CALL(amdgpu_cs_query_fence_status(&fence, ~0ull - 1, 0, &expired));
    SHOW(expired);
    CALL(amdgpu_cs_query_fence_status(NULL, 0, 0, &expired));
    CALL(amdgpu_cs_query_fence_status(&fence, 0, 0, NULL));
    bad.context = NULL;
    CALL(amdgpu_cs_query_fence_status(&bad, 0, 0, &expired));
    bad = fence;
    bad.ip_type = 10;
    CALL(amdgpu_cs_query_fence_status(&bad, 0, 0, &expired));
    bad = fence;
    bad.ring = 8;
    CALL(amdgpu_cs_query_fence_status(&bad, 0, 0, &expired));
    bad = fence;
    bad.fence = 0;
    CALL(amdgpu_cs_query_fence_status(&bad, 0, 0, &expired));
    SHOW(expired);
    bad.fence = fence.fence + 100;
    CALL(amdgpu_cs_query_fence_status(&bad, 0, 0, &expired));
    SHOW(expired);
    struct amdgpu_cs_fence fences[2] = { fence, fence };
    CALL(amdgpu_cs_wait_fences(fences, 2, true, AMDGPU_TIMEOUT_INFINITE, &status, &first));
    SHOW(status);
    CALL(amdgpu_cs_wait_fences(fences, 2, false, 0, &status, NULL));
    CALL(amdgpu_cs_wait_fences(fences, 0, true, 0, &status, NULL));
    CALL(amdgpu_cs_wait_fences(NULL, 2, true, 0, &status, NULL));
    CALL(amdgpu_cs_wait_fences(fences, 2, true, 0, NULL, NULL));
    fences[1].ring = 8;
    CALL(amdgpu_cs_wait_fences(fences, 2, true, 0, &status, NULL));
    fences[1] = bad;
    CALL(amdgpu_cs_wait_fences(fences, 2, true, 0, &status, &first));

    /* Dependencies, semaphores and a user fence. */
    CALL(amdgpu_cs_create_semaphore(NULL));
    CALL(amdgpu_cs_create_semaphore(&semaphore));
    CALL(amdgpu_cs_create_semaphore(&second));
    CALL(amdgpu_cs_wait_semaphore(other, AMDGPU_HW_IP_COMPUTE, 0, 0, semaphore));
    CALL(amdgpu_cs_signal_semaphore(context, AMDGPU_HW_IP_GFX, 0, 0, NULL));
    CALL(amdgpu_cs_signal_semaphore(NULL, AMDGPU_HW_IP_GFX, 0, 0, semaphore));
    CALL(amdgpu_cs_signal_semaphore(context, 10, 0, 0, semaphore));
    CALL(amdgpu_cs_signal_semaphore(context, AMDGPU_HW_IP_GFX, 0, 8, semaphore));
    CALL(amdgpu_cs_signal_semaphore(context, AMDGPU_HW_IP_GFX, 0, 0, semaphore));
    CALL(amdgpu_cs_signal_semaphore(context, AMDGPU_HW_IP_GFX, 0, 0, semaphore));
    CALL(amdgpu_cs_signal_semaphore(context, AMDGPU_HW_IP_COMPUTE, 0, 1, second));
    CALL(amdgpu_cs_wait_semaphore(other, AMDGPU_HW_IP_COMPUTE, 0, 0, NULL));
    CALL(amdgpu_cs_wait_semaphore(other, AMDGPU_HW_IP_COMPUTE, 0, 8, semaphore));
    CALL(amdgpu_cs_wait_semaphore(other, AMDGPU_HW_IP_COMPUTE, 0, 0, semaphore));
    CALL(amdgpu_cs_wait_semaphore(other, AMDGPU_HW_IP_COMPUTE, 0, 0, second));
    CALL(amdgpu_cs_destroy_semaphore(second));
    CALL(amdgpu_cs_destroy_semaphore(NULL));
    amdgpu_bo_handle page = NULL;
    struct amdgpu_bo_alloc_request request = { 4096, 0, 2, 0 };
    CALL(amdgpu_bo_alloc(dev, &request, &page));
    struct amdgpu_cs_request with = { .ip_type = AMDGPU_HW_IP_COMPUTE, .number_of_ibs = 2, .ibs = infos, .resources = list,
                                      .number_of_dependencies = 1, .dependencies = &fence, .fence_info = { page, 3 } };
    CALL(amdgpu_cs_submit(other, 0, &with, 1));
    SHOW(with.seq_no);
    with.fence_info.handle = NULL;
    with.number_of_dependencies = 0;
    CALL(amdgpu_cs_submit(other, 0, &with, 1));
    SHOW(with.seq_no);
    CALL(amdgpu_cs_signal_semaphore(context, AMDGPU_HW_IP_GFX, 0, 0, semaphore));
    CALL(amdgpu_cs_wait_semaphore(other, AMDGPU_HW_IP_COMPUTE, 0, 0, semaphore));
    uint32_t handle = 7;
    struct amdgpu_cs_fence last = { other, AMDGPU_HW_IP_COMPUTE, 0, 0, with.seq_no };
    CALL(amdgpu_cs_query_fence_status(&last, AMDGPU_TIMEOUT_INFINITE, 0, &expired));
    for (uint32_t what = 0; what < 4; what++) {
        handle = 7;
        if (!CALL(amdgpu_cs_fence_to_handle(dev, &last, what, &handle)) && what)
            close((int)handle);
        else if (!what)
            CALL(amdgpu_cs_destroy_syncobj(dev, handle));
    }
    CALL(amdgpu_cs_ctx_free(other));
    CALL(amdgpu_cs_destroy_semaphore(semaphore));
    CALL(amdgpu_cs_ctx_free(context));
    CALL(amdgpu_bo_list_destroy(list));
    CALL(amdgpu_bo_free(page));
}

static void probe_raw(amdgpu_device_handle dev)
{
    amdgpu_context_handle context = NULL;
    amdgpu_bo_list_handle list = NULL;
    uint32_t raw = 0, kms = 0;
    uint64_t sequence = 7;
    CALL(amdgpu_cs_ctx_create(dev, &context));
    CALL(amdgpu_bo_list_create(dev, 1, &ib, NULL, &list));
    amdgpu_bo_export(ib, amdgpu_bo_handle_type_kms, &kms);
    struct drm_amdgpu_bo_list_entry entry = { kms, 0 };
    CALL(amdgpu_bo_list_create_raw(dev, 1, &entry, &raw));
    struct drm_amdgpu_cs_chunk_ib body = { .va_start = ib_va, .ib_bytes = 256, .ip_type = AMDGPU_HW_IP_GFX };
    struct drm_amdgpu_cs_chunk chunks[2] = { { AMDGPU_CHUNK_ID_IB, sizeof body / 4, (uintptr_t)&body }, { 99, 0, 0 } };
    CALL(amdgpu_cs_submit_raw(dev, context, list, 0, chunks, &sequence));
    CALL(amdgpu_cs_submit_raw(dev, context, list, 1, chunks, &sequence));
    SHOW(sequence);
    CALL(amdgpu_cs_submit_raw(dev, context, list, 1, chunks, NULL));
    CALL(amdgpu_cs_submit_raw(dev, context, NULL, 2, chunks, &sequence));
    CALL(amdgpu_cs_submit_raw2(dev, context, 0, 0, chunks, &sequence));
    CALL(amdgpu_cs_submit_raw2(dev, context, raw, 1, chunks, &sequence));
    SHOW(sequence);
    CALL(amdgpu_cs_submit_raw2(dev, context, 999, 1, chunks, &sequence));
    struct amdgpu_cs_fence fence = { context, AMDGPU_HW_IP_GFX, 0, 0, sequence };
    struct drm_amdgpu_cs_chunk_dep dep = { 0 };
    amdgpu_cs_chunk_fence_to_dep(&fence, &dep);
    SHOW(dep.ip_type);
    SHOW(dep.ctx_id);
    SHOW(dep.handle);
    struct amdgpu_cs_fence_info place = { ib, 0x20000001 };
    struct drm_amdgpu_cs_chunk_data data = { 0 };
    amdgpu_cs_chunk_fence_info_to_data(&place, &data);
    SHOW(data.fence_data.handle);
    SHOW(data.fence_data.offset);
    uint32_t expired = 0;
    CALL(amdgpu_cs_query_fence_status(&fence, AMDGPU_TIMEOUT_INFINITE, 0, &expired));
    CALL(amdgpu_bo_list_destroy_raw(dev, raw));
    CALL(amdgpu_bo_list_destroy(list));
    CALL(amdgpu_cs_ctx_free(context));
}

void probe_submissions(amdgpu_device_handle dev)
{
    struct amdgpu_gpu_info info = { 0 };
    amdgpu_query_gpu_info(dev, &info);
    make_ib(dev, info.family_id);
    probe_contexts(dev);
    probe_old_path(dev);
    probe_raw(dev);
    CALL(amdgpu_bo_va_op(ib, 0, 4096, ib_va, 0, AMDGPU_VA_OP_UNMAP));
    CALL(amdgpu_va_range_free(ib_range));
    CALL(amdgpu_bo_cpu_unmap(ib));
    CALL(amdgpu_bo_free(ib));
}
