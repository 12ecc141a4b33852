/* The functions that libdrm has since 2.4.125, which the header of an older one does not declare. */
#define _GNU_SOURCE
#include "probe.h"

#include <dlfcn.h>

int open_node(void)
{
    return open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
}

#define FIND(type, name, ...) static type (*name)(__VA_ARGS__)
FIND(int, amdgpu_bo_va_op_raw2, amdgpu_device_handle, amdgpu_bo_handle, uint64_t, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t,
     uint64_t, uint64_t, uint32_t);
FIND(int, amdgpu_query_uq_fw_area_info, amdgpu_device_handle, unsigned, unsigned, void *);
FIND(int, amdgpu_create_userqueue, amdgpu_device_handle, uint32_t, uint32_t, uint32_t, uint64_t, uint64_t, uint64_t, uint64_t, void *,
     uint32_t, uint32_t *);
FIND(int, amdgpu_free_userqueue, amdgpu_device_handle, uint32_t);
FIND(int, amdgpu_userq_signal, amdgpu_device_handle, void *);
FIND(int, amdgpu_userq_wait, amdgpu_device_handle, void *);

#define LOAD(name) (*(void **)&name = dlsym(RTLD_DEFAULT, #name))

int main(void)
{
    uint32_t major, minor, word = 7, areas[4] = { 0 }, syncobj = 0;
    uint64_t mqd[2] = { 0x100000, 0x200000 }, signal[6] = { 0 }, wait[9] = { 0 }, reached = 0;
    amdgpu_device_handle dev = NULL;
    amdgpu_bo_handle bo = NULL;
    struct amdgpu_bo_alloc_request request = { 4096, 0, 2, 0 };
    LOAD(amdgpu_bo_va_op_raw2);
    LOAD(amdgpu_query_uq_fw_area_info);
    LOAD(amdgpu_create_userqueue);
    LOAD(amdgpu_free_userqueue);
    LOAD(amdgpu_userq_signal);
    LOAD(amdgpu_userq_wait);
    if (amdgpu_device_initialize(open_node(), &major, &minor, &dev))
        return 1;
    CALL(amdgpu_query_sw_info(dev, 1, &word));
    SHOW(word);
    for (unsigned ip = 0; ip < 4; ip++) {
        CALL(amdgpu_query_uq_fw_area_info(dev, ip, 0, areas));
        SHOW(areas[0]);
        SHOW(areas[2]);
    }
    CALL(amdgpu_bo_alloc(dev, &request, &bo));
    CALL(amdgpu_cs_create_syncobj(dev, &syncobj));
    CALL(amdgpu_bo_va_op_raw2(dev, bo, 0, 4096, 0x300000, 14, AMDGPU_VA_OP_MAP, syncobj, 4, 0, 0));
    CALL(amdgpu_cs_syncobj_query(dev, &syncobj, &reached, 1));
    SHOW(reached);
    CALL(amdgpu_bo_va_op_raw2(dev, bo, 0, 4096, 0x300000, 14, AMDGPU_VA_OP_UNMAP, 0, 0, (uintptr_t)&syncobj, 1));
    CALL(amdgpu_bo_va_op_raw2(dev, bo, 0, 4096, 0x300000, 14, 7, 0, 0, 0, 0));
    for (uint32_t ip = 0; ip < 4; ip++) {
        word = 7;
        CALL(amdgpu_create_userqueue(dev, ip, 5, 6, 0x400000, 4096, 0x500000, 0x600000, mqd, 2, &word));
        SHOW(word);
    }
    CALL(amdgpu_free_userqueue(dev, 9));
    signal[0] = 9;
    CALL(amdgpu_userq_signal(dev, signal));
    wait[0] = 9;
    CALL(amdgpu_userq_wait(dev, wait));
    CALL(amdgpu_cs_destroy_syncobj(dev, syncobj));
    CALL(amdgpu_bo_free(bo));
    CALL(amdgpu_device_deinitialize(dev));
    return 0;
}
