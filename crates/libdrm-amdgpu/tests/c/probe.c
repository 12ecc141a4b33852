/* Devices, and the order of the parts. */
#include "probe.h"

#include <sys/stat.h>

static const char *node = "/dev/dri/renderD128";

int open_node(void)
{
    return open(node, O_RDWR | O_CLOEXEC);
}

void probe_devices(void)
{
    uint32_t major = 7, minor = 7, same = 7;
    amdgpu_device_handle dev = (amdgpu_device_handle)&major, again = NULL, own = NULL, primary = NULL;
    int file = open("/dev/null", O_RDWR);

    CALL(amdgpu_device_initialize(file, &major, &minor, &dev));
    SHOW(dev == NULL);
    CALL(amdgpu_device_initialize(-1, &major, &minor, &dev));
    SHOW(dev == NULL);
    close(file);

    int fd = open_node();
    CALL(amdgpu_device_initialize(fd, &same, &same, &dev));
    CALL(amdgpu_device_initialize(fd, &major, &minor, &again));
    SHOW(major);
    SHOW(minor);
    SHOW(dev == again);
    int other = open_node();
    CALL(amdgpu_device_deinitialize(again));
    CALL(amdgpu_device_initialize(other, &major, &minor, &again));
    SHOW(dev == again);
    SHOW(amdgpu_device_get_fd(dev) == fd || amdgpu_device_get_fd(dev) == other);
    SHOW(fcntl(amdgpu_device_get_fd(dev), F_GETFD));
    CALL(amdgpu_device_initialize2(fd, false, &major, &minor, &own));
    SHOW(own != dev && own != NULL);
    int card = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
    CALL(amdgpu_device_initialize(card, &major, &minor, &primary));
    SHOW(primary == dev);
    close(card);
    close(fd);
    close(other);
    uint32_t value = 0;
    CALL(amdgpu_query_hw_ip_count(dev, AMDGPU_HW_IP_GFX, &value));
    SHOW(value);
    int kept = amdgpu_device_get_fd(dev);
    struct stat status;
    CALL(amdgpu_device_deinitialize(primary));
    CALL(amdgpu_device_deinitialize(own));
    CALL(amdgpu_device_deinitialize(again));
    SHOW(fstat(kept, &status));
    CALL(amdgpu_device_deinitialize(dev));
    SHOW(fstat(kept, &status));
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(amdgpu_device_handle);
    } parts[] = {
        { "queries", probe_queries },         { "buffers", probe_buffers },   { "addresses", probe_addresses },
        { "submissions", probe_submissions }, { "syncobjs", probe_syncobjs },
    };
    if (count > 1)
        node = arguments[1];
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("== devices\n");
    probe_devices();
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        uint32_t major, minor;
        amdgpu_device_handle dev = NULL;
        printf("== %s\n", parts[i].name);
        int fd = open_node();
        if (amdgpu_device_initialize(fd, &major, &minor, &dev))
            return 1;
        close(fd);
        parts[i].run(dev);
        CALL(amdgpu_device_deinitialize(dev));
    }
    return 0;
}
