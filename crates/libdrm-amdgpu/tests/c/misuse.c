/* What libdrm leaves undefined: nulls, objects that outlive their device, forks, many threads, loading and unloading. Loads the library
 * that is named by its path, and ends with 0 if all is well. */
#define _GNU_SOURCE
#include "probe.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define ENSURE(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition);                                            \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

static void *library;
static const char *path;

#define LOAD(name) __typeof__(&name) own_##name = (__typeof__(&name))dlsym(library, #name)

int open_node(void)
{
    return open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
}

/* Every function with nothing but nulls and zeros. */
static void with_nulls(const char *list)
{
    FILE *file = fopen(list, "r");
    char name[128];
    unsigned count = 0;
    ENSURE(file);
    while (fscanf(file, "%127s", name) == 1) {
        typedef long (*any)(long, long, long, long, long, long, long, long, long, long, long, long);
        any function = (any)dlsym(library, name);
        ENSURE(function);
        count++;
        const long answer = function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        static const char *const others[] = { "amdgpu_va_manager_alloc", "amdgpu_get_marketing_name", "amdgpu_va_get_start_addr",
                                              "amdgpu_va_range_free",    "amdgpu_device_get_fd" };
        /* Functions that return nothing are the ones about managers, counts and conversions. */
        bool is_other = strstr(name, "_init") || strstr(name, "_deinit") || strstr(name, "inc_ref") || strstr(name, "cs_chunk");
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            is_other |= !strcmp(name, others[i]);
        if (!strcmp(name, "amdgpu_va_manager_alloc"))
            free((void *)answer);
        else if (!is_other && (int)answer != -EINVAL) {
            fprintf(stderr, "%s answers %d for nulls\n", name, (int)answer);
            _exit(1);
        }
    }
    fclose(file);
    ENSURE(count == 92);
}

static unsigned entries_of(const char *folder)
{
    unsigned count = 0;
    DIR *open = opendir(folder);
    ENSURE(open);
    while (readdir(open))
        count++;
    closedir(open);
    return count;
}

/* Objects that are freed after their device. */
static void outlive(void)
{
    LOAD(amdgpu_device_initialize);
    LOAD(amdgpu_device_deinitialize);
    LOAD(amdgpu_device_get_fd);
    LOAD(amdgpu_bo_alloc);
    LOAD(amdgpu_bo_free);
    LOAD(amdgpu_bo_cpu_map);
    LOAD(amdgpu_bo_export);
    LOAD(amdgpu_bo_va_op);
    LOAD(amdgpu_bo_list_create);
    LOAD(amdgpu_bo_list_destroy);
    LOAD(amdgpu_cs_ctx_create);
    LOAD(amdgpu_cs_ctx_free);
    LOAD(amdgpu_cs_query_reset_state2);
    LOAD(amdgpu_va_range_alloc);
    LOAD(amdgpu_va_range_free);
    uint32_t major, minor, shared = 7;
    amdgpu_device_handle dev = NULL;
    amdgpu_bo_handle bo = NULL, mapped = NULL;
    amdgpu_context_handle context = NULL;
    amdgpu_bo_list_handle list = NULL;
    amdgpu_va_handle range = NULL;
    struct amdgpu_bo_alloc_request request = { 4096, 0, 2, 0 };
    uint64_t va, flags;
    void *cpu;
    struct stat status;
    int fd = open_node();
    ENSURE(own_amdgpu_device_initialize(fd, &major, &minor, &dev) == 0);
    close(fd);
    ENSURE(own_amdgpu_bo_alloc(dev, &request, &bo) == 0 && own_amdgpu_bo_alloc(dev, &request, &mapped) == 0);
    ENSURE(own_amdgpu_bo_cpu_map(mapped, &cpu) == 0);
    ENSURE(own_amdgpu_cs_ctx_create(dev, &context) == 0);
    ENSURE(own_amdgpu_bo_list_create(dev, 1, &bo, NULL, &list) == 0);
    ENSURE(own_amdgpu_va_range_alloc(dev, 0, 4096, 0, 0, &va, &range, 0) == 0);
    const int kept = own_amdgpu_device_get_fd(dev);
    ENSURE(own_amdgpu_device_deinitialize(dev) == 0);
    ENSURE(fstat(kept, &status) == -1);
    ENSURE(own_amdgpu_bo_export(bo, amdgpu_bo_handle_type_dma_buf_fd, &shared) == -ENODEV && shared == 7);
    ENSURE(own_amdgpu_bo_va_op(bo, 0, 4096, va, 0, AMDGPU_VA_OP_MAP) == -ENODEV);
    ENSURE(own_amdgpu_cs_query_reset_state2(context, &flags) == -ENODEV);
    ENSURE(own_amdgpu_bo_free(bo) == 0);
    ENSURE(own_amdgpu_bo_free(mapped) == 0);
    ENSURE(own_amdgpu_bo_list_destroy(list) == 0);
    ENSURE(own_amdgpu_cs_ctx_free(context) == 0);
    ENSURE(own_amdgpu_va_range_free(range) == 0);
}

static uint32_t word_at(const void *object, size_t offset)
{
    uint32_t word;
    memcpy(&word, (const char *)object + offset, sizeof word);
    return word;
}

static const void *pointer_at(const void *object, size_t offset)
{
    const void *pointer;
    memcpy(&pointer, (const char *)object + offset, sizeof pointer);
    return pointer;
}

/* The first fields are where libdrm's own tests read them, and its tests count a BO down by themselves. */
static void heads(void)
{
    LOAD(amdgpu_device_initialize);
    LOAD(amdgpu_device_deinitialize);
    LOAD(amdgpu_device_get_fd);
    LOAD(amdgpu_get_marketing_name);
    LOAD(amdgpu_query_gpu_info);
    LOAD(amdgpu_bo_alloc);
    LOAD(amdgpu_bo_export);
    LOAD(amdgpu_bo_inc_ref);
    LOAD(amdgpu_bo_free);
    LOAD(amdgpu_bo_query_info);
    LOAD(amdgpu_cs_ctx_create);
    LOAD(amdgpu_cs_ctx_free);
    uint32_t major, minor, kms = 0;
    amdgpu_device_handle dev = NULL;
    amdgpu_bo_handle bo = NULL;
    amdgpu_context_handle context = NULL;
    struct amdgpu_gpu_info gpu;
    struct amdgpu_bo_info info;
    struct amdgpu_bo_alloc_request request = { 12288, 0, 2, 0 };
    int fd = open_node();
    ENSURE(own_amdgpu_device_initialize(fd, &major, &minor, &dev) == 0);
    ENSURE(own_amdgpu_device_initialize(fd, &major, &minor, &dev) == 0);
    close(fd);
    ENSURE(own_amdgpu_query_gpu_info(dev, &gpu) == 0);
    ENSURE(word_at(dev, 0) == 2 && (int)word_at(dev, 16) == own_amdgpu_device_get_fd(dev));
    ENSURE(word_at(dev, 24) == major && word_at(dev, 28) == minor);
    ENSURE(pointer_at(dev, 32) == own_amdgpu_get_marketing_name(dev));
    ENSURE(word_at(dev, 112) == gpu.asic_id && word_at(dev, 112 + 16) == gpu.family_id);
    ENSURE(memcmp((const char *)dev + 560, &gpu, sizeof gpu) == 0);
    ENSURE(own_amdgpu_bo_alloc(dev, &request, &bo) == 0);
    ENSURE(own_amdgpu_bo_export(bo, amdgpu_bo_handle_type_kms, &kms) == 0);
    ENSURE(word_at(bo, 0) == 1 && pointer_at(bo, 8) == dev && word_at(bo, 16) == 12288 && word_at(bo, 24) == kms);
    own_amdgpu_bo_inc_ref(bo);
    ENSURE(word_at(bo, 0) == 2);
    __atomic_sub_fetch((int *)(void *)bo, 1, __ATOMIC_SEQ_CST);
    ENSURE(own_amdgpu_bo_query_info(bo, &info) == 0);
    ENSURE(own_amdgpu_bo_free(bo) == 0);
    ENSURE(own_amdgpu_cs_ctx_create(dev, &context) == 0);
    ENSURE(pointer_at(context, 0) == dev && word_at(context, 48) == 1);
    ENSURE(own_amdgpu_cs_ctx_free(context) == 0);
    ENSURE(own_amdgpu_device_deinitialize(dev) == 0);
    ENSURE(own_amdgpu_device_deinitialize(dev) == 0);
}

/* A client that closes the descriptor that is not its own. */
static void closed_descriptor(void)
{
    LOAD(amdgpu_device_initialize);
    LOAD(amdgpu_device_deinitialize);
    LOAD(amdgpu_device_get_fd);
    LOAD(amdgpu_bo_alloc);
    LOAD(amdgpu_bo_free);
    LOAD(amdgpu_cs_create_syncobj);
    uint32_t major, minor, syncobj;
    amdgpu_device_handle dev = NULL;
    amdgpu_bo_handle bo = NULL, other = NULL;
    struct amdgpu_bo_alloc_request request = { 4096, 0, 2, 0 };
    int fd = open_node();
    ENSURE(own_amdgpu_device_initialize(fd, &major, &minor, &dev) == 0);
    ENSURE(own_amdgpu_bo_alloc(dev, &request, &bo) == 0);
    close(own_amdgpu_device_get_fd(dev));
    ENSURE(own_amdgpu_bo_alloc(dev, &request, &other) == -EBADF && !other);
    ENSURE(own_amdgpu_cs_create_syncobj(dev, &syncobj) == -1 && errno == EBADF);
    ENSURE(own_amdgpu_bo_free(bo) == 0);
    ENSURE(own_amdgpu_device_deinitialize(dev) == 0);
    close(fd);
}

static amdgpu_device_handle seen[8];

static void *initialise_often(void *place)
{
    LOAD(amdgpu_device_initialize);
    LOAD(amdgpu_device_deinitialize);
    for (int i = 0; i < 50; i++) {
        uint32_t major, minor;
        amdgpu_device_handle dev = NULL;
        int fd = open_node();
        ENSURE(own_amdgpu_device_initialize(fd, &major, &minor, &dev) == 0);
        close(fd);
        *(amdgpu_device_handle *)place = dev;
        ENSURE(own_amdgpu_device_deinitialize(dev) == 0);
    }
    return NULL;
}

/* Threads that initialise one node while a device of it lives get that device. */
static void threads(void)
{
    LOAD(amdgpu_device_initialize);
    LOAD(amdgpu_device_deinitialize);
    uint32_t major, minor;
    amdgpu_device_handle dev = NULL;
    int fd = open_node();
    ENSURE(own_amdgpu_device_initialize(fd, &major, &minor, &dev) == 0);
    pthread_t ids[4];
    for (int i = 0; i < 4; i++)
        ENSURE(pthread_create(&ids[i], NULL, initialise_often, &seen[i]) == 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(ids[i], NULL);
        ENSURE(seen[i] == dev);
    }
    close(fd);
    ENSURE(own_amdgpu_device_deinitialize(dev) == 0);
}

struct race {
    amdgpu_device_handle dev;
    uint32_t shared;
};

static void *import_often(void *argument)
{
    LOAD(amdgpu_bo_import);
    LOAD(amdgpu_bo_free);
    LOAD(amdgpu_bo_query_info);
    const struct race *race = argument;
    for (int i = 0; i < 500; i++) {
        struct amdgpu_bo_import_result result;
        struct amdgpu_bo_info info;
        ENSURE(own_amdgpu_bo_import(race->dev, amdgpu_bo_handle_type_dma_buf_fd, race->shared, &result) == 0);
        ENSURE(own_amdgpu_bo_query_info(result.buf_handle, &info) == 0);
        ENSURE(own_amdgpu_bo_free(result.buf_handle) == 0);
    }
    return NULL;
}

/* A free in one thread does not close the handle that an import in another is about to return. */
static void imports(void)
{
    LOAD(amdgpu_device_initialize);
    LOAD(amdgpu_device_deinitialize);
    LOAD(amdgpu_bo_alloc);
    LOAD(amdgpu_bo_export);
    LOAD(amdgpu_bo_free);
    uint32_t major, minor;
    struct race race = { 0 };
    amdgpu_bo_handle bo;
    struct amdgpu_bo_alloc_request request = { 4096, 0, 2, 0 };
    int fd = open_node();
    ENSURE(own_amdgpu_device_initialize(fd, &major, &minor, &race.dev) == 0);
    close(fd);
    ENSURE(own_amdgpu_bo_alloc(race.dev, &request, &bo) == 0);
    ENSURE(own_amdgpu_bo_export(bo, amdgpu_bo_handle_type_dma_buf_fd, &race.shared) == 0);
    ENSURE(own_amdgpu_bo_free(bo) == 0);
    pthread_t ids[2];
    for (int i = 0; i < 2; i++)
        ENSURE(pthread_create(&ids[i], NULL, import_often, &race) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], NULL);
    close((int)race.shared);
    ENSURE(own_amdgpu_device_deinitialize(race.dev) == 0);
}

/* A child that is forked while threads initialise gets a device. */
static void forks(void)
{
    pthread_t ids[2];
    for (int i = 0; i < 2; i++)
        ENSURE(pthread_create(&ids[i], NULL, initialise_often, &seen[i]) == 0);
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0) {
            LOAD(amdgpu_device_initialize);
            uint32_t major, minor;
            amdgpu_device_handle dev = NULL;
            alarm(20);
            _exit(own_amdgpu_device_initialize(open_node(), &major, &minor, &dev) ? 3 : 0);
        }
        int status = -1;
        ENSURE(waitpid(child, &status, 0) == child);
        ENSURE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], NULL);
}

static void *load_and_leave(void *unused)
{
    (void)unused;
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ENSURE(library);
    outlive();
    dlclose(library);
    return NULL;
}

/* Whether the library is in the process. */
static bool is_mapped(void)
{
    char line[512];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    ENSURE(maps);
    while (fgets(line, sizeof line, maps))
        found |= strstr(line, "libdrm_amdgpu.so") != NULL;
    fclose(maps);
    return found;
}

int main(int count, char **arguments)
{
    ENSURE(count == 3);
    path = arguments[1];
    /* In the first thread and in one that lives on: thread-local destructors would keep the library. */
    load_and_leave(NULL);
    ENSURE(!is_mapped());
    const unsigned descriptors = entries_of("/proc/self/fd"), tasks = entries_of("/proc/self/task");
    for (int i = 0; i < 20; i++) {
        load_and_leave(NULL);
        pthread_t id;
        ENSURE(pthread_create(&id, NULL, load_and_leave, NULL) == 0);
        pthread_join(id, NULL);
    }
    ENSURE(!is_mapped());
    ENSURE(entries_of("/proc/self/fd") == descriptors);
    ENSURE(entries_of("/proc/self/task") == tasks);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ENSURE(library);
    with_nulls(arguments[2]);
    heads();
    closed_descriptor();
    threads();
    imports();
    forks();
    printf("all is well\n");
    return 0;
}
