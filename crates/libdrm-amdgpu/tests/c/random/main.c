/* Usage: random SEED COUNT OLD|NEW. */
#define _GNU_SOURCE
#include "random.h"

#include <dlfcn.h>
#include <sys/mman.h>

amdgpu_device_handle devices[DEVICES];
struct code codes[DEVICES];
struct bo bos[BOS];
struct range ranges[RANGES];
struct list lists[LISTS];
struct context contexts[CONTEXTS];
struct semaphore semaphores[SEMAPHORES];
amdgpu_va_manager_handle managers[MANAGERS];
uint32_t syncobjs[SYNCOBJS], handles[HANDLES];
int fds[FDS];
bool is_newer;

static uint64_t state;

static uint64_t draw(void)
{
    /* SplitMix64. */
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

uint32_t below(uint32_t bound)
{
    return (uint32_t)(draw() % bound);
}

bool once_in(uint32_t n)
{
    return below(n) == 0;
}

uint64_t odd_number(void)
{
    static const uint64_t odd[] = { 0, 1, 2, 3, 7, 0xfff, 0x1001, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0xfffff000,
                                    1ull << 47, 1ull << 48, 0x7fffffffffffffff, 1ull << 63, ~0ull - 4095, ~0ull };
    return once_in(4) ? draw() : odd[below(sizeof odd / sizeof *odd)];
}

uint64_t any_size(void)
{
    switch (below(8)) {
    case 0:
        return odd_number();
    case 1:
        return below(0x20000);
    default:
        return 4096ull << below(6);
    }
}

uint64_t any_address(void)
{
    const int range = any_range();
    if (once_in(5) || range < 0)
        return odd_number();
    return ranges[range].start + (once_in(4) ? 4096 * below(8) : 0);
}

uint64_t any_flags(uint64_t good)
{
    switch (below(8)) {
    case 0:
        return odd_number();
    case 1:
        return draw() & 0xfff;
    default:
        return good;
    }
}

amdgpu_device_handle any_device(unsigned *index)
{
    *index = once_in(3) ? below(DEVICES) : 0;
    return devices[*index];
}

#define PICK(name, array, count, is_wanted)                                                                                                 \
    int name(void)                                                                                                                          \
    {                                                                                                                                       \
        const unsigned from = below(count);                                                                                                 \
        for (unsigned i = 0; i < (count); i++) {                                                                                            \
            const unsigned at = (from + i) % (count);                                                                                       \
            if (is_wanted(array[at]))                                                                                                       \
                return (int)at;                                                                                                             \
        }                                                                                                                                   \
        return -1;                                                                                                                          \
    }
#define HAS_BO(place) ((place).bo != NULL)
#define NO_BO(place) ((place).bo == NULL)
#define HAS_RANGE(place) ((place).range != NULL)
#define HAS_CONTEXT(place) ((place).context != NULL)
PICK(any_bo, bos, BOS, HAS_BO)
PICK(free_bo, bos, BOS, NO_BO)
PICK(any_range, ranges, RANGES, HAS_RANGE)
PICK(any_context, contexts, CONTEXTS, HAS_CONTEXT)

uint32_t any_handle(void)
{
    return once_in(6) ? (uint32_t)odd_number() : handles[below(HANDLES)];
}

uint32_t any_syncobj(void)
{
    return once_in(8) ? (uint32_t)odd_number() : syncobjs[below(SYNCOBJS)];
}

int any_fd(void)
{
    static const int wrong[] = { -1, -2, 0, 1000000, 900 };
    return once_in(6) ? wrong[below(5)] : fds[below(FDS)];
}

/* Number 0 is /dev/null for as long as the place is free. */
void keep_fd(int fd)
{
    const unsigned at = below(FDS);
    /* The numbers of new descriptors depend on what the library keeps open; these do not. */
    fds[at] = dup3(fd, 500 + (int)at, O_CLOEXEC);
    close(fd);
}

void keep_handle(uint32_t handle)
{
    handles[below(HANDLES)] = handle;
}

int told(int result)
{
    const int reason = errno;
    SAY(" = %d", result);
    if (result == -1)
        SAY(" (errno %d)", reason);
    return result;
}

uint64_t digest(const void *memory, size_t size)
{
    const unsigned char *bytes = memory;
    uint64_t sum = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * 0x100000001b3;
    return sum;
}

static void set_up(unsigned index, int fd, bool is_shared)
{
    uint32_t major, minor;
    void *cpu;
    amdgpu_va_handle range;
    struct amdgpu_bo_alloc_request request = { 4096, 0, AMDGPU_GEM_DOMAIN_GTT, 0 };
    struct code *code = &codes[index];
    if (fd < 0 || amdgpu_device_initialize2(fd, is_shared, &major, &minor, &devices[index]) ||
        amdgpu_bo_alloc(devices[index], &request, &code->bo) ||
        amdgpu_va_range_alloc(devices[index], amdgpu_gpu_va_range_general, 4096, 0, 0, &code->va, &range, 0) ||
        amdgpu_bo_va_op(code->bo, 0, 4096, code->va, 0, AMDGPU_VA_OP_MAP) || amdgpu_bo_cpu_map(code->bo, &cpu))
        exit(1);
    /* GFX6 has NOPs of its own, and hangs on those of the others. */
    struct amdgpu_gpu_info info;
    if (amdgpu_query_gpu_info(devices[index], &info))
        exit(1);
    const bool is_old = info.family_id == AMDGPU_FAMILY_SI;
    uint32_t *words = cpu;
    for (unsigned i = 0; i < 512; i++) {
        words[i] = is_old ? 0x80000000 : 0xffff1000;
        words[512 + i] = is_old ? 0xf0000000 : 0;
    }
    amdgpu_bo_cpu_unmap(code->bo);
    close(fd);
}

int main(int count, char **arguments)
{
    static void (*const kinds[])(void) = { random_query, random_query, random_memory, random_memory, random_memory, random_memory,
                                           random_address, random_address, random_address, random_work, random_work, random_work,
                                           random_work, random_sync, random_sync, random_device };
    if (count < 4)
        return 2;
    state = strtoull(arguments[1], NULL, 0);
    const unsigned long calls = strtoul(arguments[2], NULL, 0);
    is_newer = strcmp(arguments[3], "NEW") == 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    /* Descriptors that no library uses must not be numbers that one of them gets. */
    close(0);
    if (open("/dev/null", O_RDWR) != 0)
        return 1;
    set_up(0, open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC), true);
    set_up(1, open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC), false);
    set_up(2, open("/dev/dri/card0", O_RDWR | O_CLOEXEC), false);
    for (unsigned long i = 0; i < calls; i++) {
        SAY("%lu: ", i);
        kinds[below(sizeof kinds / sizeof *kinds)]();
        SAY("\n");
    }
    /* Descriptors of devices that are none any more. */
    for (unsigned i = 0; i < DEVICES; i++)
        if (dup2(0, amdgpu_device_get_fd(devices[i])) < 0)
            return 1;
    for (unsigned long i = 0; i < calls / 10; i++) {
        SAY("lost %lu: ", i);
        kinds[below(sizeof kinds / sizeof *kinds)]();
        SAY("\n");
    }
    return 0;
}
