/* Prints what a device reports of its memory, of addresses, and of faults. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>

/* Bytes of the device's memory, by the reports. */
static int64_t held;

static void check(VkResult result)
{
    if (result != VK_SUCCESS) {
        fprintf(stderr, "VkResult %d\n", result);
        exit(1);
    }
}

static void VKAPI_PTR on_memory(const VkDeviceMemoryReportCallbackDataEXT *report, void *user)
{
    static const char *const names[] = { "allocated", "freed", "imported", "no longer imported", "refused" };
    (void)user;
    if (report->type == VK_DEVICE_MEMORY_REPORT_EVENT_TYPE_ALLOCATE_EXT)
        held += (int64_t)report->size;
    if (report->type == VK_DEVICE_MEMORY_REPORT_EVENT_TYPE_FREE_EXT)
        held -= (int64_t)report->size;
    printf("%s: %" PRIu64 " bytes of an object of type %d\n", names[report->type], (uint64_t)report->size, report->objectType);
}

static VkBool32 VKAPI_PTR on_address(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT kinds,
                                     const VkDebugUtilsMessengerCallbackDataEXT *message, void *user)
{
    const VkDeviceAddressBindingCallbackDataEXT *binding = message->pNext;
    (void)severity, (void)kinds, (void)user;
    if (binding && binding->sType == VK_STRUCTURE_TYPE_DEVICE_ADDRESS_BINDING_CALLBACK_DATA_EXT)
        printf("%s: %" PRIu64 " bytes of an object of type %d%s\n",
               binding->bindingType == VK_DEVICE_ADDRESS_BINDING_TYPE_BIND_EXT ? "bound" : "unbound", (uint64_t)binding->size,
               message->pObjects[0].objectType,
               binding->flags & VK_DEVICE_ADDRESS_BINDING_INTERNAL_OBJECT_BIT_EXT ? ", internal" : "");
    return VK_FALSE;
}

int main(void)
{
    const char *instance_extensions[] = { VK_EXT_DEBUG_UTILS_EXTENSION_NAME };
    VkApplicationInfo application = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1 };
    VkInstanceCreateInfo instance_info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application,
                                           .enabledExtensionCount = 1, .ppEnabledExtensionNames = instance_extensions };
    VkInstance instance;
    check(vkCreateInstance(&instance_info, NULL, &instance));
    PFN_vkCreateDebugUtilsMessengerEXT create_messenger =
        (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(instance, "vkCreateDebugUtilsMessengerEXT");
    PFN_vkDestroyDebugUtilsMessengerEXT destroy_messenger =
        (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(instance, "vkDestroyDebugUtilsMessengerEXT");
    VkDebugUtilsMessengerCreateInfoEXT messenger_info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_DEVICE_ADDRESS_BINDING_BIT_EXT,
        .pfnUserCallback = on_address,
    };
    VkDebugUtilsMessengerEXT messenger;
    check(create_messenger(instance, &messenger_info, NULL, &messenger));
    VkPhysicalDevice gpu;
    uint32_t count = 1;
    if (vkEnumeratePhysicalDevices(instance, &count, &gpu) < 0 || count == 0)
        return 1;
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(gpu, &properties);

    VkPhysicalDeviceFaultFeaturesEXT faults = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT };
    VkPhysicalDeviceAddressBindingReportFeaturesEXT addresses = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ADDRESS_BINDING_REPORT_FEATURES_EXT, .pNext = &faults
    };
    VkPhysicalDeviceDeviceMemoryReportFeaturesEXT memory_reports = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEVICE_MEMORY_REPORT_FEATURES_EXT, .pNext = &addresses
    };
    VkPhysicalDeviceFeatures2 features = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &memory_reports };
    vkGetPhysicalDeviceFeatures2(gpu, &features);
    if (!faults.deviceFault || faults.deviceFaultVendorBinary || !addresses.reportAddressBinding ||
        !memory_reports.deviceMemoryReport)
        return 1;

    const char *extensions[] = { VK_EXT_DEVICE_MEMORY_REPORT_EXTENSION_NAME, VK_EXT_DEVICE_ADDRESS_BINDING_REPORT_EXTENSION_NAME,
                                 VK_EXT_DEVICE_FAULT_EXTENSION_NAME, VK_AMD_MEMORY_OVERALLOCATION_BEHAVIOR_EXTENSION_NAME };
    VkDeviceMemoryOverallocationCreateInfoAMD limit = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_MEMORY_OVERALLOCATION_CREATE_INFO_AMD, .pNext = &memory_reports,
        .overallocationBehavior = VK_MEMORY_OVERALLOCATION_BEHAVIOR_DISALLOWED_AMD
    };
    VkDeviceDeviceMemoryReportCreateInfoEXT report_info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_DEVICE_MEMORY_REPORT_CREATE_INFO_EXT, .pNext = &limit, .pfnUserCallback = on_memory,
        .pUserData = &held
    };
    float priority = 1;
    VkDeviceQueueCreateInfo queues = { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                       .queueCount = 1, .pQueuePriorities = &priority };
    VkDeviceCreateInfo device_info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &report_info,
                                       .queueCreateInfoCount = 1, .pQueueCreateInfos = &queues,
                                       .enabledExtensionCount = 4, .ppEnabledExtensionNames = extensions };
    VkDevice device;
    check(vkCreateDevice(gpu, &device_info, NULL, &device));

    VkBufferCreateInfo buffer_info = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = 65536,
                                       .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT };
    VkBuffer buffer;
    check(vkCreateBuffer(device, &buffer_info, NULL, &buffer));
    VkMemoryRequirements needed;
    vkGetBufferMemoryRequirements(device, buffer, &needed);
    uint32_t type = 0;
    while (!(needed.memoryTypeBits >> type & 1))
        type++;
    VkPhysicalDeviceMemoryProperties types;
    vkGetPhysicalDeviceMemoryProperties(gpu, &types);
    VkDeviceSize heap = types.memoryHeaps[types.memoryTypes[type].heapIndex].size;
    VkMemoryAllocateInfo memory_info = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needed.size, .memoryTypeIndex = type };
    /* All of the heap at once, beside what the device holds already. */
    VkDeviceMemory memory, all;
    check(vkAllocateMemory(device, &memory_info, NULL, &memory));
    memory_info.allocationSize = heap;
    if (vkAllocateMemory(device, &memory_info, NULL, &all) != VK_ERROR_OUT_OF_DEVICE_MEMORY)
        return 1;
    check(vkBindBufferMemory(device, buffer, memory, 0));
    vkDestroyBuffer(device, buffer, NULL);
    vkFreeMemory(device, memory, NULL);
    vkDestroyDevice(device, NULL);
    destroy_messenger(instance, messenger, NULL);
    vkDestroyInstance(instance, NULL);
    printf("%s: %" PRId64 " bytes are left\n", properties.deviceName, held);
    return held == 0 ? 0 : 1;
}
