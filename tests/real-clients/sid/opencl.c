/*
 * Three kernels on the first OpenCL device, compiled by its driver from source: a sum of two arrays, a sum over work groups through
 * local memory and a barrier, and a histogram with atomics. Prints a line each, and ends with 1 if a result is wrong.
 *
 * The headers of OpenCL are not needed: the few declarations are here, and the loader is opened at run time.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *handle;
typedef int32_t (*get_platforms)(uint32_t, handle *, uint32_t *);
typedef int32_t (*get_devices)(handle, uint64_t, uint32_t, handle *, uint32_t *);
typedef handle (*create_context)(const intptr_t *, uint32_t, const handle *, void *, void *, int32_t *);
typedef handle (*create_queue)(handle, handle, const uint64_t *, int32_t *);
typedef handle (*create_program)(handle, uint32_t, const char **, const size_t *, int32_t *);
typedef int32_t (*build_program)(handle, uint32_t, const handle *, const char *, void *, void *);
typedef int32_t (*get_build)(handle, handle, uint32_t, size_t, void *, size_t *);
typedef handle (*create_kernel)(handle, const char *, int32_t *);
typedef handle (*create_buffer)(handle, uint64_t, size_t, void *, int32_t *);
typedef int32_t (*set_argument)(handle, uint32_t, size_t, const void *);
typedef int32_t (*enqueue_kernel)(handle, handle, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t, const handle *, handle *);
typedef int32_t (*enqueue_read)(handle, handle, uint32_t, size_t, size_t, void *, uint32_t, const handle *, handle *);

enum { COUNT = 4096, GROUP = 64, BINS = 16, GPU = 1 << 2, COPY = 1 << 5, READ_WRITE = 1, BUILD_LOG = 0x1183 };

static const char *const source =
    "kernel void add(global const uint *a, global const uint *b, global uint *to) {\n"
    "    size_t i = get_global_id(0);\n"
    "    to[i] = a[i] * 3 + b[i];\n"
    "}\n"
    "kernel void groups(global const uint *a, global const uint *b, global uint *to) {\n"
    "    local uint part[64];\n"
    "    size_t i = get_local_id(0);\n"
    "    part[i] = a[get_global_id(0)] ^ b[get_global_id(0)];\n"
    "    for (uint width = 32; width > 0; width /= 2) {\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        if (i < width) part[i] += part[i + width];\n"
    "    }\n"
    "    if (i == 0) to[get_group_id(0)] = part[0];\n"
    "}\n"
    "kernel void histogram(global const uint *a, global const uint *b, global uint *to) {\n"
    "    atomic_add(&to[(a[get_global_id(0)] + b[get_global_id(0)]) % 16], 1u);\n"
    "}\n";

static void *library;

static void *entry(const char *name)
{
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "opencl: no %s\n", name);
        exit(2);
    }
    return found;
}

static void check(int32_t error, const char *what)
{
    if (error) {
        fprintf(stderr, "opencl: %s: error %d\n", what, error);
        exit(2);
    }
}

int main(void)
{
    static uint32_t a[COUNT], b[COUNT], found[COUNT], expected[COUNT];
    static const char *const names[] = { "add", "groups", "histogram" };
    handle platform, device, context, queue, program;
    size_t all = COUNT, group = GROUP;
    int32_t error;
    int wrong = 0;

    library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "opencl: %s\n", dlerror());
        return 2;
    }
    check(((get_platforms)entry("clGetPlatformIDs"))(1, &platform, NULL), "platform");
    check(((get_devices)entry("clGetDeviceIDs"))(platform, GPU, 1, &device, NULL), "device");
    context = ((create_context)entry("clCreateContext"))(NULL, 1, &device, NULL, NULL, &error);
    check(error, "context");
    queue = ((create_queue)entry("clCreateCommandQueueWithProperties"))(context, device, NULL, &error);
    check(error, "queue");
    program = ((create_program)entry("clCreateProgramWithSource"))(context, 1, (const char **)&source, NULL, &error);
    check(error, "program");
    error = ((build_program)entry("clBuildProgram"))(program, 1, &device, "", NULL, NULL);
    if (error) {
        static char log[8192];
        ((get_build)entry("clGetProgramBuildInfo"))(program, device, BUILD_LOG, sizeof(log) - 1, log, NULL);
        fprintf(stderr, "%s\n", log);
    }
    check(error, "build");
    for (uint32_t i = 0; i < COUNT; i++) {
        a[i] = i * 2654435761u;
        b[i] = i ^ 0x5a5a5a5au;
    }
    for (int which = 0; which < 3; which++) {
        handle buffers[3], kernel = ((create_kernel)entry("clCreateKernel"))(program, names[which], &error);
        check(error, names[which]);
        memset(found, 0, sizeof(found));
        memset(expected, 0, sizeof(expected));
        for (uint32_t i = 0; i < COUNT; i++) {
            if (which == 0)
                expected[i] = a[i] * 3 + b[i];
            else if (which == 1)
                expected[i / GROUP] += a[i] ^ b[i];
            else
                expected[(a[i] + b[i]) % BINS]++;
        }
        for (int i = 0; i < 3; i++) {
            uint32_t *from[] = { a, b, found };
            buffers[i] = ((create_buffer)entry("clCreateBuffer"))(context, READ_WRITE | COPY, sizeof(a), from[i], &error);
            check(error, "buffer");
            check(((set_argument)entry("clSetKernelArg"))(kernel, i, sizeof(handle), &buffers[i]), "argument");
        }
        check(((enqueue_kernel)entry("clEnqueueNDRangeKernel"))(queue, kernel, 1, NULL, &all, &group, 0, NULL, NULL), "run");
        check(((enqueue_read)entry("clEnqueueReadBuffer"))(queue, buffers[2], 1, 0, sizeof(found), found, 0, NULL, NULL), "read");
        int right = !memcmp(found, expected, sizeof(found));
        printf("%s %s\n", right ? "pass" : "fail", names[which]);
        wrong |= !right;
    }
    return wrong;
}
