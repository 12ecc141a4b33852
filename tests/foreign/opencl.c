// Kernels through OpenCL, with results compared to the host's: `opencl [DEVICE]`, where DEVICE is a part of the device's name.
//
// Prints a line for each kernel, and ends with 0 if all results are right.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 4096, GROUP = 64, BINS = 16 };

static const char *source =
    "kernel void saxpy(global const float *x, global float *y, float a) {\n"
    "    size_t i = get_global_id(0);\n"
    "    y[i] = fma(a, x[i], y[i]);\n"
    "}\n"
    "kernel void sums(global const uint *in, global uint *out) {\n"
    "    local uint part[64];\n"
    "    size_t i = get_local_id(0);\n"
    "    part[i] = in[get_global_id(0)];\n"
    "    for (uint step = get_local_size(0) / 2; step > 0; step /= 2) {\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        if (i < step) part[i] += part[i + step];\n"
    "    }\n"
    "    if (i == 0) out[get_group_id(0)] = part[0];\n"
    "}\n"
    "kernel void histogram(global const uint *in, global uint *bins) {\n"
    "    atomic_inc(&bins[in[get_global_id(0)] % 16]);\n"
    "}\n"
    "kernel void divide(global const long *in, global long *out, long by) {\n"
    "    size_t i = get_global_id(0);\n"
    "    out[i] = in[i] / by + in[i] % by;\n"
    "}\n"
    "kernel void squares(read_only image2d_t in, write_only image2d_t out) {\n"
    "    int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "    sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
    "    uint4 v = read_imageui(in, s, at);\n"
    "    write_imageui(out, at, v * v);\n"
    "}\n";

static cl_context context;
static cl_command_queue queue;
static cl_program program;
static int failures;

static void check(cl_int status, const char *call) {
    if (status != CL_SUCCESS) {
        fprintf(stderr, "%s: error %d\n", call, status);
        exit(1);
    }
}

static void tell(const char *name, int right) {
    printf("%-10s %s\n", name, right ? "right" : "WRONG");
    failures += !right;
}

static cl_mem buffer(size_t size, const void *data) {
    cl_int status;
    cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    cl_mem memory = clCreateBuffer(context, flags, size, (void *)data, &status);
    check(status, "clCreateBuffer");
    return memory;
}

static cl_kernel kernel(const char *name) {
    cl_int status;
    cl_kernel made = clCreateKernel(program, name, &status);
    check(status, "clCreateKernel");
    return made;
}

static void run(cl_kernel made, size_t count, size_t group) {
    check(clEnqueueNDRangeKernel(queue, made, 1, NULL, &count, &group, 0, NULL, NULL), "clEnqueueNDRangeKernel");
}

static void read_back(cl_mem memory, size_t size, void *out) {
    check(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, size, out, 0, NULL, NULL), "clEnqueueReadBuffer");
}

static void argument(cl_kernel made, cl_uint index, size_t size, const void *value) {
    check(clSetKernelArg(made, index, size, value), "clSetKernelArg");
}

static void saxpy(void) {
    static float x[COUNT], y[COUNT], out[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = 0.5f * (float)i;
        y[i] = 7.0f - (float)i;
    }
    cl_mem in = buffer(sizeof x, x), both = buffer(sizeof y, y);
    cl_kernel made = kernel("saxpy");
    float a = 3.25f;
    argument(made, 0, sizeof in, &in);
    argument(made, 1, sizeof both, &both);
    argument(made, 2, sizeof a, &a);
    run(made, COUNT, GROUP);
    read_back(both, sizeof out, out);
    int right = 1;
    for (int i = 0; i < COUNT; i++) right &= out[i] == fmaf(a, x[i], y[i]);
    tell("saxpy", right);
}

static void sums_and_bins(void) {
    static cl_uint values[COUNT], sums[COUNT / GROUP], wanted[COUNT / GROUP], bins[BINS], in_bin[BINS];
    for (cl_uint i = 0; i < COUNT; i++) {
        values[i] = i * 2654435761u >> 7;
        wanted[i / GROUP] += values[i];
        in_bin[values[i] % BINS]++;
    }
    cl_mem in = buffer(sizeof values, values), out = buffer(sizeof sums, sums), counts = buffer(sizeof bins, bins);
    cl_kernel made = kernel("sums");
    argument(made, 0, sizeof in, &in);
    argument(made, 1, sizeof out, &out);
    run(made, COUNT, GROUP);
    read_back(out, sizeof sums, sums);
    tell("sums", memcmp(sums, wanted, sizeof sums) == 0);
    made = kernel("histogram");
    argument(made, 0, sizeof in, &in);
    argument(made, 1, sizeof counts, &counts);
    run(made, COUNT, GROUP);
    read_back(counts, sizeof bins, bins);
    tell("histogram", memcmp(bins, in_bin, sizeof bins) == 0);
}

static void divide(void) {
    static cl_long values[COUNT], out[COUNT];
    cl_long by = -1234567;
    for (int i = 0; i < COUNT; i++) values[i] = ((cl_long)i - COUNT / 2) * 987654321987LL;
    cl_mem in = buffer(sizeof values, values), results = buffer(sizeof out, out);
    cl_kernel made = kernel("divide");
    argument(made, 0, sizeof in, &in);
    argument(made, 1, sizeof results, &results);
    argument(made, 2, sizeof by, &by);
    run(made, COUNT, GROUP);
    read_back(results, sizeof out, out);
    int right = 1;
    for (int i = 0; i < COUNT; i++) right &= out[i] == values[i] / by + values[i] % by;
    tell("divide", right);
}

static void squares(void) {
    enum { SIDE = 32 };
    static cl_uint texels[SIDE * SIDE][4], out[SIDE * SIDE][4];
    for (int i = 0; i < SIDE * SIDE; i++)
        for (int c = 0; c < 4; c++) texels[i][c] = (cl_uint)(i * 5 + c);
    cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT32};
    cl_image_desc about = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = SIDE, .image_height = SIDE};
    cl_int status;
    cl_mem in = clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &about, texels, &status);
    check(status, "clCreateImage");
    cl_mem results = clCreateImage(context, CL_MEM_WRITE_ONLY, &format, &about, NULL, &status);
    check(status, "clCreateImage");
    cl_kernel made = kernel("squares");
    argument(made, 0, sizeof in, &in);
    argument(made, 1, sizeof results, &results);
    size_t count[2] = {SIDE, SIDE}, group[2] = {8, 8}, origin[3] = {0, 0, 0}, region[3] = {SIDE, SIDE, 1};
    check(clEnqueueNDRangeKernel(queue, made, 2, NULL, count, group, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    check(clEnqueueReadImage(queue, results, CL_TRUE, origin, region, 0, 0, out, 0, NULL, NULL), "clEnqueueReadImage");
    int right = 1;
    for (int i = 0; i < SIDE * SIDE; i++)
        for (int c = 0; c < 4; c++) right &= out[i][c] == texels[i][c] * texels[i][c];
    tell("squares", right);
}

static cl_device_id find(const char *part, char *name, size_t size) {
    cl_platform_id platforms[8];
    cl_uint count = 0;
    check(clGetPlatformIDs(8, platforms, &count), "clGetPlatformIDs");
    for (cl_uint i = 0; i < count && i < 8; i++) {
        cl_device_id device;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_GPU, 1, &device, NULL) != CL_SUCCESS) continue;
        check(clGetDeviceInfo(device, CL_DEVICE_NAME, size, name, NULL), "clGetDeviceInfo");
        if (strstr(name, part)) return device;
    }
    fprintf(stderr, "no device \"%s\" on %u platforms\n", part, count);
    exit(1);
}

int main(int argc, char **argv) {
    char name[256], log[4096] = "";
    cl_device_id device = find(argc > 1 ? argv[1] : "", name, sizeof name);
    printf("on %s\n", name);
    cl_int status;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    check(status, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &status);
    check(status, "clCreateCommandQueue");
    program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
    check(status, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS) {
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fprintf(stderr, "clBuildProgram: %s\n", log);
        return 1;
    }
    saxpy();
    sums_and_bins();
    divide();
    squares();
    return failures != 0;
}
