/* A client that makes random calls of libdrm_amdgpu and prints each with its result and what was written. Two libraries that behave alike
 * print the same for the same seed. It keeps to what libdrm answers: handles that live or are another device's, null where libdrm checks,
 * and otherwise any numbers. No address of the process is printed. */
#ifndef RANDOM_H
#define RANDOM_H

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

enum { DEVICES = 3, BOS = 48, RANGES = 48, LISTS = 8, CONTEXTS = 6, SEMAPHORES = 8, SYNCOBJS = 16, FDS = 16, MANAGERS = 3, HANDLES = 16 };
enum { RINGS = 8, IPS = 10 };

/* The device of objects is the index into `devices`. Free places have a null handle. */
struct bo {
    amdgpu_bo_handle bo;
    unsigned device;
};

struct range {
    amdgpu_va_handle range;
    uint64_t start, size;
    int manager; /* of a device if negative */
};

struct context {
    amdgpu_context_handle context;
    unsigned device;
    uint64_t last[IPS][RINGS];
};

struct semaphore {
    amdgpu_semaphore_handle semaphore;
    bool is_signalled, is_queued;
    amdgpu_context_handle by, waiting;
    unsigned ip, ring;
};

struct list {
    amdgpu_bo_list_handle list;
    unsigned device;
};

/* GPU memory with NOPs of graphics, and of SDMA in its second half; mapped for as long as the device is there. */
struct code {
    amdgpu_bo_handle bo;
    uint64_t va;
};

extern amdgpu_device_handle devices[DEVICES];
extern struct code codes[DEVICES];
extern struct bo bos[BOS];
extern struct range ranges[RANGES];
extern struct list lists[LISTS];
extern struct context contexts[CONTEXTS];
extern struct semaphore semaphores[SEMAPHORES];
extern amdgpu_va_manager_handle managers[MANAGERS];
extern uint32_t syncobjs[SYNCOBJS];
extern int fds[FDS];
/* Numbers that were GEM handles once. */
extern uint32_t handles[HANDLES];
/* The other functions of libdrm 2.4.134 are there. */
extern bool is_newer;

/* Numbers: below a bound; true once in n times; one that programs get wrong. */
uint32_t below(uint32_t bound);
bool once_in(uint32_t n);
uint64_t odd_number(void);
/* A size or an address that is good more often than not. */
uint64_t any_size(void);
uint64_t any_address(void);
uint64_t any_flags(uint64_t good);

/* Objects: a device, or null; an index of an object that lives, or of a free place; -1 if there is none. */
amdgpu_device_handle any_device(unsigned *index);
int any_bo(void);
int free_bo(void);
int any_range(void);
int any_context(void);
uint32_t any_handle(void);
uint32_t any_syncobj(void);
int any_fd(void);
void keep_fd(int fd);
void keep_handle(uint32_t handle);

/* Prints what is called and its arguments, then its result with errno behind a -1, then further numbers of the answer. */
#define ASK(...) (printf(__VA_ARGS__), errno = 0)
int told(int result);
#define SAY(...) printf(__VA_ARGS__)
/* A digest of memory. */
uint64_t digest(const void *memory, size_t size);

/* The kinds of calls. */
void random_query(void);
void random_memory(void);
void random_address(void);
void random_work(void);
void random_sync(void);
void random_device(void);

#endif
