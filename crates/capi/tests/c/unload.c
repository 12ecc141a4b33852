/* Loads the library that the first argument names, works with it, and looks whether it can be unloaded. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <amdgpu_winsys.h>

/* Finds a function. ISO C has no conversion from an object's address to a function's; POSIX has. */
static void find(void *library, const char *name, void *function)
{
   void *found = dlsym(library, name);
   if (!found) {
      fprintf(stderr, "%s: %s\n", name, dlerror());
      exit(1);
   }
   *(void **)function = found;
}

int main(int argc, char **argv)
{
   if (argc != 2)
      return 2;
   void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
   if (!library) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
   }
   int32_t (*open_device)(const char *, const struct agw_device_options *, struct agw_device **);
   int32_t (*create_sync)(const struct agw_device *, bool, struct agw_sync **);
   int32_t (*wait)(const struct agw_sync_point *, uint32_t, uint32_t, uint64_t);
   void (*destroy_sync)(struct agw_sync *);
   void (*unref_device)(struct agw_device *);
   const char *(*last_error)(void);
   int32_t (*create_manager)(const struct agw_device *, const struct agw_memory_manager_options *,
                             struct agw_memory_manager **);
   int32_t (*allocate)(const struct agw_memory_manager *, const struct agw_memory_request *, struct agw_memory **);
   void (*unref_memory)(struct agw_memory *);
   void (*unref_manager)(struct agw_memory_manager *);
   find(library, "agw_memory_manager_create", &create_manager);
   find(library, "agw_memory_allocate", &allocate);
   find(library, "agw_memory_unref", &unref_memory);
   find(library, "agw_memory_manager_unref", &unref_manager);
   find(library, "agw_device_open", &open_device);
   find(library, "agw_sync_create", &create_sync);
   find(library, "agw_sync_wait", &wait);
   find(library, "agw_sync_destroy", &destroy_sync);
   find(library, "agw_device_unref", &unref_device);
   find(library, "agw_last_error", &last_error);

   struct agw_device *device;
   struct agw_sync *sync;
   if (open_device("/dev/dri/renderD128", NULL, &device) != AGW_SUCCESS ||
       create_sync(device, false, &sync) != AGW_SUCCESS) {
      fprintf(stderr, "%s\n", last_error());
      return 1;
   }
   /* A failing call: its text is the thread's. */
   const struct agw_sync_point nothing = {NULL, 0};
   if (wait(&nothing, 1, 0, 0) != AGW_ERROR_INVALID_ARGUMENT)
      return 1;
   destroy_sync(sync);
   /* Memory that was freed: the library keeps its host memory for the next one, and must not keep it with the thread. */
   struct agw_memory_manager *manager;
   struct agw_memory *memory;
   struct agw_memory_request request = {0};
   request.struct_size = sizeof(request);
   request.size = 65536;
   if (create_manager(device, NULL, &manager) != AGW_SUCCESS || allocate(manager, &request, &memory) != AGW_SUCCESS) {
      fprintf(stderr, "%s\n", last_error());
      return 1;
   }
   unref_memory(memory);
   unref_manager(manager);
   unref_device(device);
   dlclose(library);
   if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD)) {
      fprintf(stderr, "%s is still loaded\n", argv[1]);
      return 1;
   }
   printf("the shared library was unloaded\n");
   return 0;
}
