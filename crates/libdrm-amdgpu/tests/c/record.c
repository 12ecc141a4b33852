/* A preload library that writes down the DRM requests of a process: number, size and result, and the words of the argument before
 * the request, in which numbers that are addresses of the process or times are blanked. Before the first request of amdgpu is a line
 * with the libdrm_amdgpu that the process has, behind a #. Preloaded in front of the simulator's library; AMDGPU_RECORD names the file.
 * AMDGPU_REFUSE="N E" refuses the Nth request, counted from 1, with errno E. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST = 512 };

/* Addresses of libraries, heaps and stacks; GPU addresses below are the client's own, and the high ones are negative here. */
static int is_address(uint64_t word)
{
    return word >> 44 == 0x5 || word >> 44 == 0x7;
}

/* The requests with a time until which they wait: GEM_WAIT_IDLE, WAIT_CS, WAIT_FENCES, SYNCOBJ_WAIT and SYNCOBJ_TIMELINE_WAIT. */
static int waits(unsigned long request)
{
    const unsigned number = request & 0xff;
    return number == 0x47 || number == 0x49 || number == 0x52 || number == 0xc3 || number == 0xca;
}

/* A time of the monotonic clock, from an hour before now to an hour after. On a machine that has just started, other words of
   requests look like one. */
static int is_time(uint64_t word)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t distance = (int64_t)(word / 1000000000) - now.tv_sec;
    return word > 1000000000 && distance > -3600 && distance < 3600;
}

static int tell_library(struct dl_phdr_info *info, size_t size, void *file)
{
    (void)size;
    if (strstr(info->dlpi_name, "libdrm_amdgpu.so"))
        dprintf(*(int *)file, "# %s\n", info->dlpi_name);
    return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
    static int has_told;
    static int (*next)(int, unsigned long, void *);
    static int file = -1;
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (!next)
        next = (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
    const unsigned size = request >> 16 & 0x3fff;
    if ((request >> 8 & 0xff) != 'd' || size > LONGEST)
        return next(fd, request, argument);
    const int before = errno;
    const char *path = getenv("AMDGPU_RECORD");
    if (file < 0 && path)
        file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0 && !has_told && (request & 0xff) == 0x45) {
        has_told = 1;
        dl_iterate_phdr(tell_library, &file);
    }
    uint64_t words[LONGEST / 8] = { 0 };
    memcpy(words, argument, size);
    static int count, refused = -1, with;
    const char *refusal = getenv("AMDGPU_REFUSE");
    if (refused < 0 && (!refusal || sscanf(refusal, "%d %d", &refused, &with) != 2))
        refused = 0;
    const int is_refused = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) == refused;
    errno = is_refused ? with : before;
    const int result = is_refused ? -1 : next(fd, request, argument);
    const int reason = errno;
    char line[64 + 3 * LONGEST];
    int length = snprintf(line, sizeof line, "%02lx %u %d", request & 0xff, size, result < 0 ? -reason : 0);
    for (unsigned i = 0; i < (size + 7) / 8; i++) {
        if (is_address(words[i]))
            length += snprintf(line + length, sizeof line - (size_t)length, " ADDRESS");
        else if (waits(request) && is_time(words[i]))
            length += snprintf(line + length, sizeof line - (size_t)length, " TIME");
        else
            length += snprintf(line + length, sizeof line - (size_t)length, " %llx", (unsigned long long)words[i]);
    }
    line[length++] = '\n';
    if (file >= 0 && write(file, line, (size_t)length) < 0)
        abort();
    errno = reason;
    return result;
}
