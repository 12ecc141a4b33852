/* Random calls to the DRM core, the same for every kernel: one line per call with its arguments, errno and outputs.
 *
 *   random NODE SEED CALLS [syncobj|ordered|prime|twins|all [6.12]]
 *
 * "ordered" is "syncobj" without points that are not above the newest. "twins" are BOs with several handles, of which one at a time is
 * recorded for the dma-buf. "6.12" leaves out what came after that release. The calls do not depend on the answers, only the
 * handles in them do.
 * Compare the output of a run on Linux with one on a simulated device: every line that differs is a difference of the kernels.
 * Descriptors are printed as slots of a table, so numbers do not depend on what else is open. Build it statically for the judge,
 * dynamically to preload a simulator. All waits are polls or bounded, nothing depends on time. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define IOWR(nr, type) _IOC(_IOC_READ | _IOC_WRITE, 'd', nr, sizeof(type))
#define IOW(nr, type) _IOC(_IOC_WRITE, 'd', nr, sizeof(type))

struct create { uint32_t handle, flags; };
struct destroy { uint32_t handle, pad; };
struct handle_fd { uint32_t handle, flags; int32_t fd; uint32_t pad; uint64_t point; };
struct array { uint64_t handles; uint32_t count, pad; };
struct line { uint64_t handles, points; uint32_t count, flags; };
struct transfer { uint32_t src, dst; uint64_t src_point, dst_point; uint32_t flags, pad; };
struct wait { uint64_t handles; int64_t timeout; uint32_t count, flags, first, pad; uint64_t deadline; };
struct line_wait { uint64_t handles, points; int64_t timeout; uint32_t count, flags, first, pad; uint64_t deadline; };
struct event { uint32_t handle, flags; uint64_t point; int32_t fd; uint32_t pad; };
struct dumb { uint32_t height, width, bpp, flags, handle, pitch; uint64_t size; };
struct map { uint32_t handle, pad; uint64_t offset; };
struct prime { uint32_t handle, flags; int32_t fd; };
struct pair { uint32_t a, b; };
struct open_name { uint32_t name, handle; uint64_t size; };
struct name { uint64_t length, text; };
struct merge { char name[32]; int32_t fd2, fence; uint32_t flags, pad; };
struct info { char name[32]; int32_t status; uint32_t flags, fences, pad; uint64_t array; };
struct sync_fd { uint32_t flags; int32_t fd; };

#define SLOTS 12
static int fds[SLOTS], drm;
static uint32_t handles[8], buffers[8], names[4];
static uint64_t state;
static unsigned long call;
static int old, kept, rising;

static uint32_t any(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % below;
}

static uint32_t rare(uint32_t usual, uint32_t unusual) { return any(12) ? usual : unusual; }
static uint32_t handle(void) { uint32_t k = any(10); return k < 8 ? handles[k] : k == 8 ? 0 : 77777; }
static uint32_t buffer(void) { uint32_t k = any(10); return k < 8 ? buffers[k] : k == 8 ? 0 : 77777; }
static int slot(void) { return (int)any(SLOTS); }
static uint64_t point(void)
{
	static const uint64_t some[] = { 0, 1, 2, 3, 5, 8, 13, 21 };
	uint32_t which = any(8);

	return rising ? any(4 * (uint32_t)call + 2) : some[which];
}
static uint64_t higher(void) { return rising ? 4 * call + 1 : point(); }

static int go(const char *what, unsigned long request, void *argument)
{
	int result = ioctl(drm, request, argument) ? errno : 0;

	printf("%s errno %d", what, result);
	return result;
}

static void keep(int fd)
{
	int at = kept;

	if (fds[at] >= 0)
		close(fds[at]);
	fds[at] = fd;
	printf(" kept %d cloexec %d", at, !!(fcntl(fd, F_GETFD) & FD_CLOEXEC));
}

/* What the sync objects hold now, so that the call that made a difference is the first line that differs. */
static void points_now(void)
{
	printf(" now");
	for (int i = 0; i < 8; i++) {
		uint64_t value = 0;
		struct line l = { (uintptr_t)&handles[i], (uintptr_t)&value, 1, 1 };

		if (ioctl(drm, IOWR(0xcb, l), &l))
			printf(" -");
		else
			printf(" %u:%lu", handles[i], (unsigned long)value);
	}
}

static void syncobjs(void)
{
	uint32_t list[4];
	uint64_t points[4];
	uint32_t count = rare(1 + any(4), 0);
	int at = slot();

	for (int i = 0; i < 4; i++) {
		list[i] = handle();
		points[i] = point();
	}
	switch (any(15)) {
	case 0: case 14: {
		struct create c = { 99, rare(any(2), 1 + any(7)) };
		printf("flags %u ", c.flags);
		if (!go("create", IOWR(0xbf, c), &c)) {
			printf(" handle %u", c.handle);
			handles[kept & 7] = c.handle;
		}
		break;
	}
	case 1: {
		struct destroy d = { any(3) ? 88888 : handle(), rare(0, 1) };
		/* Since the sync objects of a file are an xarray, destroying 0 puts 0 among the handles that are given out. */
		if (!d.handle)
			d.handle = 88888;
		printf("handle %u ", d.handle);
		go("destroy", IOWR(0xc0, d), &d);
		break;
	}
	case 2: case 3: {
		struct handle_fd h = { handle(), rare(any(old ? 2 : 4), 4), -7, rare(0, 1), any(2) || old ? 0 : point() };
		printf("handle %u flags %u point %lu ", h.handle, h.flags, (unsigned long)h.point);
		if (!go("handle-to-fd", IOWR(0xc1, h), &h))
			keep(h.fd);
		break;
	}
	case 4: case 5: {
		struct handle_fd h = { handle(), rare(any(old ? 2 : 4), 4), fds[at], rare(0, 1), any(2) || old ? 0 : higher() };
		printf("slot %d handle %u flags %u point %lu ", at, h.handle, h.flags, (unsigned long)h.point);
		if (!go("fd-to-handle", IOWR(0xc2, h), &h)) {
			printf(" handle %u", h.handle);
			if (!(h.flags & 1))
				handles[kept & 7] = h.handle;
		}
		break;
	}
	case 6: {
		struct array a = { (uintptr_t)list, count, rare(0, 1) };
		uint32_t nr = any(2) ? 0xc4 : 0xc5;
		printf("count %u %u %u %u %u ", count, list[0], list[1], list[2], list[3]);
		go(nr == 0xc4 ? "reset" : "signal", IOWR(nr, a), &a);
		break;
	}
	case 7: case 8: {
		struct line l = { (uintptr_t)list, rising || rare(1, 0) ? (uintptr_t)points : 0, count, rare(0, 1) };
		for (int i = 0; i < 4; i++)
			points[i] = rising ? 4 * call + 1 + (uint32_t)i : points[i];
		printf("count %u", count);
		for (int i = 0; i < 4; i++)
			printf(" %u@%lu", list[i], (unsigned long)points[i]);
		putchar(' ');
		go("timeline-signal", IOWR(0xcd, l), &l);
		break;
	}
	case 9: case 10: {
		struct line l = { (uintptr_t)list, (uintptr_t)points, count, rare(any(2), 2) };
		printf("count %u %u %u flags %u ", count, list[0], list[1], l.flags);
		if (!go("query", IOWR(0xcb, l), &l))
			for (uint32_t i = 0; i < count; i++)
				printf(" %lu", (unsigned long)points[i]);
		break;
	}
	case 11: {
		/* WAIT_FOR_SUBMIT would take five seconds. */
		struct transfer t = { handle(), handle(), point(), any(2) ? 0 : higher(), rare(0, 1) ? 4 : 0, rare(0, 1) };
		printf("%u@%lu to %u@%lu ", t.src, (unsigned long)t.src_point, t.dst, (unsigned long)t.dst_point);
		go("transfer", IOWR(0xcc, t), &t);
		break;
	}
	case 12: {
		struct wait w = { (uintptr_t)list, any(2) ? 0 : -5, count, rare(any(4), 4 + any(12)), 99, 0, 0 };
		struct line_wait l = { (uintptr_t)list, (uintptr_t)points, 0, count, rare(any(8), 8 + any(8)), 99, 0, 0 };
		if (any(2)) {
			printf("count %u %u %u flags %u ", count, list[0], list[1], w.flags);
			if (!go("wait", IOWR(0xc3, w), &w) && !(w.flags & 1) && count)
				printf(" first %u", w.first);
		} else {
			printf("count %u %u@%lu %u@%lu flags %u ", count, list[0], (unsigned long)points[0], list[1], (unsigned long)points[1], l.flags);
			if (!go("timeline-wait", IOWR(0xca, l), &l) && !(l.flags & 1) && count)
				printf(" first %u", l.first);
		}
		break;
	}
	default: {
		struct info f = { "", 0, rare(0, 1), 0, rare(0, 1), 0 };
		struct merge m = { "merged", fds[slot()], -7, rare(0, 1), rare(0, 1) };
		struct event e = { handle(), rare(any(2) * 4, 1), point(), -1, rare(0, 1) };
		switch (any(3)) {
		case 0:
			printf("file-info slot %d errno %d", at, ioctl(fds[at], _IOWR('>', 4, struct info), &f) ? errno : 0);
			printf(" status %d fences %u", f.status, f.fences);
			break;
		case 1:
			printf("merge slot %d errno %d", at, ioctl(fds[at], _IOWR('>', 3, struct merge), &m) ? errno : 0);
			if (m.fence >= 0)
				keep(m.fence);
			break;
		default:
			e.fd = any(4) ? eventfd(0, EFD_NONBLOCK) : fds[at];
			printf("handle %u flags %u point %lu ", e.handle, e.flags, (unsigned long)e.point);
			if (!go("eventfd", IOWR(0xcf, e), &e)) {
				uint64_t seen = 0;
				if (read(e.fd, &seen, 8) != 8)
					seen = 0;
				printf(" fired %lu", (unsigned long)seen);
			}
			if (e.fd != fds[at])
				close(e.fd);
			break;
		}
	}
	}
	points_now();
	putchar('\n');
}

static void primes(void)
{
	int at = slot();

	switch (old ? any(10) : any(11)) {
	case 0: case 1: {
		static const uint32_t bits[] = { 8, 16, 32, 32, 32, 24, 0, 7 };
		struct dumb d = { rare(64, 0), rare(64 * (1 + any(3)), 0), bits[any(8)], 0, 0, 0, 0 };
		printf("%ux%ux%u ", d.width, d.height, d.bpp);
		if (!go("create-dumb", IOWR(0xb2, d), &d)) {
			printf(" handle %u", d.handle);
			buffers[kept & 7] = d.handle;
		}
		break;
	}
	case 2: {
		struct pair c = { any(3) ? 77777 : buffer(), rare(0, 1) };
		printf("handle %u ", c.a);
		go("gem-close", IOW(0x09, c), &c);
		break;
	}
	case 3: case 4: {
		struct prime p = { buffer(), rare(any(4) * 0x80000 & 0x80000 | (any(2) ? O_RDWR : 0), 1 + any(4)), -7 };
		printf("handle %u flags %x ", p.handle, p.flags);
		if (!go("prime-to-fd", IOWR(0x2d, p), &p))
			keep(p.fd);
		break;
	}
	case 5: case 6: {
		struct prime p = { 0, any(4), fds[at] };
		printf("slot %d ", at);
		if (!go("prime-to-handle", IOWR(0x2e, p), &p)) {
			printf(" handle %u", p.handle);
			buffers[kept & 7] = p.handle;
		}
		break;
	}
	case 7: {
		struct pair f = { buffer(), 0 };
		printf("handle %u ", f.a);
		if (!go("flink", IOWR(0x0a, f), &f)) {
			names[kept & 3] = f.b;
			printf(" named %d", f.b != 0);
		}
		break;
	}
	case 8: {
		uint32_t which = any(5);
		struct open_name o = { which < 4 ? names[which] : 77777, 0, 0 };
		printf("name %u ", which);
		if (!go("open-name", IOWR(0x0b, o), &o)) {
			/* Closed at once: which of several handles of a dma-buf an import answers depends on addresses in the kernel. */
			struct pair c = { o.handle, 0 };
			printf(" handle %u close %d", o.handle, ioctl(drm, IOW(0x09, c), &c) ? errno : 0);
		}
		break;
	}
	case 10: {
		char text[80];
		struct name n = { rare(any(10), 60 + any(20)), (uintptr_t)text };
		for (int i = 0; i < 80; i++)
			text[i] = (char)rare('a' + any(26), any(128));
		if (!any(15))
			n.text = 8;
		printf("length %lu ", (unsigned long)n.length);
		go("client-name", IOWR(0xd1, n), &n);
		break;
	}
	default: {
		long end;
		errno = 0;
		if (any(2)) {
			/* A dma-buf knows its size by its end alone. */
			end = lseek(fds[at], 0, SEEK_END);
			printf("seek slot %d errno %d", at, errno);
			if (end > 0)
				printf(" pages %s", end % 4096 ? "torn" : "whole");
		} else {
			uint64_t flags = rare(any(8), 8 + any(8));
			printf("dma-buf-sync slot %d flags %lu errno %d", at, (unsigned long)flags,
			       ioctl(fds[at], _IOW('b', 0, uint64_t), &flags) ? errno : 0);
		}
	}
	}
	putchar('\n');
}

static int close_handle(uint32_t handle)
{
	struct pair c = { handle, 0 };

	return ioctl(drm, IOW(0x09, c), &c) ? errno : 0;
}

/* A BO with up to three handles, which are exported and closed in any order while at most one of them is recorded for the dma-buf: which
 * of several an import answers depends on addresses in the kernel. */
static void twins(void)
{
	struct dumb d = { 64, 64, 32, 0, 0, 0, 0 };
	uint32_t twin[3];
	int alive[3] = { 1, 1, 1 }, recorded = -1, fd = -1;

	if (go("create-dumb", IOWR(0xb2, d), &d)) {
		putchar('\n');
		return;
	}
	struct pair f = { d.handle, 0 };
	go(" flink", IOWR(0x0a, f), &f);
	twin[0] = d.handle;
	for (int i = 1; i < 3; i++) {
		struct open_name o = { f.b, 0, 0 };
		go(" open", IOWR(0x0b, o), &o);
		twin[i] = o.handle;
	}
	printf(" handles %u %u %u:", twin[0], twin[1], twin[2]);
	for (int step = 0; step < 8; step++) {
		int which = (int)any(3);

		switch (any(3)) {
		case 0:
			if (alive[which] && (recorded < 0 || recorded == which)) {
				struct prime p = { twin[which], O_CLOEXEC, -7 };
				printf(" export %d errno %d", which, ioctl(drm, IOWR(0x2d, p), &p) ? errno : 0);
				if (fd >= 0)
					close(p.fd);
				else
					fd = p.fd;
				recorded = which;
			}
			break;
		case 1:
			if (alive[which]) {
				printf(" close %d errno %d", which, close_handle(twin[which]));
				alive[which] = 0;
				if (recorded == which)
					recorded = -1;
			}
			break;
		default:
			if (fd >= 0) {
				struct prime p = { 0, 0, fd };
				printf(" import errno %d", ioctl(drm, IOWR(0x2e, p), &p) ? errno : 0);
				printf(" handle %u", p.handle);
				/* A handle that the import made takes the place of a closed one. */
				for (int i = 0; recorded < 0 && i < 3; i++)
					if (!alive[i]) {
						twin[i] = p.handle;
						alive[i] = 1;
						recorded = i;
					}
				if (recorded < 0)
					close_handle(p.handle);
			}
		}
	}
	/* Two handles are recorded now; when the first is closed, the import answers the second. */
	if (fd >= 0 && recorded >= 0) {
		int second = alive[(recorded + 1) % 3] ? (recorded + 1) % 3 : (recorded + 2) % 3;

		if (alive[second]) {
			struct prime e = { twin[second], O_CLOEXEC, -7 }, p = { 0, 0, fd };
			printf(" both errno %d", ioctl(drm, IOWR(0x2d, e), &e) ? errno : 0);
			close(e.fd);
			close_handle(twin[recorded]);
			alive[recorded] = 0;
			printf(" errno %d", ioctl(drm, IOWR(0x2e, p), &p) ? errno : 0);
			printf(" handle %u is the second %d", p.handle, p.handle == twin[second]);
		}
	}
	for (int i = 0; i < 3; i++)
		if (alive[i])
			close_handle(twin[i]);
	if (fd >= 0)
		close(fd);
	putchar('\n');
}

int main(int argc, char **argv)
{
	const char *kind = argc > 4 ? argv[4] : "all";
	unsigned long calls = argc > 3 ? strtoul(argv[3], NULL, 0) : 1000;

	if (argc < 3 || (drm = open(argv[1], O_RDWR | O_CLOEXEC)) < 0) {
		perror(argc < 3 ? "random NODE SEED CALLS [syncobj|ordered|prime|twins|all [6.12]]" : argv[1]);
		return 1;
	}
	old = argc > 5;
	rising = !strcmp(kind, "ordered");
	if (rising)
		kind = "syncobj";
	memset(fds, -1, sizeof(fds));
	for (int i = 0; i < 8; i++)
		handles[i] = buffers[i] = 55555;
	for (int i = 0; i < 5; i++) {
		struct create c = { 0, i & 1 };
		if (!ioctl(drm, IOWR(0xbf, c), &c))
			handles[i] = c.handle;
	}
	for (call = 0; call < calls; call++) {
		state = (strtoull(argv[2], NULL, 0) + 1) * 0x9e3779b97f4a7c15u ^ (call + 1) * 0xd1342543de82ef95u;
		for (int i = 0; i < 3; i++)
			any(1);
		kept = slot();
		printf("%lu ", call);
		if (!strcmp(kind, "twins"))
			twins();
		else if (!strcmp(kind, "prime") || (strcmp(kind, "syncobj") && any(2)))
			primes();
		else
			syncobjs();
	}
	return 0;
}
