/* Random requests on everything that is a descriptor: nodes, dma-bufs, sync objects, sync files, timelines of sw_sync and eventfds. Each is
 * asked for what others answer too. */
#include <poll.h>
#include <sys/eventfd.h>

#include "judge.h"

#define KINDS 7
static const char *const names_of[KINDS] = { "node", "render", "dma-buf", "sync object", "sync file", "timeline", "pending" };
static int there[KINDS];
static int is_ready;

static void begin(void)
{
	struct dumb d = { 64, 64, 32, 0, 0, 0, 0 };
	struct create c = { 0, 1 };
	struct fence_request f = { 1000000, "judge", -1 };

	there[0] = open(node, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	there[1] = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	ioctl(drm, IOWR(0xb2, d), &d);
	struct prime p = { d.handle, O_RDWR | O_CLOEXEC, -1 };
	ioctl(drm, IOWR(0x2d, p), &p);
	there[2] = p.fd;
	ioctl(drm, IOWR(0xbf, c), &c);
	struct handle_fd h = { c.handle, 0, -1, 0, 0 };
	ioctl(drm, IOWR(0xc1, h), &h);
	there[3] = h.fd;
	h.flags = 1;
	ioctl(drm, IOWR(0xc1, h), &h);
	there[4] = h.fd;
	there[5] = open("/sys/kernel/debug/sync/sw_sync", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	ioctl(there[5], SW_SYNC_CREATE, &f);
	there[6] = f.fence;
	for (int i = 0; i < KINDS; i++)
		printf("%s %d ", names_of[i], there[i] >= 0);
}

static void result(const char *what, long value) { printf(" %s %ld errno %d", what, value, value < 0 ? errno : 0); }

void descriptors(void)
{
	static const uint8_t types[] = { 'b', 'b', '>', '>', 'W', 'x', 'T', 'd' };
	static const int of_lseek[] = { SEEK_SET, SEEK_CUR, SEEK_END, 3, 4, 7 };
	static uint8_t page[8192] __attribute__((aligned(4096)));
	uint32_t k = any(KINDS), second = any(KINDS);
	int fd = there[k];

	if (!is_ready) {
		is_ready = 1;
		begin();
		fd = there[k];
	}
	printf("%s", names_of[k]);
	switch (any(8)) {
	case 0: {
		struct { uint32_t flags; int32_t fd; } s = { rare(1 + any(3), any(2) ? 0 : 4), -7 };
		printf(" export flags %u", s.flags);
		result("", ioctl(fd, _IOC(3, 'b', 2, 8), &s));
		if (s.fd >= 0) {
			struct info f = { "", 0, 0, 0, 0, 0 };
			ioctl(s.fd, SYNC_INFO, &f);
			printf(" status %d fences %u cloexec %d", f.status, f.fences, !!(fcntl(s.fd, F_GETFD) & FD_CLOEXEC));
			close(s.fd);
		}
		break;
	}
	case 1: {
		/* Only what is signalled goes into a dma-buf: what waits for it waits for ever. */
		struct { uint32_t flags; int32_t fd; } s = { rare(1 + any(3), any(2) ? 0 : 4), second == 6 ? -1 : there[second] };
		printf(" import of %s flags %u", second == 6 ? "nothing" : names_of[second], s.flags);
		result("", ioctl(fd, _IOC(1, 'b', 3, 8), &s));
		break;
	}
	case 2: {
		char name[64];
		uint32_t length = any(5) * 16 + any(2), bytes = any(2) ? 4 : 8;
		memset(name, 'n', sizeof(name));
		if (length < sizeof(name))
			name[length] = 0;
		name[63] = 0;
		printf(" name length %u bytes %u", length, bytes);
		result("", ioctl(fd, _IOC(1, 'b', 1, bytes), any(8) ? name : (char *)8));
		break;
	}
	case 3: {
		struct { uint64_t deadline, pad; } d = { any(2) ? 5 : (uint64_t)-1, rare(0, 1) };
		printf(" deadline pad %lu", (unsigned long)d.pad);
		result("", ioctl(fd, _IOC(1, '>', 5, 16), &d));
		break;
	}
	case 4: {
		/* Any request, of any type, with nothing in it. */
		uint8_t type = types[any(8)];
		uint32_t number = any(8), size = 4 * any(20), direction = any(4);
		memset(page, 0, sizeof(page));
		/* Zeros are descriptors and requests that succeed. */
		memset(page, 0xff, any(2) ? 256 : 0);
		if (k < 2 && type == 'd')
			type = 'x';
		printf(" type %c number %u size %u direction %u", type, number, size, direction);
		result("", ioctl(fd, _IOC(direction, type, number, size), any(6) ? page : any(2) ? NULL : (uint8_t *)8));
		break;
	}
	case 5: {
		/* A dma-buf of the simulator is a file, which knows its end as Linux's does and has more places. */
		long at = k == 2 || any(4) ? 0 : any(2) ? 4096 : -1;
		int whence = k == 2 ? SEEK_END : of_lseek[any(6)];
		/* A node of the simulator is a socket, which has no place. */
		if (k < 2)
			fd = there[3];
		printf(" lseek %ld whence %d", at, whence);
		result("", lseek(fd, at, whence));
		break;
	}
	case 6: {
		/* Whether something could be written is for nobody to know but of a dma-buf. */
		struct pollfd p = { fd, k == 2 && any(2) ? POLLIN | POLLOUT : POLLIN, 0 };
		if (k == 3 || k == 5)
			p.fd = there[2];
		result("poll", poll(&p, 1, 0));
		printf(" %x", (unsigned)p.revents);
		break;
	}
	default: {
		/* What is no node has neither bytes nor a length for anyone, and nobody asks. */
		uint32_t length = 8 + any(4) * 8;
		switch (k < 2 ? any(4) : 4) {
		case 0:
			printf(" length %u", length);
			result("read", read(fd, page, length));
			break;
		case 1:
			result("truncate", ftruncate(fd, (off_t)(any(2) * 4096)));
			break;
		case 2:
			result("flags", fcntl(fd, F_GETFL) & (O_ACCMODE | O_NONBLOCK | O_APPEND));
			break;
		default: {
			int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
			printf(" dup %d", copy >= 0);
			result("poll-less", copy >= 0 ? fcntl(copy, F_GETFD) : -1);
			close(copy);
		}
		}
	}
	}
	putchar('\n');
}
