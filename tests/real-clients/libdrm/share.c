/* BOs that leave: as dma-buf to this and to another process, and as flink name. */
#include "client.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xf86drm.h>

/* Within one device libdrm gives back the very BO it has. */
static void reimport(struct lab *lab)
{
    struct bo bo = make_bo(lab, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0);
    struct amdgpu_bo_import_result found;
    uint32_t fd, name;
    MUST(amdgpu_bo_export(bo.handle, amdgpu_bo_handle_type_dma_buf_fd, &fd));
    MUST(amdgpu_bo_import(lab->dev, amdgpu_bo_handle_type_dma_buf_fd, fd, &found));
    ENSURE(found.buf_handle == bo.handle && found.alloc_size == PAGE);
    MUST(amdgpu_bo_free(found.buf_handle));
    close((int)fd);
    ENSURE(amdgpu_bo_import(lab->dev, amdgpu_bo_handle_type_dma_buf_fd, (uint32_t)lab->fd, &found) < 0);
    /* A render node knows no names. */
    REFUSED_ERRNO(amdgpu_bo_export(bo.handle, amdgpu_bo_handle_type_gem_flink_name, &name), EACCES);
    drop_bo(&bo);
    note("the same BO again; flink refused (EACCES)");
}

static void send_fd(int socket, int fd)
{
    char byte = 0, space[CMSG_SPACE(sizeof fd)] = { 0 };
    struct iovec part = { &byte, 1 };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    ENSURE(sendmsg(socket, &message, 0) == 1);
}

static int receive_fd(int socket)
{
    int fd = -1;
    char byte, space[CMSG_SPACE(sizeof fd)];
    struct iovec part = { &byte, 1 };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space };
    ENSURE(recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message));
    /* The padding of CMSG_SPACE is room for a second descriptor. */
    ENSURE(CMSG_FIRSTHDR(&message)->cmsg_len == CMSG_LEN(sizeof fd));
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

/* The other process: finds 1111, lets its GPU write 2222 beside it. */
static _Noreturn void other(int socket)
{
    struct amdgpu_bo_import_result found;
    struct bo shared = { .size = PAGE };
    struct bo *const bos[] = { &shared };
    amdgpu_context_handle context;
    void *cpu;
    uint64_t seq;
    int fd = receive_fd(socket);
    struct lab lab = open_lab();
    MUST(amdgpu_bo_import(lab.dev, amdgpu_bo_handle_type_dma_buf_fd, (uint32_t)fd, &found));
    shared.handle = found.buf_handle;
    MUST(amdgpu_bo_cpu_map(shared.handle, &cpu));
    shared.cpu = cpu;
    ENSURE(shared.cpu[0] == 1111);
    MUST(amdgpu_va_range_alloc(lab.dev, amdgpu_gpu_va_range_general, PAGE, PAGE, 0, &shared.va, &shared.range, 0));
    MUST(amdgpu_bo_va_op(shared.handle, 0, PAGE, shared.va, 0, AMDGPU_VA_OP_MAP));
    struct bo ib = make_bo(&lab, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0);
    MUST(amdgpu_cs_ctx_create(lab.dev, &context));
    uint32_t bytes = write_ib(&lab, &ib, AMDGPU_HW_IP_COMPUTE, shared.va + 4, 2222);
    MUST(submit(&lab, context, AMDGPU_HW_IP_COMPUTE, &ib, bytes, bos, 1, (struct extras){ 0 }, &seq));
    ENSURE(ended(context, AMDGPU_HW_IP_COMPUTE, seq));
    _exit(EXIT_PASSED);
}

static void dma_buf(struct lab *lab)
{
    struct bo bo = make_bo(lab, PAGE, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED);
    int sockets[2], status;
    uint32_t fd;
    ENSURE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0);
    /* The child must not use this process's device: it opens its own. */
    pid_t child = fork();
    ENSURE(child >= 0);
    if (child == 0) {
        alarm(30);
        other(sockets[1]);
    }
    bo.cpu[0] = 1111;
    MUST(amdgpu_bo_export(bo.handle, amdgpu_bo_handle_type_dma_buf_fd, &fd));
    send_fd(sockets[0], (int)fd);
    ENSURE(waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_PASSED)
        failed("the other process ended with status %#x", status);
    ENSURE(bo.cpu[1] == 2222);
    close((int)fd);
    drop_bo(&bo);
    note("read there by the CPU, written there by the GPU");
}

const struct check share_checks[] = {
    { "share.reimport", "a dma-buf of our own is our BO; names are for primary nodes", reimport },
    { "share.process", "another process reads and writes our BO", dma_buf },
    { 0 },
};
