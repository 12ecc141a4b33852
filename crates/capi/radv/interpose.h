/* The `ioctl` behind the one of a check that stands in front of it: the simulator's preload library, or the C library. */
#ifndef AGW_INTERPOSE_H
#define AGW_INTERPOSE_H

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>

/* Stores the third argument of the function it stands in, whose second one is named. */
#define ARGUMENT_BEHIND(request, argument)                                                                             \
   do {                                                                                                                \
      va_list list;                                                                                                    \
      va_start(list, request);                                                                                         \
      argument = va_arg(list, void *);                                                                                 \
      va_end(list);                                                                                                    \
   } while (0)

static inline int next_ioctl(int fd, unsigned long request, void *argument)
{
   static int (*next)(int, unsigned long, void *);
   if (!next)
      next = (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
   return next(fd, request, argument);
}

/* Returns true if the request is one of DRM. */
static inline bool is_drm(unsigned long request)
{
   return (request >> 8 & 0xff) == 'd';
}

/* Returns the number of a request, its lowest eight bits. */
static inline unsigned number_of(unsigned long request)
{
   return request & 0xff;
}

#endif
