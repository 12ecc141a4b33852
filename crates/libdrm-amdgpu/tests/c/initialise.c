/* Initialises a device of which one request is refused, and looks for what is left; then initialises again. */
#include "probe.h"

#include <dirent.h>
#include <sys/ioctl.h>

int open_node(void)
{
    return open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
}

static unsigned descriptors(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

int main(void)
{
    uint32_t major, minor;
    amdgpu_device_handle dev = NULL;
    int fd = open_node();
    /* The simulator's library opens what it needs at the first request. */
    struct drm_version version = { 0 };
    if (fd < 0 || ioctl(fd, DRM_IOCTL_VERSION, &version))
        return 1;
    const unsigned before = descriptors();
    printf("%d", amdgpu_device_initialize(fd, &major, &minor, &dev));
    printf(" %d %d", dev != NULL, (int)(descriptors() - before) - (dev != NULL));
    if (!dev && amdgpu_device_initialize(fd, &major, &minor, &dev))
        return 2;
    amdgpu_device_deinitialize(dev);
    printf(" %d\n", (int)(descriptors() - before));
    return 0;
}
