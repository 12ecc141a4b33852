/* Fills a buffer by the GPU and reads it. */
#include <stdio.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>

static void check(VkResult result)
{
    if (result != VK_SUCCESS) {
        fprintf(stderr, "VkResult %d\n", result);
        exit(1);
    }
}

int main(void)
{
    VkInstance instance;
    VkApplicationInfo application = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1 };
    VkInstanceCreateInfo instance_info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                           .pApplicationInfo = &application };
    check(vkCreateInstance(&instance_info, NULL, &instance));
    VkPhysicalDevice gpu;
    uint32_t count = 1;
    if (vkEnumeratePhysicalDevices(instance, &count, &gpu) < 0 || count == 0)
        return 1;
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(gpu, &properties);

    float priority = 1;
    VkDeviceQueueCreateInfo queues = { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                       .queueCount = 1, .pQueuePriorities = &priority };
    VkDeviceCreateInfo device_info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                       .queueCreateInfoCount = 1, .pQueueCreateInfos = &queues };
    VkDevice device;
    check(vkCreateDevice(gpu, &device_info, NULL, &device));
    VkQueue queue;
    vkGetDeviceQueue(device, 0, 0, &queue);

    VkBufferCreateInfo buffer_info = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = 4096,
                                       .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT };
    VkBuffer buffer;
    check(vkCreateBuffer(device, &buffer_info, NULL, &buffer));
    VkMemoryRequirements needed;
    vkGetBufferMemoryRequirements(device, buffer, &needed);
    VkPhysicalDeviceMemoryProperties types;
    vkGetPhysicalDeviceMemoryProperties(gpu, &types);
    VkMemoryPropertyFlags seen = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (!(needed.memoryTypeBits >> type & 1) || (types.memoryTypes[type].propertyFlags & seen) != seen)
        type++;
    VkMemoryAllocateInfo memory_info = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needed.size, .memoryTypeIndex = type };
    VkDeviceMemory memory;
    check(vkAllocateMemory(device, &memory_info, NULL, &memory));
    check(vkBindBufferMemory(device, buffer, memory, 0));

    VkCommandPoolCreateInfo pool_info = { .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO };
    VkCommandPool pool;
    check(vkCreateCommandPool(device, &pool_info, NULL, &pool));
    VkCommandBufferAllocateInfo list_info = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = pool, .commandBufferCount = 1 };
    VkCommandBuffer commands;
    check(vkAllocateCommandBuffers(device, &list_info, &commands));
    VkCommandBufferBeginInfo begin = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO };
    check(vkBeginCommandBuffer(commands, &begin));
    vkCmdFillBuffer(commands, buffer, 0, VK_WHOLE_SIZE, 42);
    check(vkEndCommandBuffer(commands));
    VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                            .commandBufferCount = 1, .pCommandBuffers = &commands };
    check(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
    check(vkQueueWaitIdle(queue));

    void *words;
    check(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &words));
    printf("%s: %u\n", properties.deviceName, ((uint32_t *)words)[1023]);

    vkDestroyCommandPool(device, pool, NULL);
    vkDestroyBuffer(device, buffer, NULL);
    vkFreeMemory(device, memory, NULL);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    return 0;
}
