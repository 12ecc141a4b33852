/* A client that calls every function of libdrm_amdgpu with good, border and bad arguments, and prints what it gets. Run with two
 * libraries, the texts are compared; no address of the process is printed. */
#ifndef PROBE_H
#define PROBE_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <amdgpu.h>
#include <amdgpu_drm.h>
#include <drm.h>

/* Prints the call and its result; errno too where that is -1, for there are functions that return it plain. */
static inline int told(const char *call, int result)
{
    const int reason = errno;
    printf("%s = %d", call, result);
    if (result == -1)
        printf(" (errno %d)", reason);
    printf("\n");
    return result;
}

#define CALL(call) (errno = 0, told(#call, (call)))
/* Prints a number under its own text. */
#define SHOW(number) printf("  %s: %#" PRIx64 "\n", #number, (uint64_t)(number))

/* The parts, in the order in which they run. Each leaves nothing behind. */
void probe_devices(void);
void probe_queries(amdgpu_device_handle dev);
void probe_buffers(amdgpu_device_handle dev);
void probe_addresses(amdgpu_device_handle dev);
void probe_submissions(amdgpu_device_handle dev);
void probe_syncobjs(amdgpu_device_handle dev);

/* The node that is probed. */
int open_node(void);

#endif
