/* What the GPU is. */
#include "probe.h"

static void show_bytes(const char *what, const void *bytes, size_t size)
{
    printf("  %s:", what);
    for (size_t i = 0; i < size; i++)
        printf("%s%02x", i % 4 ? "" : " ", ((const uint8_t *)bytes)[i]);
    printf("\n");
}

void probe_queries(amdgpu_device_handle dev)
{
    struct amdgpu_gpu_info gpu = { 0 };
    CALL(amdgpu_query_gpu_info(dev, &gpu));
    show_bytes("gpu_info", &gpu, sizeof gpu);
    CALL(amdgpu_query_gpu_info(NULL, &gpu));
    CALL(amdgpu_query_gpu_info(dev, NULL));
    printf("  name: %s\n", amdgpu_get_marketing_name(dev));

    uint32_t word = 0x55;
    CALL(amdgpu_query_sw_info(dev, amdgpu_sw_info_address32_hi, &word));
    SHOW(word);
    word = 0x55;
    CALL(amdgpu_query_sw_info(dev, 2, &word));
    SHOW(word);

    CALL(amdgpu_query_info(dev, AMDGPU_INFO_ACCEL_WORKING, 4, &word));
    SHOW(word);
    CALL(amdgpu_query_info(dev, 0x7777, 4, &word));
    CALL(amdgpu_query_info(dev, AMDGPU_INFO_ACCEL_WORKING, 0, &word));
    for (unsigned ip = 0; ip < 12; ip++) {
        struct drm_amdgpu_info_hw_ip info = { 0 };
        CALL(amdgpu_query_hw_ip_count(dev, ip, &word));
        SHOW(word);
        CALL(amdgpu_query_hw_ip_info(dev, ip, 0, &info));
        show_bytes("hw_ip", &info, sizeof info);
    }
    struct drm_amdgpu_info_hw_ip other = { 0 };
    CALL(amdgpu_query_hw_ip_info(dev, AMDGPU_HW_IP_GFX, 7, &other));
    for (unsigned firmware = 0; firmware < 0x1f; firmware++) {
        uint32_t version = 0x55, feature = 0x55;
        CALL(amdgpu_query_firmware_version(dev, firmware, 0, 0, &version, &feature));
        SHOW(version);
        SHOW(feature);
    }
    static const uint32_t heaps[][2] = { { 4, 0 }, { 4, 1 }, { 4, 0xfffffffe }, { 2, 0 }, { 2, 1 }, { 1, 0 }, { 6, 0 } };
    for (size_t i = 0; i < sizeof heaps / sizeof *heaps; i++) {
        struct amdgpu_heap_info heap = { 1, 2, 3 };
        CALL(amdgpu_query_heap_info(dev, heaps[i][0], heaps[i][1], &heap));
        SHOW(heap.heap_size);
        SHOW(heap.heap_usage);
        SHOW(heap.max_allocation);
    }
    struct amdgpu_buffer_size_alignments sizes = { 0 };
    CALL(amdgpu_query_buffer_size_alignment(dev, &sizes));
    SHOW(sizes.size_local);
    SHOW(sizes.size_remote);
    struct amdgpu_gds_resource_info gds = { 0 };
    CALL(amdgpu_query_gds_info(dev, &gds));
    show_bytes("gds", &gds, sizeof gds);
    CALL(amdgpu_query_gds_info(dev, NULL));
    for (unsigned sensor = 0; sensor < 12; sensor++) {
        uint32_t value = 0x55;
        CALL(amdgpu_query_sensor_info(dev, sensor, 4, &value));
        SHOW(value);
    }
    uint8_t caps[192] = { 0 };
    CALL(amdgpu_query_video_caps_info(dev, 0, sizeof caps, caps));
    show_bytes("caps", caps, sizeof caps);
    CALL(amdgpu_query_video_caps_info(dev, 9, sizeof caps, caps));
    struct drm_amdgpu_info_gpuvm_fault fault = { 0 };
    CALL(amdgpu_query_gpuvm_fault_info(dev, sizeof fault, &fault));
    SHOW(fault.addr);
    uint32_t registers[2] = { 0 };
    CALL(amdgpu_read_mm_registers(dev, 0x263e, 1, 0xffffffff, 0, registers));
    SHOW(registers[0]);
    CALL(amdgpu_read_mm_registers(dev, 0x1, 1, 0xffffffff, 0, registers));
    CALL(amdgpu_read_mm_registers(dev, 0x263e, 0, 0xffffffff, 0, registers));
    CALL(amdgpu_read_mm_registers(dev, 0x263e, 0x40000001, 0xffffffff, 0, registers));
    int32_t crtc = 0x55;
    CALL(amdgpu_query_crtc_from_id(dev, 0, &crtc));
    CALL(amdgpu_query_crtc_from_id(dev, 0xffffffff, &crtc));
    uint64_t start = 0, end = 0;
    CALL(amdgpu_va_range_query(dev, amdgpu_gpu_va_range_general, &start, &end));
    SHOW(start);
    SHOW(end);
    CALL(amdgpu_va_range_query(dev, 1, &start, &end));
    CALL(amdgpu_vm_unreserve_vmid(dev, 0));
    CALL(amdgpu_vm_reserve_vmid(dev, 0));
    CALL(amdgpu_vm_reserve_vmid(dev, 0));
    CALL(amdgpu_vm_reserve_vmid(dev, 1));
    CALL(amdgpu_vm_unreserve_vmid(dev, 0));
    CALL(amdgpu_vm_unreserve_vmid(dev, 0));
}
