/* A client of libdrm_amdgpu that checks what it gets: shared parts.
 *
 * Each check runs in a child of its own, with a device opened there; so it may leave things behind when it fails. */
#ifndef CLIENT_H
#define CLIENT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <amdgpu.h>
#include <amdgpu_drm.h>
#include <drm.h>

/* Exit codes: those of IGT and amdgpu-smoke. */
enum { EXIT_PASSED = 0, EXIT_SKIPPED = 77, EXIT_USAGE = 79, EXIT_FAILED = 98 };

enum { PAGE = 4096 };

/* The device of a check. */
struct lab {
    int fd;
    amdgpu_device_handle dev;
    struct amdgpu_gpu_info info;
};

/* A BO that the CPU sees, mapped for the GPU at `va`. */
struct bo {
    amdgpu_bo_handle handle;
    amdgpu_va_handle range;
    uint64_t va, size;
    uint32_t *cpu;
};

/* One check: its name, what it proves, how. */
struct check {
    const char *name, *proves;
    void (*run)(struct lab *);
};

/* The checks of each file, ended by one without a name. */
extern const struct check bo_checks[], work_checks[], sync_checks[], share_checks[];

/* Ends the check with its line. */
_Noreturn void failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void skipped(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Figures for the line of a check that passes. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* `call` must answer `expected`: 0, or a negative errno. */
void answers(const char *call, int found, int expected);
#define MUST(call) answers(#call, (call), 0)
#define REFUSED(call, errno_value) answers(#call, (call), -(errno_value))
/* Some of libdrm's calls hand on what ioctl(2) answered: -1, with the reason in errno. */
#define REFUSED_ERRNO(call, errno_value) answers(#call, (call) == -1 ? -errno : 1, -(errno_value))
#define ENSURE(condition) \
    do { \
        if (!(condition)) \
            failed("%s:%d: not so: %s", __FILE__, __LINE__, #condition); \
    } while (0)

/* The device behind the first render node of an amdgpu; exits as skipped without one. */
struct lab open_lab(void);

struct bo make_bo(struct lab *lab, uint64_t size, uint32_t heap, uint64_t flags);
void drop_bo(struct bo *bo);

/* Whether the chip has rings of the IP that this program writes packets for. */
bool has_ring(struct lab *lab, unsigned ip);
const char *ip_name(unsigned ip);

/* An IB in `ib` that stores `value` at `target`; returns its bytes. With `target` 0 it does nothing. */
uint32_t write_ib(struct lab *lab, struct bo *ib, unsigned ip, uint64_t target, uint32_t value);

/* What a submission has besides the IB. */
struct extras {
    uint32_t wait, signal;             /* syncobjs, 0 for none */
    uint64_t wait_point, signal_point; /* 0 for binary ones */
};

/* Submits an IB with its BOs named inline; the answer of libdrm. */
int submit(struct lab *lab, amdgpu_context_handle context, unsigned ip, struct bo *ib, uint32_t bytes,
           struct bo *const *bos, unsigned count, struct extras extras, uint64_t *seq);

/* Waits ten seconds at most; whether the submission has ended. */
bool ended(amdgpu_context_handle context, unsigned ip, uint64_t seq);

/* CLOCK_MONOTONIC now, and so many milliseconds later: what syncobj waits take. */
int64_t deadline(int64_t milliseconds);

#endif
