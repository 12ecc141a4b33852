/* Random requests about dumb buffers, dma-bufs, handles and names of BOs, and clients. */
#include "judge.h"

/* Takes a handle into the table. One that leaves it is closed, so that a long program has few BOs: a simulated BO that is exported needs a
 * descriptor of the host. */
static void hold(uint32_t handle)
{
	uint32_t lost = buffers[kept & 7];

	printf(" handle %u", handle);
	buffers[kept & 7] = handle;
	for (int i = 0; i < 8; i++)
		if (buffers[i] == lost)
			return;
	if (lost)
		printf(" close %d", close_handle(lost));
}

void primes(void)
{
	int at = slot();

	switch (old ? any(10) : any(11)) {
	case 0: case 1: {
		static const uint32_t bits[] = { 8, 16, 32, 32, 32, 24, 0, 7 };
		struct dumb d = { rare(64, 0), rare(64 * (1 + any(3)), 0), bits[any(8)], 0, 0, 0, 0 };
		printf("%ux%ux%u ", d.width, d.height, d.bpp);
		if (!go("create-dumb", IOWR(0xb2, d), &d))
			hold(d.handle);
		break;
	}
	case 2: {
		struct pair c = { any(3) ? 77777 : buffer(), rare(0, 1) };
		printf("handle %u ", c.a);
		go("gem-close", IOW(0x09, c), &c);
		break;
	}
	case 3: case 4: {
		struct prime p = { buffer(), rare((any(4) * 0x80000 & 0x80000) | (any(2) ? O_RDWR : 0), 1 + any(4)), -7 };
		printf("handle %u flags %x ", p.handle, p.flags);
		if (!go("prime-to-fd", IOWR(0x2d, p), &p))
			keep(p.fd);
		break;
	}
	case 5: case 6: {
		struct prime p = { 0, any(4), fds[at] };
		printf("slot %d ", at);
		if (!go("prime-to-handle", IOWR(0x2e, p), &p))
			hold(p.handle);
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

/* A BO with up to three handles, which are exported and closed in any order while at most one of them is recorded for the dma-buf: which
 * of several an import answers depends on addresses in the kernel. */
void twins(void)
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
