/* A preload library that writes down which code makes which DRM requests: a line for each pair, when it is first seen by a
 * process, with the request's number, the object and the offset of the return address. Preloaded in front of the simulator's
 * library; AGW_ORIGINS names the file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interpose.h"

#define PLACES 4096

static _Atomic uintptr_t seen[PLACES];

static void note(unsigned number, void *address)
{
   const uintptr_t pair = (uintptr_t)address << 8 | number;
   for (unsigned i = 0; i < PLACES; i++) {
      uintptr_t found = 0;
      if (atomic_compare_exchange_strong(&seen[i], &found, pair))
         break;
      if (found == pair)
         return;
   }
   const char *path = getenv("AGW_ORIGINS");
   /* Resolved now: a driver may be unloaded before the process ends. */
   Dl_info info;
   if (!path || !dladdr(address, &info))
      return;
   char line[512];
   const int length = snprintf(line, sizeof(line), "%#04x %s %#lx\n", number, info.dli_fname,
                               (unsigned long)((uintptr_t)address - (uintptr_t)info.dli_fbase - 1));
   const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
   if (file >= 0 && length > 0) {
      const ssize_t written = write(file, line, (size_t)length);
      (void)written;
      close(file);
   }
}

int ioctl(int fd, unsigned long request, ...)
{
   void *argument;
   ARGUMENT_BEHIND(request, argument);
   if (is_drm(request))
      note(number_of(request), __builtin_return_address(0));
   return next_ioctl(fd, request, argument);
}
