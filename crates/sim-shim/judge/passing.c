/* Nodes, dma-bufs and sync objects in other processes: sent through sockets, inherited over fork, used after the sender let go. */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "judge.h"

static void send_fd(int through, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec data = { &byte, 1 };
	struct msghdr m = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	if (sendmsg(through, &m, 0) < 0)
		printf(" send %d", errno);
}

static int receive_fd(int through)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec data = { &byte, 1 };
	struct msghdr m = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	int fd = -1;

	if (recvmsg(through, &m, MSG_CMSG_CLOEXEC) >= 0 && CMSG_FIRSTHDR(&m))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	return fd;
}

/* Makes a BO with a value in its first dword, and returns its handle. */
static uint32_t marked(int file, uint32_t value)
{
	struct dumb d = { 16, 64, 32, 0, 0, 0, 0 };
	struct map m = { 0, 0, 0 };
	uint32_t *memory;

	if (ioctl(file, IOWR(0xb2, d), &d))
		return 0;
	m.handle = d.handle;
	ioctl(file, IOWR(0xb3, m), &m);
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)m.offset);
	if (memory == MAP_FAILED)
		return 0;
	*memory = value;
	munmap(memory, 4096);
	return d.handle;
}

/* Prints the first dword of a BO's mapping, or the errno. */
static void look(int file, uint32_t handle)
{
	struct map m = { handle, 0, 0 };
	uint32_t *memory;

	if (ioctl(file, IOWR(0xb3, m), &m)) {
		printf(" map errno %d", errno);
		return;
	}
	memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, (off_t)m.offset);
	if (memory == MAP_FAILED) {
		printf(" mmap errno %d", errno);
		return;
	}
	printf(" holds %u", *memory);
	munmap(memory, 4096);
}

/* What the other process does with the descriptor of what. */
static void child(uint32_t what, uint32_t step, int fd, uint32_t handle)
{
	int mine = what == 0 ? fd : open(node, O_RDWR | O_CLOEXEC);

	printf(" child");
	if (what == 0) {
		/* A node is the same file in both processes: its handles are there. */
		look(fd, handle);
		if (step & 1) {
			struct pair c = { handle, 0 };
			printf(" close %d", ioctl(fd, IOW(0x09, c), &c) ? errno : 0);
		}
	} else if (what == 1) {
		struct prime p = { 0, 0, fd };
		printf(" import errno %d", ioctl(mine, IOWR(0x2e, p), &p) ? errno : 0);
		printf(" handle %u", p.handle);
		look(mine, p.handle);
		/* A handle of the other file means nothing here. */
		look(mine, p.handle + 5);
	} else {
		struct handle_fd h = { 0, 0, fd, 0, 0 };
		struct array a = { 0, 1, 0 };
		printf(" import errno %d", ioctl(mine, IOWR(0xc2, h), &h) ? errno : 0);
		a.handles = (uintptr_t)&h.handle;
		printf(" handle %u signal %d", h.handle, ioctl(mine, IOWR((step & 1 ? 0xc4 : 0xc5), a), &a) ? errno : 0);
	}
	fflush(stdout);
	_exit(0);
}

void passing(void)
{
	uint32_t what = any(3), step = any(4), value = any(1000000), made = 0;
	int pair[2], fd = -1, mine = open(node, O_RDWR | O_CLOEXEC), status;

	printf("%s", (const char *[]) { "node", "dma-buf", "sync object" }[what]);
	if (what == 0) {
		fd = mine;
		made = marked(mine, value);
	} else if (what == 1) {
		made = marked(mine, value);
		struct prime p = { made, O_RDWR | O_CLOEXEC, -7 };
		printf(" errno %d", ioctl(mine, IOWR(0x2d, p), &p) ? errno : 0);
		fd = p.fd;
		if (step & 2) {
			/* The dma-buf keeps the BO. */
			close(mine);
			mine = -1;
		}
	} else {
		struct create c = { 0, 0 };
		ioctl(mine, IOWR(0xbf, c), &c);
		struct handle_fd h = { c.handle, 0, -7, 0, 0 };
		printf(" export errno %d", ioctl(mine, IOWR(0xc1, h), &h) ? errno : 0);
		fd = h.fd;
		made = c.handle;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		printf(" socketpair errno %d\n", errno);
		return;
	}
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		int received = receive_fd(pair[1]);
		child(what, step, received, made);
	}
	send_fd(pair[0], fd);
	waitpid(pid, &status, 0);
	printf(" ended %d", status);
	if (mine >= 0 && what != 2) {
		look(mine, made);
	} else if (what == 2) {
		struct wait w = { (uintptr_t)&made, 0, 1, 0, 99, 0, 0 };
		printf(" wait errno %d", ioctl(mine, IOWR(0xc3, w), &w) ? errno : 0);
	}
	if (what == 1) {
		/* The last reference is the descriptor. */
		struct prime p = { 0, 0, fd };
		int third = open(node, O_RDWR | O_CLOEXEC);
		printf(" third errno %d", ioctl(third, IOWR(0x2e, p), &p) ? errno : 0);
		look(third, p.handle);
		close(third);
	}
	if (what != 0)
		close(fd);
	if (mine >= 0)
		close(mine);
	close(pair[0]);
	close(pair[1]);
	putchar('\n');
}
