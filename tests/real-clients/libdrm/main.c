/* Runs the checks, each in a child of its own, and prints a line for each.
 *
 * Usage: libdrm-client [--list | --only NAME] */
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xf86drm.h>

/* Seconds after which a check counts as hung. */
enum { LIMIT = 60 };

static const struct check *const all[] = { bo_checks, work_checks, sync_checks, share_checks };
static const char *current = "open";
static char figures[256];

static _Noreturn void end(const char *word, int code, const char *format, va_list arguments)
{
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    printf("%s  %-28s %s\n", word, current, text);
    fflush(stdout);
    _exit(code);
}

void failed(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    end("fail", EXIT_FAILED, format, arguments);
}

void skipped(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    end("skip", EXIT_SKIPPED, format, arguments);
}

void note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(figures, sizeof figures, format, arguments);
    va_end(arguments);
}

void answers(const char *call, int found, int expected)
{
    if (found != expected)
        failed("%s: %d (%s), expected %d", call, found, found < 0 ? strerror(-found) : "no error", expected);
}

/* The first render node whose driver is amdgpu, opened; -1 without one. */
static int open_node(void)
{
    drmDevicePtr devices[64];
    int count = drmGetDevices2(0, devices, 64), fd = -1;
    for (int i = 0; i < count && fd < 0; i++) {
        if (!(devices[i]->available_nodes & 1 << DRM_NODE_RENDER))
            continue;
        fd = open(devices[i]->nodes[DRM_NODE_RENDER], O_RDWR | O_CLOEXEC);
        drmVersionPtr version = fd < 0 ? NULL : drmGetVersion(fd);
        if (fd >= 0 && (!version || strcmp(version->name, "amdgpu"))) {
            close(fd);
            fd = -1;
        }
        drmFreeVersion(version);
    }
    if (count > 0)
        drmFreeDevices(devices, count);
    return fd;
}

struct lab open_lab(void)
{
    struct lab lab = { .fd = open_node() };
    uint32_t major, minor;
    if (lab.fd < 0)
        skipped("no render node of amdgpu");
    MUST(amdgpu_device_initialize(lab.fd, &major, &minor, &lab.dev));
    MUST(amdgpu_query_gpu_info(lab.dev, &lab.info));
    return lab;
}

static int in_this_process(const struct check *check)
{
    current = check->name;
    struct lab lab = open_lab();
    check->run(&lab);
    MUST(amdgpu_device_deinitialize(lab.dev));
    close(lab.fd);
    printf("pass  %-28s %s\n", current, figures);
    fflush(stdout);
    return EXIT_PASSED;
}

static int in_child(const struct check *check)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(LIMIT);
        _exit(in_this_process(check));
    }
    current = check->name;
    if (child < 0 || waitpid(child, &status, 0) < 0)
        failed("a child of its own: %s", strerror(errno));
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    printf("fail  %-28s %s\n", check->name,
           WTERMSIG(status) == SIGALRM ? "no end within a minute" : strsignal(WTERMSIG(status)));
    return EXIT_FAILED;
}

static int run_all(void)
{
    unsigned passed = 0, skips = 0, failures = 0;
    for (size_t group = 0; group < sizeof all / sizeof *all; group++) {
        for (const struct check *check = all[group]; check->name; check++) {
            int code = in_child(check);
            passed += code == EXIT_PASSED;
            skips += code == EXIT_SKIPPED;
            failures += code != EXIT_PASSED && code != EXIT_SKIPPED;
        }
    }
    printf("%u passed, %u failed, %u skipped\n", passed, failures, skips);
    return failures ? EXIT_FAILED : passed ? EXIT_PASSED : EXIT_SKIPPED;
}

/* Lists the checks, or runs the one of this name. */
static int list_or_run(const char *only)
{
    for (size_t group = 0; group < sizeof all / sizeof *all; group++) {
        for (const struct check *check = all[group]; check->name; check++) {
            if (!only)
                printf("%-28s %s\n", check->name, check->proves);
            else if (!strcmp(only, check->name))
                return in_this_process(check);
        }
    }
    return only ? EXIT_USAGE : EXIT_PASSED;
}

int main(int count, char **words)
{
    if (count == 1)
        return run_all();
    if (count == 2 && !strcmp(words[1], "--list"))
        return list_or_run(NULL);
    if (count == 3 && !strcmp(words[1], "--only"))
        return list_or_run(words[2]);
    fprintf(stderr, "usage: %s [--list | --only NAME]\n", words[0]);
    return EXIT_USAGE;
}
