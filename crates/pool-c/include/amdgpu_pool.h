/* How much memory a program can use on each AMD GPU of a computer, and why: without root, Vulkan or waking a GPU.
 *
 *    struct amdgpu_pool *pool;
 *    char message[256];
 *    if (amdgpu_pool_look(NULL, 0, &pool, message, sizeof message) != AMDGPU_POOL_OK) { puts(message); return; }
 *    struct amdgpu_pool_fit fit = { .struct_size = sizeof fit };
 *    amdgpu_pool_fits(pool, 0, bytes, &fit);
 *    amdgpu_pool_free(pool);
 *
 * - A pool is what was found at one moment; it never changes, and any number of threads may read it. Texts belong to it and are
 *   valid until amdgpu_pool_free.
 * - Sizes are in bytes. An unknown size is AMDGPU_POOL_UNKNOWN, never 0.
 * - Structures begin with struct_size, which the caller sets to sizeof; the library writes no more. Later versions append fields.
 * - Out-parameters are written only when the result is AMDGPU_POOL_OK.
 */
#ifndef AMDGPU_POOL_H
#define AMDGPU_POOL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AMDGPU_POOL_UNKNOWN UINT64_MAX

/* Results. */
#define AMDGPU_POOL_OK 0
#define AMDGPU_POOL_NO_GPU 1        /* there is no GPU of the driver amdgpu */
#define AMDGPU_POOL_NOT_READABLE 2  /* sysfs may not be read */
#define AMDGPU_POOL_BAD_ARGUMENT 3  /* null, not UTF-8, an unknown flag, or a struct_size of 0 */
#define AMDGPU_POOL_OUT_OF_RANGE 4  /* there is no such GPU, heap, limit or line */

/* Flags of amdgpu_pool_look. */
#define AMDGPU_POOL_WAKE 1u          /* open GPUs that are asleep, which wakes them */
#define AMDGPU_POOL_NO_PROCESSES 2u  /* do not read processes: the own usage is unknown */

/* Kinds of GPUs. */
#define AMDGPU_POOL_KIND_UNKNOWN 0
#define AMDGPU_POOL_KIND_CARD 1
#define AMDGPU_POOL_KIND_APU 2 /* its memory is system memory */

/* Verdicts. */
#define AMDGPU_POOL_TOO_MUCH 0
#define AMDGPU_POOL_FITS 1
#define AMDGPU_POOL_SPILLS 2 /* a part would lie in system memory, which a card reaches over PCIe only */
#define AMDGPU_POOL_FIT_UNKNOWN 3

/* States of limits. */
#define AMDGPU_POOL_LIMIT_UNKNOWN 0
#define AMDGPU_POOL_LIMIT_COUNTS 1 /* a term of the sum, or the smallest of several bounds */
#define AMDGPU_POOL_LIMIT_SLACK 2  /* another bound is smaller */
#define AMDGPU_POOL_LIMIT_APART 3  /* it does not limit the GPU's memory */

struct amdgpu_pool;

struct amdgpu_pool_gpu {
   uint32_t struct_size;
   uint32_t kind;
   const char *pci;        /* such as 0000:03:00.0 */
   const char *render;     /* such as /dev/dri/renderD128 */
   const char *limited_by; /* the term that limits available; empty if unknown */
   uint32_t device_id;     /* PCI device ID; 0 if unknown */
   uint32_t is_asleep;     /* 1 if it sleeps and was left asleep: heaps and usable sizes are unknown */
   uint64_t vram_total;
   uint64_t vram_usable;
   uint64_t vram_used;
   uint64_t visible_vram_total;
   uint64_t visible_vram_used;
   uint64_t gtt_total;
   uint64_t gtt_usable;
   uint64_t gtt_used;
   uint64_t total;     /* what programs can allocate at most */
   uint64_t available; /* what can still be allocated */
   uint64_t largest_now;
   uint64_t largest_accepted;
   uint64_t largest_recommended;
   uint64_t own_vram; /* what this process holds */
   uint64_t own_gtt;
   uint64_t others_vram; /* what all others and the kernel hold */
   uint64_t others_gtt;
   uint64_t shared_vram; /* at least so much is shared between clients */
   uint64_t shared_gtt;
   size_t heaps;   /* number of Vulkan heaps */
   size_t limits;  /* number of limits */
   size_t missing; /* number of lines about what could not be read or contradicts itself */
};

struct amdgpu_pool_heap {
   uint32_t struct_size;
   uint32_t is_device_local;
   const char *kind; /* invisible_vram, visible_vram or gtt */
   uint64_t size;
   uint64_t budget; /* of this process */
   uint64_t usage;  /* of this process */
   uint32_t is_pooled; /* 1 if it shares its memory with another heap */
   uint32_t pad;
};

struct amdgpu_pool_limit {
   uint32_t struct_size;
   uint32_t state;
   uint64_t bytes;
   const char *name;
   const char *source;
   const char *why;
};

struct amdgpu_pool_fit {
   uint32_t struct_size;
   uint32_t verdict;
   uint32_t is_in_one_piece; /* 1 if one allocation can have all of it */
   uint32_t pad;
   uint64_t own_memory;    /* bytes in VRAM or in the carve-out */
   uint64_t system_memory; /* bytes in system memory that the GPU maps */
   uint64_t lacking;
   char reason[128]; /* a sentence, cut where it is longer */
};

/* Looks at the computer, or at the one whose /sys, /proc and /dev are below root if it is not null. message may be null; it gets
 * the reason of a failure, cut to message_size bytes with a NUL. */
int amdgpu_pool_look(const char *root, uint32_t flags, struct amdgpu_pool **pool, char *message, size_t message_size);

/* Frees a pool; null is accepted. */
void amdgpu_pool_free(struct amdgpu_pool *pool);

/* The number of GPUs, ordered by PCI address; 0 for null. */
size_t amdgpu_pool_count(const struct amdgpu_pool *pool);

int amdgpu_pool_gpu(const struct amdgpu_pool *pool, size_t gpu, struct amdgpu_pool_gpu *out);
int amdgpu_pool_heap(const struct amdgpu_pool *pool, size_t gpu, size_t heap, struct amdgpu_pool_heap *out);
int amdgpu_pool_limit(const struct amdgpu_pool *pool, size_t gpu, size_t limit, struct amdgpu_pool_limit *out);
int amdgpu_pool_missing(const struct amdgpu_pool *pool, size_t gpu, size_t line, const char **source, const char **reason);

/* Whether so many bytes fit beside everything that was allocated when the pool was made, and where. */
int amdgpu_pool_fits(const struct amdgpu_pool *pool, size_t gpu, uint64_t bytes, struct amdgpu_pool_fit *out);

#ifdef __cplusplus
}
#endif

#endif
