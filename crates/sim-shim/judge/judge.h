/* What the programs of the judge share: requests, a source of numbers, and tables of descriptors and handles. */
#ifndef JUDGE_H
#define JUDGE_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define IOWR(nr, type) _IOC(_IOC_READ | _IOC_WRITE, 'd', nr, sizeof(type))
#define IOW(nr, type) _IOC(_IOC_WRITE, 'd', nr, sizeof(type))

struct create { uint32_t handle, flags; };
struct destroy { uint32_t handle, pad; };
struct handle_fd { uint32_t handle, flags; int32_t fd; uint32_t pad; uint64_t point; };
struct array { uint64_t handles; uint32_t count, pad; };
struct line { uint64_t handles, points; uint32_t count, flags; };
struct transfer { uint32_t src, dst; uint64_t src_point, dst_point; uint32_t flags, pad; };
struct wait { uint64_t handles; int64_t timeout; uint32_t count, flags, first, pad; uint64_t deadline; };
struct line_wait { uint64_t handles, points; int64_t timeout; uint32_t count, flags, first, pad; uint64_t deadline; };
struct event { uint32_t handle, flags; uint64_t point; int32_t fd; uint32_t pad; };
struct dumb { uint32_t height, width, bpp, flags, handle, pitch; uint64_t size; };
struct map { uint32_t handle, pad; uint64_t offset; };
struct prime { uint32_t handle, flags; int32_t fd; };
struct pair { uint32_t a, b; };
struct open_name { uint32_t name, handle; uint64_t size; };
struct name { uint64_t length, text; };
struct merge { char name[32]; int32_t fd2, fence; uint32_t flags, pad; };
struct info { char name[32]; int32_t status; uint32_t flags, fences, pad; uint64_t array; };
struct sync_fd { uint32_t flags; int32_t fd; };

struct fence_request { uint32_t value; char name[32]; int32_t fence; };

#define SW_SYNC_CREATE _IOWR('W', 0, struct fence_request)
#define SW_SYNC_INC _IOW('W', 1, uint32_t)
#define SYNC_MERGE _IOWR('>', 3, struct merge)
#define SYNC_INFO _IOWR('>', 4, struct info)

#define SLOTS 12
/* The handle in a slot that never had one, which no object has. */
#define NOBODY 55555
/* Descriptors by slot, the node that is tested, and the slot for the descriptor of this call. */
extern int fds[SLOTS], drm, kept;
/* Sync objects, BOs and names by slot. */
extern uint32_t handles[8], buffers[8], names[4];
/* The number of the call. */
extern unsigned long call;
/* Requests of Linux 6.12 alone; points that rise. */
extern int old, rising;
/* The node's path. */
extern const char *node;

/* Returns a number below another one, from the seed and the number of the call. */
uint32_t any(uint32_t below);
/* Returns the second number once in twelve times. */
uint32_t rare(uint32_t usual, uint32_t unusual);
uint32_t handle(void);
uint32_t buffer(void);
int slot(void);
uint64_t point(void);
uint64_t higher(void);
/* Makes a request on the node, and prints its name and errno, which it returns. */
int go(const char *what, unsigned long request, void *argument);
/* Puts a descriptor in its slot. */
void keep(int fd);
/* Prints what the sync objects hold. */
void points_now(void);
/* Prints what 64 words hold after a request, as a sum: what was answered, and that the rest is as it was. Pointers, which are first and
 * depend on the process, are as they were or zero. */
void left(const uint8_t *argument, const uint32_t *before, int pointers);
int close_handle(uint32_t handle);

/* One random call each. */
void syncobjs(void);
void primes(void);
void twins(void);
void fences(void);
void masters(void);
void passing(void);
void hostile(void);
void modes(void);
void mangled(void);
void maps(void);
void descriptors(void);
void colours(void);

#endif
