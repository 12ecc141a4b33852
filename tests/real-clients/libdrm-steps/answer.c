/* A kernel of a few instructions, preloaded before the simulator's: it answers the requests of allocations and submissions at once, so
 * that what is counted is the work of libraries and drivers. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <drm.h>
#include <amdgpu_drm.h>
#include <stdarg.h>

static int (*next)(int, unsigned long, ...);

__attribute__((constructor)) static void find(void)
{
    next = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    /* Type and number: old and new structures of GEM_VA differ in size. */
    static unsigned handles = 1 << 20;
    switch (request & 0xffff) {
    case DRM_IOCTL_AMDGPU_GEM_CREATE & 0xffff:
        ((union drm_amdgpu_gem_create *)argument)->out.handle = __atomic_add_fetch(&handles, 1, __ATOMIC_RELAXED);
        return 0;
    case DRM_IOCTL_GEM_CLOSE & 0xffff:
    case DRM_IOCTL_AMDGPU_CS & 0xffff:
        ((union drm_amdgpu_cs *)argument)->out.handle = 7;
        return 0;
    case DRM_IOCTL_AMDGPU_GEM_VA & 0xffff:
        return 0;
    default:
        return next(fd, request, argument);
    }
}
