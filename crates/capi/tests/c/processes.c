/* Processes: fork, exec, ends in the middle of sharing, descriptors that are no memory, lies about sizes. */
#include "common.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
   do {                                                                                                                \
      if (!(condition)) {                                                                                              \
         fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, agw_last_error());                                 \
         _exit(1);                                                                                                     \
      }                                                                                                                \
   } while (0)

static const char *own_path;

/* The number of open descriptors, without the one that reads them. */
static int descriptors(void)
{
   DIR *all = opendir("/proc/self/fd");
   int count = -1;
   CHECK(all);
   for (struct dirent *entry; (entry = readdir(all));)
      count += entry->d_name[0] != '.';
   closedir(all);
   return count;
}

static void send_fd(int socket, int fd)
{
   char byte = 'x', space[CMSG_SPACE(sizeof(int))] = {0};
   struct iovec part = {&byte, 1};
   struct msghdr message = {0};
   message.msg_iov = &part;
   message.msg_iovlen = 1;
   message.msg_control = space;
   message.msg_controllen = sizeof(space);
   struct cmsghdr *head = CMSG_FIRSTHDR(&message);
   head->cmsg_level = SOL_SOCKET;
   head->cmsg_type = SCM_RIGHTS;
   head->cmsg_len = CMSG_LEN(sizeof(int));
   memcpy(CMSG_DATA(head), &fd, sizeof(fd));
   CHECK(sendmsg(socket, &message, 0) == 1);
}

static int receive_fd(int socket)
{
   char byte, space[CMSG_SPACE(sizeof(int))];
   struct iovec part = {&byte, 1};
   struct msghdr message = {0};
   int fd = -1;
   message.msg_iov = &part;
   message.msg_iovlen = 1;
   message.msg_control = space;
   message.msg_controllen = sizeof(space);
   CHECK(recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1);
   struct cmsghdr *head = CMSG_FIRSTHDR(&message);
   /* The padding of CMSG_SPACE is room for a second descriptor. */
   CHECK(head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(int)));
   memcpy(&fd, CMSG_DATA(head), sizeof(fd));
   return fd;
}

static void ended_well(pid_t child)
{
   int status;
   CHECK(waitpid(child, &status, 0) == child);
   CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void killed(pid_t child)
{
   int status;
   CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
   CHECK(WIFSIGNALED(status));
}

/* A child leaves what it inherited alone, and works on a device of its own; the parent goes on. */
static void forks(void)
{
   struct agw_device *device = open_first();
   void *pointer;
   struct agw_bo *bo = allocate(device, 4096, &pointer);
   strcpy(pointer, "before the fork");
   int fd;
   TRY(agw_bo_export(bo, &fd));
   const pid_t child = fork();
   CHECK(child >= 0);
   if (child == 0) {
      struct agw_device *own = open_first();
      struct agw_bo *theirs;
      void *seen;
      TRY(agw_bo_import(own, fd, 0, 0, &theirs));
      TRY(agw_bo_map(theirs, &seen));
      CHECK(strcmp(seen, "before the fork") == 0);
      strcpy(seen, "from the child");
      agw_bo_unref(theirs);
      agw_device_unref(own);
      _exit(0);
   }
   ended_well(child);
   CHECK(strcmp(pointer, "from the child") == 0);

   /* A child that breaks the rule and frees an object closes it for both: the parent's calls are refused, and no more. */
   const pid_t rude = fork();
   CHECK(rude >= 0);
   if (rude == 0) {
      agw_bo_unref(bo);
      _exit(0);
   }
   ended_well(rude);
   int again = -7;
   CHECK(agw_bo_export(bo, &again) < 0 && again == -7 && agw_last_errno() != 0);
   void *more;
   struct agw_bo *new_bo = allocate(device, 4096, &more);
   strcpy(more, "the device goes on");
   agw_bo_unref(new_bo);
   agw_bo_unref(bo);
   close(fd);
   agw_device_unref(device);
   printf("fork: a child with a device of its own, and one that closes the parent's memory\n");
}

/* Nothing of the library's gets through an exec: what it opens and exports is closed there, and the new program starts anew. */
static void execs(void)
{
   struct agw_device *device = open_first();
   struct agw_sync *sync;
   void *pointer;
   struct agw_bo *bo = allocate(device, 4096, &pointer);
   int fds[4];
   fds[0] = agw_device_fd(device);
   TRY(agw_bo_export(bo, &fds[1]));
   TRY(agw_sync_create(device, true, &sync));
   TRY(agw_sync_export_fd(sync, &fds[2]));
   TRY(agw_sync_export_sync_file(sync, &fds[3]));
   for (int i = 0; i < 4; i++)
      CHECK(fcntl(fds[i], F_GETFD) == FD_CLOEXEC);
   const pid_t child = fork();
   CHECK(child >= 0);
   if (child == 0) {
      execl(own_path, own_path, "anew", (char *)NULL);
      _exit(1);
   }
   ended_well(child);
   strcpy(pointer, "the parent goes on");
   for (int i = 1; i < 4; i++)
      close(fds[i]);
   agw_sync_destroy(sync);
   agw_bo_unref(bo);
   agw_device_unref(device);
   printf("exec: no descriptor is inherited\n");
}

/* The program after the exec. */
static int anew(void)
{
   struct agw_device *device = open_first();
   void *pointer;
   agw_bo_unref(allocate(device, 4096, &pointer));
   agw_device_unref(device);
   return 0;
}

/* The exporter is killed, then the importer: the memory stays with whoever is left, and a fence that never comes is no hang. */
static void deaths(void)
{
   int ends[2];
   CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
   const pid_t exporter = fork();
   CHECK(exporter >= 0);
   if (exporter == 0) {
      struct agw_device *device = open_first();
      struct agw_sync *never;
      void *pointer;
      struct agw_bo *bo = allocate(device, 8192, &pointer);
      int fd, sync_fd;
      strcpy(pointer, "of a process that is gone");
      TRY(agw_sync_create(device, false, &never));
      TRY(agw_bo_export(bo, &fd));
      TRY(agw_sync_export_fd(never, &sync_fd));
      send_fd(ends[1], fd);
      send_fd(ends[1], sync_fd);
      for (;;)
         pause();
   }
   const int fd = receive_fd(ends[0]), sync_fd = receive_fd(ends[0]);
   struct agw_device *device = open_first();
   struct agw_bo *bo;
   struct agw_sync *never;
   void *pointer;
   TRY(agw_bo_import(device, fd, 0, 0, &bo));
   TRY(agw_sync_import_fd(device, sync_fd, &never));
   killed(exporter);
   TRY(agw_bo_map(bo, &pointer));
   CHECK(strcmp(pointer, "of a process that is gone") == 0);
   const struct agw_sync_point point = {never, 0};
   CHECK(agw_sync_wait(&point, 1, 0, 0) == AGW_TIMEOUT);
   TRY(agw_sync_signal(never, 0));
   TRY(agw_sync_wait(&point, 1, 0, in_seconds(60)));

   const pid_t importer = fork();
   CHECK(importer >= 0);
   if (importer == 0) {
      struct agw_device *own = open_first();
      struct agw_bo *theirs;
      void *seen;
      char byte = 'x';
      TRY(agw_bo_import(own, fd, 0, 0, &theirs));
      TRY(agw_bo_map(theirs, &seen));
      strcpy(seen, "of the importer");
      CHECK(write(ends[1], &byte, 1) == 1);
      for (;;)
         pause();
   }
   char byte;
   CHECK(read(ends[0], &byte, 1) == 1);
   killed(importer);
   CHECK(strcmp(pointer, "of the importer") == 0);
   close(fd);
   close(sync_fd);
   close(ends[0]);
   close(ends[1]);
   agw_sync_destroy(never);
   agw_bo_unref(bo);
   agw_device_unref(device);
   printf("kill: memory outlives the process that made it, and the one that used it\n");
}

/* Descriptors that are no dma-bufs and no sync objects: refused, not closed, and nothing written. */
static void strangers(void)
{
   struct agw_device *device = open_first();
   struct agw_memory_manager *manager;
   struct agw_sync *signalled;
   int pipe_ends[2], pair[2], sync_fd, file;
   TRY(agw_memory_manager_create(device, NULL, &manager));
   TRY(agw_sync_create(device, true, &signalled));
   TRY(agw_sync_export_fd(signalled, &sync_fd));
   TRY(agw_sync_export_sync_file(signalled, &file));
   CHECK(pipe(pipe_ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
   const int closed = fcntl(0, F_DUPFD, 900);
   close(closed);
   const struct {
      const char *name;
      int fd;
   } all[] = {
      {"a pipe", pipe_ends[0]},
      {"a socket", pair[0]},
      {"an eventfd", eventfd(0, EFD_CLOEXEC)},
      {"a memory file", memfd_create("none", MFD_CLOEXEC)},
      {"a file", open(own_path, O_RDONLY | O_CLOEXEC)},
      {"a folder", open("/", O_RDONLY | O_CLOEXEC)},
      {"a path", open("/", O_PATH | O_CLOEXEC)},
      {"/dev/null", open("/dev/null", O_RDWR | O_CLOEXEC)},
      {"the node", agw_device_fd(device)},
      {"a sync object", sync_fd},
      {"a sync file", file},
      {"a closed number", closed},
      {"a number that is none", 1 << 20},
      {"-1", -1},
      {"the least number", INT32_MIN},
   };
   const size_t count = sizeof(all) / sizeof(all[0]);
   for (size_t i = 0; i < count; i++) {
      struct agw_bo *const untouched = (struct agw_bo *)(uintptr_t)0x1234;
      struct agw_bo *bo = untouched;
      struct agw_memory *memory = NULL;
      struct agw_sync *sync = NULL;
      struct agw_bo_info info = {0};
      struct agw_memory_request request = {0};
      uint32_t types = 77;
      info.struct_size = sizeof(info);
      request.struct_size = sizeof(request);
      const int32_t imported = agw_bo_import(device, all[i].fd, 0, 0, &bo);
      const int32_t probed = agw_bo_probe(device, all[i].fd, &info);
      const int32_t taken = agw_memory_import_fd(manager, all[i].fd, &request, &memory);
      const int32_t asked = agw_memory_manager_fd_types(manager, all[i].fd, &types);
      if (imported != AGW_ERROR_INVALID_EXTERNAL_HANDLE || probed != imported || taken != imported || asked != imported ||
          bo != untouched || memory || types != 77 || info.size) {
         fprintf(stderr, "%s: %d, %d, %d, %d\n", all[i].name, imported, probed, taken, asked);
         exit(1);
      }
      const bool is_sync = all[i].fd == sync_fd, is_file = all[i].fd == file;
      CHECK((agw_sync_import_fd(device, all[i].fd, &sync) == AGW_SUCCESS) == is_sync);
      CHECK((agw_sync_import_sync_file(signalled, all[i].fd) == AGW_SUCCESS) == is_file);
      agw_sync_destroy(sync);
      const bool is_number = all[i].fd >= 0 && all[i].fd < 1 << 20 && all[i].fd != closed;
      CHECK((fcntl(all[i].fd, F_GETFD) >= 0) == is_number);
   }
   for (size_t i = 2; i < 8; i++)
      close(all[i].fd);
   close(pipe_ends[0]);
   close(pipe_ends[1]);
   close(pair[0]);
   close(pair[1]);
   close(sync_fd);
   close(file);
   agw_sync_destroy(signalled);
   agw_memory_manager_unref(manager);
   agw_device_unref(device);
   printf("import: %d descriptors that are no memory\n", (int)count);
}

/* Sizes, offsets and counts that are not true. */
static void lies(void)
{
   struct agw_device *device = open_first();
   struct agw_memory_manager *manager;
   struct agw_sparse *range;
   struct agw_bo *none = NULL;
   struct agw_memory *memory = NULL;
   void *pointer;
   struct agw_bo *bo = allocate(device, 8192, &pointer);
   int fd;
   TRY(agw_memory_manager_create(device, NULL, &manager));
   TRY(agw_sparse_create(device, 1 << 20, 0, 0, 0, &range));
   TRY(agw_bo_export(bo, &fd));
   uint32_t types;
   TRY(agw_memory_manager_fd_types(manager, fd, &types));
   struct agw_memory_request request = {0};
   request.struct_size = sizeof(request);
   while (!(types >> request.memory_type & 1))
      request.memory_type++;
   /* More than the dma-buf has. */
   const uint64_t more[] = {8193, 1 << 20, UINT64_MAX};
   for (int i = 0; i < 3; i++) {
      request.size = more[i];
      CHECK(agw_memory_import_fd(manager, fd, &request, &memory) == AGW_ERROR_INVALID_EXTERNAL_HANDLE && !memory);
   }
   /* Sizes that no GPU has, that overflow, and none at all. */
   const uint64_t absurd[] = {0, 1ull << 48, UINT64_MAX, UINT64_MAX - 4095, 1ull << 63};
   for (int i = 0; i < 5; i++) {
      struct agw_bo_request bytes = {0};
      bytes.struct_size = sizeof(bytes);
      bytes.size = absurd[i];
      bytes.domains = GTT;
      CHECK(agw_bo_create(device, &bytes, &none) < 0 && !none);
      CHECK(agw_sparse_create(device, absurd[i], 0, 0, 0, (struct agw_sparse **)&none) < 0 && !none);
      request.size = absurd[i];
      CHECK(agw_memory_allocate(manager, &request, &memory) < 0 && !memory);
      /* Pages that the process does not have. */
      CHECK(agw_bo_from_user_memory(device, pointer, absurd[i], 0, &none) < 0 && !none);
   }
   char *const pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   CHECK(pages != MAP_FAILED);
   CHECK(agw_bo_from_user_memory(device, pages + 1, 4096, 0, &none) == AGW_ERROR_INVALID_EXTERNAL_HANDLE && !none);
   CHECK(agw_bo_from_user_memory(device, pages, 4095, 0, &none) == AGW_ERROR_INVALID_EXTERNAL_HANDLE && !none);
   CHECK(munmap(pages, 8192) == 0);
   /* Pages outside of the range, of the memory, and of all numbers. */
   const struct agw_sparse_bind outside[] = {
      {1 << 20, 4096, bo, 0}, {0, 12288, bo, 0}, {0, 4096, bo, 8192}, {UINT64_MAX - 4095, 4096, bo, 0},
      {0, UINT64_MAX - 4095, bo, 0}, {0, 4096, bo, UINT64_MAX - 4095}, {1, 4096, bo, 0}, {0, 1, bo, 0},
   };
   for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
      CHECK(agw_sparse_change(range, &outside[i], 1) < 0);
   /* Arrays that are not there. */
   struct agw_submission submission = {0};
   struct agw_ctx *ctx;
   struct agw_queue *queue;
   TRY(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &ctx));
   TRY(agw_queue_create(ctx, AGW_IP_GFX, 0, &queue));
   submission.struct_size = sizeof(submission);
   uint32_t *const counts[] = {&submission.stream_count, &submission.initial_count, &submission.further_count,
                               &submission.last_count,   &submission.follower_count, &submission.bo_count,
                               &submission.set_count,    &submission.wait_count,     &submission.signal_count};
   for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
      *counts[i] = 1;
      CHECK(agw_queue_submit(queue, &submission, NULL) == AGW_ERROR_INVALID_ARGUMENT);
      *counts[i] = 0;
   }
   TRY(agw_queue_check(queue));
   agw_queue_unref(queue);
   agw_ctx_unref(ctx);
   agw_sparse_unref(range);
   agw_memory_manager_unref(manager);
   agw_bo_unref(bo);
   close(fd);
   agw_device_unref(device);
   printf("sizes: whatever is said of them, an error or the truth\n");
}

int main(int argc, char **argv)
{
   own_path = argv[0];
   if (argc == 2)
      return anew();
   forks();
   execs();
   deaths();
   strangers();
   lies();
   const int before = descriptors();
   strangers();
   if (descriptors() != before) {
      fprintf(stderr, "%d descriptors, and then %d\n", before, descriptors());
      return 1;
   }
   printf("nothing is left open\n");
   return 0;
}
