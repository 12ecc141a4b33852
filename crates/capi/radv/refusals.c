/* A small Vulkan program that is run once for each DRM request it makes, with that request refused: each time, the call
 * that meets the refusal must answer with a result that Vulkan names for it, or the program must end with right data, and
 * what the driver took from the kernel must be given back. Other words make it show a hang, and a fork with an exec.
 *
 * usage: refusals sweep ERRNO... | hang | processes        on the simulator, with VK_DRIVER_FILES naming the driver
 *
 * The program is linked with -rdynamic, so its `ioctl` comes before that of the simulator's preload library, and calls it. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vulkan/vulkan.h>

#include "interpose.h"

/* The calls of the program, in order. The last one is not a call: everything was right, and what was made is destroyed. */
enum call {
   CREATE_INSTANCE,
   ENUMERATE_DEVICES,
   CREATE_DEVICE,
   CREATE_BUFFER,
   ALLOCATE_MEMORY,
   BIND_MEMORY,
   MAP_MEMORY,
   CREATE_POOL,
   ALLOCATE_COMMANDS,
   BEGIN_COMMANDS,
   RECORD_COMMANDS,
   END_COMMANDS,
   CREATE_FENCE,
   CREATE_SEMAPHORE,
   SUBMIT,
   WAIT_FENCE,
   WAIT_SEMAPHORE,
   COMPARE,
   DONE,
};

static const char *const call_names[] = {
   "vkCreateInstance",     "vkEnumeratePhysicalDevices", "vkCreateDevice",           "vkCreateBuffer",
   "vkAllocateMemory",     "vkBindBufferMemory",         "vkMapMemory",              "vkCreateCommandPool",
   "vkAllocateCommandBuffers", "vkBeginCommandBuffer",   "vkCmdCopyBuffer",          "vkEndCommandBuffer",
   "vkCreateFence",        "vkCreateSemaphore",          "vkQueueSubmit",            "vkWaitForFences",
   "vkWaitSemaphores",     "comparison",                 "end",
};

/* The call that is being made, and the number of the request that was refused, in a page that the parent sees too: a call that
 * ends the process is told by its name. */
struct progress {
   enum call call;
   int refused_number;
};

static struct progress *now;

/* The requests that give and take back, by their numbers in drm.h and amdgpu_drm.h. */
enum request {
   GEM_CLOSE = 0x09,
   FD_TO_HANDLE = 0x2e,
   GEM_CREATE = 0x40,
   CTX = 0x42,
   USERPTR = 0x51,
   SYNCOBJ_CREATE = 0xbf,
   SYNCOBJ_DESTROY = 0xc0,
   SYNCOBJ_FD_TO_HANDLE = 0xc2,
};
enum { CTX_ALLOCATE = 1, CTX_FREE = 2 };

static atomic_int requests, memory, contexts, sync_objects;
/* The request to refuse, from 1 on. */
static int refused_at, refused_with;
/* The refused request was to give something back. A driver need not ask again. */
static bool refused_giving;

static void count(unsigned number, const void *argument)
{
   switch (number) {
   case GEM_CREATE:
   case USERPTR:
   case FD_TO_HANDLE:
      memory++;
      break;
   case GEM_CLOSE:
      memory--;
      break;
   case CTX: {
      const uint32_t operation = *(const uint32_t *)argument;
      contexts += operation == CTX_ALLOCATE ? 1 : operation == CTX_FREE ? -1 : 0;
      break;
   }
   case SYNCOBJ_CREATE:
      sync_objects++;
      break;
   case SYNCOBJ_DESTROY:
      sync_objects--;
      break;
   case SYNCOBJ_FD_TO_HANDLE:
      /* With a flag it imports a sync file into an object that exists: struct drm_syncobj_handle { handle, flags, ... }. */
      sync_objects += ((const uint32_t *)argument)[1] == 0;
      break;
   }
}

/* A copy of `union drm_amdgpu_ctx`, whose question is overwritten by its answer. */
struct context_request {
   uint32_t words[4];
};

int ioctl(int fd, unsigned long request, ...)
{
   void *argument;
   ARGUMENT_BEHIND(request, argument);
   if (!is_drm(request))
      return next_ioctl(fd, request, argument);
   const unsigned number = number_of(request);
   struct context_request asked = {{0}};
   if (number == CTX)
      memcpy(&asked, argument, sizeof(asked));
   if (++requests == refused_at) {
      now->refused_number = (int)number;
      refused_giving = number == GEM_CLOSE || number == SYNCOBJ_DESTROY || (number == CTX && asked.words[0] == CTX_FREE);
      errno = refused_with;
      return -1;
   }
   const int answer = next_ioctl(fd, request, argument);
   if (answer == 0)
      count(number, number == CTX ? (const void *)&asked : argument);
   return answer;
}

#define SIZE 4096u
#define SECOND UINT64_C(1000000000)

/* A program's objects; those that were not made are null. */
struct objects {
   VkInstance instance;
   VkPhysicalDevice physical;
   VkDevice device;
   VkQueue queue;
   VkBuffer buffers[2];
   VkDeviceMemory memory[2];
   uint32_t *data;
   VkCommandPool pool;
   VkCommandBuffer commands;
   VkFence fence;
   VkSemaphore semaphore;
   VkEvent event;
};

struct outcome {
   enum call call;
   VkResult result;
};

#define TRY(at, expression)                                                                                            \
   do {                                                                                                                \
      now->call = at;                                                                                                  \
      const VkResult try_result = (expression);                                                                        \
      if (try_result != VK_SUCCESS)                                                                                    \
         return (struct outcome){at, try_result};                                                                      \
   } while (0)

/* The first memory type of `allowed` with all of `wanted`; 0 if there is none. */
static uint32_t memory_type(const struct objects *o, uint32_t allowed, VkMemoryPropertyFlags wanted)
{
   VkPhysicalDeviceMemoryProperties properties;
   vkGetPhysicalDeviceMemoryProperties(o->physical, &properties);
   for (uint32_t i = 0; i < properties.memoryTypeCount; i++)
      if (allowed >> i & 1 && (properties.memoryTypes[i].propertyFlags & wanted) == wanted)
         return i;
   return 0;
}

/* An instance, the first GPU of a driver of hardware, and a device with a queue of graphics. */
static struct outcome open_device(struct objects *o)
{
   const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
   const VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
   TRY(CREATE_INSTANCE, vkCreateInstance(&instance, NULL, &o->instance));
   uint32_t gpus = 1;
   now->call = ENUMERATE_DEVICES;
   const VkResult found = vkEnumeratePhysicalDevices(o->instance, &gpus, &o->physical);
   if (found < 0)
      return (struct outcome){ENUMERATE_DEVICES, found};
   /* A node that cannot be opened is passed over: the answer is then that there is no GPU. */
   if (gpus == 0)
      return (struct outcome){ENUMERATE_DEVICES, VK_ERROR_INITIALIZATION_FAILED};
   const float priority = 1;
   const VkDeviceQueueCreateInfo queue = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
   const VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, .timelineSemaphore = VK_TRUE};
   const VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                      .pNext = &timeline,
                                      .queueCreateInfoCount = 1,
                                      .pQueueCreateInfos = &queue};
   TRY(CREATE_DEVICE, vkCreateDevice(o->physical, &device, NULL, &o->device));
   vkGetDeviceQueue(o->device, 0, 0, &o->queue);
   return (struct outcome){DONE, VK_SUCCESS};
}

/* A pool, and a command buffer that is being recorded. */
static struct outcome begin_commands(struct objects *o)
{
   const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
   TRY(CREATE_POOL, vkCreateCommandPool(o->device, &pool, NULL, &o->pool));
   const VkCommandBufferAllocateInfo commands = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = o->pool, .commandBufferCount = 1};
   TRY(ALLOCATE_COMMANDS, vkAllocateCommandBuffers(o->device, &commands, &o->commands));
   const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
   TRY(BEGIN_COMMANDS, vkBeginCommandBuffer(o->commands, &begin));
   return (struct outcome){DONE, VK_SUCCESS};
}

/* Two buffers, of VRAM and of mapped memory; a fill of one, a copy to the other, and the look at what came. */
static struct outcome transfer(struct objects *o)
{
   static const VkMemoryPropertyFlags wanted[] = {
      VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT};
   for (int i = 0; i < 2; i++) {
      const VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                         .size = SIZE,
                                         .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
      TRY(CREATE_BUFFER, vkCreateBuffer(o->device, &buffer, NULL, &o->buffers[i]));
      VkMemoryRequirements needs;
      vkGetBufferMemoryRequirements(o->device, o->buffers[i], &needs);
      const VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                               .allocationSize = needs.size,
                                               .memoryTypeIndex = memory_type(o, needs.memoryTypeBits, wanted[i])};
      TRY(ALLOCATE_MEMORY, vkAllocateMemory(o->device, &allocation, NULL, &o->memory[i]));
      TRY(BIND_MEMORY, vkBindBufferMemory(o->device, o->buffers[i], o->memory[i], 0));
   }
   TRY(MAP_MEMORY, vkMapMemory(o->device, o->memory[1], 0, SIZE, 0, (void **)&o->data));
   const struct outcome begun = begin_commands(o);
   if (begun.result != VK_SUCCESS)
      return begun;
   now->call = RECORD_COMMANDS;
   vkCmdFillBuffer(o->commands, o->buffers[0], 0, SIZE, 0x5eed5eed);
   const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                    .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT};
   vkCmdPipelineBarrier(o->commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &barrier, 0, NULL, 0,
                        NULL);
   const VkBufferCopy all = {.size = SIZE};
   vkCmdCopyBuffer(o->commands, o->buffers[0], o->buffers[1], 1, &all);
   TRY(END_COMMANDS, vkEndCommandBuffer(o->commands));
   const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
   TRY(CREATE_FENCE, vkCreateFence(o->device, &fence, NULL, &o->fence));
   const VkSemaphoreTypeCreateInfo timeline = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                               .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
   const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &timeline};
   TRY(CREATE_SEMAPHORE, vkCreateSemaphore(o->device, &semaphore, NULL, &o->semaphore));
   const uint64_t one = 1;
   const VkTimelineSemaphoreSubmitInfo values = {
      .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, .signalSemaphoreValueCount = 1, .pSignalSemaphoreValues = &one};
   const VkSubmitInfo submission = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                    .pNext = &values,
                                    .commandBufferCount = 1,
                                    .pCommandBuffers = &o->commands,
                                    .signalSemaphoreCount = 1,
                                    .pSignalSemaphores = &o->semaphore};
   TRY(SUBMIT, vkQueueSubmit(o->queue, 1, &submission, o->fence));
   TRY(WAIT_FENCE, vkWaitForFences(o->device, 1, &o->fence, VK_TRUE, 5 * SECOND));
   const VkSemaphoreWaitInfo wait = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, .semaphoreCount = 1, .pSemaphores = &o->semaphore, .pValues = &one};
   TRY(WAIT_SEMAPHORE, vkWaitSemaphores(o->device, &wait, 5 * SECOND));
   for (uint32_t i = 0; i < SIZE / 4; i++)
      if (o->data[i] != 0x5eed5eed)
         return (struct outcome){COMPARE, VK_INCOMPLETE};
   return (struct outcome){DONE, VK_SUCCESS};
}

static void destroy(struct objects *o)
{
   now->call = DONE;
   if (o->device) {
      vkDeviceWaitIdle(o->device);
      vkDestroyEvent(o->device, o->event, NULL);
      vkDestroySemaphore(o->device, o->semaphore, NULL);
      vkDestroyFence(o->device, o->fence, NULL);
      vkDestroyCommandPool(o->device, o->pool, NULL);
      for (int i = 0; i < 2; i++) {
         vkDestroyBuffer(o->device, o->buffers[i], NULL);
         vkFreeMemory(o->device, o->memory[i], NULL);
      }
      vkDestroyDevice(o->device, NULL);
   }
   if (o->instance)
      vkDestroyInstance(o->instance, NULL);
   *o = (struct objects){0};
}

static struct outcome whole_program(void)
{
   struct objects o = {0};
   struct outcome outcome = open_device(&o);
   if (outcome.result == VK_SUCCESS)
      outcome = transfer(&o);
   destroy(&o);
   return outcome;
}

/* `true` if Vulkan's specification lists the result for the call. VK_ERROR_UNKNOWN is allowed everywhere. */
static bool is_named(enum call call, VkResult result)
{
   switch (result) {
   case VK_SUCCESS:
      return call == DONE;
   case VK_ERROR_UNKNOWN:
   case VK_ERROR_OUT_OF_HOST_MEMORY:
      return call < COMPARE;
   case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return call < COMPARE && call != CREATE_INSTANCE && call != ENUMERATE_DEVICES;
   case VK_ERROR_INITIALIZATION_FAILED:
      return call <= CREATE_DEVICE;
   case VK_ERROR_INCOMPATIBLE_DRIVER:
      return call == CREATE_INSTANCE;
   case VK_ERROR_DEVICE_LOST:
      return call == CREATE_DEVICE || (call >= SUBMIT && call <= WAIT_SEMAPHORE);
   case VK_ERROR_FEATURE_NOT_PRESENT:
   case VK_ERROR_EXTENSION_NOT_PRESENT:
      /* A node whose capabilities cannot be asked for has fewer features. */
      return call == CREATE_DEVICE;
   case VK_ERROR_TOO_MANY_OBJECTS:
      return call == CREATE_DEVICE || call == ALLOCATE_MEMORY;
   case VK_ERROR_MEMORY_MAP_FAILED:
      return call == MAP_MEMORY;
   default:
      return false;
   }
}

struct report {
   struct outcome outcome;
   int memory, contexts, sync_objects;
   bool giving;
};

/* Runs the program in a child with the n-th request refused; `false` if the child did not end by itself. */
static bool run_refused(int n, int with, struct report *report, int *status)
{
   int ends[2];
   if (pipe(ends) != 0)
      abort();
   *now = (struct progress){.refused_number = -1};
   const pid_t child = fork();
   if (child == 0) {
      alarm(60);
      refused_at = n;
      refused_with = with;
      struct report mine = {.outcome = whole_program()};
      mine.giving = refused_giving;
      mine.memory = memory;
      mine.contexts = contexts;
      mine.sync_objects = sync_objects;
      _exit(write(ends[1], &mine, sizeof(mine)) == sizeof(mine) ? 0 : 1);
   }
   close(ends[1]);
   const bool whole = read(ends[0], report, sizeof(*report)) == sizeof(*report);
   close(ends[0]);
   waitpid(child, status, 0);
   return whole;
}

static int sweep(int with)
{
   int failures = 0, refusals = 0, survived = 0;
   for (int n = 1;; n++) {
      struct report report = {0};
      int status = 0;
      if (!run_refused(n, with, &report, &status)) {
         printf("BAD request %d: %s ends by signal %d\n", n, call_names[now->call], WTERMSIG(status));
         failures++;
         refusals++;
         if (now->refused_number < 0)
            return 1;
         continue;
      }
      if (now->refused_number < 0)
         break;
      refusals++;
      const bool right = is_named(report.outcome.call, report.outcome.result);
      const bool negative = report.memory < 0 || report.contexts < 0 || report.sync_objects < 0;
      const bool kept = negative || report.memory + report.contexts + report.sync_objects > report.giving;
      printf("%s request %d: ", right && !kept ? "ok " : "BAD", n);
      if (kept)
         printf("%s leaves %d of memory, %d contexts, %d sync objects", call_names[report.outcome.call], report.memory,
                report.contexts, report.sync_objects);
      else
         printf("%s is %d", call_names[report.outcome.call], report.outcome.result);
      printf(" (request %#04x)\n", (unsigned)now->refused_number);
      failures += !right || kept;
      survived += right && !kept && report.outcome.call == DONE;
   }
   printf("errno %d: %d requests refused, %d survived, %d answered, %d bad\n", with, refusals, survived,
          refusals - survived - failures, failures);
   return failures != 0 || refusals == 0;
}

#define CHECK(condition)                                                                                               \
   do {                                                                                                                \
      if (!(condition)) {                                                                                              \
         fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                                       \
         exit(1);                                                                                                      \
      }                                                                                                                \
   } while (0)

/* A device whose commands wait for an event that nothing sets is lost; another one of the same GPU is not. */
static int hang(void)
{
   struct objects lost = {0}, kept = {0};
   CHECK(open_device(&lost).result == VK_SUCCESS && open_device(&kept).result == VK_SUCCESS);
   const VkEventCreateInfo event = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
   CHECK(vkCreateEvent(lost.device, &event, NULL, &lost.event) == VK_SUCCESS);
   CHECK(begin_commands(&lost).result == VK_SUCCESS);
   vkCmdWaitEvents(lost.commands, 1, &lost.event, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, NULL, 0, NULL,
                   0, NULL);
   CHECK(vkEndCommandBuffer(lost.commands) == VK_SUCCESS);
   const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
   CHECK(vkCreateFence(lost.device, &fence, NULL, &lost.fence) == VK_SUCCESS);
   const VkSubmitInfo submission = {
      .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &lost.commands};
   CHECK(vkQueueSubmit(lost.queue, 1, &submission, lost.fence) == VK_SUCCESS);
   /* RADV asks for the state of its context when it submits: the wait may end with success. */
   const VkResult waited = vkWaitForFences(lost.device, 1, &lost.fence, VK_TRUE, 20 * SECOND);
   CHECK(waited == VK_SUCCESS || waited == VK_ERROR_DEVICE_LOST);
   for (int i = 0; i < 2; i++)
      CHECK(vkQueueSubmit(lost.queue, 1, &submission, VK_NULL_HANDLE) == VK_ERROR_DEVICE_LOST);
   CHECK(transfer(&kept).call == DONE);
   destroy(&lost);
   destroy(&kept);
   CHECK(whole_program().call == DONE);
   CHECK(memory == 0 && contexts == 0 && sync_objects == 0);
   printf("the hung device is lost, the other one works, and so does a new one\n");
   return 0;
}

static void ended_well(pid_t child)
{
   int status;
   CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A child that goes at once, and one that executes this program anew, do nothing to the device of their parent. */
static int processes(const char *program)
{
   struct objects o = {0};
   CHECK(open_device(&o).result == VK_SUCCESS);
   pid_t child = fork();
   if (child == 0)
      _exit(0);
   ended_well(child);
   child = fork();
   if (child == 0) {
      execl(program, program, "once", (char *)NULL);
      _exit(1);
   }
   ended_well(child);
   CHECK(transfer(&o).call == DONE);
   destroy(&o);
   CHECK(memory == 0 && contexts == 0 && sync_objects == 0);
   printf("children by fork and by exec, and their parent, work\n");
   return 0;
}

int main(int argc, char **argv)
{
   setvbuf(stdout, NULL, _IOLBF, 0);
   now = mmap(NULL, sizeof(*now), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
   CHECK(now != MAP_FAILED);
   const char *word = argc > 1 ? argv[1] : "";
   if (strcmp(word, "hang") == 0)
      return hang();
   if (strcmp(word, "processes") == 0)
      return processes(argv[0]);
   if (strcmp(word, "once") == 0)
      return whole_program().call != DONE;
   if (strcmp(word, "sweep") == 0 && argc > 2) {
      int failed = 0;
      for (int i = 2; i < argc; i++)
         failed |= sweep(atoi(argv[i]));
      return failed;
   }
   fprintf(stderr, "usage: %s sweep ERRNO... | hang | processes\n", argv[0]);
   return 2;
}
