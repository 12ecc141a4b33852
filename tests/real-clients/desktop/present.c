// Shows one colour on a display with VK_KHR_display: clears the images of a swapchain and presents them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define CHECK(call)                                                     \
    do {                                                                \
        VkResult result_ = (call);                                      \
        if (result_ != VK_SUCCESS) {                                    \
            fprintf(stderr, "%s: %d\n", #call, result_);                \
            exit(1);                                                    \
        }                                                               \
    } while (0)

int main(void) {
    const char *instance_extensions[] = {VK_KHR_SURFACE_EXTENSION_NAME, VK_KHR_DISPLAY_EXTENSION_NAME};
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1};
    VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                          .pApplicationInfo = &app,
                                          .enabledExtensionCount = 2,
                                          .ppEnabledExtensionNames = instance_extensions};
    VkInstance instance;
    CHECK(vkCreateInstance(&instance_info, NULL, &instance));
    uint32_t count = 1;
    VkPhysicalDevice gpu;
    if (vkEnumeratePhysicalDevices(instance, &count, &gpu) < 0 || count == 0) {
        fprintf(stderr, "no device\n");
        return 1;
    }
    VkDisplayPropertiesKHR display;
    count = 1;
    if (vkGetPhysicalDeviceDisplayPropertiesKHR(gpu, &count, &display) < 0 || count == 0) {
        fprintf(stderr, "no display\n");
        return 1;
    }
    VkDisplayModePropertiesKHR mode;
    count = 1;
    if (vkGetDisplayModePropertiesKHR(gpu, display.display, &count, &mode) < 0 || count == 0) {
        fprintf(stderr, "no mode\n");
        return 1;
    }
    VkExtent2D size = mode.parameters.visibleRegion;
    printf("%s: %ux%u, %u mHz\n", display.displayName, size.width, size.height, mode.parameters.refreshRate);
    VkDisplaySurfaceCreateInfoKHR surface_info = {.sType = VK_STRUCTURE_TYPE_DISPLAY_SURFACE_CREATE_INFO_KHR,
                                                  .displayMode = mode.displayMode,
                                                  .transform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
                                                  .alphaMode = VK_DISPLAY_PLANE_ALPHA_OPAQUE_BIT_KHR,
                                                  .imageExtent = size};
    VkSurfaceKHR surface;
    CHECK(vkCreateDisplayPlaneSurfaceKHR(instance, &surface_info, NULL, &surface));
    // A queue that only computes clears images by shaders, and one of graphics by draws.
    VkQueueFamilyProperties families[8];
    count = 8;
    vkGetPhysicalDeviceQueueFamilyProperties(gpu, &count, families);
    uint32_t family = 0;
    while (family < count && families[family].queueFlags & VK_QUEUE_GRAPHICS_BIT) {
        family++;
    }
    VkBool32 is_supported = VK_FALSE;
    CHECK(vkGetPhysicalDeviceSurfaceSupportKHR(gpu, family, surface, &is_supported));
    if (!is_supported) {
        fprintf(stderr, "queue family %u does not present\n", family);
        return 1;
    }
    float priority = 1;
    VkDeviceQueueCreateInfo queue_info = {
        
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueFamilyIndex = family, .queueCount = 1, .pQueuePriorities = &priority};
    const char *device_extensions[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME};
    VkDeviceCreateInfo device_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                      .queueCreateInfoCount = 1,
                                      .pQueueCreateInfos = &queue_info,
                                      .enabledExtensionCount = 1,
                                      .ppEnabledExtensionNames = device_extensions};
    VkDevice device;
    CHECK(vkCreateDevice(gpu, &device_info, NULL, &device));
    VkQueue queue;
    vkGetDeviceQueue(device, family, 0, &queue);
    VkSwapchainCreateInfoKHR swapchain_info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                               .surface = surface,
                                               .minImageCount = 2,
                                               .imageFormat = VK_FORMAT_B8G8R8A8_UNORM,
                                               .imageColorSpace = VK_COLOR_SPACE_SRGB_NONLINEAR_KHR,
                                               .imageExtent = size,
                                               .imageArrayLayers = 1,
                                               .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                               .preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
                                               .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
                                               .presentMode = VK_PRESENT_MODE_FIFO_KHR,
                                               .clipped = VK_TRUE};
    VkSwapchainKHR swapchain;
    CHECK(vkCreateSwapchainKHR(device, &swapchain_info, NULL, &swapchain));
    VkImage images[8];
    count = 8;
    CHECK(vkGetSwapchainImagesKHR(device, swapchain, &count, images));
    VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .queueFamilyIndex = family};
    VkCommandPool pool;
    CHECK(vkCreateCommandPool(device, &pool_info, NULL, &pool));
    VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    for (int frame = 0; frame < 3; frame++) {
        VkFence fence;
        CHECK(vkCreateFence(device, &fence_info, NULL, &fence));
        uint32_t index;
        CHECK(vkAcquireNextImageKHR(device, swapchain, UINT64_MAX, VK_NULL_HANDLE, fence, &index));
        CHECK(vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX));
        VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                .commandPool = pool,
                                                .commandBufferCount = 1};
        VkCommandBuffer commands;
        CHECK(vkAllocateCommandBuffers(device, &allocate, &commands));
        VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
        CHECK(vkBeginCommandBuffer(commands, &begin));
        VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        VkImageMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                        .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                        .newLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                        .image = images[index],
                                        .subresourceRange = range};
        vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0,
                             NULL, 1, &barrier);
        VkClearColorValue colour = {{0.2f, 0.4f, 0.6f, 1.0f}};
        vkCmdClearColorImage(commands, images[index], VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &colour, 1, &range);
        barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
        barrier.dstAccessMask = 0;
        barrier.oldLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
        barrier.newLayout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR;
        vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, 0, NULL,
                             0, NULL, 1, &barrier);
        CHECK(vkEndCommandBuffer(commands));
        VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
        CHECK(vkResetFences(device, 1, &fence));
        CHECK(vkQueueSubmit(queue, 1, &submit, fence));
        CHECK(vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX));
        VkPresentInfoKHR present = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                                    .swapchainCount = 1,
                                    .pSwapchains = &swapchain,
                                    .pImageIndices = &index};
        CHECK(vkQueuePresentKHR(queue, &present));
    }
    CHECK(vkDeviceWaitIdle(device));
    puts("3 frames presented");
    return 0;
}
