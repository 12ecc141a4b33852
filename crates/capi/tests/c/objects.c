/* The functions of the kernel's objects and of memory by memory type that the other programs do not call, each with its effect. */
#include "check.h"
#include "common.h"

#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES 8192u

/* The hooks count what they are called for. */
static int live_objects, log_lines, dump_lines;

static void *allocate_object(void *user, size_t size, size_t alignment)
{
   (*(int *)user)++;
   return aligned_alloc(alignment < 16 ? 16 : alignment, (size + 63) / 64 * 64);
}

static void free_object(void *user, void *memory)
{
   (*(int *)user)--;
   free(memory);
}

static void log_line(void *user, uint32_t level, const char *text)
{
   *(int *)user += level >= AGW_LOG_ERROR && text[0] != 0;
}

static void dump_line(void *user, const char *text)
{
   *(int *)user += text[0] != 0;
}

/* A device on a descriptor that stays the caller's, and what it answers. */
static struct agw_device *devices(void)
{
   const int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
   CHECK(fd >= 0);
   struct agw_device_options options = {0};
   struct agw_device *device;
   options.struct_size = sizeof(options);
   options.flags = AGW_DEVICE_OBSERVE;
   TRY(agw_device_open_fd(fd, &options, &device));
   CHECK(agw_device_is_of_node(device, fd) && !agw_device_is_of_node(device, 0));
   CHECK(close(fd) == 0);
   struct agw_page_fault fault = {0};
   uint32_t working = 0, registers[2] = {0, 0};
   fault.struct_size = sizeof(fault);
   TRY(agw_device_page_fault(device, &fault));
   CHECK(fault.status == 0);
   /* AMDGPU_INFO_ACCEL_WORKING; GB_ADDR_CONFIG. */
   TRY(agw_device_info_raw(device, 0, NULL, &working, sizeof(working)));
   TRY(agw_device_read_registers(device, 0x263e, 1, UINT32_MAX, registers));
   CHECK(working == 1 && registers[1] == 0);
   CHECK(agw_device_fragment_alignment(device, 1ull << 30, 4096) >= 65536);
   return device;
}

/* Memory of a handle that a request of this program's created, metadata, and mappings. */
static void buffers(struct agw_device *device)
{
   union {
      struct {
         uint64_t size, alignment, domains, flags;
      } in;
      struct {
         uint32_t handle, pad;
      } out;
   } create = {{BYTES, 0, GTT, CPU_ACCESS}};
   CHECK(ioctl(agw_device_fd(device), _IOWR('d', 0x40, create), &create) == 0);
   struct agw_bo *bo;
   TRY(agw_bo_from_handle(device, create.out.handle, true, 0, 0, &bo));
   CHECK(agw_bo_head(bo)->handle == create.out.handle && agw_bo_head(bo)->size == BYTES);
   TRY(agw_bo_set_name(bo, "of a handle"));

   struct agw_bo_info info = {0};
   info.struct_size = sizeof(info);
   TRY(agw_bo_get_info(bo, &info));
   CHECK(info.size == BYTES && info.domains == GTT);

   struct agw_bo_metadata given = {0}, found = {0};
   given.struct_size = found.struct_size = sizeof(given);
   given.size = 4;
   memcpy(given.data, "abcd", 4);
   TRY(agw_bo_set_metadata(bo, &given));
   TRY(agw_bo_get_metadata(bo, &found));
   CHECK(found.size == 4 && memcmp(found.data, "abcd", 4) == 0);

   char *const place = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   CHECK(place != MAP_FAILED);
   TRY(agw_bo_map_at(bo, place));
   strcpy(place, "in the BO");
   TRY(agw_bo_unmap(bo, true));
   void *pointer;
   TRY(agw_bo_map(bo, &pointer));
   CHECK(strcmp(pointer, "in the BO") == 0);
   TRY(agw_bo_unmap(bo, false));
   CHECK(munmap(place, BYTES) == 0);
   TRY(agw_bo_wait_idle(bo, 0));

   struct agw_sparse *range;
   TRY(agw_sparse_create(device, 1u << 20, 0, 0, 0, &range));
   CHECK(agw_sparse_head(range)->size == 1u << 20 && agw_sparse_head(range)->va % 4096 == 0);
   const struct agw_sparse_bind bind = {4096, 4096, bo, 0};
   TRY(agw_sparse_change(range, &bind, 1));
   CHECK(agw_sparse_ref(range) == range);
   agw_sparse_unref(range);

   struct agw_residents *set;
   TRY(agw_residents_create(device, &set));
   CHECK(agw_residents_ref(set) == set);
   TRY(agw_residents_add(set, bo));
   agw_residents_unref(set);

   TRY(agw_device_dump(device, AGW_DUMP_HISTORY, dump_line, &dump_lines));
   CHECK(dump_lines > 1);
   agw_residents_unref(set);
   agw_sparse_unref(range);
   agw_bo_unref(bo);
}

/* A store that one CS request of the caller's arrays submits. */
static void contexts(struct agw_device *device)
{
   struct agw_ctx *ctx;
   struct agw_sync *done;
   TRY(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &ctx));
   CHECK(agw_ctx_id(ctx) != 0 && agw_ctx_ref(ctx) == ctx);
   agw_ctx_unref(ctx);
   TRY(agw_ctx_pin_clocks(ctx, 1));
   TRY(agw_ctx_pin_clocks(ctx, 0));
   TRY(agw_sync_create(device, false, &done));
   void *pointer;
   struct agw_bo *bo = allocate(device, BYTES, &pointer);
   const uint64_t va = agw_bo_head(bo)->va, target = va + 4096;
   volatile uint32_t *words = pointer;
   const uint32_t store[8] = {0xc0033700u, (5u << 8) | (1u << 20), (uint32_t)target, (uint32_t)(target >> 32), 99u,
                              0xffff1000u, 0xffff1000u, 0xffff1000u};
   for (int i = 0; i < 8; i++)
      words[i] = store[i];
   const struct agw_cs_ib ib = {0, 0, va, sizeof(store), AGW_IP_GFX, 0, 0};
   const struct agw_cs_bo entry = {agw_bo_head(bo)->handle, 0};
   const struct agw_cs_sync signal = {agw_sync_handle(done), 0, 0};
   struct agw_cs cs = {0};
   cs.struct_size = sizeof(cs);
   cs.ibs = &ib;
   cs.bos = &entry;
   cs.signals = &signal;
   cs.ib_count = cs.bo_count = cs.signal_count = 1;
   uint64_t sequence = 0;
   TRY(agw_ctx_submit(ctx, &cs, &sequence));
   TRY(agw_ctx_wait(ctx, AGW_IP_GFX, 0, sequence, in_seconds(60)));
   const struct agw_sync_point point = {done, 0};
   TRY(agw_sync_wait(&point, 1, 0, in_seconds(60)));
   TRY(agw_ctx_check(ctx, AGW_IP_GFX, 0));
   CHECK(words[1024] == 99);
   struct agw_loss loss = {0};
   loss.struct_size = sizeof(loss);
   CHECK(agw_last_loss(&loss) == AGW_NOT_READY);
   agw_sync_destroy(done);
   agw_bo_unref(bo);
   agw_ctx_unref(ctx);
}

static void syncs(struct agw_device *device)
{
   uint32_t raw[2] = {0, 1}; /* the handle, and "signalled" */
   CHECK(ioctl(agw_device_fd(device), _IOWR('d', 0xbf, raw), raw) == 0);
   struct agw_sync *theirs, *timeline, *binary;
   TRY(agw_sync_from_handle(device, raw[0], true, &theirs));
   TRY(agw_sync_create(device, false, &timeline));
   TRY(agw_sync_create(device, false, &binary));
   const int event = eventfd(0, EFD_CLOEXEC);
   CHECK(event >= 0 && agw_sync_handle(theirs) == raw[0]);
   TRY(agw_sync_tell(timeline, 5, 0, event));
   TRY(agw_sync_transfer(timeline, 5, theirs, 0));
   uint64_t value = 0, count = 0;
   TRY(agw_sync_last_submitted(timeline, &value));
   CHECK(value == 5 && read(event, &count, sizeof(count)) == sizeof(count) && count == 1);
   int file;
   TRY(agw_sync_export_sync_file_at(timeline, 5, &file));
   TRY(agw_sync_import_sync_file(binary, file));
   TRY(agw_sync_swap(binary, theirs));
   CHECK(agw_sync_handle(binary) == raw[0]);
   TRY(agw_sync_reset(binary));
   const struct agw_sync_point point = {binary, 0};
   CHECK(agw_sync_wait(&point, 1, 0, 0) == AGW_TIMEOUT);
   close(file);
   close(event);
   agw_sync_destroy(theirs);
   agw_sync_destroy(timeline);
   agw_sync_destroy(binary);
}

static void memory(struct agw_device *device)
{
   struct agw_memory_manager *manager;
   TRY(agw_memory_manager_create(device, NULL, &manager));
   CHECK(agw_memory_manager_ref(manager) == manager);
   agw_memory_manager_unref(manager);
   struct agw_memory_heap heaps[16];
   struct agw_memory_type types[32];
   uint32_t heap_count = 16, type_count = 32, host_types = 0;
   TRY(agw_memory_manager_get_heaps(manager, heaps, &heap_count));
   TRY(agw_memory_manager_get_types(manager, types, &type_count));
   TRY(agw_memory_manager_host_types(manager, &host_types));
   CHECK(heap_count > 0 && type_count > 0 && host_types != 0);

   struct agw_memory_request request = {0};
   struct agw_memory *memory;
   request.struct_size = sizeof(request);
   request.size = BYTES;
   request.flags = AGW_MEMORY_EXPORTABLE;
   request.priority = 0.5f;
   /* Visible and coherent. */
   TRY(agw_memory_manager_find_type(manager, agw_memory_manager_buffer_types(manager, 0), 2 | 4, 0, &request.memory_type));
   TRY(agw_memory_allocate(manager, &request, &memory));
   CHECK(agw_memory_head(memory)->size == BYTES && agw_memory_ref(memory) == memory);
   agw_memory_unref(memory);
   void *pointer;
   TRY(agw_memory_map(memory, &pointer));
   strcpy(pointer, "in memory");
   TRY(agw_memory_flush(memory, 0, UINT64_MAX));
   TRY(agw_memory_unmap(memory, false));
   char *const place = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   CHECK(place != MAP_FAILED);
   TRY(agw_memory_map_at(memory, place));
   TRY(agw_memory_invalidate(memory, 0, 64));
   CHECK(strcmp(place, "in memory") == 0);
   TRY(agw_memory_set_priority(memory, 1.0f));
   int fd;
   struct agw_bo *bo;
   TRY(agw_memory_export(memory, AGW_HANDLE_DMA_BUF, &fd));
   TRY(agw_memory_bo(memory, &bo));
   CHECK(agw_bo_head(bo)->va == agw_memory_head(memory)->va);
   close(fd);
   agw_bo_unref(bo);
   agw_memory_unref(memory);
   CHECK(munmap(place, BYTES) == 0);

   void *pages;
   CHECK(posix_memalign(&pages, 4096, BYTES) == 0);
   request.flags = 0;
   for (request.memory_type = 0; !(host_types >> request.memory_type & 1);)
      request.memory_type++;
   TRY(agw_memory_import_host(manager, pages, &request, &memory));
   agw_memory_unref(memory);
   free(pages);
   agw_memory_manager_unref(manager);
}

int main(void)
{
   CHECK(agw_version() == (AGW_VERSION_MAJOR << 16 | AGW_VERSION_MINOR));
   CHECK(agw_vk_result(AGW_ERROR_PANIC) == AGW_ERROR_UNKNOWN && agw_vk_result(AGW_TIMEOUT) == AGW_TIMEOUT);
   TRY(agw_set_allocator(allocate_object, free_object, &live_objects));
   TRY(agw_set_log(AGW_LOG_TRACE, log_line, &log_lines));
   struct agw_device *device = devices();
   CHECK(live_objects == 1 && log_lines > 0);
   buffers(device);
   contexts(device);
   syncs(device);
   memory(device);
   CHECK(live_objects == 1);
   agw_device_unref(device);
   CHECK(live_objects == 0);
   printf("objects: each function has its effect, and nothing is left\n");
   return 0;
}
