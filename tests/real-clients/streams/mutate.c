/*
 * A preload library that gets one packet of a program's command streams wrong. It stands before the library of the simulator in LD_PRELOAD,
 * follows which memory has which address, and changes the IBs of a submission in that memory before the kernel has them.
 *
 * MUTANTS=FILE lists all mistakes that can be made in a run, a line each: number of the packet, kind, argument, name of the packet.
 * MUTANT="NUMBER KIND ARGUMENT" makes one of them. Kinds: drop (a NOP of the same size in its place), register (the same of a packet that
 * sets registers), twice (in place of a NOP behind it), swap (with the packet behind it), late and early (behind, or in front of, as many
 * packets that do something as the argument says), barrier (the packet and those that order behind it, up to as many packets that do
 * something else as the argument says), clear and set (a bit: the argument is 32 times the dword, plus the bit; only bits that the packet
 * has), event (another type of event, which is the argument), quiet (no cache operation with an event), wait (a reference that is one
 * less).
 *
 * Packets are numbered in the order of their submissions, so a program that submits the same work in each run makes the same mistake in
 * each mode. Only the streams of graphics and compute rings are changed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <amdgpu_drm.h>

enum {
    NOP = 0x10, DISPATCH_DIRECT = 0x15, DISPATCH_INDIRECT = 0x16, ATOMIC_MEM = 0x1e, WRITE_DATA = 0x37, WAIT_REG_MEM = 0x3c,
    INDIRECT_BUFFER = 0x3f, COPY_DATA = 0x40, CP_DMA = 0x41, PFP_SYNC_ME = 0x42, SURFACE_SYNC = 0x43, EVENT_WRITE = 0x46,
    EVENT_WRITE_EOP = 0x47, EVENT_WRITE_EOS = 0x48, RELEASE_MEM = 0x49, DMA_DATA = 0x50, ACQUIRE_MEM = 0x58, SET_CONTEXT_REG = 0x69,
    SET_SH_REG = 0x76, SET_UCONFIG_REG = 0x79, SET_UCONFIG_REG_INDEX = 0x7a, SET_SH_REG_INDEX = 0x9b,
    MOST = 65536,
    /* The number of packets that do something across which one can be moved. */
    FARTHEST = 3,
};

struct mapping { uint64_t offset, size; unsigned char *cpu; uint32_t handle; };
struct binding { uint64_t va, size, offset; uint32_t handle; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapping mappings[MOST];
static struct binding bindings[MOST];
static unsigned mapping_count, binding_count;
static unsigned long packet_count;

static const struct { uint8_t op; const char *name; } names[] = {
    { ATOMIC_MEM, "ATOMIC_MEM" }, { WRITE_DATA, "WRITE_DATA" }, { WAIT_REG_MEM, "WAIT_REG_MEM" }, { COPY_DATA, "COPY_DATA" },
    { CP_DMA, "CP_DMA" }, { PFP_SYNC_ME, "PFP_SYNC_ME" }, { SURFACE_SYNC, "SURFACE_SYNC" }, { EVENT_WRITE, "EVENT_WRITE" },
    { EVENT_WRITE_EOP, "EVENT_WRITE_EOP" }, { EVENT_WRITE_EOS, "EVENT_WRITE_EOS" }, { RELEASE_MEM, "RELEASE_MEM" },
    { DMA_DATA, "DMA_DATA" }, { ACQUIRE_MEM, "ACQUIRE_MEM" },
};

/* Returns the name of a packet that accesses memory or orders accesses; none for others. */
static const char *name_of(unsigned op)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].op == op)
            return names[i].name;
    return NULL;
}

static int sets_registers(unsigned op)
{
    return op == SET_CONTEXT_REG || op == SET_SH_REG || op == SET_UCONFIG_REG || op == SET_UCONFIG_REG_INDEX || op == SET_SH_REG_INDEX;
}

static int does_something(unsigned op) { return op != NOP && op != 256 && !sets_registers(op); }

/* The bits of packets that order or make accesses, but for addresses and sizes; the last dword of a DMA has the length and flags. */
static const struct { uint8_t op, dword; uint32_t bits; } controls[] = {
    { ATOMIC_MEM, 1, 0x06000f00 }, { WRITE_DATA, 1, 0xc6110f00 }, { WAIT_REG_MEM, 1, 0x060003f7 }, { COPY_DATA, 1, 0xc6116f0f },
    { CP_DMA, 2, 0xe8300000 }, { CP_DMA, 5, 0xfc000000 }, { SURFACE_SYNC, 1, 0xffffffff }, { EVENT_WRITE, 1, 0x00000f3f },
    { EVENT_WRITE_EOP, 1, 0x0603bf3f }, { EVENT_WRITE_EOS, 1, 0x00000f3f }, { RELEASE_MEM, 1, 0xffffffbf }, { RELEASE_MEM, 2, 0xe7030000 },
    { DMA_DATA, 1, 0xe6306001 }, { DMA_DATA, 6, 0xfc000000 }, { ACQUIRE_MEM, 1, 0xffffffff }, { ACQUIRE_MEM, 7, 0x0007ffff },
};

/* Types of events: partial flushes and flushes of metadata, and those at the end of the pipe. */
static const uint8_t flushes[] = { 0x07, 0x0f, 0x10, 0x2c, 0x2e }, ends[] = { 0x14, 0x28, 0x2b, 0x2d, 0x2f };

/* The actions on caches beside a type of event, of all generations. */
#define ACTIONS 0x007ff000u

static int is_end(unsigned op) { return op == RELEASE_MEM || op == EVENT_WRITE_EOP; }

/* Returns 1 for packets that are wrong in another place. */
static int has_place(unsigned op)
{
    return is_end(op) || op == ACQUIRE_MEM || op == SURFACE_SYNC || op == EVENT_WRITE || op == PFP_SYNC_ME || op == WAIT_REG_MEM;
}

static unsigned op_of(uint32_t header) { return header >> 30 == 3 ? header >> 8 & 255 : 256; }

static size_t length_of(uint32_t header)
{
    const size_t count = header >> 16 & 0x3fff;
    return header >> 30 == 2 || (op_of(header) == NOP && count == 0x3fff) ? 1 : count + 2;
}

/* Returns 1 for packets that order accesses, or flush caches, and do nothing else. */
static int is_of_barrier(const uint32_t *packet)
{
    const unsigned op = op_of(*packet);
    if (op != EVENT_WRITE)
        return has_place(op);
    for (size_t i = 0; i < sizeof flushes / sizeof *flushes; i++)
        if ((packet[1] & 0x3f) == flushes[i])
            return 1;
    return 0;
}

/*
 * Returns how many packets from this one on, up to the next IB or the given number of packets that do something else, order accesses, and
 * makes NOPs of them if `drops`.
 */
static unsigned barrier(uint32_t *packet, size_t rest, unsigned others, int drops)
{
    unsigned found = 0;
    for (size_t at = 0; at < rest && at + length_of(packet[at]) <= rest; at += length_of(packet[at])) {
        const unsigned op = op_of(packet[at]);
        if (op == INDIRECT_BUFFER)
            break;
        if (is_of_barrier(packet + at)) {
            found++;
            if (drops)
                packet[at] = (packet[at] & 0xffff0000u) | NOP << 8;
        } else if (does_something(op) && others-- == 0) {
            break;
        }
    }
    return found;
}

/* Returns the memory of an address, as far as it goes; none if the program has not mapped it. */
static uint32_t *memory_of(uint64_t va, size_t *dwords)
{
    for (unsigned i = binding_count; i-- > 0;) {
        const struct binding *binding = &bindings[i];
        if (va < binding->va || va - binding->va >= binding->size)
            continue;
        const uint64_t at = binding->offset + (va - binding->va);
        for (unsigned j = mapping_count; j-- > 0;)
            if (mappings[j].cpu && mappings[j].handle == binding->handle && at < mappings[j].size) {
                const size_t most = (size_t)((mappings[j].size - at) / 4);
                *dwords = *dwords < most ? *dwords : most;
                return (uint32_t *)(mappings[j].cpu + at);
            }
        return NULL;
    }
    return NULL;
}

static void list_events(FILE *file, uint32_t word, const uint8_t *types, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if ((word & 0x3f) != types[i])
            fprintf(file, "%lu event %u %s\n", packet_count, types[i], name);
}

/* Lists the mistakes with a packet, behind which there are this many dwords, and in front of which are this many packets. */
static void list(FILE *file, uint32_t *packet, size_t rest, unsigned before)
{
    const unsigned op = op_of(*packet), length = (unsigned)length_of(*packet);
    const char *name = name_of(op);
    if (sets_registers(op))
        fprintf(file, "%lu register 0 SET\n", packet_count);
    if (!name)
        return;
    fprintf(file, "%lu drop 0 %s\n", packet_count, name);
    if (rest > length && op_of(packet[length]) == NOP && length_of(packet[length]) == length)
        fprintf(file, "%lu twice 0 %s\n", packet_count, name);
    if (rest > length && op_of(packet[length]) != NOP && packet[length] != *packet)
        fprintf(file, "%lu swap 0 %s\n", packet_count, name);
    for (unsigned count = 2; has_place(op) && count <= FARTHEST; count++)
        fprintf(file, "%lu late %u %s\n", packet_count, count, name);
    for (unsigned count = 1; has_place(op) && count <= FARTHEST && count <= before; count++)
        fprintf(file, "%lu early %u %s\n", packet_count, count, name);
    for (unsigned others = 0, last = 1; is_of_barrier(packet) && others < FARTHEST; others++) {
        const unsigned found = barrier(packet, rest, others, 0);
        if (found > last)
            fprintf(file, "%lu barrier %u %s\n", packet_count, others, name);
        last = found;
    }
    if (op == WAIT_REG_MEM && length > 4)
        fprintf(file, "%lu wait 0 %s\n", packet_count, name);
    if (op == EVENT_WRITE)
        list_events(file, packet[1], flushes, sizeof flushes, name);
    if (is_end(op))
        list_events(file, packet[1], ends, sizeof ends, name);
    if (is_end(op) && packet[1] & ACTIONS)
        fprintf(file, "%lu quiet 0 %s\n", packet_count, name);
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        for (unsigned bit = 0; bit < 32 && controls[i].op == op && controls[i].dword < length; bit++)
            if (controls[i].bits >> bit & 1) {
                const char *kind = packet[controls[i].dword] >> bit & 1 ? "clear" : "set";
                fprintf(file, "%lu %s %u %s\n", packet_count, kind, 32 * controls[i].dword + bit, name);
            }
}

/* Makes a mistake; the packets in front of this one begin at `starts`, the nearest first. */
static void make(const char *kind, unsigned argument, uint32_t *packet, size_t rest, uint32_t *const starts[FARTHEST])
{
    const size_t length = length_of(*packet);
    if (!strcmp(kind, "drop") || !strcmp(kind, "register")) {
        *packet = (*packet & 0xffff0000u) | NOP << 8;
    } else if (!strcmp(kind, "barrier")) {
        barrier(packet, rest, argument, 1);
    } else if (!strcmp(kind, "twice")) {
        memcpy(packet + length, packet, 4 * length);
    } else if (!strcmp(kind, "wait")) {
        packet[4]--;
    } else if (!strcmp(kind, "clear") || !strcmp(kind, "set")) {
        packet[argument / 32] ^= 1u << argument % 32;
    } else if (!strcmp(kind, "event")) {
        packet[1] = (packet[1] & ~0x3fu) | argument;
    } else if (!strcmp(kind, "quiet")) {
        packet[1] &= ~ACTIONS;
    } else if (!strcmp(kind, "early")) {
        uint32_t own[64], *first = argument <= FARTHEST ? starts[argument - 1] : NULL;
        if (!first || length > 64)
            return;
        memcpy(own, packet, 4 * length);
        memmove(first + length, first, (size_t)((unsigned char *)packet - (unsigned char *)first));
        memcpy(first, own, 4 * length);
    } else {
        size_t behind = 0;
        uint32_t own[64];
        unsigned count = strcmp(kind, "swap") ? argument : 1;
        while (count > 0 && length + behind < rest) {
            const uint32_t next = packet[length + behind];
            if (op_of(next) == INDIRECT_BUFFER || length + behind + length_of(next) > rest)
                break;
            behind += length_of(next);
            count -= !strcmp(kind, "swap") || does_something(op_of(next));
        }
        if (length > 64)
            return;
        memcpy(own, packet, 4 * length);
        memmove(packet, packet + length, 4 * behind);
        memcpy(packet + behind, own, 4 * length);
    }
}

static void walk(uint64_t va, size_t dwords, int depth)
{
    const char *list_name = getenv("MUTANTS"), *mutant = getenv("MUTANT");
    FILE *file = list_name ? fopen(list_name, "a") : NULL;
    uint32_t *ib = memory_of(va, &dwords);
    uint32_t *starts[FARTHEST] = { NULL };
    unsigned before = 0;
    size_t at = 0;
    while (ib && at < dwords) {
        const size_t length = length_of(ib[at]);
        unsigned long number;
        unsigned argument;
        char kind[16];
        if (at + length > dwords)
            break;
        packet_count++;
        if (file)
            list(file, ib + at, dwords - at, before);
        if (mutant && sscanf(mutant, "%lu %15s %u", &number, kind, &argument) == 3 && number == packet_count) {
            make(kind, argument, ib + at, dwords - at, starts);
            fprintf(stderr, "mutant: packet %lu, %s %u\n", number, kind, argument);
        }
        if (op_of(ib[at]) == INDIRECT_BUFFER && length >= 4 && depth < 64) {
            const uint64_t next = ib[at + 1] | (uint64_t)ib[at + 2] << 32;
            if (file)
                fflush(file);
            walk(next, ib[at + 3] & 0xfffff, depth + 1);
            before = 0;
        } else if (does_something(op_of(ib[at]))) {
            memmove(starts + 1, starts, sizeof starts - sizeof *starts);
            starts[0] = ib + at;
            before++;
        }
        at += length;
    }
    if (file)
        fclose(file);
}

static void submit(const union drm_amdgpu_cs *cs)
{
    const uint64_t *chunks = (const uint64_t *)(uintptr_t)cs->in.chunks;
    for (uint32_t i = 0; i < cs->in.num_chunks; i++) {
        const struct drm_amdgpu_cs_chunk *chunk = (const void *)(uintptr_t)chunks[i];
        const struct drm_amdgpu_cs_chunk_ib *ib = (const void *)(uintptr_t)chunk->chunk_data;
        if (chunk->chunk_id == AMDGPU_CHUNK_ID_IB && (ib->ip_type == AMDGPU_HW_IP_GFX || ib->ip_type == AMDGPU_HW_IP_COMPUTE))
            walk(ib->va_start, ib->ib_bytes / 4, 0);
    }
}

static void bind(const struct drm_amdgpu_gem_va *va)
{
    const int binds = va->operation == AMDGPU_VA_OP_MAP || va->operation == AMDGPU_VA_OP_REPLACE;
    for (unsigned i = 0; i < binding_count; i++)
        if (bindings[i].va == va->va_address)
            bindings[i].size = 0;
    if (binds && binding_count < MOST)
        bindings[binding_count++] = (struct binding) { va->va_address, va->map_size, va->offset_in_bo, va->handle };
}

/* Structures grow from one header to the next, and with them the size in the number. */
static int is_request(unsigned long request, unsigned long wanted) { return ((request ^ wanted) & 0xffff) == 0; }

int ioctl(int fd, unsigned long request, ...)
{
    static int (*next)(int, unsigned long, ...);
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (!next)
        next = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    if (is_request(request, DRM_IOCTL_AMDGPU_CS)) {
        pthread_mutex_lock(&lock);
        submit(argument);
        pthread_mutex_unlock(&lock);
    }
    uint32_t handle = 0;
    if (is_request(request, DRM_IOCTL_AMDGPU_GEM_MMAP))
        handle = ((union drm_amdgpu_gem_mmap *)argument)->in.handle;
    const int result = next(fd, request, argument);
    pthread_mutex_lock(&lock);
    if (result == 0 && handle && mapping_count < MOST)
        mappings[mapping_count++] = (struct mapping) { ((union drm_amdgpu_gem_mmap *)argument)->out.addr_ptr, 0, NULL, handle };
    if (result == 0 && is_request(request, DRM_IOCTL_AMDGPU_GEM_VA))
        bind(argument);
    pthread_mutex_unlock(&lock);
    return result;
}

static void *map(const char *name, void *address, size_t size, int rights, int flags, int fd, off_t offset)
{
    void *(*next)(void *, size_t, int, int, int, off_t) = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, name);
    void *made = next(address, size, rights, flags, fd, offset);
    if (fd < 0 || made == MAP_FAILED || !offset)
        return made;
    pthread_mutex_lock(&lock);
    for (unsigned i = mapping_count; i-- > 0;)
        if (mappings[i].offset == (uint64_t)offset) {
            mappings[i].cpu = made;
            mappings[i].size = size;
            break;
        }
    pthread_mutex_unlock(&lock);
    return made;
}

void *mmap(void *address, size_t size, int rights, int flags, int fd, off_t offset)
{
    return map("mmap", address, size, rights, flags, fd, offset);
}

void *mmap64(void *address, size_t size, int rights, int flags, int fd, off_t offset)
{
    return map("mmap64", address, size, rights, flags, fd, offset);
}

int munmap(void *address, size_t size)
{
    static int (*next)(void *, size_t);
    if (!next)
        next = (int (*)(void *, size_t))dlsym(RTLD_NEXT, "munmap");
    for (unsigned i = 0; i < mapping_count; i++)
        if (mappings[i].cpu == address)
            mappings[i].cpu = NULL;
    return next(address, size);
}
