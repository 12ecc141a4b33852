// Runs one of VMA's own tests on the first Vulkan device: `vma-tests NAME`, or `vma-tests --list` for the names. Exits with 0 if
// the test passes, with 77 if the device lacks what the test is about, and with 1 after naming the check that failed.
//
// Tests.cpp is VMA's, unchanged; it is written for Windows and for the sample around it. This file and windows.h give it both.
#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <vulkan/vulkan.h>

// A driver without a shader compiler has images that are copied, and no others.
#define VK_IMAGE_USAGE_SAMPLED_BIT VK_IMAGE_USAGE_TRANSFER_SRC_BIT
#define VK_IMAGE_USAGE_STORAGE_BIT VK_IMAGE_USAGE_TRANSFER_DST_BIT
#define VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT VK_IMAGE_USAGE_TRANSFER_DST_BIT

#define _WIN32 1
#define VMA_EXTERNAL_MEMORY_WIN32 0
#include "Tests.cpp"

VkInstance g_hVulkanInstance;
VkPhysicalDevice g_hPhysicalDevice;
VkDevice g_hDevice;
VmaAllocator g_hAllocator;
VkCommandBuffer g_hTemporaryCommandBuffer;
const VkAllocationCallbacks *g_Allocs = nullptr;
PFN_vkGetBufferDeviceAddressKHR g_vkGetBufferDeviceAddressKHR;
bool VK_AMD_device_coherent_memory_enabled;
bool VK_KHR_buffer_device_address_enabled;
bool VK_EXT_memory_priority_enabled;
bool VK_KHR_maintenance5_enabled;
bool VK_KHR_external_memory_win32_enabled;

namespace {

VkQueue queue;
VkCommandPool command_pool;
bool memory_budget_enabled;

void check(VkResult result, const char *call) {
    if (result < 0) throw std::runtime_error(std::string(call) + " returned " + std::to_string(result));
}

// Returns the first family that copies; every family can.
uint32_t first_family() {
    uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(g_hPhysicalDevice, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(g_hPhysicalDevice, &count, families.data());
    for (uint32_t family = 0; family < count; ++family)
        if (families[family].queueFlags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT)) return family;
    throw std::runtime_error("the device has no queue family that copies");
}

void open_device() {
    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_1;
    VkInstanceCreateInfo instance{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    instance.pApplicationInfo = &application;
    check(vkCreateInstance(&instance, nullptr, &g_hVulkanInstance), "vkCreateInstance");
    uint32_t count = 1;
    check(vkEnumeratePhysicalDevices(g_hVulkanInstance, &count, &g_hPhysicalDevice), "vkEnumeratePhysicalDevices");
    if (count == 0) throw std::runtime_error("there is no Vulkan device");
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(g_hPhysicalDevice, &properties);
    std::fprintf(stderr, "device: %s\n", properties.deviceName);

    vkEnumerateDeviceExtensionProperties(g_hPhysicalDevice, nullptr, &count, nullptr);
    std::vector<VkExtensionProperties> known(count);
    vkEnumerateDeviceExtensionProperties(g_hPhysicalDevice, nullptr, &count, known.data());
    std::vector<const char *> extensions;
    auto enable = [&](const char *name) {
        auto same = [name](const VkExtensionProperties &extension) { return std::strcmp(extension.extensionName, name) == 0; };
        if (std::none_of(known.begin(), known.end(), same)) return false;
        extensions.push_back(name);
        return true;
    };

    VkPhysicalDeviceBufferDeviceAddressFeatures addresses{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES};
    VkPhysicalDeviceCoherentMemoryFeaturesAMD coherent{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COHERENT_MEMORY_FEATURES_AMD};
    VkPhysicalDeviceMemoryPriorityFeaturesEXT priority{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PRIORITY_FEATURES_EXT};
    VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    bool has_addresses = enable(VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME);
    bool has_coherent = enable(VK_AMD_DEVICE_COHERENT_MEMORY_EXTENSION_NAME);
    bool has_priority = enable(VK_EXT_MEMORY_PRIORITY_EXTENSION_NAME);
    memory_budget_enabled = enable(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    auto chain = [&features](auto &structure) {
        structure.pNext = features.pNext;
        features.pNext = &structure;
    };
    if (has_addresses) chain(addresses);
    if (has_coherent) chain(coherent);
    if (has_priority) chain(priority);
    vkGetPhysicalDeviceFeatures2(g_hPhysicalDevice, &features);
    VK_KHR_buffer_device_address_enabled = has_addresses && addresses.bufferDeviceAddress;
    VK_AMD_device_coherent_memory_enabled = has_coherent && coherent.deviceCoherentMemory;
    VK_EXT_memory_priority_enabled = has_priority && priority.memoryPriority;

    float one = 1.0f;
    VkDeviceQueueCreateInfo queues{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queues.queueFamilyIndex = first_family();
    queues.queueCount = 1;
    queues.pQueuePriorities = &one;
    VkDeviceCreateInfo device{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    device.pNext = &features;
    device.queueCreateInfoCount = 1;
    device.pQueueCreateInfos = &queues;
    device.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
    device.ppEnabledExtensionNames = extensions.data();
    check(vkCreateDevice(g_hPhysicalDevice, &device, nullptr, &g_hDevice), "vkCreateDevice");
    vkGetDeviceQueue(g_hDevice, queues.queueFamilyIndex, 0, &queue);
    g_vkGetBufferDeviceAddressKHR =
        reinterpret_cast<PFN_vkGetBufferDeviceAddressKHR>(vkGetDeviceProcAddr(g_hDevice, "vkGetBufferDeviceAddressKHR"));

    VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool.queueFamilyIndex = queues.queueFamilyIndex;
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    check(vkCreateCommandPool(g_hDevice, &pool, nullptr, &command_pool), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo buffer{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    buffer.commandPool = command_pool;
    buffer.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    buffer.commandBufferCount = 1;
    check(vkAllocateCommandBuffers(g_hDevice, &buffer, &g_hTemporaryCommandBuffer), "vkAllocateCommandBuffers");

    VmaAllocatorCreateInfo allocator{};
    SetAllocatorCreateInfo(allocator);
    check(vmaCreateAllocator(&allocator, &g_hAllocator), "vmaCreateAllocator");
}

void close_device() {
    vmaDestroyAllocator(g_hAllocator);
    vkDestroyCommandPool(g_hDevice, command_pool, nullptr);
    vkDestroyDevice(g_hDevice, nullptr);
    vkDestroyInstance(g_hVulkanInstance, nullptr);
}

// Writes the figures of a benchmark of VMA's to a file that is not kept.
template <typename Measure> void measured(Measure measure) {
    FILE *file = std::tmpfile();
    if (!file) throw std::runtime_error("no temporary file");
    measure(file);
    std::fclose(file);
}

struct Test {
    const char *name;
    std::function<void()> run;
    const bool *needs = nullptr;
};

const std::vector<Test> &tests() {
    static const std::vector<Test> all{
#if VMA_DEBUG_MARGIN
        {"DebugMargin", TestDebugMargin},
        {"DebugMarginNotInVirtualAllocator", TestDebugMarginNotInVirtualAllocator},
#elif defined(VMA_DEBUG_INITIALIZE_ALLOCATIONS) && VMA_DEBUG_INITIALIZE_ALLOCATIONS
        {"AllocationsInitialization", TestAllocationsInitialization},
#else
        {"Json", TestJson},
        {"Basics", TestBasics},
        {"VirtualBlocks", TestVirtualBlocks},
        {"VirtualBlocksAlgorithms", TestVirtualBlocksAlgorithms},
        {"VirtualBlocksAlgorithmsBenchmark", TestVirtualBlocksAlgorithmsBenchmark},
        {"AllocationVersusResourceSize", TestAllocationVersusResourceSize},
        {"GpuData", TestGpuData},
        {"Pool_SameSize", TestPool_SameSize},
        {"Pool_MinBlockCount", TestPool_MinBlockCount},
        {"Pool_MinAllocationAlignment", TestPool_MinAllocationAlignment},
        {"PoolsAndAllocationParameters", TestPoolsAndAllocationParameters},
        {"HeapSizeLimit", TestHeapSizeLimit},
        {"MemoryUsage", TestMemoryUsage},
        {"DeviceCoherentMemory", TestDeviceCoherentMemory, &VK_AMD_device_coherent_memory_enabled},
        {"Statistics", TestStatistics},
        {"Aliasing", TestAliasing},
        {"AllocationAliasing", TestAllocationAliasing},
        {"Mapping", TestMapping},
        {"AllocationMemoryCopy", TestAllocationMemoryCopy},
        {"MappingHysteresis", TestMappingHysteresis},
        {"DeviceLocalMapped", TestDeviceLocalMapped},
        {"Maintenance5", TestMaintenance5, &VK_KHR_maintenance5_enabled},
        {"MappingMultithreaded", TestMappingMultithreaded},
        {"LinearAllocator", TestLinearAllocator},
        {"ManuallyLinearAllocator", ManuallyTestLinearAllocator},
        {"LinearAllocatorMultiBlock", TestLinearAllocatorMultiBlock},
        {"AllocationAlgorithmsCorrectness", TestAllocationAlgorithmsCorrectness},
        {"BasicTLSF", BasicTestTLSF},
        {"BasicAllocatePages", BasicTestAllocatePages},
        {"BufferDeviceAddress", TestBufferDeviceAddress, &VK_KHR_buffer_device_address_enabled},
        {"MemoryPriority", TestMemoryPriority, &VK_EXT_memory_priority_enabled},
        {"Algorithms", [] { measured(BenchmarkAlgorithms); }},
        {"DefragmentationSimple", TestDefragmentationSimple},
        {"DefragmentationVsMapping", TestDefragmentationVsMapping},
        {"DefragmentationAlgorithms", TestDefragmentationAlgorithms},
        {"DefragmentationFull", TestDefragmentationFull},
        {"DefragmentationGpu", TestDefragmentationGpu},
        {"DefragmentationIncrementalBasic", TestDefragmentationIncrementalBasic},
        {"DefragmentationIncrementalComplex", TestDefragmentationIncrementalComplex},
        {"MainTests", [] { measured(PerformMainTests); }},
        {"CustomMainTest", [] { measured(PerformCustomMainTest); }},
        {"PoolTests", [] { measured(PerformPoolTests); }},
        {"CustomPoolTest", [] { measured(PerformCustomPoolTest); }},
#endif
    };
    return all;
}

} // namespace

void SetAllocatorCreateInfo(VmaAllocatorCreateInfo &info) {
    info = {};
    info.instance = g_hVulkanInstance;
    info.physicalDevice = g_hPhysicalDevice;
    info.device = g_hDevice;
    info.vulkanApiVersion = VK_API_VERSION_1_1;
    if (memory_budget_enabled) info.flags |= VMA_ALLOCATOR_CREATE_EXT_MEMORY_BUDGET_BIT;
    if (VK_KHR_buffer_device_address_enabled) info.flags |= VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT;
    if (VK_AMD_device_coherent_memory_enabled) info.flags |= VMA_ALLOCATOR_CREATE_AMD_DEVICE_COHERENT_MEMORY_BIT;
    if (VK_EXT_memory_priority_enabled) info.flags |= VMA_ALLOCATOR_CREATE_EXT_MEMORY_PRIORITY_BIT;
#if VMA_DYNAMIC_VULKAN_FUNCTIONS
    static VmaVulkanFunctions functions{};
    functions.vkGetInstanceProcAddr = vkGetInstanceProcAddr;
    functions.vkGetDeviceProcAddr = vkGetDeviceProcAddr;
    info.pVulkanFunctions = &functions;
#endif
}

void BeginSingleTimeCommands() {
    VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    check(vkBeginCommandBuffer(g_hTemporaryCommandBuffer, &begin), "vkBeginCommandBuffer");
}

void EndSingleTimeCommands() {
    check(vkEndCommandBuffer(g_hTemporaryCommandBuffer), "vkEndCommandBuffer");
    VkSubmitInfo submission{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submission.commandBufferCount = 1;
    submission.pCommandBuffers = &g_hTemporaryCommandBuffer;
    check(vkQueueSubmit(queue, 1, &submission, VK_NULL_HANDLE), "vkQueueSubmit");
    check(vkQueueWaitIdle(queue), "vkQueueWaitIdle");
}

void SetDebugUtilsObjectName(VkObjectType, uint64_t, const std::string &) {}

// The dumps that the tests save are not kept.
void SaveFile(const wchar_t *, const void *, size_t) {}

void PrintMessage(CONSOLE_COLOR, const char *message) { std::fputs(message, stderr); }

void PrintMessage(CONSOLE_COLOR, const wchar_t *) {}

int main(int count, char **arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: %s NAME | --list\n", arguments[0]);
        return 2;
    }
    if (std::string(arguments[1]) == "--list") {
        for (auto &test : tests()) std::puts(test.name);
        return 0;
    }
    for (auto &test : tests()) {
        if (std::strcmp(test.name, arguments[1]) != 0) continue;
        try {
            open_device();
            if (test.needs && !*test.needs) {
                std::fprintf(stderr, "the device lacks what %s is about\n", test.name);
                close_device();
                return 77;
            }
            test.run();
            close_device();
            return 0;
        } catch (const std::exception &error) {
            std::fprintf(stderr, "%s: %s\n", test.name, error.what());
            return 1;
        }
    }
    std::fprintf(stderr, "no test is called %s\n", arguments[1]);
    return 2;
}
