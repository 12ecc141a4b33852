/* Makes calls of a Vulkan driver: vulkan KIND COUNT. KIND is allocate, map or submit. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

static void right(VkResult result)
{
    if (result != VK_SUCCESS)
        exit(1);
}

/* The first memory type that the CPU sees. */
static uint32_t visible(VkPhysicalDevice physical)
{
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++)
        if (memory.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
            return i;
    exit(1);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const int count = atoi(argv[2]);
    VkInstance instance;
    right(vkCreateInstance(&(VkInstanceCreateInfo){ VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO }, NULL, &instance));
    uint32_t one = 1;
    VkPhysicalDevice physical;
    right(vkEnumeratePhysicalDevices(instance, &one, &physical));
    const float priority = 1;
    const VkDeviceQueueCreateInfo queues = { VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority };
    VkDevice device;
    right(vkCreateDevice(physical,
        &(VkDeviceCreateInfo){ VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queues }, NULL, &device));
    VkQueue queue;
    vkGetDeviceQueue(device, 0, 0, &queue);
    const VkMemoryAllocateInfo info = { VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, NULL, 65536, visible(physical) };
    VkDeviceMemory memory;
    if (strcmp(argv[1], "allocate") == 0) {
        for (int i = 0; i < count; i++) {
            right(vkAllocateMemory(device, &info, NULL, &memory));
            vkFreeMemory(device, memory, NULL);
        }
    } else if (strcmp(argv[1], "map") == 0) {
        void *place;
        right(vkAllocateMemory(device, &info, NULL, &memory));
        for (int i = 0; i < count; i++) {
            right(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &place));
            vkUnmapMemory(device, memory);
        }
    } else {
        VkCommandPool pool;
        VkCommandBuffer commands;
        right(vkCreateCommandPool(device, &(VkCommandPoolCreateInfo){ VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO }, NULL, &pool));
        const VkCommandBufferAllocateInfo buffers = { VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = pool, .commandBufferCount = 1 };
        right(vkAllocateCommandBuffers(device, &buffers, &commands));
        const VkCommandBufferBeginInfo begin = { VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
            .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT };
        right(vkBeginCommandBuffer(commands, &begin));
        right(vkEndCommandBuffer(commands));
        const VkSubmitInfo submit = { VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands };
        for (int i = 0; i < count; i++)
            right(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
    }
    return 0;
}
