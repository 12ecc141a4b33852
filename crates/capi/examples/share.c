/* Exports memory as a dma-buf, and imports it in another process. */
#define _POSIX_C_SOURCE 200809L

#include "common.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The other process: a device of its own, and the descriptor that it inherited. */
static int look(int fd)
{
   struct agw_device *device = open_first();
   struct agw_bo_info info = {0};
   struct agw_bo *bo;
   void *pointer;
   info.struct_size = sizeof(info);
   TRY(agw_bo_probe(device, fd, &info));
   TRY(agw_bo_import(device, fd, 0, 0, &bo));
   TRY(agw_bo_map(bo, &pointer));
   printf("imported %llu bytes: %s\n", (unsigned long long)info.size, (const char *)pointer);
   const int differs = strcmp(pointer, "from the other process");
   agw_bo_unref(bo);
   agw_device_unref(device);
   return differs != 0;
}

int main(int argc, char **argv)
{
   if (argc == 2)
      return look(atoi(argv[1]));

   struct agw_device *device = open_first();
   void *pointer;
   struct agw_bo *bo = allocate(device, 8192, &pointer);
   strcpy(pointer, "from the other process");
   int fd;
   TRY(agw_bo_export(bo, &fd));

   char number[16];
   const int inherited = dup(fd); /* unlike the exported one, not closed on exec */
   snprintf(number, sizeof(number), "%d", inherited);
   const pid_t child = fork();
   if (child == 0) {
      execl(argv[0], argv[0], number, (char *)NULL);
      _exit(1);
   }
   int status = 1;
   waitpid(child, &status, 0);
   close(inherited);
   close(fd);
   agw_bo_unref(bo);
   agw_device_unref(device);
   return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
