/* Random requests about fences that are signalled later: timelines of sw_sync, in sync objects, sync files and eventfds. */
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>

#include "judge.h"

#define LINES 3
#define EVENTS 4
static int lines[LINES] = { -1, -1, -1 }, events[EVENTS] = { -1, -1, -1, -1 };

/* What a sync file tells without waiting. */
static void tell(int fd)
{
	struct { char obj[32], driver[32]; int32_t status; uint32_t flags; uint64_t time; } leaves[8];
	struct info f = { "", 0, 0, 8, 0, (uintptr_t)leaves };
	struct pollfd p = { fd, POLLIN, 0 };

	if (ioctl(fd, SYNC_INFO, &f)) {
		printf(" info %d", errno);
		return;
	}
	poll(&p, 1, 0);
	printf(" status %d readable %d:", f.status, !!(p.revents & POLLIN));
	for (uint32_t i = 0; i < f.fences && i < 8; i++)
		printf(" %d by %s", leaves[i].status, leaves[i].driver);
}

/* Fires eventfds whose timelines reached their points. Linux tells those of chains from an interrupt's work, at the next tick. */
static void see_events(void)
{
	struct timespec tick = { 0, 25000000 };

	nanosleep(&tick, NULL);
	for (int i = 0; i < EVENTS; i++) {
		uint64_t seen = 0;
		if (events[i] >= 0 && read(events[i], &seen, 8) == 8)
			printf(" event %d fired %lu", i, (unsigned long)seen);
	}
}

static void fence_in(uint32_t into, int at)
{
	struct handle_fd h = { into, any(2) && !old ? 3 : 1, fds[at], 0, any(2) && !old ? higher() : 0 };

	printf("slot %d handle %u flags %u point %lu ", at, h.handle, h.flags, (unsigned long)h.point);
	go("import", IOWR(0xc2, h), &h);
}

static void wait_any(uint32_t *list, uint64_t *points, uint32_t count)
{
	struct wait w = { (uintptr_t)list, 0, count, any(4), 99, 0, 0 };
	struct line_wait l = { (uintptr_t)list, (uintptr_t)points, 0, count, any(8), 99, 0, 0 };

	if (any(2)) {
		printf("count %u %u %u flags %u ", count, list[0], list[1], w.flags);
		if (!go("wait", IOWR(0xc3, w), &w) && !(w.flags & 1))
			printf(" first %u", w.first);
	} else {
		printf("count %u %u@%lu %u@%lu flags %u ", count, list[0], (unsigned long)points[0], list[1], (unsigned long)points[1], l.flags);
		if (!go("timeline-wait", IOWR(0xca, l), &l) && !(l.flags & 1))
			printf(" first %u", l.first);
	}
}

void fences(void)
{
	uint32_t list[3] = { handle(), handle(), handle() }, count = 1 + any(3);
	uint64_t points[3] = { point(), point(), point() };
	int at = slot(), line = (int)any(LINES), event = (int)any(EVENTS);

	switch (any(16)) {
	case 0:
		if (any(3) && lines[line] >= 0) {
			printf("keep line %d", line);
			break;
		}
		if (lines[line] >= 0)
			close(lines[line]);
		lines[line] = open("/sys/kernel/debug/sync/sw_sync", O_RDWR | O_CLOEXEC);
		printf("line %d errno %d", line, lines[line] < 0 ? errno : 0);
		break;
	case 1: case 2: case 3: {
		struct fence_request f = { any(12), "judge", -7 };
		printf("line %d value %u", line, f.value);
		if (ioctl(lines[line], SW_SYNC_CREATE, &f)) {
			printf(" errno %d", errno);
			break;
		}
		keep(f.fence);
		tell(f.fence);
		break;
	}
	case 4: case 5: {
		uint32_t by = rare(1 + any(2), 0);
		printf("line %d advances %u errno %d", line, by, ioctl(lines[line], SW_SYNC_INC, &by) ? errno : 0);
		break;
	}
	case 6: case 7: case 8:
		fence_in(list[0], at);
		break;
	case 9: {
		struct handle_fd h = { list[0], any(2) && !old ? 3 : 1, -7, 0, any(2) && !old ? point() : 0 };
		printf("handle %u flags %u point %lu ", h.handle, h.flags, (unsigned long)h.point);
		if (!go("export", IOWR(0xc1, h), &h)) {
			keep(h.fd);
			tell(h.fd);
		}
		break;
	}
	case 10: {
		struct transfer t = { list[0], list[1], points[0], any(2) ? 0 : higher(), 0, 0 };
		printf("%u@%lu to %u@%lu ", t.src, (unsigned long)t.src_point, t.dst, (unsigned long)t.dst_point);
		go("transfer", IOWR(0xcc, t), &t);
		break;
	}
	case 11: {
		struct merge m = { "merged", fds[slot()], -7, 0, 0 };
		printf("merge slot %d errno %d", at, ioctl(fds[at], SYNC_MERGE, &m) ? errno : 0);
		if (m.fence >= 0) {
			keep(m.fence);
			tell(m.fence);
		}
		break;
	}
	case 12:
		wait_any(list, points, count);
		break;
	case 13: {
		struct event e = { list[0], any(2) * 4, points[0], -1, 0 };
		if (events[event] >= 0)
			close(events[event]);
		e.fd = events[event] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		printf("event %d handle %u flags %u point %lu ", event, e.handle, e.flags, (unsigned long)e.point);
		go("eventfd", IOWR(0xcf, e), &e);
		if (any(2))
			see_events();
		break;
	}
	case 14: {
		struct array a = { (uintptr_t)list, 1, 0 };
		uint32_t reset = any(2);
		printf("handle %u ", list[0]);
		go(reset ? "reset" : "signal", IOWR(reset ? 0xc4 : 0xc5, a), &a);
		break;
	}
	default:
		printf("slot %d", at);
		tell(fds[at]);
		if (!any(3))
			see_events();
	}
	points_now();
	/* The newest submitted points too, which are above those that are reached. */
	for (int i = 0; i < 4; i++) {
		uint64_t value = 0;
		struct line l = { (uintptr_t)&handles[i], (uintptr_t)&value, 1, 0 };
		printf(" %ld", ioctl(drm, IOWR(0xcb, l), &l) ? -(long)errno : (long)value);
	}
	putchar('\n');
}
