/* Random requests about sync objects whose fences are signalled. */
#include <sys/eventfd.h>

#include "judge.h"

void syncobjs(void)
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
